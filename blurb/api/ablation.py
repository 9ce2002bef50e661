"""Runs the cells of an ablation table and writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from blurb import fields, formulations, tasks
from blurb.api.running import announce_trials, run_trials
from blurb.execution.job import Job, TrialOutcome
from blurb.messages import SettingsError, Tell, opt, tell_damage
from blurb.planning import ablations, trials
from blurb.planning.options import AblateOptions
from blurb.planning.request import Request, make_request_of_cells
from blurb.planning.steps import check_writable, typed_settings
from blurb.results import from_store
from blurb.results.row import Row
from blurb.store.store import Store
from blurb.terminal.output import Picture


@dataclass(frozen=True)
class Ablation:
    """A finished ablation.

    :param lines: of the table, see `blurb.planning.ablations`
    :param files: that were written
    :param failed: trials that failed
    """

    lines: Sequence[dict[str, str]]
    files: Sequence[Path]
    failed: Sequence[TrialOutcome]


def ablate(options: AblateOptions, plot: Picture | None = None) -> Ablation | None:
    """Runs all cells of an axis, and writes the tables and the picture; None after a dry run."""
    fields.check_fields(options)
    out = Path(options.out)
    if plot is not None:
        plot.check()
    check_writable("output", Path(options.output))
    check_writable("out", out)
    grid = ablations.grid(options.axis)
    chosen = _choose_tasks(grid, options)
    common = typed_settings(options.overrides, options.shorthands)
    for key in grid.cells[0].settings:
        if key in common:
            raise SettingsError(
                f"{opt('set', key)}: the axis '{options.axis}' sets it in every cell",
                fix="remove it.",
            )
    if options.suite == "demo":
        grid = grid.unpublished()  # the paper's numbers are not of synthetic data
    of_axis = dict.fromkeys(grid.cells[0].settings, opt("axis", options.axis))
    request = make_request_of_cells(options, chosen, common, {**options.shorthands, **of_axis})
    requests = [replace(request, overrides={**common, **cell.settings}) for cell in grid.cells]
    prepared = [trials.prepare(request) for request in requests]
    _check_cells_differ(grid, [cell.final for cell in prepared])
    planned, expected = announce_trials(prepared, cells=[cell.text for cell in grid.cells])
    if options.dry_run:
        return None
    settings = "".join(f", {key}={common[key]}" for key in sorted(common))
    synthetic = ", synthetic data" if options.suite == "demo" else ""
    title = f"{request.sources[0].name}, protocol {request.protocol.name}{settings}{synthetic}"

    def cell(job: Job) -> str:
        return " ".join(
            f"{key}={job.configuration.overrides.get(key, '')}" for key in grid.cells[0].settings
        )

    names = [task.name for task in chosen]

    def rebuild(
        tell: Tell = tell_damage,
    ) -> tuple[list[Row | None], list[dict[str, str]], tuple[Path, Path]]:
        rows = _read_rows(requests, tell)
        lines = ablations.lines(grid, rows, names)
        return rows, lines, ablations.write(grid, lines, out, _table_caption(title, rows))

    outcomes = run_trials(planned, expected, lambda: rebuild(lambda text: None), cell)
    rows, lines, files = rebuild()
    if plot is not None:
        scores = [{name: row.values(name) for name in names} if row else {} for row in rows]
        plot.write(grid, scores, names, title)
    return Ablation(lines, files, [outcome for outcome in outcomes if outcome.status == "failed"])


def _choose_tasks(grid: ablations.Grid, options: AblateOptions) -> list[tasks.Task]:
    """The tasks; SettingsError if the axis does not apply to one, as far as that shows without the model."""
    if options.tasks is None and not grid.datasets:
        raise SettingsError(
            f"The axis '{grid.axis}' has no published table", fix=f"name datasets: {opt('tasks')}."
        )
    chosen = tasks.load_selection(
        grid.datasets if options.tasks is None else options.tasks, options.suite
    )
    for task in chosen:
        formulation = formulations.bind(task)
        foreign = formulations.foreign_settings(formulation)
        foreign |= set() if formulation.pooled else {"pooling"}
        parts = {
            tuple(item for item in cell.settings.items() if item[0] not in foreign)
            for cell in grid.cells
        }
        if len(parts) < len(grid.cells):
            raise SettingsError(
                f"Some cells of axis '{grid.axis}' are identical on {task.name}",
                fix=f"leave it out of {opt('tasks')}.",
            )
    return chosen


def _check_cells_differ(grid: ablations.Grid, finals: list[Sequence[Job]]) -> None:
    """Raises a SettingsError if cells of the axis are the same trials on a task."""
    for jobs in zip(*finals, strict=True):
        if len({job.trial.hash for job in jobs}) < len(jobs):
            first = jobs[0]
            raise SettingsError(
                f"Some cells of axis '{grid.axis}' are identical on {first.trial.task} with {first.source.name}."
            )


def _table_caption(title: str, rows: Sequence[Row | None]) -> str:
    """The title, and the notes of the rows on what it does not say."""
    parts = [part for row in rows if row for part in row.note.split("; ") if part not in title]
    notes = "; ".join(dict.fromkeys(parts))
    return f"{title}. {notes[0].upper()}{notes[1:]}" if notes else title


def _read_rows(requests: list[Request], tell: Tell) -> list[Row | None]:
    """The row of each request in the store, None if it has none."""
    rows = {row.key: row for row in from_store.read(Store(requests[0].store), tell)}
    return [rows.get(request.row(source).key) for request in requests for source in request.sources]
