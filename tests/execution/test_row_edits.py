"""Rows are removed and renamed without touching others, and a kill at any step leaves a store that can be read."""

import contextlib
import itertools
import json
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from blurb.execution import row_edits
from blurb.learners import saved_models
from blurb.learners.finetuning import saved_models as finetuned
from blurb.messages.errors import SettingsError, StoreError
from blurb.store import row_contents, row_trials as rows
from blurb.store.store import Store
from blurb.system import leases
from blurb.system.files import damaged_files, read_json, seal_folder, write_json
from blurb.system.lease_records import LeaseRecord
from tests.store.fakes import CONFIGURATION, finish, row, trial

SHARED = (trial("gad", 1), trial("gad", 2))
OWN = (trial("hoc", 1), trial("biosses", 1))
BF16 = replace(CONFIGURATION, precision="bf16")


class Killed(BaseException):
    """Ends a process in a test."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Model m with two rows that share two trials, one trial of a search and one that failed; model n with a row."""
    found = Store(tmp_path / "runs")
    with found.locked():
        found.claim("m")
        found.claim("n")
    for planned in (*SHARED, *OWN, trial("ddi", 7)):
        finish(found, "m", planned, 0.5)
    finish(found, "n", trial("gad", 1), 0.5)
    lost = found.path("m", "ddi", trial("ddi", 1).hash)
    write_json(row_contents.failure_of(lost), {"message": "out of memory"})
    rows.write(found, row("m", *SHARED, *OWN, trial("ddi", 1)))
    rows.write(found, row("m", *SHARED, configuration=BF16))
    rows.write(found, row("n", trial("gad", 1)))
    return found


def names(store: Store) -> list[tuple[str, str]]:
    """Model and precision of all rows; none of them may be damaged."""
    told: list[str] = []
    found = [
        (one.model, one.configuration.precision)
        for one in rows.read(store, lambda damage: told.append(str(damage)))
    ]
    assert told == []
    return sorted(found)


def pick(store: Store, model: str, precision: str = "fp32") -> rows.RowTrials:
    return next(
        one
        for one in rows.read(store)
        if one.model == model and one.configuration.precision == precision
    )


def done(store: Store, model: str, *planned: object) -> list[bool]:
    return [store.is_done(store.path(model, one.task, one.hash)) for one in planned]  # type: ignore[attr-defined]


def test_only_what_no_other_row_has_is_removed(store: Store) -> None:
    doomed = row_edits.remove(store, pick(store, "m"))
    assert [path.name for path in doomed.trials] == [one.hash for one in OWN]
    assert [path.name for path in doomed.shared] == [one.hash for one in SHARED]
    assert doomed.unlisted == ()
    assert names(store) == [("m", "bf16"), ("n", "fp32")]
    assert done(store, "m", *SHARED, *OWN, trial("ddi", 7)) == [True, True, False, False, True]
    assert not list(store.root.glob("m/*/*.failed.json"))
    assert done(store, "n", trial("gad", 1)) == [True]


def test_the_last_row_of_a_model_takes_its_folder_along(store: Store) -> None:
    row_edits.remove(store, pick(store, "m", "bf16"))
    assert done(store, "m", *SHARED) == [True, True]
    doomed = row_edits.removal(store, pick(store, "m"))
    assert doomed.size == sum(
        file.stat().st_size
        for path in (*doomed.trials, *doomed.unlisted)
        for file in path.iterdir()
    )
    assert [path.name for path in doomed.unlisted] == [trial("ddi", 7).hash]
    row_edits.remove(store, pick(store, "m"))
    assert names(store) == [("n", "fp32")]
    assert sorted(path.name for path in store.root.iterdir()) == ["n", "store.json"]


def test_a_renamed_row_has_all_its_trials_under_the_new_name(store: Store) -> None:
    before = pick(store, "m")
    after = row_edits.rename(store, before, "org/new")
    assert names(store) == [("m", "bf16"), ("n", "fp32"), ("org/new", "fp32")]
    assert pick(store, "org/new") == after == replace(before, model="org/new")
    assert done(store, "org/new", *SHARED, *OWN) == [True] * 4
    assert done(store, "m", *SHARED, *OWN) == [True, True, False, False]
    failure = row_contents.failure_of(store.path("org/new", "ddi", trial("ddi", 1).hash))
    assert json.loads(failure.read_text())["message"] == "out of memory"
    record = store.read(store.path("org/new", "hoc", OWN[0].hash))
    assert record.provenance.model == "org/new"
    assert record.score("test") == 0.5
    assert store.owners("org/new") == {"org/new"}


