"""Answers of language models: lines of a batch service, whatever may be wrong with them, as answers of a task.

What is wrong with an answer is counted and never hidden; an answer that cannot be read is scored as `unreadable`.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from blurb.data.schema import Example, hash_rows
from blurb.inputs import tagging
from blurb.messages import BlurbError, DataError, opt, plural
from blurb.scoring import requests
from blurb.scoring.mentions import MISSING, OVERLAPPING, UNORDERED, SearchedWords
from blurb.scoring.requests import Manifest
from blurb.system.files import ordinary
from blurb.system.text_files import HEAD_BYTES, decode, refuse_binary
from blurb.table_files import FileLine, json_object
from blurb.tasks import Task

LONGEST = 50_000_000
"""Bytes of a line; an answer of a hundred thousand tokens has half a million."""
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
AGAIN = "send this request again, and give its answer with the others."


class Reply(NamedTuple):
    """The answer to a request.

    :param content: what the model said; "" for nothing
    """

    line: FileLine
    content: str
    cut_off: bool


@dataclass
class Replies:
    """The answers to the requests of a task.

    :param first: line of any of them
    :param by_id: the first answer of each example
    :param twice: number of further answers
    :param models: as the server called them, without folders
    :param tokens_in: of all requests, as the server counts; likewise `tokens_out`
    """

    manifest: Manifest
    first: FileLine
    by_id: dict[str, Reply] = field(default_factory=dict)
    failed: dict[str, DataError] = field(default_factory=dict)
    twice: int = 0
    models: set[str] = field(default_factory=set)
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def facts(self) -> dict[str, Any]:
        """What a trial keeps of where its answers are from."""
        manifest = self.manifest
        asked = {"prompts": manifest.prompts, "shots": list(manifest.shot_ids), "shots_seed": manifest.seed}
        tokens = {"tokens_in": self.tokens_in, "tokens_out": self.tokens_out}
        return {"server_model": "".join(self.models), **asked, **tokens, "requests": manifest.digits}


def is_batch(path: Path) -> bool:
    """Whether a file has answers of a batch service, or a folder has such files."""
    return bool(_files(path))


def _files(path: Path) -> list[Path]:
    found = sorted(path.glob("*.jsonl")) if path.is_dir() else [path] if path.suffix.lower() == ".jsonl" else []
    return [each for each in found if _begins(each, path.is_dir())]


def _begins(path: Path, answered: bool) -> bool:
    """Whether the first line has a `custom_id`; with `answered` a file of requests is none."""
    try:
        _, first = next(_lines(path))
    except (BlurbError, OSError, StopIteration):
        return False
    return "custom_id" in first and not (answered and "body" in first)


def _lines(path: Path) -> Iterator[tuple[FileLine, dict[str, Any]]]:
    with open(path, "rb", opener=ordinary) as file:
        refuse_binary(file.read(HEAD_BYTES), path)
        file.seek(0)
        for number, raw in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
            line = FileLine(path, number)
            if len(raw) > LONGEST:
                raise line.error(f"a line of more than {LONGEST:,} bytes is no answer.")
            if raw.strip():
                try:
                    yield line, json_object(decode(raw, path, number), line)
                except DataError as error:
                    fix = f"if the file was cut while it was written, remove this line, then {AGAIN}"
                    raise line.error(error.what.removesuffix("."), fix) from None


def read(path: Path) -> dict[str, Replies]:
    """The answers of a file, or of all such files of a folder, by the name of their task.

    :raises DataError: (file, line) for what is no line of a batch service, answers other requests, or is an error of
        the server that no other line makes good
    """
    by_digits: dict[str, Replies] = {}
    for each in _files(path):
        for line, content in _lines(each):
            name, _, rest = str(content.get("custom_id", "")).partition("/")
            key, _, digits = rest.rpartition("/")
            manifest = by_digits[digits].manifest if digits in by_digits else requests.known(digits, each.parent)
            if manifest is None or manifest.task != name:
                fix = f"put the {requests.MANIFEST} of its requests (blurb data export) beside this file."
                raise line.error(f"no known request has the custom_id {content.get('custom_id')!r:.80}", fix)
            by_digits.setdefault(digits, Replies(manifest, line))
            try:
                _take(by_digits[digits], key, line, content)
            except (AttributeError, TypeError, ValueError, LookupError):
                raise line.error("this is no answer of a batch service: a part of it has another form.") from None
    by_task: dict[str, Replies] = {}
    for replies in by_digits.values():
        for error in [error for key, error in replies.failed.items() if key not in replies.by_id][:1]:
            lost = plural(len(replies.failed.keys() - replies.by_id.keys()), "request")
            what = f"{error.what} In all, {lost} of {replies.manifest.task} failed"
            raise DataError(what, error.path, error.line, fix=AGAIN)
        if len(replies.models) > 1:
            listed = ", ".join(sorted(replies.models))
            raise replies.first.error(f"the answers are of several models: {listed}", "score each by itself.")
        if by_task.setdefault(replies.manifest.task, replies) is not replies:
            what = f"these answer other requests of {replies.manifest.task} than those before"
            raise replies.first.error(what, "score each set by itself.")
    return by_task


def _take(replies: Replies, key: str, line: FileLine, content: Mapping[str, Any]) -> None:
    """Takes a line of a batch service."""
    if "response" not in content and "error" not in content:
        fix = "give the file with the answers." if "body" in content else ""
        raise line.error("this is no answer of a batch service, which has `response` or `error`", fix)
    response = content.get("response") or {}
    body = response.get("body") or {}
    if error := content.get("error") or body.get("error") or response.get("status_code", 200) != 200:
        said = json.dumps(error if error is not True else response)
        replies.failed.setdefault(key, line.error(f"the server answered with an error: {said:.200}."))
        return
    usage = body.get("usage") or {}
    if key in replies.by_id:
        replies.twice += 1
    elif len(replies.by_id) >= replies.manifest.requests:
        raise line.error(f"more answers than the {plural(replies.manifest.requests, 'request')}.")
    else:
        choice = next(iter(body.get("choices") or [{}]))
        text = (choice.get("message") or {}).get("content")
        replies.by_id[key] = Reply(line, text if isinstance(text, str) else "", choice.get("finish_reason") == "length")
    replies.models |= {PurePath(str(body["model"])).name} if body.get("model") else set()
    replies.tokens_in += int(usage.get("prompt_tokens") or 0)
    replies.tokens_out += int(usage.get("completion_tokens") or 0)


def answers(task: Task, replies: Replies, units: Sequence[Example], split: str, faults: Counter[str]) -> list[Any]:
    """One answer for each example, as the formulation of the task predicts it.

    :param split: that is scored
    :param faults: what is wrong with answers and mentions is counted here
    :raises DataError: (file, line) for answers on another split, or to requests that were made of other data
    """
    manifest = replies.manifest
    if manifest.split != split:
        fix = f"give {opt('split', manifest.split)}."
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
    bare = text.strip("\"'`*. \n")
    if (key == "label" and bare in names) or (key == "score" and _number(bare) is not None):
        return {key: bare}, text != reply.content.strip()
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
    value = said.get(key)
    if set(said) != {key}:
        return None
    if key == "label":
        return names.get(value) if isinstance(value, str) else None
    if key == "score":
        low, high = (float(task.metric_options[name]) for name in ("low", "high"))  # type: ignore[arg-type]
        number = _number(value)
        return number if number is not None and low <= number <= high else None
    if not isinstance(value, list):
        return None
    if key == "labels":
        chosen = {names.get(each) if isinstance(each, str) else None for each in value}
        return None if None in chosen else [label for label in task.labels if label in chosen]
    good = all(
        isinstance(each, dict)
        and set(each) == {"text", "type"}
        and isinstance(each["text"], str)
        and isinstance(each["type"], str)
        and each["type"] in names
        for each in value
    )
    return [{**each, "type": names[each["type"]]} for each in value] if good else None


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
    return left_out or next(label for label in task.labels if label != wrong)
