"""The examples to which two trials gave different answers, by the kind of mistake that each of them makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from blurb.extensions.reports import errors
from blurb.extensions.reports.differences import answers
from blurb.messages import SettingsError, opt
from blurb.results.comparability import Reason
from blurb.store.record import Record
from blurb.tasks import Split


def differences(
    first: Record,
    other: Record,
    split: Split = "test",
    rows: Mapping[str, dict[str, Any]] | None = None,
) -> answers.Differences:
    """Compares two trials of one dataset, `first` being A and `other` B.

    :param rows: id -> example of that split, from the user's data; without it there are ids and labels only
    :raises SettingsError: if they are the same trial, or not of the same data and examples
    """
    task, seed = first.trial.task, first.trial.seed
    if task != other.trial.task:
        raise SettingsError(
            f"A is a trial of {task}, B of {other.trial.task}",
            fix=f"choose one dataset with {opt('task')}.",
        )
    if first.path.resolve() == other.path.resolve():
        raise SettingsError(
            f"A and B are the same trial ({task}, seed {seed})", fix="name two rows that differ."
        )
    if first.trial.data != other.trial.data:
        raise SettingsError(
            f"{Reason.DATA.value} (hash {first.trial.data[:12]} of A, {other.trial.data[:12]} of B)",
            where=task,
            fix="run one of them again on the data of the other.",
        )
    answered = _pair_answers(first, other, split)
    units = errors.units(first, rows)
    task_type = first.task.task_type
    if "tags" in task_type.columns:
        result = answers.entities(answered, units)
    else:
        analyse = answers.numbers if "number" in task_type.columns.values() else answers.classes
        mistakes = [errors.analyse(record, split).examples for record in (first, other)]
        # A number that is exactly right is listed, too, with weight 0.
        kinds = [{each.unit: each.kind for each in side if each.weight} for side in mistakes]
        texts = {unit: answers.pieces_of(row, task_type) for unit, row in units.items()}
        result = analyse(answered, kinds, texts)
    return replace(result, examples=answers.in_order(result.examples))


def _pair_answers(first: Record, other: Record, split: Split) -> list[answers.TwoAnswers]:
    """The answers of both to each example, in the order of A."""
    columns, theirs = first.predictions(split), other.predictions(split)
    place = {unit: number for number, unit in enumerate(theirs["id"])}
    both = sum(unit in place for unit in columns["id"])
    task = first.trial.task
    if both < max(len(columns["id"]), len(place)):
        hint = "Look at max_eval and document_unit of both rows."
        if first.trial.seed != other.trial.seed:
            hint = f"Give {opt('seed')} to take the same one of both."
        raise SettingsError(
            f"{Reason.EXAMPLES.value} ({len(columns['id']):,} of {split} in A, {len(place):,} in B, "
            f"{both:,} in both). {hint}",
            where=task,
        )
    order = [place[unit] for unit in columns["id"]]
    if changed := sum(
        gold != theirs["gold"][at] for gold, at in zip(columns["gold"], order, strict=True)
    ):
        raise SettingsError(
            f"{Reason.DATA.value} (other gold answers in {changed:,} examples).", where=task
        )
    given = [theirs["prediction"][at] for at in order]
    return list(zip(columns["id"], columns["gold"], columns["prediction"], given, strict=True))
