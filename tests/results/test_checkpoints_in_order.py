"""Checkpoints of one run stand in the order of their numbers, wherever rows are listed."""

import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

from blurb import names
from blurb.cli import cli
from blurb.leaderboard import ranking
from blurb.planning.options import RunOptions
from blurb.results import from_store
from blurb.store.store import Store
from tests.store.fakes import stored, trial

CHECKPOINTS = [f"checkpoint-{1000 * step}" for step in range(1, 13)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A row a checkpoint, all with the same score, made in another order."""
    store = Store(tmp_path / "runs")
    for model in random.Random(1).sample(CHECKPOINTS, len(CHECKPOINTS)):
        stored(store, model, trial(weights=model.ljust(64, "0")), score=0.8)
    return store.root


def in_text(text: str) -> list[str]:
    """The checkpoints of a text, each where it comes first."""
    places = {name: text.index(f"{name} ") for name in CHECKPOINTS if f"{name} " in text}
    return sorted(places, key=places.__getitem__)


def test_rows_of_a_store_and_ties_of_a_ranking(store: Path) -> None:
    found = from_store.read(Store(store))
    assert [one.model for one in found] == CHECKPOINTS
    entries = [ranking.entry(one, resampled=False) for one in reversed(found)]
    assert [one.entry.name.split()[0] for one in ranking.in_parts(entries, "gad")] == CHECKPOINTS


@pytest.mark.extensions
@pytest.mark.parametrize(
    "command",
    [
        ["leaderboard", "show", "--no-published", "--no-intervals", "--sort", "gad"],
        ["runs"],
        ["status"],
        ["export", "markdown", "--transpose"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_commands(command: list[str], store: Path) -> None:
    result = CliRunner(env={"COLUMNS": "200"}).invoke(cli, [*command, "--output", str(store)])
    assert result.exit_code == 0, result.output
    assert in_text(result.stdout) in (CHECKPOINTS, [])
    assert in_text(result.stdout) or command == ["status"]  # which has the rows with something open


@pytest.mark.extensions
def test_the_page(store: Path, tmp_path: Path) -> None:
    from blurb.extensions.reports.html.collect import collect

    (board,) = collect(store, with_published=False).boards
    assert [entry.row.model for entry in board.entries] == CHECKPOINTS


def models_of(options: RunOptions) -> list[Any]:
    return [each.model for each in options.named_models]


@pytest.mark.parametrize(
    ("typed", "planned"),
    [
        (sorted(CHECKPOINTS), CHECKPOINTS),
        ([f"run/{name}" for name in sorted(CHECKPOINTS)], [f"run/{name}" for name in CHECKPOINTS]),
        (["b", "a", "scratch:tiny"], ["b", "a", "scratch:tiny"]),
        (["x/step-10", "bert", "x/step-9"], ["x/step-9", "bert", "x/step-10"]),
        ("one", ["one"]),
    ],
)
def test_models_of_a_run(typed: str | list[str], planned: list[str]) -> None:
    assert models_of(RunOptions(model=typed)) == planned


def test_loaded_models_stay_where_they_are() -> None:
    first, other = object(), object()
    assert models_of(RunOptions(model=[other, first])) == [other, first]  # type: ignore[list-item]


@given(st.lists(st.from_regex(r"[a-c]{0,2}[0-9]{0,3}-?[0-9]{0,2}", fullmatch=True)))
def test_the_order_is_total_and_that_of_the_numbers(given_: list[str]) -> None:
    ordered, again = list(given_), list(reversed(given_))
    for one in (ordered, again):
        one.sort(key=names.by_number)
    assert ordered == again
    assert sorted(names.checkpoints_by_number(given_)) == sorted(given_)
    plain = [name for name in ordered if name.isdecimal()]
    assert [int(name) for name in plain] == sorted(map(int, plain))


def test_thousands_of_digits_are_a_number_like_others() -> None:
    assert names.by_number("a" + "9" * 10_000) > names.by_number("a10") > names.by_number("a9")