def keep(path: Path, content: str = "weights", model: str = "m") -> None:
    """A kept model in the folder of a trial, with its seal."""
    (path / saved_models.FOLDER).mkdir()
    write_json(path / saved_models.FOLDER / saved_models.ABOUT, {"model": model, "max_length": 128})
    (path / saved_models.FOLDER / finetuned.HEAD).write_text(content)
    seal_folder(path / saved_models.FOLDER)


def model_of(path: Path) -> tuple[str, str]:
    """The name in a kept model, which must be whole, and its weights."""
    assert saved_models.is_kept(path)
    folder = path / saved_models.FOLDER
    return read_json(folder / saved_models.ABOUT)["model"], (folder / finetuned.HEAD).read_text()


def test_a_kept_model_comes_along_under_the_new_name(store: Store) -> None:
    keep(store.path("m", "hoc", OWN[0].hash))
    keep(store.path("m", "gad", SHARED[0].hash))
    row_edits.rename(store, pick(store, "m"), "new")
    assert model_of(store.path("new", "hoc", OWN[0].hash)) == ("new", "weights")
    assert model_of(store.path("new", "gad", SHARED[0].hash)) == ("new", "weights")
    # The other row has it still
    assert model_of(store.path("m", "gad", SHARED[0].hash)) == ("m", "weights")
    assert not store.path("m", "hoc", OWN[0].hash).exists()
    assert done(store, "new", OWN[0], SHARED[0]) == [True, True]


def test_a_kept_model_that_is_damaged_stays_so(store: Store) -> None:
    path = store.path("m", "hoc", OWN[0].hash)
    keep(path)
    (path / saved_models.FOLDER / finetuned.HEAD).write_text("other")
    row_edits.rename(store, pick(store, "m"), "new")
    assert damaged_files(store.path("new", "hoc", OWN[0].hash) / saved_models.FOLDER) == [
        finetuned.HEAD
    ]


@pytest.mark.parametrize("there", ["", "whole", "damaged"])
def test_a_trial_that_is_there_already_gets_the_kept_model_if_it_has_none(
    store: Store, there: str
) -> None:
    """The trial of n is that of m, too, but for its model."""
    target = store.path("n", "gad", SHARED[0].hash)
    if there:
        keep(target, "its own", "n")
    if there == "damaged":
        (target / saved_models.FOLDER / finetuned.HEAD).unlink()
    rows.write(store, row("x", SHARED[0]))
    keep(finish(store, "x", SHARED[0], 0.5), model="x")
    row_edits.rename(store, pick(store, "x"), "n")
    assert model_of(target) == ("n", "its own" if there == "whole" else "weights")
    assert done(store, "n", SHARED[0]) == [True]
    assert not (store.root / "x").exists()


def test_trials_of_a_search_come_along_and_stay(store: Store) -> None:
    # As the rows have it: asked for by the configuration of one of them
    searched = trial("ddi", 8, tokenizer="t" * 64)
    path = finish(store, "m", searched, 0.5)
    row_edits.rename(store, pick(store, "m"), "new")
    assert store.is_done(store.path("new", "ddi", searched.hash))
    assert not store.path("new", "ddi", trial("ddi", 7).hash).exists()
    assert store.is_done(path)  # the search of the model's other row may need it


def test_a_renamed_last_row_leaves_nothing_behind(store: Store) -> None:
    row_edits.rename(store, pick(store, "n"), "other")
    assert sorted(path.name for path in store.root.iterdir()) == ["m", "other", "store.json"]
    assert done(store, "other", trial("gad", 1)) == [True]


