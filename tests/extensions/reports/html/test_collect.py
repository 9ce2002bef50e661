"""What gets onto the page: rows of stores and files, their intervals, pairs, and how they were made."""

import shlex
import statistics
from dataclasses import replace
from pathlib import Path

import click
import pytest

from blurb import tasks
from blurb.cli import cli
from blurb.execution.engines import here
from blurb.extensions.reports.html import collect as pairwise
from blurb.extensions.reports.html.collect import collect, read_ablations, title_of
from blurb.extensions.reports.html.model import Leaderboard, Page
from blurb.extensions.reports.html.provenance import public, row_provenance
from blurb.extensions.reports.html.render import render
from blurb.leaderboard import intervals
from blurb.learners import building
from blurb.messages.errors import DataError
from blurb.planning import ablations, trials
from blurb.results import comparison, from_store, predictions, published, tables
from blurb.results.score import DATASETS, blurb_score, type_means
from blurb.statistics import bootstrap
from blurb.statistics.welch import half_width
from blurb.store import row_trials as rows
from blurb.store.store import Store
from blurb.store.trial import Configuration
from tests.conftest import Builder
from tests.planning.requests import request
from tests.results import invented
from tests.results.played import NAMES, play
from tests.rewriting import csv_lines
from tests.store import fakes

