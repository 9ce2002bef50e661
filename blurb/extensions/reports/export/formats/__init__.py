"""The export formats: one module per format, found by its name (see `blurb.registry`).

Their interface, their options, and the selection of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from blurb.messages import SettingsError, StoreError, opt
from blurb.options import option
from blurb.registry import Registry
from blurb.results import from_store
from blurb.results.row import DEMO, Row
from blurb.row_files.references import last_of_a_run, resolve_all
from blurb.row_files.writing import Party
from blurb.store.row_trials import TRAINED_ON
from blurb.store.store import Store
from blurb.system.files import hidden_name, write_whole
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
    :param trained_on: a key of `TRAINED_ON`
    :param given: the given options that not every format has
    """

    store: Path
    datasets: Sequence[Task]
    rows: Sequence[str] = ()
    named: frozenset[str] = frozenset()
    out: Path | None = option(
        None,
        "",
        "File or folder to write.  [default: the terminal; for row, submission and eval-results the folders row, "
        "submission and .eval_results]",
    )
    published: Sequence[str] = option(
        (),
        "",
        "latex, markdown: published rows to add, such as gu2021 or gu2021/PubMedBERT.",
        metavar="SOURCE[/MODEL]",
    )
    seed: int | None = option(
        None, "", "submission: seed of the predictions.  [default: the first of each dataset]"
    )
    allow_partial: bool = option(False, "", "submission: skip datasets without a finished trial.")
    sd: bool = option(False, "", "latex, markdown: add standard deviations over seeds.")
    transpose: bool = option(
        False,
        "",
        "latex, markdown: one line per model instead of one column; more than ten are always lines.",
    )
    generalisation: Path | None = option(
        None,
        "",
        "latex, markdown: seen and unseen strings, of a table of blurb generalisation --format csv; "
        "a ROW is one of its rows.",
        path="file",
    )
    dataset_id: str = option(
        "EMBO/BLURB", "", "model-index, eval-results: BLURB's name on the Hub."
    )
    dataset_revision: str | None = option(
        None, "", "eval-results: commit of the dataset on the Hub.", metavar="COMMIT"
    )
    source_url: str | None = option(
        None, "", "eval-results: where the results come from, as the Hub shows it.", metavar="URL"
    )
    source_name: str | None = option(None, "", "eval-results: name of that source.", metavar="NAME")
    source_org: str | None = option(
        None, "", "eval-results: organisation on the Hub that it is of.", metavar="NAME"
    )
    measured_by: str = option("", "", "row, every-eval-ever: who ran it.", metavar="NAME")
    party: Party = option(
        "",
        "",
        "row, every-eval-ever: first if they made the model, else third.",
        choices=("first", "third"),
    )
    trained_on: str = option(
        "",
        "",
        "row: what the model had met of its datasets before.  [default: what the row says]",
        choices=tuple(TRAINED_ON),
    )
    given: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True)
class ExportFormat:
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


def rows(wanted: ExportRequest, optional: bool = False) -> list[Row]:
    """The requested rows, of the store unless their names say otherwise, in the order of the arguments.

    Rows of the demo suite are left out if there are real ones, as their numbers are not comparable.

    :param optional: an empty store is no error, unless a row was requested
    """
    chosen = {name: resolve_all(name, wanted.store) for name in wanted.rows}
    present = (
        [row for rows in chosen.values() for row in rows]
        if chosen
        else from_store.read(Store(wanted.store))
    )
    if not present and not optional:
        raise StoreError(f"No finished trials in {wanted.store}", fix=f"check {opt('output')}.")
    present = list({row.name: row for row in present}.values())
    real = [row for row in present if row.suite != DEMO]
    named = [name for name, rows in chosen.items() if all(row.suite == DEMO for row in rows)]
    if real and named:
        raise SettingsError(
            f"{named[0]} ran on the synthetic demo suite, and cannot stand beside real rows."
        )
    return real or present


def one_row(wanted: ExportRequest) -> Row:
    """The requested row, of a run that of its last checkpoint; SettingsError with the choices if there are several."""
    chosen = last_of_a_run(rows(wanted))
    if len(chosen) > 1:
        choices = "\n".join(f"  '{row.name}'" for row in chosen)
        raise SettingsError(
            f"There are {len(chosen)} such rows", fix=f"choose one as ROW:\n{choices}"
        )
    return chosen[0]


def real_row(wanted: ExportRequest) -> Row:
    """`one_row`, but not from the demo suite: synthetic results must not look like real ones."""
    row = one_row(wanted)
    if row.suite == DEMO:
        raise SettingsError(
            f"{row.model} ran on the synthetic demo suite, so it has no results on BLURB to export."
        )
    return row


formats: Registry[ExportFormat] = Registry(
    "export format",
    "blurb.extensions.reports.export.formats",
    "EXPORT",
    "blurb.exports",
    "blurb.extensions.reports.export.formats:ExportFormat",
)


def render(name: str, wanted: ExportRequest) -> Files:
    """The content of a format's files by relative path ("" for a format with a single file); writes nothing.

    :raises BlurbError: if the request is invalid
    """
    form = formats.get(name)
    for other in wanted.given - form.options:
        fits = [each for each, one in formats.usable().items() if other in one.options]
        raise SettingsError(
            f"{opt(other.replace('_', '-'))} does not apply to {name}, only to {', '.join(fits)}."
        )
    return form.render(wanted)


def write(files: Files, out: Path, alone: bool) -> list[Path]:
    """Writes rendered files to `out`: one file, or a folder.

    :param alone: the folder must be new or empty, and appears with all files at once
    """
    if "" in files:
        if out.is_dir():
            raise SettingsError(f"{opt('out')} must be a file, but {out} is a folder.")
        write_whole(out, files[""])
        return [out]
    if out.exists() and (not out.is_dir() or (alone and any(out.iterdir()))):
        raise SettingsError(
            f"{out} exists already and was not changed", fix=f"choose another {opt('out')} folder."
        )
    whole = out.resolve()  # `.` has no name
    place = hidden_name(whole) if alone else out
    place.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_whole(place / name, content)
    if alone:
        # Not replaced, as it may be the user's working directory: the files are moved into it
        if whole.exists():
            for path in place.iterdir():
                path.rename(whole / path.name)
            place.rmdir()
        else:
            place.rename(whole)
    return [out / name for name in files]
