"""`blurb study`: variants of a pretraining, each pretrained several times and scored."""

from __future__ import annotations

from pathlib import Path

import click

from blurb.cli._written import can_draw, list_written
from blurb.extensions.lab.api.studying import missing_parts, study
from blurb.extensions.lab.study.findings import PICTURE
from blurb.messages.text import duration


@click.command(name="study")
@click.argument("file", type=click.Path())
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), default="study", show_default=True,
              help="Folder of the parts; a study goes on from them alone.")  # fmt: skip
@click.option(
    "--data", type=click.Path(path_type=Path), help="Data folder; what its dev and test sets have is not learnt."
)
@click.option("--raw", type=click.Path(path_type=Path), help="Folder of the original releases, for more text.")
@click.option("--suite", type=click.Choice(["blurb", "demo"]), default="blurb", show_default=True,
              help="demo: synthetic data, for a try.")  # fmt: skip
@click.option("--threads", type=click.IntRange(min=1), help="Threads of torch.  [default: all cores]")
@click.option("--hours", type=click.FloatRange(0, min_open=True), help="Begin only parts that end within this time.")
@click.option("--read", is_flag=True, help="Make no part; write what those that are there show.")
@click.option("--dry-run", is_flag=True, help="List the parts that are missing, with their time, and stop.")
def command(
    file: str, output: Path, data: Path | None, raw: Path | None, suite: str, threads: int | None,
    hours: float | None, read: bool, dry_run: bool,
) -> None:  # fmt: skip
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
        coming, summary = missing_parts(file, output, data=data, raw=raw, suite=suite, hours=hours)
        for part in coming:
            time = "" if part.seconds is None else f", {duration(part.seconds)}"
            click.echo(f"{part.variant}, pretraining {part.seed}: {part.words:,} words{time}")
        click.echo(summary)
        return
    findings = study(
        file, output, data=data, raw=raw, suite=suite, hours=hours, run=not read,
        told=lambda text: click.echo(text, err=True),
    )  # fmt: skip
    if hours is not None and not findings.first:  # no time for a single part, as was told
        return
    for sentence in findings.reading():
        click.echo(sentence)
    list_written(findings.write(picture=can_draw()), PICTURE)
