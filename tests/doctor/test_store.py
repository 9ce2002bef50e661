"""What the doctor finds in stores: one broken thing of each kind, and all of them at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from blurb.doctor import examine
from blurb.results import tables
from blurb.store import row_contents, row_trials as rows
from blurb.store.record import read_spec
from blurb.store.store import Store
from blurb.system import leases
from blurb.system.files import write_json
from tests.rewriting import rewrite
from tests.store.fakes import finish, row, trial

FIRST, SECOND, THIRD = trial("gad", 1), trial("gad", 2), trial("hoc", 1)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = Store(tmp_path / "runs")
    with found.locked():
        found.claim("m")
    for planned in (FIRST, SECOND, THIRD):
        finish(found, "m", planned, 0.5)
    rows.write(found, row("m", FIRST, SECOND, THIRD, trial("ddi", 1)))
    return found


def place(store: Store, which: object = FIRST) -> Path:
    return store.path("m", which.task, which.hash)  # type: ignore[attr-defined]


def _predictions(store: Store) -> Path:
    (place(store) / "predictions.parquet").write_bytes(b"x")
    return place(store)


def _metrics(store: Store) -> Path:
    (place(store, SECOND) / "metrics.json").unlink()
    return place(store, SECOND)


def _other_spec(store: Store) -> Path:
    renamed = place(store, THIRD).with_name("0" * 16)
    place(store, THIRD).rename(renamed)
    return renamed


def _unknown_task(store: Store) -> Path:
    path = finish(store, "m", trial("gad", 3), 0.5)
    write_json(path / "spec.json", {**json.loads((path / "spec.json").read_text()), "task": "gone"})
    store.seal(path)
    target = path.parent.with_name("gone") / read_spec(path).hash
    target.parent.mkdir()
    return path.rename(target)


def _older_metrics(store: Store) -> Path:
    path = finish(store, "m", trial("gad", 4), 0.5)
    rewrite(path / "metrics.json", metrics_version=-1)
    store.seal(path)
    return path


def _no_provenance(store: Store) -> Path:
    path = finish(store, "m", trial("gad", 5), 0.5)
    (path / "provenance.json").write_text("[]")
    store.seal(path)
    return path / "provenance.json"


def _row_file(store: Store) -> Path:
    path = store.root / "m" / "rows" / "0123456789ab.json"
    path.write_text("{")
    return path


def _no_spec(store: Store) -> Path:
    path = finish(store, "m", trial("gad", 6), 0.5)
    (path / "spec.json").unlink()
    return path


def _failed(store: Store) -> Path:
    path = store.path("m", "ddi", trial("ddi", 1).hash)
    path.parent.mkdir()
    write_json(row_contents.failure_of(path), {"message": "out of memory"})
    return path


def _killed(store: Store) -> Path:
    path = place(store).with_name(f".{FIRST.hash}.123.new")
    path.mkdir()
    (path / "log.txt").write_text("x" * 1_000_000)
    return path


BROKEN: dict[Callable[[Store], Path], tuple[str, str]] = {
    _predictions: ("predictions.parquet missing or damaged.", "Run its blurb run command again."),
    _metrics: ("metrics.json missing or damaged.", "blurb rescore repairs it."),
    _no_spec: ("spec.json missing or damaged.", "Run its blurb run command again."),
    _row_file: (
        "cannot be read",
        "Run its blurb run command again to rebuild it, without training.",
    ),
    _failed: (
        "The trial failed: out of memory.",
        "Run its blurb run command again. The traceback is in",
    ),
    _killed: ("A process that was killed left it (1.0 MB).", "blurb gc"),
    _unknown_task: ("There is no task called 'gone'", "plug-in"),
    _older_metrics: ("computed by metrics of another version", "blurb rescore"),
    _no_provenance: ("no JSON object", "Run its blurb run command again."),
}


def test_nothing_is_wrong_with_a_whole_store(store: Store) -> None:
    report = examine(store.root)
    assert (report.kind, report.problems) == ("store", [])
    assert [report.facts[name] for name in ("trials", "done", "to_run")] == [4, 3, 1]


@pytest.mark.parametrize("breaks", BROKEN, ids=lambda one: one.__name__)
def test_one_thing_is_wrong(store: Store, breaks: Callable[[Store], Path]) -> None:
    where = breaks(store)
    (problem,) = examine(store.root).problems
    what, fix = BROKEN[breaks]
    assert problem.where == str(where)
    assert what in problem.what
    assert fix in problem.fix


def test_a_folder_of_another_name(store: Store) -> None:
    where = _other_spec(store)
    (problem,) = examine(store.root).problems
    assert problem.where == str(where)
    assert "spec.json missing or damaged" in problem.what


@pytest.mark.parametrize(
    ("schema", "what", "fix"),
    [(None, "a store of before schema 1", "to_schema_1"), (9, "schema version 9", "Update blurb")],
)
def test_a_store_of_another_schema_is_one_problem(
    schema: int | None, what: str, fix: str, store: Store
) -> None:
    (store.root / "store.json").unlink()
    if schema is not None:
        write_json(store.root / "store.json", {"schema": schema})
    for path in (store.root, place(store)):
        (problem,) = examine(path).problems
        assert (what in problem.what, fix in problem.fix) == (True, True)


def test_all_of_it_at_once(store: Store) -> None:
    places = {str(breaks(store)) for breaks in BROKEN}
    assert {problem.where for problem in examine(store.root).problems} == places


def test_what_runs_is_not_wrong(store: Store) -> None:
    _killed(store)
    _predictions(store)
    with leases.held(store.lease(place(store))):
        report = examine(store.root)
    assert report.problems == []
    assert report.facts["running"] == 1


def test_one_trial(store: Store) -> None:
    assert examine(place(store)).problems == []
    _predictions(store)
    (problem,) = examine(place(store)).problems
    assert "predictions.parquet" in problem.what


@pytest.fixture
def written(store: Store, tmp_path: Path) -> Path:
    rows.write(store, row("n", FIRST))
    finish(store, "n", FIRST, 0.25)
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    return tmp_path


@pytest.mark.parametrize("name", ["results.csv", "leaderboard.csv"])
def test_tables_that_are_right(written: Path, name: str) -> None:
    report = examine(written / name)
    assert report.problems == []
    assert report.facts["rows"] == 2


def _alter(path: Path, line: int, change: Callable[[str], str]) -> None:
    lines = path.read_text().splitlines()
    lines[line - 1] = change(lines[line - 1])
    path.write_text("\n".join(lines) + "\n")


def test_every_wrong_line_of_a_table(written: Path) -> None:
    path = written / "results.csv"
    count = len(path.read_text().splitlines())
    lines = path.read_text().splitlines()
    _alter(path, 2, lambda line: line + ",more")
    _alter(path, 4, lambda line: line.replace("50.0000", "fifty"))
    with path.open("a") as file:
        file.write(lines[2] + "\n")  # line 3 once more
    problems = examine(path).problems
    assert {problem.where for problem in problems} == {
        f"{path}:2",
        f"{path}:4",
        f"{path}:{count + 1}",
    }
    told = {problem.where.rpartition(":")[2]: problem for problem in problems}
    assert "cells" in told["2"].what
    assert "must be a number (got 'fifty')" in told["4"].what
    assert told[str(count + 1)].fix == "Remove one."
    path.write_text("a,b\n1,2\n")
    (problem,) = examine(path).problems
    assert "schema version" in problem.what


def test_a_table_of_nothing_but_mistakes_ends(written: Path) -> None:
    path = written / "results.csv"
    line = path.read_text().splitlines()[1]
    with path.open("a") as file:
        file.writelines(f"{line},{number}\n" for number in range(100))
    problems = examine(path).problems
    assert len(problems) == 21
    assert problems[-1].what == "And 80 more of this file."


def test_looking_writes_nothing(written: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in written.rglob("*")}
    for name in ("runs", "results.csv", "leaderboard.csv"):
        examine(written / name)
    assert {path: path.stat().st_mtime_ns for path in written.rglob("*")} == before
