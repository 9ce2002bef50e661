"""Chooses the column of predictions by one rule for files, frames and records of Python.

Answers as a file or a script gives them, and the one place that reads the values of strangers.
"""

from __future__ import annotations

import ast
import contextlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Reversible, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

from blurb.messages import BlurbError, DataError, UnknownName, opt
from blurb.system.parquet import UNREADABLE
from blurb.tasks import Task

UNKNOWN = "a value that cannot be read."


@dataclass(frozen=True)
class Answer:
    """One example of a file of answers.

    :param line: number of its (first) line; of a JSON object or a Parquet file, of its entry
    :param id: "" if the file does not name examples
    :param value: as it was written: a text, a number, or a list
    :param words: words of the example, if the file has them
    :param texts: of the example, by the names of their columns
    :param lines: of each word in CoNLL
    """

    line: int
    id: str
    value: Any
    words: Sequence[str] | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    lines: Sequence[int] = ()


@dataclass(frozen=True)
class AnswerFile:
    """All answers of a file.

    :param dataset: BLURB's spelling of its dataset, in a submission
    :param gold_column: the column that was taken, if its name is that of gold answers and nobody chose it; else ""
    :param mentions: types of the entities that the answers list: a text is one by the name of its column; () of tags
    :param columns: cells of the columns of a table, any of which may hold the ids
    :param padded: whether an answer with fewer tags than words has `O` for the rest
    """

    path: Path
    answers: Sequence[Answer]
    dataset: str = ""
    gold_column: str = ""
    mentions: tuple[type, ...] = ()
    columns: Sequence[Sequence[str]] = ()
    padded: bool = False

    def error(self, what: str, answer: Answer | None = None, fix: str = "") -> DataError:
        """An error at an answer."""
        return DataError(what, self.path, None if answer is None else answer.line, fix=fix)


@contextlib.contextmanager
def reading_values(
    path: Path, line: int | None, what: Callable[[], str] = lambda: UNKNOWN
) -> Iterator[None]:
    """Turns whatever the values of strangers raise into an error with their file and line; the one place for it."""
    try:
        yield
    except BlurbError:
        raise
    except UNREADABLE:
        raise DataError(what(), path, line) from None


