"""Whether stored predictions can be answers to their task: a stranger may declare the task as of another type."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from blurb.inputs.tagging import spans
from blurb.messages.errors import StoreError
from blurb.tasks import Task


def check(task: Task, columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    """Raises a StoreError if ids or answers are not of the form that the type of a task gives them.

    Whatever reads answers may then rely on it. A type of a plug-in, with columns of its own, may have any.

    :param columns: `id`, `doc_id`, `gold`, `prediction`
    :param path: of the trial
    """
    fits = next((FORMS[name] for name in task.task_type.columns if name in FORMS), None)
    faults = [name for name, kinds in IDS.items() if not set(map(type, columns[name])) <= kinds]
    if fits is not None:
        faults += [name for name in ("gold", "prediction") if not fits(columns[name])]
    if not faults and fits is _are_tags and list(map(len, columns["gold"])) != list(map(len, columns["prediction"])):
        faults = ["prediction"]
    if faults:
        raise StoreError(
            f"the predictions ({' and '.join(faults)}) are not those of a task of type {task.type}, as which "
            "the trial declares it; one of the two was altered. Get the trial again from where it came, or remove its "
            "folder and run its blurb run command again.",
            where=path,
        )


def _are_texts(answers: Sequence[Any]) -> bool:
    return set(map(type, answers)) <= {str}


def _are_lists(answers: Sequence[Any]) -> bool:
    return set(map(type, answers)) <= {list} and _are_texts(list(chain.from_iterable(answers)))


def _are_tags(answers: Sequence[Any]) -> bool:
    if not _are_lists(answers):
        return False
    try:
        spans(sorted(set(chain.from_iterable(answers))))  # each once, as one that is no tag is none anywhere
    except ValueError:
        return False
    return True


def _are_numbers(answers: Sequence[Any]) -> bool:
    return set(map(type, answers)) <= {float, int} and all(map(math.isfinite, answers))


FORMS: Mapping[str, Callable[[Sequence[Any]], bool]] = {
    "tags": _are_tags,
    "labels": _are_lists,
    "label": _are_texts,
    "score": _are_numbers,
}
"""Column of the answer in the examples (`blurb.data.schema`) -> whether answers are of its form."""
IDS: Mapping[str, frozenset[type]] = {"id": frozenset({str}), "doc_id": frozenset({str, type(None)})}
