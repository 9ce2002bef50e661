"""What stores of before schema 1 had, for `to_schema_1`: rows of two schemas, keys of provenance, locks, no marker.

Rows of schema 1 had the protocol's note in their key, but neither tokenizer nor recipe; those of schema 2 might
not name their learner. No row of either says more than its trials do.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from blurb import formulations
from blurb.learners import is_named
from blurb.messages.errors import StoreError
from blurb.store import row_trials
from blurb.store.record import read_metrics, read_spec
from blurb.store.row_trials import RowTrials
from blurb.store.store import OWNERS, SCHEMA, SCHEMA_FILE, Store
from blurb.store.trial import PROVENANCE, Configuration, Trial, read_provenance
from blurb.system.files import file_hash, read_json, write_json
from blurb.tasks import SCORED, SPLITS

WORDS = {"quick": "", "smoke": "smoke test: scores mean nothing"}
"""Notes of shipped protocols in schema 1, without the numbers of seeds and examples, which a row now has itself."""
PROCESS = re.compile(r"\.[0-9a-f]{16}\.[0-9]+")
"""A temporary folder, named after its process."""
CUT = 4
"""The last version of the inputs that gave the second of two long texts an odd sub-token too much."""


def link(source: str, target: str) -> None:
    """Copies a file without its content: what is written anew later is another file."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def figures(root: Path) -> dict[tuple[str, ...], float]:
    """Every figure of every run that a row of an old store has, as its files say it."""
    found = {}
    for path, content in _row_files(root):
        made = Configuration(**content["configuration"])
        for task, seeds in content["trials"].items():
            for seed, hash_ in seeds.items():
                trial = path.parent.parent / task / hash_
                if _is_done(trial):
                    metrics: Mapping[str, Any] = read_metrics(trial)
                    key = content["model"], content["weights"], made.text, task, str(seed), hash_
                    found |= {
                        (*key, split, name): value
                        for split in SCORED
                        for name, value in metrics[split].items()
                    }
    return found


def convert(root: Path) -> list[Path]:
    """Rewrites what is old in a copy of a store; returns the trials that cut pairs of texts as no version does now."""
    told = []
    for path in sorted(path.parent for path in root.glob("*/*/*/spec.json")):
        if _is_done(path):
            _trial(path)
            if _cut_pairs(path):
                told.append(path.relative_to(root))
    rows: dict[Path, RowTrials] = {}
    owners: dict[Path, set[str]] = {}
    for file, content in _row_files(root):
        folder = file.parent
        owners.setdefault(folder.parent, set()).add(content["model"])
        for row in _rows(folder.parent, content):
            there = folder / f"{row.key}.json"
            rows[there] = row.over(rows[there]) if there in rows else row
    for file, _ in _row_files(root):
        file.unlink()
    for file, row in rows.items():
        write_json(file, row.content)
    for folder, models in owners.items():
        with contextlib.suppress(StoreError):
            models |= set(read_json(folder / OWNERS)["models"])
        write_json(folder / OWNERS, {"models": sorted(models)})
    _clean(root)
    write_json(root / SCHEMA_FILE, {"schema": SCHEMA})
    lost = [str(error) for error in _damage(root)]
    if lost:
        raise StoreError("; ".join(lost))
    return told


def _row_files(root: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The files of rows with their content, in the order in which they were read: schema 1 first, then by age."""
    paths = [path for path in root.glob("*/rows/*.json") if row_trials.FILE.fullmatch(path.name)]
    found = [(read_json(path), path.stat().st_mtime, path.name, path) for path in paths]
    if strange := [path for content, *_, path in found if content.get("schema") not in (1, 2)]:
        raise StoreError("no row of before schema 1", where=strange[0])
    found.sort(key=lambda item: (item[0]["schema"], *item[1:3]))
    return [(path, content) for content, *_, path in found]


def _rows(folder: Path, content: Mapping[str, Any]) -> list[RowTrials]:
    """The rows in a file: of schema 1 one for each tokenizer and recipe among its trials."""
    trials = {
        task: {int(seed): hash_ for seed, hash_ in seeds.items()}
        for task, seeds in content["trials"].items()
    }
    made, families = Configuration(**content["configuration"]), content["families"]
    asked = {
        task: _asked(folder / task / hash_ for hash_ in seeds.values())
        for task, seeds in trials.items()
    }
    if content["schema"] == 2:
        learner = next((trial.learner for trial in asked.values() if trial), "")
        known = {name: value for name, value in content.items() if name != "schema"}
        return [RowTrials(**{"learner": learner, **known, "configuration": made, "trials": trials})]
    made = replace(made, note=WORDS.get(made.protocol, made.note))
    kinds = {
        task: trial and (trial.tokenizer, trial.recipe, trial.learner)
        for task, trial in asked.items()
    }
    there = list(dict.fromkeys(kind for kind in kinds.values() if kind))
    if not there and is_named(content["weights"]):
        # What was planned and never begun is nothing yet, and its tokenizer is not known
        there = [("", 1, "")]
    mine = {kind: [task for task in trials if (kinds[task] or there[0]) == kind] for kind in there}
    return [
        RowTrials(
            content["model"],
            content["weights"],
            kind[0],
            kind[1],
            made,
            {task: trials[task] for task in chosen},
            {task: families[task] for task in chosen},
            learner=kind[2],
        )
        for kind, chosen in mine.items()
    ]


def _asked(paths: Iterable[Path]) -> Trial | None:
    """The first of these trials that can be read."""
    for path in paths:
        with contextlib.suppress(StoreError):
            return read_spec(path)
    return None


def _is_done(path: Path) -> bool:
    """Whether a trial is sealed, and as it was then."""
    try:
        sealed = read_json(path / "DONE.json")["sha256"]
        return all(file_hash(path / name) == hash_ for name, hash_ in sealed.items())
    except (StoreError, KeyError, OSError):
        return False


def _trial(path: Path) -> None:
    """Gives a trial the keys of today, and a seal that agrees."""
    file = path / PROVENANCE
    content, sealed = read_json(file), read_json(path / "DONE.json")["sha256"]
    facts = dict(content.get("facts") or {})
    for split in SPLITS:
        if (count := facts.pop(f"{split}_truncated", None)) is not None:
            facts[f"{split}_inputs"] = {"truncated": count, **facts.get(f"{split}_inputs", {})}
    if facts != content.get("facts", {}):
        write_json(file, {**content, "facts": facts})
        sealed = {**sealed, PROVENANCE: file_hash(file)}
    write_json(path / "DONE.json", {"sha256": sealed})


def _cut_pairs(path: Path) -> bool:
    made = read_provenance(path)
    if made.facts.get("features_version", CUT) > CUT or not any(
        made.truncated(split) for split in SPLITS
    ):
        return False
    return formulations.of(made.task(read_spec(path).task)).has_pair


def _clean(root: Path) -> None:
    """Removes locks, folders of processes, and the index that earlier versions kept there."""
    for path in (*root.glob("*/*/.*.lock"), root / ".rows.lock"):
        path.unlink(missing_ok=True)
    for path in root.glob("*/*/.*"):
        if path.is_dir() and PROCESS.fullmatch(path.name):
            shutil.rmtree(path)
    shutil.rmtree(root / ".index", ignore_errors=True)


def _damage(root: Path) -> Iterator[StoreError]:
    """What the readers of today cannot read of the rows."""
    told: list[Any] = []
    row_trials.read(Store(root), told.append)
    yield from told
