"""`blurb tasks`: what is measured."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from blurb.cli._output import FORMATS, show


@click.group(name="tasks", invoke_without_command=True)
@click.option("--format", "form", type=FORMATS, default="table", help="Output format.")
@click.pass_context
def command(context: click.Context, form: str) -> None:
    """List the tasks, show one, or write the file of a new one."""
    if context.invoked_subcommand:
        return
    from blurb import tasks

    columns = ("name", "type", "metric", "train", "dev", "test", "seeds", "unit", "max length", "licence", "homepage")
    rows = [
        (task.name, task.type, task.metric, *(task.sizes.get(split, "") for split in tasks.SPLITS),
         task.seeds, task.unit, task.max_length, task.licence, task.homepage)
        for task in tasks.all()
    ]  # fmt: skip
    width = len(columns) if form != "table" else columns.index("unit") + 1  # what fits 80 characters
    show(columns[:width], [row[:width] for row in rows], form, numbers=columns[3:7])


@command.command(name="show")
@click.argument("name")
@click.option("--format", "form", type=FORMATS, default="table", help="Output format.")
def show_task(name: str, form: str) -> None:
    """Show everything that is declared about one task, its citation included. NAME may be a task file."""
    from blurb import tasks

    task = tasks.get(name)
    fields = {**asdict(task), "declared_in": tasks.origin(name)}
    if form == "json":
        show(list(fields), [list(fields.values())], form)
    else:  # what a declaration leaves out is nothing to read
        show(("field", "value"), [(field, text) for field, value in fields.items() if (text := _text(value))], form)


@command.command()
@click.argument("name")
@click.option("--type", "kind", required=True, help="ner, pico, relation, similarity, document or qa.")
@click.option("--train", type=click.Path(path_type=Path), required=True, help="File of the train split.")
@click.option("--dev", type=click.Path(path_type=Path), required=True, help="File of the dev split.")
@click.option("--test", type=click.Path(path_type=Path), required=True, help="File of the test split.")
@click.option("--format", "form", help="conll, tsv or jsonl.  [default: by the ending of the train file]")
@click.option("--out", type=click.Path(path_type=Path), help="File to write.  [default: NAME.toml]")
def new(name: str, kind: str, train: Path, dev: Path, test: Path, form: str | None, out: Path | None) -> None:
    """Write the task file of a corpus of your own: CoNLL, TSV or JSON lines.

    The labels are taken from the train file where it can be read as it is; all else is a template with comments. Run
    it with: blurb run MODEL --tasks ./NAME.toml
    """
    from blurb import tasks
    from blurb.data.readers import task_file
    from blurb.errors import BlurbError, SettingsError
    from blurb.tasks import _file, _template

    form = form or {".jsonl": "jsonl", ".json": "jsonl", ".conll": "conll", ".iob": "conll", ".bio": "conll"}.get(
        train.suffix.lower(), next(iter(tasks.types.get(kind).formats))
    )
    _file.check_format(kind, form)
    target = out or Path(f"{name}.toml")
    if target.suffix != tasks.SUFFIX:
        raise SettingsError(f"{target}: a task file ends in {tasks.SUFFIX}.")
    if target.exists():
        raise SettingsError(f"{target} is there already; remove it first, or give another --out.")
    paths = dict(zip(tasks.SPLITS, (train, dev, test), strict=True))
    if lost := [f"--{split} {path}" for split, path in paths.items() if not path.is_file()]:
        raise SettingsError(f"There is no file at {', '.join(lost)}; nothing was written.")
    files = {split: _from(target, path) for split, path in paths.items()}
    labels = task_file.guess_labels(train, kind, form)
    target.write_text(_template.text(name, kind, form, files, labels), encoding="utf-8")
    click.echo(f"{target} is written.")
    try:
        task = tasks.get(str(target))
        rows = {split: sum(1 for _ in task_file.read(Path(task.files[split]), task, split)) for split in tasks.SPLITS}
    except BlurbError as error:
        click.secho(f"It needs your hand before it can be used: {error}", fg="yellow", err=True)
        return
    if task.labels == (task_file.UNNAMED,):
        click.echo(f"The tags name no type of entity, so it is called {task_file.UNNAMED}; edit labels to change that.")
    click.echo(f"Labels: {', '.join(task.labels) or 'none'}. Rows: {', '.join(f'{s} {n:,}' for s, n in rows.items())}.")
    click.echo(f"Next: blurb run MODEL --tasks {target if target.is_absolute() else f'./{target}'}")


def _from(target: Path, path: Path) -> str:
    """A path as seen from the task file, so that both can be moved together."""
    import os

    return Path(os.path.relpath(path, target.resolve().parent)).as_posix()


def _text(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
