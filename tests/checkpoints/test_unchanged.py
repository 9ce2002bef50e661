"""Weights that are overwritten while trials wait are never counted as the old ones. Oracle: trials of each alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace as other
from pathlib import Path
from typing import Any

import pytest

import blurb
from blurb.checkpoints import Checkpoint, source as sources, weights
from blurb.checkpoints.source import check_unchanged
from blurb.execution import sweeps
from blurb.execution.job import Job
from blurb.execution.worker import execute_job
from blurb.learners import building
from blurb.messages.errors import ModelError
from blurb.planning import trials
from blurb.planning.options import RunOptions
from blurb.planning.request import make_request
from blurb.store.store import Store
from tests.checkpoints import State, build, reweigh
from tests.conftest import Builder
from tests.rewriting import rewrite

SMOKE: dict[str, Any] = {
    "suite": "demo",
    "protocol": "smoke",
    "tasks": "biosses",
    "device": "cpu",
    "progress": False,
}


@pytest.fixture
def moving(tmp_path: Path, checkpoint: Builder, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint to overwrite, and `other`, one of the same sizes."""
    import torch

    monkeypatch.setattr(sources, "_read_again", {})
    sources._encoders.clear()
    folder = shutil.copytree(checkpoint("bert_uncased"), tmp_path / "ck")
    torch.manual_seed(3)

    def moved(state: State) -> State:
        return {
            name: value + 0.1 * torch.randn_like(value) if value.is_floating_point() else value
            for name, value in state.items()
        }

    reweigh(folder / "model.safetensors", moved, to=tmp_path / "other.safetensors")
    return folder


def replace(folder: Path, how: str = "rename") -> None:
    """The other weights, in the place of those that are there."""
    target, other = folder / "model.safetensors", folder.parent / "other.safetensors"
    times = target.stat()
    if how == "rename":
        shutil.copy(other, folder / "new")
        (folder / "new").replace(target)
    else:
        target.write_bytes(other.read_bytes())
    if how == "same time":
        os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))


def planned(folder: Path, store: Path, seeds: int) -> Sequence[Job]:
    """The trials of a checkpoint, which nobody has run."""
    request, *_ = make_request(
        RunOptions(model=str(folder), output=store, name="a", seeds=seeds, **SMOKE)
    )
    return trials.prepare(request).final


@pytest.mark.parametrize("how", ["rename", "in place", "same time"])
def test_other_weights_are_seen(how: str, moving: Path) -> None:
    """The file has the same size each time."""
    source = building.resolve_model(str(moving))
    check_unchanged(source)
    check_unchanged(source)
    replace(moving, how)
    with pytest.raises(ModelError, match="have changed since"):
        check_unchanged(source)


def test_other_weights_are_seen_whatever_the_clock_of_the_disk_says(
    moving: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file server may be hours behind: what has just changed then looks old."""
    monkeypatch.setattr(sources, "YOUNG", -1e9)
    source = building.resolve_model(str(moving))
    check_unchanged(source)
    replace(moving)
    with pytest.raises(ModelError, match="have changed since"):
        check_unchanged(source)


def test_files_are_hashed_once_while_nothing_changes(
    moving: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = building.resolve_model(str(moving))
    monkeypatch.setattr(sources, "YOUNG", 0.0)
    check_unchanged(source)
    monkeypatch.setattr(weights, "file_hash", lambda *given: pytest.fail("hashed again"))
    check_unchanged(source)
    replace(moving)
    with pytest.raises(BaseException, match="hashed again"):
        check_unchanged(source)


@pytest.mark.costly
def test_trials_that_wait_stop_when_their_weights_are_overwritten(
    moving: Path, tmp_path: Path
) -> None:
    """The first trial is done with the old ones, the second is not run with the new ones; both models stand alone."""
    asked = {**SMOKE, "seeds": 2, "leaderboard": None}
    alone = (
        blurb.run(str(moving), output=tmp_path / "alone", name="a", **asked)
        .rows[0]
        .values("biosses")
    )
    jobs = planned(moving, tmp_path / "runs", seeds=2)
    folder = sweeps.write(tmp_path / "runs", jobs)[0]
    Store(tmp_path / "runs").claim("a")
    assert execute_job(jobs[0]).status == "done"
    replace(moving)
    outcome = execute_job(jobs[1])
    assert outcome.status == "failed"
    assert "have changed since its trials were planned" in outcome.message
    assert "Run the command again for the new ones, or put the old ones back." in outcome.message
    for job in sweeps.read(folder, ()):  # a worker that comes hours later
        assert execute_job(job).status in ("already done", "failed")
    first = Store(tmp_path / "runs").read(jobs[0].path).score("test")
    assert 100 * first == pytest.approx(alone[0], abs=1e-9)
    assert not jobs[1].path.exists()


def test_weights_that_change_while_they_are_loaded(
    moving: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, load = building.resolve_model(str(moving)), Checkpoint.load_encoder

    def slow(self: Checkpoint) -> object:
        replace(moving)
        return load(self)

    monkeypatch.setattr(Checkpoint, "load_encoder", slow)
    with pytest.raises(ModelError, match="have changed since"):
        sources.encoder_of(source)
    assert not sources._encoders


def test_a_sweep_under_another_hash_is_not_run(moving: Path, tmp_path: Path) -> None:
    """What a worker took without a look: trials of weights `fff...`."""
    (job,) = planned(moving, tmp_path / "runs", seeds=1)
    Store(tmp_path / "runs").claim("a")
    strange = other(job, trial=other(job.trial, weights="f" * 64))
    assert "The trial is of the weights ffffffffffff" in execute_job(strange).message
    both = other(strange, source=other(job.source, weights="f" * 64))
    assert "have changed since its trials were planned" in execute_job(both).message
    token = other(
        job,
        trial=other(job.trial, tokenizer="f" * 64),
        source=other(job.source, tokenizer="f" * 64),
    )
    assert "the tokenizer of a has changed" in execute_job(token).message


def test_another_configuration_or_tokenizer_is_seen(tmp_path: Path) -> None:
    folder = build("bert_uncased", tmp_path / "ck")
    source = building.resolve_model(str(folder))
    rewrite(folder / "config.json", hidden_act="relu")
    with pytest.raises(ModelError, match="the weights or the configuration"):
        check_unchanged(source)


def test_an_adapter_that_comes_into_the_folder_is_noticed(moving: Path) -> None:
    """transformers loads it, and the base model that it names, instead of the weights that are hashed."""
    source = building.resolve_model(str(moving))
    check_unchanged(source)
    (moving / "adapter_config.json").write_text(
        '{"base_model_name_or_path": "other", "peft_type": "LORA"}'
    )
    with pytest.raises(
        ModelError, match=r"adapter_config.json appeared after the trials of ck were planned"
    ):
        check_unchanged(source)
