"""`--checkpointing on` is refused before anything is written where it cannot be, and is nothing to a baseline."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import BertModel

from blurb.messages.errors import BlurbError
from blurb.planning import trials
from blurb.planning.options import RunOptions
from blurb.planning.request import make_request
from tests.conftest import Builder


def _asked(store: Path, model: str) -> list[str]:
    options = RunOptions(
        model=model,
        suite="demo",
        tasks="gad",
        protocol="smoke",
        output=store,
        device="cpu",
        checkpointing="on",
    )
    return [job.checkpointing for job in trials.prepare(make_request(options)[0]).final]


def test_it_is_refused_before_anything_is_written(
    checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = str(checkpoint("bert_uncased"))
    assert _asked(tmp_path / "runs", model) == ["on"]
    monkeypatch.setattr(BertModel, "supports_gradient_checkpointing", False)
    with pytest.raises(BlurbError, match=r"--checkpointing on: bert_uncased does not support it"):
        _asked(tmp_path / "runs", model)
    assert not (tmp_path / "runs").exists()


def test_a_baseline_runs_as_it_would(tmp_path: Path) -> None:
    assert _asked(tmp_path / "runs", "baseline:bilstm") == ["auto"]
