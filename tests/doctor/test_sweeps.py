"""What the doctor finds in open sweeps: whatever keeps this machine from running their trials."""

from __future__ import annotations

import json
import shutil
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
from blurb.store import plugins
from blurb.store.store import Store
from tests.conftest import Builder
from tests.planning.requests import request
from tests.store.fakes import finish


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
    assert report.kind == "store"
    assert report.facts["sweeps"] == 1
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
    config = tmp_path / "mine" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "hidden_dropout_prob": 0.2}))
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
    first, second = problems(
        [*changed, *(replace(job, device="cuda:77") for job in others)]
    )  # these need none
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
