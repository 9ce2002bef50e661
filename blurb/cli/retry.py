"""`blurb retry`: run the trials again that failed."""

from __future__ import annotations

from typing import Any

import click

from blurb.api.sweeping import retry_failed
from blurb.cli._exit import PARTLY, goes_on
from blurb.cli._made import click_command
from blurb.messages import count_noun, option_to_paste


@click_command("retry", retry_failed)
def command(**given: Any) -> None:
    """Run failed trials again.

    Workers skip failed trials until they are retried. Exit code: 0 all done, 1 some failed again.
    """
    goes_on(unfinished=True)
    forgotten, outcomes = retry_failed(**given)
    if given["later"]:
        store = option_to_paste("--output", given["output"], "runs")
        click.echo(f"{count_noun(forgotten, 'trial')} can run again: blurb worker{store}")
        return
    failed = sum(outcome.status == "failed" for outcome in outcomes)
    click.echo(f"{count_noun(len(outcomes) - failed, 'trial')} done, {failed} failed again.")
    if failed:
        raise SystemExit(PARTLY)
