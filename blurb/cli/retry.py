"""`blurb retry`: run the trials again that failed."""

from __future__ import annotations

from pathlib import Path

import click

from blurb.api.sweeping import retry
from blurb.cli import _complete
from blurb.cli._exit import PARTLY, goes_on
from blurb.cli._options import ALLOW, JOBS, STORE
from blurb.messages.text import option, plural


@click.command(name="retry")
@STORE
@click.option(
    "--tasks",
    shell_complete=_complete.tasks,
    default="all",
    show_default=True,
    help="Only trials of these tasks: names, types or files, comma-separated.",
)
@click.option("--later", is_flag=True, help="Run nothing here; let the workers run them.")
@click.option("--data", type=click.Path(path_type=Path), help="Data folder on this machine, if it differs.")
@click.option("--device", help="Device, if not that of the sweep.")
@JOBS
@ALLOW
def command(
    output: Path, tasks: str, later: bool, data: Path | None, device: str | None, jobs: int, allow_code: tuple[str, ...]
) -> None:
    """Run the failed trials of a store again.

    Workers skip failed trials until they are retried. Exit code: 0 all done, 1 some failed again.
    """
    goes_on(unfinished=True)
    forgotten, outcomes = retry(output, tasks, later=later, jobs=jobs, device=device, data=data, allow=allow_code)
    if later:
        store = option("--output", output, "runs")
        click.echo(f"{plural(forgotten, 'trial')} can run again: blurb worker{store}")
        return
    failed = sum(outcome.status == "failed" for outcome in outcomes)
    click.echo(f"{plural(len(outcomes) - failed, 'trial')} done, {failed} failed again.")
    if failed:
        raise SystemExit(PARTLY)
