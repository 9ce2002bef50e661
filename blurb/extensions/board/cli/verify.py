"""`blurb leaderboard verify`: recompute the figures of a row from its predictions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, cast

import click

from blurb import records, tasks
from blurb.cli._made import click_command
from blurb.extensions.board import boards, ledger
from blurb.extensions.board.verification import (
    MARGIN,
    Level,
    Reproduction,
    VerificationRecord,
    VerifiedRow,
    sentences,
    verify as verified,
)
from blurb.messages import SettingsError, group_reasons
from blurb.options import Argument, Option
from blurb.planning.options import SUITE
from blurb.planning.steps import find_folders
from blurb.terminal.output import Column, json_text, print_records, print_sentence


@click_command("verify", prints=VerifiedRow | boards.VerifiedBoard, csv=False)
def verify(
    folder: Annotated[Path, Argument()],
    *,
    data: Annotated[
        Path | None, Option(help="Your own data folder, which has the gold answers.")
    ] = None,
    raw: Annotated[
        Path | None, Option(help="Your folder of the original releases, if the row needs it.")
    ] = None,
    suite: Annotated[str, SUITE] = "blurb",
    beside: Annotated[Path | None, Option(help="A folder of rows to look at it beside.")] = None,
    rerun: Annotated[
        Path | None, Option(help="Another party's row of the same recipe, as a folder.")
    ] = None,
    margin: Annotated[
        float | None, Option(help="--rerun: points of the score.  [default: 1]", above=0)
    ] = None,
    since: Annotated[Path | None, Option(help="A board: the ledger of an earlier release.")] = None,
    submitted: Annotated[
        bool, Option(help="--since: strangers wrote the new entries, and may only add rows.")
    ] = False,
    reproduced: Annotated[
        Mapping[str, str] | None,
        Option(
            help="A board: a row, and the row of another party that reruns it; repeatable.",
            metavar="ROW=ROW",
        ),
    ] = None,
    record: Annotated[
        str | None,
        Option(help="A board: write new levels into its ledger, under this name.", metavar="NAME"),
    ] = None,
    form: str,
) -> None:
    """Recompute the figures of a row, or of a board, from predictions.

    FOLDER is what blurb export row wrote, or a board. Its files are read as data; nothing in them is run.

    A row is claimed if a figure is not what its predictions give on your data, else recomputed; and reproduced if the
    runs of another party, --rerun, are equivalent to its own within --margin. Whatever is odd about it is told beside
    it. Exit code 0: recomputed, or with --rerun reproduced; 1: less than that; 2: not the files of a row.

    On a board every row is looked at beside the others, and rows and ledger must fit; of the ledger of an earlier
    release, --since, no line may be gone or changed.
    """
    if submitted and since is None:
        raise SettingsError("--submitted is for --since.")
    if margin is not None and rerun is None:
        raise SettingsError("--margin is for --rerun.")
    place, originals = find_folders(suite, data, raw, tasks.load_selection("all", suite))
    if ledger.is_board(folder):
        if beside or rerun:
            raise SettingsError("--beside and --rerun are for a single row.")
        _board(
            boards.verify_board(folder, place, since, submitted, reproduced, originals),
            folder, record, form,
        )  # fmt: skip
        return
    if since or record or submitted or reproduced:
        raise SettingsError(
            "--since, --submitted, --reproduced and --record are for a board.", where=folder
        )
    result = verified(folder, place, beside, originals)
    again = (
        Reproduction(result, verified(rerun, place, raw=originals), margin or MARGIN, place)
        if rerun
        else None
    )
    level = again.level if again else result.level
    if form == "json":
        printed = cast(VerifiedRow, records.of(VerificationRecord, result))
        if again is not None:
            printed = {**printed, "level": level, "rerun": again.content}
        click.echo(json_text(printed), nl=False)
    else:
        figures = [
            Column("dataset", "task"),
            Column("seed", number="d"),
            Column("split"),
            Column("claimed", number=".2f"),
            Column("recomputed", number=".2f"),
        ]
        print_records(form, VerifiedRow, result.figures, figures)
        odd = ((signal.where, f"{signal.kind}: {signal.what}") for signal in result.signals)
        for text in (
            *group_reasons(odd),
            *(sentences(again.content) if again else ()),
            f"{result.row.about['model']}: {level}",
        ):
            print_sentence(text)
    if level is not (Level.REPRODUCED if rerun else Level.RECOMPUTED):
        click.get_current_context().exit(1)


def _board(verified: boards.VerifiedBoard, folder: Path, by: str | None, form: str) -> None:
    """Prints what was found of a board, and writes the levels into its ledger if somebody puts their name to it."""
    if form == "json":
        click.echo(json_text(verified), nl=False)
    else:
        table = [
            Column("row"),
            Column("model"),
            Column("level", lambda row: str(row["level"])),
            Column("signals", lambda row: len(row["signals"]), ","),
        ]
        print_records(form, boards.BoardRow, verified["rows"], table)
        odd = ((each["row"], text) for each in verified["rows"] for text in each["signals"])
        for text in (
            *group_reasons(odd),
            *(f"New in the ledger: {entry}." for entry in verified["new"]),
            *(f"Problem: {problem}." for problem in verified["problems"]),
        ):
            print_sentence(text)
    changed: list[str] = []
    if by is not None and not verified["problems"]:
        count, changed = boards.record(folder, verified, by, ledger.today())
        click.echo(f"New entries in the ledger: {count}", err=True)
        for name in changed:
            click.echo(
                f"{name}: changed while it was verified, and not recorded; verify the board again.",
                err=True,
            )
    if changed or boards.fails(verified):
        click.get_current_context().exit(1)
