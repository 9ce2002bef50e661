"""Answers of language models, whatever may be wrong with them, as answers of a task.

What is wrong with an answer is counted and never hidden; an answer that cannot be read is scored as `unreadable`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from blurb.data.schema import Example, hash_rows
from blurb.inputs import tagging
from blurb.messages import DataError, opt
from blurb.scoring import requests
from blurb.scoring.batch import Replies, Reply
from blurb.scoring.mentions import MISSING, OVERLAPPING, UNORDERED, SearchedWords
from blurb.scoring.requests import Manifest
from blurb.table_files import json_object
from blurb.tasks import Task

NO_JSON, SCHEMA, AROUND = "no_json", "schema", "text_around"
CUT_OFF, NO_ANSWER, TWO_ANSWERS = "cut_off", "no_answer", "two_answers"
EMPTY = "scored as empty or wrong"
FAULTS = {
    NO_ANSWER: EMPTY,
    TWO_ANSWERS: "the first one counts",
    CUT_OFF: f"at the maximum of tokens; {EMPTY} unless the JSON is whole",
    NO_JSON: EMPTY,
    SCHEMA: f"JSON that the schema does not allow; {EMPTY}",
    AROUND: "the text around the JSON was cut",
    MISSING: "mentions; left out",
    UNORDERED: "mentions; taken where they stand",
    OVERLAPPING: "mentions on words of others; left out",
}
"""What may be wrong with answers and mentions, and what is made of it."""
THINKING, THOUGHT = "<think>", "</think>"


def answers(task: Task, replies: Replies, units: Sequence[Example], split: str, faults: Counter[str]) -> list[Any]:
    """One answer for each example, as the formulation of the task predicts it.

    :param split: that is scored
    :param faults: what is wrong with answers and mentions is counted here
    :raises DataError: (file, line) for answers on another split, or to requests that were made of other data
    """
    manifest = replies.manifest
    if manifest.split != split:
        beside = f"{opt('split', 'dev')}, or to {opt('dev', 'FILE')} beside answers on test"
        fix = f"it belongs to {beside}." if manifest.split == "dev" else "give the answers to requests on dev."
        raise replies.first.error(f"this is an answer on {manifest.split}, not on {split}", fix)
    if hash_rows(units) != manifest.examples:
        what = f"their requests were made of other examples of {task.name} than those of this data"
        raise replies.first.error(what, f"give the same {opt('data')}.")
    if unknown := replies.by_id.keys() - {unit["id"] for unit in units}:
        line = replies.by_id[min(unknown)].line
        raise line.error(f"there is no example {min(unknown)[:40]!r} in {split} of {task.name}.")
    faults[TWO_ANSWERS] += replies.twice
    return [answer(task, manifest, unit, replies.by_id.get(unit["id"]), faults) for unit in units]


def answer(task: Task, manifest: Manifest, unit: Example, reply: Reply | None, faults: Counter[str]) -> Any:
    """The answer to an example, or `unreadable`; an answer that cannot be read is counted once."""
    content = None if reply is None else _object(reply, requests.answer_key(task), manifest.names)
    value = None if content is None else _value(task, content[0], manifest.names)
    cut_off = reply is not None and reply.cut_off
    if content is None or value is None:
        empty = reply is None or not reply.content.strip()
        faults[CUT_OFF if cut_off else NO_ANSWER if empty else NO_JSON if content is None else SCHEMA] += 1
        return unreadable(task, unit)
    faults[CUT_OFF] += cut_off
    faults[AROUND] += content[1]
    return tags(task, unit, value, faults) if "tags" in unit else value


def _object(reply: Reply, key: str, names: Mapping[str, str]) -> tuple[Mapping[str, Any], bool] | None:
    """The JSON object of an answer, and whether other text stands around it; None without one.

    It is what stands behind the last `</think>`, from the first `{` to the last `}`. A label or a number alone is read
    as such.
    """
    text = reply.content.rpartition(THOUGHT)[2].strip()
    if text.startswith(THINKING):
        return None
    for bare in dict.fromkeys((text, text.strip("\"'`*. \n"))):
        if (key == "label" and bare in names) or (key == "score" and _number(bare) is not None):
            return {key: bare}, bare != reply.content.strip()
    inside = text[text.find("{") : text.rfind("}") + 1]
    try:
        return json_object(inside, reply.line), inside != reply.content.strip()
    except DataError:
        return None


def _number(value: Any) -> float | None:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _value(task: Task, said: Mapping[str, Any], names: Mapping[str, str]) -> Any:
    """The content of an object that follows the schema: mentions, a label, labels or a number; None for another."""
    key = requests.answer_key(task)
    value: Any = said.get(key)
    if set(said) != {key} or isinstance(value, list) != (key in ("labels", "mentions")):
        return None
    if key == "score":
        low, high = (float(task.metric_options[name]) for name in ("low", "high"))  # type: ignore[arg-type]
        number = _number(value)
        return number if number is not None and low <= number <= high else None
    try:
        if key == "label":
            return names[value]
        if key == "labels":
            chosen = {names[each] for each in value}
            return [label for label in task.labels if label in chosen]
        mentions = [{"text": each["text"], "type": names[each["type"]]} for each in value if len(each) == 2]
    except (LookupError, TypeError):
        return None
    return mentions if len(mentions) == len(value) and all(isinstance(each["text"], str) for each in mentions) else None


def tags(task: Task, unit: Example, mentions: Sequence[Mapping[str, str]], faults: Counter[str]) -> list[str]:
    """The tags of a sentence by its mentions."""
    spans = SearchedWords(unit["tokens"]).spans(mentions, faults)
    return tagging.tags(spans, len(unit["tokens"]), "bio" if task.task_type.borders else "io")


def unreadable(task: Task, unit: Example) -> Any:
    """What stands for an answer that cannot be read: an empty one where there is such a thing, else a wrong one.

    No mention; no label of a document; the class that the metric leaves out, such as no relation; else the first label
    that is wrong; of a scale the end that is farther from the right score.
    """
    if "tags" in unit:
        return ["O"] * len(unit["tokens"])
    if "labels" in unit:
        return []
    options = task.metric_options
    if "score" in unit:
        low, high = float(options["low"]), float(options["high"])  # type: ignore[arg-type]
        return low if unit["score"] - low > high - unit["score"] else high
    left_out = options.get("negative")
    wrong = options.get("positive", unit["label"])
    return left_out or next((label for label in task.labels if label != wrong), task.labels[0])
