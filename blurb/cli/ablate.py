"""`blurb ablate`: repeat an ablation table of Gu et al. with any encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blurb.cli._exit import PARTLY, goes_on
from blurb.cli._request import data_options, machine_options
from blurb.errors import Tell, tell_damage

if TYPE_CHECKING:
    from blurb.analysis.ablations import Grid
    from blurb.results.row_scores import RowScores
    from blurb.runs.plan import Planned, Request
    from blurb.runs.worker import Job
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
def command(**given: Any) -> None:
    """Run Table 12, 13 or 14 of Gu et al. with MODEL and compare the result with the published table.

    Writes AXIS.csv and AXIS.md into --out: mean and sd over seeds for each cell and task, and whether the difference
    from the first cell is significant. Finished trials are not repeated: run the same command again to resume, or with
    --plot to plot finished results. Exit codes are those of blurb run.
    """
    from blurb import tasks
    from blurb.analysis import ablations
    from blurb.cli._dry_run import list_trials
    from blurb.cli._estimate import announce
    from blurb.cli._request import check_writable, setting_overrides
    from blurb.cli._trials import run_trials, show_failed
    from blurb.errors import SettingsError
    from blurb.plots import ablation

    options = Options(**given)
    goes_on()
    if options.plot is not None:
        ablation.check(options.plot)
    check_writable(output=options.output, out=options.out)
    grid = ablations.grid(options.axis)
    chosen = tasks.select(grid.datasets if options.selection is None else options.selection)
    _check_axis(grid, chosen)
    common, _ = setting_overrides(options.overrides)
    for key in grid.cells[0].settings:
        if key in common:
            raise SettingsError(f"--set {key}: the axis '{options.axis}' sets it in every cell; remove it.")
    if options.suite == "demo":
        grid = grid.unpublished()  # the paper's numbers are not of synthetic data
    requests, planned = _plan(options, grid, chosen, common)
    if options.dry_run:
        list_trials(planned, [cell.text for cell in grid.cells])
    planned, expected = announce(planned, options.jobs, options.dry_run)
    if options.dry_run:
        return
    synthetic = ", synthetic data" if options.suite == "demo" else ""
    title = f"{requests[0].sources[0].name}, protocol {requests[0].protocol.name}{_settings(common)}{synthetic}"

    def cell(job: Job) -> str:
        return " ".join(f"{key}={job.configuration.overrides.get(key, '')}" for key in grid.cells[0].settings)

    outcomes = run_trials(
        planned, "local", options.jobs, expected,
        lambda: _write_tables(grid, requests, options.out, title, lambda text: None), cell,
    )  # fmt: skip
    _report(options, grid, requests, title)
    if show_failed(outcomes, cell):
        raise SystemExit(PARTLY)


@dataclass(frozen=True)
class Options:
    """The options of the command, by name."""

    model: str
    axis: str
    data: Path | None
    suite: str
    raw: Path | None
    protocol: str | None
    selection: str | None
    seeds: int | None
    overrides: tuple[str, ...]
    output: Path
    out: Path
    plot: Path | None
    name: str | None
    revision: str | None
    trust_remote_code: bool
    device: str
    precision: str
    jobs: int
    dry_run: bool
    casing: str | None


def _plan(
    options: Options, grid: Grid, chosen: list[Task], common: Mapping[str, Any]
) -> tuple[list[Request], list[Planned]]:
    """A request and its trials for every cell; an impossible cell is refused before any training."""
    from blurb.cli._request import check_files, folders, load_protocol, source

    protocol = load_protocol(options.protocol, options.suite)
    folder, raw = folders(options.suite, options.data, options.raw, chosen)
    check_files(chosen, folder)

    from blurb.runs import plan  # torch, for which nobody who mistyped something should wait
    from blurb.training import hardware

    precision = hardware.choose_precision(options.precision, hardware.choose_device(options.device))
    model = source(options.model, options.name, options.revision, options.trust_remote_code, folder, options.casing)
    plan.check_names([model])
    requests = [
        plan.Request(
            sources=[model], tasks=chosen, protocol=protocol, data=folder, store=options.output, device=options.device,
            overrides={**common, **cell.settings}, options=dict.fromkeys(cell.settings, f"--axis {options.axis}"),
            seeds=options.seeds, suite=options.suite, raw=raw, precision=precision,
        )
        for cell in grid.cells
    ]  # fmt: skip
    planned = [plan.prepare(request) for request in requests]
    _check_cells_differ(grid, [cell.final for cell in planned])
    return requests, planned


def _report(options: Options, grid: Grid, requests: list[Request], title: str) -> None:
    """Writes and prints the tables, and draws them if asked to."""
    from blurb.analysis import ablation_tables
    from blurb.cli._output import show
    from blurb.plots import ablation

    lines, files = _write_tables(grid, requests, options.out, title)
    numbers = [column.replace("_", " ") for column in ablation_tables.NUMBERS]
    show(ablation_tables.titles(), [ablation_tables.readable(line) for line in lines], "table", numbers=numbers)
    drawn = ""
    if options.plot is not None:
        names = [task.name for task in requests[0].tasks]
        scores = [{name: row.values(name) for name in names} if row else {} for row in _results(requests)]
        ablation.write(grid, scores, names, options.plot, title)
        drawn = f"   plot: {options.plot}"
    click.echo(f"Tables: {', '.join(map(str, files))}{drawn}   trials: {options.output}")


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
