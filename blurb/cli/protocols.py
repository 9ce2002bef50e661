"""`blurb protocols`: the protocols and their settings."""

from __future__ import annotations

from typing import Annotated, TypedDict

import click

from blurb import tasks
from blurb.api import protocols
from blurb.cli._group import Group
from blurb.cli._made import click_command
from blurb.learners import protocol_learner
from blurb.options import Argument, Option
from blurb.protocols.protocol import Protocol, load_protocol_file, protocol_names
from blurb.records import From, Rule
from blurb.terminal.output import Column, print_records, print_rows


def _seed_counts(protocol: Protocol) -> list[int]:
    return sorted({len(protocol.seeds(task)) for task in tasks.select_tasks("all")})


class ProtocolRecord(TypedDict):
    """A protocol."""

    name: Annotated[str, "name, with version"]
    learner: Annotated[
        str, "encoder or probe", From(lambda one: protocol_learner.kind_of(one).name)
    ]
    seeds: Annotated[
        list[Annotated[int, Rule("minimum", 1)]],
        "the numbers of seeds that its tasks have",
        From(_seed_counts),
    ]
    description: Annotated[str, "what it is for"]


COLUMNS = (
    Column("name"),
    Column("learner", lambda one: protocol_learner.kind_of(one).name),
    Column(
        "seeds",
        lambda one: " to ".join(map(str, sorted({min(_seed_counts(one)), max(_seed_counts(one))}))),
        "s",
    ),
    Column("description"),
)


@click_command("protocols", prints=list[ProtocolRecord], cls=Group)
def command(*, form: str) -> None:
    """List the protocols, or show the settings of one."""
    print_records(
        form, ProtocolRecord, [load_protocol_file(name) for name in protocol_names()], COLUMNS
    )


@click_command("show", prints=list[protocols.SettingValue], within=command)
def show_protocol(
    name: Annotated[str, Argument(complete="protocols")],
    *,
    selection: Annotated[
        str, Option(help="Task names, types or files.", flag="--tasks", complete="tasks")
    ] = "all",
    form: str,
) -> None:
    """Show the settings that a protocol gives to each task.

    NAME is a protocol or a TOML file. Says where each value stands.

    In csv and json there is a line for each task and setting. Settings that do not concern a task are left out.
    """
    protocol = protocol_learner.load(name)
    lines = protocols.values(protocol, tasks.load_selection(selection))
    if not print_records(form, protocols.SettingValue, lines):
        return
    click.echo(f"{protocol.name}: {protocol.description}")
    if protocol.note:
        click.echo(f"Note of its rows: {protocol.note}.")
    if special := {
        **{name: (value,) for name, value in protocol.adapter.items()},
        **protocol.adapter_search,
    }:
        shown = [f"{name} {' or '.join(map(str, values))}" for name, values in special.items()]
        click.echo(f"With an adapter: {', '.join(shown)}.")
    print_rows(("setting", "value", "origin", "tasks"), protocols.grouped(lines), form)
