"""`blurb run`: fine-tune models on BLURB and write their leaderboard rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from blurb.cli._exit import PARTLY, UNKNOWN, gate, goes_on
from blurb.cli._request import data_options, machine_options

if TYPE_CHECKING:
    from blurb.results.row_scores import RowScores
    from blurb.runs.cost.budget import Rung
    from blurb.runs.plan import Planned, Request
    from blurb.runs.worker import TrialOutcome
    from blurb.tasks import Task


@click.command(name="run")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@data_options
@click.option(
    "--tasks", "selection", default="all", show_default=True, help="Task names, types or files, comma-separated."
)
@click.option("--seeds", type=click.IntRange(min=1), help="Run seeds 1 to N instead of the protocol's.")
@click.option("--head", help="Head, such as crf or bilstm,hidden=128 (see blurb heads); short for --set head=...")
@click.option("--pooling", help="Pooling of sequence tasks (see blurb heads); short for --set pooling=...")
@click.option("--tagging", help="Tagging scheme of NER and PICO; short for --set tagging=NAME.")
@click.option(
    "--relation-input",
    metavar="NAME",
    help="How relation inputs show the entities: dummify, dummy-tokens, original, markers or typed-markers.",
)
@click.option("--dummy-tokens", is_flag=True, help="Short for --relation-input dummy-tokens.")
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a setting of the protocol; repeatable."
)
@click.option(
    "--output", type=click.Path(path_type=Path), default="runs", show_default=True, help="Folder for the trials."
)
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
    "--check", "baseline", metavar="ROW", help="Then compare the row with this baseline, as blurb check does."
)
@click.option("--rules", type=click.Path(path_type=Path), help="Rules for --check.  [default: blurb-check.toml]")
@click.option("--engine", default="local", show_default=True, help="How to run the trials.")
@click.option(
    "--budget",
    metavar="TIME",
    help="Time limit such as 10m or 2h: run the largest protocol predicted to fit, instead of --protocol.",
)
@click.option("--dry-run", is_flag=True, help="List the trials with their estimated cost, and stop.")
def command(
    models: tuple[str, ...], data: Path | None, selection: str, suite: str, protocol: str | None, seeds: int | None,
    head: str | None, pooling: str | None, tagging: str | None, overrides: tuple[str, ...], output: Path,
    relation_input: str | None, dummy_tokens: bool, raw: Path | None, leaderboard: Path, name: str | None,
    revision: str | None, trust_remote_code: bool, device: str, precision: str, jobs: int, engine: str, dry_run: bool,
    budget: str | None, track: str | None, baseline: str | None, rules: Path | None, casing: str | None,
) -> None:  # fmt: skip
    """Fine-tune MODEL... on the tasks and write their leaderboard rows.

    MODEL is a checkpoint folder, a Hub id (org/model or org/model@revision), a preset (pubmedbert, biolinkbert, ...),
    scratch:tiny or baseline:majority. Finished trials are not repeated: run the same command again to resume.
    Exit code: 0 all trials done, 1 some failed, 2 the command cannot start; with --check that of blurb check, or 2
    if a trial failed; 130 and 143 interrupted (docs/ci.md).
    """
    from blurb import tasks
    from blurb.cli._dry_run import list_trials
    from blurb.cli._estimate import announce, by_budget
    from blurb.cli._progress import Display, Meanwhile
    from blurb.cli._request import check_files, check_writable, folders, load_protocol, setting_overrides, source
    from blurb.cli.check import answer, read_rules
    from blurb.errors import SettingsError, UnknownName
    from blurb.results import tables
    from blurb.results.references import resolve
    from blurb.runs import plan
    from blurb.runs.cost.budget import seconds_of
    from blurb.runs.engine import ENGINES
    from blurb.runs.store import Store
    from blurb.training import hardware, tracking

    goes_on()
    if baseline:
        gate()
    chosen = tasks.select(selection)
    if budget is not None:
        for option, given in (("--protocol", protocol), ("--seeds", seeds)):
            if given is not None:
                raise SettingsError(f"--budget chooses the protocol and its seeds; remove {option} or --budget.")
        seconds_of(budget)
    loaded = load_protocol(protocol, suite)
    if dummy_tokens:
        if relation_input not in (None, "dummify", "dummy-tokens"):
            raise SettingsError(
                f"--dummy-tokens cannot be combined with --relation-input {relation_input}; remove one."
            )
        relation_input = "dummy-tokens"
    changed, options = setting_overrides(
        overrides, head=head, pooling=pooling, tagging=tagging, relation_input=relation_input
    )
    if dummy_tokens:
        options["relation_input"] = "--dummy-tokens"
    if engine not in ENGINES:
        raise UnknownName("engine", engine, ENGINES)
    if name and len(models) > 1:
        raise SettingsError("--name needs exactly one MODEL.")
    check_writable(output=output, leaderboard=leaderboard.parent)
    tables.check(Store(output), leaderboard, _unheard)
    if rules and not baseline:
        raise SettingsError("--rules needs --check with the row to compare with.")
    limits = read_rules(rules) if baseline else None  # before training, so that a typo costs nothing
    if limits is not None and limits.required is None:
        limits = dataclasses.replace(limits, required=tuple(task.name for task in chosen))
    if baseline and limits:
        resolve(baseline, output, _unheard)
    if track:
        tracking.check(track)
    resolved = hardware.choose_precision(precision, hardware.choose_device(device))  # before anything is read
    folder, raw = folders(suite, data, raw, chosen)
    check_files(chosen, folder)
    sources = [source(model, name, revision, trust_remote_code, folder, casing) for model in models]
    plan.check_names(sources)
    request = plan.Request(
        sources=sources, tasks=chosen, protocol=loaded, data=folder, store=output, device=device, overrides=changed,
        options=options, precision=resolved, seeds=seeds, suite=suite, raw=raw, track=track or "",
    )  # fmt: skip

    def rung(step: Rung, some: Sequence[Task]) -> Planned:
        picked = load_protocol(step.protocol, suite)
        return plan.prepare(dataclasses.replace(request, protocol=picked, seeds=step.seeds, tasks=some))

    if budget is None:
        plans, expected = [plan.prepare(request)], None
    else:
        plans, expected = by_budget(budget, chosen, jobs, rung, err=not dry_run)
    if dry_run:
        list_trials(plans)
    plans, expected = announce(plans, jobs, dry_run, expected)
    if dry_run:
        return
    (planned,) = plans
    request = planned.request
    with (
        Meanwhile(lambda: tables.rebuild(Store(output), leaderboard, _unheard)) as rebuild,
        Display([planned], expected=expected) as display,
    ):

        def finished(outcome: TrialOutcome) -> None:
            display.finished(outcome)
            if outcome.status == "done":
                rebuild()

        outcomes = plan.run([planned], ENGINES[engine](jobs), finished, display.on_progress)
    asked = _requested_rows(request, tables.rebuild(Store(output), leaderboard))
    _show_rows(request, asked, leaderboard)
    failed = [outcome for outcome in outcomes if outcome.status == "failed"]
    for outcome in failed:
        trial = outcome.job.trial
        click.secho(f"Failed: {outcome.job.source.name} on {trial.task}, seed {trial.seed}: {outcome.message}",
                    fg="red", err=True)  # fmt: skip
    if failed:
        raise SystemExit(UNKNOWN if baseline else PARTLY)  # 1 would say that there is a regression
    if baseline and limits:
        before = resolve(baseline, output)
        found = {int(answer(row, before, limits)) for row in asked}
        raise SystemExit(PARTLY if PARTLY in found else max(found, default=UNKNOWN))


def _unheard(text: str) -> None:
    """Ignores damage that this run may repair; what is left is reported at the end."""


def _requested_rows(request: Request, rows: list[RowScores]) -> list[RowScores]:
    """The requested rows among all rows of the store."""
    wanted = [request.row_key(source) for source in request.sources]
    return [row for row in rows if row.key in wanted]


def _show_rows(request: Request, rows: list[RowScores], leaderboard: Path) -> None:
    from blurb.cli._output import console
    from blurb.leaderboard.terminal import comparison, render
    from blurb.results.tables import results_beside

    out = console(width=120)
    for row in rows:
        out.print(render(row))
    out.print(comparison(rows))
    out.print(f"Rows: {leaderboard}   scores by seed: {results_beside(leaderboard)}   trials: {request.store}")
