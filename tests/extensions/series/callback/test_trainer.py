"""The callback in a real training: scores reach a real TensorBoard and a stand-in with the rule of W&B."""

import json
import logging
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForMaskedLM,
    AutoTokenizer,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from blurb.extensions.series.callback.trainer import BlurbCallback, _Running
from blurb.messages.errors import BlurbError
from tests.conftest import Builder

Train = Callable[..., Any]


@pytest.fixture
def train(tmp_path: Path, checkpoint: Builder) -> Train:
    """Trains a tiny encoder for six steps, and saves it every two."""

    def run(callback: Any, report_to: list[str], limit: int | None = None) -> Any:
        folder = checkpoint("bert_uncased")
        tokenizer = AutoTokenizer.from_pretrained(folder)
        torch.manual_seed(0)
        model = AutoModelForMaskedLM.from_pretrained(folder)
        ids = tokenizer("a cell and a gene", return_tensors="pt")["input_ids"][0]
        arguments = TrainingArguments(
            str(tmp_path / "bert"), max_steps=6, save_steps=2, logging_steps=1, use_cpu=True, seed=1,
            save_total_limit=limit, report_to=["tensorboard"] if "tensorboard" in report_to else [], disable_tqdm=True,
        )  # fmt: skip
        trainer = Trainer(
            model=model, args=arguments, train_dataset=[{"input_ids": ids, "labels": ids}] * 64,
            processing_class=tokenizer, callbacks=[callback],
        )  # fmt: skip
        arguments.report_to = report_to
        trainer.train()
        return trainer

    return run


def _callback(tmp_path: Path, **given: Any) -> Any:
    options = {
        "suite": "demo",
        "protocol": "smoke",
        "output": tmp_path / "runs",
        "device": "cpu",
        **given,
    }
    return BlurbCallback("biosses,gad", **options)


class Wandb(ModuleType):
    """A run that ignores what is logged at a step below the last one, as W&B does."""

    def __init__(self) -> None:
        super().__init__("wandb")
        self.run = self
        self.step = 0
        self.axes: dict[str, str | None] = {}
        self.history: list[dict[str, float]] = []

    def define_metric(self, name: str, step_metric: str | None = None) -> None:
        self.axes[name] = step_metric

    def log(self, values: dict[str, float], step: int | None = None) -> None:
        if step is not None and step < self.step:
            return
        self.step = self.step + 1 if step is None else step
        self.history.append(values)


@pytest.mark.costly
def test_scores_reach_both_trackers_after_training_went_on(
    tmp_path: Path, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    wandb = Wandb()
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    wandb.log({"loss": 1.0}, step=1_000)  # the training is far ahead
    callback = _callback(tmp_path, every=4)
    train(callback, ["tensorboard", "wandb"], limit=1)
    assert list(callback.scores) == [4]  # rotated away before it was scored, and kept all the same
    assert {"biosses", "gad", "mean", "gad-loss"} <= callback.scores[4].keys()
    assert wandb.axes == {"blurb/step": None, "blurb/*": "blurb/step"}
    assert [entry["blurb/step"] for entry in wandb.history[1:]] == [4]
    assert wandb.history[1]["blurb/gad"] == callback.scores[4]["gad"]
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    (events,) = {path.parent for path in (tmp_path / "bert" / "runs").rglob("events.*")}
    (point,) = EventAccumulator(str(events)).Reload().Scalars("blurb/mean")
    assert (point.step, point.value) == (4, pytest.approx(callback.scores[4]["mean"], abs=1e-3))
    assert not list((tmp_path / "runs" / ".queue").iterdir())


@pytest.mark.costly
def test_the_training_is_what_it_would_be_without(tmp_path: Path, train: Train) -> None:
    first = train(_callback(tmp_path, where="now", every=6), []).model.state_dict()

    second = train(TrainerCallback(), []).model.state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_a_dataset_that_failed_and_a_tracker_that_is_not_known_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    callback = _callback(tmp_path)
    answer = (tmp_path / "answer.json").open("w+")
    answer.write(json.dumps({"scores": {"gad": 70.0}, "failed": "biosses: out of memory"}))
    process = subprocess.Popen([sys.executable, "-c", ""], text=True)
    with caplog.at_level(logging.WARNING, "blurb.extensions.series.callback.trainer"):
        callback._finish(
            SimpleNamespace(report_to=["azure_ml"]), _Running(4, process, answer, tmp_path / "kept")
        )
        callback._open(SimpleNamespace(report_to=["azure_ml"]))
    assert callback.scores == {4: {"gad": 70.0}}
    assert "Step 4 has no mean: biosses: out of memory" in caplog.text
    assert caplog.text.count("azure_ml gets no scores: blurb writes to") == 1


def test_what_fails_is_told_and_the_training_goes_on(
    tmp_path: Path, train: Train, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = ModuleType("wandb")
    broken.run = None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wandb", broken)
    callback = _callback(tmp_path, every=6, protocol="no-such-protocol")
    with caplog.at_level(logging.WARNING, "blurb.extensions.series.callback.trainer"):
        trainer = train(callback, ["wandb"])
    assert trainer.state.global_step == 6
    assert not callback.scores
    assert "wandb gets no scores: no run of wandb is active" in caplog.text
    assert "Step 6 has no score: " in caplog.text
    assert "no-such-protocol" in caplog.text


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"every": 0}, "every must be at least 1"),
        ({"where": "later"}, "where 'queue' or 'now'"),
        ({"output": "file"}, "a file is in the way of the store"),
        ({"tokenizer": object()}, "Options of BlurbCallback are texts, numbers, paths or lists"),
    ],
)
def test_options_are_looked_at_before_the_training(
    given: dict[str, Any], told: str, here: Path
) -> None:
    (here / "file").touch()
    with pytest.raises(BlurbError, match=told):
        _callback(here, **given)


