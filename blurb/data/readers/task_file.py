"""Reads the corpus of a task file (`blurb/tasks/_file.py`): CoNLL, TSV, CSV or JSON lines, as given in `[format]`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from blurb.data.readers._examples import (
    check_label,
    label_text,
    make_examples,
    span_of,
    trim_label,
    trim_labels,
)
from blurb.data.readers.conll import check_words
from blurb.data.readers.tables import check_score
from blurb.data.schema import Example
from blurb.inputs import tagging
from blurb.messages import FIRST, DataError, ErrorCollector
from blurb.system.text_files import refuse_separators
from blurb.table_files import (
    FileLine,
    Record,
    Sentence,
    cells_of,
    csv_rows,
    json_lines,
    lines_of,
    read_conll,
    text_of,
)
from blurb.tasks import Split, Task, types
from blurb.tasks._task import Layout

UNNAMED = "Entity"
"""Entity type for tags that are bare letters."""


def read(path: Path, task: Task, split: Split, errors: ErrorCollector = FIRST) -> Iterator[Example]:
    """Reads the examples of one split. Examples without an id are numbered."""
    given, record = FORMATS[task.layout["kind"]](path, task.layout, task.task_type.fields, errors)
    number = count()

    def example(line: FileLine, each: Any) -> Example:
        unnamed = {
            "id": f"{split}.{next(number)}",
            **({"doc_id": None} if "doc_id" in task.task_type.columns else {}),
        }
        return {**unnamed, **_make_example(record(line, each), task, line)}

    return make_examples(given, example, errors)


def _make_example(record: Record, task: Task, line: FileLine) -> Example:
    """Checks a record and converts it to the canonical schema (`blurb/data/schema.py`)."""
    row: Example = {}
    columns, fields = task.task_type.columns, task.task_type.fields
    for key in ("id", "doc_id") if "doc_id" in columns else ("id",):
        if record.get(key) not in (None, ""):
            row[key] = str(record[key])
    _check_present(record, fields, line)
    for field in fields:
        row[field] = record[field]
        if columns[field] == "text" and field != "label" and not isinstance(row[field], str):
            raise line.error(f"{field} must be a string (got {str(row[field])[:40]!r}).")
    for field in row.keys() & {"label", "labels"}:
        labels = [
            check_label(label, task.labels, line) for label in labels_of(row[field], field, line)
        ]
        row[field] = labels if field == "labels" else labels[0]
    if "score" in row:
        row["score"] = check_score(row["score"], *task.scale, line)
    if "head" in columns:
        row.update(_find_entities(record, task, line))
    if "tags" in row:
        _check_list(row["tokens"], "tokens", line)
        _check_list(row["tags"], "tags", line)
        if len(row["tags"]) != len(row["tokens"]):
            raise line.error(
                f"expected one tag per word, found {len(row['tokens'])} words and {len(row['tags'])} tags."
            )
        row["tags"] = _convert_tags(row["tags"], task, record.get("line") or (lambda place: line))
    return row


def _check_present(record: Record, fields: Sequence[str], line: FileLine) -> None:
    if missing := [field for field in fields if field not in record]:
        present = ", ".join(map(str, record.get("present", record))) or "nothing"
        raise line.error(
            f"missing: {', '.join(missing)}; present: {present}",
            f"to use another column, set columns = {{ {missing[0]} = ... }} in [format].",
        )


def labels_of(value: Any, field: str, line: FileLine) -> list[str]:
    """The labels of an example, which may be a text, a number, or a list of these; exactly one for `label`."""
    try:
        labels = [label_text(each) for each in (value if isinstance(value, list) else [value])]
    except (TypeError, ValueError, OverflowError):
        raise line.error(
            f"{field} must be a text, a number, or a list of these (got {str(value)[:40]!r})."
        ) from None
    labels = labels if field == "label" else [label for label in labels if label]
    if field == "label" and len(labels) != 1:
        raise line.error(
            f"expected one label, found {len(labels)}",
            "several labels an example are a task of type document.",
        )
    return labels


def _check_list(values: Any, field: str, line: FileLine) -> None:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise line.error(f"{field} must be a list of strings.")
    if field == "tokens" and not (values and all(value.strip() for value in values)):
        raise line.error("tokens must have at least one word, and no blank ones.")


def _convert_tags(tags: list[str], task: Task, line: Callable[[int], FileLine]) -> list[str]:
    """Converts tags to typed BIO for NER and to `I-` for PICO.

    With a single entity type, bare letters are accepted, too.

    :param line: gives the line of the tag at a place
    """
    declared = task.layout.get("scheme", "bio").lower()
    scheme = tagging.reading_scheme(declared, f"task {task.name}, [format]")
    only = task.labels[0] if len(task.labels) == 1 else None
    written = []
    for place, tag in enumerate(map(trim_label, tags)):
        prefix, _, kind = tag.partition("-")
        if tag == "O" or (not task.task_type.borders and tag in task.labels):
            written.append(tag if tag == "O" else f"I-{tag}")
            continue
        if scheme == "bioul":
            prefix = tagging.OTHER_LETTERS.get(prefix, prefix)
        kind = kind or only or ""
        if kind not in task.labels or prefix not in tagging.SCHEMES[scheme]:
            raise line(place).error(
                f"{tag[:40]!r} is not a {declared.upper()} tag for the labels {', '.join(task.labels)}."
            )
        written.append(f"{prefix}-{kind}")
    if not task.task_type.borders:
        return [tag if tag == "O" else f"I-{tag.partition('-')[2]}" for tag in written]
    legal = written if declared == tagging.IOB1 else tagging.convert_tags(written, scheme, scheme)
    for place, (tag, other) in enumerate(zip(written, legal, strict=True)):
        if tag != other:
            more = (
                f" {tagging.IOB1} also reads entities that begin with I." if scheme == "bio" else ""
            )
            raise line(place).error(
                f"the tag {tag} is not allowed here in {declared.upper()}",
                f"check 'scheme' in [format] ({', '.join(tagging.READ)}).{more}",
            )
    return tagging.convert_tags(written, scheme, "bio")


def _find_entities(record: Record, task: Task, line: FileLine) -> Example:
    """Head and tail from spans, which may stand in any order, or from the dummies in the text, the first as head."""
    dummies, text = task.layout.get("dummies"), record["text"]
    if not dummies:
        try:
            return {role: span_of(record.get(role), role, text) for role in ("head", "tail")}
        except DataError as error:
            raise line.error(error.what, "Or set 'dummies' in [format].") from None
    pattern = "|".join(map(re.escape, sorted(dummies, key=len, reverse=True)))
    matches = list(re.finditer(pattern, text))
    if len(matches) != 2:
        raise line.error(
            f"expected two of the dummies {', '.join(dummies)} in the text; found {len(matches)}."
        )
    return {
        role: {"start": match.start(), "end": match.end(), "type": match[0].strip("@$")}
        for role, match in zip(("head", "tail"), matches, strict=True)
    }


Cut = tuple[Iterable[tuple[FileLine, Any]], Callable[[FileLine, Any], Record]]
"""A file cut into records, and the function that makes an example of one or raises a DataError."""


def _read_conll_file(
    path: Path, layout: Layout, fields: Sequence[str], errors: ErrorCollector
) -> Cut:
    """One word per line, blank lines between sentences, `-DOCSTART-` lines before documents; TABs or blanks."""
    token, tag = layout.get("token", 0), layout.get("tag", -1)

    def record(line: FileLine, sentence: Sentence) -> Record:
        width = len(sentence.rows[0])
        if not (-width <= token < width and -width <= tag < width):
            raise line.error(
                f"expected columns {token} and {tag} as in [format], found {width} columns."
            )
        tokens, tags = ([row[place] for row in sentence.rows] for place in (token, tag))
        check_words(tokens, line)
        return {
            "id": sentence.id,
            "doc_id": sentence.document,
            "tokens": tokens,
            "tags": tags,
            "line": line.below,
        }

    return read_conll(path, errors), record


def _read_table_file(
    path: Path, layout: Layout, fields: Sequence[str], errors: ErrorCollector
) -> Cut:
    """One row per line, separated by TABs, without quoting, or CSV; columns by header name, or by number from 0."""
    quoted, columns = layout.get("kind") == "csv", layout.get("columns", {})
    rows = csv_rows(text_of(path), path) if quoted else _tabbed_lines(path)
    header: list[str] = []
    # Numbers alone are of a file without a header: its first line is an example.
    if layout.get("header", not columns or any(isinstance(one, str) for one in columns.values())):
        line, first = next(rows)
        header = [name.strip() for name in first]
        if len(header) == 1:
            refuse_separators(
                first[0], path, ";\t" if quoted else ";,", "commas" if quoted else "TABs"
            )
        _column_places(header, fields, columns, line, ", ".join(header))

    def record(line: FileLine, cells: list[str]) -> Record:
        names = header or [f"column {place}" for place in range(len(cells))]
        if len(cells) != len(names):
            raise line.error(
                f"expected {len(names)} {'' if quoted else 'TAB-separated '}columns, found {len(cells)}."
            )
        places = _column_places(names, fields, columns, line, f"{len(cells)} without header")
        values: Record = {
            "present": names,
            **{field: cells[place] for field, place in places.items()},
        }
        if "labels" in values:
            parts = values["labels"].split(layout.get("separator", "|"))
            values["labels"] = [trim_label(label) for label in parts if label.strip()]
        return values

    return rows, record


def _column_places(
    names: Sequence[str],
    fields: Sequence[str],
    columns: Mapping[str, Any],
    line: FileLine,
    shown: str,
) -> dict[str, int]:
    """Field -> place of its column; DataError for a column that is not there, or twice.

    :param columns: field -> name or number of its column, where that is not the name of the field
    :param shown: the columns, for the message
    """
    places = {}
    for field in ("id", "doc_id", *fields):
        place = columns.get(field, field)
        if names.count(str(place)) > 1:
            raise line.error(f"two columns have the name {place!r}.")
        place = names.index(place) if place in names else place
        if isinstance(place, int) and 0 <= place < len(names):
            places[field] = place
        elif field in columns:
            raise line.error(f"no column {place!r} for {field}; available columns: {shown}.")
    return places


def _read_jsonl_file(
    path: Path, layout: Layout, fields: Sequence[str], errors: ErrorCollector
) -> Cut:
    """One JSON object per line; keys are the names of the fields, or those given in `columns`."""
    columns = layout.get("columns", {})
    names = {
        field: columns.get(field, field) for field in ("id", "doc_id", *fields, "head", "tail")
    }

    def record(line: FileLine, content: Record) -> Record:
        return {
            "present": list(content),
            **{field: content[name] for field, name in names.items() if name in content},
        }

    return json_lines(path, errors), record


FORMATS: Mapping[str, Callable[[Path, Layout, Sequence[str], ErrorCollector], Cut]] = {
    "conll": _read_conll_file,
    "tsv": _read_table_file,
    "csv": _read_table_file,
    "jsonl": _read_jsonl_file,
}
"""Readers of records, by the `kind` of `[format]`."""


@dataclass(frozen=True)
class Guess:
    """The options that `blurb tasks new` writes for files.

    :param labels: sorted
    :param columns: names of columns that are not those of their fields
    """

    labels: list[str]
    columns: Mapping[str, str]


def guess(paths: Sequence[Path], kind: str, form: str) -> Guess:
    """The labels in the files of a corpus, and whether they are in `label` or `labels`.

    :raises DataError: (file, line) for an example without its columns
    """
    columns, fields = types.get(kind).columns, types.get(kind).fields
    labels: set[str] = set()
    renamed: Mapping[str, str] = {}
    for path in paths:
        renamed = _label_or_labels_column(path, columns, form)
        for line, record in read_records(path, kind, form):
            _check_present(record, fields, line)
            if "tags" in columns:
                _check_list(record["tags"], "tags", line)
                tags = trim_labels(record["tags"])
                labels |= {tag.partition("-")[2].strip() or UNNAMED for tag in tags if tag != "O"}
            for field in columns.keys() & {"label", "labels"}:
                labels |= set(labels_of(record[field], field, line))
    return Guess(sorted(labels), renamed)


def read_records(path: Path, kind: str, form: str) -> Iterator[tuple[FileLine, Record]]:
    """The examples of a file as they stand, with the line where each ends."""
    layout: Any = {
        "kind": form,
        "columns": _label_or_labels_column(path, types.get(kind).columns, form),
    }
    given, make = FORMATS[form](path, layout, types.get(kind).fields, FIRST)
    for line, each in given:
        yield line.below(len(each.rows) - 1 if form == "conll" else 0), make(line, each)


def _tabbed_lines(path: Path) -> Iterator[tuple[FileLine, list[str]]]:
    return cells_of(lines_of(path), None)


def _label_or_labels_column(path: Path, columns: Mapping[str, object], form: str) -> dict[str, str]:
    """`label` for the field `labels`, or the other way round, where the file has only that."""
    if form == "conll":
        return {}
    first: Any = {"jsonl": json_lines, "csv": lambda path: csv_rows(text_of(path), path)}.get(
        form, _tabbed_lines
    )
    present = {name.strip() for name in next(first(path))[1]}
    pairs = (("label", "labels"), ("labels", "label"))
    return {
        field: other
        for field, other in pairs
        if field in columns and field not in present and other in present
    }
