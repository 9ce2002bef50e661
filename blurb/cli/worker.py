"""`blurb worker`: run trials of a sweep that began elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from blurb.cli import _complete
from blurb.cli._exit import PARTLY, goes_on
from blurb.cli._options import ALLOW, JOBS, STORE


@click.command(name="worker")
@STORE
@click.option("--sweep", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Folder of one sweep.  [default: all of the store, also those that begin meanwhile]")  # fmt: skip
@click.option("--part", type=click.IntRange(min=0), help="Part of the sweep, as the jobs of Slurm have.")
@click.option("--data", type=click.Path(path_type=Path), help="Data folder, if it is another one on this machine.")
@click.option("--device", shell_complete=_complete.devices, help="Device, if not that of the sweep.")
@JOBS
@click.option("--leaderboard", type=click.Path(path_type=Path), help="Table to write at the end.")
@click.option("--max-failures", type=click.IntRange(min=0), default=0, metavar="N",
              help="Give up after N failed trials; 0: never.")  # fmt: skip
@ALLOW
def command(
    output: Path, sweep: Path | None, part: int | None, data: Path | None, device: str | None, jobs: int,
    leaderboard: Path | None, max_failures: int, allow_code: tuple[str, ...],
) -> None:  # fmt: skip
    """Run trials of a store beside other workers.

    It takes trials of the sweeps of running commands.

    A sweep begins with blurb run or blurb ablate, on any machine that sees the same store, and is there until its
    trials are done. Data and checkpoints are found at the paths that they have there. Trials that failed are passed
    over (blurb retry). Exit code: 0 all trials done, 1 some failed, 2 there is nothing to join; 128 + the number of a
    signal if interrupted.
    """
    from blurb.api.working import work
    from blurb.messages.text import plural

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
