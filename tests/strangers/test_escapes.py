"""Tables, rows and messages of strangers show no terminal their control characters (SECURITY.md)."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest

from blurb import names
from blurb.cli import _exit, cli
from blurb.messages.errors import SettingsError
from blurb.messages.text import escape_controls
from blurb.results import tables
from blurb.store.store import Store
from blurb.terminal import output
from tests.cli.in_process import run
from tests.results.played import play

NAME = "\x1b]0;OWNED\x07\x1b[31mred\x9b\u202e"
SHOWN = r"\x1b]0;OWNED\x07\x1b[31mred\x9b\u202e"
BAD = "\x1b\x07\x9b\u202e"


@pytest.fixture
def table(made: Path, here: Path) -> Path:
    """A results.csv in which a stranger's model has such a name."""
    text = (made / "results.csv").read_text(encoding="utf-8")
    Path("results.csv").write_text(text.replace("baseline:majority", NAME), encoding="utf-8")
    Path("ours.csv").write_text(text, encoding="utf-8")
    assert NAME in Path("results.csv").read_text(encoding="utf-8")
    return Path("results.csv")


@pytest.mark.parametrize(
    "command",
    [
        ["leaderboard", "show", "--results", "results.csv"],
        ["leaderboard", "show", "--results", "results.csv", "--format", "csv"],
        ["leaderboard", "show", "--results", "results.csv", "--format", "json"],
        ["leaderboard", "html", "--results", "results.csv", "--out", "page.html"],
        ["leaderboard", "validate", "results.csv"],
        ["compare", "results.csv:no-such-row", "results.csv"],
        ["compare", "results.csv", "ours.csv"],
        ["check", "results.csv:no-such-row", "--baseline", "ours.csv"],
        ["doctor", "results.csv"],
        ["leaderboard", "merge", "results.csv", "ours.csv", "--out", "merged"],
        ["leaderboard", "merge", "results.csv", "--leaderboard", "merged.csv"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_no_command_prints_or_writes_them(
    command: list[str], table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(*command)
    told = found.output + str(found.exception)
    assert not set(BAD) & set(told), told
    for path in Path().glob("*"):
        if path.name != "results.csv" and path.is_file():
            assert not set(BAD) & set(path.read_text(encoding="utf-8")), path


def test_an_error_and_a_table_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def main(**given: object) -> None:
        raise SettingsError(f"There is no model {NAME}.")

    monkeypatch.setattr(cli, "main", main)
    assert _exit.run(cli) == 2
    assert SHOWN in capsys.readouterr().err
    stream = io.StringIO()
    stream.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stdout", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    output.print_rows(("name", "note"), [(NAME, NAME)], "table")
    output.make_console().print(NAME)
    assert SHOWN in stream.getvalue()
    assert not {"\x1b]", "\x1b[31m", "\x07", "\x9b", "\u202e"} & set(
        re.findall(r"\x1b.(?:31m)?|\W", stream.getvalue())
    )


def test_a_reason_of_a_failure_is_shown_so(made: Path, here: Path) -> None:
    """A store says why a trial failed, and who runs another."""
    shutil.copytree(made / "runs", "runs")
    (trial,) = Path("runs").glob("baseline-majority/gad/*/")
    shutil.rmtree(trial)
    Path(f"{trial}.failed.json").write_text(
        json.dumps({"message": f"because {NAME}"}), encoding="utf-8"
    )
    for command in (
        ["status"],
        ["doctor", "runs"],
        ["runs", "show", "baseline:majority"],
        ["retry"],
    ):
        found = run(*command)
        assert not set(BAD) & set(found.output), (command, found.output)


# Names of strangers in the output of a job: the runner of GitHub reads lines, its pages read Markdown.


HOSTILE = [
    "::add-mask::secret",
    " ::stop-commands::x",
    "##[error]x",
    "[click](http://e.example/m) ![i](http://e.example/i.png) @me",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_no_command_of_a_runner_and_no_markdown(
    name: str, store: Store, tmp_path: Path
) -> None:
    """GitHub's runner takes a line for a command that begins so; a summary shows links, pictures and mentions."""
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
        output = run(*words).output
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
