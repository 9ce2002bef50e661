"""The rows of a board in tables and on a page: the store's own figures, nothing above a verified row, their history."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import blurb
from blurb import metrics, tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.extensions.board import boards, ledger, listing
from blurb.extensions.board.ledger import Event, LedgerEntry
from blurb.extensions.board.listing import BoardFolder
from blurb.extensions.board.verification import Level
from blurb.extensions.reports.html.collect import collect
from blurb.extensions.reports.html.render import render
from blurb.messages.errors import DataError
from blurb.results import from_store
from blurb.results.comparability import Use
from blurb.store.store import Store
from tests.cli.in_process import blurb as command, done, failed, refused
from tests.extensions.board.test_verification import seal
from tests.rewriting import rewrite
from tests.scoring.test_forms import answers

VERIFY = ("leaderboard", "verify", "board", "--suite", "demo", "--record", "The board")
SETS = ("gad", "biosses", "hoc")


def submit(folder: Path, row: str, name: str) -> None:
    done(["leaderboard", "submit", "board", row, "--as", name, "--by", f"Group of {name}"], folder)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board with a tool, a baseline and a tool whose figures were edited, verified; and the store they are of."""
    folder = tmp_path_factory.mktemp("listed")
    for name, rate in (("good", 2), ("edited", 3)):
        for task in SETS:
            units = read_split(tasks.get(task), demo.prepare(), "test")
            for seed in (1, 2):
                found = answers(task, units)
                found[seed::rate] = found[seed - 1 :: rate][: len(found[seed::rate])]
                blurb.score(task, found, suite="demo", add=name, seed=seed, output=folder / "runs")
    blurb.run(
        "baseline:majority",
        tasks=",".join(SETS),
        suite="demo",
        output=folder / "runs",
        progress=False,
    )
    (folder / "board" / "rows").mkdir(parents=True)
    (folder / "board" / ledger.FILE).touch()
    for name in ("good", "edited", "baseline:majority"):
        done(
            [
                "export",
                "row",
                name,
                "--output",
                "runs",
                "--out",
                name[:4],
                *("--measured-by", "A {group} & co_", "--party", "first")[: 4 * (name == "good")],
            ],
            folder,
        )
    edit(folder / "edit", better)
    for name in ("good", "edit", "base"):
        submit(folder, name, name)
    assert command(VERIFY, folder)[0] == 1
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copy"))


def edit(row: Path, change: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads((row / "row.json").read_text())
    for run in content["runs"]:
        change(run)
    (row / "row.json").write_text(json.dumps(content))
    seal(row)


def better(run: dict[str, Any]) -> None:
    run["test"][run["metric"]] = 0.99


def of_an_older_version(run: dict[str, Any]) -> None:
    run["metrics_version"] = metrics.VERSION - 1
    run["test"][run["metric"]] /= 2


def rows(folder: Path) -> dict[str, listing.BoardListing]:
    return {each.scores.key: each for each in listing.read(folder / "board")}


def test_figures_are_those_of_the_store(made: Path) -> None:
    stored = next(row for row in from_store.read(Store(made / "runs")) if row.model == "good")
    row = rows(made)["good"].scores
    assert row.means() == stored.means()
    assert row.type_means() == stored.type_means()
    assert [row.values(task) for task in SETS] == [stored.values(task) for task in SETS]
    assert row.configuration == stored.configuration
    assert (row.weights, row.learner, row.recipe) == (stored.weights, stored.learner, stored.recipe)
    assert [row.datasets[task].metric for task in SETS] == [
        stored.datasets[task].metric for task in SETS
    ]
    assert all(row.comparable_with(stored, Use.COMPARE, task) is None for task in SETS)


def test_levels_are_those_of_the_ledger(folder: Path) -> None:
    assert {name: each.level for name, each in rows(folder).items()} == {
        "good": Level.RECOMPUTED, "edit": Level.CLAIMED, "base": Level.RECOMPUTED,
    }  # fmt: skip
    edit(folder / "board" / "rows" / "good", better)  # behind the ledger's back
    assert rows(folder)["good"].level is Level.CLAIMED


def test_nothing_stands_above_a_verified_row(made: Path) -> None:
    page = collect(Path("none"), title="Ours", listed=BoardFolder(made / "board"))
    (board,) = (
        board for board in page.boards if board.apart and "elsewhere" in board.apart.heading
    )
    assert [(entry.row.key, entry.verifier) for entry in board.entries] == [
        ("good", "The board"),
        ("edit", ""),
    ]
    text = render(page)
    assert not re.search(
        r'data-row="1".{0,2000}?class="star"', text[text.index("good") :], re.DOTALL
    )
    assert '<option value="by The board">verified by The board</option>' in text


def test_rows_of_a_board_come_before_published_ones(made: Path, tmp_path: Path) -> None:
    board = Path(shutil.copytree(made / "board", tmp_path / "board"))
    for row in ("good", "edit", "base"):
        rewrite(board / "rows" / row / "row.json", suite="blurb")
        seal(board / "rows" / row)
    found = collect(Path("none"), listed=BoardFolder(board))
    kinds = [{entry.kind for entry in part.entries} for part in found.boards]
    assert {"published"} in kinds or {"board", "published"} in kinds
    assert [kind == {"published"} for kind in kinds] == sorted(
        kind == {"published"} for kind in kinds
    )


def test_a_page_tells_history_signals_and_citation(made: Path) -> None:
    text = render(collect(Path("none"), title="Ours", listed=BoardFolder(made / "board")))
    for told in (
        "Group of edit: added", "The board: looked at, and not recomputed", "figure edited: gad, seed 1, f1 on test",
        "A {group} &amp; co_ (first party)", rows(made)["good"].manifest,
    ):  # fmt: skip
        assert told in text
    cited = rows(made)["good"].citation("Ours")
    assert "author = {{A  group    co\\_}}" in cited
    assert cited.count("{") == cited.count("}")


def test_a_table_tells_who_recomputed(made: Path) -> None:
    out = done(
        ["leaderboard", "show", "--board", "board", "--sort", "gad", "--format", "json"], made
    )
    notes = {row["row"].split()[0]: (row["best_rank"], row["note"]) for row in json.loads(out)}
    assert notes["good"][0] == 1
    assert notes["good"][1].startswith("recomputed by The board (20")
    assert notes["edited"][0] is None
    assert notes["edited"][1].startswith("claimed; not recomputed by The board (20")
    assert "is no board, as it has no ledger.jsonl" in refused(
        ["leaderboard", "show", "--board", "runs"], made
    )


def test_withdrawn_rows_stay_on_the_page(folder: Path) -> None:
    withdraw = [
        "leaderboard",
        "withdraw",
        "board",
        "edit",
        "--by",
        "The board",
        "--reason",
        "figures <b>edited</b>",
    ]
    assert command(withdraw, folder)[0] == 0
    assert command(VERIFY, folder)[0] == 0
    text = render(collect(Path("none"), listed=BoardFolder(folder / "board")))
    assert "The board: withdrawn: figures &lt;b&gt;edited&lt;/b&gt;" in text


def test_a_row_that_is_added_again_is_claimed_again(folder: Path) -> None:
    withdraw = [
        "leaderboard",
        "withdraw",
        "board",
        "good",
        "--by",
        "The board",
        "--reason",
        "cheating",
    ]
    assert command(withdraw, folder)[0] == 0
    submit(folder, "good", "good")
    assert rows(folder)["good"].level is Level.CLAIMED
    assert "withdrawn: cheating" in render(
        collect(Path("none"), listed=BoardFolder(folder / "board"))
    )
    assert command(VERIFY, folder)[0] == 0
    assert rows(folder)["good"].level is Level.RECOMPUTED


def named(row: Path, **values: str) -> None:
    rewrite(row / "row.json", **values)
    seal(row)


def test_a_copy_under_another_name_is_told_and_reproduces_nothing(folder: Path) -> None:
    named(folder / "good", measured_by="Another group", learner="encoder")
    named(folder / "board" / "rows" / "good", learner="encoder")
    shutil.rmtree(folder / "board" / "rows")
    (folder / "board" / ledger.FILE).write_text("")
    for name in ("one", "other"):
        named(folder / "good", measured_by=f"Group {name}")
        submit(folder, "good", name)
    verify = [*VERIFY[:-2], "--format", "json"]
    for more in ([], ["--reproduced", "one=other"]):
        code, out, _ = command([*verify, *more], folder)
        problems = json.loads(out)["problems"]
        assert (code, [problem.partition(":")[0] for problem in problems]) == (
            (1, ["one"]) if more else (0, [])
        )
        assert all("not reproduced by other: " in problem for problem in problems)
        assert {row["level"] for row in json.loads(out)["rows"]} == {"recomputed"}
    assert "nobody" in refused([*verify, "--reproduced", "one=nobody"], folder)


def test_the_same_predictions_in_other_files_are_told(folder: Path) -> None:
    edit(folder / "good", lambda run: None)  # written anew, so with another hash
    submit(folder, "good", "copy")
    _, out, _ = command([*VERIFY[:-2], "--format", "json"], folder)
    signals = {row["row"]: row["signals"] for row in json.loads(out)["rows"]}
    assert any("predictions of another row" in signal for signal in signals["copy"])


def test_files_that_were_changed_are_not_scored_again(folder: Path) -> None:
    edit(folder / "board" / "rows" / "good", of_an_older_version)
    before = (folder / "board" / ledger.FILE).read_text()
    again = ["leaderboard", "rescore", "board", "good", "--suite", "demo", "--by", "The board"]
    assert "its files are not those of its last entry" in refused(again, folder)
    assert (folder / "board" / ledger.FILE).read_text() == before


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"event": "added", "level": "claimed"}, "added: an entry of this kind has no level"),
        (
            {"event": "verified", "level": "certain"},
            "level must be one of claimed, recomputed, reproduced",
        ),
        ({"event": "rescored", "old": 10**400, "new": 1}, "old and new must be scores"),
        ({"event": "rescored", "old": float("nan"), "new": 1}, "ledger.jsonl"),
        ({"event": "withdrawn", "reason": "\u202ereversed"}, "control characters"),
    ],
)
def test_a_hostile_entry_is_refused_with_its_line(
    line: dict[str, Any], told: str, folder: Path
) -> None:
    entry = {"date": "2099-01-01", "row": "good", "by": "me", "manifest": "0" * 64, **line}
    entry = {
        name: value
        for name, value in entry.items()
        if name != "manifest" or line["event"] != "withdrawn"
    }
    with (folder / "board" / ledger.FILE).open("a") as file:
        file.write(json.dumps(entry) + "\n")
    for words in (VERIFY, ("leaderboard", "show", "--board", "board")):
        err = refused(words, folder)
        assert told in err
        assert "ledger.jsonl:7" in err


