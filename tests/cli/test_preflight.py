"""All that is wrong is told at once, before anything is planned, queued or written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from blurb.cli import cli
from blurb.corpora import demo
from blurb.errors import BlurbError, Findings, SettingsError, Several
from blurb.runs import sweeps

DEMO = ("--suite", "demo", "--protocol", "smoke")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["run", *arguments])


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_was_mistyped_and_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    typed = ("--data", "none", "--protocol", "quik", "--set", "epoch=3", "--engine", "sge", "--name", "x")
    found = run("./nowhere", "empty", *typed).exception
    assert isinstance(found, Several)
    texts = [str(error) for error in found.errors]
    for part in ("Did you mean 'epochs'", "no engine called 'sge'", "--name needs", "Did you mean 'quick'",
                 "none: the data folder", "nowhere does not exist", "empty: no config.json"):  # fmt: skip
        assert sum(part in text for text in texts) == 1, part
    assert len(texts) == 7
    assert str(found).splitlines()[0] == "7 things are wrong, and nothing was run:"
    assert str(found).splitlines()[1].startswith("  1. ")
    assert {path.name for path in tmp_path.iterdir()} == {"empty"}


def test_models_and_device(tmp_path: Path, checkpoint: Callable[[str], Path]) -> None:
    found = run(str(checkpoint("bert_cased")), "./a", "./b", *DEMO, "--device", "cuda:7").exception
    assert isinstance(found, Several)
    assert [text.split(" ")[0] for text in map(str, found.errors)] == ["--device", "The", "The"]


def test_what_does_not_go_together_is_told_once_for_each_task_and_not_for_each_seed() -> None:
    found = run("scratch:tiny", "baseline:majority", *DEMO, "--tasks", "gad,hoc,bc2gm", "--seeds", "3", "--head", "crf")
    assert isinstance(found.exception, Several)
    assert len(found.exception.errors) == 2
    assert all("does not support" in str(error) for error in found.exception.errors)


def test_one_thing_is_told_as_it_is() -> None:
    found = Findings()
    found.report()
    with found.gathered():
        raise SettingsError("one")
    with found.gathered():
        raise SettingsError("one")  # and once
    with pytest.raises(SettingsError, match=r"^one$"):
        found.report()
    with found.gathered():
        raise Several([BlurbError("two"), BlurbError("one")])
    with pytest.raises(Several) as several:
        found.report()
    assert [str(error) for error in several.value.errors] == ["one", "two"]


def test_data_of_others_is_told_before_it_is_used() -> None:
    data = demo.prepare()
    said = run(
        "baseline:majority", "--data", str(data), "--protocol", "smoke", "--tasks", "gad,hoc", "--dry-run"
    ).stderr
    assert "Not BLURB's data: gad, hoc." in said
    assert "Not BLURB's" not in run("baseline:majority", *DEMO, "--tasks", "gad,hoc", "--dry-run").stderr


@pytest.fixture
def begun(tmp_path: Path, checkpoint: Callable[[str], Path]) -> Path:
    """A sweep that nobody has run, whose checkpoint and data lie here."""
    demo.write(tmp_path / "data")
    (tmp_path / "model").symlink_to(checkpoint("bert_cased"))
    asked = ("model", "--data", "data", "--protocol", "smoke", "--tasks", "gad", "--precision", "fp32")
    assert run(*asked, "--engine", "slurm", "--print").exit_code == 0
    return tmp_path


def doctor() -> list[str]:
    found = json.loads(CliRunner().invoke(cli, ["doctor", "runs", "--format", "json"]).stdout)
    return [problem["what"] for problem in found["problems"]]


def test_the_doctor_says_what_keeps_a_sweep_from_this_machine(begun: Path) -> None:
    assert doctor() == []
    (begun / "data" / "GAD" / "train.tsv").write_text((begun / "data" / "GAD" / "dev.tsv").read_text())
    assert doctor() == [f"The data of gad in {begun / 'data'} is not that which the sweep began with."]
    (begun / "data").rename(begun / "elsewhere")
    (folder,) = sweeps.folders(begun / "runs")
    content = json.loads((folder / sweeps.JOBS).read_text())
    content["source"][0]["location"] = str(begun / "gone")
    content["jobs"][0]["device"] = "cuda:7"
    (folder / sweeps.JOBS).write_text(json.dumps(content))
    checkpoint, data, device = doctor()
    assert checkpoint == f"This machine does not see the checkpoint {begun / 'gone'}."
    assert data == f"This machine does not see the data in {begun / 'data'}."
    assert device.startswith("--device cuda:7 is not available")


def test_weights_that_are_others_now(begun: Path) -> None:
    (folder,) = sweeps.folders(begun / "runs")
    content = json.loads((folder / sweeps.JOBS).read_text())
    content["source"][0]["weights"] = "0" * 64
    (folder / sweeps.JOBS).write_text(json.dumps(content))
    (said,) = doctor()
    assert said.endswith("has other weights than when the sweep began.")


def test_a_worker_without_the_device_runs_nothing(begun: Path) -> None:
    found = CliRunner().invoke(cli, ["worker", "--device", "cuda:7"])
    assert "Nothing was run. --device cuda:7 is not available" in str(found.exception)
    assert list((begun / "runs").rglob("*.failed.json")) == []
