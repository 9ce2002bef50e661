"""Files of a batch service: a line is the answer to a request, or an error, in any order (`blurb.scoring.requests`)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from blurb.messages import DataError, count_noun, notify
from blurb.scoring import bodies, requests
from blurb.system.files import open_ordinary
from blurb.system.text_files import HEAD_BYTES, decode_text, refuse_binary
from blurb.table_files import FileLine, json_object

LONGEST, SNIFFED = 50_000_000, 65_536
"""Maximum bytes of a line (an answer of 100,000 tokens has half a million), and bytes read to tell a file's kind."""
REPEATS = 10
"""Maximum number of answers to each request, on average."""
FINE, SHOWN = ("200", "201"), 3
"""Status codes of an answer, and lines that a message names."""
AGAIN = "send this request again, and give its answer with the others."
CUT = f"If the file was cut while it was written, remove this line, then {AGAIN}"


class Reply(NamedTuple):
    """The answer to a request.

    :param content: what the model said; "" for nothing
    :param fault: why there is nothing, if the service says so (`blurb.scoring.bodies`)
    """

    line: FileLine
    content: str
    cut_off: bool
    fault: str = ""


@dataclass
class Replies:
    """The answers to the requests of a task.

    :param first: first line of all
    :param by_id: the first answer of each example that has content, else the last one
    :param failed: requests that got an error of the server, and its place
    :param failure: the first of these errors
    :param twice: number of further answers
    :param model: as the server called it, without folders
    :param unread: share of the requests without a readable answer, once they were read
    :param tokens_in: of all requests, as the server counts; likewise `tokens_out`
    """

    manifest: requests.Manifest
    first: FileLine
    by_id: dict[str, Reply] = field(default_factory=dict)
    failed: dict[str, FileLine] = field(default_factory=dict)
    failure: str = ""
    twice: int = 0
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    unread: float = 0.0

    @property
    def facts(self) -> dict[str, Any]:
        """The origin of the answers, as trials keep it."""
        return {
            "server_model": self.model,
            "prompts": self.manifest.prompts,
            "shots": list(self.manifest.shot_ids),
            "shots_seed": self.manifest.seed,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "requests": self.manifest.digits,
        }


def batch_files(path: Path) -> list[Path]:
    """The file, if it is of a batch service; of a folder the files with answers of one."""
    if path.is_dir():
        return [each for each in sorted(path.iterdir()) if _kind_by_beginning(each) == "answers"]
    return [path] if _kind_by_beginning(path) else []


def _kind_by_beginning(path: Path) -> str:
    """The content of a file by its first bytes: "answers", "requests" or "", even if they cut its first line."""
    if not path.is_file():
        return ""
    with open(path, "rb", opener=open_ordinary) as file:
        head = file.read(SNIFFED)
    first = re.search(rb'"(response|error|body|method)"\s*:', head)
    if b'"custom_id"' not in head:
        return ""
    return "requests" if first and first[1] in (b"body", b"method") else "answers"


def _json_lines(path: Path) -> Iterator[tuple[FileLine, dict[str, Any]]]:
    with open(path, "rb", opener=open_ordinary) as file:
        refuse_binary(file.read(HEAD_BYTES), path)
        file.seek(0)
        for number, raw in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
            line = FileLine(path, number)
            if len(raw) > LONGEST:
                raise line.error(f"a line of more than {LONGEST:,} bytes is no answer.")
            if raw.strip():
                try:
                    content = json_object(decode_text(raw, path, number), line, halves=True)
                except DataError as error:
                    raise line.error(error.what, error.fix or CUT) from None
                yield line, content


