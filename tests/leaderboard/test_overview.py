"""The tables of `blurb leaderboard show` at the widths of real terminals."""

import re
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from blurb.cli import cli
from blurb.leaderboard.overview import (
    beside_means,
    datasets,
    has_skill,
    overview_table,
    without_means,
)
from blurb.leaderboard.ranking import entry, in_parts
from blurb.results import published
from blurb.results.score import DatasetScores
from blurb.store.store import Store
from blurb.tasks import TYPES
from tests.results import invented
from tests.results.invented import ranked
from tests.store.fakes import stored, trial

MINE = ranked(
    "biomedical-encoder-large-step-120000 quick@2 head=crf",
    {
        "score": 78.1234,
        "blurb-12": 75.5,
        **dict.fromkeys(TYPES, 88.888),
        "gad": 77.0,
        "my-task": 12.5,
    },
    {"score": 1.0, "blurb-12": 1.0},
)
CAPPED = replace(
    ranked("capped", {"gad": 77.0}),
    row=replace(
        invented.row("capped"),
        datasets={"gad": DatasetScores("gad", means={"test": 77.0}, facts={"max_eval": "9"})},
    ),
)


def printed(*tables: object, width: int) -> str:
    text = StringIO()
    console = Console(file=text, width=width)
    for table in tables:
        console.print(table)
    return text.getvalue()


@pytest.mark.parametrize("width", [80, 100, 120])
def test_numbers_are_whole_at_every_width(width: int) -> None:
    entries = [MINE, *(entry(row) for row in published.shipped())]
    text = printed(overview_table(in_parts(entries, "score")), width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "78.12 ±1.0" in text
    assert text.count("88.89") == 6
    assert "…" not in text
    for heading in ("score", "blurb-12", "NER", "PICO", "RE", "STS", "Doc", "QA"):
        assert heading in text


def test_columns_that_nobody_has_are_left_out() -> None:
    row = ranked("m", {"blurb-12": 60.0, "gad": 77.0}, {"gad": 1.0})
    text = printed(overview_table(in_parts([row], "gad"), "gad"), width=80)
    assert "score" not in text
    assert "77.00 ±1.0" in text


@pytest.mark.parametrize("width", [80, 120])
def test_datasets_have_scores_and_skill(width: int) -> None:
    rows = [MINE, CAPPED, *[MINE] * 6]
    tables = datasets(rows, width)
    text = printed(*tables, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert len(tables) == 2
    assert text.count("77.00   33 %") == 7  # (77.00 - 72.76) / (85.44 - 72.76)
    assert text.count("77.00") == 8
    assert "my-task" in text
    assert [has_skill(row) for row in rows[:2]] == [True, False]


def test_just_below_the_floor_is_no_minus_zero() -> None:
    assert "72.75    0 %" in printed(*datasets([ranked("m", {"gad": 72.75})], 80), width=80)


def test_figures_that_no_mean_has_are_known() -> None:
    assert beside_means(MINE) == ["my-task"]  # gad is in the mean of the relations
    assert not without_means(MINE)
    partly = ranked("m", {"similarity": 16.6, "biosses": 16.6, "gad": 72.5})
    assert beside_means(partly) == ["gad"]
    assert not without_means(partly)
    assert without_means(ranked("m", {"gad": 72.5}))
    assert not beside_means(ranked("nothing", {}))


def test_names_above_columns_end_at_signs() -> None:
    named = [
        ranked(name, {"gad": 77.0}) for name in ("baseline:majority demo", "checkpoint-12000 probe")
    ]
    words = printed(*datasets(named, 80), width=80).split()
    assert {"baseline:", "majority", "demo", "checkpoint-", "12000", "probe"} <= set(words)


def command(store: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool) -> str:
    runner = CliRunner(env={"COLUMNS": "80" if terminal else "", "LINES": "40", "TERM": "dumb"})
    with runner.isolation():
        stream = type(sys.stdout)
    monkeypatch.setattr(stream, "isatty", lambda self: terminal)
    arguments = [
        "leaderboard",
        "show",
        "--output",
        str(store),
        "--no-published",
        "--no-intervals",
        "--sort",
        "gad",
    ]
    result = runner.invoke(cli, arguments)
    assert result.exit_code == 0
    return result.stdout


def test_columns_is_obeyed_where_there_is_no_terminal_and_no_word_is_broken(tmp_path: Path) -> None:
    """`| less` and logs of 80 columns broke what was written for 109 in the middle of words."""
    runner = CliRunner(env={"COLUMNS": "80"})
    stored(Store(tmp_path), "own", trial(), score=0.8)
    text = runner.invoke(
        cli, ["leaderboard", "show", "--datasets", "--no-intervals", "--output", str(tmp_path)]
    ).stdout
    assert max(map(len, text.splitlines())) <= 80
    names = {row.model for row in published.shipped()}
    joined = text.replace(" ", "")
    pieces = {piece for name in names for piece in re.findall(r"[^-/ ]+[-/]?", name)}
    assert len(pieces) > 15
    assert [piece for piece in pieces if piece not in joined] == []


def test_skill_below_zero_is_told_without_a_number(store: Store) -> None:
    """-995 % shouts louder than a score, and says nothing more."""
    stored(store, "lost", trial(), score=0.1)
    typed = [
        "leaderboard",
        "show",
        "--output",
        str(store.root),
        "--no-published",
        "--no-intervals",
        "--datasets",
    ]
    text = CliRunner().invoke(cli, typed, catch_exceptions=False).stdout
    assert "10.00  < 0 %" in text
    assert not re.search(r"-\d+ %", text)


def test_a_note_of_many_rows_is_said_once_and_wraps_at_words(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in range(1, 13):
        stored(store, f"checkpoint-{step}000", trial(weights=str(step).ljust(64, "0")), score=0.8)
    text = command(store.root, monkeypatch, terminal=False)
    assert text.count("a note") == 1
    (line,) = (line for line in text.splitlines() if "a note" in line)
    assert line.count("checkpoint-") == 12
    text = command(store.root, monkeypatch, terminal=True)
    assert max(map(len, text.splitlines())) <= 80
    *_, note = text.partition("checkpoint-1000 quick lr=0.001, ")
    assert not {line.rpartition(" ")[2] for line in note.splitlines()} & {"checkpoint-", "check"}
    assert " ".join(note.split()).endswith("checkpoint-12000 quick lr=0.001: a note; one seed.")


def test_rows_of_ones_own_come_before_the_published_ones(store: Store) -> None:
    """A row that has no mean stood below fourteen rows of others, and its figure below that."""
    stored(store, "my-tagger", trial(learner="external"), score=0.8)
    typed = ["leaderboard", "show", "--output", str(store.root), "--no-intervals"]
    text = CliRunner().invoke(cli, typed, catch_exceptions=False).output
    assert (
        text.index("my-tagger")
        < text.index("80.00")
        < text.index("BioLinkBERT-large")
        < text.index("BERT cased")
    )
    assert text.index("my-tagger", text.index("rank row")) < text.index("BioLinkBERT-large")
    stored(store, "mine", score=0.7)
    text = CliRunner().invoke(cli, [*typed, "--sort", "gad"], catch_exceptions=False).output
    assert max(text.index("mine"), text.index("my-tagger")) < text.index("BERT cased")
