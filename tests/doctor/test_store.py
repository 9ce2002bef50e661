"""What the doctor finds in stores: one broken thing of each kind, and all of them at once."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from blurb import tasks
from blurb.corpora import demo
from blurb.cost import estimator
from blurb.doctor import Fault, examine
from blurb.execution import sweeps
from blurb.execution.job import Job
from blurb.planning import trials
from blurb.results import tables
from blurb.store import plugins, row_contents, row_trials as rows
from blurb.store.record import read_spec
from blurb.store.store import Store
from blurb.system import leases
from blurb.system.files import write_json
from tests.conftest import Builder
from tests.planning.requests import request
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
    assert (report.problems, report.facts["running"]) == ([], 1)


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
    assert (report.problems, report.facts["rows"]) == ([], 2)


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
    assert problem.what == "not a table of blurb, as columns are missing: schema."


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


# What the doctor finds in open sweeps: whatever keeps this machine from running their trials.


@pytest.fixture
def jobs(checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Trials of an encoder and a baseline, with files of their own; no encoder may be run."""
    monkeypatch.delattr(estimator, "time_step")
    folder = Path(shutil.copytree(checkpoint("bert_uncased"), tmp_path / "mine"))
    data = Path(shutil.copytree(demo.prepare(), tmp_path / "data"))
    asked = request(
        tmp_path / "runs", folder, "baseline:majority", tasks_="gad,biosses", data=data, seeds=2
    )
    return list(trials.prepare(asked).final)


def problems(jobs: list[Job]) -> list[Fault]:
    """What is said of a store with nothing but this sweep."""
    sweeps.write(jobs[0].store, jobs)
    report = examine(jobs[0].store)
    assert (report.kind, report.facts["sweeps"]) == ("store", 1)
    return list(report.problems)


def test_nothing_is_wrong_where_all_is_as_planned(jobs: list[Job], tmp_path: Path) -> None:
    assert problems(jobs) == []
    report = examine(tmp_path / "runs")
    assert report.facts["trials_of_sweeps"] == len(jobs) == 6  # a baseline has one seed
    for job in jobs:
        with Store(job.store).locked():
            Store(job.store).claim(job.source.name)
    finish(Store(tmp_path / "runs"), "mine", jobs[0].trial, 0.5)
    assert examine(tmp_path / "runs").facts["trials_of_sweeps"] == 5


def test_a_store_without_sweeps_says_nothing_of_them(tmp_path: Path, jobs: list[Job]) -> None:
    store = Store(tmp_path / "runs")
    with store.locked():
        store.claim("mine")
    finish(store, "mine", jobs[0].trial, 0.5)
    assert "sweeps" not in examine(tmp_path / "runs").facts


def test_places_that_this_machine_does_not_see_are_told_once_each(
    jobs: list[Job], tmp_path: Path
) -> None:
    for name in ("mine", "data"):
        shutil.rmtree(tmp_path / name)
    data, model = sorted(problems(jobs), key=lambda one: one.where)
    assert (data.where, model.where) == (str(tmp_path / "data"), str(tmp_path / "mine"))


def test_a_checkpoint_that_is_another_one(jobs: list[Job], tmp_path: Path) -> None:
    rewrite(tmp_path / "mine" / "config.json", hidden_dropout_prob=0.2)
    (found,) = problems(jobs)
    assert found.where == str(tmp_path / "mine")
    assert found.what.startswith("the weights or the configuration of mine have changed")


def test_another_tokenizer(jobs: list[Job]) -> None:
    changed = [
        replace(job, source=replace(job.source, tokenizer="0" * 64))
        for job in jobs
        if job.source.tokenizer
    ]
    (found,) = problems(changed)
    assert found.what.startswith("The trial is of the weights")


def test_data_that_is_other_data_and_data_that_cannot_be_read(
    jobs: list[Job], tmp_path: Path
) -> None:
    gad, biosses = (tmp_path / "data" / tasks.get(name).files["dev"] for name in ("gad", "biosses"))
    gad.write_bytes(b"\n".join(gad.read_bytes().split(b"\n")[:-2]) + b"\n")
    biosses.write_text("nothing that was expected\n")
    found = {one.where: one for one in problems(jobs)}
    assert len(found) == 2
    assert "changed since the trials were planned (gad)" in found[str(tmp_path / "data")].what
    assert any(where.startswith(str(biosses)) for where in found)


def test_devices_and_precisions_that_are_not_here(jobs: list[Job]) -> None:
    encoders, others = jobs[:4], jobs[4:]
    changed = [replace(job, device="cuda:77") for job in encoders[:3]]
    changed += [replace(job, trial=replace(job.trial, precision="fp16")) for job in encoders[3:]]
    # These need none
    first, second = problems([*changed, *(replace(job, device="cuda:77") for job in others)])
    assert "cuda:77 is not available" in first.what
    assert "fp16 needs a GPU" in second.what


def test_files_of_plug_ins(jobs: list[Job], tmp_path: Path) -> None:
    gone = {kind: {"mine": tmp_path / "head.py"} for kind in list(plugins.typed())[:1] or ["heads"]}
    (found,) = problems([replace(job, plugins=gone) for job in jobs])
    assert (found.where, found.what) == (
        str(tmp_path / "head.py"),
        "The file of a plug-in is not visible here.",
    )


def test_a_sweep_that_cannot_be_read_is_named_and_the_others_are_looked_at(
    jobs: list[Job], tmp_path: Path
) -> None:
    folder = sweeps.write(tmp_path / "runs", jobs[:1])[0]
    (folder / sweeps.JOBS).write_text("{}")
    sweeps.write(tmp_path / "runs", jobs[1:])
    shutil.rmtree(tmp_path / "mine")
    report = examine(tmp_path / "runs")
    assert report.facts["sweeps"] == 2
    assert [
        str(folder) in report.problems[0].where + report.problems[0].what,
        len(report.problems),
    ] == [True, 2]