def read(paths: Sequence[Path]) -> dict[str, Replies]:
    """The answers of files, or of all such files of folders, by the name of their task.

    :raises DataError: (file, line) for a line that is not of a batch service, answers other requests, or is an error of
        the server without an answer in another line; for answers in unknown forms, after all were read
    """
    by_digits: dict[str, Replies] = {}
    strange: list[tuple[FileLine, str]] = []
    for each in _all_files(paths):
        for line, content in _json_lines(each):
            name, _, rest = str(content.get("custom_id", "")).partition("/")
            key, _, digits = rest.rpartition("/")
            manifest = (
                by_digits[digits].manifest
                if digits in by_digits
                else requests.known(digits, each.parent)
            )
            if manifest is None or manifest.task != name:
                raise line.error(
                    f"no known request has the custom_id {content.get('custom_id')!r:.80}",
                    f"put the {requests.MANIFEST} of its requests (blurb data export) beside this file.",
                )
            by_digits.setdefault(digits, Replies(manifest, line))
            try:
                _take_line(by_digits[digits], key, line, content)
            except (AttributeError, TypeError, ValueError, LookupError, OverflowError):
                response = content.get("response", None if "error" in content else content)
                body = response.get("body", response) if isinstance(response, dict) else response
                strange.append((line, bodies.form(response if response is content else body)))
    if strange:
        places = ", ".join(f"{line.path.name}:{line.number}" for line, _ in strange[:SHOWN])
        raise strange[0][0].error(
            f"this is no answer of a batch service that blurb understands: it looks like {strange[0][1]}. "
            f"In all, {count_noun(len(strange), 'line')} cannot be understood, the first: {places}",
            fix="docs/language-models.md lists the forms that are read.",
        )
    by_task: dict[str, Replies] = {}
    for replies in by_digits.values():
        if lost := [line for key, line in replies.failed.items() if key not in replies.by_id]:
            raise lost[0].error(
                f"the server answered with an error: {replies.failure}. In all, {count_noun(len(lost), 'request')} of "
                f"{replies.manifest.task} failed",
                AGAIN,
            )
        if by_task.setdefault(replies.manifest.task, replies) is not replies:
            raise replies.first.error(
                f"these answer other requests of {replies.manifest.task} than those before",
                "score each set by itself.",
            )
    return by_task


def _all_files(paths: Sequence[Path]) -> list[Path]:
    """The given files of answers, and those in the given folders; DataError if one is given twice."""
    taken = []
    for path in paths:
        present = batch_files(path)
        others = [
            each
            for each in (path.iterdir() if path.is_dir() else [path])
            if each not in present
            and each.name != requests.MANIFEST
            and _kind_by_beginning(each) != "requests"
        ]
        if path in others:
            raise DataError(
                "no answers of a batch service, as there are beside it.", path, fix="leave it out."
            )
        if others:
            names = ", ".join(sorted(each.name for each in others))
            notify(f"{path}: left out, as they are no answers of a batch service: {names}.")
        taken += present
    if double := [path for path, count in Counter(map(Path.resolve, taken)).items() if count > 1]:
        raise DataError("this file is given twice.", double[0], fix="give it once.")
    return taken


def _error_with_value(error: Any) -> Any:
    """The error of a service; None for one without values, which some send with each answer."""
    return error if not isinstance(error, dict) or any(error.values()) else None


def _take_line(replies: Replies, key: str, line: FileLine, content: Mapping[str, Any]) -> None:
    """Takes a line of a batch service; any error but a DataError means an unknown form."""
    response = content.get("response") or {}
    status, body = response.get("status_code"), response.get("body")
    error = _error_with_value(content.get("error")) or (
        isinstance(body, dict) and _error_with_value(body.get("error"))
    )
    if error or str(status or 200) not in FINE:
        replies.failed.setdefault(key, line)
        replies.failure = replies.failure or json.dumps(error or response)[:200]
    else:
        reply = Reply(line, *bodies.read(body))
        known = replies.by_id.get(key, reply)
        replies.by_id[key] = known if known.content.strip() else reply
        replies.twice += known is not reply and known is replies.by_id[key]
    most = replies.manifest.requests
    if max(len(replies.by_id), len(replies.failed), replies.twice // REPEATS) > most:
        raise line.error(f"more answers than the {count_noun(most, 'request')}.")
    body = body if isinstance(body, dict) else {}  # that of an error may have any type
    usage, model = body.get("usage") or {}, _name_of_model(body.get("model"))
    if model and replies.model and model != replies.model:
        raise line.error(
            f"an answer of {model}, after those of {replies.model}", "score each model by itself."
        )
    replies.model = replies.model or model
    replies.tokens_in += int(usage.get("prompt_tokens") or usage.get("input_tokens") or 0)
    replies.tokens_out += int(usage.get("completion_tokens") or usage.get("output_tokens") or 0)


def _name_of_model(model: object) -> str:
    """The name of a model without the folders of somebody's machine; `ORG/NAME` stays.

    >>> _name_of_model("/home/me/models/Qwen3-8B"), _name_of_model("Qwen/Qwen3-8B"), _name_of_model("./tiny")
    ('Qwen3-8B', 'Qwen/Qwen3-8B', 'tiny')
    """
    parts = str(model or "").replace("\\", "/").rstrip("/").split("/")
    return "/".join(parts) if len(parts) <= 2 and parts[0].strip("~.") else parts[-1]
