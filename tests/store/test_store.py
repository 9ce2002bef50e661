"""A trial is done if and only if DONE.json is there and agrees; a schema is told before any lease."""

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from blurb.messages.errors import StoreError
from blurb.store import row_trials as rows
from blurb.store.record import read_predictions, read_spec, write_predictions
from blurb.store.store import FILES, OWNERS, SCHEMA_FILE, Store
from blurb.system import leases
from tests.cli.in_process import run
from tests.rewriting import edit
from tests.store.fakes import finish, row, stored, trial


@pytest.mark.parametrize("name", [*FILES, "DONE.json"])
def test_a_changed_or_missing_file_makes_a_trial_undone(store: Store, name: str) -> None:
    path = finish(store, "m", trial(), 0.5)
    assert store.is_done(path)
    with (path / name).open("ab") as file:
        file.write(b" x")
    assert not store.is_done(path)
    path = finish(store, "m", trial(seed=2), 0.5)
    (path / name).unlink()
    assert not store.is_done(path)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_neither_there_nor_listed_is_damage(store: Store, name: str) -> None:
    path = finish(store, "m", trial(), 0.5)
    edit(path / "DONE.json", lambda done: done["sha256"].pop(name))
    (path / name).unlink()
    assert store.damage(path) == [name]


def test_an_error_while_writing_leaves_nothing(store: Store) -> None:
    path = store.path("m", "gad", "ab" * 8)

    def interrupted() -> None:
        with store.writing(path) as aside:
            (aside / "spec.json").write_text("{}")
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        interrupted()
    assert list(path.parent.iterdir()) == []


def test_a_trial_without_all_files_is_not_sealed(store: Store) -> None:
    with (
        pytest.raises(StoreError, match=r"metrics\.json"),
        store.writing(store.path("m", "gad", "ab" * 8)),
    ):
        pass


def test_what_was_written_is_read_back(store: Store) -> None:
    planned = trial()
    record = store.read(finish(store, "org/model:x", planned, 0.25))
    assert record.trial == planned
    assert record.score("test") == 0.25
    assert record.score("test", baseline=True) == 0.2


def test_deep_json_is_damage_and_not_a_traceback(store: Store) -> None:
    path = finish(store, "m", trial(), 0.5)
    (path / "DONE.json").write_text("[" * 100_000)
    assert store.damage(path) == ["DONE.json"]
    (path / "spec.json").write_text("[" * 100_000)
    with pytest.raises(StoreError, match=r"spec\.json: cannot be read"):
        read_spec(path)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A finished trial in a store."""
    return finish(Store(tmp_path / "runs"), "m", trial(), 0.5)


def new(place: Path, text: str) -> Path:
    """Files of the same trial in a temporary folder, told apart by their log."""
    aside = place.with_name(f".{place.name}.0f.new")
    shutil.copytree(finish(Store(place.parents[3] / "other"), "m", trial(), 0.5), aside)
    (aside / "log.txt").write_text(text)
    return aside


def test_a_finished_trial_of_another_stays_unless_it_is_to_be_replaced(place: Path) -> None:
    store = Store(place.parents[2])
    theirs = (place / "log.txt").read_bytes()
    aside = new(place, "mine")
    assert not store.put(aside, place)
    assert (place / "log.txt").read_bytes() == theirs
    assert store.put(aside, place, replace=True)
    assert (place / "log.txt").read_text() == "mine"
    assert list(place.parent.iterdir()) == [place]


@pytest.mark.parametrize("there", ["damaged", "empty", "nothing"])
def test_what_is_not_finished_is_replaced(place: Path, there: str) -> None:
    store = Store(place.parents[2])
    for path in place.iterdir() if there != "damaged" else [place / "DONE.json"]:
        path.unlink()
    if there == "nothing":
        place.rmdir()
    assert store.put(new(place, "mine"), place)
    assert store.is_done(place)
    assert list(place.parent.iterdir()) == [place]


def test_a_trial_that_another_put_there_meanwhile_is_put_back(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was damaged when this process looked, and whole when it moved it away."""
    store = Store(place.parents[2])
    theirs = (place / "log.txt").read_bytes()
    looks = iter([False])
    is_done = store.is_done
    monkeypatch.setattr(store, "is_done", lambda path: next(looks, True) and is_done(path))
    assert not store.put(new(place, "mine"), place)
    assert (place / "log.txt").read_bytes() == theirs


