"""Reads the row files of a stranger, which may be anything: nothing of them is trusted or run."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import stat
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from blurb import formulations, learners, metrics, tasks
from blurb.grouping import by_key
from blurb.messages import BlurbError, DataError, UnknownName
from blurb.names import HASH
from blurb.results.score import LIMITS
from blurb.row_files.writing import ABOUT, ENDING, MANIFEST, SCHEMA, Party, RowRecord, RunRecord
from blurb.store.record import LOSS
from blurb.store.row_trials import TRAINED_ON
from blurb.store.trial import stored_types
from blurb.system import parquet
from blurb.system.files import check_types, file_hash, read_bytes, read_json

ROWS = "rows"
"""Folder of the rows of a board."""
MOST_BYTES = 50_000_000
"""Maximum bytes of a file; the files of thirteen datasets and five seeds have five million together."""
MOST_RUNS = 13 * 100
MOST_EXAMPLES, MOST_ROWS = 100_000, 1_000_000
"""Maximum examples of a run, dev and test together, and rows of a file."""
MOST_UNPACKED = 500_000_000
"""Maximum unpacked bytes of a file of predictions."""
NAME = re.compile(r"(?![=+@-])[^\x00-\x1f\x7f<>\"`]{1,200}")
"""Names of a model: no control characters, and nothing that is markup or begins a formula."""
TEXT = re.compile(r"[^\x00-\x1f\x7f<>\"`]{0,1000}")
"""Texts of a row, many of which tables and pages show."""
EXPORT = "blurb export row ROW --out FOLDER writes the files of a row, and blurb leaderboard init a board."
Columns = Mapping[str, list[Any]]


@dataclass(frozen=True, eq=False)
class RowFiles:
    """The content of the files; two are the same row if they are one object.

    :param predictions: dataset -> `seed`, `split`, `id`, `prediction`, and where it is known `loss`
    :param manifest: SHA-256 of the `MANIFEST.json` by which all of this was read
    """

    folder: Path
    about: RowRecord
    predictions: Mapping[str, Columns]
    manifest: str = ""

    @property
    def varies(self) -> bool:
        """Whether runs of its recipe differ by their seeds; those of a deterministic kind are equal."""
        if learners.is_named(self.about["weights"]):
            with contextlib.suppress(UnknownName):
                return not learners.get_named(self.about["weights"]).deterministic
        return not learners.row_kind(self.about["learner"]).paired

    @property
    def by_task(self) -> dict[str, list[RunRecord]]:
        """Its runs by dataset."""
        return by_key((run["task"], run) for run in self.about["runs"])


def read_row_files(folder: Path) -> RowFiles:
    """The row in a folder.

    :raises DataError: (file) if it is not what `blurb export row` writes; whatever is wrong, nothing was run
    """
    _check_folder(folder)
    if not os.path.lexists(folder / ABOUT):
        raise DataError(f"has no {ABOUT}, so it is no row.", folder, fix=EXPORT)
    names = _file_names(folder)
    manifest = manifest_of(folder)
    about = _read_about(folder / ABOUT)
    wanted = {ABOUT, MANIFEST, *(f"{run['task']}{ENDING}" for run in about["runs"])}
    if names != wanted:
        odd = sorted(names ^ wanted)[0]
        raise DataError(
            "is not a file of this row." if odd in names else "the file is missing.", folder / odd
        )
    hashes = read_json(folder / MANIFEST).get("sha256")
    if not isinstance(hashes, dict) or set(hashes) != names - {MANIFEST}:
        raise DataError("does not list the files of the row.", folder / MANIFEST)
    _checked_content(folder / ABOUT, hashes)
    tables = {}
    scored = {
        (run["task"], run["seed"], split)
        for run in about["runs"]
        for split in tasks.SCORED
        if run[split]
    }
    for task, runs in Counter(run["task"] for run in about["runs"]).items():
        path = folder / f"{task}{ENDING}"
        tables[task] = columns = _read_predictions(path, _checked_content(path, hashes), runs)
        parts = zip(columns["seed"], columns["split"], strict=True)
        if unscored := {(task, *part) for part in parts} - scored:
            raise DataError(
                f"has predictions of {min(unscored)!r:.80}, of which {ABOUT} has no figures.", path
            )
    return RowFiles(folder, about, tables, manifest)


def rows_in(folder: Path) -> list[RowFiles]:
    """The rows in the folders of a folder, by name; DataError if a folder is no row."""
    _check_folder(folder)
    return [
        read_row_files(path)
        for path in sorted(folder.iterdir())
        if path.is_dir() and not path.name.startswith(".")
    ]


def rows_on(board: Path) -> list[RowFiles]:
    """The rows of a board; none if it has no folder for them yet."""
    return rows_in(board / ROWS) if os.path.lexists(board / ROWS) else []


def manifest_of(row: Path) -> str:
    """The hash of a row's manifest, which identifies all its files; DataError without a proper file."""
    path = row / MANIFEST
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise DataError("is no manifest.", path)
    return file_hash(path)


