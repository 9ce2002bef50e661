"""`blurb run`: fine-tune models on BLURB and write their leaderboard rows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import click
from click.core import ParameterSource

from blurb.cli._exit import PARTLY, UNKNOWN, gate_exit_code, goes_on, mark_as_gate
from blurb.cli._made import WithSettings, click_command
from blurb.messages import SettingsError, count_noun, option_to_paste
from blurb.options import Argument, Option
from blurb.planning import run_file
from blurb.planning.options import RunOptions
from blurb.terminal.output import make_console

if TYPE_CHECKING:
    from blurb.api.results import Results


@click_command("run", RunOptions, cls=WithSettings)
def command(
    model: Annotated[tuple[str, ...], Argument(metavar="[MODEL]...", complete="models")] = (),
    *,
    form: Annotated[
        str,
        Option(
            help="With --dry-run: toml writes the run as a file for --config.",
            flag="--format",
            group="Trials",
            choices=("table", "toml"),
        ),
    ] = "table",
    **given: Any,
) -> None:
    """Fine-tune encoders on the tasks and write their rows.

    MODEL is a checkpoint folder, a Hub id (org/model or org/model@revision), a preset (pubmedbert, biolinkbert, ...),
    scratch:tiny or baseline:majority. Finished trials are not repeated: run the same command again to resume.
    Exit code: 0 all trials done, 1 some failed, 2 the command cannot start. With --check: 0 pass, 1 regression,
    2 undecided, or a trial failed. If interrupted: 128 + the number of the signal (130 Ctrl-C, 143 SIGTERM;
    docs/ci.md).
    """
    from blurb.api import running  # numpy and two hundred modules, which a help needs not
    from blurb.planning.request import make_request

    source = click.get_current_context().get_parameter_source
    typed = {
        name: value for name, value in given.items() if source(name) is not ParameterSource.DEFAULT
    }
    typed |= {"model": model} if model else {}
    options = RunOptions(**run_file.with_file(typed))
    if not options.dry_run:
        goes_on(unfinished=options.resume_trials)
    if options.check:
        mark_as_gate()
    if form == "toml":
        if not options.dry_run:
            raise SettingsError(
                "--format toml writes a run as a file, and runs nothing", fix="add --dry-run."
            )
        make_request(options)
        click.echo(run_file.write(options), nl=False)
        return
    if sys.stderr.isatty():  # planning takes seconds
        click.echo("Reading the models and the data ...", err=True)
    results = running.execute(options)
    if options.dry_run:
        return
    if results.submitted:
        _show_submitted(options, results)
    if results.rows and not options.print_script:
        _show_rows(options, results)
    if results.failed:
        # Exit code 1 would mean a regression.
        raise SystemExit(UNKNOWN if options.check else PARTLY)
    if options.check:
        from blurb.cli.check import report_decision

        raise SystemExit(
            gate_exit_code([report_decision(decision) for decision in results.decisions])
        )


def _show_submitted(options: RunOptions, results: Results) -> None:
    handed_over = results.submitted[0]
    if options.print_script:
        click.echo(handed_over.script, nl=False)
    click.echo(handed_over.message, err=options.print_script)
    store = option_to_paste("--output", options.output, "runs")
    click.echo(
        f"{count_noun(len(results.submitted), 'trial')} to come: blurb status{store}", err=True
    )


def _show_rows(options: RunOptions, results: Results) -> None:
    from blurb.leaderboard.overview import with_neighbours
    from blurb.leaderboard.terminal import render_rows
    from blurb.results import tables

    out = make_console(width=120)
    # Encoders stand before baselines.
    out.print(render_rows(sorted(results.rows, key=lambda row: row.kind.place), out.width))
    out.print(with_neighbours(results.rows, results.others, out.width))
    leaderboard = tables.place(options.output, options.leaderboard)
    scores = tables.results_beside(leaderboard)
    store = option_to_paste("--output", options.output, "runs")
    # Rows of a suite beside BLURB have no line in its leaderboard.
    suite = "" if results.rows[0].has_means else option_to_paste("--suite", options.suite)
    where = f"Rows: {scores}" if suite else f"Rows: {leaderboard}   scores by seed: {scores}"
    click.echo(f"{where}   trials: {options.output}")
    click.echo(f"All rows, ranked with intervals: blurb leaderboard show{store}{suite}")
