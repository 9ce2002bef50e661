"""What a format is, what it is asked, and which rows of the store it gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from blurb.errors import SettingsError, StoreError, UnknownName
from blurb.results.rows import DEMO, Result, extras, gather
from blurb.runs.store import Store
from blurb.tasks import Task
from blurb.wording import distinct

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


def rows(wanted: Wanted, optional: bool = False) -> list[Result]:
    """The rows of the store that are wanted, in the order of `--model`.

    Rows of the demo suite are left out where there are real ones: their numbers mean nothing beside each other.

    :param optional: no row at all is no error, unless one was asked for
    """
    found = gather(Store(wanted.store))
    asked = bool(wanted.models or wanted.row)
    if not found and optional and not asked:
        return []
    if not found:
        raise StoreError(f"There are no finished trials in {wanted.store}; give the folder of a store with --store.")
    names = list(dict.fromkeys(row.model for row in found))
    for name in wanted.models:
        if name not in names:
            raise UnknownName("model in the store", name, names)
    chosen = [row for name in wanted.models or names for row in found if row.model == name]
    labels = _labels(chosen)
    if wanted.row:
        words = set(wanted.row.split())
        exact = [row for row, label in zip(chosen, labels, strict=True) if label == wanted.row]
        chosen_by_words = [row for row, label in zip(chosen, labels, strict=True) if words <= set(label.split())]
        if not chosen_by_words:
            raise UnknownName("row", wanted.row, dict.fromkeys(labels))
        chosen = exact or chosen_by_words
    real = [row for row in chosen if row.configuration.suite != DEMO]
    return real or chosen


def one_row(wanted: Wanted) -> Result:
    """The one row that is wanted; SettingsError with the choices if several are."""
    chosen = rows(wanted)
    names = list(dict.fromkeys(row.model for row in chosen))
    if len(names) > 1:
        raise SettingsError(f"Say which model with --model: {', '.join(names)}.")
    if len(chosen) > 1:
        choices = "\n".join(f"  --row '{label}'" for label in _labels(chosen))
        raise SettingsError(f"{names[0]} has {len(chosen)} rows; say which:\n{choices}")
    return chosen[0]


def real_row(wanted: Wanted) -> Result:
    """`one_row`, refused if it is of the demo suite: what leaves the house must not look like a result."""
    row = one_row(wanted)
    if row.configuration.suite == DEMO:
        raise SettingsError(f"{row.model} ran on the synthetic demo suite; its numbers are no results on BLURB.")
    return row


def _labels(chosen: Sequence[Result]) -> list[str]:
    """Suite, protocol, overrides and precision, as `--row` takes them; more where rows are alike."""
    plain = [
        " ".join(filter(None, (row.configuration.suite, row.configuration.text, row.configuration.precision)))
        for row in chosen
    ]
    told = list(plain)
    for model in {row.model for row in chosen}:  # labels need to differ within a model only
        places = [place for place, row in enumerate(chosen) if row.model == model]
        apart = distinct([plain[place] for place in places], [extras(chosen[place])[1:] for place in places])
        for place, label in zip(places, apart, strict=True):
            told[place] = label
    return told
