"""`blurb doctor`: everything that is wrong, in one list."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from blurb.cli._exit import PARTLY

if TYPE_CHECKING:
    from blurb.api.doctor import Report


@click.command(name="doctor")
@click.argument("what", type=click.Path(path_type=Path), required=False)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", help="Output format.")
def command(what: Path | None, form: str) -> None:
    """List everything that is wrong with WHAT, and how to mend it; nothing is run or written.

    WHAT is a store or a trial in it, a checkpoint folder, a data folder, a task file, a protocol file,
    blurb-check.toml, or a results.csv, leaderboard.csv or external.csv. Without it, the environment is examined:
    versions, device, cache, disk, plug-ins. A checkpoint's own code is never run.

    Exit code 0 if nothing is wrong, 1 if something is, 2 if there is no WHAT or blurb cannot tell what it is.
    """
    from blurb.api.doctor import examine

    report = examine(what)
    if form == "json":
        click.echo(json.dumps(asdict(report), indent=1, ensure_ascii=False))
    else:
        _show(report)
    if report.problems:
        raise SystemExit(PARTLY)


def _show(report: Report) -> None:
    from blurb.wording import plural

    click.secho(f"{report.kind.capitalize()} {report.subject}".strip(), bold=True)
    width = max(map(len, report.facts), default=0)
    for name, text in report.facts.items():
        click.echo(f"  {name:{width}}  {text}")
    for number, problem in enumerate(report.problems, 1):
        click.secho(f"{number}. {problem.where}", fg="yellow")
        click.echo(f"   {problem.what}")
        click.echo(f"   Mend: {problem.mend}")
    if report.problems:
        click.echo(f"{plural(len(report.problems), 'problem')}.")
    else:
        click.secho("Nothing is wrong.", fg="green")
