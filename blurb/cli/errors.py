"""`blurb errors`: what a trial gets wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blurb.cli._output import FORMATS, show

if TYPE_CHECKING:
    from blurb.runs.store import Record

TABLE_LIMIT = 10


@click.command(name="errors")
@click.argument("row")
@click.option("--task", "name", help="Which dataset; not needed for the folder of a trial.")
@click.option("--seed", type=int, help="Which run.  [default: the first]")
@click.option("--split", type=click.Choice(["dev", "test"]), default="test", show_default=True, help="Whose mistakes.")
@click.option("--output", type=click.Path(path_type=Path), default="runs", show_default=True, help="Folder of trials.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the datasets: shows the text of mistakes.")
@click.option(
    "--raw", type=click.Path(path_type=Path), help="Folder of the original releases, for trials that ran on them."
)
@click.option("--kind", help="Only mistakes of this kind.")
@click.option(
    "--limit", type=click.IntRange(min=0), help="Mistakes to show.  [default: 10 in the table, all in csv and json]"
)
@click.option("--with-text", is_flag=True, help="Text also in files, pipes, csv and json.")
@click.option(
    "--format", "form", type=FORMATS, default="table", help="table: counts and mistakes; csv, json: mistakes."
)
def command(
    row: str, name: str | None, seed: int | None, split: str, output: Path, data: Path | None, raw: Path | None,
    kind: str | None, limit: int | None, with_text: bool, form: str,
) -> None:  # fmt: skip
    """Show what the trial of a row gets wrong: kinds of mistakes, and the largest of them.

    ROW is a row (MODEL, FOLDER[:ROW]) with --task, or the folder of a trial. Text of a corpus appears only if --data is
    given (or --raw, of a trial that ran on the originals), and only in the table on a terminal or with --with-text; all
    else is ids, counts and labels.
    """
    from blurb.analysis import errors
    from blurb.errors import SettingsError, UnknownName
    from blurb.wording import plural

    if with_text and data is None and raw is None:
        raise SettingsError("--with-text reads the text from the data: give their folder with --data.")
    record = _record(row, name, seed, output, split)
    texts, train = _texts(record, data, raw, split) if data or raw else (None, [])
    report = errors.analyse(record, split, texts, train)  # type: ignore[arg-type]
    kinds = sorted({example.kind for example in report.examples})
    if kind is not None and kind not in kinds:
        raise UnknownName("kind of mistake", kind, kinds)
    chosen = [example for example in report.examples if kind in (None, example.kind)]
    chosen.sort(key=lambda example: -example.weight)
    with_text = with_text or (form == "table" and sys.stdout.isatty())
    columns = ("unit", "kind", "right", "given", *(("text",) if texts and with_text else ()))
    limit = TABLE_LIMIT if limit is None and form == "table" else limit
    rows = [(one.unit, one.kind, one.gold, one.predicted, one.text)[: len(columns)] for one in chosen[:limit]]
    if form == "table":
        trial = record.trial
        click.echo(f"{row}: {trial.task}, seed {trial.seed}, {split}")
        for table in report.tables:
            click.echo(f"\n{table.title}")
            show(table.columns, table.rows, form, numbers=table.columns[1:])
        click.echo(f"{plural(len(chosen), 'mistake')}{f' ({kind})' if kind else ''}; the first {len(rows)}:")
    show(columns, rows, form)
    if texts and not with_text:
        click.echo("Text is left out, as this is no table on a terminal; --with-text puts it in.", err=True)


def _record(row: str, name: str | None, seed: int | None, output: Path, split: str) -> Record:
    """The trial that was asked for."""
    from blurb import tasks
    from blurb.errors import SettingsError, UnknownName
    from blurb.results.references import resolve
    from blurb.runs.store import Store

    if (Path(row) / "spec.json").is_file():
        store = Store(Path(row).resolve().parent.parent.parent)
        if not store.is_done(Path(row)):
            raise SettingsError(f"{row}: the trial is not finished, or damaged.")
        return store.read(Path(row))
    found = resolve(row, output)
    trials = found.records
    if not trials:
        raise SettingsError(f"{row} is a row without predictions; errors are found in those of a store.")
    if name is None:
        raise SettingsError(f"Which dataset? --task {' or '.join(trials)}")
    if name.endswith(tasks.SUFFIX):
        name = tasks.get(name).name
    if name not in trials:
        raise UnknownName(f"dataset of {found.name}", name, trials)
    records = trials[name]
    if seed is not None and seed not in records:
        raise SettingsError(f"{found.name} has no finished seed {seed} of {name}; there are {sorted(records)}.")
    return records[min(records) if seed is None else seed]


def _texts(record: Record, folder: Path | None, raw: Path | None, split: str) -> tuple[dict[str, Any], list[Any]]:
    """The examples of the split by id, and those of train; a warning if they are not those of the trial.

    A trial ran on the files of the layout or on the originals: which of them, their hash tells.
    """
    from blurb import data
    from blurb.corpora.originals.loading import load_original
    from blurb.errors import SettingsError

    task = record.task
    content = data.load(task, folder) if folder else None
    if raw and task.original and (content is None or content.hash != record.trial.data):
        original = load_original(task, raw)
        content = original if content is None or original.hash == record.trial.data else content
    if content is None:
        raise SettingsError(f"There are no originals of {task.name} to read; give the folder of its data with --data.")
    if content.hash != record.trial.data:
        hint = " If it ran on the original releases, give them with --raw." if task.original and not raw else ""
        message = f"The trial saw other data than these: text and ids may not belong together.{hint}"
        click.secho(message, fg="yellow", err=True)
    return {str(one["id"]): one for one in content.splits[split]}, list(content.splits["train"])  # type: ignore[index]
