"""The cache: what it counts, what it removes, and that several processes may do it at once."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from blurb.cli import cli
from blurb.inputs.features import Features, Ragged
from blurb.inputs.tokenized_split import cached_features
from blurb.messages.errors import BlurbError, UnknownName
from blurb.system import cache
from tests.cli.in_process import ran


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BLURB_HOME", str(tmp_path))
    (tmp_path / "features").mkdir()
    (tmp_path / "features" / "a.npz").write_bytes(b"x" * 1000)
    (tmp_path / "demo" / "0123").mkdir(parents=True)
    (tmp_path / "demo" / "0123" / "train.tsv").write_bytes(b"x" * 500)
    (tmp_path / "mine").mkdir()
    return tmp_path


def test_usage_counts_entries_and_bytes(folder: Path) -> None:
    found = {one.kind: (one.entries, one.size) for one in cache.usage()}
    empty = dict.fromkeys(
        ("vectors", "scratch", "models", "trials", "intervals", "downloads", "verdicts"), (0, 0)
    )
    assert found == {"features": (1, 1000), "demo": (1, 500), **empty}


def test_clear_takes_what_is_named_and_nothing_else(folder: Path) -> None:
    assert "0.0 MB freed" in ran(["cache", "clear", "features", "--yes"]).output
    assert os.listdir(folder / "features") == []
    assert (folder / "demo" / "0123" / "train.tsv").exists()
    ran(["cache", "clear", "--yes"])
    assert os.listdir(folder / "demo") == []
    assert (folder / "mine").exists()


def test_clear_asks_and_knows_its_kinds(folder: Path) -> None:
    assert CliRunner().invoke(cli, ["cache", "clear"], input="n\n").exit_code == 1
    assert (folder / "features" / "a.npz").exists()
    with pytest.raises(UnknownName, match="Did you mean 'features'"):
        CliRunner().invoke(cli, ["cache", "clear", "feature"], catch_exceptions=False)


def test_features_may_be_asked_for_while_the_cache_is_emptied(folder: Path) -> None:
    features = Features(ids=Ragged.of([[1, 2]]), example_index=np.array([0]))

    def ask(number: int) -> bool:
        if number % 3 == 0:
            cache.clear("features")
        return bool(cached_features({"n": number % 4}, lambda: features).ids[0].tolist() == [1, 2])

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(ask, range(200)))


@pytest.mark.parametrize("home", [None, "/proc"])
def test_no_home_is_one_sentence_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    monkeypatch.delenv("BLURB_HOME")

    def none(*_: object, **__: object) -> str:
        if home is None:
            raise RuntimeError("could not determine the home directory")
        return f"{home}/.cache"

    monkeypatch.setattr("platformdirs.user_cache_dir", none)
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(
        BlurbError, match=r"There is no cache folder: .* Set BLURB_HOME to a folder of yours"
    ):
        cache.cache_home()
