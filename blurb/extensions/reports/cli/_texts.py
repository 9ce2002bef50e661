"""Corpus text in what commands print: read from the user's data, and shown only where it is asked for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blurb.extensions.reports import trial_texts
from blurb.messages.errors import SettingsError

if TYPE_CHECKING:
    from blurb.store.record import Record


def may_show(with_text: bool, data: Path | None, raw: Path | None, form: str) -> bool:
    """Whether text may be printed: with `--with-text`, else only in a table on a terminal.

    :raises SettingsError: if it is asked for and there is no folder to read it from
    """
    if with_text and data is None and raw is None:
        raise SettingsError("--with-text reads the text from the data", fix="add --data.")
    return with_text or (form == "table" and sys.stdout.isatty())


def say_left_out() -> None:
    """Says on stderr why the text that was read is not shown."""
    click.echo(
        "The text is left out, as the output is no table on a terminal; add --with-text to include it.", err=True
    )


def of_trial(record: Record, folder: Path | None, raw: Path | None, split: str) -> tuple[dict[str, Any], list[Any]]:
    """The examples of the split by id, and those of train; warns if they are not those of the trial.

    The hash in the trial shows whether it used BLURB's files or the originals.
    """
    found = trial_texts.read(record, folder, raw, split)  # type: ignore[arg-type]
    if found.doubt:
        click.secho(found.doubt, fg="yellow", err=True)
    return found.examples, found.train
