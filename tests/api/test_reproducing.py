"""A trial that is run again gives the same predictions; what is another trial is refused."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from blurb import tasks
from blurb.api.reproducing import reproduce
from blurb.cli import cli
from blurb.corpora import demo
from blurb.execution.engines import here
from blurb.learners.building import resolve
from blurb.learners.kinds import bilstm
from blurb.messages.errors import SettingsError, StoreError
from blurb.planning import plan
from blurb.protocols import protocol
from blurb.results import references
from blurb.store.record import PREDICTIONS, Record, read_predictions, write_predictions
from blurb.store.store import Store
from blurb.system.files import read_json, write_json

MODEL = "baseline:bilstm,hidden=8,width=8"


@pytest.fixture(scope="module")
def data() -> Path:
    return demo.prepare()


@pytest.fixture(scope="module")
def made(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A finished trial."""
    request = plan.Request(
        sources=[resolve(MODEL)], tasks=[tasks.get("gad")], data=data, store=tmp_path_factory.mktemp("store"),
        protocol=protocol.load("smoke"), precision="fp32", suite="demo", overrides={"epochs": 2}, seeds=1,
    )  # fmt: skip
    planned = plan.prepare(request)
    plan.run([planned], here(), lambda outcome: None, lambda job, news: None)
    return references.trial(str(planned.final[0].path), request.store)


def files(record: Record) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in record.path.iterdir()}


def test_the_same_trial_gives_the_same_predictions(made: Record, data: Path) -> None:
    before = files(made)
    found = reproduce(made, MODEL, data)
    assert found.same
    assert [(one.split, one.units, one.differing) for one in found.splits] == [("dev", 64, 0), ("test", 64, 0)]
    assert all(one.stored == one.now == made.score(one.split) for one in found.splits)
    assert found.environment == {}
    assert files(made) == before


def test_a_prediction_that_differs_is_counted(made: Record, data: Path, tmp_path: Path) -> None:
    path = _copy(made, tmp_path)
    columns = read_predictions(path / PREDICTIONS)
    first = columns["split"].index("test")
    columns["prediction"][first] = "1" if columns["prediction"][first] == "0" else "0"
    write_predictions(path / PREDICTIONS, columns)
    content = read_json(path / "provenance.json")
    content["environment"]["torch"] = "1.0"
    write_json(path / "provenance.json", content)
    Store(path.parents[2]).seal(path)
    found = reproduce(references.trial(str(path), tmp_path), MODEL, data)
    assert [one.differing for one in found.splits] == [0, 1]
    assert not found.same
    assert found.environment["torch"][0] == "1.0"
    ran = CliRunner().invoke(cli, ["reproduce", str(path), MODEL, "--format", "json"])
    assert ran.exit_code == 1, ran.output
    assert [line["differing"] for line in json.loads(ran.stdout)] == [0, 1]


def test_another_model_data_or_recipe_is_refused(
    made: Record, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match="is another model than that of the trial"):
        reproduce(made, "baseline:bilstm", data)
    other = tmp_path / "data"
    demo.write(other)
    file = other / tasks.get("gad").files["test"]
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(SettingsError, match="has other data than that of the trial"):
        reproduce(made, MODEL, other)
    monkeypatch.setattr(bilstm, "LEARNER", dataclasses.replace(bilstm.LEARNER, recipe=7))
    with pytest.raises(SettingsError, match="recipe 1 of its learner, this version of blurb has 7"):
        reproduce(made, MODEL, data)


def test_a_trial_that_fails_now_says_why(made: Record, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> object:
        raise MemoryError("too little")

    monkeypatch.setattr("blurb.execution.worker.models.learner", fail)
    with pytest.raises(StoreError, match="failed this time: MemoryError: too little"):
        reproduce(made, MODEL, data)


def test_the_command_says_what_is_the_same(made: Record) -> None:
    ran = CliRunner().invoke(cli, ["reproduce", str(made.path), MODEL])
    assert ran.exit_code == 0, ran.output
    assert "All predictions are the same." in ran.stdout


def _copy(made: Record, folder: Path) -> Path:
    path = folder / "store" / Path(*made.path.parts[-3:])
    shutil.copytree(made.path, path)
    return path
