"""Turns answers of language models, with all their faults, into answers of a task.

Faults of answers are counted and never hidden; an unreadable answer is scored as empty or wrong
(`blurb.scoring.answer_forms`).
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from blurb.data.schema import Example, hash_rows
from blurb.inputs import tagging
from blurb.messages import DataError, opt
from blurb.scoring import answer_forms
from blurb.scoring.batch import Replies, Reply
from blurb.scoring.bodies import FILTERED, REFUSED
from blurb.scoring.requests import Manifest
from blurb.table_files import json_object
from blurb.tasks import Task

NO_JSON, SCHEMA, AROUND = "no_json", "schema", "text_around"
CUT_OFF, NO_ANSWER, TWO_ANSWERS, SHORT = "cut_off", "no_answer", "two_answers", "fewer_tags"
EMPTY = "scored as empty or wrong"
FAULTS = {
    NO_ANSWER: EMPTY,
    REFUSED: f"by the model; {EMPTY}",
    FILTERED: f"by the service; {EMPTY}",
    TWO_ANSWERS: "the first one counts",
    CUT_OFF: f"at the maximum of tokens; {EMPTY} unless the JSON is whole",
    NO_JSON: EMPTY,
    SCHEMA: f"JSON that the schema does not allow; {EMPTY}",
    AROUND: "the text around the JSON was cut",
    answer_forms.MISSING: "mentions; left out",
    answer_forms.UNORDERED: "mentions; taken where they stand",
    SHORT: "fewer tags than words; O for the rest",
    answer_forms.OVERLAPPING: "mentions on words of others; left out",
}
"""Faults of answers and mentions -> how they are handled."""
BEGINS = (
    r"<(?:seed:)?(?:think(?:ing)?|thought|reasoning)>|\[THINK\]|<\|START_THINKING\|>"
    r"|<\|channel\|>analysis<\|message\|>|\Aanalysis(?=.*assistantfinal)"
)
ENDS = (
    r"</(?:seed:)?(?:think(?:ing)?|thought|reasoning)>|\[/THINK\]|<\|END_THINKING\|>"
    r"|<\|channel\|>(?!analysis)[^{}]{0,200}?<\|message\|>|assistantfinal"
)
"""Marks around thoughts; the last ones are of gpt-oss, as they are and without their brackets."""
THOUGHT = re.compile(f"(?s:(?:{BEGINS}).*?(?:{ENDS}|\\Z))")
FENCE = re.compile(r"```\w*|<\|\w+\|>|[\s`*.]")
"""What may stand around JSON that is the whole answer."""


def decode_answers(
    task: Task, replies: Replies, units: Sequence[Example], split: str, faults: Counter[str]
) -> list[Any]:
    """One answer for each example, in the form that the task's formulation predicts.

    :param split: that is scored
    :param faults: counts the faults of answers and mentions
    :raises DataError: (file, line) for answers on another split, or to requests that were made of other data
    """
    manifest = replies.manifest
    if manifest.split != split:
        beside = f"{opt('split', 'dev')}, or to {opt('dev', 'FILE')} beside answers on test"
        raise replies.first.error(
            f"this is an answer on {manifest.split}, not on {split}",
            f"it belongs to {beside}."
            if manifest.split == "dev"
            else "give the answers to requests on dev.",
        )
    if hash_rows(units) != manifest.examples:
        raise replies.first.error(
            f"their requests were made of other examples of {task.name} than those of this data",
            f"give the same {opt('data')}.",
        )
    if unknown := replies.by_id.keys() - {unit["id"] for unit in units}:
        raise replies.by_id[min(unknown)].line.error(
            f"there is no example {min(unknown)[:40]!r} in {split} of {task.name}."
        )
    faults[TWO_ANSWERS] += replies.twice
    given = [read(task, manifest, unit, replies.by_id.get(unit["id"]), faults) for unit in units]
    replies.unread = given.count(None) / len(units)
    unreadable = answer_forms.of(task).unreadable
    return [
        unreadable(task, unit) if each is None else each
        for unit, each in zip(units, given, strict=True)
    ]


def read(
    task: Task, manifest: Manifest, unit: Example, reply: Reply | None, faults: Counter[str]
) -> Any:
    """The answer to an example; None for one that cannot be read, which is counted once."""
    value, fault = (None, NO_ANSWER) if reply is None else _reply_and_fault(reply, task, manifest)
    cut_off = reply is not None and reply.cut_off
    if value is None:
        faults[CUT_OFF if cut_off else fault] += 1
        return None
    faults[CUT_OFF] += cut_off
    faults[AROUND] += fault == AROUND
    return tags_of_mentions(task, unit, value, faults) if "tags" in unit else value


def _reply_and_fault(reply: Reply, task: Task, manifest: Manifest) -> tuple[Any, str]:
    """The answer in the text of a model, or None, and its fault.

    It is in the last whole object with the key of the schema, after the parts marked as thoughts. A label or a number
    alone is read as such.
    """
    form, whole = answer_forms.of(task), reply.content.strip()
    text = re.split(ENDS, THOUGHT.sub("", whole))[-1].strip()
    if not text:
        return None, reply.fault or NO_ANSWER
    for bare in dict.fromkeys((text, re.sub(r"<\|\w+\|>", "", text).strip("\"'`*. \n"))):
        with contextlib.suppress(*answer_forms.UNREADABLE):
            return form.read(task, bare, manifest.names), AROUND if bare != whole else ""
    inside = _last_object(text, form.key) or text[text.find("{") : text.rfind("}") + 1]
    if reply.cut_off and text == whole and FENCE.sub("", text.replace(inside, "", 1)):
        return None, NO_JSON  # a draft; the answer would have followed
    try:
        said = json_object(inside, reply.line)
        around = AROUND if inside != whole else ""
        return (
            (form.read(task, said[form.key], manifest.names), around)
            if len(said) == 1
            else (None, SCHEMA)
        )
    except DataError:
        return None, NO_JSON
    except answer_forms.UNREADABLE:
        return None, SCHEMA


def _last_object(text: str, key: str) -> str:
    """The last object of JSON in a text that has a key, as it is written; "" for none."""
    at, last = text.find("{"), ""
    while at >= 0:
        end = at + 1
        with contextlib.suppress(ValueError, RecursionError):
            said, end = json.JSONDecoder().raw_decode(text, at)
            last = text[at:end] if key in said else last
        at = text.find("{", end)
    return last


def tags_of_mentions(
    task: Task, unit: Example, mentions: Sequence[Mapping[str, str]], faults: Counter[str]
) -> list[str]:
    """The tags of a sentence by its mentions."""
    spans = answer_forms.SearchedWords(unit["tokens"]).spans(mentions, faults)
    return tagging.tags(spans, len(unit["tokens"]), "bio" if task.task_type.borders else "io")
