"""Every benchmark can be started: its modules are imported, as nothing else of the tests needs them."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import benchmarks
from benchmarks.scale.driver import PHASES
from blurb.cli import cli
from blurb.store import index

ROOT = Path(benchmarks.__path__[0])
MODULES = sorted(ROOT.rglob("*.py"))
OPTIONAL = {
    "ray",
    "matplotlib",
    "spacy",
    "torchcrf",
    "seqeval",
    "pytorch_crf",
    "nltk",
    "playwright",
}
"""Libraries that a benchmark of its own may need."""


@pytest.mark.parametrize("file", MODULES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_module_is_imported(file: Path) -> None:
    """Also of programs, which run nothing when they are imported."""
    name = ".".join(("benchmarks", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        pytest.skip(f"{error.name} is not installed")


def test_a_store_of_scale_is_read_through_an_index_that_the_first_view_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one, each `show`, `runs` and `export` read all trials from their folders again."""
    PHASES["driver"](tmp_path, 65)
    PHASES["fill"](tmp_path, 65)
    monkeypatch.setenv("BLURB_HOME", str(tmp_path / "home"))
    runs, read = tmp_path / "runs", index.read_folder
    for words in (["leaderboard", "show", "--no-intervals"], ["runs"], ["export", "markdown"]):
        shutil.rmtree(tmp_path / "home" / "trials", ignore_errors=True)
        typed = [*words, "--output", str(runs)]
        outputs = []
        for _ in range(2):
            outputs.append(CliRunner().invoke(cli, typed, catch_exceptions=False).output)
            assert list((tmp_path / "home" / "trials").glob("*.sqlite")), words
            monkeypatch.setattr(index, "read_folder", lambda *_: pytest.fail("a folder was read"))
        monkeypatch.setattr(index, "read_folder", read)
        assert outputs[0] == outputs[1]
