"""Reads files of predictions: CoNLL, TSV, CSV, JSON lines, Parquet, and BLURB's submission form."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from blurb.messages import DataError, count_noun, opt
from blurb.scoring.columns import PREDICTION, Answer, AnswerFile, Records, from_records, is_header
from blurb.system import parquet
from blurb.system.files import open_ordinary
from blurb.system.text_files import refuse_separators
from blurb.table_files import (
    FileLine,
    cells_of,
    csv_rows,
    json_lines,
    json_object,
    lines_of,
    numbered_lines,
    read_conll,
    text_of,
)
from blurb.tasks import Task

SUBMISSION = ("dataset_name", "model_name", "predictions")
"""Keys of BLURB's submission form."""
LARGEST, MOST = 500_000_000, 1_000_000
"""Maximum bytes and lines of a file of predictions; the largest test set has some 130,000 words, one per CoNLL line."""


def read(path: Path, task: Task, form: str = "", column: str = "") -> AnswerFile:
    """The answers of a file.

    :param form: one of `FORMS`; "" goes by the ending, where `.txt` is CoNLL for tasks of words
    :param column: name of the column of predictions, in CoNLL its number; "" for that of `answer_column`
    :raises DataError: (file, line) if it cannot be read
    """
    if not path.exists():
        raise DataError("there is no such file of predictions.", path)
    if path.is_file() and path.stat().st_size > LARGEST:
        raise DataError(
            f"the file has {path.stat().st_size:,} bytes; predictions take a few million.", path
        )
    if path.suffix.lower() != ".parquet" and path.is_file():
        with open(path, "rb", opener=open_ordinary) as file:
            if (
                sum(part.count(b"\n") for part in iter(functools.partial(file.read, 1 << 20), b""))
                > MOST
            ):
                raise DataError(
                    f"more than {MOST:,} lines: these are no predictions of a test set.",
                    path,
                    MOST + 1,
                )
    words = "tokens" in task.task_type.columns
    name = form or ENDINGS.get(path.suffix.lower(), "conll" if words else "tsv")
    if (
        not form
        and name == "tsv"
        and words
        and not is_header(next(lines_of(path))[1].split("\t"), task, column)
    ):
        name = "conll"  # a word and its tag, separated by a tab
    if name == "json":
        return _read_json(path, column)
    if name == "conll":
        rows = [(line.number, text.split()) for line, text in lines_of(path)]
        if not column and all(
            re.fullmatch(r"O|[BILUES]-\S+", cell) for _, cells in rows for cell in cells
        ):
            # The form of `run_ner`.
            return AnswerFile(path, [Answer(line, "", cells) for line, cells in rows], padded=True)
        return AnswerFile(path, list(_read_tags(path, column)))
    return from_records(FORMATS[name](path, task, column), task, path, column)


def _read_jsonl(path: Path, task: Task, column: str) -> Records:
    rows = [(line.number, record) for line, record in json_lines(path)]
    return Records(list(dict.fromkeys(name for _, record in rows for name in record)), rows)


def _read_json(path: Path, column: str) -> AnswerFile:
    """BLURB's submission form, or an object of id -> prediction alone."""
    content = json_object(text_of(path), FileLine(path, 1))
    predictions = content.get("predictions", content)
    if strange := content.keys() - SUBMISSION if predictions is not content else ():
        raise DataError(
            f"a submission of BLURB has no {min(strange)!r:.40}; it has {', '.join(SUBMISSION)}.",
            path,
            fix="Remove it.",
        )
    if not isinstance(predictions, dict):
        raise DataError("expected an object of id and prediction, as in BLURB's submissions.", path)
    if column or not predictions:
        raise DataError(
            "this JSON object has no columns." if column else "there are no predictions.", path
        )
    answers = [
        Answer(place, str(key), value) for place, (key, value) in enumerate(predictions.items(), 1)
    ]
    return AnswerFile(path, answers, str(content.get("dataset_name", "")))