def _check_folder(folder: Path) -> None:
    if folder.is_symlink() or not folder.is_dir():
        raise DataError(
            "is a link, and no folder." if folder.is_symlink() else "there is no such folder.",
            folder,
            fix=EXPORT,
        )


def _file_names(folder: Path) -> set[str]:
    """The names in a folder that has nothing but files of ordinary size."""
    names = set()
    for entry in os.scandir(folder):
        state = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(state.st_mode):
            raise DataError("is no ordinary file.", Path(entry.path))
        if state.st_size > MOST_BYTES:
            raise DataError(
                f"has {state.st_size:,} bytes; files of a row have a few million.", Path(entry.path)
            )
        names.add(entry.name)
    return names


TYPES, RUN_TYPES = stored_types(RowRecord), stored_types(RunRecord)


def _read_about(path: Path) -> RowRecord:
    content = {"trained_on": "unknown", **read_json(path)}  # older files lack it
    check_types(content, TYPES, path)
    if odd := sorted(TYPES.keys() ^ content.keys()):
        what = "is no key of a row" if odd[0] in content else "is missing"
        raise DataError(f"{odd[0][:40]!r} {what}.", path)
    if content["schema"] != SCHEMA:
        raise DataError(f"schema {content['schema']}; this blurb reads {SCHEMA}.", path)
    said = ["measured_by"] * bool(content["measured_by"])
    for name in ("model", "learner", "protocol", *said):
        if not NAME.fullmatch(content[name]):
            raise DataError(f"{name} must be 1 to 200 ordinary characters, without markup.", path)
    _check_texts(content, path)
    if content["party"] not in get_args(Party):
        raise DataError("party must be first, third, or nothing.", path)
    if content["trained_on"] not in TRAINED_ON:
        raise DataError(f"trained_on must be one of {', '.join(TRAINED_ON)}.", path)
    runs = content["runs"]
    if not 0 < len(runs) <= MOST_RUNS:
        raise DataError(f"has {len(runs):,} runs; expected 1 to {MOST_RUNS:,}.", path)
    seen = set()
    for run in runs:
        place = _check_run(run, path)
        if place in seen:
            raise DataError(f"{place}: listed twice.", path)
        seen.add(place)
    for seeds in content["planned"].values():
        if (
            not isinstance(seeds, list)
            or not set(map(type, seeds)) <= {int}
            or len(set(seeds)) < len(seeds)
        ):
            raise DataError("planned must be lists of seeds, each once.", path)
    return cast(RowRecord, content)


def _check_texts(content: Any, path: Path) -> None:
    """Raises a DataError for a text, at any depth, that does not match `TEXT`."""
    parts = [content]
    while parts:
        part = parts.pop()
        if isinstance(part, str) and not TEXT.fullmatch(part):
            raise DataError(
                f"a text is too long, or has control characters or markup: {part[:40]!r}.", path
            )
        parts += (
            [*part, *part.values()]
            if isinstance(part, dict)
            else part
            if isinstance(part, list)
            else []
        )