def test_two_trainings_of_one_name_share_a_store(tmp_path: Path) -> None:
    """The folders in which their checkpoints wait must not be one: a training would get the scores of the other."""
    kept = []
    for name in ("A", "B"):
        folder = tmp_path / name / "out" / "checkpoint-5"
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_text(name)
        callback = _callback(tmp_path)
        callback.name = "org/out"
        kept.append(callback._kept(folder, 5))
    assert [(folder / "model.safetensors").read_text() for folder in kept] == ["A", "B"]


def test_a_checkpoint_that_cannot_be_kept_costs_no_training(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    callback = _callback(tmp_path)
    state = SimpleNamespace(is_world_process_zero=True, global_step=5)
    with caplog.at_level(logging.WARNING, "blurb.extensions.series.callback.trainer"):
        callback.on_save(
            SimpleNamespace(output_dir=str(tmp_path / "gone"), report_to=[]), state, None
        )
    assert "Step 5 has no score: FileNotFoundError" in caplog.text


def test_a_process_that_cannot_begin_costs_no_training(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    callback = _callback(tmp_path)
    callback._waiting.extend([(5, tmp_path / "no" / "folder"), (6, tmp_path / "nor" / "this")])
    with caplog.at_level(logging.WARNING, "blurb.extensions.series.callback.trainer"):
        callback._turn(SimpleNamespace(report_to=[]), wait=True)
    assert [f"Step {step} has no score" in caplog.text for step in (5, 6)] == [True, True]


def test_a_device_of_torch_is_an_option(tmp_path: Path) -> None:
    assert _callback(tmp_path, device=torch.device("cpu")).request["trials"] == {
        "device": "cpu",
        "suite": "demo",
    }


def test_the_mean_is_over_the_datasets_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store may have more of the row; a mean over these would jump from one step to the next."""
    from blurb.extensions.series.callback import queued
    from tests.extensions.series.test_series import made_row

    row = made_row("out@5", {"gad": [60.0], "hoc": [70.0], "biosses": [20.0]})
    monkeypatch.setattr("blurb.run", lambda *given, **more: SimpleNamespace(failed=[], rows=[row]))
    request = {
        "reference": "x",
        "name": "out@5",
        "protocol": "sketch",
        "output": "runs",
        "split": "dev",
        "trials": {},
    }
    scores, failed = queued.score({**request, "tasks": "gad,hoc"})
    assert (scores["mean"], failed) == (65.0, "")
    assert set(scores) == {"gad", "hoc", "mean", "gad-loss", "hoc-loss"}
    assert "mean" not in queued.score({**request, "tasks": "gad,ddi"})[0]


def test_only_so_many_checkpoints_wait(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Each keeps its files: without a bound `save_total_limit` would be without effect on the disk."""
    callback = _callback(tmp_path, most=2)
    callback._running = SimpleNamespace(process=SimpleNamespace(poll=lambda: None), step=0)
    for step in range(1, 5):
        (tmp_path / "out" / f"checkpoint-{step}").mkdir(parents=True)
        state = SimpleNamespace(is_world_process_zero=True, global_step=step)
        callback.on_save(
            SimpleNamespace(output_dir=str(tmp_path / "out"), report_to=()), state, None
        )
    assert [step for step, _ in callback._waiting] == [1, 2]
    assert len(list((tmp_path / "runs" / ".queue").iterdir())) == 2
    assert "Step 3 is not scored: 2 checkpoints wait already; raise `every`." in caplog.text


@pytest.mark.costly
def test_the_scoring_process_ends_with_its_training(tmp_path: Path, checkpoint: Builder) -> None:
    """Killed, a training left a process that took memory and cores of the next one."""
    script = (
        "import time; from types import SimpleNamespace; from pathlib import Path\n"
        "from blurb.extensions.series.callback.trainer import BlurbCallback\n"
        f"callback = BlurbCallback('gad', suite='demo', protocol='quick', device='cpu', output={str(tmp_path)!r})\n"
        f"callback._running = callback._start(1, Path({str(checkpoint('bert_uncased'))!r}))\n"
        "print(callback._running.process.pid, flush=True); time.sleep(60)\n"
    )
    training = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    scoring = Path("/proc") / training.stdout.readline().strip()
    assert scoring.is_dir()
    time.sleep(4)  # until it watches
    training.kill()
    training.wait()
    limit = time.monotonic() + 20
    while (
        scoring.is_dir()
        and "Z" not in (scoring / "stat").read_text().split()[2]
        and time.monotonic() < limit
    ):
        time.sleep(0.2)
    assert time.monotonic() < limit
