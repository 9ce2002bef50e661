"""What the test examples whose input also occurs in train add to the scores of a row."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from blurb import formulations, tasks
from blurb.data.schema import leaks
from blurb.messages.errors import DataError
from blurb.row_files.reading import Row
from blurb.row_files.scores import figures_of
from blurb.scoring import gold


@cache
def added(row: Row, data: Path) -> Mapping[tuple[str, str], float]:
    """(dataset, data hash) -> mean over runs of the score minus the score without these examples, times 100.

    Datasets without such examples are left out, and so are those that cannot be scored.
    """
    points: dict[tuple[str, str], list[float]] = {}
    for run in row.about["runs"]:
        with suppress(DataError):
            formulation = formulations.bind(tasks.get(run["task"]), run["settings"])
            ids = _leaked(run["task"], tuple(sorted(formulation.options.items())), data)
            if ids and run["test"]:
                metric = run["metric"]
                scores = [figures_of(row, run, "test", data, without)[metric] for without in ((), ids)]
                points.setdefault((run["task"], run["data"]), []).append(100 * (scores[0] - scores[1]))
    return {key: fmean(values) for key, values in points.items()}


@cache
def _leaked(task: str, options: tuple[tuple[str, Any], ...], data: Path) -> frozenset[str]:
    """The ids of these examples, as a formulation with these options cuts them."""
    formulation = formulations.bind(tasks.get(task), dict(options))
    return frozenset(leaks({split: gold.units(formulation, data, split) for split in ("train", "test")}))
