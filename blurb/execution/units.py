"""What a trial reads and what it writes: the examples as its formulation cuts them, and the columns of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from blurb import tasks
from blurb.data import TaskData
from blurb.execution.options import Keep as Keep
from blurb.formulations._base import Formulation
from blurb.learners.base import Learner, Predicted, Subset
from blurb.messages.errors import DataError
from blurb.store import plugins
from blurb.store.record import LOSS


def units_of(formulation: Formulation, content: TaskData, split: tasks.Split) -> tuple[list[dict[str, Any]], str]:
    """The examples of a split as the formulation cuts them, and their key in the cache of features.

    :raises DataError: if there are none: since no file is empty, a plug-in's formulation dropped all
    """
    rows = content.splits[split].to_list()  # ten times as fast as row by row
    units = formulation.units(rows)
    if not units:
        made = type(formulation)
        raise DataError(
            f"units() of {made.__module__}.{made.__qualname__} returned nothing for {content.task.name}, {split} "
            f"({len(rows)} rows); it must return at least one example."
        )
    key, code = f"{content.hash} {split} {sorted(formulation.options.items())}", plugins.of_formulation(content.task)
    return units, f"{key} {code}" if code else key


def predictions_of(
    formulation: Formulation, learner: Learner, units: Mapping[tasks.Split, Subset]
) -> dict[str, list[Any]]:
    """The columns of `predictions.parquet` for dev and test, with the majority answer, and losses on dev if known."""
    majority = formulation.constants(units["train"].used)[0]
    columns: dict[str, list[Any]] = {
        name: [] for name in ("split", "id", "doc_id", "gold", "prediction", "majority", "scores", LOSS)
    }
    for split in tasks.SCORED:
        rows = units[split].used
        predicted, scores, losses = Predicted(*learner.predict(units[split]))
        columns["split"] += [split] * len(rows)
        columns["id"] += [row["id"] for row in rows]
        columns["doc_id"] += [row.get("doc_id") for row in rows]
        columns["gold"] += [formulation.gold(row) for row in rows]
        columns["prediction"] += predicted
        columns["majority"] += [formulation.constant(majority, row) for row in rows]
        columns["scores"] += scores if scores is not None else [None] * len(rows)
        # As they are stored, so that whoever scores again gets the same figures.
        known = losses is not None and split == "dev"
        columns[LOSS] += np.asarray(losses, np.float32).tolist() if known else [None] * len(rows)
    if columns[LOSS].count(None) == len(columns[LOSS]):
        del columns[LOSS]
    return columns
