"""`blurb data prepare`: convert the original releases to BLURB's layout."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal, TypedDict

import click

from blurb.cli._made import TASKS, click_command
from blurb.cli.data.download import load_real
from blurb.corpora.build import MissingRelease, build_task as make
from blurb.data.loading import (
    DatasetVerification,
    check_folder,
    data_home,
    examine_task,
    hint_at_folder,
)
from blurb.messages import DataError
from blurb.options import Option
from blurb.planning.options import SUITE
from blurb.records import Count, From, record_columns as keys
from blurb.tasks import SPLITS, Split, Task
from blurb.terminal.output import Column, print_records, print_rows


class Prepared(TypedDict):
    """A dataset converted from its original release."""

    task: Annotated[str, "name of the task, as in `blurb tasks`"]
    unit: Annotated[str, "what the sizes count"]
    train: Annotated[Count | None, "size of train; null unless it was written"]
    dev: Annotated[Count | None, "size of dev; null unless it was written"]
    test: Annotated[Count | None, "size of test; null unless it was written"]
    verdict: Annotated[
        Literal[
            "identical",
            "counts only",
            "differs",
            "not known",
            "missing",
            "broken",
            "not preparable",
        ],
        "outcome",
    ]
    seconds: Annotated[float, "time that it took"]


@click_command("prepare", prints=list[Prepared])
def prepare_datasets(
    *,
    raw: Annotated[Path, Option(help="Folder with the original releases.")],
    out: Annotated[Path, Option(help="Folder for the files in BLURB's layout.")],
    selection: Annotated[str, TASKS] = "all",
    suite: Annotated[str, SUITE] = "blurb",
    form: str,
) -> None:
    """Convert the original releases to BLURB's files.

    They may be anywhere below --raw, unpacked or as archives.

    Missing releases are listed with their download page; the others are converted and verified. A dataset replaces an
    older one only when it is complete. Exit code 0 if all were prepared, 1 if some are missing, 2 if an original is
    broken or --out cannot be written.
    """
    chosen = load_real(selection, suite)
    if not raw.is_dir():
        raise DataError("the folder of the original releases does not exist.", raw)
    rows: list[tuple[Any, ...]] = []
    missing: list[tuple[Task, str]] = []
    errors: list[str] = []
    remarks: list[str] = []
    for task in chosen:
        start = perf_counter()
        counts: tuple[int | None, ...] = (None, None, None)
        if not task.builder:
            outcome = "not preparable"
            missing.append((task, "its task names no builder."))
        else:
            click.echo(f"{task.title} ...", err=True)
            try:
                found, notes = make(task, raw, out)
                outcome, counts = str(found.verdict), tuple(found.counts.values())
                remarks += notes
                if found.verdict == "differs":
                    remarks.append(
                        f"{task.title}: prepared, but this is not BLURB's data (see blurb data verify)."
                    )
            except MissingRelease as error:
                outcome = "missing"
                missing.append((task, str(error)))
            except DataError as error:
                outcome = "broken"
                errors.append(f"{task.title}: {error}")
        rows.append((task.name, task.unit, *counts, outcome, round(perf_counter() - start, 3)))
    if form == "table":
        rows = [
            (*("-" if cell is None else cell for cell in row[:-1]), f"{row[-1]:.1f}")
            for row in rows
        ]
    columns = ("dataset", *keys(Prepared)[1:]) if form == "table" else keys(Prepared)
    print_rows(columns, rows, form, numbers=(*SPLITS, "seconds"))
    for remark in remarks:
        click.secho(remark, fg="yellow", err=True)
    for task, problem in missing:
        click.echo(_where_to_get(task, problem), err=True)
    for message in errors:
        click.secho(message, fg="red", err=True)
    if errors or missing:
        raise SystemExit(2 if errors else 1)


def _where_to_get(task: Task, problem: str) -> str:
    lines = [f"\n{task.title} is missing: {problem}"]
    if task.source:
        lines += [f"  get it from: {task.source.page}", f"  save as:     {task.source.files}"]
    lines.append(f"  licence:     {task.licence}")
    if task.source and task.source.note:
        lines.append(f"  note:        {task.source.note}")
    return "\n".join(lines)


def _split_cell(split: Split, finding: DatasetVerification) -> str:
    there, printed = finding.counts.get(split), finding.task.sizes.get(split)
    text = "-" if there is None else f"{there:,}"
    return text if printed in (None, there) else f"{text} ({printed:,})"


def _verdict_cell(finding: DatasetVerification) -> str:
    if finding.errors:
        return "unreadable"
    return "missing" if finding.verdict is None else finding.verdict


def _verdict_and_missing(finding: DatasetVerification) -> str:
    """The verdict, and which splits are missing if some are there."""
    some = finding.missing and finding.verdict is not None and not finding.errors
    return _verdict_cell(finding) + (f", missing: {', '.join(finding.missing)}" if some else "")


class DatasetRecord(TypedDict):
    """Sizes and identity of a dataset in a data folder."""

    task: Annotated[str, "name of the task, as in `blurb tasks`", From("task.name")]
    unit: Annotated[str, "what the sizes count", From("task.unit")]
    train: Annotated[
        Count | None, "size of train; null if it is missing or unreadable", From("counts.train")
    ]
    train_printed: Annotated[
        Count | None, "size in the paper's Table 3; null if it has none", From("task.sizes.train")
    ]
    dev: Annotated[
        Count | None, "size of dev; null if it is missing or unreadable", From("counts.dev")
    ]
    dev_printed: Annotated[
        Count | None, "size in the paper's Table 3; null if it has none", From("task.sizes.dev")
    ]
    test: Annotated[
        Count | None, "size of test; null if it is missing or unreadable", From("counts.test")
    ]
    test_printed: Annotated[
        Count | None, "size in the paper's Table 3; null if it has none", From("task.sizes.test")
    ]
    verdict: Annotated[
        Literal["identical", "counts only", "differs", "not known", "missing", "unreadable"],
        "whether these are BLURB's examples",
        From(_verdict_cell),
    ]
    missing: Annotated[list[Split], "splits without a file"]


COLUMNS = (
    Column("dataset", "task.name"),
    Column("unit", "task.unit"),
    *(Column(split, partial(_split_cell, split), "s") for split in SPLITS),
    Column("verdict", _verdict_and_missing),
)


@click_command("verify", prints=list[DatasetRecord])
def verify_datasets(
    *,
    given: Annotated[
        Path | None, Option(help="Data folder in BLURB's layout.", flag="--data")
    ] = None,
    selection: Annotated[str, TASKS] = "all",
    suite: Annotated[str, SUITE] = "blurb",
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
    chosen = load_real(selection, suite)
    # Task files name their own data files.
    folder = given or (
        Path(chosen[0].file).parent if all(task.has_own_paths for task in chosen) else data_home()
    )
    check_folder(folder)
    findings = [examine_task(task, folder, trust=not full) for task in chosen]
    if print_records(form, DatasetRecord, findings, COLUMNS) and suite == "blurb":
        click.echo("In brackets: the number in Table 3 of the paper, where it differs.")
    for finding in findings:
        sizes = {split: finding.task.sizes.get(split) for split in finding.counts}
        if finding.task.explanation and finding.counts and dict(finding.counts) != sizes:
            click.echo(f"{finding.task.title}: {finding.task.explanation}", err=True)
        for error in finding.errors:
            click.secho(error, fg="red", err=True)
    # All datasets share one manifest, so its notes repeat.
    for note in dict.fromkeys(str(note) for finding in findings for note in finding.notes):
        click.secho(note, fg="yellow", err=True)
    if all(len(finding.missing) == len(SPLITS) for finding in findings):
        click.secho(
            f"{folder}: none of the data files exists.{hint_at_folder(chosen, folder)}",
            fg="yellow",
            err=True,
        )
    if any(finding.errors for finding in findings):
        raise SystemExit(2)
    if any(
        finding.verdict == "differs" or (finding.missing and not allow_missing)
        for finding in findings
    ):
        raise SystemExit(1)
