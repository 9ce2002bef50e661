"""`blurb worker`: run trials of a sweep that began elsewhere."""

from __future__ import annotations

from typing import Any

import click

from blurb.api.sweeping import work_on_sweeps
from blurb.cli._exit import PARTLY, goes_on
from blurb.cli._made import click_command
from blurb.messages import count_noun


@click_command("worker", work_on_sweeps)
def command(**given: Any) -> None:
    """Run trials of a store together with other workers.

    They come from the sweeps of other blurb run commands.

    A sweep is the list of trials of a blurb run or blurb ablate on any machine that shares the store. Data and
    checkpoints are read from the paths of that machine. Failed trials are skipped (see blurb retry). Exit code: 0 all
    trials done, 1 some failed, 2 there is nothing to join; 128 + the number of a signal if interrupted.
    """
    goes_on(unfinished=True)
    outcomes, passed = work_on_sweeps(**given)
    done, failed = (
        sum(outcome.status == status for outcome in outcomes) for status in ("done", "failed")
    )
    before = len(outcomes) - done - failed
    told = f" {count_noun(passed, 'trial')} that failed before: blurb retry." if passed else ""
    click.echo(
        f"{count_noun(done, 'trial')} done here, {failed} failed, {before} done before.{told}"
    )
    if failed or passed:
        raise SystemExit(PARTLY)
