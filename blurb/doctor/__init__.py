"""`blurb doctor`: everything that is wrong with something, and how to fix it. Nothing is run or written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from blurb import tasks
from blurb.data import manifest
from blurb.data.loading import hint_at_folder, path_of
from blurb.doctor import data
from blurb.doctor._base import Diagnosis, Fact, Fault, Subject, as_fault, few
from blurb.execution.sweeps import FOLDER, JOBS
from blurb.learners import protocol_learner
from blurb.messages import BlurbError, DataError, ErrorCollector, SettingsError
from blurb.planning import run_file
from blurb.regression import rules
from blurb.results.references import table_rows
from blurb.store.store import OWNERS, SCHEMA_FILE
from blurb.system import text_files
from blurb.system.files import NO_FILE
from blurb.table_files import table_of

__all__ = ["Diagnosis", "Fact", "Fault", "examine"]

KINDS = (
    "a store, a trial, a checkpoint, a data folder, a task file, a protocol, a run file, blurb-check.toml, or a table "
    "of results"
)
STORES = (
    SCHEMA_FILE,
    "*/rows/*.json",
    "*/*/*/spec.json",
    "spec.json",
    f"*/{OWNERS}",
    f"{FOLDER}/*/{JOBS}",
)
MODELS = (
    "config.json",
    "adapter_config.json",
    "*.safetensors",
    "pytorch_model*",
    "tokenizer*.json",
    "*/config.json",
)
"""Patterns of files by which a folder is known."""
MEND = "Correct the line, or remove it; of a store of yours, blurb rescore writes the tables again."
PROTOCOL_HELP = "docs/protocols.md has the keys; blurb run --help lists the settings."


def examine(path: Path | None = None) -> Diagnosis:
    """Examines what is at a path, or the environment without one.

    :raises DataError: if there is nothing
    :raises SettingsError: if it is none of the things that blurb knows
    """
    if path is None:
        from blurb.doctor import environment

        return environment.examine()
    if not path.exists():
        raise DataError("no such file or folder", path, fix=f"give {KINDS}.")
    if not (path.is_file() or path.is_dir()):
        raise DataError(f"{NO_FILE}", path, fix=f"give {KINDS}.")
    return _file(path) if path.is_file() else _folder(path)


def _file(path: Path) -> Diagnosis:
    if path.suffix == ".csv":
        return _table(path)
    if path.suffix != ".toml":
        raise SettingsError("cannot tell what this is", where=path, fix=f"give {KINDS}.")
    if path.name == rules.NAME:
        return _settings("rules", rules.load_rules, path, "docs/ci.md has the keys.")
    try:
        content = text_files.read_toml(path)
    except BlurbError:  # whatever it is to be, it is told as a task file
        content = {}
    keys = {*content}
    if keys & {
        "all",
        "search",
        "extends",
        "learner",
        "lr_by_size",
        "baselines",
        "description",
        "note",
    } or (isinstance(content.get("tasks"), dict) or keys == {"seeds"}):
        return _settings("protocol", protocol_learner.load, path, PROTOCOL_HELP)
    if "model" in keys or (keys and keys <= {*run_file.KEY.values()}):
        return _settings("run file", run_file.read, path, "docs/reference.md has the options.")
    if keys & {"split", "level", "max_drop", "min_score", "overall", "datasets"}:
        return _settings("rules", rules.load_rules, path, "docs/ci.md has the keys.")
    return data.examine_task_file(path)


def _settings(kind: Subject, load: Callable[..., object], path: Path, fix: str) -> Diagnosis:
    """The faults that the reader of a file of settings finds."""
    errors = ErrorCollector()
    with errors:
        load(path)
    return Diagnosis(kind, str(path), [as_fault(error, path, fix) for error in errors.errors])


def _table(path: Path) -> Diagnosis:
    """Every line of a `results.csv`, a `leaderboard.csv` or an `external.csv` that cannot be read."""
    errors, unread = ErrorCollector(), ErrorCollector()
    facts: dict[str, Fact] = {}
    with unread:
        table = table_of(path, unread)
        facts["lines"] = len(table.rows) + len(unread.errors)
    with errors:
        rows = table_rows(path, errors)
        facts |= {"rows": len(rows)} if rows else {}
    return Diagnosis(
        "table",
        str(path),
        few([as_fault(error, path, MEND) for error in errors.errors], path),
        facts,
    )


def _folder(path: Path) -> Diagnosis:
    from blurb.doctor import checkpoint, store

    if any(next(path.glob(pattern), None) for pattern in STORES):
        return store.examine(path)
    if any(next(path.glob(pattern), None) for pattern in MODELS):
        return checkpoint.examine(path)
    every = tasks.select_tasks("all")
    known = any(path_of(task, path, split).is_file() for task in every for split in tasks.SPLITS)
    if known or manifest.path_of(path).is_file() or hint_at_folder(every, path):
        return data.examine(path)
    if (path / "row.json").is_file():
        raise SettingsError(
            "is a row as files", where=path, fix="check it with blurb leaderboard verify."
        )
    raise SettingsError("cannot tell what this folder is", where=path, fix=f"give {KINDS}.")
