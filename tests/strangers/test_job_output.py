"""Names of strangers in the output of a job: the runner of GitHub reads lines, its pages read Markdown."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from blurb import names
from blurb.cli import cli
from blurb.messages.errors import SettingsError
from blurb.messages.text import escape_controls
from blurb.results import tables
from blurb.store.store import Store
from tests.results.played import play

HOSTILE = [
    "::add-mask::secret",
    " ::stop-commands::x",
    "##[error]x",
    "[click](http://e.example/m) ![i](http://e.example/i.png) @me",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_no_command_of_a_runner_and_no_markdown(name: str, tmp_path: Path) -> None:
    """GitHub's runner takes a line for a command that begins so; a summary shows links, pictures and mentions."""
    store = Store(tmp_path / "runs")
    for model, share in (("old", 0.9), ("new", 0.4)):
        play(store, model, {"gad": share})
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    table = tmp_path / "results.csv"
    rows = list(csv.reader(table.read_text(encoding="utf-8").splitlines()))
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [[name if cell == "new" else cell for cell in row] for row in rows]
        )
    summary = tmp_path / "s.md"
    for words in (
        [
            "check",
            f"{table}:{escape_controls(name)}",
            "--baseline",
            f"{table}:old",
            "--summary",
            str(summary),
            "--max-drop",
            "5",
        ],
        ["compare", f"{table}:{escape_controls(name)}", f"{table}:old"],
        ["leaderboard", "show", "--output", str(tmp_path / "none"), "--results", str(table)],
    ):
        output = CliRunner().invoke(cli, words).output
        assert re.search("mask|stop|error|click", output), output
        assert [
            line for line in output.splitlines() if re.match(r"\s*(::(add|stop)|##\[)", line)
        ] == []
    assert not re.search(
        r"(?<!\\)\[|(?<!\w)@\w|http://", summary.read_text(encoding="utf-8").replace("[x]", "")
    )


def test_a_name_of_ones_own_may_not_be_such_a_command() -> None:
    for name in HOSTILE[:3]:
        with pytest.raises(SettingsError, match="must not begin with :: or ##"):
            names.check(name, "The model name")
    names.check("a::b", "The model name")
