"""`--track`: what a tracker is told, that it changes nothing, and that it breaks nothing."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import tracking as accelerated
from accelerate.tracking import GeneralTracker
from accelerate.utils import LoggerType
from click.testing import CliRunner

from blurb.cli import cli
from blurb.messages.errors import SettingsError
from blurb.store.record import read_predictions
from blurb.store.store import read_json
from blurb.training import tracking
from tests.rewriting import csv_lines

RUN = [
    "run",
    "scratch:tiny",
    "--suite",
    "demo",
    "--protocol",
    "smoke",
    "--tasks",
    "gad",
    "--set",
    "epochs=2",
]


class Fake(GeneralTracker):
    """Stands for wandb: remembers what it is told, and rolls every dice there is."""

    name = "wandb"
    requires_logging_directory = False
    told: list[tuple[str, Any]]
    fails_at = ""

    def __init__(self, run_name: str, **kwargs: Any) -> None:
        super().__init__()
        self.tell("init", (run_name, kwargs))

    def tell(self, what: str, value: Any) -> None:
        self.told.append((what, value))
        random.random()
        np.random.random()
        torch.rand(7)
        if what == self.fails_at:
            raise RuntimeError("no connection")

    @property
    def tracker(self) -> None:
        return None

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        self.tell("settings", values)

    def log(self, values: dict[str, Any], step: int | None = None, **kwargs: Any) -> None:
        self.tell("log", (step, values))

    def finish(self) -> None:
        self.tell("finish", None)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[Fake]:
    """accelerate then takes this class for an installed wandb."""
    monkeypatch.setattr(Fake, "told", [], raising=False)
    monkeypatch.setitem(accelerated.LOGGER_TYPE_TO_CLASS, "wandb", Fake)
    monkeypatch.setattr(tracking, "find_spec", lambda name: name)
    monkeypatch.setattr(accelerated, "_available_trackers", [LoggerType.WANDB])
    return Fake


def run(folder: Path, *arguments: str) -> Path:
    """Runs one trial; its folder."""
    tables = ["--output", str(folder / "runs"), "--leaderboard", str(folder / "leaderboard.csv")]
    result = CliRunner().invoke(cli, [*RUN, *tables, *arguments])
    if isinstance(result.exception, SettingsError):
        raise result.exception
    assert result.exit_code == 0, result.output
    (done,) = folder.glob("runs/scratch-tiny/gad/*/DONE.json")
    return done.parent


@pytest.mark.costly
def test_a_tracker_is_told_of_epochs_and_figures_and_changes_nothing(
    tmp_path: Path, fake: type[Fake]
) -> None:
    plain = run(tmp_path / "plain")
    assert fake.told == []  # off by default
    tracked = run(tmp_path / "tracked", "--track", "wandb")
    assert tracked.name == plain.name  # no part of the identity
    for name in ("predictions.parquet", "metrics.json", "spec.json"):
        assert (tracked / name).read_bytes() == (plain / name).read_bytes()
    assert [what for what, _ in fake.told] == ["init", "settings", "log", "log", "log", "finish"]
    assert fake.told[0][1] == ("blurb", {"name": "scratch-tiny/gad/1"})
    settings = fake.told[1][1]
    assert (settings["epochs"], settings["seed"], settings["trial"]) == (2, 1, tracked.name)
    history = csv_lines(tracked / "history.csv")
    for (step, values), line in zip([value for _, value in fake.told[2:4]], history, strict=True):
        assert step == int(line["epoch"])
        assert values == {name: float(line[name]) for name in ("loss", "learning_rate", "dev")}
    step, values = fake.told[4][1]
    metrics = read_json(tracked / "metrics.json")["test"]
    assert (step, values) == (2, {f"test/{name}": value for name, value in metrics.items()})


@pytest.mark.costly
@pytest.mark.parametrize("where", ["init", "settings", "log", "finish"])
def test_a_tracker_that_fails_is_a_warning(tmp_path: Path, fake: type[Fake], where: str) -> None:
    fake.fails_at = where
    try:
        with pytest.warns(
            UserWarning,
            match="wandb failed; the trial continues without it: RuntimeError: no connection",
        ):
            path = run(tmp_path, "--track", "wandb")
    finally:
        fake.fails_at = ""
    assert [what for what, _ in fake.told].count(where) == 1  # it is not asked again
    assert "no connection" in (path / "log.txt").read_text()
    assert read_predictions(path / "predictions.parquet")["prediction"]


def test_a_failed_trial_ends_its_run(tmp_path: Path, fake: type[Fake]) -> None:
    tables = [
        "--output",
        str(tmp_path / "runs"),
        "--leaderboard",
        str(tmp_path / "leaderboard.csv"),
    ]
    result = CliRunner().invoke(
        cli, [*RUN, *tables, "--set", "weight_decay=1e30", "--track", "wandb"]
    )
    assert result.exit_code == 1
    assert [what for what, _ in fake.told][-1] == "finish"


def test_a_missing_package_is_told_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "find_spec", lambda name: None)
    for name in tracking.TRACKERS:
        with pytest.raises(SettingsError, match=f"pip install {name} accelerate"):
            run(tmp_path, "--track", name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.costly
def test_tensorboard_holds_the_curve(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    path = run(tmp_path, "--track", "tensorboard")
    folder = tmp_path / "runs" / tracking.FOLDER / "scratch-tiny" / "gad" / f"1-{path.name[:8]}"
    events = EventAccumulator(str(folder))
    events.Reload()
    losses = [float(line["loss"]) for line in csv_lines(path / "history.csv")]
    assert [event.value for event in events.Scalars("loss")] == pytest.approx(losses)
    (final,) = events.Scalars("test/f1")
    assert final.value == pytest.approx(
        json.loads((path / "metrics.json").read_text())["test"]["f1"]
    )
