"""`blurb doctor`: everything that is wrong, in one list."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import click

from blurb.cli._exit import PARTLY
from blurb.cli._made import click_command
from blurb.doctor import Diagnosis, examine
from blurb.messages import count_noun
from blurb.options import Argument
from blurb.terminal.output import json_text, print_facts


@click_command("doctor", prints=Diagnosis, csv=False)
def command(what: Annotated[Path | None, Argument()] = None, *, form: str) -> None:
    """List problems of a store, file or checkpoint, and fixes.

    Nothing is run or written.

    WHAT is a store or a trial in it, a checkpoint folder, a data folder, a task file, a protocol file, a run file (of
    run --config), blurb-check.toml, or a results.csv, leaderboard.csv or external.csv. Without it, the environment is
    examined: versions, device, cache, disk, plug-ins. A checkpoint's own code is never run.

    Exit code 0 if nothing is wrong, 1 if something is, 2 if there is no WHAT or blurb cannot tell what it is.
    """
    report = examine(what)
    if form == "json":
        click.echo(json_text(asdict(report)), nl=False)
    else:
        click.secho(f"{report.kind.capitalize()} {report.subject}".strip(), bold=True)
        print_facts(report.facts)
        for number, problem in enumerate(report.problems, 1):
            click.secho(f"{number}. {problem.where}", fg="yellow")
            click.echo(f"   {problem.what}\n   Fix: {problem.fix}")
        if not report.problems:
            click.secho("Nothing is wrong.", fg="green")
    if report.problems:
        if form != "json":
            click.echo(f"{count_noun(len(report.problems), 'problem')}.")
        raise SystemExit(PARTLY)