def _check_run(run: Any, path: Path) -> str:
    """Checks a run, and returns its dataset and seed in words."""
    if not isinstance(run, dict) or run.keys() != RUN_TYPES.keys():
        raise DataError(f"a run must have the keys {', '.join(RUN_TYPES)}, and no others.", path)
    check_types(run, RUN_TYPES, path)
    task = tasks.known_task(run["task"])
    if task is None:
        raise DataError(f"{run['task'][:40]!r} is no dataset of blurb.", path)
    if not HASH.fullmatch(run["trial"]):
        raise DataError("trial must be a hash.", path)
    if not set(map(type, run["plugins"].values())) <= {str}:
        raise DataError("plugins must have hashes.", path)
    if not all(type(run["settings"].get(name) or 0) is int for name in LIMITS):
        raise DataError(f"{', '.join(LIMITS)} must be whole numbers.", path)
    place = f"{run['task']}, seed {run['seed']}"
    metric = metrics.get(task.metric)
    if run["metric"] != metric.main or not run["test"]:
        raise DataError(f"{place}: no {metric.main} on test.", path)
    try:
        _ = formulations.bind(task, run["settings"]).needs_original
    except BlurbError as error:
        raise DataError(f"{place}: {error}", path) from None
    for split in tasks.SCORED:
        figures = run[split]
        check_types(figures, dict.fromkeys(figures, (int, float)), path)
        if figures and run["metric"] not in figures:
            raise DataError(f"{place}: no {run['metric'][:40]!r} on {split}.", path)
        if not all(metric.admits(*figure) for figure in figures.items()):
            raise DataError(f"{place}: a figure that cannot be, on {split}.", path)
    return place


def _checked_content(path: Path, hashes: Mapping[str, str]) -> bytes:
    """The content of a file; DataError if its hash is not that of the manifest."""
    content = read_bytes(path)
    if hashlib.sha256(content).hexdigest() != hashes[path.name]:
        raise DataError(f"the file is not the one whose hash is in {MANIFEST}.", path)
    return content


def _read_predictions(path: Path, content: bytes, runs: int) -> Columns:
    try:
        columns = parquet.columns(
            content, rows=min(runs * MOST_EXAMPLES, MOST_ROWS), size=MOST_UNPACKED
        )
    except parquet.UNREADABLE as error:
        raise DataError(f"cannot be read as Parquet: {parquet.first_line(error)}.", path) from None
    kinds: Mapping[str, type] = {"seed": int, "split": str, "id": str}
    if list(columns) not in ([*kinds, "prediction"], [*kinds, "prediction", LOSS]):
        raise DataError(
            f"expected the columns {', '.join(kinds)}, prediction, and perhaps {LOSS}.", path
        )
    for name, kind in kinds.items():
        if not set(map(type, columns[name])) <= {kind}:
            raise DataError(f"{name} must be of type {kind.__name__} everywhere.", path)
    if not all(map(_is_answer, columns["prediction"])):
        raise DataError("a prediction must be a text, a number, or a list of texts.", path)
    if not all(
        loss is None or (type(loss) is float and 0 <= loss < math.inf)
        for loss in columns.get(LOSS, ())
    ):
        raise DataError(f"{LOSS} must be a number of at least 0, or nothing.", path)
    return columns


def _is_answer(value: Any) -> bool:
    if isinstance(value, list):
        return set(map(type, value)) <= {str}
    return isinstance(value, str) or (type(value) in (int, float) and math.isfinite(value))


def run_predictions(row: RowFiles, run: RunRecord, split: str) -> list[tuple[str, Any]]:
    """Ids and predictions of a run on a split, in stored order."""
    return list(
        zip(*(_run_column(row, run, split, name) for name in ("id", "prediction")), strict=True)
    )


def run_losses(row: RowFiles, run: RunRecord, split: str) -> list[float] | None:
    """The losses of a run on a split, in stored order; None if they are not known."""
    if LOSS not in row.predictions[run["task"]]:
        return None
    losses = _run_column(row, run, split, LOSS)
    return None if None in losses else losses


def _run_column(row: RowFiles, run: RunRecord, split: str, name: str) -> list[Any]:
    columns = row.predictions[run["task"]]
    every = zip(columns["seed"], columns["split"], columns[name], strict=True)
    return [cell for seed, part, cell in every if (seed, part) == (run["seed"], split)]
