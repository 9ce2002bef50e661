"""`blurb data download`: the original releases that need no registration."""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from blurb.cli._made import TASKS, click_command
from blurb.corpora import download as downloads
from blurb.corpora.build import MissingRelease, build_task
from blurb.data.loading import data_home
from blurb.messages import DataError, SettingsError, opt, option_to_paste
from blurb.options import Option
from blurb.planning.options import SUITE
from blurb.tasks import Download, Task, load_selection
from blurb.terminal.output import make_console, print_rows


@click_command("download")
def download_originals(
    *,
    out: Annotated[Path, Option(help="Folder for the original releases.")],
    selection: Annotated[str, TASKS] = "all",
    suite: Annotated[str, SUITE] = "blurb",
    accept_licences: Annotated[
        bool, Option(help="Accept the licences shown without being asked.")
    ] = False,
    again: Annotated[
        bool, Option(help="Download files without a pinned hash again even if they exist.")
    ] = False,
) -> None:
    """Download the original releases that need no registration.

    Checks that BLURB's data can be prepared from them.

    Files, sizes and licences are shown first. After an interruption, run the same command again to continue. Files
    that never change are checked by SHA-256; finally all are prepared and compared with BLURB's data. Use --again to
    download a file without a pinned hash once more. Exit code 0 if all files are present and correct, 1 if something
    needs a registration or is not BLURB's data, 2 if a download failed.
    """
    chosen = load_real(selection, suite)
    ours = [task for task in chosen if task.source and task.source.downloads]
    others = [task for task in chosen if task not in ours]
    rows = [
        (
            task.name,
            file.path,
            "not known" if file.size is None else f"{file.size / 1e6:.1f}",
            task.licence,
        )
        for task in ours
        if task.source
        for file in task.source.downloads
    ]
    print_rows(("dataset", "file", "MB", "licence"), rows, numbers=("MB",))
    for task in others:
        click.echo(f"{task.title} must be downloaded by hand ({_by_hand(task)}).")
    if not ours:
        raise SystemExit(1)
    _ask_for_licences(accept_licences)
    errors: list[str] = []
    got = 0
    with _download_bars() as shown:
        for task in ours:
            for source_file in task.source.downloads if task.source else ():
                try:
                    new = _fetch_file(shown, out, source_file, again)
                    click.echo(
                        f"{source_file.path}: {'downloaded' if new else 'already present'}",
                        err=True,
                    )
                    got += 1
                except DataError as error:
                    click.echo(f"{source_file.path}: not downloaded", err=True)
                    errors.append(f"{task.title}: {error}")
    wrong = _incomplete_tasks(ours, out)
    for message in errors:
        click.secho(message, fg="red", err=True)
    files = [file for task in wrong if task.source for file in task.source.downloads]
    unpinned = [file.path for file in files if not file.sha256 and (out / file.path).is_file()]
    if unpinned and not again:
        click.secho(
            f"No hash is pinned for {', '.join(unpinned)}: the files may be damaged or of another version. Add --again "
            "to download them again.",
            fg="yellow",
            err=True,
        )
    if got:
        given = option_to_paste("--raw", out) + option_to_paste("--suite", suite, "blurb")
        click.echo(f"Next: blurb data prepare{given} --out DATA")
    if errors or others or wrong:
        raise SystemExit(2 if errors else 1)


def load_real(selection: str, suite: str) -> list[Task]:
    """The tasks of a suite whose data is somebody else's; SettingsError for `demo`."""
    if suite == "demo":
        raise SettingsError(
            "The data of the suite demo comes with blurb", fix=f"run it: {opt('suite', 'demo')}."
        )
    return load_selection(selection, suite)


def _by_hand(task: Task) -> str:
    if not task.source:
        return "its task names no source"
    return f"{task.source.page}; {task.source.note}" if task.source.note else task.source.page


def _incomplete_tasks(chosen: list[Task], raw: Path) -> list[Task]:
    """Prepares the tasks in a temporary folder; returns those whose files are incomplete or not BLURB's data."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for task in chosen:
            try:
                verdict = str(build_task(task, raw, Path(folder))[0].verdict)
            except MissingRelease:
                verdict = "incomplete"
            except DataError as error:
                verdict = f"broken: {error}"
            right = verdict in ("identical", "counts only")
            wrong += [] if right else [task]
            click.secho(f"{task.title}: {verdict}", fg=None if right else "yellow", err=True)
    return wrong


def _ask_for_licences(accepted: bool) -> None:
    """Asks whether the licences are accepted, unless that was said before."""
    if not accepted:
        if not sys.stdin.isatty():
            raise DataError(
                "nothing was downloaded: add --accept-licences to accept the licences shown."
            )
        click.confirm("Do you accept these licences?", abort=True)


def _download_bars() -> Progress:
    """The bars of downloads; none but on a terminal."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=make_console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )


@click_command("get")
def get_datasets(
    *,
    selection: Annotated[str, TASKS] = "all",
    suite: Annotated[str, SUITE] = "blurb",
    data: Annotated[
        Path | None, Option(help="Data folder; BLURB_DATA, or by default the user's own.")
    ] = None,
    raw: Annotated[
        Path | None, Option(help="Folder of the original releases.  [default: beside it]")
    ] = None,
    accept_licences: Annotated[
        bool, Option(help="Accept the licences shown without being asked.")
    ] = False,
) -> None:
    """Get the datasets: download, prepare and verify them.

    Three datasets cannot be downloaded (ChemProt and BioASQ need a registration, BIOSSES is a RAR archive): the table
    at the end says from where, and into which folder. Run the same command again after that, or after an interruption:
    what is there already is not fetched again. Exit code 0 if all are there, 1 if some still need something, 2 if
    nothing could be begun.
    """
    chosen = load_real(selection, suite)
    folder = data or data_home()
    originals = raw or folder.with_name("originals")
    print_rows(("dataset", "licence"), [(task.name, task.licence) for task in chosen])
    _ask_for_licences(accept_licences)
    outcomes = []
    for task in chosen:
        click.echo(f"{task.title} ...", err=True)
        with _download_bars() as shown:
            outcomes.append(
                downloads.get(task, originals, folder, partial(_fetch_file, shown, originals))
            )
    lines = [(got.task.name, got.verdict, got.needs) for got in outcomes]
    print_rows(("dataset", "verdict", "what it still needs"), lines)
    present = [got.task.name for got in outcomes if not got.needs]
    if present:
        named = option_to_paste("--data", data) + option_to_paste("--suite", suite, "blurb")
        click.echo(f"{folder} has {len(present)} of {len(chosen)}. Next: blurb run MODEL{named}")
    if len(present) < len(chosen):
        raise SystemExit(1)


def _fetch_file(shown: Progress, folder: Path, file: Download, again: bool = False) -> bool:
    """Whether a file was downloaded, and not there already; with a bar."""
    bar = shown.add_task(Path(file.path).name, total=file.size)
    try:
        return downloads.fetch(
            file, folder, lambda done, total: shown.update(bar, completed=done, total=total), again
        )
    finally:
        shown.remove_task(bar)
