"""The interface of export formats, their options, and the selection of rows."""

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
    """The arguments of `blurb export`.

    :param models: model names; empty for all
    :param row: words that the configuration of the row must contain
    :param published: sources or models of `published.csv`
    :param seed: seed of the predictions in a submission
    :param dataset_id: name of BLURB on the Hub, for model cards
    :param given: the given options that not every format has
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
    """An export format.

    :param summary: summary for the help
    :param render: makes the files by path; "" is the single file of a format, which may go to the terminal
    :param options: options of `Wanted` that apply to it, beyond store, datasets, models, row and out
    :param folder: default folder of its files
    :param alone: whether the folder must be new
    """

    summary: str
    render: Callable[[Wanted], Files]
    options: frozenset[str] = frozenset()
    folder: str = ""
    alone: bool = False


def rows(wanted: Wanted, optional: bool = False) -> list[RowScores]:
    """The requested rows of the store, in the order of `--model`.

    Rows of the demo suite are left out if there are real ones, as their numbers are not comparable.

    :param optional: an empty store is no error, unless a row was requested
    """
    there = from_store.read(Store(wanted.store))
    if not there and optional and not (wanted.models or wanted.row):
        return []
    if not there:
        raise StoreError(f"No finished trials in {wanted.store}; check --store.")
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
    """The requested row; SettingsError with the choices if there are several."""
    chosen = rows(wanted)
    models = list(dict.fromkeys(row.model for row in chosen))
    if len(models) > 1:
        raise SettingsError(f"There are several models; choose one with --model: {', '.join(models)}.")
    if len(chosen) > 1:
        choices = "\n".join(f"  --row '{row.detail}'" for row in chosen)
        raise SettingsError(f"{models[0]} has {len(chosen)} rows; choose one:\n{choices}")
    return chosen[0]


def real_row(wanted: Wanted) -> RowScores:
    """`one_row`, but not from the demo suite: synthetic results must not look like real ones."""
    row = one_row(wanted)
    if row.suite == DEMO:
        raise SettingsError(f"{row.model} ran on the synthetic demo suite, so it has no results on BLURB to export.")
    return row
