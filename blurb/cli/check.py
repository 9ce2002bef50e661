"""`blurb check`: the gate of a continuous integration."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from blurb.cli._output import show

if TYPE_CHECKING:
    from blurb.leaderboard.gate import Decision


@click.command(name="check")
@click.argument("candidate")
@click.option("--baseline", required=True, help="A row: MODEL, FOLDER[:ROW], FILE.csv[:ROW].")
@click.option("--rules", type=click.Path(path_type=Path), help="TOML file.  [default: blurb-check.toml, if it is here]")
@click.option("--split", type=click.Choice(["dev", "test"]), help="Instead of that of the rules.  [default: dev]")
@click.option("--max-drop", type=click.FloatRange(min=0), help="Points that a dataset may fall, instead of the rules'.")
@click.option("--output", type=click.Path(path_type=Path), default="runs", show_default=True, help="Folder of trials.")
@click.option("--junit", type=click.Path(path_type=Path), help="Write JUnit XML.")
@click.option("--summary", type=click.Path(path_type=Path), help="Append Markdown.  [default: $GITHUB_STEP_SUMMARY]")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", help="Output format.")
def command(
    candidate: str, baseline: str, rules: Path | None, split: str | None, max_drop: float | None, output: Path,
    junit: Path | None, summary: Path | None, form: str,
) -> None:  # fmt: skip
    """Has CANDIDATE become worse than the baseline, by more than seeds explain?

    Both are rows: MODEL (or 'MODEL CONFIGURATION') of the store, FOLDER[:ROW] of another store, FILE.csv[:ROW].
    Exit code 0: pass. 1: regression. 2: cannot judge (missing scores, incomplete seeds, other data or metrics, no
    variance between runs and no max_drop, nothing to judge): never green because nothing ran. docs/ci.md has examples.
    """
    raise SystemExit(run(candidate, baseline, rules, split, max_drop, output, junit, summary, form))


def run(
    candidate: str, baseline: str, rules: Path | None, split: str | None, max_drop: float | None, output: Path,
    junit: Path | None = None, summary: Path | None = None, form: str = "table",
) -> int:  # fmt: skip
    """Checks and shows the answer in every form asked for; the exit code."""
    import dataclasses

    from blurb.leaderboard import gate
    from blurb.leaderboard.gate import render
    from blurb.leaderboard.sides import resolve

    if rules is None and Path(gate.rules.NAME).is_file():
        rules = Path(gate.rules.NAME)
    wanted = gate.load(rules) if rules else gate.Rules()
    if split:
        wanted = dataclasses.replace(wanted, split=split)  # type: ignore[arg-type]
    if max_drop is not None:
        wanted = dataclasses.replace(wanted, default=gate.rules.Limit(max_drop=max_drop))
    decision = gate.decide(
        resolve(candidate, output, wanted.split), resolve(baseline, output, wanted.split), wanted
    )  # fmt: skip
    if junit:
        junit.parent.mkdir(parents=True, exist_ok=True)
        junit.write_bytes(render.junit(decision))
    if summary is None and os.environ.get("GITHUB_STEP_SUMMARY"):
        summary = Path(os.environ["GITHUB_STEP_SUMMARY"])
    if summary:
        with summary.open("a", encoding="utf-8") as file:
            file.write(render.markdown(decision))
    if form == "json":
        click.echo(json.dumps(render.records(decision), indent=1, ensure_ascii=False))
    else:
        _show(decision)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in render.github(decision):
            click.echo(line)
    return int(decision.outcome)


def _show(decision: Decision) -> None:
    """The score first, then the datasets, then the units that flipped."""
    from blurb.leaderboard.gate import Outcome, render

    click.echo(f"{decision.candidate} against {decision.baseline}, {decision.rules.split}")
    rows = [render.cells(finding) for finding in decision.findings]
    show(render.COLUMNS, rows, "table", numbers=render.COLUMNS[1:6])
    for finding in decision.findings:
        if not finding.worse and not finding.better:
            continue
        click.echo(f"{finding.name}: {len(finding.worse)} units with more mistakes, {len(finding.better)} with fewer.")
        for unit, change in finding.worse[: render.SHOWN]:
            click.echo(f"  {unit}  {change:+.1f}")
    colour = {Outcome.PASS: "green", Outcome.REGRESSION: "red"}.get(decision.outcome, "yellow")
    text = decision.outcome.words if decision.findings else f"{decision.outcome.words}: nothing was judged"
    click.secho(text, fg=colour, bold=True)
