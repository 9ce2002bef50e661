"""`blurb run`: fine-tune models on BLURB and write their leaderboard rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blurb.cli import _complete
from blurb.cli._exit import PARTLY, UNKNOWN, gate, goes_on
from blurb.cli._options import ACROSS, WithSettings, data_options, machine_options
from blurb.runs.engines import DEFAULT

if TYPE_CHECKING:
    from blurb.api import Results
    from blurb.api.options import RunOptions


@click.command(name="run", cls=WithSettings)
@click.argument("model", nargs=-1, shell_complete=_complete.models, required=True, metavar="MODEL...")
@data_options
@click.option(
    "--tasks",
    shell_complete=_complete.tasks,
    default="all",
    show_default=True,
    help="Task names, types or files, comma-separated; blurb-12: all but BioASQ.",
)
@click.option(
    "--head",
    shell_complete=_complete.heads,
    help="Head, such as crf or bilstm,hidden=128 (see blurb heads); short for --set head=...",
)
@click.option(
    "--pooling",
    shell_complete=_complete.poolings,
    help="Pooling of sequence tasks (see blurb heads); short for --set pooling=...",
)
@click.option(
    "--tagging", shell_complete=_complete.taggings, help="Tagging scheme of NER and PICO; short for --set tagging=NAME."
)
@click.option(
    "--relation-input",
    shell_complete=_complete.relation_inputs,
    metavar="NAME",
    help="How relation inputs show the entities: dummify, dummy-tokens, original, markers or typed-markers.",
)
@click.option("--dummy-tokens", is_flag=True, help="Short for --relation-input dummy-tokens.")
@click.option(
    "--leaderboard",
    type=click.Path(path_type=Path),
    default="leaderboard.csv",
    show_default=True,
    help="Table to write; its runs go into results.csv in the same folder, or NAME-results.csv for NAME.csv.",
)
@click.option("--name", help="Name of the row, if there is one MODEL.  [default: last part of MODEL]")
@machine_options
@click.option(
    "--track", type=click.Choice(["tensorboard", "wandb", "mlflow", "trackio"]),
    help="Log loss, learning rate and scores of every trial to an experiment tracker.",
)  # fmt: skip
@click.option(
    "--check",
    shell_complete=_complete.rows_anywhere,
    metavar="ROW",
    help="Then compare the row with this baseline, as blurb check does.",
)
@click.option("--rules", type=click.Path(path_type=Path), help="Rules for --check.  [default: blurb-check.toml]")
@ACROSS
@click.option(
    "--keep-model", type=click.Choice(["none", "best", "replace"]), default="none", show_default=True,
    help="Keep the trained models for blurb predict; 'replace' also replaces a finished trial whose model cannot be "
    "made again as it was.",
)  # fmt: skip
@click.option(
    "--resume-trials", is_flag=True,
    help="Save each trial after every epoch and when the command is told to end; the same command goes on from there.",
)  # fmt: skip
@click.option(
    "--keep-sweep", is_flag=True,
    help="Leave the trials to blurb worker also if the command is ended before any of them is finished.",
)  # fmt: skip
@click.option(
    "--engine", shell_complete=_complete.engines, default=DEFAULT, show_default=True, metavar="NAME[,KEY=VALUE...]",
    help="Where to run the trials: local, ray or slurm, with options such as slurm,partition=gpu (docs/cluster.md).",
)  # fmt: skip
@click.option(
    "--print", "print_script", is_flag=True, help="With --engine slurm: print the script instead of submitting it."
)
@click.option(
    "--budget",
    metavar="TIME",
    help="Time limit such as 10m or 2h: run the largest protocol predicted to fit, instead of --protocol.",
)
@click.option("--dry-run", is_flag=True, help="List the trials with their estimated cost, and stop.")
def command(**given: Any) -> None:
    """Fine-tune encoders on the tasks and write their rows.

    MODEL is a checkpoint folder, a Hub id (org/model or org/model@revision), a preset (pubmedbert, biolinkbert, ...),
    scratch:tiny or baseline:majority. Finished trials are not repeated: run the same command again to resume.
    Exit code: 0 all trials done, 1 some failed, 2 the command cannot start; with --check that of blurb check, or 2
    if a trial failed; 128 + the number of a signal if interrupted: 130 Ctrl-C, 143 SIGTERM (docs/ci.md).
    """
    from blurb.api import running
    from blurb.api.options import RunOptions

    options = RunOptions(**given)
    goes_on(unfinished=options.resume_trials)
    if options.check:
        gate()

    results = running.execute(options)
    if options.dry_run:
        return
    if results.submitted:
        _show_submitted(options, results)
    if results.rows and not options.print_script:
        _show_rows(options, results)
    if results.failed:
        raise SystemExit(UNKNOWN if options.check else PARTLY)  # 1 would say that there is a regression
    if options.check:
        from blurb.cli.check import report

        for decision in results.decisions:
            report(decision)
        found = {decision.exit_code for decision in results.decisions}
        raise SystemExit(PARTLY if PARTLY in found else max(found, default=UNKNOWN))


def _show_submitted(options: RunOptions, results: Results) -> None:
    from blurb.wording import option, plural

    handed_over = results.submitted[0]
    if options.print_script:
        click.echo(handed_over.script, nl=False)
    click.echo(handed_over.message, err=options.print_script)
    store = option("--output", options.output, "runs")
    click.echo(f"{plural(len(results.submitted), 'trial')} to come: blurb status{store}", err=True)


def _show_rows(options: RunOptions, results: Results) -> None:
    from blurb.leaderboard.standing import standing
    from blurb.leaderboard.terminal import render
    from blurb.results.tables import results_beside
    from blurb.terminal.output import console
    from blurb.wording import option

    out = console(width=120)
    out.print(render(results.rows, out.width))
    out.print(standing(results.rows, results.others, out.width))
    leaderboard = Path(options.leaderboard)  # type: ignore[arg-type]
    out.print(f"Rows: {leaderboard}   scores by seed: {results_beside(leaderboard)}   trials: {options.output}")
    store = option("--output", options.output, "runs")
    out.print(f"All rows, ranked with intervals: blurb leaderboard show{store}")
