"""`blurb data download`: the original releases that need no registration."""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from blurb import tasks
from blurb.cli._made import click_command
from blurb.cli._options import TASKS
from blurb.corpora.build import MissingRelease, prepare
from blurb.corpora.download import fetch
from blurb.messages.errors import DataError
from blurb.messages.text import option
from blurb.options import Option
from blurb.terminal.output import console, show

if TYPE_CHECKING:
    from rich.progress import TaskID

    from blurb.tasks import Task


@click_command("download")
def download(
    *,
    out: Annotated[Path, Option(help="Folder for the original releases.")],
    selection: Annotated[str, TASKS] = "all",
    accept_licences: Annotated[bool, Option(help="Accept the licences shown without being asked.")] = False,
    again: Annotated[bool, Option(help="Download files without a pinned hash again even if they exist.")] = False,
) -> None:
    """Download the original releases that need no registration.

    Checks that BLURB's data can be prepared from them.

    Files, sizes and licences are shown first. After an interruption, run the same command again to continue. Files
    that never change are checked by SHA-256; finally all are prepared and compared with BLURB's data. Use --again to
    download a file without a pinned hash once more. Exit code 0 if all files are present and correct, 1 if something
    needs a registration or is not BLURB's data, 2 if a download failed.
    """
    chosen = tasks.load_selection(selection)
    ours = [task for task in chosen if task.source and task.source.downloads]
    others = [task for task in chosen if task not in ours]
    rows = [
        (task.name, file.path, "not known" if file.size is None else f"{file.size / 1e6:.1f}", task.licence)
        for task in ours
        if task.source
        for file in task.source.downloads
    ]
    show(("dataset", "file", "MB", "licence"), rows, "table", numbers=("MB",))
    for task in others:
        click.echo(f"{task.title} must be downloaded by hand ({_by_hand(task)}).")
    if not ours:
        raise SystemExit(1)
    if not accept_licences:
        if not sys.stdin.isatty():
            raise DataError("nothing was downloaded: add --accept-licences to accept the licences shown.")
        click.confirm("Do you accept these licences?", abort=True)
    errors: list[str] = []
    got = 0
    with bars() as shown:
        for task in ours:
            for source_file in task.source.downloads if task.source else ():
                bar = shown.add_task(Path(source_file.path).name, total=source_file.size)
                try:
                    new = fetch(source_file, out, partial(moved, shown, bar), again)
                    click.echo(f"{source_file.path}: {'downloaded' if new else 'already present'}", err=True)
                    got += 1
                except DataError as error:
                    click.echo(f"{source_file.path}: not downloaded", err=True)
                    errors.append(f"{task.title}: {error}")
                finally:
                    shown.remove_task(bar)
    wrong = _check(ours, out)
    for message in errors:
        click.secho(message, fg="red", err=True)
    doubtful = [] if again else [path for task in wrong for path in _unpinned(task, out)]
    if doubtful:
        click.secho(
            f"No hash is pinned for {', '.join(doubtful)}: the files may be damaged or of another version. Add --again "
            "to download them again.",
            fg="yellow",
            err=True,
        )
    if got:
        click.echo(f"Next: blurb data prepare{option('--raw', out)} --out DATA")
    if errors or others or wrong:
        raise SystemExit(2 if errors else 1)


def _by_hand(task: Task) -> str:
    if not task.source:
        return "its task names no source"
    return f"{task.source.page}; {task.source.note}" if task.source.note else task.source.page


def _check(chosen: list[Task], raw: Path) -> list[Task]:
    """Prepares the tasks in a temporary folder; returns those whose files are incomplete or not BLURB's data."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for task in chosen:
            try:
                verdict = str(prepare(task, raw, Path(folder))[0].verdict)
            except MissingRelease:
                verdict = "incomplete"
            except DataError as error:
                verdict = f"broken: {error}"
            right = verdict in ("identical", "counts only")
            wrong += [] if right else [task]
            click.secho(f"{task.title}: {verdict}", fg=None if right else "yellow", err=True)
    return wrong


def _unpinned(task: Task, raw: Path) -> list[str]:
    """The existing files of a task that have no hash to check them by."""
    downloads = task.source.downloads if task.source else ()
    return [one.path for one in downloads if not one.sha256 and (raw / one.path).is_file()]


def moved(shown: Progress, bar: TaskID, done: int, total: int | None) -> None:
    """Moves a bar of a download."""
    shown.update(bar, completed=done, total=total)


def bars() -> Progress:
    """The bars of downloads; none but on a terminal."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )
