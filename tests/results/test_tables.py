"""results.csv and leaderboard.csv from stores with known figures."""

from __future__ import annotations

import threading
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from blurb import tasks
from blurb.leaderboard.overview import with_neighbours
from blurb.leaderboard.terminal import card
from blurb.messages.errors import DataError, StoreError
from blurb.results import tables
from blurb.store import row_trials as rows
from blurb.store.store import Store
from tests.rewriting import csv_lines
from tests.store.fakes import CONFIGURATION, finish, row, trial

NAMES = [task.name for task in tasks.all() if task.paper_order]


def read(path: Path) -> list[dict[str, str]]:
    return csv_lines(path)


def fill(store: Store, names: list[str], seeds: int = 2, model: str = "m") -> None:
    planned = [trial(name, seed) for name in names for seed in range(1, seeds + 1)]
    for number, each in enumerate(planned):
        finish(store, model, each, 0.5 + number / 100)
    rows.write(store, row(model, *planned))


def test_a_complete_row(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    fill(store, NAMES)
    (result,) = tables.rebuild(store, tmp_path / "leaderboard.csv")
    (line,) = read(tmp_path / "leaderboard.csv")
    assert line["complete"] == "yes"
    assert line["data"] == "verified"
    assert line["seeds"] == "2"
    assert line["bc5-chem"] == "50.50"  # the mean of 50 and 51
    assert line["ner"] == "54.50"
    assert result.score is not None
    assert line["score"] == f"{result.score:.2f}"
    assert float(line["score_low"]) < float(line["score"]) < float(line["score_high"])
    lines = read(tmp_path / "results.csv")
    first = [
        each for each in lines if each["task"] == "bc5-chem" and each["metric"] == "f1" and each["split"] == "test"
    ]
    assert [each["value"] for each in first] == ["50.0000", "51.0000"]
    assert {each["majority"] for each in first} == {"20.0000"}


def test_an_incomplete_row_has_no_score_and_no_nan(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    fill(store, NAMES[:5], seeds=1)
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    (line,) = read(tmp_path / "leaderboard.csv")
    assert (line["score"], line["score_sd"], line["qa"], line["bioasq"], line["complete"]) == ("", "", "", "", "no")
    assert line["ner"] == "52.00"
    for name in ("leaderboard.csv", "results.csv"):
        assert "nan" not in (tmp_path / name).read_text().lower()


def test_an_unfinished_seed_makes_a_row_incomplete(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    fill(store, NAMES)
    rows.write(store, row("m", trial("gad", 3)))
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    assert read(tmp_path / "leaderboard.csv")[0]["complete"] == "no"


def test_unverified_data_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    finish(store, "m", trial("ebm-pico"), 0.5, verdict="differs")
    rows.write(store, row("m", trial("ebm-pico")))
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    assert read(tmp_path / "leaderboard.csv")[0]["data"] == "ebm-pico differs"


def test_demo_rows_never_mix_with_real_ones(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    fill(store, NAMES, seeds=1)
    rows.write(store, row("m", trial("gad"), configuration=replace(CONFIGURATION, suite="demo")))
    found = tables.rebuild(store, tmp_path / "leaderboard.csv")
    assert [(r.configuration.suite, r.complete, r.data) for r in found] == [
        ("blurb", True, "verified"),
        ("demo", False, "synthetic"),
    ]


@pytest.mark.parametrize("name", ["leaderboard.csv", "results.csv"])
@pytest.mark.parametrize("content", ["schema,model\n99,x\n", "model,score\nx,1\n"])
def test_a_file_of_another_schema_is_left_alone(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    store = Store(tmp_path / "runs")
    fill(store, ["gad"])
    with pytest.raises(StoreError, match="schema version"):
        tables.rebuild(store, tmp_path / "leaderboard.csv")
    assert (tmp_path / name).read_text() == content
    assert len(list(tmp_path.glob("*.csv"))) == 1


def test_external_numbers_get_a_row_with_their_source(tmp_path: Path) -> None:
    lines = ["source,version,model,dataset,score,runs,certainty", "us2026,v1,OurBERT,gad,81.5,5,printed"]
    (tmp_path / "external.csv").write_text("\n".join(lines) + "\n")
    tables.rebuild(Store(tmp_path / "runs"), tmp_path / "leaderboard.csv")
    (line,) = read(tmp_path / "leaderboard.csv")
    assert (line["model"], line["source"], line["gad"], line["score"]) == ("OurBERT", "us2026 (v1)", "81.50", "")


def test_a_printed_total_is_shown(tmp_path: Path) -> None:
    lines = ["source,version,model,dataset,score,runs,certainty", "us2026,v1,OurBERT,score,81.5,,printed"]
    (tmp_path / "external.csv").write_text("\n".join(lines) + "\n")
    tables.rebuild(Store(tmp_path / "runs"), tmp_path / "leaderboard.csv")
    assert read(tmp_path / "leaderboard.csv")[0]["score"] == "81.50"


@pytest.mark.parametrize("line", ["a,b,c,gad,nan,1,printed", "a,b,c,gad", "a,b,c,gda,80,1,printed", "a,b,c,gad,x,1,y"])
def test_broken_external_numbers_are_refused_with_their_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "external.csv").write_text(f"source,version,model,dataset,score,runs,certainty\n{line}\n")
    with pytest.raises(DataError, match=r"external\.csv:2: "):
        tables.rebuild(Store(tmp_path / "runs"), tmp_path / "leaderboard.csv")
    assert not (tmp_path / "leaderboard.csv").exists()


@pytest.mark.parametrize("name", ["results.csv", "external.csv"])
def test_the_leaderboard_cannot_take_the_name_of_its_neighbours(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="cannot be"):
        tables.rebuild(Store(tmp_path / "runs"), tmp_path / name)


def test_two_writers_at_once_give_whole_files(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    fill(store, NAMES, seeds=1)
    threads = [threading.Thread(target=tables.rebuild, args=(store, tmp_path / "leaderboard.csv")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read(tmp_path / "leaderboard.csv")) == 1
    assert len(read(tmp_path / "results.csv")) == 13 * 2 * 2


def test_names_and_titles_are_no_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "runs")
    for model in ("[/red]", "[bold]x[/] :smile:"):
        fill(store, NAMES, model=model)
    known = tasks.get
    monkeypatch.setattr(tasks, "get", lambda name: replace(known(name), title=f"[/{name}]"))
    rows = tables.rebuild(store, tmp_path / "leaderboard.csv")
    text = StringIO()
    for part in (*map(card, rows), with_neighbours(rows)):
        Console(width=120, file=text).print(part)
    assert text.getvalue().count("[/red] ") == 2
    assert text.getvalue().count("[bold]x[/] :smile: ") == 2
    assert text.getvalue().count("[/gad] ") == 2
