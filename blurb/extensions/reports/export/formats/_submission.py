"""The JSON Schema of each dataset's submission, and its values (docs/benchmark.md, "Submission")."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from blurb.inputs.tagging import convert_tags
from blurb.messages import StoreError, opt
from blurb.registry import load_object
from blurb.tasks import Task

NUMBER, POSITION = "[0-9]+", "(0|[1-9][0-9]*)"
TAGS = {"type": "array", "minItems": 1, "items": {"enum": ["O", "B", "I"]}}
HALLMARKS = ["IM", "ID", "CE", "RI", "GS", "GI", "A", "CD", "PS", "TPI"]
DATASETS: dict[str, tuple[str, int, str, dict[str, Any]]] = {
    "bc5-chem": ("BC5-chem", 4797, POSITION, TAGS),
    "bc5-disease": ("BC5-disease", 4797, POSITION, TAGS),
    "ncbi-disease": ("NCBI-disease", 940, POSITION, TAGS),
    "bc2gm": ("BC2GM", 5038, POSITION, TAGS),
    "jnlpba": ("JNLPBA", 3856, POSITION, TAGS),
    "ebm-pico": (
        "EBM PICO",
        191,
        NUMBER,
        {**TAGS, "items": {"enum": ["O", "I-PAR", "I-INT", "I-OUT"]}},
    ),
    "chemprot": (
        "ChemProt",
        15745,
        r"[0-9]+\.T[0-9]+\.T[0-9]+",
        {"enum": ["CPR:3", "CPR:4", "CPR:5", "CPR:6", "CPR:9", "false"]},
    ),
    "ddi": (
        "DDI",
        5716,
        r"DDI-(DrugBank|MedLine)\.d[0-9]+\.s[0-9]+\.p[0-9]+",
        {"enum": ["DDI-advise", "DDI-effect", "DDI-int", "DDI-mechanism", "DDI-false"]},
    ),
    "gad": ("GAD", 534, NUMBER, {"enum": ["0", "1"]}),
    "biosses": ("BIOSSES", 20, NUMBER, {"type": "number", "minimum": 0, "maximum": 4}),
    "hoc": (
        "HoC",
        3547,
        "[0-9]+_s[0-9]+",
        {"type": "array", "uniqueItems": True, "items": {"enum": HALLMARKS}},
    ),
    "pubmedqa": ("PubmedQA", 500, "[0-9]{7,8}", {"enum": ["yes", "no", "maybe"]}),
    "bioasq": ("BioASQ", 140, "[0-9a-f]{24}", {"enum": ["yes", "no"]}),
}
"""BLURB's spelling of the name, number of predictions, pattern of an id, and schema of a prediction."""


def schema_of(task: Task) -> dict[str, Any]:
    """The JSON Schema of a dataset's file; StoreError for a dataset outside BLURB."""
    if task.name not in DATASETS:
        raise StoreError("this dataset is not part of BLURB and cannot be submitted.")
    name, count, key, value = DATASETS[task.name]
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
                "patternProperties": {f"^{key}$": value},
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
    low, high = (float(str(task.metric_options[name])) for name in ("low", "high"))
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
