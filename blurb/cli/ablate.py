"""`blurb ablate`: repeat an ablation table of Gu et al. with any encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from blurb.cli._exit import PARTLY, goes_on
from blurb.cli._request import data_options, machine_options
from blurb.errors import Tell, tell_damage

if TYPE_CHECKING:
    from blurb.analysis.ablations import Grid
    from blurb.results.row_scores import RowScores
    from blurb.runs.plan import Request
    from blurb.runs.worker import Job, TrialOutcome
    from blurb.tasks import Task


@click.command(name="ablate")
@click.argument("model")
@click.option(
    "--axis",
    type=click.Choice(["head", "tagging", "relation", "pooling"]),
    required=True,
    help="Setting to vary: head (Table 12), tagging (13), relation (14: input x pooling), "
    "pooling (cells of Table 14 with entity markers).",
)
@data_options
@click.option("--tasks", "selection", help="Task names or types, comma-separated.  [default: those of the table]")
@click.option("--seeds", type=click.IntRange(min=1), help="Run seeds 1 to N instead of the protocol's.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a setting in every cell.")
@click.option(
    "--output", type=click.Path(path_type=Path), default="runs", show_default=True, help="Folder for the trials."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default="ablations",
    show_default=True,
    help="Folder for the tables.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also plot the cells to a .png, .svg or .pdf (needs the extra 'plots').",
)
@click.option("--name", help="Model name in the tables.  [default: last part of MODEL]")
@machine_options
@click.option("--dry-run", is_flag=True, help="List the trials of all cells and stop.")
def command(
    model: str, axis: str, data: Path | None, suite: str, raw: Path | None, protocol: str | None,
    selection: str | None, seeds: int | None, overrides: tuple[str, ...], output: Path, out: Path, plot: Path | None,
    name: str | None, revision: str | None, trust_remote_code: bool, device: str, precision: str, jobs: int,
    dry_run: bool, casing: str | None,
) -> None:  # fmt: skip
    """Run Table 12, 13 or 14 of Gu et al. with MODEL and compare the result with the published table.

    Writes AXIS.csv and AXIS.md into --out: mean and sd over seeds for each cell and task, and whether the difference
    from the first cell is significant. Finished trials are not repeated: run the same command again to resume, or with
    --plot to plot finished results. Exit codes are those of blurb run.
    """
    from blurb import tasks
    from blurb.analysis import ablation_tables, ablations
    from blurb.cli._dry_run import list_trials
    from blurb.cli._estimate import announce
    from blurb.cli._output import show
    from blurb.cli._progress import Display, Meanwhile
    from blurb.cli._request import check_files, check_writable, folders, load_protocol, setting_overrides, source
    from blurb.errors import SettingsError
    from blurb.plots import ablation

    goes_on()
    if plot is not None:
        ablation.check(plot)
    check_writable(output=output, out=out)
    grid = ablations.grid(axis)
    chosen = tasks.select(grid.datasets if selection is None else selection)
    _check_axis(grid, chosen)
    common, _ = setting_overrides(overrides)
    for key in grid.cells[0].settings:
        if key in common:
            raise SettingsError(f"--set {key}: the axis '{axis}' sets it in every cell; remove it.")
    if suite == "demo":
        grid = grid.unpublished()  # the paper's numbers are not of synthetic data
    loaded = load_protocol(protocol, suite)
    folder, raw = folders(suite, data, raw, chosen)
    check_files(chosen, folder)

    from blurb.runs import plan  # torch, for which nobody who mistyped something should wait
    from blurb.runs.engine import ENGINES
    from blurb.training import hardware

    resolved = hardware.choose_precision(precision, hardware.choose_device(device))
    learner = source(model, name, revision, trust_remote_code, folder, casing)
    plan.check_names([learner])
    requests = [
        plan.Request(
            sources=[learner], tasks=chosen, protocol=loaded, data=folder, store=output, device=device,
            overrides={**common, **cell.settings}, options=dict.fromkeys(cell.settings, f"--axis {axis}"),
            seeds=seeds, suite=suite, raw=raw, precision=resolved,
        )
        for cell in grid.cells
    ]  # fmt: skip
    planned = [plan.prepare(request) for request in requests]  # refuses an impossible cell before any training
    _check_cells_differ(grid, [cell.final for cell in planned])
    if dry_run:
        list_trials(planned, [cell.text for cell in grid.cells])
    planned, expected = announce(planned, jobs, dry_run)
    if dry_run:
        return
    title = f"{learner.name}, protocol {loaded.name}{_settings(common)}{', synthetic data' * (suite == 'demo')}"

    def cell(job: Job) -> str:
        return " ".join(f"{key}={job.configuration.overrides.get(key, '')}" for key in grid.cells[0].settings)

    with (
        Meanwhile(lambda: _write_tables(grid, requests, out, title, lambda text: None)) as write,
        Display(planned, name=cell, expected=expected) as display,
    ):

        def finished(outcome: TrialOutcome) -> None:
            display.finished(outcome)
            if outcome.status == "done":
                write()

        outcomes = plan.run(planned, ENGINES["local"](jobs), finished, display.on_progress)
    lines, files = _write_tables(grid, requests, out, title)
    titles = ablation_tables.titles()
    numbers = [column.replace("_", " ") for column in ablation_tables.NUMBERS]
    show(titles, [ablation_tables.readable(line) for line in lines], "table", numbers=numbers)
    drawn = ""
    if plot is not None:
        names = [task.name for task in chosen]
        scores = [{name: found.values(name) for name in names} if found else {} for found in _results(requests)]
        ablation.write(grid, scores, names, plot, title)
        drawn = f"   plot: {plot}"
    click.echo(f"Tables: {', '.join(map(str, files))}{drawn}   trials: {output}")
    failed = [outcome for outcome in outcomes if outcome.status == "failed"]
    for outcome in failed:
        trial = outcome.job.trial
        failure = f"{cell(outcome.job)} on {trial.task}, seed {trial.seed}"
        click.secho(f"Failed: {failure}: {outcome.message}", fg="red", err=True)
    if failed:
        raise SystemExit(PARTLY)


def _check_axis(grid: Grid, chosen: list[Task]) -> None:
    """Raises a SettingsError if the axis does not apply to a task, as far as that shows without the model."""
    from blurb import formulations
    from blurb.errors import SettingsError

    for task in chosen:
        formulation = formulations.bind(task)
        concerned = {"head", *formulation.own_settings, *(["pooling"] if formulation.pooled else [])}
        parts = {tuple(item for item in cell.settings.items() if item[0] in concerned) for cell in grid.cells}
        if len(parts) < len(grid.cells):
            raise SettingsError(
                f"Some cells of axis '{grid.axis}' are identical on {task.name}; leave it out of --tasks."
            )


def _check_cells_differ(grid: Grid, finals: list[Sequence[Job]]) -> None:
    """Raises a SettingsError if cells of the axis are the same trials on a task."""
    from blurb.errors import SettingsError

    for jobs in zip(*finals, strict=True):
        if len({job.trial.hash for job in jobs}) < len(jobs):
            first = jobs[0]
            raise SettingsError(
                f"Some cells of axis '{grid.axis}' are identical on {first.trial.task} with {first.source.name}."
            )


def _write_tables(
    grid: Grid, requests: list[Request], out: Path, title: str, tell: Tell = tell_damage
) -> tuple[list[dict[str, str]], tuple[Path, Path]]:
    """Writes the tables from the current store; returns their lines and files."""
    from blurb.analysis import ablation_tables

    results = _results(requests, tell)
    lines = ablation_tables.lines(grid, results, [task.name for task in requests[0].tasks])
    parts = [part for row in results if row for part in row.note.split("; ") if part not in title]
    notes = "; ".join(dict.fromkeys(parts))
    caption = f"{title}. {notes[0].upper()}{notes[1:]}" if notes else title
    return lines, ablation_tables.write(grid, lines, out, caption)


def _results(requests: list[Request], tell: Tell = tell_damage) -> list[RowScores | None]:
    """The row of each request in the store, None if it has none."""
    from blurb.results import from_store
    from blurb.runs.store import Store

    rows = from_store.read(Store(requests[0].store), tell)
    found = []
    for request in requests:
        (learner,) = request.sources
        wanted = request.row_key(learner)
        found.append(next((row for row in rows if row.key == wanted), None))
    return found


def _settings(common: dict[str, object]) -> str:
    return "".join(f", {key}={common[key]}" for key in sorted(common))
