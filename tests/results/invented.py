"""Rows of results with figures as asked for, which nothing was trained for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from blurb.leaderboard.intervals import Value
from blurb.leaderboard.ranking import RankedRow
from blurb.results.groups import Standing
from blurb.results.row import Origin, Row
from blurb.results.score import DatasetScores, Figure, Run
from blurb.store.trial import Configuration
from blurb.tasks import Split

CONFIGURATION = Configuration("quick", "0" * 64, {}, "fp32", "blurb")
KNOWN = {"data_hash": "d", "metrics_version": "1", "verdict": "identical"}
SETTINGS = {"max_train": "", "max_eval": "", "eval_seed": "", "plugins": ""}
FACTS = {"verdict": "identical", "metrics_version": "1", "max_eval": "", "plugins": ""}
"""What a table of today says of every number."""


def row(
    model: str,
    scores: Mapping[str, Sequence[float]] | None = None,
    means: Mapping[str, float] | None = None,
    split: Split = "test",
) -> Row:
    """A row of runs with seeds from 1, times 100, and of means without runs, about which everything is known."""
    datasets = {
        task: DatasetScores(
            task,
            metric="score",
            planned=len(values),
            runs={
                seed: Run({split: {"score": Figure(value)}}, settings=SETTINGS, **KNOWN)
                for seed, value in enumerate(values, 1)
            },
        )
        for task, values in (scores or {}).items()
    }
    datasets |= {
        task: DatasetScores(task, means={"test": mean}, facts=FACTS)
        for task, mean in (means or {}).items()
    }
    return Row(model, CONFIGURATION, datasets, Origin.RESULTS, recipe="1")


def named(row: Row, **changes: Any) -> Row:
    """The row with other fields of its identity."""
    return replace(row, **changes)


def ranked(
    name: str, means: Mapping[str, float], half: Mapping[str, float] | None = None
) -> RankedRow:
    """An entry of a table.

    :param half: half of the intervals
    """
    ends = {key: (means[key] - width, means[key] + width) for key, width in (half or {}).items()}
    values = {key: Value(mean, *ends.get(key, ())) for key, mean in means.items()}
    return RankedRow(replace(row(name), label=name), values, Standing())
