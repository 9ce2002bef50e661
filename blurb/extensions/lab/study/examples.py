"""The test examples of a study: pretrainings and examples are crossed, as in the Multi-Bootstrap.

That (Sellam et al. 2022, MultiBERTs) resamples both. Here examples are resampled, and the part of the pretrainings has
the variance between them, as three drawn with replacement vary too little (`blurb.statistics.bootstrap`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from blurb.extensions.lab.study import parts
from blurb.extensions.lab.study.spec import Study
from blurb.results.predictions import clusters_of
from blurb.row_files.reading import read
from blurb.row_files.scores import examples_of
from blurb.row_files.writing import ABOUT
from blurb.statistics.bootstrap import difference_variance
from blurb.statistics.clusters import Clusters

Units = Callable[[str, str, str], tuple[float, int]]
"""A variant, another and a dataset -> variance of the difference over test examples, and their number."""


def units(out: Path, study: Study, data: Path) -> Units:
    """What the choice of test examples adds to the variance of a difference, from the predictions of the parts.

    :param data: data folder with the gold answers
    :raises DataError: (when called) if the predictions are not those of the examples
    """
    there: dict[tuple[str, str], Clusters | None] = {}

    def of(variant: str, dataset: str) -> Clusters | None:
        if (variant, dataset) not in there:
            there[variant, dataset] = _clusters(out, study, variant, dataset, data)
        return there[variant, dataset]

    def variance(first: str, other: str, dataset: str) -> tuple[float, int]:
        sides = of(first, dataset), of(other, dataset)
        if sides[0] is None or sides[1] is None or sides[0].names != sides[1].names:
            return 0.0, 0
        return difference_variance(sides[0], sides[1], dataset), len(sides[0].names)

    return variance


def _clusters(out: Path, study: Study, variant: str, dataset: str, data: Path) -> Clusters | None:
    """The examples of all pretrainings of a variant; None if these scored different ones."""
    chosen = next(each for each in study.variants if each.name == variant)
    runs = []
    for seed in range(1, study.runs + 1):
        folder = parts.place(out, chosen, seed) / study.protocols[0]
        row = read(folder) if (folder / ABOUT).is_file() else None
        runs += (
            []
            if row is None
            else [examples_of(row, run, "test", data) for run in row.about["runs"] if run["task"] == dataset]
        )
    return clusters_of(runs) if runs else None
