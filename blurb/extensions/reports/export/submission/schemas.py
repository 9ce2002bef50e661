"""What BLURB accepts for each dataset, as JSON Schema (docs/benchmark.md, "Submission")."""

from __future__ import annotations

from typing import Any

NUMBER, POSITION, TAGS = "[0-9]+", "(0|[1-9][0-9]*)", ["O", "B", "I"]
HALLMARKS = ["IM", "ID", "CE", "RI", "GS", "GI", "A", "CD", "PS", "TPI"]


def _one_of(values: list[str]) -> dict[str, Any]:
    return {"enum": values}


def _list_of(values: list[str], **more: Any) -> dict[str, Any]:
    return {"type": "array", **more, "items": _one_of(values)}


def _tags(values: list[str]) -> dict[str, Any]:
    return _list_of(values, minItems=1)


DATASETS: dict[str, tuple[str, int, str, dict[str, Any]]] = {
    "bc5-chem": ("BC5-chem", 4797, POSITION, _tags(TAGS)),
    "bc5-disease": ("BC5-disease", 4797, POSITION, _tags(TAGS)),
    "ncbi-disease": ("NCBI-disease", 940, POSITION, _tags(TAGS)),
    "bc2gm": ("BC2GM", 5038, POSITION, _tags(TAGS)),
    "jnlpba": ("JNLPBA", 3856, POSITION, _tags(TAGS)),
    "ebm-pico": ("EBM PICO", 191, NUMBER, _tags(["O", "I-PAR", "I-INT", "I-OUT"])),
    "chemprot": (
        "ChemProt",
        15745,
        r"[0-9]+\.T[0-9]+\.T[0-9]+",
        _one_of(["CPR:3", "CPR:4", "CPR:5", "CPR:6", "CPR:9", "false"]),
    ),
    "ddi": (
        "DDI",
        5716,
        r"DDI-(DrugBank|MedLine)\.d[0-9]+\.s[0-9]+\.p[0-9]+",
        _one_of(["DDI-advise", "DDI-effect", "DDI-int", "DDI-mechanism", "DDI-false"]),
    ),
    "gad": ("GAD", 534, NUMBER, _one_of(["0", "1"])),
    "biosses": ("BIOSSES", 20, NUMBER, {"type": "number", "minimum": 0, "maximum": 4}),
    "hoc": ("HoC", 3547, "[0-9]+_s[0-9]+", _list_of(HALLMARKS, uniqueItems=True)),
    "pubmedqa": ("PubmedQA", 500, "[0-9]{7,8}", _one_of(["yes", "no", "maybe"])),
    "bioasq": ("BioASQ", 140, "[0-9a-f]{24}", _one_of(["yes", "no"])),
}
"""BLURB's spelling of the name, number of predictions, pattern of an id, and schema of a prediction."""


def schema(task: str) -> dict[str, Any]:
    """The JSON Schema of a dataset's file; KeyError for one outside of BLURB."""
    name, count, key, value = DATASETS[task]
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
