"""What cannot be planned, once for all models and tasks that it holds of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from blurb.checkpoints import Source
from blurb.messages.errors import BlurbError, SettingsError
from blurb.tasks import Task


def deduplicated(refusals: Iterable[tuple[BlurbError, Source, Task]]) -> list[BlurbError]:
    """The errors of models on tasks, without those that differ only in the names that they were given.

    The first of these says of which others it holds.
    """
    alike: dict[tuple[object, ...], list[tuple[BlurbError, Source, Task]]] = {}
    for error, source, task in refusals:
        same = (type(error), error.where, error.template, error.fix)
        alike.setdefault(same, []).append((error, source, task))
    return [_told(each) for each in alike.values()]


def _told(alike: Sequence[tuple[BlurbError, Source, Task]]) -> BlurbError:
    """The first error, and of which other tasks (and models) it holds, if it names its own."""
    (error, first, task), *others = alike
    if all(str(one) == str(error) for one, *_ in others):
        return error
    tasks: dict[str, list[str]] = {}
    for _, source, other in others:
        tasks.setdefault(source.name, []).append(other.name)
    alike_models: dict[tuple[bool, tuple[str, ...]], list[str]] = {}
    for model, names in tasks.items():
        alike_models.setdefault((model == first.name, tuple(names)), []).append(model)
    where = [
        ", ".join(names) if own else f"{', '.join(models)} on {', '.join(names)}"
        for (own, names), models in alike_models.items()
    ]
    if list(alike_models) == [(False, (task.name,))]:  # one task: the models say it
        where = [", ".join(tasks)]
    return SettingsError(f"{error} The same holds of {'; '.join(where)}.")
