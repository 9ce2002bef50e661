"""Reads files of predictions: CoNLL, TSV, CSV, JSON lines, Parquet, and BLURB's submission form."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blurb.data.readers._files import ID_LINE, json_lines, json_object, numbered, read_text
from blurb.messages.errors import DataError, UnknownName

ID = ("id", "example_id", "guid", "index")
"""Columns that may hold the id of an example, the most telling first."""
ANSWER = ("prediction", "predicted", "pred", "answer", "tags", "labels", "label", "score", "ner_tags")
"""Columns that may hold the prediction, the most telling first: a file may have the gold answer as `label` beside."""
TELLING = ANSWER[:4]
"""Columns that hold nothing else."""
WORDS = ("tokens", "words")
TEXT = ("text", "sentence")
LARGEST = 500_000_000
"""Bytes of a file of predictions; those of the largest test set take a few million."""


@dataclass(frozen=True)
class Answer:
    """What a file says of one example.

    :param line: number of its (first) line; of a JSON object or a Parquet file, of its entry
    :param id: "" if the file does not name examples
    :param value: as it was written: a text, a number, or a list
    :param words: words of the example, if the file has them
    :param text: of the example, if the file has it
    :param lines: of each word in CoNLL
    :param column: name of the column of `value`, where columns have names
    """

    line: int
    id: str
    value: Any
    words: Sequence[str] | None = None
    text: str | None = None
    lines: Sequence[int] = ()
    column: str = ""


@dataclass(frozen=True)
class AnswerFile:
    """All answers of a file.

    :param dataset: BLURB's spelling of its dataset, in a submission
    """

    path: Path
    answers: Sequence[Answer]
    dataset: str = ""

    def error(self, what: str, answer: Answer | None = None, fix: str = "") -> DataError:
        """An error at an answer."""
        return DataError(what, self.path, None if answer is None else answer.line, fix=fix)


def read(path: Path, form: str = "", words: bool = False) -> AnswerFile:
    """The answers of a file.

    :param form: a key of `FORMATS`; "" goes by the ending, where `.txt` is CoNLL for tasks of words
    :param words: whether the task tags words
    :raises DataError: (file, line) if it cannot be read
    """
    if form and form not in FORMATS:
        raise UnknownName("format of predictions", form, FORMATS)
    if not path.exists():
        raise DataError("there is no such file of predictions.", path)
    if path.is_file() and path.stat().st_size > LARGEST:
        raise DataError(f"the file has {path.stat().st_size:,} bytes; predictions take a few million.", path)
    name = form or ENDINGS.get(path.suffix.lower(), "conll" if words else "tsv")
    if not form and name == "tsv" and words and not _has_header(path):
        name = "conll"  # a word and its tag, separated by a tab
    dataset = ""
    answers: list[Answer] = []
    if name == "json":
        dataset, answers = _json(path)
    else:
        answers = list(FORMATS[name](path))
    if not answers:
        raise DataError("the file has no predictions.", path)
    return AnswerFile(path, answers, dataset)


def _has_header(path: Path) -> bool:
    first = next((line for _, line in numbered(read_text(path))), "")
    return not {*ID, *ANSWER}.isdisjoint(cell.strip().lower() for cell in first.split("\t"))


def _column(names: Sequence[str], known: Sequence[str]) -> str | None:
    """The first of `known` that is among the names of columns."""
    lower = {name.strip().lower(): name for name in reversed(names)}
    return next((lower[name] for name in known if name in lower), None)


def _of_record(record: Mapping[str, Any], path: Path, line: int) -> Answer:
    names = [name for name in record if isinstance(name, str)]
    key, answer = _column(names, ID), _column(names, ANSWER)
    if answer is None:
        raise DataError(
            f"no column of predictions; present: {', '.join(names[:10]) or 'nothing'}.",
            path,
            line,
            fix=f"Call it 'prediction' ({', '.join(ANSWER[1:])} are read as well).",
        )
    words, text = _column(names, WORDS), _column(names, TEXT)
    tokens = record[words] if words and words != answer else None
    known = record[text] if text and text != answer else None
    return Answer(
        line,
        "" if key is None or record[key] is None else str(record[key]),
        record[answer],
        [str(word) for word in tokens] if isinstance(tokens, Sequence) and not isinstance(tokens, str) else None,
        known if isinstance(known, str) else None,
        column=answer,
    )


def _jsonl(path: Path) -> Iterator[Answer]:
    for line, record in json_lines(path):
        yield _of_record(record, path, line)


def _json(path: Path) -> tuple[str, list[Answer]]:
    """BLURB's submission form, or an object of id -> prediction alone."""
    content = json_object(read_text(path), path)
    dataset = content.get("dataset_name", "")
    predictions = content.get("predictions", content)
    if not isinstance(predictions, dict):
        raise DataError("expected an object of id and prediction, as in BLURB's submissions.", path)
    return str(dataset), [Answer(place, str(key), value) for place, (key, value) in enumerate(predictions.items(), 1)]


