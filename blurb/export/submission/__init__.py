"""The files of a BLURB submission: one JSON object a dataset, from the stored predictions of one seed.

Their shape (docs/benchmark.md, "Submission") is exactly `dataset_name`, `model_name` and `predictions` (id -> value).
It is checked twice: against `schemas/<task>.json`, and against `units.csv`, which knows the ids of the test sets and
how many words every tag sequence has, as hashes. Ids and labels only: nothing of a corpus is in these files.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from blurb.errors import StoreError
from blurb.export.submission.values import Unit, predictions
from blurb.results.row_scores import RowScores
from blurb.runs.store import Record, read_predictions
from blurb.tasks import Task

if TYPE_CHECKING:
    from jsonschema import ValidationError

Document = dict[str, Any]
SHOWN = 5
"""How many violations of a schema a message lists."""
LONGEST = 160
"""Characters of a violation: jsonschema repeats the value that does not fit, whatever its size."""


def documents(row: RowScores, datasets: Sequence[Task], seed: int | None, allow_partial: bool) -> dict[str, Document]:
    """The submission of a row by task name.

    :param seed: whose predictions to take; None for the first of each dataset
    :param allow_partial: leave datasets without a finished trial out, as BLURB allows
        (docs/benchmark.md, "Submission")
    :raises StoreError: with every reason why the row cannot be submitted
    """
    found: dict[str, Document] = {}
    problems: list[str] = []
    for task in datasets:
        records = row.records_of(task.name)
        if not records and allow_partial:
            continue
        try:
            found[task.name] = _document(row, task, records, seed)
        except StoreError as error:
            problems += [f"{task.name}: {reason}" for reason in str(error).split("\n")]
    if not problems and not found:
        problems = ["none of the datasets has a finished trial."]
    if problems:
        hint = ""
        if any(not row.records_of(task.name) for task in datasets) and not allow_partial:
            hint = "\nBLURB takes any subset of the datasets: --allow-partial leaves out what is missing."
        raise StoreError(f"{row.model} ({row.configuration.text}) cannot be submitted:\n" + "\n".join(problems) + hint)
    return found


def _document(row: RowScores, task: Task, records: Mapping[int, Record], seed: int | None) -> Document:
    if not records:
        raise StoreError("no finished trial.")
    if seed is not None and seed not in records:
        raise StoreError(f"seed {seed} is not there; finished: {', '.join(map(str, sorted(records)))}.")
    record = records[min(records) if seed is None else seed]
    verdict = record.provenance.data_verdict
    if verdict not in accepted(task):
        raise StoreError(f"the data is not BLURB's ({verdict}); see `blurb data verify`.")
    schema = schema_of(task)
    name = schema["properties"]["dataset_name"]["const"]
    document = {"dataset_name": name, "model_name": row.model, "predictions": predictions(task, test_units(record))}
    check(task, document, schema)
    return document


def accepted(task: Task) -> tuple[str, ...]:
    """Verdicts on the data under which a dataset may be submitted.

    "counts only" is the best there is where no hash of some split is known (BioASQ, EBM PICO's train set).
    """
    return ("identical",) if len(task.hashes) == len(task.files) else ("identical", "counts only")


def test_units(record: Record) -> list[Unit]:
    """The stored predictions of the test set, in their order."""
    columns = read_predictions(record.path / "predictions.parquet")
    rows = zip(*(columns[name] for name in ("split", "id", "doc_id", "gold", "prediction")), strict=True)
    return [Unit(*row) for split, *row in rows if split == "test"]


def schema_of(task: Task) -> Document:
    """The JSON Schema of a dataset's file; StoreError for a dataset that is not one of BLURB's."""
    path = files(__package__) / "schemas" / f"{task.name}.json"
    if not path.is_file():
        raise StoreError("is not a dataset of BLURB, which takes no submission of it.")
    schema: Document = json.loads(path.read_text(encoding="utf-8"))
    return schema


def check(task: Task, document: Document, schema: Document) -> None:
    """StoreError if a document does not fit its schema or is not about exactly the units of BLURB's test set."""
    found = violations(document, schema)
    if found:
        more = [f"... and {len(found) - SHOWN} more."] if len(found) > SHOWN else []
        raise StoreError("\n".join([*found[:SHOWN], *more]))
    known = _known_units()[task.name]
    answers = document["predictions"]
    if known["keys"] and fingerprint(answers) != known["keys"]:
        raise StoreError("the ids are not those of BLURB's test set, although their number is.")
    if known["lengths"] and fingerprint(f"{key} {len(answers[key])}" for key in answers) != known["lengths"]:
        raise StoreError("tag sequences do not have one tag a word of BLURB's test set.")


def violations(document: object, schema: Document) -> list[str]:
    """What of a document does not fit its schema, as sentences that begin with the place; empty if all does."""
    from jsonschema import Draft202012Validator

    return [_sentence(error) for error in Draft202012Validator(schema).iter_errors(document)]


def _sentence(error: ValidationError) -> str:
    place = list(error.absolute_path)
    where = f"id {place[1]}" if len(place) > 1 else ", ".join(["the file", *map(str, place)])
    where += "".join(f", item {number}" for number in place[2:])
    text = str(error.message)
    if error.validator in ("minProperties", "maxProperties"):
        text = f"expected {error.validator_value} predictions, found {len(error.instance)}"
    if len(text) > LONGEST:  # what was expected stands at the end
        text = f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"
    return f"{where}: {text}."


def fingerprint(lines: Iterable[str]) -> str:
    """SHA-256 over lines in alphabetical order."""
    return hashlib.sha256("".join(f"{line}\n" for line in sorted(lines)).encode()).hexdigest()


def _known_units() -> dict[str, dict[str, str]]:
    text = (files(__package__) / "units.csv").read_text(encoding="utf-8")
    return {line["task"]: line for line in csv.DictReader(text.splitlines())}
