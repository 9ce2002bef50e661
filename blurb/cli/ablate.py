"""`blurb ablate`: the grid of an ablation table of Gu et al. for any encoder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from blurb.cli._request import machine_options

if TYPE_CHECKING:
    from blurb.leaderboard.ablations import Grid
    from blurb.leaderboard.rows import Result
    from blurb.runs.plan import Request
    from blurb.runs.worker import Job


@click.command(name="ablate")
@click.argument("model")
@click.option(
    "--axis",
    type=click.Choice(["head", "tagging", "relation", "pooling"]),
    required=True,
    help="What varies: head (Table 12), tagging (13), relation (14: input x pooling), "
    "pooling (the cells of Table 14 with entity markers).",
)
@click.option("--data", type=click.Path(path_type=Path), required=True, help="Folder in the BLURB layout.")
@click.option("--tasks", "selection", help="Names or types, separated by commas.  [default: those of the table]")
@click.option("--protocol", default="standard", show_default=True, help="Name or TOML file.")
@click.option("--seeds", type=click.IntRange(min=1), help="Run seeds 1..N instead of the protocol's.")
@click.option("--raw", type=click.Path(path_type=Path), help="Folder of the original releases (relation, pooling).")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a setting in every cell.")
@click.option(
    "--output", type=click.Path(path_type=Path), default="runs", show_default=True, help="Folder of the trials."
)
@click.option(
    "--out", type=click.Path(path_type=Path), default="ablations", show_default=True, help="Folder of the tables."
)
@click.option("--name", help="Name of the model in the tables.  [default: last part of MODEL]")
@machine_options
def command(
    model: str, axis: str, data: Path, selection: str | None, protocol: str, seeds: int | None, raw: Path | None,
    overrides: tuple[str, ...], output: Path, out: Path, name: str | None, revision: str | None,
    trust_remote_code: bool, device: str, precision: str, jobs: int,
) -> None:  # fmt: skip
    """Run the grid of Table 12, 13 or 14 of Gu et al. for MODEL and set it beside the published one.

    AXIS.csv and AXIS.md are written into --out: mean and sd over seeds of each cell and task, and whether the
    difference to the first cell is significant. Trials that are in the store are not run again. Exit codes as of run.
    """
    from blurb import tasks
    from blurb.cli._output import show
    from blurb.cli._progress import Display
    from blurb.cli._request import changes, check_files, source
    from blurb.errors import SettingsError
    from blurb.leaderboard import ablation_tables, ablations
    from blurb.runs import plan
    from blurb.runs.engine import ENGINES
    from blurb.training import hardware
    from blurb.training import protocol as protocols

    grid = ablations.grid(axis)
    chosen = tasks.select(grid.datasets if selection is None else selection)
    common = changes(overrides)
    for key in grid.cells[0].settings:
        if key in common:
            raise SettingsError(f"--set {key}: the axis '{axis}' fixes it in every cell.")
    check_files(chosen, data)
    learner = source(model, name, revision, trust_remote_code, data)
    requests = [
        plan.Request(
            sources=[learner], tasks=chosen, protocol=protocols.load(protocol), data=data, store=output, device=device,
            overrides={**common, **cell.settings}, seeds=seeds, raw=raw,
            precision=hardware.choose_precision(precision, hardware.choose_device(device)),
        )
        for cell in grid.cells
    ]  # fmt: skip
    finals = [plan.final_jobs(request) for request in requests]  # refuses an impossible cell before any training
    _check_cells_differ(grid, finals)
    outcomes = []
    with Display(*map(plan.search_jobs, requests), *finals) as display:
        for request in requests:
            outcomes += plan.run(request, ENGINES["local"](jobs), display.finished, display.step)
    lines = ablation_tables.lines(grid, _results(requests), [task.name for task in chosen])
    caption = f"{learner.name}, protocol {requests[0].protocol.name}{_settings(common)}. {requests[0].protocol.note}"
    files = ablation_tables.write(grid, lines, out, caption.strip())
    rows = [[line.get(column, "") for column in ablation_tables.SHOWN] for line in lines]
    show(ablation_tables.SHOWN, rows, "table", numbers=ablation_tables.NUMBERS)
    click.echo(f"Tables: {', '.join(map(str, files))}   trials: {output}")
    failed = [outcome for outcome in outcomes if outcome.status == "failed"]
    for outcome in failed:
        trial = outcome.job.trial
        click.secho(f"Failed: {trial.task}, seed {trial.seed}: {outcome.message}", fg="red", err=True)
    if failed:
        raise SystemExit(1)


def _check_cells_differ(grid: Grid, finals: list[list[Job]]) -> None:
    """SettingsError if the axis is nothing to a task: its cells would be the same trials."""
    from blurb.errors import SettingsError

    for jobs in zip(*finals, strict=True):
        if len({job.trial.hash for job in jobs}) < len(jobs):
            first = jobs[0]
            raise SettingsError(
                f"The axis '{grid.axis}' has cells that do not differ on {first.trial.task} with {first.source.name}."
            )


def _results(requests: list[Request]) -> list[Result | None]:
    """What the store has of each request."""
    from blurb.leaderboard.rows import gather
    from blurb.runs.store import Store

    rows = gather(Store(requests[0].store))
    found = []
    for request in requests:
        (learner,) = request.sources
        wanted = learner.name, learner.weights, request.configuration(learner)
        found.append(next((row for row in rows if (row.model, row.weights, row.configuration) == wanted), None))
    return found


def _settings(common: dict[str, object]) -> str:
    return "".join(f", {key}={common[key]}" for key in sorted(common))
