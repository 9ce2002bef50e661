"""The tables of a store with its index. Oracle: those of a walk over all folders, without any index."""

from __future__ import annotations

import copy
import pickle
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blurb import formulations, metrics, tasks
from blurb.messages.errors import BlurbError, StoreError
from blurb.results import from_store, tables
from blurb.store import rescore, row_trials as rows
from blurb.store.store import Store
from blurb.store.trial import Trial
from tests.results import played
from tests.store import fakes

NAMES = ("gad", "biosses", "ncbi-disease")
PLANNED = [fakes.trial(name, seed) for name in NAMES for seed in (1, 2)]
MODELS = ("m", "org/n")
STEPS = 25
NOWHERE = Path("/dev/null/blurb")
"""A cache folder that there cannot be: who has it reads all folders."""


class Sweep:
    """A store to which several processes write, with an index in the cache that they share."""

    def __init__(self, folder: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rng = random.Random(seed)
        self.patch = monkeypatch
        self.folder = folder
        self.store = Store(folder / "runs")
        self.home = folder / "home"
        self.saved: list[tuple[Path, Path]] = []
        for model in MODELS:
            self.store.claim(model)
            rows.write(self.store, fakes.row(model, *PLANNED))

    def trials(self) -> list[Path]:
        return self.store.trial_folders()

    def files(self) -> list[Path]:
        return sorted((self.home / "trials").glob("*"))

    # What happens

    def finish(self) -> None:
        """A new trial, or one again with other answers."""
        planned = self.rng.choice(PLANNED)
        write(self.store, self.rng.choice(MODELS), planned, self.rng)

    def cut_index(self) -> None:
        """A power cut."""
        for path in self.files():
            content = path.read_bytes()
            path.write_bytes(content[: self.rng.randrange(len(content) + 1)])

    def damage_index(self) -> None:
        for path in self.files():
            content = bytearray(path.read_bytes())
            if content:
                content[self.rng.randrange(len(content))] ^= 1 << self.rng.randrange(8)
                path.write_bytes(content)

    def delete_index(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)

    def remove(self) -> None:
        if paths := self.trials():
            shutil.rmtree(self.rng.choice(paths))

    def damage(self) -> None:
        if paths := self.trials():
            file = self.rng.choice(paths) / self.rng.choice(
                ["metrics.json", "provenance.json", "DONE.json", "log.txt"]
            )
            if not file.exists() or self.rng.random() < 0.5:
                file.unlink(missing_ok=True)
            else:
                file.write_bytes(file.read_bytes()[:-3])

    def save(self) -> None:
        """A copy with the times of the files, as a backup has them."""
        if paths := self.trials():
            path = self.rng.choice(paths)
            copy = self.folder / f"backup-{len(self.saved)}"
            shutil.copytree(path, copy)
            self.saved.append((copy, path))

    def restore(self) -> None:
        if self.saved:
            copy, path = self.rng.choice(self.saved)
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(copy, path)

    def rescore(self) -> None:
        self.patch.setattr(metrics, "VERSION", self.rng.randrange(2, 10))
        rescore.rescore_store(self.store, lambda text: None)

    def run_again(self) -> None:
        """What `blurb run` does of a trial that is done."""
        for path in self.trials()[:2]:
            assert self.asked(self.home, path) == self.asked(NOWHERE, path)

    def asked(self, home: Path, path: Path) -> bool | str:
        self.patch.setenv("BLURB_HOME", str(home))
        try:
            return rescore.is_current(self.store, path)
        except StoreError as error:
            return str(error)

    # What is seen

    def tables(self, home: Path) -> list[Any]:
        """Both tables, and what is told of damage, as a process with that cache folder sees them."""
        self.patch.setenv("BLURB_HOME", str(home))
        told: list[BlurbError] = []
        tables.rebuild(Store(self.store.root), self.folder / "leaderboard.csv", told.append)
        return [
            (self.folder / name).read_bytes() for name in ("results.csv", "leaderboard.csv")
        ] + [sorted(map(str, told))]


def write(store: Store, model: str, planned: Trial, rng: random.Random) -> None:
    """A trial of a few real answers."""
    task = tasks.get(planned.task)
    gold = [played.gold_of(task, rng) for _ in range(8)]
    columns = {
        "split": ["dev"] * 3 + ["test"] * 5,
        "id": [str(number) for number in range(8)],
        "doc_id": [None] * 8,
        "gold": gold,
        "prediction": [one if rng.random() < 0.6 else played.wrong(task, one, rng) for one in gold],
        "majority": gold[:1] * 8,
        "scores": [None] * 8,
    }
    played.finish(store, model, planned, formulations.bind(task, {}), columns)


@pytest.mark.costly
@pytest.mark.parametrize("seed", range(4))
def test_tables_are_those_of_a_walk_whatever_happens(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        tables, "check_owner", lambda *given: None
    )  # an empty store has no rows of its tables
    sweep = Sweep(tmp_path, seed, monkeypatch)
    happenings: list[Callable[[], None]] = [
        sweep.finish,
        sweep.finish,
        sweep.finish,
        sweep.cut_index,
        sweep.damage_index,
        sweep.delete_index,
        sweep.remove,
        sweep.damage,
        sweep.save,
        sweep.restore,
        sweep.rescore,
        sweep.run_again,
    ]
    files = 0
    for step in range(STEPS):
        happening = happenings[0] if step < 6 else sweep.rng.choice(happenings)
        happening()
        assert sweep.tables(sweep.home) == sweep.tables(NOWHERE), (step, happening)
        files += len(sweep.files())
    assert files


def test_rows_of_an_index_can_be_copied_and_sent_to_other_processes(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    write(store, "m", PLANNED[0], random.Random(1))
    rows.write(store, fakes.row("m", PLANNED[0]))
    (row,) = from_store.read(store, pytest.fail)
    for again in (pickle.loads(pickle.dumps(row)), copy.deepcopy(row)):
        assert again.values("gad") == row.values("gad")
        assert again.datasets["gad"].limit("max_train") == 0
        assert again.datasets["gad"].runs == row.datasets["gad"].runs


def test_rows_of_an_index_read_no_json_of_a_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "runs")
    for planned in PLANNED:
        write(store, "m", planned, random.Random(planned.hash))
    rows.write(store, fakes.row("m", *PLANNED))
    from_store.read(store, pytest.fail)
    monkeypatch.setattr("blurb.store.store.read_json", lambda path: pytest.fail(f"{path} was read"))
    monkeypatch.setattr("blurb.store.trial.read_json", lambda path: pytest.fail(f"{path} was read"))
    monkeypatch.setattr(
        "blurb.store.store.file_hash", lambda path: pytest.fail(f"{path} was hashed")
    )
    monkeypatch.setattr(Store, "folder", lambda self, model: model)
    (row,) = from_store.read(store, pytest.fail)
    assert {name: row.seeds(name) for name in NAMES} == dict.fromkeys(NAMES, (1, 2))
    tables.rebuild(store, tmp_path / "leaderboard.csv", pytest.fail)
