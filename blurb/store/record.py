"""The files of a finished trial, each read when needed, and checked.

A number outside the range of its metric is damage, wherever it is read.

Stored predictions must be possible answers to their task: a stranger may declare the task as of another type.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypedDict, cast

from blurb import metrics, tasks
from blurb.inputs.tagging import decode_spans
from blurb.messages import StoreError, UnknownName
from blurb.protocols.settings import FIELDS
from blurb.store.trial import IN_JSON, PROVENANCE, Provenance, Trial, from_json, read_provenance
from blurb.system import parquet
from blurb.system.files import check_types, read_bytes, read_json
from blurb.tasks import SCORED, ScoredSplit, Split, Task


def check(task: Task, columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    """Raises a StoreError if ids or answers do not have the form of the task's type.

    Code that reads answers may then rely on it. A type of a plug-in, with columns of its own, may have any form.

    :param columns: `id`, `doc_id`, `gold`, `prediction`
    :param path: of the trial
    """
    fits = next((FORMS[name] for name in task.task_type.columns if name in FORMS), None)
    faults = [name for name, kinds in IDS.items() if not set(map(type, columns[name])) <= kinds]
    if fits is not None:
        faults += [name for name in ("gold", "prediction") if not fits(columns[name])]
    if (
        not faults
        and fits is _are_tags
        and list(map(len, columns["gold"])) != list(map(len, columns["prediction"]))
    ):
        faults = ["prediction"]
    if faults:
        raise StoreError(
            f"the predictions ({' and '.join(faults)}) are not those of a task of type {task.type}, as which "
            "the trial declares it; one of the two was altered. Get the trial again from where it came, or remove its "
            "folder and run its blurb run command again.",
            where=path,
        )


def _are_texts(answers: Sequence[Any]) -> bool:
    return set(map(type, answers)) <= {str}


def _are_lists(answers: Sequence[Any]) -> bool:
    return set(map(type, answers)) <= {list} and _are_texts(list(chain.from_iterable(answers)))


def _are_tags(answers: Sequence[Any]) -> bool:
    if not _are_lists(answers):
        return False
    try:
        # Each tag once: one that is invalid is so everywhere.
        decode_spans(sorted(set(chain.from_iterable(answers))))
    except ValueError:
        return False
    return True


FORMS: Mapping[str, Callable[[Sequence[Any]], bool]] = {
    "tags": _are_tags,
    "labels": _are_lists,
    "label": _are_texts,
    "score": lambda answers: (
        set(map(type, answers)) <= {float, int} and all(map(math.isfinite, answers))
    ),
}
"""Column of the answer in the examples (`blurb.data.schema`) -> whether answers are of its form."""
IDS: Mapping[str, frozenset[type]] = {
    "id": frozenset({str}),
    "doc_id": frozenset({str, type(None)}),
}


class SplitFigures(TypedDict):
    """All metrics of a task by split, as fractions."""

    dev: Annotated[Mapping[str, float], "on dev"]
    test: Annotated[Mapping[str, float], "on test"]


class Figures(SplitFigures):
    """The content of `metrics.json`."""

    metrics_version: Annotated[int, "version of the metrics that gave them"]
    metric: Annotated[str, "the one that is the score"]
    majority: Annotated[SplitFigures, "those of the majority answer"]


def admits_figure(task: str, name: str, value: float, in_tables: bool = False) -> bool:
    """Whether a figure of a task can be this number, as a fraction or a count.

    :param name: of one of the values of the task's metric
    :param in_tables: whether the number is as in tables, times 100 unless it is a count or a loss

    >>> admits_figure("gad", "f1", 0.8), admits_figure("gad", "f1", 7.0), admits_figure("biosses", "pearson", -0.1)
    (True, False, True)
    """
    if not math.isfinite(value):
        return False
    known = _metric_of(task)
    every = [known] if known is not None else metrics.usable()
    return any(
        one.admits(name, value / 100 if in_tables and name not in one.unscaled else value)
        for one in every
    )


def score_bounds(task: str) -> tuple[float, float]:
    """The least and the greatest score of a task, times 100.

    >>> score_bounds("gad"), score_bounds("biosses")
    ((0.0, 100.0), (-100.0, 100.0))
    """
    known = _metric_of(task)
    return (-100.0 if known is None else 100 * known.low), 100.0


def clip_interval(low: float, high: float, task: str) -> tuple[float, float]:
    """The ends of an interval of a score, cut at its bounds: nobody has a score beyond.

    >>> clip_interval(-4.0, 113.5, "gad"), clip_interval(-123.0, 50.0, "biosses")
    ((0.0, 100.0), (-100.0, 50.0))
    """
    least, most = score_bounds(task)
    return max(low, least), min(high, most)


@lru_cache(maxsize=256)
def _metric_of(task: str) -> metrics.Metric | None:
    """The metric of a task that is known here; None for a task or a metric that is not installed."""
    known = tasks.known_task(task)
    return None if known is None else metrics.known(known.metric)


PREDICTIONS = "predictions.parquet"
LOSS = "loss"
"""The column of the losses of dev examples, which a learner without probabilities does not give."""


@dataclass(frozen=True)
class Record:
    """A finished trial; each of its files is read when needed, as views need little of many trials.

    :param folder: of the trial
    """

    folder: str

    @cached_property
    def path(self) -> Path:
        """Its folder."""
        return Path(self.folder)

    @cached_property
    def trial(self) -> Trial:
        """Its specification; StoreError if it cannot be read, as of all files."""
        return read_spec(self.path)

    @cached_property
    def provenance(self) -> Provenance:
        """How it came about."""
        return read_provenance(self.path)

    @cached_property
    def metrics(self) -> Figures:
        """Its figures."""
        return read_metrics(self.path)

    @property
    def task(self) -> Task:
        """Its task, from a task file as declared then; UnknownName if its plug-in is gone."""
        return self.provenance.task(self.trial.task)

    def predictions(self, split: Split) -> dict[str, list[Any]]:
        """`id`, `doc_id`, `gold` and `prediction` of the examples of a split, in stored order.

        :raises StoreError: if they cannot be read, or are no answers to the task as it was declared
        """
        columns = read_predictions(
            self.path / PREDICTIONS, ("id", "doc_id", "gold", "prediction"), split
        )
        # Nobody here knows the answers of a plug-in that is not installed.
        with contextlib.suppress(UnknownName):
            check(self.task, columns, self.path)
        return columns

    def score(self, split: ScoredSplit, baseline: bool = False) -> float:
        """The main metric as a fraction; with `baseline` that of the majority answer."""
        return float(
            (self.metrics["majority"] if baseline else self.metrics)[split][self.metrics["metric"]]
        )


def read_spec(path: Path) -> Trial:
    """The specification in the folder of a trial; StoreError if it cannot be read."""
    file = path / "spec.json"
    trial = from_json(Trial, read_json(file), file)
    check_types(
        trial.settings,
        {name: IN_JSON[FIELDS[name].kind] for name in trial.settings if name in FIELDS},
        file,
    )
    return trial


def foreign_files(path: Path) -> list[str]:
    """The file, if any, that shows that a trial is not the one that its folder is named after."""
    try:
        spec = read_spec(path)
    except StoreError:
        return ["spec.json"]
    # A hidden folder beside the trial has more behind the hash (`files.hidden_name`).
    hash_ = path.name.removeprefix(".").partition(".")[0]
    if (spec.task, spec.hash) != (path.parent.name, hash_):
        return ["spec.json"]
    with contextlib.suppress(StoreError):  # its reader reports it
        declared = read_provenance(path).declaration
        return [PROVENANCE] if declared and declared.get("name") != spec.task else []
    return []


def read_metrics(path: Path) -> Figures:
    """`metrics.json` in the folder of a trial; StoreError if it cannot be read, or a figure is no number."""
    file = path / "metrics.json"
    content = read_json(file)
    check_types(content, {"metric": str, "dev": dict, "test": dict, "majority": dict}, file)
    unscored = [split for split in SCORED if content.get("metric") not in content.get(split, {})]
    # A row of another tool may have test alone.
    if unscored and (unscored != ["dev"] or content.get("dev") != {}):
        raise StoreError(
            f"the main metric ('metric') is not among the figures of {' and '.join(unscored)}.",
            where=file,
        )
    majority = content.get("majority", {})
    check_types(majority, dict.fromkeys(majority, dict), file)
    for figures in (*(content.get(split, {}) for split in SCORED), *majority.values()):
        check_types(figures, dict.fromkeys(figures, (int, float)), file)
    return cast(Figures, content)


def write_predictions(place: Path | BytesIO, columns: Mapping[str, Sequence[Any]]) -> None:
    """Writes `predictions.parquet`: split, id, doc_id, gold, prediction, majority, scores, loss; a row per example."""
    import pyarrow.parquet

    types = {LOSS: pyarrow.float32()}
    arrays = {name: pyarrow.array(values, types.get(name)) for name, values in columns.items()}
    pyarrow.parquet.write_table(pyarrow.table(arrays), place, compression="zstd")


def read_predictions(
    path: Path, names: Sequence[str] | None = None, split: str | None = None
) -> dict[str, list[Any]]:
    """The columns of `write_predictions`, optionally only some of them or only one split."""
    wanted = names if names is None or split is None else [*dict.fromkeys((*names, "split"))]
    try:
        columns = parquet.columns(read_bytes(path), wanted)
    except parquet.UNREADABLE as error:
        raise StoreError(
            f"cannot be read: {parquet.first_line(error)}",
            where=path,
            fix="blurb runs verify finds all that is damaged; after it the same run makes it again.",
        ) from error
    if split is None:
        return columns
    kept = [row for row, name in enumerate(columns["split"]) if name == split]
    return {
        name: [columns[name][row] for row in kept] for name in (columns if names is None else names)
    }
