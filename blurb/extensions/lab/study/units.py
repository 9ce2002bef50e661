"""The pretraining as the unit of a comparison: a variant is a row whose runs are its pretrainings.

Two pretrainings of one recipe differ by chance, and more than two fine-tunings of one checkpoint do (Sellam et al.
2022, MultiBERTs). So a difference of two variants is looked at beside the variation of pretrainings, each fine-tuned
once; runs and test examples are crossed, as in their Multi-Bootstrap, where predictions are known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from blurb.messages.errors import DataError
from blurb.results.dataset_scores import DatasetScores, Run
from blurb.results.row import Row


def variant_row(name: str, rows: Mapping[int, Row]) -> Row:
    """The row of a variant.

    :param rows: seed of the pretraining -> row of its encoder, with one run of each dataset
    :raises DataError: if these are rows of different configurations, or a dataset has several runs
    """
    ordered = [rows[seed] for seed in sorted(rows)]
    first = ordered[0]
    for row in ordered:
        differs = [
            f"{key} {value} and {before}"
            for (key, value), before in zip(_how(row).items(), _how(first).values(), strict=True)
            if value != before
        ]
        if differs:
            raise DataError(
                f"{name}: {row.name} is of another configuration than {first.name} ({', '.join(differs)})",
                fix="move one of the two parts away, and run the study again.",
            )
    datasets: dict[str, DatasetScores] = {}
    for task in dict.fromkeys(task for row in ordered for task in row.datasets):
        runs: dict[int, Run] = {}
        for seed, row in rows.items():
            own = row.datasets[task].runs if task in row.datasets else {}
            if len(own) > 1:
                raise DataError(f"{name}: {row.name} has {len(own)} runs of {task}; a pretraining is fine-tuned once.")
            for run in own.values():
                runs[seed] = run
        some = next(row.datasets[task] for row in ordered if task in row.datasets)
        datasets[task] = replace(some, runs=dict(sorted(runs.items())), planned=len(rows), planned_seeds=())
    weights = hashlib.sha256(" ".join(row.weights for row in ordered).encode()).hexdigest()
    identity = replace(first.identity, model=name, weights=weights, key="")
    return replace(first, identity=identity, datasets=datasets, label="")


def _how(row: Row) -> dict[str, Any]:
    """How an encoder was scored."""
    return {**row.configuration.identity, "learner": row.learner, "recipe": row.recipe}
