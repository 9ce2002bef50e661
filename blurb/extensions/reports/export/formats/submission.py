"""The files for BLURB's website: one JSON object per dataset, from the predictions of one seed, and a zip of them.

The keys (docs/benchmark.md, "Submission") are exactly `dataset_name`, `model_name` and `predictions` (id -> value).
Files are checked against a JSON Schema, and against `submission.csv`, which has BLURB's spelling of the name of each
test set, its number of predictions, the pattern of an id, and hashes of the ids and of the lengths of tag sequences.
They contain only ids and labels, no text of a corpus.
"""

from __future__ import annotations

import csv
import io
import json
import math
import textwrap
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator

from blurb.extensions.reports.export.formats import ExportFormat, ExportRequest, Files, real_row
from blurb.inputs.tagging import convert_tags
from blurb.messages import StoreError, opt
from blurb.registry import load_object
from blurb.results.row import Row
from blurb.store.record import PREDICTIONS, Record, read_predictions
from blurb.system.files import text_hash
from blurb.tasks import Task

TAGS = {"type": "array", "minItems": 1, "items": {"enum": ["O", "B", "I"]}}
HALLMARKS = ["IM", "ID", "CE", "RI", "GS", "GI", "A", "CD", "PS", "TPI"]
ANSWERS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("bc5-chem", "bc5-disease", "ncbi-disease", "bc2gm", "jnlpba"), TAGS),
    "ebm-pico": {**TAGS, "items": {"enum": ["O", "I-PAR", "I-INT", "I-OUT"]}},
    "chemprot": {"enum": ["CPR:3", "CPR:4", "CPR:5", "CPR:6", "CPR:9", "false"]},
    "ddi": {"enum": ["DDI-advise", "DDI-effect", "DDI-int", "DDI-mechanism", "DDI-false"]},
    "gad": {"enum": ["0", "1"]},
    "biosses": {"type": "number", "minimum": 0, "maximum": 4},
    "hoc": {"type": "array", "uniqueItems": True, "items": {"enum": HALLMARKS}},
    "pubmedqa": {"enum": ["yes", "no", "maybe"]},
    "bioasq": {"enum": ["yes", "no"]},
}
"""Dataset -> schema of a prediction; BLURB's spelling of its name and the rest are in `submission.csv`."""


def schema_of(task: Task) -> dict[str, Any]:
    """The JSON Schema of a dataset's file; StoreError for a dataset outside BLURB."""
    if task.name not in ANSWERS:
        raise StoreError("this dataset is not part of BLURB and cannot be submitted.")
    known = _known_units()[task.name]
    name, count = known["name"], int(known["units"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"BLURB submission: {name}",
        "type": "object",
        "required": ["dataset_name", "model_name", "predictions"],
        "additionalProperties": False,
        "properties": {
            "dataset_name": {"const": name},
            "model_name": {"type": "string", "minLength": 1},
            "predictions": {
                "type": "object",
                "minProperties": count,
                "maxProperties": count,
                "patternProperties": {f"^{known['ids']}$": ANSWERS[task.name]},
                "additionalProperties": False,
            },
        },
    }


SPLIT = "test."
"""Prefix of stored ids that are numbers (NER, PICO, GAD); a submission has the bare number."""


class Unit(NamedTuple):
    """A row of `predictions.parquet`."""

    id: str
    doc_id: str | None
    gold: Any
    prediction: Any


Values = Callable[[Task, Sequence[Unit]], Iterator[tuple[str, Any]]]


def predictions(task: Task, units: Sequence[Unit]) -> dict[str, Any]:
    """Id -> value, in the order of the units.

    :raises StoreError: if a prediction cannot be submitted, or an id occurs twice
    """
    answers: dict[str, Any] = {}
    if not task.task_type.submission:
        raise StoreError(
            f"tasks of type {task.type} cannot be submitted: BLURB has no format for them."
        )
    values: Values = load_object(task.task_type.submission, f"submission of the type {task.type}")
    for key, value in values(task, units):
        if key in answers:
            raise StoreError(f"id {key} occurs twice.")
        answers[key] = value
    return answers


def ner(task: Task, units: Sequence[Unit]) -> Iterator[tuple[str, Any]]:
    """Bare `B`, `I`, `O`. An orphan `I` becomes `B`, as it is scored (docs/benchmark.md, "Orphan I")."""
    for unit in units:
        try:
            tags = convert_tags(_tags(unit), "bio", "bio")
        except ValueError as error:
            raise StoreError(f"id {unit.id}: {error}") from error
        yield _number(unit), [tag[0] for tag in tags]


def pico(task: Task, units: Sequence[Unit]) -> Iterator[tuple[str, Any]]:
    """One array per abstract, with its sentences concatenated. Tags are `I-` or `O` only, as in the score."""
    abstracts: dict[str, list[str]] = {}
    for unit in units:
        if unit.doc_id is None:
            raise StoreError(f"id {unit.id} has no abstract.")
        tags = [tag if tag == "O" else f"I-{tag[2:]}" for tag in _tags(unit)]
        abstracts.setdefault(unit.doc_id, []).extend(tags)
    yield from abstracts.items()


def label(task: Task, units: Sequence[Unit]) -> Iterator[tuple[str, Any]]:
    for unit in units:
        yield _number(unit), unit.prediction


def similarity(task: Task, units: Sequence[Unit]) -> Iterator[tuple[str, Any]]:
    """Clipped to the bounds of the metric, 0 and 4 for BIOSSES, so that the submission has the stored score."""
    low, high = task.scale
    for unit in units:
        if not math.isfinite(unit.prediction):
            raise StoreError(f"id {unit.id}: the prediction is not a number.")
        yield unit.id, min(max(float(unit.prediction), low), high)


def document(task: Task, units: Sequence[Unit]) -> Iterator[tuple[str, Any]]:
    """By sentence; labels of whole abstracts cannot be assigned to sentences."""
    for unit in units:
        if "_s" not in unit.id:
            raise StoreError(
                f"id {unit.id} is an abstract, but BLURB needs labels per sentence",
                fix=f"run the trial with {opt('set', 'document_unit=sentence')}.",
            )
        yield unit.id, [task.short_labels.get(label, label) for label in unit.prediction]


def _tags(unit: Unit) -> list[str]:
    if len(unit.prediction) != len(unit.gold):
        raise StoreError(f"id {unit.id}: {len(unit.prediction)} tags for {len(unit.gold)} words.")
    return list(unit.prediction)


def _number(unit: Unit) -> str:
    return unit.id.removeprefix(SPLIT)


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
    return text_hash("".join(f"{line}\n" for line in sorted(lines)))


def _known_units() -> dict[str, dict[str, str]]:
    text = Path(__file__).with_name("submission.csv").read_text(encoding="utf-8")
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