def test_two_models_that_share_a_folder_of_an_old_store(tmp_path: Path) -> None:
    """Until models claimed folders, a/b and a-b were in one."""
    store = Store(tmp_path)
    rows.write(store, row("a-b", trial("gad", 1)))
    finish(store, "a-b", trial("gad", 1), 0.5)
    write_json(store.root / "a-b" / "models.json", {"models": ["a-b", "a/b"]})
    store = Store(tmp_path)
    rows.write(store, row("a/b", trial("gad", 1), trial("hoc", 1)))
    finish(store, "a/b", trial("hoc", 1), 0.5)
    assert store.folder("a/b") == store.folder("a-b") == "a-b"
    row_edits.rename(store, pick(store, "a/b"), "c")
    assert names(store) == [("a-b", "fp32"), ("c", "fp32")]
    assert done(store, "a-b", trial("gad", 1)) == [True]
    assert done(store, "c", trial("gad", 1), trial("hoc", 1)) == [True, True]
    assert store.owners("a-b") == {"a-b"}
    row_edits.remove(store, pick(store, "c"))
    assert done(store, "a-b", trial("gad", 1)) == [True]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "is empty"),
        ("a\nb", "which is not allowed"),
        ("x" * 300, "too long"),
        ("m", "has the name 'm' already"),
    ],
)
def test_names_are_checked(store: Store, name: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        row_edits.rename(store, pick(store, "m"), name)


def test_a_row_of_that_name_with_other_trials_is_not_overwritten(store: Store) -> None:
    rows.write(store, row("n", trial("gad", 2), configuration=BF16))
    with pytest.raises(SettingsError, match="n has a row of this configuration with other trials"):
        row_edits.rename(store, pick(store, "m", "bf16"), "n")
    assert ("m", "bf16") in names(store)


ACTIONS: dict[str, Callable[[Store], object]] = {
    "rm": lambda store: row_edits.remove(store, pick(store, "m")),
    "rename": lambda store: row_edits.rename(store, pick(store, "m"), "new"),
}


@pytest.mark.parametrize("action", ACTIONS)
def test_nothing_changes_while_a_trial_of_the_model_runs(store: Store, action: str) -> None:
    before = sorted(store.root.rglob("*"))
    with (
        leases.held(store.lease(store.path("m", "gad", SHARED[0].hash))),
        pytest.raises(StoreError, match=r"is running .*, and nothing was changed"),
    ):
        ACTIONS[action](store)
    assert sorted(store.root.rglob("*")) == before
    with leases.held(store.lease(store.path("n", "gad", trial("gad", 1).hash))):
        ACTIONS[action](store)  # another model's


@pytest.mark.parametrize("action", ACTIONS)
def test_nothing_changes_beside_a_row_that_cannot_be_read(store: Store, action: str) -> None:
    mine = pick(store, "m")
    (store.root / "m" / "rows" / f"{pick(store, 'm', 'bf16').key}.json").write_text("{")
    deed = (
        (lambda: row_edits.remove(store, mine))
        if action == "rm"
        else (lambda: row_edits.rename(store, mine, "new"))
    )
    with pytest.raises(StoreError, match="Nothing was changed, as trials may belong to it"):
        deed()
    assert done(store, "m", *SHARED, *OWN) == [True] * 4


def test_a_damaged_row_is_not_renamed(store: Store) -> None:
    (store.path("m", "hoc", OWN[0].hash) / "log.txt").write_text("other")
    with pytest.raises(StoreError, match="Nothing was renamed, as trials are damaged"):
        row_edits.rename(store, pick(store, "m"), "new")
    assert not (store.root / "new").exists()


@contextlib.contextmanager
def killed_at(step: int) -> Iterator[list[str]]:
    """From this step on nothing changes any more on disk, and the process is gone."""
    steps: list[str] = []

    def dying(name: str, deed: Callable[..., object]) -> Callable[..., object]:
        def act(*arguments: object, **more: object) -> object:
            steps.append(name)
            if len(steps) > step:
                raise Killed
            return deed(*arguments, **more)

        return act

    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    me = LeaseRecord.me()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            LeaseRecord, "me", lambda: replace(me, token=secrets.token_hex(16), pid=gone.pid)
        )
        for name in ("rename", "replace", "unlink", "mkdir", "write_bytes"):
            patch.setattr(Path, name, dying(name, getattr(Path, name)))
        for name in ("rmtree", "copytree"):
            patch.setattr(shutil, name, dying(name, getattr(shutil, name)))
        with contextlib.suppress(Killed):
            yield steps


@pytest.mark.costly
@pytest.mark.parametrize("action", ACTIONS)
def test_a_kill_at_any_step_leaves_a_store_that_can_be_read_and_finished(
    store: Store, tmp_path: Path, action: str
) -> None:
    whole = Store(tmp_path / "whole")
    shutil.copytree(store.root, whole.root)
    ACTIONS[action](whole)
    for step in itertools.count():
        part = Store(tmp_path / f"part{step}")
        shutil.copytree(store.root, part.root)
        with killed_at(step) as steps:
            ACTIONS[action](part)
        part = Store(part.root)
        there = names(part)
        assert {("m", "bf16"), ("n", "fp32")} <= set(there), steps
        assert done(part, "m", *SHARED) == [True, True], steps
        assert done(part, "n", trial("gad", 1)) == [True], steps
        if action == "rename":  # under one name or the other, nothing of it is lost
            old, new = (done(part, model, *SHARED, *OWN) for model in ("m", "new"))
            assert (all(old) and ("m", "fp32") in there) or (
                all(new) and ("new", "fp32") in there
            ), steps
        if ("m", "fp32") in there:
            ACTIONS[action](part)
        assert names(part) == names(whole)
        assert {path.relative_to(part.root) for path in part.trial_folders()} == {
            path.relative_to(whole.root) for path in whole.trial_folders()
        }
        if len(steps) <= step:  # it was not killed any more
            break
    assert step > 5