def _read_csv(path: Path, task: Task, column: str) -> Records:
    return _read_table(
        list(csv_rows(_text_of_table(path, task, column, "\t", "commas"), path)), task, column
    )


def _read_tsv(path: Path, task: Task, column: str) -> Records:
    lines = [
        (line, text)
        for line, text in numbered_lines(_text_of_table(path, task, column, ",", "TABs"), path)
        if text.strip()
    ]
    return _read_table(list(cells_of(lines, None)), task, column)


def _read_table(table: Sequence[tuple[FileLine, list[str]]], task: Task, column: str) -> Records:
    """With a header, by its names; without, one column of predictions, or two of ids and predictions."""
    width = len(table[0][1])
    for line, cells in table:
        if len(cells) != width:
            raise line.error(f"expected {width} columns, found {len(cells)}.")
    (line, first), below = table[0], table[1:]
    if is_header(first, task, column):
        # Lines that end with separators have columns without a name and without cells.
        columns = zip(*(cells for _, cells in table), strict=True)
        used: Sequence[int] = [
            place for place, cells in enumerate(columns) if any(map(str.strip, cells))
        ]
        names = [first[place] for place in used]
    elif width > 2:
        raise line.error(
            f"{width} columns without a header.", f"Name them: 'id' and '{PREDICTION}' are read."
        )
    elif width == 2 and all(re.fullmatch(r"[01]?\.\d+(e-\d+)?", cell.strip()) for cell in first):
        raise line.error(
            "two numbers from 0 to 1 are no id and prediction, but probabilities.",
            f"Name the columns, such as 'id' and '{PREDICTION}'.",
        )
    else:
        names, used, below = ["id", PREDICTION][-width:], range(width), table
    places = dict(zip(names, used, strict=True))
    rows = ((line.number, {name: cells[places[name]] for name in names}) for line, cells in below)
    return Records(names, rows)


def _text_of_table(path: Path, task: Task, column: str, other: str, separator: str) -> str:
    """The text of a table; DataError if semicolons separate its cells, or `other` those of its header.

    A `;` may also separate the labels of a document.

    :param separator: what should separate them
    """
    text = text_of(path)
    rows = [line for _, line in numbered_lines(text, path) if line.strip()]
    marks = [
        mark
        for mark in (";", other)
        if is_header([cell.strip('"') for cell in rows[0].split(mark)], task, column)
    ]
    if "labels" not in task.task_type.columns and all(";" in row for row in rows):
        marks.append(";")
    refuse_separators(rows[0], path, marks, separator)
    return text


def _read_tags(path: Path, column: str) -> Iterator[Answer]:
    """A word and its tag a line, in the first and the last column; a blank line ends a sentence."""
    if column and not re.fullmatch(r"-?\d{1,4}", column):
        raise DataError(
            "the columns of CoNLL have no names.",
            path,
            fix=f"Give its number, from 0: {opt('column', '1')}.",
        )
    place = int(column or -1)
    for line, sentence in read_conll(path):
        width = len(sentence.rows[0])
        if width < 2 or not -width <= place < width:
            raise line.error(
                f"expected a word and its tag in column {place}; found {count_noun(width, 'column')}."
            )
        tags, words = [row[place] for row in sentence.rows], [row[0] for row in sentence.rows]
        yield Answer(
            line.number,
            sentence.id or "",
            tags,
            words,
            lines=range(line.number, line.number + len(tags)),
        )


FORMATS: Mapping[str, Callable[[Path, Task, str], Records]] = {
    "tsv": _read_tsv,
    "csv": _read_csv,
    "jsonl": _read_jsonl,
    "parquet": lambda path, task, column: Records(
        names := parquet.names(path), parquet.records(path, names)
    ),
}
"""Forms with named columns; beside them there are `conll` and `json`."""
FORMS = ("conll", *FORMATS, "json")
"""How predictions may be written."""
ENDINGS = {**{f".{form}": form for form in FORMS}, ".iob2": "conll", ".bio": "conll"}
