"""`blurb study`: variants of a pretraining, each pretrained several times and scored."""

from __future__ import annotations

from typing import Annotated, Any

import click

from blurb.cli._made import click_command
from blurb.extensions.lab.api.studying import missing_parts, study
from blurb.extensions.lab.study.findings import PICTURE
from blurb.messages import format_duration
from blurb.options import Option
from blurb.terminal.output import can_draw, list_written


@click_command("study", study)
def command(
    *,
    threads: Annotated[
        int | None, Option(help="Threads of torch.  [default: all cores]", low=1)
    ] = None,
    read: Annotated[
        bool, Option(help="Make no part; write what those that are there show.")
    ] = False,
    dry_run: Annotated[
        bool, Option(help="List the parts that are missing, with their time, and stop.")
    ] = False,
    **given: Any,
) -> None:
    """Compare ways to pretrain a small encoder.

    A pretraining is the unit of every test.
    FILE is a TOML file, or a study that is shipped: from-scratch-or-continued, masking, vocabulary or
    vocabulary-and-masking. Start the same command in several processes or on several machines to share the parts.
    docs/extensions/lab.md has an example with its result.
    """
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    if dry_run:
        coming, summary = missing_parts(**given)
        for part in coming:
            time = "" if part.seconds is None else f", {format_duration(part.seconds)}"
            click.echo(f"{part.variant}, pretraining {part.seed}: {part.words:,} words{time}")
        click.echo(summary)
        return
    findings = study(**given, run=not read, told=lambda text: click.echo(text, err=True))
    if given["hours"] is not None and not findings.first:  # no time for a single part, as was told
        return
    for sentence in findings.reading():
        click.echo(sentence)
    list_written(findings.write(picture=can_draw()), PICTURE)
