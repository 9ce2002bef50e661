"""Rows from the trials of a store. Oracle: the JSON files of the trials, read by hand."""

import copy
import json
import pickle
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blurb import formulations, metrics, tasks
from blurb.messages.errors import BlurbError, StoreError
from blurb.results import from_store, tables
from blurb.results.row import Origin, Row
from blurb.store import rescore, row_trials as rows
from blurb.store.record import read_spec
from blurb.store.store import Store
from blurb.store.trial import Trial
from tests.results import played
from tests.store import fakes

NAMES = ("ncbi-disease", "gad", "biosses")
LIMITED = {"head": "crf", "tagging": "io", "max_train": 9, "max_eval": 0}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Three datasets with two seeds each, of invented predictions."""
    store = Store(tmp_path_factory.mktemp("from-store") / "runs")
    played.play(store, "m", dict.fromkeys(NAMES, 0.7), (1, 2), settings=LIMITED)
    return store


def only(store: Store) -> Row:
    (row,) = from_store.read(store, pytest.fail)
    return row


def content(path: Path, name: str) -> Any:
    return json.loads((path / name).read_text(encoding="utf-8"))


def test_figures_are_times_100_and_counts_as_they_are(store: Store) -> None:
    row = only(store)
    assert row.origin is Origin.STORE
    # Docs/csv.md
    counts = {"ncbi-disease": {"true_positives", "predicted", "gold"}, "biosses": {"constant"}}
    for path in store.trial_folders():
        spec, metrics = content(path, "spec.json"), content(path, "metrics.json")
        run = row.datasets[spec["task"]].runs[spec["seed"]]
        assert row.datasets[spec["task"]].metric == metrics["metric"]
        for split in ("dev", "test"):
            assert set(run.figures[split]) == set(metrics[split])
            for name, value in metrics[split].items():
                factor = 1 if name in counts.get(spec["task"], set()) else 100
                assert run.figures[split][name].value == pytest.approx(factor * value)
                assert run.figures[split][name].majority == pytest.approx(
                    factor * metrics["majority"][split][name]
                )
    assert {
        name for path in store.trial_folders() for name in content(path, "metrics.json")["test"]
    } > set().union(*counts.values())


def test_what_is_known_of_a_run_is_what_its_files_say(store: Store) -> None:
    row = only(store)
    for path in store.trial_folders():
        spec = content(path, "spec.json")
        run = row.datasets[spec["task"]].runs[spec["seed"]]
        assert (run.trial, run.data_hash, run.verdict) == (
            path.name,
            spec["data"][:12],
            "identical",
        )
        assert run.metrics_version == str(content(path, "metrics.json")["metrics_version"])
        assert (run.settings["head"], run.settings["tagging"], run.settings["pooling"]) == (
            "crf",
            "io",
            "",
        )
        assert (run.settings["max_train"], run.settings["max_eval"]) == ("9", "")
        assert run.record.path == path
    families = {name: one.known("family") for name, one in row.datasets.items()}
    assert [len(found) for found in families.values()] == [1, 1, 1]
    assert len(frozenset().union(*families.values())) == 3


def test_what_is_planned_and_not_done_is_counted(store: Store, tmp_path: Path) -> None:
    shutil.copytree(store.root, tmp_path / "runs")
    mine = Store(tmp_path / "runs")
    (stored,) = rows.read(mine)
    more = [
        fakes.trial(name, 7, weights=f"{'m':w<64}", settings=LIMITED) for name in ("gad", "hoc")
    ]
    row = fakes.row("m", *more, configuration=stored.configuration)
    rows.write(mine, replace(row, weights=stored.weights))
    found = only(mine)
    assert {name: (len(one.runs), one.planned) for name, one in found.datasets.items()} == {
        "ncbi-disease": (2, 2),
        "gad": (2, 3),
        "biosses": (2, 2),
        "hoc": (0, 1),
    }
    planned = {name: one.planned_seeds for name, one in found.datasets.items()}
    assert planned == {"ncbi-disease": (1, 2), "gad": (1, 2, 7), "biosses": (1, 2), "hoc": (7,)}
    assert (found.seeds("gad"), found.run_counts, "hoc" in found.means()) == ((1, 2), [2], False)


def test_a_row_without_a_finished_trial_is_none(tmp_path: Path) -> None:
    store = Store(tmp_path)
    rows.write(store, fakes.row("m", fakes.trial()))
    assert from_store.read(store, pytest.fail) == []


def test_rows_come_by_suite_model_and_configuration(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fakes.finish(store, "b", fakes.trial(), 0.5)
    fakes.finish(store, "a", fakes.trial(), 0.5)
    made = fakes.CONFIGURATION
    for model, configuration in (
        ("b", made),
        ("a", replace(made, suite="demo")),
        ("a", replace(made, protocol="standard")),
        ("a", made),
        ("a", replace(made, precision="bf16")),
    ):
        rows.write(store, fakes.row(model, fakes.trial(), configuration=configuration))
    assert [
        (row.suite, row.model, row.configuration.protocol, row.configuration.precision)
        for row in from_store.read(store)
    ] == [
        ("blurb", "a", "quick", "bf16"),
        ("blurb", "a", "quick", "fp32"),
        ("blurb", "a", "standard", "fp32"),
        ("blurb", "b", "quick", "fp32"),
        ("demo", "a", "quick", "fp32"),
    ]
    names = [row.name for row in from_store.read(store)]
    assert len(set(names)) == len(names)


def test_a_task_that_is_not_installed_here_is_read_all_the_same(
    store: Store, tmp_path: Path
) -> None:
    """Trials of a plug-in, in a place where it is not."""
    shutil.copytree(store.root, tmp_path / "runs")
    mine = Store(tmp_path / "runs")
    folder = mine.root / "m"
    (file,) = (folder / "rows").glob("*.json")
    rows = file.read_text().replace('"gad"', '"theirs"')
    for path in sorted((folder / "gad").iterdir()):
        if path.is_dir():
            spec = content(path, "spec.json")
            (path / "spec.json").write_text(json.dumps({**spec, "task": "theirs"}))
            mine.seal(path)
            rows = rows.replace(path.name, path.rename(path.with_name(read_spec(path).hash)).name)
    (folder / "gad").rename(folder / "theirs")
    file.write_text(rows)
    found = only(mine)
    assert (found.datasets["theirs"].type, found.datasets["theirs"].metric) == ("", "f1")
    assert found.values("theirs") == only(store).values("gad")
    assert "theirs" not in found.blurb_means()


# The tables of a store with its index. Oracle: those of a walk over all folders, without any index.


PLAYED = ("gad", "biosses", "ncbi-disease")
PLANNED = [fakes.trial(name, seed) for name in PLAYED for seed in (1, 2)]
MODELS = ("m", "org/n")
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
    # An empty store has no rows of its tables
    monkeypatch.setattr(tables, "check_owner", lambda *given: None)
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
    for step in range(25):
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
    assert {name: row.seeds(name) for name in PLAYED} == dict.fromkeys(PLAYED, (1, 2))
    tables.rebuild(store, tmp_path / "leaderboard.csv", pytest.fail)
