"""The files for BLURB's website: one JSON object per dataset, from the predictions of one seed, and a zip of them.

The keys (docs/benchmark.md, "Submission") are exactly `dataset_name`, `model_name` and `predictions` (id -> value).
Files are checked against a JSON Schema, and against `submission.csv`, which has hashes of the ids of the test sets and
of the lengths of tag sequences. They contain only ids and labels, no text of a corpus.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import textwrap
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator

from blurb.extensions.reports.export.formats import ExportFormat, ExportRequest, Files, real_row
from blurb.extensions.reports.export.formats._submission import Unit, predictions, schema_of
from blurb.messages import StoreError, opt
from blurb.results.row import Row
from blurb.store.record import PREDICTIONS, Record, read_predictions
from blurb.tasks import Task

ARCHIVE = "submission.zip"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The oldest date of zip archives, so that equal predictions give identical archives."""
SHOWN = 5
"""Maximum number of schema violations in a message."""
LONGEST = 160
"""Maximum characters of a violation, as jsonschema quotes the whole invalid value."""


def documents(
    row: Row, datasets: Sequence[Task], seed: int | None, allow_partial: bool
) -> dict[str, dict[str, Any]]:
    """The submission files of a leaderboard row, by task name.

    :param seed: seed whose predictions to submit; None for the lowest of each dataset
    :param allow_partial: omit datasets without a finished trial, as BLURB allows
        (docs/benchmark.md, "Submission")
    :raises StoreError: if the row cannot be submitted; lists all reasons
    """
    submitted: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for task in datasets:
        records = row.records_of(task.name)
        if not records and allow_partial:
            continue
        try:
            submitted[task.name] = _document(row, task, records, seed)
        except StoreError as error:
            problems.append(textwrap.indent(str(error), f"{task.name}: "))
    if not problems and not submitted:
        problems = ["none of the datasets has a finished trial."]
    if problems:
        hint = ""
        if any(not row.records_of(task.name) for task in datasets) and not allow_partial:
            hint = f"\nBLURB accepts any subset of the datasets; use {opt('allow-partial')} to omit the missing ones."
        raise StoreError(
            f"{row.model} ({row.configuration.text}) cannot be submitted:\n"
            + "\n".join(problems)
            + hint
        )
    return submitted


def _document(
    row: Row, task: Task, records: Mapping[int, Record], seed: int | None
) -> dict[str, Any]:
    if not records:
        raise StoreError("no finished trial.")
    if seed is not None and seed not in records:
        raise StoreError(
            f"seed {seed} is not finished; finished seeds: {', '.join(map(str, sorted(records)))}."
        )
    record = records[min(records) if seed is None else seed]
    verdict = record.provenance.data_verdict
    if verdict not in accepted(task):
        raise StoreError(
            f"the trial's data is not BLURB's ({verdict})", fix="check it with `blurb data verify`."
        )
    schema = schema_of(task)
    name = schema["properties"]["dataset_name"]["const"]
    # The file has columns that the record does not.
    columns = read_predictions(record.path / PREDICTIONS, Unit._fields, "test")
    units = [Unit(*cells) for cells in zip(*(columns[name] for name in Unit._fields), strict=True)]
    document = {
        "dataset_name": name,
        "model_name": row.model,
        "predictions": predictions(task, units),
    }
    check(task, document, schema)
    return document


def accepted(task: Task) -> tuple[str, ...]:
    """Verdicts on the data with which a dataset may be submitted.

    "counts only" is the best possible verdict if the hash of a split is unknown (BioASQ, EBM PICO's train set).
    """
    return ("identical",) if len(task.hashes) == len(task.files) else ("identical", "counts only")


def check(task: Task, document: dict[str, Any], schema: dict[str, Any]) -> None:
    """StoreError unless a document follows its schema and has exactly the ids and lengths of BLURB's test set."""
    if problems := violations(document, schema):
        more = [f"... and {len(problems) - SHOWN} more."] if len(problems) > SHOWN else []
        raise StoreError("\n".join([*problems[:SHOWN], *more]))
    known = _known_units()[task.name]
    answers = document["predictions"]
    if known["keys"] and fingerprint(answers) != known["keys"]:
        raise StoreError(
            "the ids are not those of BLURB's test set, although their number is right."
        )
    if (
        known["lengths"]
        and fingerprint(f"{key} {len(answers[key])}" for key in answers) != known["lengths"]
    ):
        raise StoreError("the tag sequences do not have one tag per word of BLURB's test set.")


def violations(document: object, schema: dict[str, Any]) -> list[str]:
    """Schema violations of a document, as sentences that start with the location."""
    sentences = []
    for error in Draft202012Validator(schema).iter_errors(document):
        place = list(error.absolute_path)
        where = f"id {place[1]}" if len(place) > 1 else ", ".join(["the file", *map(str, place)])
        where += "".join(f", item {number}" for number in place[2:])
        text = str(error.message)
        if error.validator in ("minProperties", "maxProperties"):
            text = f"expected {error.validator_value} predictions, found {len(error.instance)}"
        if len(text) > LONGEST:  # the end says what was expected
            text = f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"
        sentences.append(f"{where}: {text}.")
    return sentences


def fingerprint(lines: Iterable[str]) -> str:
    """SHA-256 over the sorted lines."""
    return hashlib.sha256("".join(f"{line}\n" for line in sorted(lines)).encode()).hexdigest()


def _known_units() -> dict[str, dict[str, str]]:
    text = (files(__package__) / "submission.csv").read_text(encoding="utf-8")
    return {line["task"]: line for line in csv.DictReader(text.splitlines())}


def _render(wanted: ExportRequest) -> Files:
    submitted = documents(real_row(wanted), wanted.datasets, wanted.seed, wanted.allow_partial)
    contents = {
        f"{name}.json": (json.dumps(document, allow_nan=False) + "\n").encode()
        for name, document in submitted.items()
    }
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        for name, content in contents.items():
            packed.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
    return {**contents, ARCHIVE: archive.getvalue()}


EXPORT = ExportFormat(
    "BLURB's JSON files and their zip archive",
    _render,
    frozenset({"seed", "allow_partial"}),
    "submission",
    alone=True,
)
