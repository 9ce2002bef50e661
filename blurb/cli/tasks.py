"""`blurb tasks`: the tasks and their declarations."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, TypedDict

import click

from blurb import tasks
from blurb.cli._group import Group
from blurb.cli._made import click_command
from blurb.messages import BlurbError, SettingsError, option
from blurb.options import Argument, Option
from blurb.records import Count, From
from blurb.terminal.output import Column, emit, json_text, show

PRINTED = "as the paper's Table 3 has it, in `unit`; null if it is not known"


class TaskRecord(TypedDict):
    """A task."""

    name: Annotated[str, "name of the task, as in `blurb tasks`"]
    type: Annotated[str, "task type"]
    metric: Annotated[str, "metric of the score"]
    train: Annotated[Count | None, f"size of train {PRINTED}", From("sizes.train")]
    dev: Annotated[Count | None, f"size of dev {PRINTED}", From("sizes.dev")]
    test: Annotated[Count | None, f"size of test {PRINTED}", From("sizes.test")]
    seeds: Annotated[Count, "runs to average"]
    unit: Annotated[str, "what the sizes count"]
    max_length: Annotated[Count, "longest input, in sub-tokens"]
    licence: Annotated[str, "licence of the corpus"]
    homepage: Annotated[str, "its web page"]


COLUMNS = (
    *map(Column, ("name", "type", "metric")),
    Column("train", "sizes.train", ","),
    Column("dev", "sizes.dev", ","),
    Column("test", "sizes.test", ","),
    Column("seeds", number="d"),
    Column("unit"),
)


@dataclass(frozen=True)
class Declaration(tasks.Task):
    """The declaration of one task; texts are empty and numbers null where there is none.

    :param declared_in: file and line, or task file
    """

    declared_in: str = ""


@click_command("tasks", prints=list[TaskRecord], cls=Group)
def command(*, form: str) -> None:
    """List the tasks, show one, or create a task file."""
    emit(form, TaskRecord, tasks.all(), COLUMNS)


@click_command("show", prints=Declaration, within=command)
def show_task(name: Annotated[str, Argument(complete="one_task")], *, form: str) -> None:
    """Show the declaration of a task.

    Including its citation. NAME may be a task file.
    """
    task = tasks.load(name)
    fields = asdict(Declaration(**vars(task), declared_in=tasks.origin(task.name)))
    if form == "json":
        click.echo(json_text(fields), nl=False)
    else:  # fields that are not set are left out
        show(("field", "value"), [(field, text) for field, value in fields.items() if (text := _text(value))], form)


@click_command("new", within=command)
def new(
    name: Annotated[str, Argument()],
    *,
    kind: Annotated[
        str, Option(help="Task type: ner, pico, relation, similarity, document, qa or classification.", flag="--type")
    ],
    train: Annotated[Path, Option(help="File of the train split.")],
    dev: Annotated[Path, Option(help="File of the dev split.")],
    test: Annotated[Path, Option(help="File of the test split.")],
    form: Annotated[
        str | None,
        Option(help="File format: conll, tsv or jsonl.  [default: by the suffix of the train file]", flag="--format"),
    ] = None,
    out: Annotated[Path | None, Option(help="File to write.  [default: NAME.toml]")] = None,
) -> None:
    """Create the task file of your own corpus.

    The corpus is in CoNLL, TSV or JSON Lines.

    The labels come from the train file if it can be read; the rest is a template with comments. Run it with: blurb run
    MODEL --tasks ./NAME.toml
    """
    from blurb.data.readers import task_file
    from blurb.data.readers._examples import telling_cuts
    from blurb.tasks import _file

    form = form or {".jsonl": "jsonl", ".json": "jsonl", ".conll": "conll", ".iob": "conll", ".bio": "conll"}.get(
        train.suffix.lower(), next(iter(tasks.types.get(kind).formats))
    )
    tasks.check_free(name, "blurb tasks new")
    _file.check_format(kind, form)
    target = out or Path(f"{name}.toml")
    if target.suffix != tasks.SUFFIX:
        raise SettingsError(f"the name of a task file must end in {tasks.SUFFIX}.", where=target)
    if target.exists():
        raise SettingsError(f"{target} exists already", fix="remove it or choose another --out.")
    paths = dict(zip(tasks.SPLITS, (train, dev, test), strict=True))
    if lost := [f"--{split} {path}" for split, path in paths.items() if not path.is_file()]:
        raise SettingsError(f"File not found: {', '.join(lost)}. Nothing was written.")
    files = {split: Path(os.path.relpath(path, target.resolve().parent)).as_posix() for split, path in paths.items()}
    with telling_cuts(train):
        found = task_file.guess(train, kind, form)
    target.write_text(_file.template(name, kind, form, files, found.labels, found.columns), encoding="utf-8")
    click.echo(f"Wrote {target}.")
    try:
        task = tasks.load(str(target))
        rows = {split: sum(1 for _ in task_file.read(Path(task.files[split]), task, split)) for split in tasks.SPLITS}
    except BlurbError as error:
        click.secho(f"Edit the file before you use it: {error}", fg="yellow", err=True)
        raise SystemExit(1) from None
    if task.labels == (task_file.UNNAMED,):
        click.echo(f"The tags name no entity type, so it is called {task_file.UNNAMED}; to change this, edit 'labels'.")
    click.echo(
        f"Labels: {', '.join(task.labels) or 'none'}. Examples: {', '.join(f'{s} {n:,}' for s, n in rows.items())}."
    )
    click.echo(f"Next: blurb run MODEL{option('--tasks', target if target.is_absolute() else f'./{target}')}")


def _text(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