def test_a_claimed_row_fails_until_the_ledger_says_so(folder: Path) -> None:
    assert command(VERIFY[:-2], folder)[0] == 0
    edit(folder / "edit", of_an_older_version)
    submit(folder, "edit", "again")
    assert command(VERIFY[:-2], folder)[0] == 1


def test_a_row_is_scored_again_by_a_newer_version(folder: Path) -> None:
    edit(folder / "good", of_an_older_version)
    submit(folder, "good", "old")
    again = ["leaderboard", "rescore", "board", "old", "--suite", "demo", "--by", "The board"]
    out = failed(VERIFY[:-2], folder)
    assert "other version of the metrics" in out
    out = done(again, folder)
    last = ledger.read(folder / "board" / ledger.FILE)[-1]
    assert (last.event, last.row, last.by) == (Event.RESCORED, "old", "The board")
    assert out == f"old: {last.old:.2f} before, {last.new:.2f} now\n"
    assert last.new == pytest.approx(2 * (last.old or 0), rel=1e-12)
    assert command(VERIFY, folder)[0] == 0
    assert rows(folder)["old"].level is Level.RECOMPUTED
    assert rows(folder)["old"].scores.means() == rows(folder)["good"].scores.means()
    assert "scored it" in refused(again, folder)
    assert sorted(path.name for path in (folder / "board" / "rows").iterdir()) == [
        "base",
        "edit",
        "good",
        "old",
    ]


def test_who_lacks_data_changes_no_level(folder: Path) -> None:
    data = Path(shutil.copytree(demo.prepare(), folder / "data"))
    before = (folder / "board" / ledger.FILE).read_text()
    shutil.rmtree(data / "HoC")
    words = ["leaderboard", "verify", "board", "--data", "data", "--record", "Somebody"]
    code, out, _ = command([*words, "--format", "json"], folder)
    found = {row["row"]: (row["level"], row["unseen"]) for row in json.loads(out)["rows"]}
    assert (found["good"], found["edit"]) == (("claimed", ["hoc"]), ("claimed", []))
    assert code == 0  # the ledger says what somebody with the data saw
    told = (folder / "board" / ledger.FILE).read_text().removeprefix(before)
    # Its signals are others now
    assert {json.loads(line)["row"] for line in told.splitlines()} == {"edit"}


def test_an_entry_that_nobody_could_read_is_not_written(folder: Path) -> None:
    before = (folder / "board" / ledger.FILE).read_text()
    with pytest.raises(DataError, match="control characters"):
        ledger.append(
            folder / "board",
            LedgerEntry("2099-01-01", Event.WITHDRAWN, "good", "me", reason="a\nb"),
        )
    assert (folder / "board" / ledger.FILE).read_text() == before


def test_a_board_of_withdrawn_rows_shows_them_with_the_reason(tmp_path: Path) -> None:
    """It ended with an error, as if there had never been a row."""
    board = tmp_path / "board"
    boards.found_board(board, "Ours")
    ledger.append(
        board, LedgerEntry(event=Event.WITHDRAWN, row="m", date="2026-01-31", by="us", reason="old")
    )
    code, out, _ = command(["leaderboard", "show", "--board", str(board)], tmp_path)
    assert (code, out) == (0, "m: 2026-01-31, us: withdrawn: old.\n")
