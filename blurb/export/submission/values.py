"""From stored predictions to the values of a submission (docs/benchmark.md, "Submission"), one function a task type."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from blurb.errors import StoreError
from blurb.inputs.tagging import convert
from blurb.registry import load_object
from blurb.tasks import Task
from blurb.tasks.hoc import LABELS

HALLMARKS = dict(zip(LABELS, ("IM", "ID", "CE", "RI", "GS", "GI", "A", "CD", "PS", "TPI"), strict=True))
"""The short names of HoC's labels (docs/benchmark.md, "HoC")."""
SPLIT = "test."
"""Before the ids of files that number their units from 0 (NER, PICO, GAD); a submission has the bare number."""


class Unit(NamedTuple):
    """A row of `predictions.parquet`."""

    id: str
    doc_id: str | None
    gold: Any
    prediction: Any


Values = Callable[[Task, Sequence[Unit]], Iterator[tuple[str, Any]]]


def predictions(task: Task, units: Sequence[Unit]) -> dict[str, Any]:
    """Id -> value, in the order of the units.

    :raises StoreError: if a unit cannot be written, or an id stands there twice
    """
    found: dict[str, Any] = {}
    if not task.task_type.submission:
        raise StoreError(f"a submission has no form for tasks of type {task.type}.")
    values: Values = load_object(task.task_type.submission, f"submission of the type {task.type}")
    for key, value in values(task, units):
        if key in found:
            raise StoreError(f"id {key} stands there twice.")
        found[key] = value
    return found


def ner(task: Task, units: Sequence[Unit]) -> Iterator[tuple[str, Any]]:
    """Bare `B`, `I`, `O`; an orphan `I` becomes the `B` as which it is scored (docs/benchmark.md, "Orphan I")."""
    for unit in units:
        try:
            tags = convert(_tags(unit), "bio", "bio")
        except ValueError as error:
            raise StoreError(f"id {unit.id}: {error}") from error
        yield _number(unit), [tag[0] for tag in tags]


def pico(task: Task, units: Sequence[Unit]) -> Iterator[tuple[str, Any]]:
    """An array an abstract, its sentences one after another; the files know `I-` only, as the score does."""
    abstracts: dict[str, list[str]] = {}
    for unit in units:
        if unit.doc_id is None:
            raise StoreError(f"id {unit.id} names no abstract.")
        tags = [tag if tag == "O" else f"I-{tag[2:]}" for tag in _tags(unit)]
        abstracts.setdefault(unit.doc_id, []).extend(tags)
    yield from abstracts.items()


def label(task: Task, units: Sequence[Unit]) -> Iterator[tuple[str, Any]]:
    for unit in units:
        yield _number(unit), unit.prediction


def similarity(task: Task, units: Sequence[Unit]) -> Iterator[tuple[str, Any]]:
    """Clipped to the bounds of the metric, 0 and 4 for BIOSSES: what is submitted is what was scored."""
    low, high = (float(str(task.metric_options[name])) for name in ("low", "high"))
    for unit in units:
        if not math.isfinite(unit.prediction):
            raise StoreError(f"id {unit.id}: the prediction is not a number.")
        yield unit.id, min(max(float(unit.prediction), low), high)


def document(task: Task, units: Sequence[Unit]) -> Iterator[tuple[str, Any]]:
    """By sentence: of labels of whole abstracts nobody knows to which sentence they belong."""
    for unit in units:
        if "_s" not in unit.id:
            raise StoreError(
                f"id {unit.id} is an abstract, and BLURB takes labels a sentence; run with "
                "--set document_unit=sentence."
            )
        yield unit.id, [HALLMARKS.get(label, label) for label in unit.prediction]


def _tags(unit: Unit) -> list[str]:
    if len(unit.prediction) != len(unit.gold):
        raise StoreError(f"id {unit.id}: {len(unit.prediction)} tags for {len(unit.gold)} words.")
    return list(unit.prediction)


def _number(unit: Unit) -> str:
    return unit.id.removeprefix(SPLIT)
