"""`blurb cache`: show or clear the files that blurb keeps to save time."""

from __future__ import annotations

from typing import Annotated, TypedDict

import click

from blurb.cli._group import Group
from blurb.cli._made import click_command
from blurb.messages import UnknownName, format_megabytes
from blurb.options import Argument, Option
from blurb.records import Count, From
from blurb.system import cache
from blurb.terminal.output import Column, print_records


class Cache(TypedDict):
    """One of the caches."""

    kind: Annotated[str, "kind, as for blurb cache clear"]
    what: Annotated[str, "what it has", From(lambda one: cache.KINDS[one.kind])]
    entries: Annotated[Count, "number of entries"]
    bytes: Annotated[Count, "size", From("size")]


COLUMNS = (
    Column("kind"),
    Column("what", lambda one: cache.KINDS[one.kind]),
    Column("entries", number=","),
    Column("MB", lambda one: format_megabytes(one.size), "s"),
)


@click_command("cache", cls=Group)
def command() -> None:
    """Show or clear the cache.

    It has tokenised data, vectors, the demo suite, scratch encoders and downloads."""


@click_command("info", prints=list[Cache], within=command)
def info(*, form: str) -> None:
    """Show the cache folder and its size.

    The folder is $BLURB_HOME or the user's cache folder. It never contains results.
    """
    usage = cache.usage()
    if print_records(form, Cache, usage, COLUMNS):
        click.echo(f"{format_megabytes(sum(one.size for one in usage))} MB in {cache.cache_home()}")


@click_command("clear", within=command)
def clear(
    kinds: Annotated[tuple[str, ...], Argument()] = (),
    *,
    yes: Annotated[bool, Option(help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete the cache, or only the given KINDS (see info).

    blurb recreates what it needs.

    Do not use this during a run on the demo suite or with a scratch encoder: it reads them from the cache.
    """
    for kind in kinds:
        if kind not in cache.KINDS:
            raise UnknownName("kind of cache", kind, cache.KINDS)
    chosen = kinds or tuple(cache.KINDS)
    if not yes:
        click.confirm(f"Remove {', '.join(chosen)} from {cache.cache_home()}?", abort=True)
    for kind in chosen:
        click.echo(f"{kind}: {format_megabytes(cache.clear(kind))} MB freed")
