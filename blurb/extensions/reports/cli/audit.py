"""`blurb data audit`: problems of the datasets themselves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any

import click

from blurb.cli._made import click_command
from blurb.data.loading import hint_at_folder
from blurb.extensions.reports.audit import audit as examine
from blurb.extensions.reports.audit.audited import AuditFinding, gather
from blurb.extensions.reports.cli.stats import chosen
from blurb.grouping import by_key
from blurb.messages import DataError, SettingsError
from blurb.options import Option
from blurb.records import record_columns
from blurb.system.files import write_whole
from blurb.terminal.output import Column, print_records, render_rows_as

SHOWN = 26
"""Maximum characters of ids in the table."""


@click_command("audit", chosen, prints=list[AuditFinding])
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
        Option(
            help="Also write all findings with all ids to a .csv or .json file.",
            path="file",
            metavar="FILE",
        ),
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
    corpora, unreadable, notes = gather(named, folder, raw, read)
    if not corpora and not unreadable:
        raise DataError(f"none of the data files exists.{hint_at_folder(named, folder)}", folder)
    findings = [*unreadable, *examine(corpora)]
    if form == "table":
        for check, own in by_key((finding.check, finding) for finding in findings).items():
            # An effect that all findings of a check share goes into the title, and empty columns are left out.
            effects = {finding.effect for finding in own}
            click.secho(check.capitalize(), bold=True, nl=False)
            click.echo(f": {own[0].effect}" if len(effects) == 1 else "")
            table = [
                Column("dataset", "task"),
                Column("where"),
                Column("kind"),
                Column("count", number=","),
                Column("distinct", number=","),
                Column("6+ words", "long", ","),
                Column("ids", lambda finding: _few(finding.ids)),
                *([Column("effect")] if len(effects) > 1 else []),
            ]
            filled = [
                column for column in table if any(column.cell(finding) != "" for finding in own)
            ]
            print_records("table", AuditFinding, own, filled)
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
    keys = record_columns(AuditFinding)
    return render_rows_as(
        keys, [[getattr(finding, key) for key in keys] for finding in findings], form
    )


def _few(ids: Sequence[str]) -> str:
    """As many ids as fit the column, at least one."""
    ends = accumulate(len(id_) + len(", ") for id_ in ids)
    shown = ids[: max(1, sum(end - len(", ") <= SHOWN for end in ends))]
    return ", ".join(shown) + (", …" if len(shown) < len(ids) else "")
