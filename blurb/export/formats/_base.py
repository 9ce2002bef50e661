"""What a format is, what it is asked, and which rows of the store it gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from blurb.errors import SettingsError, StoreError, UnknownName
from blurb.results import from_store
from blurb.results.row_scores import DEMO, RowScores, distinguishing
from blurb.runs.store import Store
from blurb.tasks import Task

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Wanted:
    """What `blurb export` was asked.

    :param models: names of rows; empty for all
    :param row: words that the configuration of the row must have
    :param published: sources or models of `published.csv`
    :param seed: whose predictions a submission has
    :param dataset_id: the Hub's name for BLURB in model cards
    :param given: the options that were given and do not concern every format
    """

    store: Path
    datasets: Sequence[Task]
    models: Sequence[str] = ()
    row: str = ""
    out: Path | None = None
    published: Sequence[str] = ()
    seed: int | None = None
    allow_partial: bool = False
    sd: bool = False
    transpose: bool = False
    dataset_id: str = "EMBO/BLURB"
    given: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Format:
    """One format.

    :param summary: for the help
    :param render: the files, by path; "" is the one file of a format that may go to the terminal
    :param options: those of `Wanted` that concern it, beyond store, datasets, models, row and out
    :param folder: where its files go if nobody says
    :param alone: that folder must be new
    """

    summary: str
    render: Callable[[Wanted], Files]
    options: frozenset[str] = frozenset()
    folder: str = ""
    alone: bool = False


def rows(wanted: Wanted, optional: bool = False) -> list[RowScores]:
    """The rows of the store that are wanted, in the order of `--model`.

    Rows of the demo suite are left out where there are real ones: their numbers mean nothing beside each other.

    :param optional: no row at all is no error, unless one was asked for
    """
    there = from_store.read(Store(wanted.store))
    if not there and optional and not (wanted.models or wanted.row):
        return []
    if not there:
        raise StoreError(f"There are no finished trials in {wanted.store}; give the folder of a store with --store.")
    models = list(dict.fromkeys(row.model for row in there))
    for name in wanted.models:
        if name not in models:
            raise UnknownName("model in the store", name, models)
    chosen = [row for name in wanted.models or models for row in there if row.model == name]
    if wanted.row:
        words = set(wanted.row.split())
        fits = [row for row in chosen if words <= {row.suite, *row.configuration.text.split(), *distinguishing(row)}]
        if not fits:
            raise UnknownName("row", wanted.row, dict.fromkeys(row.detail for row in chosen))
        chosen = [row for row in fits if row.detail == wanted.row] or fits
    real = [row for row in chosen if row.suite != DEMO]
    return real or chosen


def one_row(wanted: Wanted) -> RowScores:
    """The one row that is wanted; SettingsError with the choices if several are."""
    chosen = rows(wanted)
    models = list(dict.fromkeys(row.model for row in chosen))
    if len(models) > 1:
        raise SettingsError(f"Say which model with --model: {', '.join(models)}.")
    if len(chosen) > 1:
        choices = "\n".join(f"  --row '{row.detail}'" for row in chosen)
        raise SettingsError(f"{models[0]} has {len(chosen)} rows; say which:\n{choices}")
    return chosen[0]


def real_row(wanted: Wanted) -> RowScores:
    """`one_row`, refused if it is of the demo suite: what leaves the house must not look like a result."""
    row = one_row(wanted)
    if row.suite == DEMO:
        raise SettingsError(f"{row.model} ran on the synthetic demo suite; its numbers are no results on BLURB.")
    return row
