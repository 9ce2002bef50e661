"""Files of a batch service: a line is the answer to a request, or an error, in any order (`blurb.scoring.requests`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from blurb.messages import notify, plural
from blurb.scoring import requests
from blurb.scoring.requests import Manifest
from blurb.system.files import ordinary
from blurb.system.text_files import HEAD_BYTES, decode, refuse_binary
from blurb.table_files import FileLine

LONGEST, SNIFFED = 50_000_000, 65_536
"""Bytes of a line, at most (an answer of 100,000 tokens has half a million), and those that tell its kind."""
REPEATS = 10
"""Answers to each request, at most, on average."""
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
    :param failed: requests that got an error of the server, and its place
    :param failure: the first of these errors
    :param twice: number of further answers
    :param model: as the server called it, without folders
    :param tokens_in: of all requests, as the server counts; likewise `tokens_out`
    """

    manifest: Manifest
    first: FileLine
    by_id: dict[str, Reply] = field(default_factory=dict)
    failed: dict[str, FileLine] = field(default_factory=dict)
    failure: str = ""
    twice: int = 0
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def facts(self) -> dict[str, Any]:
        """What a trial keeps of where its answers are from."""
        return {
            "server_model": self.model,
            "prompts": self.manifest.prompts,
            "shots": list(self.manifest.shot_ids),
            "shots_seed": self.manifest.seed,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "requests": self.manifest.digits,
        }


def files(path: Path) -> list[Path]:
    """The file, if it is of a batch service, or the files of a folder that have answers of one."""
    if path.is_dir():
        return [each for each in sorted(path.iterdir()) if _beginning(each) == "answers"]
    return [path] if _beginning(path) else []


def _beginning(path: Path) -> str:
    """What a file has by its first bytes: "answers", "requests" or neither, ""; also if its first line is cut."""
    if not path.is_file():
        return ""
    with open(path, "rb", opener=ordinary) as file:
        head = file.read(SNIFFED)
    first = re.search(rb'"(response|error|body|method)"\s*:', head)
    if b'"custom_id"' not in head:
        return ""
    return "requests" if first and first[1] in (b"body", b"method") else "answers"


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
                    content = json.loads(decode(raw, path, number))
                except (ValueError, RecursionError) as error:
                    fix = f"if the file was cut while it was written, remove this line, then {AGAIN}"
                    raise line.error(f"not valid JSON: {str(error)[:80]}", fix) from None
                if not isinstance(content, dict):
                    raise line.error("expected a JSON object.")
                yield line, content


def read(path: Path) -> dict[str, Replies]:
    """The answers of a file, or of all such files of a folder, by the name of their task.

    :raises DataError: (file, line) for what is no line of a batch service, answers other requests, or is an error of
        the server that no other line makes good
    """
    by_digits: dict[str, Replies] = {}
    taken, there = files(path), path.iterdir() if path.is_dir() else ()
    others = [each.name for each in there if each not in taken and each.name != requests.MANIFEST]
    if others := sorted(name for name in others if _beginning(path / name) != "requests"):
        notify(f"{path}: left out, as they are no answers of a batch service: {', '.join(others)}.")
    for each in taken:
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
            except (AttributeError, TypeError, ValueError, LookupError, OverflowError):
                raise line.error("this is no answer of a batch service: a part of it has another form.") from None
    by_task: dict[str, Replies] = {}
    for replies in by_digits.values():
        if lost := [line for key, line in replies.failed.items() if key not in replies.by_id]:
            what = f"the server answered with an error: {replies.failure}"
            count = plural(len(lost), "request")
            raise lost[0].error(f"{what}. In all, {count} of {replies.manifest.task} failed", AGAIN)
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
        replies.failed.setdefault(key, line)
        replies.failure = replies.failure or json.dumps(error if error is not True else response)[:200]
    elif key in replies.by_id and replies.by_id[key].content.strip():
        replies.twice += 1
    else:
        choice = next(iter(body.get("choices") or [{}]))
        text = (choice.get("message") or {}).get("content")
        whole = text.encode(errors="replace").decode() if isinstance(text, str) else ""  # half an emoji, cut at the end
        replies.by_id[key] = Reply(line, whole, choice.get("finish_reason") == "length")
    most = replies.manifest.requests
    if max(len(replies.by_id), len(replies.failed), replies.twice // REPEATS) > most:
        raise line.error(f"more answers than the {plural(most, 'request')}.")
    usage, model = body.get("usage") or {}, _named(body.get("model"))
    if model and replies.model and model != replies.model:
        raise line.error(f"an answer of {model}, after those of {replies.model}", "score each model by itself.")
    replies.model = replies.model or model
    replies.tokens_in += int(usage.get("prompt_tokens") or 0)
    replies.tokens_out += int(usage.get("completion_tokens") or 0)


def _named(model: object) -> str:
    """The name of a model without the folders of somebody's machine; `ORG/NAME` stays.

    >>> _named("/home/me/models/Qwen3-8B"), _named("Qwen/Qwen3-8B"), _named("./tiny")
    ('Qwen3-8B', 'Qwen/Qwen3-8B', 'tiny')
    """
    parts = str(model or "").replace("\\", "/").rstrip("/").split("/")
    return "/".join(parts) if len(parts) <= 2 and parts[0].strip("~.") else parts[-1]
