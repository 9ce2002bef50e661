"""`blurb worker`: run trials of a sweep that began elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from blurb.api.sweeping import work
from blurb.cli._exit import PARTLY, goes_on
from blurb.cli._options import ALLOW, JOBS, STORE
from blurb.messages.text import plural


@click.command(name="worker")
@STORE
@click.option(
    "--sweep",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder of one sweep.  [default: all of the store, including new ones]",
)
@click.option("--part", type=click.IntRange(min=0), help="Number of a part of the sweep (used by Slurm jobs).")
@click.option("--data", type=click.Path(path_type=Path), help="Data folder on this machine, if it differs.")
@click.option("--device", help="Device, if not that of the sweep.")
@JOBS
@click.option("--leaderboard", type=click.Path(path_type=Path), help="Table to write at the end.")
@click.option(
    "--max-failures",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Give up after N failed trials; 0: never.",
)
@ALLOW
def command(
    output: Path,
    sweep: Path | None,
    part: int | None,
    data: Path | None,
    device: str | None,
    jobs: int,
    leaderboard: Path | None,
    max_failures: int,
    allow_code: tuple[str, ...],
) -> None:
    """Run trials of a store beside other workers.

    They come from the sweeps of other blurb run commands.

    A sweep is the list of trials of a blurb run or blurb ablate on any machine that shares the store. Data and
    checkpoints are read from the paths of that machine. Failed trials are skipped (see blurb retry). Exit code: 0 all
    trials done, 1 some failed, 2 there is nothing to join; 128 + the number of a signal if interrupted.
    """
    goes_on(unfinished=True)
    outcomes, passed = work(
        output,
        sweep,
        part,
        jobs=jobs,
        device=device,
        data=data,
        leaderboard=leaderboard,
        max_failures=max_failures,
        allow=allow_code,
    )
    done, failed = (sum(outcome.status == status for outcome in outcomes) for status in ("done", "failed"))
    before = len(outcomes) - done - failed
    told = f" {plural(passed, 'trial')} that failed before: blurb retry." if passed else ""
    click.echo(f"{plural(done, 'trial')} done here, {failed} failed, {before} done before.{told}")
    if failed or passed:
        raise SystemExit(PARTLY)
