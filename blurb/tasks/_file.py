"""Task files: a TOML file declares the task of your own corpus, without code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from blurb.messages.errors import BlurbError, SettingsError, UnknownName
from blurb.system import toml
from blurb.tasks import types
from blurb.tasks._declared import READER
from blurb.tasks._task import SPLITS, Layout, Task
from blurb.tasks.types import TaskType

REQUIRED = ("name", "type", "files", "format")
T = TypeVar("T")
KEYS: dict[str, type] = {
    "name": str,
    "title": str,
    "type": str,
    "labels": list,
    "files": dict,
    "format": dict,
    "seeds": int,
    "max_length": int,
    "metric": str,
    "negative": str,
    "positive": str,
    "scale": list,
    "licence": str,
    "homepage": str,
    "citation": str,
}
FORMAT_KEYS: dict[str, dict[str, type]] = {
    "conll": {"kind": str, "token": int, "tag": int, "scheme": str},
    "tsv": {"kind": str, "header": bool, "columns": dict, "dummies": list, "separator": str},
    "jsonl": {"kind": str, "columns": dict, "dummies": list},
}
LABEL_METRICS = {"negative": "micro_f1_without", "positive": "binary_f1"}
"""Key of a task file that names a label -> the metric that it selects. The key is also an option of that metric."""


def load(path: Path) -> Task:
    """Loads the task that a file declares (docs/extend.md).

    :raises SettingsError: if a key is missing, unknown or has an invalid value; names the file and the key
    """
    if not path.exists():
        raise SettingsError("the task file does not exist; `blurb tasks new` writes one.", where=path)
    content = toml.read(path)
    where = str(path)
    _check(content, KEYS, where)
    for key in REQUIRED:
        _check_there(content, key, where)
    name, kind = content["name"], content["type"]
    task_type = _type(kind, where)
    labels = _labels(content, task_type, where)
    layout = _format(content["format"], kind, where)
    metric, options = _metric(content, task_type, labels, where)
    title = content.get("title", name)
    return Task(
        name=name,
        title=title,
        type=kind,
        files=_files(content["files"], path.resolve().parent, where),
        reader=READER,
        labels=labels,
        metric=metric,
        metric_options=options,
        seeds=_positive(content.get("seeds", 5), "seeds", where),
        max_length=_positive(content.get("max_length", 512), "max_length", where),
        unit=task_type.unit,
        licence=content.get("licence", "not stated"),
        homepage=content.get("homepage", ""),
        citation=content.get("citation", ""),
        dummified=bool(layout.get("dummies")),
        layout=layout,
        file=str(path.resolve()),
    )


def faults(path: Path) -> list[BlurbError]:
    """Everything for which `load` refuses a file, as far as one fault does not hide another."""
    errors: list[BlurbError] = []

    def tried(check: Callable[..., T], *arguments: Any) -> T | None:
        try:
            return check(*arguments)
        except BlurbError as error:
            errors.append(error)
            return None

    content, where = tried(toml.read, path), str(path)
    if content is None:
        return errors
    for key, value in content.items():
        tried(_check, {key: value}, KEYS, where)
    for key in REQUIRED:
        tried(_check_there, content, key, where)
    sound = {key: value for key, value in content.items() if type(value) is KEYS.get(key)}
    if (task_type := tried(_type, sound["type"], where) if "type" in sound else None) is not None:
        labels = tried(_labels, sound, task_type, where)
        if "format" in sound:
            tried(_format, sound["format"], sound["type"], where)
        if labels is not None:
            tried(_metric, sound, task_type, labels, where)
    if "files" in sound:
        tried(_files, sound["files"], path.resolve().parent, where)
    for key in ("seeds", "max_length"):
        tried(_positive, sound.get(key, 1), key, where)
    return errors


def _check_there(content: Mapping[str, Any], key: str, where: str) -> None:
    if key not in content:
        raise SettingsError(f"'{key}' is missing.", where=where)


def _labels(content: Mapping[str, Any], task_type: TaskType, where: str) -> tuple[str, ...]:
    labels = _words(content.get("labels", []), "labels", where)
    if blank := [label for label in labels if label != label.strip()]:
        raise SettingsError(f"the label {blank[0]!r} has blanks at its ends", where=where, fix="remove them.")
    if bool(labels) != task_type.has_labels:
        problem = f"a {content['type']} task has no labels; remove 'labels'"
        raise SettingsError(f"{where}: {problem}." if labels else f"{where}: 'labels' is missing or empty.")
    return labels


def alike(labels: Sequence[str]) -> list[str]:
    """Labels that differ from another one by blanks or case only.

    >>> alike(["Drug", "Gene", "drug", "DR UG"])
    ['Drug', 'drug', 'DR UG']
    """
    folded = ["".join(label.split()).casefold() for label in labels]
    return [label for label, each in zip(labels, folded, strict=True) if folded.count(each) > 1]


def _check(table: Mapping[str, Any], known: Mapping[str, type], where: str) -> None:
    for key, value in table.items():
        if key not in known:
            raise UnknownName(f"key (in {where})", key, known)
        if type(value) is not known[key]:
            raise SettingsError(
                f"'{key}' must be of type {known[key].__name__} (got {type(value).__name__}).", where=where
            )


def _words(values: list[Any], key: str, where: str) -> tuple[str, ...]:
    if not all(isinstance(value, str) and value for value in values) or len(set(values)) < len(values):
        raise SettingsError(f"'{key}' must be a list of distinct, non-empty strings (got {values!r}).", where=where)
    return tuple(values)


def _positive(value: int, key: str, where: str) -> int:
    if value < 1:
        raise SettingsError(f"'{key}' must be at least 1 (got {value}).", where=where)
    return value


def _files(table: dict[str, Any], folder: Path, where: str) -> dict[Any, str]:
    """Paths are relative to the task file, so that corpus and task file can be moved together."""
    if set(table) != set(SPLITS) or not all(isinstance(value, str) for value in table.values()):
        raise SettingsError(
            f"'files' must give one path for each of {', '.join(SPLITS)}, and nothing else.", where=where
        )
    return {split: str(folder / table[split]) for split in SPLITS}


def _type(kind: str, where: str) -> TaskType:
    if kind not in types.names():
        raise UnknownName(f"task type (in {where})", kind, types.names())
    return types.get(kind)


def check_format(kind: str, form: str, where: str = "blurb tasks new") -> None:
    """Raises UnknownName or SettingsError unless the format can hold examples of the task type."""
    possible = _type(kind, where).formats
    if form not in FORMAT_KEYS:
        raise UnknownName(f"format (in {where})", form, FORMAT_KEYS)
    if form not in possible:
        raise SettingsError(
            f"the format {form} cannot hold a task of type {kind}; possible: {', '.join(possible)}.", where=where
        )


def _format(table: dict[str, Any], kind: str, where: str) -> Layout:
    name = str(table.get("kind"))
    check_format(kind, name, where)
    _check(table, FORMAT_KEYS[name], f"{where}, format")
    if table.get("separator") == "":
        raise SettingsError("'separator', the text between two labels of a row, must not be empty.", where=where)
    has_entities = "head" in types.get(kind).columns
    if "dummies" in table and (not has_entities or len(_words(table["dummies"], "dummies", where)) > 2):
        raise SettingsError(
            "'dummies' must be the one or two strings that replace the entities; relation tasks only.", where=where
        )
    if has_entities and name == "tsv" and "dummies" not in table:
        raise SettingsError(
            "'dummies' is missing. The format tsv has no spans, so the text must contain dummies in place of "
            'the two entities; for example dummies = ["@GENE$", "@DISEASE$"].',
            where=where,
        )
    return cast(Layout, table)


def _metric(
    content: dict[str, Any], task_type: TaskType, labels: tuple[str, ...], where: str
) -> tuple[str, dict[str, Any]]:
    """The metric that a file names or BLURB's for the type, and its options from `negative`, `positive` or `scale`."""
    for key in (*LABEL_METRICS, "scale"):
        if key in content and key not in task_type.metric_keys:
            raise SettingsError(
                f"'{key}' does not apply to tasks of type {content['type']}", where=where, fix="remove it."
            )
    asked = [key for key in LABEL_METRICS if key in content]
    if asked and "metric" in content:
        raise SettingsError(f"give 'metric' or '{asked[0]}', which is a metric, too, not both.", where=where)
    for key in asked:
        if content[key] not in labels:
            raise SettingsError(f"'{key}' must be one of the labels (got {content[key]!r}).", where=where)
    if len(asked) > 1:
        raise SettingsError(
            "give 'negative' (micro F1 of the other classes) or 'positive' (F1 of this class), not both.", where=where
        )
    if asked:
        return LABEL_METRICS[asked[0]], {asked[0]: content[asked[0]]}
    name = content.get("metric", task_type.metric)
    if name not in (possible := (task_type.metric, *task_type.metrics)):
        raise UnknownName(f"metric of a {content['type']} task (in {where})", name, possible)
    if "scale" in task_type.metric_keys:
        low, high = _scale(content.get("scale", [0, 4]), where)
        return task_type.metric, {"low": low, "high": high}
    return name, {"labels": labels} if task_type.metric_labels or name in task_type.metrics else {}


def _scale(scale: list[Any], where: str) -> tuple[float, float]:
    numbers = all(type(bound) in (int, float) and abs(bound) < 1e300 for bound in scale)
    if len(scale) != 2 or not numbers or not scale[0] < scale[1]:
        raise SettingsError("'scale' must be the lowest and the highest score, for example [0, 4].", where=where)
    return float(scale[0]), float(scale[1])