def _csv(path: Path) -> Iterator[Answer]:
    rows = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    yield from _table(path, _lines(rows, path))


def _lines(rows: Any, path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        for row in rows:
            if row:
                yield rows.line_num, row
    except csv.Error as error:
        raise DataError(f"not valid CSV: {error}.", path, rows.line_num) from None


def _tsv(path: Path) -> Iterator[Answer]:
    yield from _table(path, ((line, text.split("\t")) for line, text in numbered(read_text(path)) if text.strip()))


def _table(path: Path, rows: Iterator[tuple[int, list[str]]]) -> Iterator[Answer]:
    """With a header, by its names; without, one column of predictions, or two of ids and predictions."""
    header: list[str] | None = None
    width = 0
    for line, cells in rows:
        if not width:
            width = len(cells)
            names = [cell.strip() for cell in cells]
            if _column(names, ANSWER) is not None:
                if twice := [name for name in names if name and names.count(name) > 1]:
                    raise DataError(f"two columns have the name {twice[0][:40]!r}.", path, line)
                header = names
                continue
            if width > 2:
                raise DataError(
                    f"{width} columns without a header.", path, line, fix="Name them: 'id' and 'prediction' are read."
                )
        if len(cells) != width:
            raise DataError(f"expected {width} columns, found {len(cells)}.", path, line)
        if header is not None:
            yield _of_record(dict(zip(header, cells, strict=True)), path, line)
        else:
            yield Answer(line, cells[0].strip() if width == 2 else "", cells[-1].strip())


def _conll(path: Path) -> Iterator[Answer]:
    """A word and its tag a line, in the first and the last column; a blank line ends a sentence."""
    key, block = "", list[tuple[int, str, str]]()

    def sentence() -> Answer:
        lines, words, tags = (list(column) for column in zip(*block, strict=True))
        return Answer(lines[0], key, tags, words, lines=lines)

    for line, text in numbered(read_text(path)):
        if not text.strip() or text.startswith(("-DOCSTART-", ID_LINE)):
            if block:
                yield sentence()
                key, block = "", []
            if text.startswith(ID_LINE):
                key = text.removeprefix(ID_LINE).strip()
            continue
        cells = text.split("\t") if "\t" in text else text.split()
        if len(cells) < 2 or not cells[0].strip():
            raise DataError("expected a word and its tag.", path, line)
        block.append((line, cells[0], cells[-1].strip()))
    if block:
        yield sentence()


def _parquet(path: Path) -> Iterator[Answer]:
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            rows = file.read().to_pylist()
    except (OSError, ValueError, TypeError, NotImplementedError) as error:  # Arrow's errors are of these
        raise DataError(f"cannot be read as Parquet: {(str(error).splitlines() or [''])[0]}", path) from None
    for place, row in enumerate(rows, 1):
        yield _of_record(row, path, place)


FORMATS: Mapping[str, Callable[[Path], Iterator[Answer]]] = {
    "conll": _conll,
    "tsv": _tsv,
    "csv": _csv,
    "jsonl": _jsonl,
    "json": lambda path: iter(_json(path)[1]),
    "parquet": _parquet,
}
"""How predictions may be written."""
ENDINGS = {
    ".conll": "conll",
    ".iob2": "conll",
    ".bio": "conll",
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
}


def from_python(given: Mapping[str, Any] | Sequence[Any]) -> AnswerFile:
    """Answers that a script has in its hands: id -> prediction, or predictions in the order of the examples."""
    given = given.tolist() if hasattr(given, "tolist") else given  # an array, or a column of a frame
    pairs = given.items() if isinstance(given, Mapping) else (("", value) for value in given)
    answers = [Answer(place, str(key), _plain(value)) for place, (key, value) in enumerate(pairs, 1)]
    path = Path("predictions")
    if not answers:
        raise DataError("there are no predictions.", path)
    return AnswerFile(path, answers)


def _plain(value: Any) -> Any:
    """A value as JSON has it, with the numbers of numpy and torch as those of Python."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return json.loads(json.dumps(value, default=lambda one: one.tolist() if hasattr(one, "tolist") else str(one)))