def read_list(given: Any) -> list[Any]:
    """A list, or the text of one in JSON or as Python writes it."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except json.JSONDecodeError:
            try:
                given = ast.literal_eval(given.strip())
            except SyntaxError:
                raise ValueError from None
    if not isinstance(given, list):
        raise TypeError
    return given


ID = ("id", "example_id", "guid", "index")
"""Columns that may hold the id of an example, the most telling first."""
WORDS = ("tokens", "words")
TEXT = ("text", "sentence", "context", "question", "text_a", "text_b")
INPUTS = frozenset({*ID, *WORDS, *TEXT, "doc_id", "head", "tail", ""})
"""Columns that tell which example it is, and hold no answer; one without a name is the index of a frame."""
PREDICTION = "prediction"
"""The column of answers in an unambiguous file."""
MENTIONS = "mentions"
"""The column of entities as texts, instead of tags (`blurb.scoring.answer_forms`)."""
SAMPLES = "filtered_resps"
"""The column of answers in samples of lm-evaluation-harness."""
PREDICTED = ("pred", "y_pred", "output", MENTIONS, SAMPLES)
"""Beginnings of the names that people give to that column, and to others: `pred_std`, `output_tokens`."""
SURE = re.compile(
    rf"(y_)?pred(s|icted|ictions?)?(_(labels?|tags|class))?|outputs?|{MENTIONS}|{SAMPLES}"
)
"""Those that hold nothing else."""
GOLD = ("label", "labels", "tags", "ner_tags", "score", "answer", "spans", "entities")
"""Columns that hold the gold answers of most files, and predictions only of those that have nothing else."""


def answer_column(
    names: Sequence[str], path: Path, column: str = "", inputs: Iterable[str] = ()
) -> str:
    """The column that holds the predictions; nothing is guessed where two columns could.

    :param names: all columns of a file
    :param column: the name that the user gave
    :param inputs: columns of the task that hold no answer, beside `INPUTS`
    :raises DataError: if the names do not tell, or if two are the same

    >>> answer_column(["id", "label", "y_pred"], Path("a.csv"))
    'y_pred'
    >>> answer_column(["id", "tokens", "ner_tags"], Path("a.csv"))
    'ner_tags'
    """
    by_name: dict[str, str] = {}
    for name in names:
        if folded(name) in by_name and name.strip():
            raise DataError(
                f"two columns have the name {name.strip()[:40]!r}.", path, fix="Remove one of them."
            )
        by_name[folded(name)] = name
    if column:
        if folded(column) not in by_name:
            raise UnknownName(f"column in {path}", column, filter(str.strip, names))
        return by_name[folded(column)]
    predicted = (
        [PREDICTION]
        if PREDICTION in by_name
        else [key for key in by_name if key.startswith(PREDICTED)]
    )
    gold = [key for key in by_name if key in GOLD]
    if len(predicted) == 1 and SURE.fullmatch(predicted[0]):
        return by_name[predicted[0]]
    if len(gold) == 1 and {*by_name} <= {*INPUTS, *inputs, *gold}:
        return by_name[gold[0]]
    shown = ", ".join(name.strip()[:40] or "a column without a name" for name in names) or "nothing"
    raise DataError(
        f"no column is surely that of the predictions; present: {shown}.",
        path,
        fix=f"Call it '{PREDICTION}', or choose a column: {opt('column', 'NAME')}.",
    )


def folded(name: str) -> str:
    """A name of a column as it is compared.

    >>> folded(" Y-Pred")
    'y_pred'
    """
    return re.sub(r"[\s-]+", "_", name.strip().lower())


@dataclass(frozen=True)
class Records:
    """Rows with named columns.

    :param names: of all columns, also those that have the same name
    :param rows: number and cells of each row, which may be read one by one
    """

    names: Sequence[str]
    rows: Iterable[tuple[int, Mapping[str, Any]]]


def from_records(records: Records, task: Task, path: Path, column: str) -> AnswerFile:
    """The answers of a table, with its ids, words and texts."""
    answer = answer_column(records.names, path, column, task.task_type.columns.keys() - {*GOLD})
    others = [name for name in records.names if name != answer]
    by_name = {folded(name): name for name in others}
    key, words = (
        next((by_name[name] for name in known if name in by_name), None) for known in (ID, WORDS)
    )
    named = [by_name[name] for name in TEXT if name in by_name] or [*filter(None, [words])]
    texts = [name for name in named if folded(name) in task.task_type.columns] or named[:1]
    keys = [name for name in others if name not in (words, *texts)]
    rows = list(records.rows)
    if answer == SAMPLES:  # whose numbers are those of the documents, and may have gaps
        with reading_values(path, None):
            rows.sort(key=lambda row: float(row[1].get("doc_id", 0)))
    numbers = [] if key else _numbering_column(rows, keys, path)
    answers = []
    for place, (line, record) in enumerate(rows):
        if answer not in record:
            raise DataError(
                f"the column '{answer}' is missing, which other lines have.", path, line
            )
        name, tokens = (None if one is None else record.get(one) for one in (key, words))
        known = {folded(one): record[one] for one in texts if isinstance(record.get(one), str)}
        with reading_values(path, line):
            name = str(name).strip() if name is not None else numbers[place] if numbers else ""
            tokens = [str(word) for word in tokens] if isinstance(tokens, list) else None
            value = _of_sample(record) if answer == SAMPLES else record[answer]
        answers.append(Answer(line, name, value, tokens, known))
    if not answers:
        raise DataError("there are no predictions.", path)
    gold_column = answer if not column and folded(answer) in GOLD else ""
    listed = (each for answer in answers if isinstance(answer.value, list) for each in answer.value)
    mentions: tuple[type, ...] = (dict,) if any(isinstance(each, dict) for each in listed) else ()
    if folded(answer) in (MENTIONS, "spans", "entities"):
        mentions = (dict, str)
    cells = [[str(record.get(name)).strip() for _, record in rows] for name in keys]
    return AnswerFile(path, answers, gold_column=gold_column, mentions=mentions, columns=cells)


def are_numbers(values: Sequence[str]) -> bool:
    """Whether values are the numbers from 0 or 1 on, each once, in any order."""
    return any(
        {*values} == {str(number + first) for number in range(len(values))} for first in (0, 1)
    )


NUMBER = re.compile(r"\A\D*?0*(\d+)(\.0)?\Z")
"""A number as tools write it: `12`, `00012`, `12.0` of a column with gaps, `test.12`, `q12`."""


def _numbering_column(
    rows: Sequence[tuple[int, Mapping[str, Any]]], names: Sequence[str], path: Path
) -> list[str]:
    """The column that numbers the examples of the answers in another order than the file's; [] without one."""
    values = {
        name: [NUMBER.sub(r"\1", str(record.get(name)).strip()) for _, record in rows]
        for name in names
    }
    numbers = {
        name: each
        for name, each in values.items()
        if are_numbers(each) and each != sorted(each, key=int)
    }
    if len({*map(tuple, numbers.values())}) > 1:
        raise DataError(
            f"several columns may number the examples, and disagree: {', '.join(numbers)}.",
            path,
            fix="Call that of the ids 'id'.",
        )
    return next(iter(numbers.values()), [])


