"""The interface of export formats, their options, and the selection of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from blurb import names
from blurb.messages.errors import SettingsError, StoreError
from blurb.results import from_store
from blurb.results.references import unknown
from blurb.results.row_scores import DEMO, RowScores
from blurb.row_files.writing import Party
from blurb.store.store import Store
from blurb.tasks import Task

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class ExportRequest:
    """The arguments of `blurb export`.

    :param rows: names of rows, or of models for all of their rows; empty for all
    :param named: the datasets that were asked for by their names, and not as part of a type or of all
    :param published: sources or models of `published.csv`
    :param seed: seed of the predictions in a submission
    :param dataset_id: name of BLURB on the Hub, for model cards; `dataset_revision` a commit of it
    :param source_url: where the results come from, which the Hub shows with its name and organisation
    :param measured_by: who ran a row, and as which `party`
    :param given: the given options that not every format has
    """

    store: Path
    datasets: Sequence[Task]
    rows: Sequence[str] = ()
    named: frozenset[str] = frozenset()
    out: Path | None = None
    published: Sequence[str] = ()
    seed: int | None = None
    allow_partial: bool = False
    sd: bool = False
    transpose: bool = False
    dataset_id: str = "EMBO/BLURB"
    dataset_revision: str | None = None
    source_url: str | None = None
    source_name: str | None = None
    source_org: str | None = None
    measured_by: str = ""
    party: Party = ""
    given: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Format:
    """An export format.

    :param summary: summary for the help
    :param render: makes the files by path; "" is the single file of a format, which may go to the terminal
    :param options: options of `ExportRequest` that apply to it, beyond store, datasets, rows and out
    :param folder: default folder of its files
    :param alone: whether the folder must be new
    :param advised: those of its options without which its readers miss something
    """

    summary: str
    render: Callable[[ExportRequest], Files]
    options: frozenset[str] = frozenset()
    folder: str = ""
    alone: bool = False
    advised: Sequence[str] = ()


def rows(wanted: ExportRequest, optional: bool = False) -> list[RowScores]:
    """The requested rows of the store, in the order of the arguments.

    Rows of the demo suite are left out if there are real ones, as their numbers are not comparable.

    :param optional: an empty store is no error, unless a row was requested
    """
    there = from_store.read(Store(wanted.store))
    if not there and optional and not wanted.rows:
        return []
    if not there:
        raise StoreError(f"No finished trials in {wanted.store}", fix="check --output.")
    chosen = [row for name in wanted.rows for row in _fitting(there, name)] or there
    chosen = list({row.name: row for row in chosen}.values())
    real = [row for row in chosen if row.suite != DEMO]
    named = [name for name in wanted.rows if all(row.suite == DEMO for row in _fitting(there, name))]
    if real and named:
        raise SettingsError(f"{named[0]} ran on the synthetic demo suite, and cannot stand beside real rows.")
    return real or chosen


def _fitting(there: Sequence[RowScores], name: str) -> list[RowScores]:
    """The row of a name, or all rows of a model, or of the checkpoints of a run."""
    fits = [row for row in there if row.name == name] or [row for row in there if row.model == name]
    fits = fits or [row for row in there if (names.run_and_step(row.model) or ("", 0))[0] == name]
    if not fits:
        raise unknown(there, name, "row in the store")
    return fits


def one_row(wanted: ExportRequest) -> RowScores:
    """The requested row, of a run that of its last checkpoint; SettingsError with the choices if there are several."""
    chosen = _last_of_a_run(rows(wanted))
    if len(chosen) > 1:
        choices = "\n".join(f"  '{row.name}'" for row in chosen)
        raise SettingsError(f"There are {len(chosen)} such rows", fix=f"choose one as ROW:\n{choices}")
    return chosen[0]


def _last_of_a_run(there: list[RowScores]) -> list[RowScores]:
    """The rows of the last checkpoint, if all are of the checkpoints of one run."""
    steps = {row.name: names.run_and_step(row.model) for row in there}
    known = {found for found in steps.values() if found is not None}
    if None in steps.values() or len({run for run, _ in known}) != 1:
        return there
    return [row for row in there if steps[row.name] == max(known)]


def real_row(wanted: ExportRequest) -> RowScores:
    """`one_row`, but not from the demo suite: synthetic results must not look like real ones."""
    row = one_row(wanted)
    if row.suite == DEMO:
        raise SettingsError(f"{row.model} ran on the synthetic demo suite, so it has no results on BLURB to export.")
    return row
