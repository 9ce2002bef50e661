"""Turns the values of a file into answers of a task: tags in BIO, a label, labels, or a number."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

from blurb.data.readers._examples import label_text, telling_trimmed_labels, trim_label, trim_labels
from blurb.inputs import tagging
from blurb.messages import SettingsError, opt, option_to_paste
from blurb.scoring.columns import MENTIONS, Answer, AnswerFile, read_list, reading_values
from blurb.system.parquet import UNREADABLE
from blurb.tasks import Task

OUTSIDE = ("O", "o", "0", "")
QUOTED = 40
"""Characters of an answer that a message quotes."""
TYPES = ("type", "label", "entity_group", "entity", "tag")
BESIDE = frozenset({"text", "word", "start", "end", "score", "confidence", "index"})
"""Keys of a mention that may hold its type, and keys that say nothing of it."""
ROUNDED = 0.02
"""How far from 1 the sum of rounded probabilities may be."""


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


def shape_answers(task: Task, file: AnswerFile) -> AnswerFile:
    """The file with each answer in its final form: a list of tags or of labels, the text of a label, or a number.

    Answers are matched to examples afterwards, so that no value changes its length then.

    :raises DataError: (file, line) for a value of another kind
    """
    form = _form_of(task, file)
    noun = form.noun.format(task.name)

    def final(answer: Answer) -> Answer:
        with reading_values(
            file.path, answer.line, lambda: f"{_quote_value(answer.value)} is no {noun}."
        ):
            return replace(answer, value=form.shape(task, file, answer))

    with telling_trimmed_labels(file.path):
        return replace(file, answers=[final(answer) for answer in file.answers])


def read(task: Task, file: AnswerFile, written: Reading) -> list[Any]:
    """The answer of each entry of a `shape_answers` file, as the task's formulation predicts it.

    :raises DataError: (file, line) for an entry that is no answer
    :raises SettingsError: if the mapping of names leads to no label of the task
    """
    unknown = sorted(set(written.names.values()) - {*task.labels, "O"})
    if unknown and task.task_type.has_labels:
        raise SettingsError(
            f"{opt('map')} leads to {', '.join(unknown)}, but the labels of {task.name} are {', '.join(task.labels)}."
        )
    return _form_of(task, file).read(task, file, written)


def _form_of(task: Task, file: AnswerFile) -> Form:
    name = next(name for name in task.task_type.columns if name in FORMS)
    return FORMS[MENTIONS if file.mentions and name == "tags" else name]


def _quote_value(value: Any) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value, default=str)
    except UNREADABLE:  # too deep, or a number of thousands of digits
        text = f"a value of type {type(value).__name__}"
    return repr(text if len(text) <= QUOTED else f"{text[:QUOTED]}...")


def _read_label(task: Task, file: AnswerFile, answer: Answer) -> dict[str, float]:
    """The text of a label, which is certain, or the probabilities of labels."""
    if isinstance(answer.value, dict):
        return _read_probabilities(answer.value, file, answer, whole=True)
    return {label_text(answer.value): 1}


def _read_labels(task: Task, file: AnswerFile, answer: Answer) -> list[str]:
    """A list, a text with `|`, `;` or `,` between labels, or the labels with a probability above 0.5."""
    if isinstance(given := answer.value, dict):
        shares = _read_probabilities(given, file, answer, whole=False)
        return [name for name, share in shares.items() if share > 0.5]
    if not isinstance(given, str) or given.strip().startswith("["):
        return [label_text(each) for each in read_list(given)]
    if given.strip() in task.labels:  # whose name may have a comma
        return [trim_label(given)]
    mark = next((mark for mark in "|;," if mark in given), "|")
    return [part.strip() for part in given.split(mark) if part.strip()]


def _read_tags(task: Task, file: AnswerFile, answer: Answer) -> list[str]:
    given = answer.value
    if isinstance(given, str) and not given.strip().startswith("["):
        return given.replace(",", " ").split()
    tags = read_list(given)
    if not all(issubclass(kind, str) for kind in {*map(type, tags)}):
        raise TypeError
    return trim_labels(tags)


def _read_entities(task: Task, file: AnswerFile, answer: Answer) -> list[dict[str, Any]]:
    """Entities with their texts or places, and the types that their keys state."""
    mentions: list[dict[str, Any]] = []
    for each in read_list(answer.value):
        entity = {"text": each} if isinstance(each, str) else {**each}
        text = entity.get("text", entity.get("entity" if "type" in entity else "word"))
        types = [
            label_text(entity[key]) for key in TYPES if key in entity and entity[key] is not text
        ]
        ends = (
            (entity["start"], entity["end"]) if "text" not in entity and "start" in entity else ()
        )
        place: Any = tuple(map(int, ends)) or None
        fits = type(each) in file.mentions and {*map(type, ends)} <= {int, float}
        if (
            not fits
            or place not in (ends, None)
            or not isinstance(text, str | None if place else str)
        ):
            raise TypeError
        before = (mentions or [{}])[-1]
        if (
            types
            and types[0][:2] == "I-"
            and place
            and before.get("place")
            and place[0] - before["place"][1] <= 1
            and types[0][2:] == before["types"][0][2:]
        ):
            before["place"] = (before["place"][0], place[1])  # a further token of an entity
            before["text"] = text if before["text"] is None else before["text"] + (text or "")
        else:
            mentions.append(
                {
                    "text": text,
                    "place": place,
                    "types": types,
                    "given": each,
                    "known": {*entity} <= BESIDE,
                }
            )
    return mentions


def read_mentions(task: Task, file: AnswerFile, written: Reading) -> list[list[dict[str, Any]]]:
    """Mentions with the types of the task; those whose type is `O` are left out."""
    typed = (
        [
            {**each, "type": _type_of_mention(task, file, answer, each, written.names)}
            for each in answer.value
        ]
        for answer in file.answers
    )
    return [[each for each in row if each["type"] != "O"] for row in typed]


def _type_of_mention(
    task: Task,
    file: AnswerFile,
    answer: Answer,
    mention: Mapping[str, Any],
    names: Mapping[str, str],
) -> str:
    """The type of a mention: the value of a key that is a label, a tag or a name of `--map`."""
    types = mention["types"]
    kinds = [
        names.get(each) or names.get(each[2:], each[2:] if each[:2] in ("B-", "I-") else each)
        for each in types
    ]
    known = {
        kind for kind in kinds if kind in task.labels or (kind == "O" and kind in names.values())
    }
    if not types and mention["known"] and len(task.labels) == 1:
        return task.labels[0]
    if types and not known:
        return _known_label(task, file, answer, types[0], names)
    if len(known) != 1:
        raise file.error(
            f"the mention {_quote_value(mention['given'])} has {'two types' if known else 'no type'} of {task.name}, "
            f"which are {', '.join(task.labels)}.",
            answer,
            fix="Name it by the key 'type'.",
        )
    return known.pop()


def _read_probabilities(
    value: Mapping[str, Any], file: AnswerFile, answer: Answer, whole: bool
) -> dict[str, float]:
    """The probability of each label.

    :param whole: whether just one label is right, so that the probabilities have the sum 1
    :raises DataError: (file, line) for a value that is no probability, such as a percentage
    """
    shares = {}
    for name, given in value.items():
        share = math.nan if isinstance(given, bool | str) or given is None else float(given)
        if not 0 <= share <= 1:
            raise file.error(
                f"{given!r} of {name[:40]!r} is no probability, which is from 0 to 1.",
                answer,
                fix="Divide percentages by 100." if 1 < share <= 100 else "",
            )
        shares[name] = share
    total = sum(shares.values())
    if not shares:
        raise file.error("there are no probabilities of labels.", answer)
    if whole and abs(total - 1) > ROUNDED:
        raise file.error(f"the probabilities of the labels have the sum {total:g}, not 1.", answer)
    return shares


def _read_number(task: Task, file: AnswerFile, answer: Answer) -> float:
    number = math.nan if isinstance(answer.value, bool) else float(answer.value)
    if not math.isfinite(number):
        raise ValueError
    return number


def _known_label(
    task: Task, file: AnswerFile, answer: Answer, text: str, names: Mapping[str, str]
) -> str:
    label = names.get(text, text)
    if label not in task.labels:
        raise file.error(
            f"{_quote_value(label)} is no label of {task.name}, which are {', '.join(task.labels)}.",
            answer,
            fix=_mapping_hint(label, task),
        )
    return label


def _mapping_hint(name: str, task: Task) -> str:
    name = name if 0 < len(name) <= QUOTED else "NAME"
    return f"If the file has other names for them, say which:{option_to_paste('--map', f'{name}={task.labels[0]}')}."


def labels(task: Task, file: AnswerFile, written: Reading) -> list[str]:
    """One label an example, by name: the most probable one, of equal ones the first."""
    chosen = []
    for answer in file.answers:
        shares = defaultdict[str, float](float)
        for name, share in answer.value.items():  # several names may be those of one label
            shares[written.names.get(name, name)] += share
        best = max(shares, key=lambda label: shares[label])
        chosen.append(_known_label(task, file, answer, best, {}))
    return chosen


def label_lists(task: Task, file: AnswerFile, written: Reading) -> list[list[str]]:
    """Any number of labels an example, in the order of the task."""
    names = {**{short: label for label, short in task.short_labels.items()}, **written.names}
    answers = []
    for answer in file.answers:
        chosen = {_known_label(task, file, answer, each, names) for each in answer.value}
        answers.append([label for label in task.labels if label in chosen])
    return answers


def numbers(task: Task, file: AnswerFile, written: Reading) -> list[float]:
    """One number an example, near the scale of the gold scores."""
    low, high = task.scale
    reach = (high - low) / 2  # a regression may leave the scale a little; another scale does by far
    for answer in file.answers:
        if not written.any_scale and not low - reach <= answer.value <= high + reach:
            raise file.error(
                f"{answer.value:g} is far from the scale of {task.name}, {low:g} to {high:g}, which the metric clips "
                "to.",
                answer,
                fix="Write the predictions on that scale.",
            )
    return [answer.value for answer in file.answers]


def tags(task: Task, file: AnswerFile, written: Reading) -> list[list[str]]:
    """One BIO tag a word (`I-` alone where the task has no borders), from any tagging scheme."""
    # BIOUL or IOBES if a tag has a letter of theirs; else the rules of BIO read BIO, IOB1 and IO.
    last = any(
        re.match(r"[LUES](-|$)", tag)
        for tag in {tag for answer in file.answers for tag in answer.value}
    )
    scheme = (
        tagging.reading_scheme(written.scheme) if written.scheme else "bioul" if last else "bio"
    )
    canonical: dict[str, str | None] = {}
    answers = []
    for answer in file.answers:
        for place, tag in enumerate(answer.value):
            if tag not in canonical:
                canonical[tag] = _typed_tag(task, tag, scheme, written.names)
            if canonical[tag] is None:
                _no_tag(task, file, answer, place, tag, scheme, written)
        answers.append([str(canonical[tag]) for tag in answer.value])
    # BIO stays as it is, since strict F1 counts what the scheme does not allow.
    # In it an entity that follows none begins with B, in IOB1 and IO none does.
    begun = any(
        tag[:2] == "B-" and before == "O"
        for row in answers
        for before, tag in pairwise(["O", *row])
    )
    is_bio = written.scheme.lower() == "bio" or (not written.scheme and begun)
    if scheme != "bio" or not is_bio:
        answers = [tagging.convert_tags(row, scheme, "bio") for row in answers]
    if task.task_type.borders:
        return answers
    return [[tag if tag == "O" else f"I-{tag[2:]}" for tag in row] for row in answers]


def _typed_tag(task: Task, tag: str, scheme: str, names: Mapping[str, str]) -> str | None:
    """A tag with a type of the task; None if it is not of the scheme."""
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
    letters: Collection[str] = {
        *tagging.SCHEMES[scheme],
        *(tagging.OTHER_LETTERS if scheme == "bioul" else ()),
    }
    return f"{prefix}-{kind}" if prefix in letters and kind in task.labels else None


def _no_tag(
    task: Task, file: AnswerFile, answer: Answer, place: int, tag: str, scheme: str, given: Reading
) -> None:
    line = answer.lines[place] if answer.lines else answer.line
    kind = tag.partition("-")[2]
    fix = _mapping_hint(kind or tag, task)
    if given.names.get(kind, kind) in task.labels:
        fix = f"Leave out {opt('scheme')}, or give that of the file."
    raise file.error(
        f"{_quote_value(tag)} is no {scheme.upper()} tag of {task.name}, whose types are {', '.join(task.labels)}.",
        Answer(line, answer.id, None),
        fix=fix,
    )


class Form(NamedTuple):
    """How answers are read, for one column of the gold answers.

    :param noun: what an answer is, with the name of the task
    :param shape: the final form of a value; any error it raises is one of the file (`blurb.scoring.columns`)
    :param read: the answers of all entries
    """

    noun: str
    shape: Callable[[Task, AnswerFile, Answer], Any]
    read: Callable[[Task, AnswerFile, Reading], list[Any]]


FORMS: Mapping[str, Form] = {
    "tags": Form("list of tags", _read_tags, tags),
    MENTIONS: Form("list of mentions with text and type", _read_entities, read_mentions),
    "label": Form("label of {}", _read_label, labels),
    "labels": Form("list of labels", _read_labels, label_lists),
    "score": Form("number", _read_number, numbers),
}
"""How answers are read, by the column of the gold answer."""
