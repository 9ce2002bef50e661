"""The commands of docs/large-models.md run, with a tiny decoder and the demo suite."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from blurb.results import from_store
from blurb.store.store import Store
from tests.cli.in_process import done
from tests.conftest import ROOT, Builder
from tests.learners.test_large_models import others as others

PAGE = ROOT / "docs" / "large-models.md"
RUN = ["--suite", "demo", "--tasks", "ncbi-disease,gad,biosses", "--protocol", "smoke"]


@pytest.mark.costly
def test_its_commands_run(checkpoint: Builder, others: Path, tmp_path: Path) -> None:
    decoder = str(checkpoint("llama"))
    named = {"Qwen/Qwen3-Embedding-0.6B": decoder, "ORG/BASE": decoder, "./adapter": str(others)}
    lines = re.findall(r"^    (blurb .*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(lines) == 5
    for line in lines:
        words = [named.get(word, word) for word in shlex.split(line)[1:]]
        if words[0] == "run":
            words = [word for word in words if word not in ("--data", "DATA")] + RUN
        if "--base" in words and words[0] == "run":
            words += ["--pooling", "last"]
        done(words, tmp_path)
    rows = from_store.read(Store(tmp_path / "runs"))
    overrides = {tuple(sorted(row.configuration.overrides.items())) for row in rows}
    assert overrides == {
        (("adapter", "lora"), ("pooling", "last")),
        (("adapter", "lora"), ("attention", "bidirectional"), ("pooling", "mean")),
        (("pooling", "last"),),
    }
    assert len({row.weights for row in rows}) == 2
