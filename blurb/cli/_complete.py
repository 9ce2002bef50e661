"""Values that a shell completes (docs/commands.md): functions for `shell_complete` of arguments and options.

Whatever fails in one of them, such as a damaged store, completes nothing: nobody asked for a message.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from blurb import tasks as known
from blurb.messages import StoreError
from blurb.protocols import protocol

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]


def values(
    list_names: Callable[[click.Context], Iterable[str]], commas: bool = False, paths: str = ""
) -> Complete:
    """Completes names that begin as what is typed.

    :param commas: after a comma the next name begins
    :param paths: what the shell completes if no name fits: "file", "dir" or nothing
    """

    @functools.wraps(list_names)
    def complete(
        context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        before, comma, typed = incomplete.rpartition(",") if commas else ("", "", incomplete)
        given = before.split(",")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                names = [
                    name for name in dict.fromkeys(list_names(context)) if name.startswith(typed)
                ]
        except Exception:  # noqa: BLE001 - see above
            names = []
        found = [CompletionItem(f"{before}{comma}{name}") for name in names if name not in given]
        return found or ([CompletionItem(incomplete, type=paths)] if paths else [])

    return complete


def _row_names(context: click.Context) -> list[str]:
    """The rows of the store: models with one row by their name, others with their configuration."""
    from blurb.api.runs import stored_rows
    from blurb.store.store import Store

    there = stored_rows(Store(Path(context.params.get("output") or "runs")), lambda text: None)
    models = [row.planned.model for row in there]
    return [
        row.planned.model if models.count(row.planned.model) == 1 else row.name for row in there
    ]


def _rows_anywhere(context: click.Context) -> list[str]:
    from blurb.results import published

    there: list[str] = []
    with contextlib.suppress(StoreError):  # no store here: there are published rows still
        there = _row_names(context)
    return [
        *there,
        *(f"published:{row.name}" for row in (*published.shipped(), *published.ablations())),
    ]


one_task = values(lambda context: [task.name for task in known.all()], paths="file")
tasks = values(lambda context: known.selections(), commas=True, paths="file")
protocols = values(lambda context: protocol.protocol_names(), paths="file")
suites = values(lambda context: known.suite_names(), paths="dir")
models = values(lambda context: (), paths="dir")
rows = values(_row_names)
rows_anywhere = values(_rows_anywhere, paths="file")