class Killed(BaseException):
    """Ends a process in a test."""


@contextlib.contextmanager
def killed_at(step: int) -> Iterator[None]:
    """From this rename on nothing changes any more on disk."""
    rename, rmtree = Path.rename, shutil.rmtree
    renames = 0

    def renamed(self: Path, target: Path) -> Path:
        nonlocal renames
        renames += 1
        if renames > step:
            raise Killed
        return rename(self, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "rename", renamed)
        patch.setattr(
            shutil,
            "rmtree",
            lambda *given, **more: None if renames > step else rmtree(*given, **more),
        )
        with contextlib.suppress(Killed):
            yield


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("step", range(5))
def test_a_kill_at_any_rename_of_a_replacement_is_put_right_by_the_next(
    place: Path, step: int, whole: bool
) -> None:
    """The first rename finds something there, the second moves that away, the third is the last."""
    store = Store(place.parents[2])
    old = (place / "log.txt").read_bytes()
    if not whole:
        (place / "metrics.json").unlink()
    aside = new(place, "mine")
    with killed_at(step):
        store.put(aside, place, replace=whole)
    assert place.exists() is (step != 2)
    store.clean(place)
    if step >= 3:
        assert (place / "log.txt").read_text() == "mine"
    elif whole or step < 2:
        assert (place / "log.txt").read_bytes() == old
        assert store.is_done(place) is whole
    assert place.exists() is (whole or step != 2)
    assert [path for path in place.parent.iterdir() if path != place] == []


def test_who_lost_the_lease_puts_nothing_there(place: Path) -> None:
    store = Store(place.parents[2])
    theirs = (place / "log.txt").read_bytes()
    aside = new(place, "mine")
    with leases.held(store.lease(place)) as lease:
        store.lease(place).unlink()
        with leases.held(store.lease(place)):
            with pytest.raises(leases.Lost):
                store.put(aside, place, lease, replace=True)
            assert (place / "log.txt").read_bytes() == theirs
            assert aside.exists()


