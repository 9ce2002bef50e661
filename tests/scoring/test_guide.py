"""The scripts of docs/score.md run as they stand there."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from blurb.corpora import demo
from tests.cli.in_process import blurb, done
from tests.conftest import ROOT, Builder

PAGE = ROOT / "docs" / "score.md"


def script(name: str) -> str:
    found = re.search(
        rf"<!-- {re.escape(name)} -->\n```python\n(.*?)```",
        PAGE.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    return found[1]


def ran(folder: Path, name: str, task: str, *arguments: str) -> float:
    asked = ["data", "export", "--suite", "demo", "--tasks", task, "--out", "exported"]
    assert blurb(asked, folder)[0] == 0
    (folder / name).write_text(script(name), encoding="utf-8")
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, name, *arguments, "exported", str(demo.prepare())],
        cwd=folder, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return float(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_a_trainer(checkpoint: Builder, tmp_path: Path) -> None:
    score = ran(tmp_path, "trainer.py", "gad", str(checkpoint("bert_uncased")))
    out = done(["leaderboard", "show", "--datasets", "--format", "csv"], tmp_path)
    assert "my-trainer" in out
    assert 0.0 <= score <= 100.0


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("spacy") is None, reason="spaCy is not installed: pip install spacy"
)
def test_a_pipeline_of_spacy(tmp_path: Path) -> None:
    assert ran(tmp_path, "pipeline.py", "ncbi-disease") > 50.0  # the demo corpus is easy