GOOD, WORSE = dict.fromkeys(NAMES, 0.9), dict.fromkeys(NAMES, 0.7)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two whole rows of three seeds, and one of one seed and one dataset."""
    top = tmp_path_factory.mktemp("page")
    store = Store(top / "runs")
    play(store, "good", GOOD)
    play(store, "worse", WORSE)
    play(store, "single", {"gad": 0.8}, seeds=(1,))
    tables.rebuild(store, top / "leaderboard.csv")
    return top


@pytest.fixture(scope="module")
def board(folder: Path) -> Leaderboard:
    """The rows of the store alone."""
    (found,) = collect(folder / "runs", with_published=False).boards
    return found


@pytest.mark.costly
def test_numbers_are_those_of_the_tables(folder: Path, board: Leaderboard) -> None:
    assert [entry.row.model for entry in board.entries] == ["good", "worse", "single"]
    lines = {line["model"]: line for line in csv_lines(folder / "leaderboard.csv")}
    for entry in board.entries:
        line = lines[entry.row.model]
        shown = {**{name: one.test for name, one in entry.datasets.items()}, **entry.types}
        assert {name: f"{value.mean:.2f}" for name, value in shown.items()} == {
            name: line[name] for name in (*DATASETS, *tasks.TYPES) if line[name]
        }
        assert (f"{entry.score.mean:.2f}" if entry.score else "") == line["score"]
        assert entry.row.complete == (line["complete"] == "yes")


def test_intervals_rest_on_what_is_there(board: Leaderboard) -> None:
    good, _, single = board.entries
    assert {one.test.basis for one in good.datasets.values()} == {"both"}
    assert single.datasets["gad"].test.basis == "units"
    spreads = {}
    for name, one in good.datasets.items():
        found = predictions.load_clusters(good.row.records[name])
        spreads[name] = bootstrap.spread(found, name, intervals.RESAMPLES)
        assert (one.test.low, one.test.high) == spreads[name].interval
    whole = bootstrap.averaged(spreads, dict.fromkeys(NAMES[:5], 0.2))
    assert (good.types["ner"].low, good.types["ner"].high) == whole.interval
    assert good.score.mean == pytest.approx(
        blurb_score({name: one.test.mean for name, one in good.datasets.items()})
    )
    assert good.score.low < good.score.mean


def test_a_file_gives_the_same_rows_with_intervals_over_seeds(
    folder: Path, board: Leaderboard
) -> None:
    (found,) = collect(folder / "nothing", [folder / "results.csv"], with_published=False).boards
    for entry, other in zip(found.entries, board.entries, strict=True):
        assert (entry.kind, entry.row.primary_key, entry.detail) == (
            "file",
            other.row.primary_key,
            other.detail,
        )
        for name, one in entry.datasets.items():
            theirs = other.datasets[name].scores
            values = list(one.scores.scores().values())
            assert values == pytest.approx(list(theirs.scores().values()), abs=1e-4)
            assert one.scores.mean("dev") == pytest.approx(theirs.mean("dev"), abs=1e-4)
            assert one.scores.majority() == pytest.approx(theirs.majority(), abs=1e-4)
            if len(values) > 1:
                assert one.test.basis == "seeds"
                assert one.test.high == pytest.approx(
                    statistics.fmean(values) + (half_width(values) or 0)
                )
            else:
                assert (one.test.low, one.test.basis) == (None, "")
        assert entry.types.keys() == other.types.keys()
    assert {value.basis for value in found.entries[0].types.values()} == {"seeds"}


def test_a_row_of_store_and_file_is_shown_once_from_the_store(folder: Path) -> None:
    (board,) = collect(folder / "runs", [folder / "results.csv"], with_published=False).boards
    assert [entry.kind for entry in board.entries] == ["store"] * 3


def test_two_files_with_other_runs_of_one_row_are_merged_first(tmp_path: Path) -> None:
    files = []
    for name, seeds in (("a", (1, 2)), ("b", (3,)), ("part", (2,))):
        store = Store(tmp_path / name / "runs")
        play(store, "m", {"gad": 0.8}, seeds)
        tables.rebuild(store, tmp_path / name / "leaderboard.csv")
        files.append(tmp_path / name / "results.csv")
    with pytest.raises(
        DataError, match=r"b/results\.csv: has runs of m quick that .*blurb leaderboard merge"
    ):
        collect(tmp_path / "none", files, with_published=False)
    (board,) = collect(tmp_path / "none", [files[0], files[2]], with_published=False).boards
    assert [list(entry.datasets["gad"].scores.scores()) for entry in board.entries] == [[1, 2]]


def test_published_rows_stand_beside_real_ones_only(folder: Path, tmp_path: Path) -> None:
    (board,) = collect(folder / "runs").boards
    shown = [entry for entry in board.entries if entry.kind == "published"]
    assert len(shown) == len(published.shipped())
    entry = next(
        one for one in shown if one.row.model == "PubMedBERT" and one.row.source == "gu2021"
    )
    assert entry.score.mean == 81.16  # ACM Health 2021, Table 6
    row = next(
        one for one in published.shipped() if (one.model, one.source) == ("PubMedBERT", "gu2021")
    )
    assert {kind: value.mean for kind, value in entry.types.items()} == pytest.approx(
        type_means(row.means())
    )
    store = Store(tmp_path / "demo")
    play(store, "m", {"gad": 0.8}, (1,), Configuration("demo", "0" * 64, {}, "fp32", "demo"))
    assert [board.suite for board in collect(tmp_path / "demo").boards] == ["demo"]
    assert [board.suite for board in collect(tmp_path / "nothing").boards] == ["blurb"]
    assert collect(tmp_path / "nothing", with_published=False).boards == []


@pytest.mark.costly
def test_pairs_are_judged_as_blurb_compare_does(board: Leaderboard) -> None:
    assert board.comparisons.with_units
    pair = board.comparisons.pairs[0]
    first, other = (board.entries[place].row for place in (pair.first, pair.other))
    lines = {
        line.name: line for line in comparison.compare_rows(first, other, "test", with_units=True)
    }
    for name, (half, p, reason) in zip(board.comparisons.names, pair.lines, strict=True):
        assert (p, reason) == (lines[name].p, lines[name].reason)
        low, high = lines[name].comparison.interval or (0.0, 0.0)
        assert half == pytest.approx((high - low) / 2)


def test_curves_are_read_and_a_broken_one_costs_no_row(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for trial in [fakes.trial("gad", seed) for seed in (1, 2)]:
        play(store, "m", {"gad": 0.8}, (trial.seed,))
    rows.write(
        store, fakes.row("m", *[fakes.trial("gad", seed, weights=f"{'m':w<64}") for seed in (1, 2)])
    )
    histories = sorted(tmp_path.glob("m/gad/*/history.csv"))
    histories[0].write_text("epoch,loss,learning_rate,dev\n1,0.5,0.1,0.25\n2,0.4,0.1,0.5\n")
    histories[1].write_text("epoch,loss,learning_rate,dev\n1,0.5,0.1,nan\n2,0.4,0.1,x\n")
    for path in histories:
        store.seal(path.parent)
    (board,) = collect(tmp_path, with_published=False).boards
    entry = next(one for one in board.entries if one.runs == "2")
    assert list(entry.datasets["gad"].curves.values()) == [(25.0, 50.0)]


def test_ablations_are_read_as_they_were_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no CSV files"):
        read_ablations(tmp_path)

    grid = ablations.grid("tagging")
    found = ablations.lines(grid, [None] * len(grid.cells), grid.datasets)
    ablations.write(grid, found, tmp_path, "A caption.")
    (one,) = read_ablations(tmp_path)
    assert (one.axis, tuple(one.tasks)) == ("tagging", grid.datasets)
    assert [cell for cell, _ in one.lines] == [cell.text for cell in grid.cells]
    for cell, (_, lines) in zip(grid.cells, one.lines, strict=True):
        assert {task: float(line["published"]) for task, line in lines.items()} == dict(
            cell.published
        )
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="not a table of blurb ablate"):
        read_ablations(tmp_path)


@pytest.mark.parametrize(
    ("task", "strategy", "suite", "needed"),
    [
        ("chemprot", "markers", "blurb", True),
        ("ddi", "typed-markers", "blurb", True),
        ("ddi", "original", "blurb", True),
        ("ddi", "original", "demo", False),  # which makes its own
        ("ddi", "dummy-tokens", "blurb", False),
        ("gad", "markers", "blurb", False),  # nobody has its originals
    ],
)
def test_the_command_asks_for_originals_where_they_are_needed(
    task: str, strategy: str, suite: str, needed: bool, tmp_path: Path
) -> None:
    settings = {
        "head": "linear",
        "pooling": "cls",
        "max_train": 0,
        "max_eval": 0,
        "relation_input": strategy,
    }
    configuration = Configuration("mine@12345678", "0" * 64, {}, "fp32", suite)
    play(
        Store(tmp_path), "m", {task: 0.8}, seeds=[1], configuration=configuration, settings=settings
    )
    (row,) = from_store.read(Store(tmp_path))
    words = shlex.split(row_provenance(row).command)
    assert ("--raw" in words and words[words.index("--raw") + 1] == "RAW") == needed
    assert words[words.index("--protocol") + 1] == "PROTOCOL.toml"


@pytest.mark.costly
def test_how_a_real_trial_was_made_is_on_the_page(checkpoint: Builder, tmp_path: Path) -> None:
    """Provenance as the worker writes it: a fake would say what the page expects, whatever the worker does."""
    small = {"epochs": 1, "batch_size": 2, "max_train": 4, "max_eval": 2, "max_length": 16}
    source = building.resolve_model(str(checkpoint("bert_uncased")), name="real")
    source = replace(source, revision="scratch:tiny")
    asked = request(tmp_path, source, tasks_="biosses", overrides=small, seeds=1, suite="demo")
    (outcome,) = trials.run(
        [trials.prepare(asked)], here(), lambda outcome: None, lambda job, news: None
    )
    assert outcome.message == ""
    (row,) = from_store.read(Store(tmp_path))
    assert row_provenance(row).command.startswith("blurb run scratch:tiny --name real ")
    (part,) = row_provenance(row).datasets
    assert part.units == 4
    assert part.cut > 0  # no pair of sentences fits 16 sub-tokens
    assert part.seconds is not None


@pytest.mark.costly
def test_many_rows_are_not_all_set_side_by_side(board: Leaderboard) -> None:
    single = board.entries[-1]
    rows = [
        *board.entries[:2],
        *(
            replace(single, row=invented.named(single.row, model=f"single {number}"))
            for number in range(60)
        ),
    ]
    found = pairwise.comparisons(rows, ["gad"])
    assert {place for pair in found.pairs for place in (pair.first, pair.other)} == set(
        range(pairwise.MOST_ENCODERS)
    )
    assert (len(found.pairs), found.left_out) == (190, 42)
    page = render(Page("x", [replace(board, entries=rows, comparisons=found)]))
    assert "Only the best 20 rows with runs are compared here; for the other 42 " in page
    assert "Only the best" not in render(Page("x", [board]))


def test_the_command_is_one_that_blurb_run_takes(board: Leaderboard) -> None:
    found = row_provenance(board.entries[0].row)
    words = shlex.split(found.command)
    assert words[:2] == ["blurb", "run"]
    run = cli.get_command(click.Context(cli), "run")
    values = run.make_context("run", words[2:], resilient_parsing=False).params
    assert (values["name"], values["seeds"], values["protocol"]) == ("good", 3, "quick")
    assert set(
        str(values["selection"] if "selection" in values else values["tasks"]).split(",")
    ) == set(NAMES)
    assert {part.task: len(part.trials) for part in found.datasets} == dict.fromkeys(NAMES, 3)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/me/models/x", "…/x"),
        ("raw=/data/kit/raw lr=0.1", "raw=…/raw lr=0.1"),
        ("~/models/x", "…/x"),
        ("~/x", "…/x"),
        ("~jane/x", "…/x"),
        ("~jane.doe-2/models/x", "…/x"),
        ("/home/Jane Doe/models/x", "…/x"),
        ("raw=/home/Jane Doe/My Kit/raw lr=0.1 out=/data/y/z", "raw=…/raw lr=0.1 out=…/z"),
        (r"C:\Users\Jane Doe\x", "…/x"),
        ("/data/a/x, org/model", "…/x, org/model"),
        (r"C:\Users\me\x", "…/x"),
        ("org/model", "org/model"),
        ("lr=1e-05 head=crf", "lr=1e-05 head=crf"),
    ],
)
def test_no_folder_of_anybody_gets_onto_the_page(text: str, shown: str) -> None:
    assert public(text) == shown


def test_a_weak_part_names_the_whole() -> None:
    known = {name: intervals.run_numbers(name, [80.0, 81.0]) for name in NAMES}
    means = intervals.averages(known)
    assert {value.basis for value in means.values()} == {"seeds"}
    known["gad"] = intervals.run_numbers("gad", [80.0])
    means = intervals.averages(known)
    assert (means["relation"].low, means["relation"].basis) == (None, "")
    assert means["score"].low is None


def test_a_task_that_a_table_names_is_never_loaded(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit('it ran')\nX = 1\n")
    for name in (f"{tmp_path}/evil.py:X", "blurb.tasks:gad", "task.toml", "gone"):
        assert title_of(name) == name
    assert title_of("gad") == "GAD"
