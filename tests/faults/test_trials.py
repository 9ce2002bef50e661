"""Trials that cannot end well: the others go on, and the reason is told."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.commands import blurb
from tests.faults.sweep import left, sentence, sweep

HEADS = """
import torch

from blurb.heads.linear import Linear


class Raises(Linear):
    def loss(self, features, targets, mask):
        raise ValueError("a head that raises")


class NotFinite(Linear):
    def loss(self, features, targets, mask):
        return super().loss(features, targets, mask) * float("nan")


class TooLarge(Linear):
    fits = 0

    def loss(self, features, targets, mask):
        if len(features) > self.fits:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return super().loss(features, targets, mask)


class FitsHalf(TooLarge):
    fits = 8
"""


@pytest.mark.costly
@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("Raises", "a head that raises"),
        ("NotFinite", "not finite"),
        ("TooLarge", "Out of memory for a single input"),
    ],
)
def test_a_trial_that_fails_is_told_and_the_others_are_run(
    head: str, reason: str, tmp_path: Path
) -> None:
    folder = tmp_path / "here"
    (tmp_path / "heads.py").write_text(HEADS)
    models = ("scratch:tiny", "baseline:majority")
    code, said = blurb(sweep("--head", f"{tmp_path}/heads.py:{head}", models=models), folder)
    assert code == 1, said
    assert reason in sentence(said)
    assert said.count("Failed: ") == 3
    assert len(list(folder.glob("runs/baseline-majority/*/*/DONE.json"))) == 3
    assert len(list(folder.glob("runs/scratch-tiny/*/*.failed.json"))) == 3
    assert [path for path in left(folder) if not path.name.endswith(".failed.json")] == []
    results = (folder / "runs" / "results.csv").read_text()
    assert "baseline:majority" in results
    assert "scratch:tiny" not in results


@pytest.mark.costly
def test_a_batch_that_does_not_fit_is_halved(tmp_path: Path) -> None:
    """Too little memory costs time, as long as one example fits."""
    (tmp_path / "heads.py").write_text(HEADS)
    code, said = blurb(
        sweep("--head", f"{tmp_path}/heads.py:FitsHalf", models=("scratch:tiny",)),
        tmp_path / "here",
    )
    assert code == 0, said


@pytest.mark.costly
def test_a_hub_that_never_answers(tmp_path: Path) -> None:
    """It takes the connection and is silent: the command gives up, and says what was asked for."""
    with socket.create_server(("127.0.0.1", 0)) as hub:
        asked = {
            "HF_ENDPOINT": f"http://127.0.0.1:{hub.getsockname()[1]}",
            "HF_HUB_OFFLINE": "0",
            "HF_HUB_ETAG_TIMEOUT": "1",
            "HF_HUB_DOWNLOAD_TIMEOUT": "1",
        }
        done = subprocess.run(
            [sys.executable, "-m", "blurb", *sweep(models=("org/encoder",))],
            cwd=tmp_path,
            text=True,
            env={**os.environ, **asked, "HF_HOME": str(tmp_path / "hub")},
            capture_output=True,
            timeout=300,
        )
    assert done.returncode == 2
    assert "org/encoder" in sentence(done.stderr)
    assert not (tmp_path / "runs").exists()
