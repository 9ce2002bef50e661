"""`blurb data audit`: problems of the datasets themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import click

from blurb.cli._made import click_command
from blurb.corpora.originals import load_original
from blurb.data.loading import elsewhere
from blurb.extensions.reports.audit import audit as examine
from blurb.extensions.reports.audit.gather import gather
from blurb.extensions.reports.cli._data import chosen
from blurb.messages.errors import DataError, SettingsError
from blurb.options import Option
from blurb.records import Count, columns
from blurb.system.files import write_whole
from blurb.terminal.output import render, show

if TYPE_CHECKING:
    from blurb.extensions.reports.audit import AuditFinding

NUMBERS = ("count", "distinct", "6+ words")
SHOWN = 26
"""Maximum characters of ids in the table."""


class AuditRecord(TypedDict):
    """What the audit found."""

    check: Annotated[str, "name of the check"]
    task: Annotated[str, "the task, or two that share text"]
    where: Annotated[str, "the split, or two of them"]
    kind: Annotated[str, "kind of finding, if the check has several"]
    count: Annotated[Count, "number of cases"]
    distinct: Annotated[Count | None, "distinct inputs among them, in checks for copies"]
    long: Annotated[Count | None, "cases of six words or more, likewise"]
    effect: Annotated[str, "what it does to training or scores"]
    ids: Annotated[list[str], "ids of the affected examples or documents"]
    others: Annotated[list[str], "for each of them the example that it copies"]


@click_command("audit", chosen, prints=list[AuditRecord])
def audit(
    *,
    raw: Annotated[
        Path | None,
        Option(
            help="Folder of the original releases, to compare ChemProt and DDI with other tasks by their text "
            "without dummies and NCBI-disease by document."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Option(help="Also write all findings with all ids to a .csv or .json file.", path="file", metavar="FILE"),
    ] = None,
    form: str,
    **given: Any,
) -> None:
    """Look for leaks, duplicates and contradictory labels.

    And for odd characters, and text that is lost before the encoder.

    Reports inputs that occur twice in a split, in two splits or in two tasks; equal inputs with different labels;
    duplicate documents; tags that their scheme forbids; odd characters. With --model also entities without a
    sub-token of their own and relation pairs longer than the task's limit. The output has ids and counts, never text.
    Exit code 0 whatever is found, 2 if a file cannot be read.
    """
    if out is not None and out.suffix not in (".csv", ".json"):
        raise SettingsError(f"--out must end in .csv or .json (got '{out.name}').")
    named, folder, read = chosen(**given)
    corpora, unreadable, notes = gather(named, folder, raw, read, load_original)
    if not corpora and not unreadable:
        raise DataError(f"none of the data files exists.{elsewhere(named, folder)}", folder)
    findings = [*unreadable, *examine(corpora)]
    if form == "table":
        for check in dict.fromkeys(finding.check for finding in findings):
            _show([finding for finding in findings if finding.check == check])
        if not findings:
            click.echo("Nothing found.")
    else:
        click.echo(_plain(findings, form), nl=False)
    if out is not None:
        write_whole(out, _plain(findings, out.suffix[1:]).encode())
    for note in notes:
        click.echo(note, err=True)
    if unreadable:
        raise SystemExit(2)


def _plain(findings: Sequence[AuditFinding], form: str) -> str:
    """All findings with all ids."""
    keys = columns(AuditRecord)
    return render(keys, [[getattr(finding, key) for key in keys] for finding in findings], form)


def _show(findings: list[AuditFinding]) -> None:
    """Prints the table of one check; an effect shared by all rows goes into the title, empty columns are left out."""
    effects = {finding.effect for finding in findings}
    click.secho(findings[0].check.capitalize(), bold=True, nl=False)
    click.echo(f": {findings[0].effect}" if len(effects) == 1 else "")
    columns: dict[str, list[object]] = {
        "dataset": [finding.task for finding in findings],
        "where": [finding.where for finding in findings],
        "kind": [finding.kind for finding in findings],
        "count": [finding.count for finding in findings],
        "distinct": [_number(finding.distinct) for finding in findings],
        "6+ words": [_number(finding.long) for finding in findings],
        "ids": [_few(finding.ids) for finding in findings],
        "effect": [finding.effect if len(effects) > 1 else "" for finding in findings],
    }
    columns = {name: cells for name, cells in columns.items() if any(cell != "" for cell in cells)}
    rows = list(zip(*columns.values(), strict=True))
    show(tuple(columns), rows, "table", numbers=NUMBERS)


def _number(value: int | None) -> object:
    return "" if value is None else value


def _few(ids: Sequence[str]) -> str:
    """As many ids as fit the column, at least one."""
    shown = list(ids[:1])
    for id_ in ids[1:]:
        if len(", ".join([*shown, id_])) > SHOWN:
            break
        shown.append(id_)
    return ", ".join(shown) + (", …" if len(shown) < len(ids) else "")
