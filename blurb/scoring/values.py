"""Turns what a file says into answers of a task: tags in BIO, a label, labels, or a number."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from blurb.export.submission.values import HALLMARKS
from blurb.inputs import tagging
from blurb.messages.errors import SettingsError
from blurb.scoring import probabilities
from blurb.scoring.files import Answer, AnswerFile
from blurb.tasks import Task

SHORT_NAMES = {short: name for name, short in HALLMARKS.items()}
"""HoC's labels as BLURB's submissions have them."""
OUTSIDE = ("O", "o", "0", "")
QUOTED = 40
"""Characters of an answer that a message quotes."""


@dataclass(frozen=True)
class Reading:
    """How the answers of a file are written.

    :param scheme: tagging scheme; "" for whatever the letters of all tags say
    :param names: label in the file -> label of the task
    :param any_scale: whether numbers may be far from the scale of the gold scores, as those of a learner may be
    """

    scheme: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    any_scale: bool = False


def read(task: Task, file: AnswerFile, reading: Reading) -> list[Any]:
    """The answer of each entry of a file, as the task's formulation predicts it.

    :raises DataError: (file, line) for one that is none
    :raises SettingsError: if the mapping of names leads to no label of the task
    """
    unknown = sorted(set(reading.names.values()) - {*task.labels, "O"})
    if unknown and task.task_type.has_labels:
        raise SettingsError(
            f"--map leads to {', '.join(unknown)}, but the labels of {task.name} are {', '.join(task.labels)}."
        )
    columns = task.task_type.columns
    return next(FORMS[name] for name in columns if name in FORMS)(task, file, reading)


def _quoted(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return repr(text if len(text) <= QUOTED else f"{text[:QUOTED]}...")


def _label(task: Task, file: AnswerFile, answer: Answer, value: Any, names: Mapping[str, str]) -> str:
    text = str(int(value)) if type(value) is float and value.is_integer() else str(value).strip()
    text = names.get(text, text)
    if isinstance(value, bool | list | dict) or value is None or text not in task.labels:
        raise file.error(
            f"{_quoted(value)} is no label of {task.name}, which are {', '.join(task.labels)}.",
            answer,
            fix=f"If the file has other names for them, say which: --map {text or 'NAME'}={task.labels[0]}."
            if isinstance(value, str | int | float) and not isinstance(value, bool)
            else "",
        )
    return text


def labels(task: Task, file: AnswerFile, reading: Reading) -> list[str]:
    """One label an example, by name or as the most probable one of an object of probabilities."""
    answers = []
    for answer in file.answers:
        given = answer.value
        if isinstance(given, dict):
            given = probabilities.most_probable(probabilities.read(given, file, answer, whole=True))
        answers.append(_label(task, file, answer, given, reading.names))
    return answers


def label_lists(task: Task, file: AnswerFile, reading: Reading) -> list[list[str]]:
    """Any number of labels an example: a list, a text with `|`, `;` or `,` between them, or the probability of each."""
    names = {**SHORT_NAMES, **reading.names} if set(SHORT_NAMES.values()) == set(task.labels) else reading.names
    answers = []
    for answer in file.answers:
        given = answer.value
        if isinstance(given, str):
            given = _listed(given, task.labels)
        if isinstance(given, dict):
            given = probabilities.probable(probabilities.read(given, file, answer, whole=False))
        if not isinstance(given, list):
            raise file.error(f"{_quoted(given)} is no list of labels.", answer)
        chosen = {_label(task, file, answer, each, names) for each in given}
        answers.append([label for label in task.labels if label in chosen])
    return answers


def _listed(text: str, known: Sequence[str]) -> list[Any]:
    """The labels in a text; one label may have a comma in its name."""
    if text.strip().startswith("["):
        try:
            return list(json.loads(text))
        except (ValueError, TypeError):
            return [text]
    if not text.strip() or text.strip() in known:
        return [text.strip()] if text.strip() else []
    separator = next((mark for mark in "|;," if mark in text), "|")
    return [part.strip() for part in text.split(separator) if part.strip()]


def numbers(task: Task, file: AnswerFile, reading: Reading) -> list[float]:
    """One number an example, near the scale of the gold scores."""
    low, high = (float(str(task.metric_options[name])) for name in ("low", "high"))
    answers = []
    for answer in file.answers:
        try:
            number = math.nan if isinstance(answer.value, bool) else float(answer.value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise file.error(f"{_quoted(answer.value)} is no number.", answer)
        answers.append(number)
    reach = (high - low) / 2  # a regression may leave the scale a little; another scale does by far
    far = next((place for place, number in enumerate(answers) if not low - reach <= number <= high + reach), None)
    if far is not None and not reading.any_scale:
        raise file.error(
            f"{answers[far]:g} is far from the scale of {task.name}, {low:g} to {high:g}, which the metric clips to.",
            file.answers[far],
            fix="Write the predictions on that scale.",
        )
    return answers


def tags(task: Task, file: AnswerFile, reading: Reading) -> list[list[str]]:
    """One BIO tag a word (`I-` alone where the task has no borders), from any tagging scheme."""
    written = [_split(file, answer) for answer in file.answers]
    scheme = tagging.scheme_name(reading.scheme) if reading.scheme else _scheme(written)
    canonical: dict[str, str | None] = {}
    answers = []
    for answer, row in zip(file.answers, written, strict=True):
        for place, tag in enumerate(row):
            if tag not in canonical:
                canonical[tag] = _tag(task, tag, scheme, reading.names)
            if canonical[tag] is None:
                _no_tag(task, file, answer, place, tag, scheme, reading)
        answers.append([str(canonical[tag]) for tag in row])
    # BIO stays as it is, since strict F1 counts what the scheme does not allow.
    if scheme != "bio" or not (reading.scheme or any(map(_begins_with_b, answers))):
        answers = [tagging.convert(row, scheme, "bio") for row in answers]
    if task.task_type.borders:
        return answers
    return [[tag if tag == "O" else f"I-{tag[2:]}" for tag in row] for row in answers]


def _split(file: AnswerFile, answer: Answer) -> list[str]:
    given = answer.value
    if isinstance(given, str):
        given = given.replace(",", " ").split() if not given.strip().startswith("[") else _listed(given, ())
    if not isinstance(given, list) or not all(isinstance(tag, str) for tag in given):
        raise file.error(f"{_quoted(given)} is no list of tags.", answer)
    return given


def _begins_with_b(tags: Sequence[str]) -> bool:
    """Whether an entity that follows none begins with B: in BIO all do, in IOB1 and IO none."""
    return any(tag.startswith("B-") and before == "O" for before, tag in zip(["O", *tags], tags, strict=False))


def _prefixes(written: Iterable[Sequence[str]]) -> set[str]:
    every = {tag for row in written for tag in row}
    return {match[1] for tag in every if (match := re.fullmatch(r"([BIESLU])(?:-.*)?", tag))}


def _scheme(written: Sequence[Sequence[str]]) -> str:
    """BIOUL or IOBES if a tag has a letter of theirs; else the rules of BIO read BIO, IOB1 and IO."""
    return "bioul" if _prefixes(written) & {"L", "U", "E", "S"} else "bio"


def _tag(task: Task, tag: str, scheme: str, names: Mapping[str, str]) -> str | None:
    """A tag with a type of the task; None if it is none of the scheme."""
    if tag in OUTSIDE or names.get(tag) == "O":
        return "O"
    if names.get(tag, tag) in task.labels:  # a type without prefix, each word for itself
        return f"I-{names.get(tag, tag)}"
    prefix, _, kind = tag.partition("-")
    kind = names.get(kind, kind)
    if not kind and len(task.labels) == 1:
        kind = task.labels[0]
    if kind == "O":
        return "O"
    letters: Collection[str] = {*tagging.SCHEMES[scheme], *(tagging.OTHER_LETTERS if scheme == "bioul" else ())}
    return f"{prefix}-{kind}" if prefix in letters and kind in task.labels else None


def _no_tag(task: Task, file: AnswerFile, answer: Answer, place: int, tag: str, scheme: str, reading: Reading) -> None:
    line = answer.lines[place] if answer.lines else answer.line
    kind = tag.partition("-")[2]
    fix = f"If the file has other names for them, say which: --map {kind or tag}={task.labels[0]}."
    if reading.names.get(kind, kind) in task.labels:
        fix = "Leave out --scheme, or give that of the file."
    raise file.error(
        f"{_quoted(tag)} is no {scheme.upper()} tag of {task.name}, whose types are {', '.join(task.labels)}.",
        Answer(line, answer.id, None),
        fix=fix,
    )


FORMS: Mapping[str, Callable[[Task, AnswerFile, Reading], list[Any]]] = {
    "tags": tags,
    "label": labels,
    "labels": label_lists,
    "score": numbers,
}
"""How answers are read, by the column of the gold answer."""
