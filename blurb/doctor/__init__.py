"""`blurb doctor`: calls the readers of something, and lists what they collected. Nothing is run or written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from blurb import tasks
from blurb.data import manifest
from blurb.data.loading import hint_at_folder, path_of
from blurb.doctor._base import Diagnosis, Fact, Fault, Subject, list_faults
from blurb.execution.sweeps import FOLDER, JOBS
from blurb.messages import BlurbError, DataError, ErrorCollector, SettingsError
from blurb.planning import run_file
from blurb.regression import rules
from blurb.store.store import OWNERS, SCHEMA_FILE
from blurb.system import text_files
from blurb.system.files import NO_FILE

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
PROTOCOL = {"all", "search", "extends", "learner", "lr_by_size", "baselines", "description", "note"}
RULES = {"split", "level", "max_drop", "min_score", "overall", "datasets"}
"""Keys by which a file is known."""
FIXES: Mapping[Subject, str] = {
    "store": "Run its blurb run command again.",
    "trial": "Run its blurb run command again.",
    "checkpoint": "Save it again with save_pretrained, or download it again.",
    "data": "Make it with blurb data prepare from the original release, or correct the file.",
    "table": "Correct the line, or remove it; of a store of yours, blurb rescore writes the tables again.",
    "task file": "docs/extend.md has all keys; blurb tasks new writes a template.",
    "protocol": "docs/protocols.md has the keys; blurb run --help lists the settings.",
    "run file": "docs/reference.md has the options.",
    "rules": "docs/ci.md has the keys.",
    "environment": "Update or uninstall the package.",
}
"""What to do where an error does not say it."""


def examine(path: Path | None = None) -> Diagnosis:
    """Examines what is at a path, or the environment without one.

    :raises DataError: if there is nothing
    :raises SettingsError: if it is none of the things that blurb knows
    """
    errors, facts = ErrorCollector(), dict[str, Fact]()
    if path is None:
        from blurb.doctor.environment import check_environment

        kind: Subject = "environment"
        check_environment(errors, facts)
    elif not path.exists():
        raise DataError("no such file or folder", path, fix=f"give {KINDS}.")
    elif not (path.is_file() or path.is_dir()):
        raise DataError(f"{NO_FILE}", path, fix=f"give {KINDS}.")
    else:
        from blurb.doctor.readers import READERS  # torch: without it the environment is told

        kind = _kind_of_file(path) if path.is_file() else _kind_of_folder(path)
        with errors:
            READERS[kind](path, errors, facts)
    where = path or "plug-ins"
    return Diagnosis(kind, str(path or ""), list_faults(errors.errors, where, FIXES[kind]), facts)


def _kind_of_file(path: Path) -> Subject:
    if path.suffix == ".csv":
        return "table"
    if path.suffix != ".toml":
        raise SettingsError("cannot tell what this is", where=path, fix=f"give {KINDS}.")
    if path.name == rules.NAME:
        return "rules"
    try:
        content = text_files.read_toml(path)
    except BlurbError:  # whatever it is to be, it is told as a task file
        return "task file"
    keys = {*content}
    if keys & PROTOCOL or isinstance(content.get("tasks"), dict) or keys == {"seeds"}:
        return "protocol"
    if "model" in keys or (keys and keys <= {*run_file.KEY.values()}):
        return "run file"
    return "rules" if keys & RULES else "task file"


def _kind_of_folder(path: Path) -> Subject:
    if (path / "spec.json").is_file():
        return "trial"
    if any(next(path.glob(pattern), None) for pattern in STORES):
        return "store"
    if any(next(path.glob(pattern), None) for pattern in MODELS):
        return "checkpoint"
    every = tasks.select_tasks("all")
    known = any(path_of(task, path, split).is_file() for task in every for split in tasks.SPLITS)
    if known or manifest.path_of(path).is_file() or hint_at_folder(every, path):
        return "data"
    if (path / "row.json").is_file():
        raise SettingsError(
            "is a row as files", where=path, fix="check it with blurb leaderboard verify."
        )
    raise SettingsError("cannot tell what this folder is", where=path, fix=f"give {KINDS}.")
