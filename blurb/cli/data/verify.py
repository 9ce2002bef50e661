"""`blurb data verify`: check that the data is BLURB's."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import click

from blurb import tasks
from blurb.cli._made import click_command
from blurb.cli._options import TASKS
from blurb.data import home
from blurb.data.loading import elsewhere, examine
from blurb.messages.errors import DataError
from blurb.options import Option
from blurb.records import Count, From
from blurb.tasks import SPLITS, Split
from blurb.terminal.output import Column, emit

if TYPE_CHECKING:
    from blurb.data.loading import DatasetVerification


def _cell(split: Split, finding: DatasetVerification) -> str:
    there, printed = finding.counts.get(split), finding.task.sizes.get(split)
    text = "-" if there is None else f"{there:,}"
    return text if printed in (None, there) else f"{text} ({printed:,})"


def _verdict(finding: DatasetVerification) -> str:
    if finding.errors:
        return "unreadable"
    if finding.verdict is None:
        return "missing"
    return finding.verdict


def _told(finding: DatasetVerification) -> str:
    """The verdict, and which splits are missing if some are there."""
    some = finding.missing and finding.verdict is not None and not finding.errors
    return _verdict(finding) + (f", missing: {', '.join(finding.missing)}" if some else "")


class DatasetRecord(TypedDict):
    """Sizes and identity of a dataset in a data folder."""

    task: Annotated[str, "name of the task, as in `blurb tasks`", From("task.name")]
    unit: Annotated[str, "what the sizes count", From("task.unit")]
    train: Annotated[
        Count | None, "size of train; null if it is missing or unreadable", From(lambda one: one.counts.get("train"))
    ]
    train_printed: Annotated[
        Count | None, "size in the paper's Table 3; null if it has none", From(lambda one: one.task.sizes.get("train"))
    ]
    dev: Annotated[
        Count | None, "size of dev; null if it is missing or unreadable", From(lambda one: one.counts.get("dev"))
    ]
    dev_printed: Annotated[
        Count | None, "size in the paper's Table 3; null if it has none", From(lambda one: one.task.sizes.get("dev"))
    ]
    test: Annotated[
        Count | None, "size of test; null if it is missing or unreadable", From(lambda one: one.counts.get("test"))
    ]
    test_printed: Annotated[
        Count | None, "size in the paper's Table 3; null if it has none", From(lambda one: one.task.sizes.get("test"))
    ]
    verdict: Annotated[
        Literal["identical", "counts only", "differs", "not known", "missing", "unreadable"],
        "whether these are BLURB's examples",
        From(_verdict),
    ]
    missing: Annotated[list[Split], "splits without a file"]


COLUMNS = (
    Column("dataset", "task.name"),
    Column("unit", "task.unit"),
    *(Column(split, partial(_cell, split), "s") for split in SPLITS),
    Column("verdict", _told),
)


@click_command("verify", prints=list[DatasetRecord])
def verify(
    *,
    given: Annotated[Path | None, Option(help="Data folder in BLURB's layout.", flag="--data")] = None,
    selection: Annotated[str, TASKS] = "all",
    allow_missing: Annotated[bool, Option(help="Do not fail because of missing files.")] = False,
    full: Annotated[bool, Option(help="Read every file, even if it matches the manifest.")] = False,
    form: str,
) -> None:
    """Check by counts and hashes that the data is BLURB's.

    The size of every split is compared with the paper's Table 3, the hash of its examples with the release.

    A file that is byte for byte as `blurb data prepare` wrote it (see manifest.json in the folder) is not read again.

    Verdicts: identical (same examples in the same order), counts only, differs. Exit code 0 if nothing is missing or
    different, 1 otherwise, 2 if a file cannot be read.
    """
    chosen = tasks.load_selection(selection)
    folder = given or home.home()
    if not folder.is_dir():
        raise DataError("the data folder does not exist.", folder)
    findings = [examine(task, folder, trust=not full) for task in chosen]
    if emit(form, DatasetRecord, findings, COLUMNS):
        click.echo("In brackets: the number in Table 3 of the paper, where it differs.")
    for finding in findings:
        sizes = {split: finding.task.sizes.get(split) for split in finding.counts}
        if finding.task.explanation and finding.counts and dict(finding.counts) != sizes:
            click.echo(f"{finding.task.title}: {finding.task.explanation}", err=True)
        for error in finding.errors:
            click.secho(error, fg="red", err=True)
    for note in dict.fromkeys(str(note) for finding in findings for note in finding.notes):  # one manifest for all
        click.secho(note, fg="yellow", err=True)
    if all(len(finding.missing) == len(tasks.SPLITS) for finding in findings):
        click.secho(f"{folder}: none of the data files exists.{elsewhere(chosen, folder)}", fg="yellow", err=True)
    if any(finding.errors for finding in findings):
        raise SystemExit(2)
    bad = any(finding.verdict == "differs" for finding in findings)
    if bad or (not allow_missing and any(finding.missing for finding in findings)):
        raise SystemExit(1)
