"""`blurb leaderboard html`: one file, whole or not at all."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from blurb.cli import cli
from blurb.results import published
from blurb.store.store import Store
from tests.extensions.reports.html import reading
from tests.results.played import play


def run(*arguments: str) -> tuple[int, str, BaseException | None]:
    result = CliRunner().invoke(cli, ["leaderboard", "html", "--out", *arguments])
    return result.exit_code, result.output, result.exception


def test_a_file_that_cannot_be_written_is_named_as_it_was_asked_for(tmp_path: Path) -> None:
    play(Store(tmp_path / "runs"), "mine", {"gad": 0.9}, seeds=(1,))
    code, _, error = run("/proc/x.html", "--output", str(tmp_path / "runs"), "--no-published")
    assert code == 1
    assert str(error).startswith("/proc/x.html: cannot be written: ")
    assert ".x.html" not in str(error)
    assert run(str(tmp_path / "x.html"), "--output", str(tmp_path / "runs"), "--no-published")[
        1
    ].endswith("x.html: 1 own row.\n")


def test_the_page_of_the_repository_is_sound() -> None:
    path = Path(__file__).parents[4] / "docs" / "results" / "leaderboard.html"
    text = path.read_text(encoding="utf-8")
    ranked, probes = (
        [one.text for one in table.children if one.attributes.get("scope") == "row"]
        for table in reading.Page(text).all("table", class_="main")
    )
    own = [
        one
        for one in ranked
        if one.startswith(("all-mpnet-base-v2", "all-MiniLM-L6-v2", "baseline:"))
    ]
    assert {f"all-MiniLM-L6-v2{name}" for name in ("quick@2", "sketch", "standard")} <= set(own)
    assert own[0] == "all-mpnet-base-v2quick@2"
    assert len(ranked) == len(own) + len(published.shipped())
    assert probes == ["all-MiniLM-L6-v2probe"]
    here = f"/{Path(__file__).resolve().parts[1]}/"  # of whoever draws it
    for place in ("/home/", "/root/", "/tmp/", "/Users/", here):
        assert place not in text
