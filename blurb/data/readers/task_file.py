"""Reads the corpus of a task file (`blurb/tasks/_file.py`): CoNLL, TSV or JSON lines, as given in `[format]`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from blurb.data.readers._files import check_label, conll, json_lines, lines
from blurb.data.schema import Example
from blurb.inputs import tagging
from blurb.messages.errors import DataError
from blurb.tasks import Split, Task

UNNAMED = "Entity"
"""Entity type for tags that are bare letters."""


def read(path: Path, task: Task, split: Split) -> Iterator[Example]:
    """Reads the examples of one split. Examples without an id are numbered."""
    for row in each(path, task, split):
        if isinstance(row, DataError):
            raise row
        yield row


def each(path: Path, task: Task, split: Split) -> Iterator[Example | DataError]:
    """The examples of one split, and in place of an invalid one what is wrong with it.

    Ends at a line that cannot be cut into its columns.
    """
    reader = {"conll": _conll, "tsv": _tsv, "jsonl": _jsonl}[task.layout["kind"]]
    seen: dict[str, int] = {}
    try:
        for count, (number, record) in enumerate(reader(path, task)):
            try:
                row = _row(record, task, path, number)
            except DataError as error:
                yield error
                continue
            row = {"id": f"{split}.{count}", **({"doc_id": None} if _names_documents(task) else {}), **row}
            first = seen.setdefault(row["id"], number)
            if first != number:
                yield DataError(f"the id {row['id'][:40]!r} already occurs in line {first}.", path, number)
                continue
            yield row
    except DataError as error:
        yield error


def guess_labels(path: Path, kind: str, form: str) -> list[str] | None:
    """The labels in a file, sorted; None if it cannot be read with the default names of columns.

    Only saves typing in `blurb tasks new`, so failures are ignored.
    """
    task = Task(
        name="",
        title="",
        type=kind,
        files={},
        reader="",
        labels=(),
        metric="",
        seeds=1,
        max_length=1,
        unit="",
        licence="",
        homepage="",
        citation="",
        layout={"kind": form},
    )
    reader = {"conll": _conll, "tsv": _tsv, "jsonl": _jsonl}[form]
    columns = task.task_type.columns
    labels: set[str] = set()
    try:
        for _, record in reader(path, task):
            if "tags" in columns:
                labels |= {str(tag).partition("-")[2] or UNNAMED for tag in record["tags"] if tag != "O"}
            if "labels" in columns:
                labels |= set(record["labels"])
            if "label" in columns:
                labels.add(str(record["label"]))
    except (DataError, KeyError, TypeError):
        return None
    return sorted(labels) or None


def _names_documents(task: Task) -> bool:
    return "doc_id" in task.task_type.columns


def _row(record: Mapping[str, Any], task: Task, path: Path, number: int) -> Example:
    """Checks a record and converts it to the canonical schema (`blurb/data/schema.py`)."""
    row: Example = {}
    for key in ("id", "doc_id") if _names_documents(task) else ("id",):
        if record.get(key) not in (None, ""):
            row[key] = str(record[key])
    columns, fields = task.task_type.columns, task.task_type.fields
    missing = [field for field in fields if field not in record]
    if missing:
        raise DataError(f"missing: {', '.join(missing)}; present: {', '.join(record) or 'nothing'}.", path, number)
    for field in fields:
        row[field] = record[field]
        if columns[field] == "text" and not isinstance(row[field], str):
            raise DataError(f"{field} must be a string (got {str(row[field])[:40]!r}).", path, number)
    if "label" in row:
        check_label(row["label"], task.labels, path, number)
    if "labels" in row:
        _check_list(row["labels"], "labels", path, number)
        for label in row["labels"]:
            check_label(label, task.labels, path, number)
    if "score" in row:
        row["score"] = _score(row["score"], task, path, number)
    if "head" in columns:
        row.update(_entities(record, task, path, number))
    if "tags" in row:
        _check_list(row["tokens"], "tokens", path, number)
        _check_list(row["tags"], "tags", path, number)
        numbers = record.get("numbers") or [number] * len(row["tags"])
        row["tags"] = _tags(row["tags"], len(row["tokens"]), task, path, numbers)
    return row


def _check_list(values: Any, field: str, path: Path, number: int) -> None:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise DataError(f"{field} must be a list of strings.", path, number)
    if field == "tokens" and not (values and all(value.strip() for value in values)):
        raise DataError("tokens must have at least one word, and no blank ones.", path, number)


def _score(value: Any, task: Task, path: Path, number: int) -> float:
    low, high = (float(str(task.metric_options[bound])) for bound in ("low", "high"))
    try:
        score = float(value)
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not low <= score <= high:
        raise DataError(f"expected a score from {low:g} to {high:g}, found {str(value)[:20]!r}.", path, number)
    return score


def _tags(tags: list[str], words: int, task: Task, path: Path, numbers: list[int]) -> list[str]:
    """Converts tags to typed BIO for NER and to `I-` for PICO.

    With a single entity type, bare letters are accepted, too.
    """
    if len(tags) != words:
        raise DataError(f"expected one tag per word, found {words} words and {len(tags)} tags.", path, *numbers[:1])
    scheme = tagging.scheme_name(task.layout.get("scheme", "bio"))
    only = task.labels[0] if len(task.labels) == 1 else None
    written = []
    for tag, number in zip(tags, numbers, strict=True):
        prefix, _, kind = tag.partition("-")
        if tag == "O" or (not task.task_type.borders and tag in task.labels):
            written.append(tag if tag == "O" else f"I-{tag}")
            continue
        if scheme == "bioul":
            prefix = tagging.OTHER_LETTERS.get(prefix, prefix)
        kind = kind or only or ""
        if kind not in task.labels or prefix not in tagging.SCHEMES[scheme]:
            raise DataError(
                f"{tag[:40]!r} is not a {scheme.upper()} tag for the labels {', '.join(task.labels)}.", path, number
            )
        written.append(f"{prefix}-{kind}")
    if not task.task_type.borders:
        return [tag if tag == "O" else f"I-{tag.partition('-')[2]}" for tag in written]
    legal = tagging.convert(written, scheme, scheme)
    for tag, other, number in zip(written, legal, numbers, strict=True):
        if tag != other:
            raise DataError(
                f"the tag {tag} is not allowed here in {scheme.upper()}",
                path,
                number,
                fix=f"check 'scheme' in [format] ({', '.join([*tagging.SCHEMES, *tagging.ALIASES])}).",
            )
    return tagging.convert(written, scheme, "bio")


def _entities(record: Mapping[str, Any], task: Task, path: Path, number: int) -> Example:
    """Head and tail from spans, or from the dummies in the text; the entity that starts first is the head."""
    dummies = task.layout.get("dummies")
    if dummies:
        pattern = "|".join(map(re.escape, sorted(dummies, key=len, reverse=True)))
        spans = [(match.start(), match.end(), match[0].strip("@$")) for match in re.finditer(pattern, record["text"])]
        if len(spans) != 2:
            raise DataError(
                f"expected two of the dummies {', '.join(dummies)} in the text; found {len(spans)}.", path, number
            )
    else:
        spans = [_span(record.get(role), role, record["text"], path, number) for role in ("head", "tail")]
        spans.sort(key=lambda span: span[0])
    return {
        role: dict(zip(("start", "end", "type"), span, strict=True))
        for role, span in zip(("head", "tail"), spans, strict=True)
    }


def _span(value: Any, role: str, text: str, path: Path, number: int) -> tuple[int, int, str]:
    fine = isinstance(value, dict) and type(value.get("start")) is int and type(value.get("end")) is int
    if not fine or not 0 <= value["start"] < value["end"] <= len(text) or not isinstance(value.get("type"), str):
        raise DataError(
            f'{role} must be {{"start": ..., "end": ..., "type": ...}} in code points of the text, end exclusive '
            "(or set 'dummies' in [format]).",
            path,
            number,
        )
    return value["start"], value["end"], value["type"]


def _conll(path: Path, task: Task) -> Iterator[tuple[int, dict[str, Any]]]:
    """One word per line, blank lines between sentences, `-DOCSTART-` lines before documents; TABs or blanks."""
    token, tag = task.layout.get("token", 0), task.layout.get("tag", -1)
    for sentence in conll(path):
        numbers, width = sentence.numbers, len(sentence.rows[0])
        if not (-width <= token < width and -width <= tag < width):
            what = f"expected columns {token} and {tag} as in [format], found {width} columns."
            raise DataError(what, path, numbers[0])
        tokens, tags = ([row[place] for row in sentence.rows] for place in (token, tag))
        blank = next((number for number, word in zip(numbers, tokens, strict=True) if not word.strip()), None)
        if blank is not None:
            raise DataError("the token is blank.", path, blank)
        record = {"id": sentence.id, "doc_id": sentence.document, "tokens": tokens, "tags": tags, "numbers": numbers}
        yield numbers[0], record


def _tsv(path: Path, task: Task) -> Iterator[tuple[int, dict[str, Any]]]:
    """One row per line, separated by TABs, without quoting; columns by header name, or by number from 0."""
    columns: Mapping[str, Any] = task.layout.get("columns", {})
    header: list[str] | None = None
    for number, line in lines(path):
        cells = line.split("\t")
        if header is None and task.layout.get("header", True):
            header = cells
            continue
        if header is not None and len(cells) != len(header):
            raise DataError(f"expected {len(header)} TAB-separated columns, found {len(cells)}.", path, number)
        record: dict[str, Any] = {}
        for field in ("id", "doc_id", *task.task_type.fields):
            place = columns.get(field, field)
            if header is not None and place in header:
                place = header.index(place)
            if isinstance(place, int) and 0 <= place < len(cells):
                record[field] = cells[place]
            elif field in columns:
                there = ", ".join(header) if header else f"{len(cells)} without header"
                raise DataError(f"no column {place!r} for {field}; available columns: {there}.", path, number)
        if "labels" in record:
            separator = task.layout.get("separator", "|")
            record["labels"] = [label.strip() for label in record["labels"].split(separator) if label.strip()]
        yield number, record


def _jsonl(path: Path, task: Task) -> Iterator[tuple[int, dict[str, Any]]]:
    """One JSON object per line; keys are the names of the fields, or those given in `columns`."""
    columns: Mapping[str, Any] = task.layout.get("columns", {})
    for number, record in json_lines(path):
        names = {field: columns.get(field, field) for field in ("id", "doc_id", *task.task_type.fields, "head", "tail")}
        yield number, {field: record[name] for field, name in names.items() if name in record}
