"""`--output` and `--leaderboard` that lead to what is neither a store nor a table: one error, and nothing changes."""

import os
from pathlib import Path

import pytest

from blurb.messages.errors import BlurbError, DataError
from blurb.system.files import write_whole
from tests.cli.in_process import run

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    os.mkfifo("pipe")
    Path("device").symlink_to("/dev/zero")
    Path("nowhere").symlink_to("/nowhere/at/all")
    Path("folder").mkdir()
    Path("file").touch()
    return folder


@pytest.mark.parametrize(
    ("option", "place", "message"),
    [
        *(("--output", name, "cannot write to") for name in ("pipe", "device", "file", "nowhere")),
        *(
            ("--leaderboard", f"{name}/a.csv", "cannot write to")
            for name in ("pipe", "device", "file", "nowhere")
        ),
        *(
            ("--leaderboard", name, "and no table; choose another --leaderboard")
            for name in ("pipe", "device", "folder")
        ),
    ],
)
def test_places_that_cannot_be_written(places: Path, option: str, place: str, message: str) -> None:
    before = sorted(places.rglob("*"))
    done = run("run", "baseline:majority", "--suite", "demo", "--tasks", "gad", option, place)
    assert isinstance(done.exception, BlurbError), done.output
    assert message in str(done.exception)
    assert sorted(places.rglob("*")) == before


@pytest.mark.parametrize("name", ["pipe", "device"])
def test_a_pipe_or_device_is_never_replaced_by_a_file(places: Path, name: str) -> None:
    """The rename at the end of every writing would have put a file in the place of /dev/null."""
    before = sorted(places.rglob("*"))
    with pytest.raises(DataError, match="cannot be written: this is no ordinary file"):
        write_whole(Path(name), b"x")
    assert sorted(places.rglob("*")) == before
    assert not Path(name).is_file()