def _of_sample(record: Mapping[str, Any]) -> Any:
    """The answer of a sample of lm-evaluation-harness: its only text, or the choice with the best log-likelihood."""
    given = record[SAMPLES]
    if not isinstance(given[0], list):
        [given] = given
        return given
    # {"gen_args_0": {"arg_0": TEXT, "arg_1": CHOICE}, ...}, or a list of pairs
    asked = record["arguments"]
    if isinstance(asked, dict):
        asked = [asked[f"gen_args_{number}"] for number in range(len(asked))]
    choices = [each["arg_1"] if isinstance(each, dict) else each[-1] for each in asked]
    logs = [float(each[0]) for each in given]
    if any(map(math.isnan, logs)):
        raise ValueError  # which is the best would depend on their order
    return max(zip(logs, choices, strict=True), key=itemgetter(0))[1].strip()


def is_header(cells: Sequence[str], task: Task, column: str = "") -> bool:
    """Whether a line has names of columns and no answers."""
    names = [folded(cell) for cell in cells if cell.strip() not in task.labels]
    return any(
        name in {*INPUTS, *GOLD, folded(column)} - {""} or name.startswith(PREDICTED)
        for name in names
    )


PATH = Path("predictions")
"""Stands for the file of predictions from Python in messages."""


def from_python(given: Any, task: Task, column: str = "") -> AnswerFile:
    """The answers in a mapping from id to prediction, a sequence in the order of the examples, or a table.

    :param given: of tables: a frame of pandas, a dataset, records, or columns by name
    :raises DataError: for anything else
    """
    with reading_values(PATH, None):
        if hasattr(given, "reset_index") and [*given.index] != [*range(len(given))]:
            # An index of numbers without a name is a column without a name, as in a CSV of the frame.
            names = None if _has_ids(given) else [""] * given.index.nlevels
            frame = given if hasattr(given, "itertuples") else given.to_frame(PREDICTION)
            given = frame.reset_index(names=names)
        # Of Arrow, of polars, and of arrays and columns of pandas.
        for form in ("to_pylist", "to_dicts", "tolist"):
            given = getattr(given, form)() if hasattr(given, form) else given
        if not (hasattr(given, "__getitem__") or isinstance(given, Reversible)):
            raise DataError("these predictions have no order.", PATH, fix="Give a list, or ids.")
        given = given if isinstance(given, Mapping) or hasattr(given, "itertuples") else list(given)
        table = _named_columns(given, task)
        if table is not None:
            return from_records(table, task, PATH, column)
        pairs = given.items() if isinstance(given, Mapping) else (("", value) for value in given)
        answers = [
            Answer(place, str(key), _plain_value(value, place))
            for place, (key, value) in enumerate(pairs, 1)
        ]
    if column or not answers:
        raise DataError(
            "these predictions have no columns." if column else "there are no predictions.", PATH
        )
    return AnswerFile(PATH, answers)


def _has_ids(given: Any) -> bool:
    """Whether the index of a frame or a column of pandas has ids, and not only numbers."""
    return any(name is not None for name in given.index.names) or all(
        isinstance(name, str) for name in given.index
    )


def _named_columns(given: Any, task: Task) -> Records | None:
    """The given object as a table with named columns; None for predictions alone."""
    if hasattr(given, "itertuples"):
        return _make_records(
            [*map(str, given.columns)], list(given.itertuples(index=False, name=None))
        )
    if isinstance(given, Mapping):
        names = [*map(str, given)]
        listed = all(
            isinstance(cells, list | tuple) or hasattr(cells, "tolist") for cells in given.values()
        )
        return (
            _make_records(names, list(zip(*given.values(), strict=True)))
            if listed and is_header(names, task)
            else None
        )
    if not all(isinstance(row, Mapping) for row in given):
        return None
    names = [*dict.fromkeys(str(name) for row in given for name in row)]
    if not is_header(names, task):
        return None  # probabilities of labels
    return Records(names, ((place, _plain_value(row, place)) for place, row in enumerate(given, 1)))


def _make_records(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Records:
    named = (dict(zip(names, row, strict=True)) for row in rows)
    return Records(names, ((place, _plain_value(row, place)) for place, row in enumerate(named, 1)))


def _plain_value(value: Any, place: int) -> Any:
    """A value as JSON has it, with the numbers of numpy and torch as those of Python."""
    with reading_values(PATH, place):
        value = value.tolist() if hasattr(value, "tolist") else value
        return json.loads(
            json.dumps(
                value, default=lambda one: one.tolist() if hasattr(one, "tolist") else str(one)
            )
        )
