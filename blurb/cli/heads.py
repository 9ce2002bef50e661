"""`blurb heads`: the available heads and poolings."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import click

import blurb
from blurb import heads
from blurb.cli._group import Group
from blurb.cli._made import click_command
from blurb.heads._spec import plugin_options, write_options
from blurb.inputs import words
from blurb.messages import SettingsError, UnknownName
from blurb.options import Argument
from blurb.records import record_columns
from blurb.terminal.output import print_rows


class HeadRecord(TypedDict):
    """A head, a pooling or a pooling of words."""

    kind: Annotated[Literal["head", "pooling", "word pooling"], "kind"]
    name: Annotated[str, "name"]
    serves: Annotated[
        list[str], "kinds of prediction that it can make; empty if it cannot be loaded"
    ]
    options: Annotated[dict[str, float | str | bool], "default of each option"]
    origin: Annotated[str, "file and line, or why it cannot be loaded"]


@click_command("heads", prints=list[HeadRecord], cls=Group)
def command(*, form: str) -> None:
    """List heads and poolings with their options and defaults.

    Says in which file and line each is defined.

    Options follow the name: --head bilstm,hidden=128,layers=2. A word pooling chooses the sub-tokens that represent a
    word in NER and PICO: --set word_pooling=mean
    """
    rows: list[tuple[Any, ...]] = []
    for registry in (heads.heads, heads.poolings):
        for name in registry.names():
            try:
                plugin = registry.get(name)
                serves = list(getattr(plugin, "kinds", ("single", "multi", "regression")))
                rows.append(
                    (registry.kind, name, serves, plugin_options(plugin), registry.origin(name))
                )
            except SettingsError as error:  # a broken plug-in must not hide the others
                rows.append((registry.kind, name, [], {}, str(error)))
    rows += [("word pooling", name, ["tokens"], {}, words.__file__) for name in words.POOLINGS]
    if form == "table":
        rows = [
            (kind, name, ", ".join(serves), " ".join(write_options(choices)), _short_origin(origin))
            for kind, name, serves, choices, origin in rows
        ]
    print_rows(record_columns(HeadRecord), rows, form)


@click_command("show", within=command)
def show_head(name: Annotated[str, Argument()]) -> None:
    """Show what a head or pooling does, its options and defaults."""
    name = heads.poolings.registered(heads.heads.registered(name))
    registries = [
        registry for registry in (heads.heads, heads.poolings) if name in registry.names()
    ]
    if not registries:
        raise UnknownName("head or pooling", name, [*heads.heads.names(), *heads.poolings.names()])
    for registry in registries:
        plugin = registry.get(name)
        serves = ", ".join(getattr(plugin, "kinds", ("single", "multi", "regression")))
        click.echo(f"{registry.kind} {name} ({serves}), {_short_origin(registry.origin(name))}")
        click.echo((inspect.getdoc(plugin) or "").replace(":param ", ""))
        click.echo(f"Options: {', '.join(write_options(plugin_options(plugin))) or 'none'}")


def _short_origin(origin: str) -> str:
    """The file and line in the installed package, without its folder; other origins as they are."""

    return origin.removeprefix(f"{Path(blurb.__file__).parent.parent}/")
