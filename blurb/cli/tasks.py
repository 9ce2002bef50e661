"""`blurb tasks`: what is measured."""

from __future__ import annotations

from dataclasses import asdict

import click

from blurb.cli._output import FORMATS, show


@click.group(name="tasks", invoke_without_command=True)
@click.option("--format", "form", type=FORMATS, default="table", help="Output format.")
@click.pass_context
def command(context: click.Context, form: str) -> None:
    """List the tasks, or show one."""
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
    """Show everything that is declared about one task, its citation included."""
    from blurb import tasks

    task = tasks.get(name)
    fields = {**asdict(task), "declared_in": tasks.origin(name)}
    rows = [(field, value if form == "json" else _text(value)) for field, value in fields.items()]
    if form == "json":
        show([field for field, _ in rows], [[value for _, value in rows]], form)
    else:
        show(("field", "value"), rows, form)


def _text(value: object) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
