"""`blurb protocols`: the protocols and their settings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, TypedDict

import click

from blurb import tasks
from blurb.api import protocols
from blurb.api.protocols import SettingValue, seed_counts
from blurb.cli._group import Group
from blurb.cli._made import click_command
from blurb.learners import of_protocol
from blurb.options import Argument, Option
from blurb.protocols.protocol import load, names
from blurb.records import Rule, columns
from blurb.terminal.output import show


class Listed(TypedDict):
    """A protocol."""

    name: Annotated[str, "name, with version"]
    learner: Annotated[str, "encoder or probe"]
    seeds: Annotated[list[Annotated[int, Rule("minimum", 1)]], "the numbers of seeds that its tasks have"]
    description: Annotated[str, "what it is for"]


def _values() -> object:
    return list[SettingValue]


@click_command("protocols", prints=list[Listed], cls=Group)
def command(*, form: str) -> None:
    """List the protocols, or show the settings of one."""
    thirteen = tasks.select("all")
    rows: list[tuple[Any, ...]] = [
        (one.name, of_protocol.kind_of(one).name, seed_counts(one, thirteen), one.description)
        for one in (load(name) for name in names())
    ]
    if form == "table":
        rows = [(*start, " to ".join(map(str, sorted({counts[0], counts[-1]}))), text) for *start, counts, text in rows]
    show(columns(Listed), rows, form, numbers=("seeds",))


@click_command("show", prints=_values, within=command)
def show_protocol(
    name: Annotated[str, Argument(complete="protocols")],
    *,
    selection: Annotated[str, Option(help="Task names, types or files.", flag="--tasks", complete="tasks")] = "all",
    form: str,
) -> None:
    """Show the settings that a protocol gives to each task.

    NAME is a protocol or a TOML file. Says where each value stands.

    In csv and json there is a line for each task and setting. Settings that do not concern a task are left out.
    """
    protocol = of_protocol.load(name)
    lines = protocols.values(protocol, tasks.load_selection(selection))
    if form != "table":
        show(columns(protocols.SettingValue), [tuple(asdict(line).values()) for line in lines], form)
        return
    click.echo(f"{protocol.name}: {protocol.description}")
    if protocol.note:
        click.echo(f"Note of its rows: {protocol.note}.")
    show(("setting", "value", "origin", "tasks"), protocols.grouped(lines), form)
