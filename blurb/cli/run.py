"""`blurb run`: fine-tune models on BLURB and write their leaderboard rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blurb.cli._exit import PARTLY, UNKNOWN, gate, goes_on
from blurb.cli._request import data_options, machine_options

if TYPE_CHECKING:
    from blurb.regression import Rules
    from blurb.results.row_scores import RowScores
    from blurb.runs.cost.budget import Rung
    from blurb.runs.cost.model import Estimate
    from blurb.runs.plan import Planned, Request
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
def command(**given: Any) -> None:
    """Fine-tune MODEL... on the tasks and write their leaderboard rows.

    MODEL is a checkpoint folder, a Hub id (org/model or org/model@revision), a preset (pubmedbert, biolinkbert, ...),
    scratch:tiny or baseline:majority. Finished trials are not repeated: run the same command again to resume.
    Exit code: 0 all trials done, 1 some failed, 2 the command cannot start; with --check that of blurb check, or 2
    if a trial failed; 130 and 143 interrupted (docs/ci.md).
    """
    from blurb import tasks
    from blurb.cli._trials import run_trials, show_failed
    from blurb.cli.check import answer
    from blurb.results import tables
    from blurb.results.references import resolve
    from blurb.runs.store import Store

    options = Options(**given)
    goes_on()
    if options.baseline:
        gate()
    chosen = tasks.select(options.selection)
    request, rules = _request(options, chosen)
    plans, expected = _plan(options, request)
    if options.dry_run:
        return
    store, leaderboard = Store(options.output), options.leaderboard
    outcomes = run_trials(
        plans, options.engine, options.jobs, expected, lambda: tables.rebuild(store, leaderboard, _unheard)
    )
    rows = _requested_rows(plans[0].request, tables.rebuild(store, leaderboard))
    _show_rows(plans[0].request, rows, leaderboard)
    if show_failed(outcomes, lambda job: job.source.name):
        raise SystemExit(UNKNOWN if options.baseline else PARTLY)  # 1 would say that there is a regression
    if options.baseline and rules:
        before = resolve(options.baseline, options.output)
        found = {int(answer(row, before, rules)) for row in rows}
        raise SystemExit(PARTLY if PARTLY in found else max(found, default=UNKNOWN))


@dataclass(frozen=True)
class Options:
    """The options of the command, by name."""

    models: tuple[str, ...]
    data: Path | None
    selection: str
    suite: str
    protocol: str | None
    seeds: int | None
    head: str | None
    pooling: str | None
    tagging: str | None
    overrides: tuple[str, ...]
    output: Path
    relation_input: str | None
    dummy_tokens: bool
    raw: Path | None
    leaderboard: Path
    name: str | None
    revision: str | None
    trust_remote_code: bool
    device: str
    precision: str
    jobs: int
    engine: str
    dry_run: bool
    budget: str | None
    track: str | None
    baseline: str | None
    rules: Path | None
    casing: str | None


def _request(options: Options, chosen: list[Task]) -> tuple[Request, Rules | None]:
    """What to run, and the rules of --check; every mistake that shows without planning is reported here."""
    from blurb.cli._request import check_files, check_writable, folders, load_protocol, source
    from blurb.errors import SettingsError, UnknownName
    from blurb.results import tables
    from blurb.runs import plan
    from blurb.runs.cost.budget import seconds_of
    from blurb.runs.engine import ENGINES
    from blurb.runs.store import Store
    from blurb.training import hardware, tracking

    if options.budget is not None:
        for option, given in (("--protocol", options.protocol), ("--seeds", options.seeds)):
            if given is not None:
                raise SettingsError(f"--budget chooses the protocol and its seeds; remove {option} or --budget.")
        seconds_of(options.budget)
    protocol = load_protocol(options.protocol, options.suite)
    overrides, shorthands = _settings(options)
    if options.engine not in ENGINES:
        raise UnknownName("engine", options.engine, ENGINES)
    if options.name and len(options.models) > 1:
        raise SettingsError("--name needs exactly one MODEL.")
    check_writable(output=options.output, leaderboard=options.leaderboard.parent)
    tables.check(Store(options.output), options.leaderboard, _unheard)
    rules = _rules(options, chosen)
    if options.track:
        tracking.check(options.track)
    precision = hardware.choose_precision(options.precision, hardware.choose_device(options.device))
    folder, raw = folders(options.suite, options.data, options.raw, chosen)
    check_files(chosen, folder)
    sources = [
        source(model, options.name, options.revision, options.trust_remote_code, folder, options.casing)
        for model in options.models
    ]
    plan.check_names(sources)
    request = plan.Request(
        sources=sources, tasks=chosen, protocol=protocol, data=folder, store=options.output, device=options.device,
        overrides=overrides, options=shorthands, precision=precision, seeds=options.seeds, suite=options.suite, raw=raw,
        track=options.track or "",
    )  # fmt: skip
    return request, rules


def _settings(options: Options) -> tuple[dict[str, Any], dict[str, str]]:
    """The settings given with --set and its shorthands, and for the latter the option."""
    from blurb.cli._request import setting_overrides
    from blurb.errors import SettingsError

    relation_input = options.relation_input
    if options.dummy_tokens:
        if relation_input not in (None, "dummify", "dummy-tokens"):
            raise SettingsError(
                f"--dummy-tokens cannot be combined with --relation-input {relation_input}; remove one."
            )
        relation_input = "dummy-tokens"
    overrides, shorthands = setting_overrides(
        options.overrides, head=options.head, pooling=options.pooling, tagging=options.tagging,
        relation_input=relation_input,
    )  # fmt: skip
    if options.dummy_tokens:
        shorthands["relation_input"] = "--dummy-tokens"
    return overrides, shorthands


def _rules(options: Options, chosen: list[Task]) -> Rules | None:
    """The rules of --check, read before training, so that a typo costs nothing; None without --check."""
    from blurb.cli.check import read_rules
    from blurb.errors import SettingsError
    from blurb.results.references import resolve

    if options.rules and not options.baseline:
        raise SettingsError("--rules needs --check with the row to compare with.")
    if not options.baseline:
        return None
    rules = read_rules(options.rules)
    resolve(options.baseline, options.output, _unheard)
    if rules.required is None:
        return dataclasses.replace(rules, required=tuple(task.name for task in chosen))
    return rules


def _plan(options: Options, request: Request) -> tuple[Sequence[Planned], Estimate | None]:
    """The trials, announced with their cost; with --budget of the protocol that fits."""
    from blurb.cli._dry_run import list_trials
    from blurb.cli._estimate import announce, by_budget
    from blurb.cli._request import load_protocol
    from blurb.runs import plan

    def rung(step: Rung, some: Sequence[Task]) -> Planned:
        protocol = load_protocol(step.protocol, options.suite)
        return plan.prepare(dataclasses.replace(request, protocol=protocol, seeds=step.seeds, tasks=some))

    if options.budget is None:
        plans, expected = [plan.prepare(request)], None
    else:
        plans, expected = by_budget(options.budget, list(request.tasks), options.jobs, rung, err=not options.dry_run)
    if options.dry_run:
        list_trials(plans)
    return announce(plans, options.jobs, options.dry_run, expected)


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
