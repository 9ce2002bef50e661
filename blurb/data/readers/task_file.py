"""Reads the corpus of a task file (`blurb/tasks/_file.py`): CoNLL, TSV or JSON lines, as given in `[format]`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from blurb.data.readers._files import check_label, conll, json_lines, label_text, lines, trimmed
from blurb.data.schema import Example
from blurb.inputs import tagging
from blurb.messages.errors import DataError
from blurb.system.sniffing import refuse_separators
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
    reader = FORMATS[task.layout["kind"]]
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
        present = ", ".join(map(str, record.get("present", record))) or "nothing"
        fix = f"to use another column, set columns = {{ {missing[0]} = ... }} in [format]."
        raise DataError(f"missing: {', '.join(missing)}; present: {present}", path, number, fix=fix)
    for field in fields:
        row[field] = record[field]
        if columns[field] == "text" and field != "label" and not isinstance(row[field], str):
            raise DataError(f"{field} must be a string (got {str(row[field])[:40]!r}).", path, number)
    for field in row.keys() & {"label", "labels"}:
        labels = [check_label(label, task.labels, path, number) for label in labels_of(row[field], field, path, number)]
        row[field] = labels if field == "labels" else labels[0]
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


def labels_of(value: Any, field: str, path: Path, number: int) -> list[str]:
    """The labels of an example, which may be a text, a number, or a list of these; exactly one for `label`."""
    try:
        labels = [label_text(each) for each in (value if isinstance(value, list) else [value])]
    except (TypeError, ValueError, OverflowError):
        what = f"{field} must be a text, a number, or a list of these (got {str(value)[:40]!r})."
        raise DataError(what, path, number) from None
    labels = labels if field == "label" else [label for label in labels if label]
    if field == "label" and len(labels) != 1:
        fix = "several labels an example are a task of type document."
        raise DataError(f"expected one label, found {len(labels)}", path, number, fix=fix)
    return labels


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
    declared = task.layout.get("scheme", "bio").lower()
    scheme = tagging.reading_scheme(declared)
    only = task.labels[0] if len(task.labels) == 1 else None
    written = []
    for tag, number in zip(map(trimmed, tags), numbers, strict=True):
        prefix, _, kind = tag.partition("-")
        if tag == "O" or (not task.task_type.borders and tag in task.labels):
            written.append(tag if tag == "O" else f"I-{tag}")
            continue
        if scheme == "bioul":
            prefix = tagging.OTHER_LETTERS.get(prefix, prefix)
        kind = kind or only or ""
        if kind not in task.labels or prefix not in tagging.SCHEMES[scheme]:
            raise DataError(
                f"{tag[:40]!r} is not a {declared.upper()} tag for the labels {', '.join(task.labels)}.", path, number
            )
        written.append(f"{prefix}-{kind}")
    if not task.task_type.borders:
        return [tag if tag == "O" else f"I-{tag.partition('-')[2]}" for tag in written]
    legal = written if declared == tagging.IOB1 else tagging.convert(written, scheme, scheme)
    for tag, other, number in zip(written, legal, numbers, strict=True):
        if tag != other:
            more = f" {tagging.IOB1} also reads entities that begin with I." if scheme == "bio" else ""
            fix = f"check 'scheme' in [format] ({', '.join(tagging.READ)}).{more}"
            raise DataError(f"the tag {tag} is not allowed here in {declared.upper()}", path, number, fix=fix)
    return tagging.convert(written, scheme, "bio")


def _entities(record: Mapping[str, Any], task: Task, path: Path, number: int) -> Example:
    """Head and tail from spans, which may stand in any order, or from the dummies in the text, the first as head."""
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
            header = [name.strip() for name in cells]
            if len(header) == 1:
                refuse_separators(line, path, ";,", "TABs")
            continue
        if header is not None and len(cells) != len(header):
            raise DataError(f"expected {len(header)} TAB-separated columns, found {len(cells)}.", path, number)
        record: dict[str, Any] = {"present": header or [f"column {place}" for place in range(len(cells))]}
        for field in ("id", "doc_id", *task.task_type.fields):
            place = columns.get(field, field)
            if header is not None and header.count(str(place)) > 1:
                raise DataError(f"two columns have the name {place!r}.", path, 1)
            if header is not None and place in header:
                place = header.index(str(place))
            if isinstance(place, int) and 0 <= place < len(cells):
                record[field] = cells[place]
            elif field in columns:
                there = ", ".join(header) if header else f"{len(cells)} without header"
                raise DataError(f"no column {place!r} for {field}; available columns: {there}.", path, number)
        if "labels" in record:
            separator = task.layout.get("separator", "|")
            record["labels"] = [trimmed(label) for label in record["labels"].split(separator) if label.strip()]
        yield number, record


def _jsonl(path: Path, task: Task) -> Iterator[tuple[int, dict[str, Any]]]:
    """One JSON object per line; keys are the names of the fields, or those given in `columns`."""
    columns: Mapping[str, Any] = task.layout.get("columns", {})
    for number, record in json_lines(path):
        names = {field: columns.get(field, field) for field in ("id", "doc_id", *task.task_type.fields, "head", "tail")}
        fields = {field: record[name] for field, name in names.items() if name in record}
        yield number, {"present": list(record), **fields}


FORMATS: Mapping[str, Callable[[Path, Task], Iterator[tuple[int, dict[str, Any]]]]] = {
    "conll": _conll,
    "tsv": _tsv,
    "jsonl": _jsonl,
}
"""Readers of records, by the `kind` of `[format]`."""
