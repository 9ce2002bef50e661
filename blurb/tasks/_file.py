"""A task from a TOML file: a corpus of your own as one file and no code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from blurb import toml
from blurb.errors import SettingsError, UnknownName
from blurb.tasks._task import SPLITS, TYPES, Task

FORMATS = {"conll": ("ner", "pico"), "tsv": TYPES[2:], "jsonl": TYPES}
"""How the files of a corpus can be written, and for which task types."""
FIELDS = {
    "ner": ("tokens", "tags"),
    "pico": ("tokens", "tags"),
    "relation": ("text", "label"),
    "similarity": ("text_a", "text_b", "score"),
    "document": ("text", "labels"),
    "qa": ("question", "context", "label"),
}
"""What a row of each type must have; `id` and `doc_id` may be there besides, and `head`, `tail` of a relation."""
KEYS: dict[str, type] = {
    "name": str, "title": str, "type": str, "labels": list, "files": dict, "format": dict, "seeds": int,
    "max_length": int, "negative": str, "positive": str, "scale": list, "licence": str, "homepage": str,
    "citation": str,
}  # fmt: skip
FORMAT_KEYS: dict[str, dict[str, type]] = {
    "conll": {"kind": str, "token": int, "tag": int, "scheme": str},
    "tsv": {"kind": str, "header": bool, "columns": dict, "dummies": list, "separator": str},
    "jsonl": {"kind": str, "columns": dict, "dummies": list},
}
UNITS = {"ner": "entities", "pico": "labelled words", "similarity": "sentence pairs", "document": "documents"}


def load(path: Path) -> Task:
    """The task that a file declares; docs/add-a-task.md says how.

    :raises SettingsError: naming the file and the key, if something is missing, unknown or of another type
    """
    if not path.exists():
        raise SettingsError(f"{path}: there is no such task file (blurb tasks new writes one).")
    content = toml.read(path)
    where = str(path)
    _check(content, KEYS, where)
    for key in ("name", "type", "files", "format"):
        if key not in content:
            raise SettingsError(f"{where}: {key} is missing.")
    name, kind = content["name"], content["type"]
    if kind not in TYPES:
        raise UnknownName(f"task type (in {where})", kind, TYPES)
    labels = _words(content.get("labels", []), "labels", where)
    if bool(labels) == (kind == "similarity"):
        raise SettingsError(f"{where}: {'similarity has no labels' if labels else 'labels is missing or empty'}.")
    layout = _format(content["format"], kind, where)
    metric, options = _metric(content, kind, labels, where)
    title = content.get("title", name)
    return Task(
        name=name,
        title=title,
        type=kind,
        files=_files(content["files"], path.resolve().parent, where),
        reader="blurb.data.readers.task_file:read",
        labels=labels,
        metric=metric,
        metric_options=options,
        seeds=_positive(content.get("seeds", 5), "seeds", where),
        max_length=_positive(content.get("max_length", 512), "max_length", where),
        unit=UNITS.get(kind, "examples"),
        licence=content.get("licence", "not stated"),
        homepage=content.get("homepage", ""),
        citation=content.get("citation", ""),
        dummified=bool(layout.get("dummies")),
        layout=layout,
        file=str(path.resolve()),
    )


def _check(table: Mapping[str, Any], known: Mapping[str, type], where: str) -> None:
    for key, value in table.items():
        if key not in known:
            raise UnknownName(f"key (in {where})", key, known)
        if type(value) is not known[key]:
            raise SettingsError(f"{where}: {key} is a {type(value).__name__}; expected a {known[key].__name__}.")


def _words(values: list[Any], key: str, where: str) -> tuple[str, ...]:
    if not all(isinstance(value, str) and value for value in values) or len(set(values)) < len(values):
        raise SettingsError(f"{where}: {key} is to be a list of different texts, not {values!r}.")
    return tuple(values)


def _positive(value: int, key: str, where: str) -> int:
    if value < 1:
        raise SettingsError(f"{where}: {key} must be at least 1, not {value}.")
    return value


def _files(table: dict[str, Any], folder: Path, where: str) -> dict[Any, str]:
    """Paths are relative to the task file, so that a corpus can be moved with it."""
    if set(table) != set(SPLITS) or not all(isinstance(value, str) for value in table.values()):
        raise SettingsError(f"{where}: files is to name the files of {', '.join(SPLITS)}, and nothing else.")
    return {split: str(folder / table[split]) for split in SPLITS}


def check_format(kind: str, form: str, where: str = "blurb tasks new") -> None:
    """UnknownName or SettingsError if there is no such task type or format, or the one cannot hold the other."""
    if kind not in TYPES:
        raise UnknownName(f"task type (in {where})", kind, TYPES)
    if form not in FORMATS:
        raise UnknownName(f"format (in {where})", form, FORMATS)
    if kind not in FORMATS[form]:
        fit = [other for other in FORMATS if kind in FORMATS[other]]
        raise SettingsError(f"{where}: {form} cannot hold a task of type {kind}; possible: {', '.join(fit)}.")


def _format(table: dict[str, Any], kind: str, where: str) -> dict[str, Any]:
    name = str(table.get("kind"))
    check_format(kind, name, where)
    _check(table, FORMAT_KEYS[name], f"{where}, format")
    if table.get("separator") == "":
        raise SettingsError(f"{where}: separator is what stands between two labels of a row; it cannot be empty.")
    if "dummies" in table and (kind != "relation" or len(_words(table["dummies"], "dummies", where)) > 2):
        raise SettingsError(f"{where}: dummies are the one or two texts that stand for the entities of a relation.")
    if kind == "relation" and name == "tsv" and "dummies" not in table:
        raise SettingsError(
            f"{where}: a table has no spans, so the entities of a relation must be dummies in the text: "
            'dummies = ["@GENE$", "@DISEASE$"].'
        )
    return table


def _metric(content: dict[str, Any], kind: str, labels: tuple[str, ...], where: str) -> tuple[str, dict[str, Any]]:
    """The metric of BLURB for the type; what `negative`, `positive` and `scale` say of it."""
    scale: list[Any] = content.get("scale", [0, 4])
    allowed: dict[str, Callable[[str], bool]] = {
        "negative": lambda kind: kind == "relation",
        "positive": lambda kind: kind in ("relation", "qa"),
        "scale": lambda kind: kind == "similarity",
    }
    for key, fits in allowed.items():
        if key in content and not fits(kind):
            raise SettingsError(f"{where}: {key} is nothing to a task of type {kind}.")
    for key in ("negative", "positive"):
        if key in content and content[key] not in labels:
            raise SettingsError(f"{where}: {key} is {content[key]!r}, which is none of the labels.")
    if "negative" in content and "positive" in content:
        raise SettingsError(f"{where}: negative (micro F1 of the others) or positive (its F1), not both.")
    if kind == "similarity":
        numbers = all(type(bound) in (int, float) and abs(bound) < 1e300 for bound in scale)
        if len(scale) != 2 or not numbers or not scale[0] < scale[1]:
            raise SettingsError(f"{where}: scale is to be the lowest and the highest score, such as [0, 4].")
        return "pearson", {"low": float(scale[0]), "high": float(scale[1])}
    if "negative" in content:
        return "micro_f1_without", {"negative": content["negative"]}
    if "positive" in content:
        return "binary_f1", {"positive": content["positive"]}
    listed = {"labels": labels}
    return {
        "ner": ("entity_f1", {}),
        "pico": ("token_macro_f1", listed),
        "document": ("multilabel_f1", listed),
    }.get(kind, ("accuracy", {}))
