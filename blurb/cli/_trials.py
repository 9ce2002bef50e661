"""Running planned trials from a command: the progress display, the tables in between, the failures at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from blurb.runs.cost.model import Estimate
    from blurb.runs.plan import Planned
    from blurb.runs.worker import Job, TrialOutcome


def run_trials(
    planned: Sequence[Planned], engine: str, jobs: int, expected: Estimate | None, rebuild: Callable[[], Any],
    name: Callable[[Job], str] = lambda job: "",
) -> list[TrialOutcome]:  # fmt: skip
    """Runs the trials and shows their progress.

    :param rebuild: writes the tables; called while trials run, after each that is done
    :param name: the name of a trial in the display
    """
    from blurb.cli._progress import Display, Meanwhile
    from blurb.runs import plan
    from blurb.runs.engine import ENGINES

    with Meanwhile(rebuild) as write, Display(planned, name=name, expected=expected) as display:

        def finished(outcome: TrialOutcome) -> None:
            display.finished(outcome)
            if outcome.status == "done":
                write()

        return plan.run(planned, ENGINES[engine](jobs), finished, display.on_progress)


def show_failed(outcomes: Sequence[TrialOutcome], name: Callable[[Job], str]) -> bool:
    """Prints why trials failed; returns whether any did."""
    failed = [outcome for outcome in outcomes if outcome.status == "failed"]
    for outcome in failed:
        trial = outcome.job.trial
        click.secho(
            f"Failed: {name(outcome.job)} on {trial.task}, seed {trial.seed}: {outcome.message}", fg="red", err=True
        )
    return bool(failed)
