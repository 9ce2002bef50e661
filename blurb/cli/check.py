"""`blurb check`: the regression check for continuous integration."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import click

from blurb import records
from blurb.api.comparing import check
from blurb.cli._exit import gate_exit_code, mark_as_gate, report_unwritten
from blurb.cli._made import click_command
from blurb.messages import format_signed, group_reasons, option_to_paste
from blurb.options import Option
from blurb.regression import Decision, Outcome, forms
from blurb.results.comparison import PAIRED
from blurb.results.score import SCORE
from blurb.system.files import write_whole
from blurb.terminal.output import json_text, print_rows


@click_command("check", check, prints=forms.Check, csv=False)
def command(
    *,
    junit: Annotated[Path | None, Option(help="Write the result as JUnit XML.")] = None,
    summary: Annotated[
        Path | None, Option(help="Append the result as Markdown.  [default: $GITHUB_STEP_SUMMARY]")
    ] = None,
    form: str,
    **given: Any,
) -> None:
    """Fail if CANDIDATE is worse than a baseline (for CI).

    Worse by more than seed noise, or by more than a limit.

    Both are rows: MODEL (or 'MODEL CONFIGURATION') in the store, FOLDER[:ROW] in another store, or FILE.csv[:ROW].
    Exit code 0: pass. 1: regression. 2: cannot judge (datasets or seeds missing, protocol, recipe, overrides, data or
    metrics differ or are unknown, no variance between runs and no max_drop, nothing to compare), so a check never
    passes because nothing ran. See docs/ci.md, and docs/extensions/series-gate.md for --state.
    """
    mark_as_gate()
    decision = check(**given)
    raise SystemExit(
        report_decision(
            decision, junit, summary, form, (given["candidate"], given["baseline"], given["output"])
        )
    )


def report_decision(
    decision: Decision,
    junit: Path | None = None,
    summary: Path | None = None,
    form: str = "table",
    given: tuple[str, str, Path] | None = None,
) -> int:
    """Prints a decision, then writes it in the requested forms; returns the exit code.

    What cannot be written is told after the decision and never changes it: only a pass is no pass without a file that
    was asked for by name.

    :param given: candidate, baseline and store as they were typed, for the command that shows the examples
    """
    if form == "json":
        click.echo(json_text(records.of(forms.Check, decision)), nl=False)
    else:
        _show_decision(decision, given)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in forms.workflow_commands(decision):
            click.echo(line, err=form == "json")  # stdout must stay valid JSON
    codes, job = (
        [int(decision.outcome)],
        os.environ.get("GITHUB_STEP_SUMMARY") if summary is None else None,
    )
    if junit:
        with report_unwritten(codes):
            write_whole(junit, decision.to_junit())
    if place := summary or job:
        with report_unwritten([] if job else codes), open(place, "a", encoding="utf-8") as file:
            file.write(forms.job_summary(decision))
    return gate_exit_code(codes)


def _show_decision(decision: Decision, given: tuple[str, str, Path] | None) -> None:
    """Prints the score first, then the datasets, then the examples with more mistakes."""
    click.echo(f"{decision.candidate} minus {decision.baseline}, {decision.rules.split}")
    if decision.rules.across:
        click.echo(f"Judged across {', '.join(decision.rules.across)}, as asked for.")
    for remark in decision.remarks:
        click.echo(f"The rows differ: {remark}.")
    for note in decision.notes:
        click.echo(note)
    rows = [forms.cells(finding) for finding in decision.findings]
    print_rows(forms.COLUMNS[:-1], [row[:-1] for row in rows], numbers=forms.COLUMNS[1:6])
    for line in (
        *group_reasons((row[0], row[-1]) for row in rows),
        *group_reasons((finding.name, finding.hint) for finding in decision.findings),
    ):
        click.echo(line)
    if decision.paired:
        click.echo(PAIRED)
    if decision.scope:
        click.echo(decision.scope)
    fell = [finding.name for finding in decision.findings if finding.outcome is Outcome.REGRESSION]
    if fell:
        click.echo(f"{decision.candidate} is worse than {decision.baseline} on {', '.join(fell)}.")
    for finding in decision.findings:
        if not finding.worse and not finding.better:
            continue
        click.echo(f"{finding.name}: {forms.changed(finding)}.")
        for unit, change in finding.worse[: forms.SHOWN]:
            click.echo(f"  {unit}  {format_signed(change, 1)}")
    below = [name for name in fell if name != SCORE]
    if given is not None and below and decision.with_examples:
        candidate, baseline, output = given
        click.echo(
            f"The examples: blurb diff {quote(candidate)} {quote(baseline)} --task {below[0]} "
            f"--split {decision.rules.split}{option_to_paste('--output', output, 'runs')}"
        )
    elif given is not None and below:
        click.echo(
            "A table alone has no examples; check the rows of two stores to see which changed."
        )
    colour = {Outcome.PASS: "green", Outcome.REGRESSION: "red"}.get(decision.outcome, "yellow")
    text = (
        decision.outcome.words
        if decision.findings
        else f"{decision.outcome.words}: nothing to compare"
    )
    click.secho(text, fg=colour, bold=True)