def test_a_replacement_that_fails_leaves_the_old_trial_in_its_place(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk refuses the last of the three renames."""
    store = Store(place.parents[2])
    theirs = (place / "log.txt").read_bytes()
    aside = new(place, "mine")
    rename = Path.rename

    def refused(self: Path, target: Path) -> Path:
        if self == aside:
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(OSError, match="Input/output error"):
        store.put(aside, place, replace=True)
    assert (place / "log.txt").read_bytes() == theirs
    assert sorted(place.parent.iterdir()) == sorted([place, aside])


@pytest.mark.parametrize("lacks", ["split", "gold", "id"])
def test_predictions_without_a_column_are_damage(lacks: str, tmp_path: Path) -> None:
    columns = {name: ["a"] for name in ("split", "id", "gold") if name != lacks}
    write_predictions(tmp_path / "predictions.parquet", columns)
    with pytest.raises(StoreError, match=r"predictions\.parquet: cannot be read: .*" + lacks):
        read_predictions(tmp_path / "predictions.parquet", ("id", "gold"), "test")


def files(root: Path) -> set[str]:
    """Everything below a folder."""
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store with a finished row."""
    return stored(tmp_path / "runs", "m").root


@pytest.mark.parametrize("begins", ["a row", "a trial", "a lease"])
def test_whatever_is_written_first_makes_the_store_one_of_this_schema(
    begins: str, store: Store
) -> None:
    assert not store.root.exists()
    if begins == "a row":
        rows.write(store, row("m", trial()))
    elif begins == "a trial":
        finish(store, "m", trial(), 0.5)
    else:
        with store.locked():
            pass
    assert json.loads((store.root / SCHEMA_FILE).read_text()) == {"schema": 1}


COMMANDS = (
    "leaderboard show",
    "runs",
    "rescore",
    "gc",
    "status",
    "check m --baseline m",
    "worker",
    "retry",
    "errors m",
)


@pytest.mark.extensions
@pytest.mark.parametrize("command", COMMANDS)
def test_a_store_of_before_is_refused_with_the_script_that_rewrites_it(
    command: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root.parent)
    (root / SCHEMA_FILE).unlink()
    before = files(root)
    result = run(*command.split())
    text = str(result.exception)
    assert isinstance(result.exception, StoreError)
    assert "\n" not in text
    assert text.startswith("runs: a store of before schema 1")
    assert "python -m benchmarks.to_schema_1" in text
    assert files(root) == before


def test_two_versions_refuse_each_others_stores_before_any_lease(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = tmp_path / "newer"
    empty = Store(newer)  # before the other version began it
    with monkeypatch.context() as other:
        other.setattr("blurb.store.store.SCHEMA", 2)
        with pytest.raises(StoreError, match="no schema version of a store"):
            Store(root)
        stored(newer, "m")
    before = files(newer)
    refused = "newer: a store of schema version 2; this version of blurb reads 1; update blurb"
    with pytest.raises(StoreError, match=refused):
        Store(newer)
    with pytest.raises(StoreError, match=refused), empty.locked():
        pass
    with pytest.raises(StoreError, match=refused), empty.aside(newer / "m" / "gad" / ("0" * 16)):
        pass
    with pytest.raises(StoreError, match=refused):
        rows.write(empty, row("n", trial()))
    assert files(newer) == before


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"schema": "1"}', '{"schema": true}', '{"schema": 0}']
)
def test_a_marker_that_says_nothing_is_no_schema(content: str, root: Path) -> None:
    (root / SCHEMA_FILE).write_text(content)
    with pytest.raises(StoreError, match=r"store\.json"):
        Store(root)


@pytest.mark.parametrize("name", ["results.csv", "store.json", "org/leaderboard.CSV"])
def test_no_model_has_the_folder_of_a_file(name: str, tmp_path: Path) -> None:
    store = stored(tmp_path, name)
    assert [one.model for one in rows.read(store)] == [name]
    assert not any(
        path.is_dir() and path.suffix.lower() in (".csv", ".json") and "%" not in path.name
        for path in tmp_path.iterdir()
    )
    assert store.folder(name) == Store(tmp_path).folder(name)


@pytest.mark.parametrize(
    "content", ["", '{"models": ["m"', "{}", '{"models": "m"}', '{"models": ["m"], "owner": "n"}']
)
def test_a_folder_whose_owners_cannot_be_read_is_not_taken_for_nobodys(
    content: str, tmp_path: Path
) -> None:
    """Its rows were looked for in another folder, and had no trial."""
    for model in ("m", "n"):
        stored(tmp_path, model)
    (tmp_path / "m" / OWNERS).write_text(content)
    store = Store(tmp_path)
    for look in (store.folder, store.claim):
        with pytest.raises(StoreError, match=r"models\.json: .*remove this file"):
            look("m")
    told: list[str] = []
    assert [each.model for each in rows.read(store, lambda error: told.append(str(error)))] == ["n"]
    assert [each.count("Its row is left out") for each in told] == [1]
    (tmp_path / "m" / OWNERS).unlink()
    store.claim("m")
    assert store.owners("m") == {"m"}


def test_a_file_in_the_place_of_a_trial_is_damage(tmp_path: Path) -> None:
    store, place = Store(tmp_path), tmp_path / "m" / "gad" / ("0" * 16)
    place.parent.mkdir(parents=True)
    place.touch()
    assert [(path, store.damage(path)) for path in store.hash_folders()] == [(place, ["DONE.json"])]
