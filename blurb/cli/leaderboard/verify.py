"""`blurb leaderboard verify`: recompute the figures of a row from its predictions."""

from __future__ import annotations

from pathlib import Path

import click

from blurb.cli._formats import formats


def _printed() -> object:
    from blurb.board.verification import Verified

    return Verified


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--data", type=click.Path(path_type=Path), help="Your own data folder, which has the gold answers.")
@click.option("--suite", type=click.Choice(["blurb", "demo"]), default="blurb", show_default=True, help="Data suite.")
@formats(_printed, has_csv=False)
def verify(folder: Path, data: Path | None, suite: str, form: str) -> None:
    """Recompute every figure of a row from its predictions.

    FOLDER is what blurb export row wrote. Its files are read as data; nothing in them is run.

    A row is claimed if a figure is not what its predictions give on your data, else recomputed. Whatever is odd about
    it is told beside it. Exit code 0: recomputed; 1: claimed; 2: not the files of a row.
    """
    from blurb import tasks
    from blurb.board.verification import Level
    from blurb.board.verification import verify as verified
    from blurb.messages.text import grouped
    from blurb.planning.request import folders
    from blurb.terminal.output import json_text, say, show

    place, _ = folders(suite, data, None, tasks.load_selection("all"))
    result = verified(folder, place)
    if form == "json":
        click.echo(json_text(result.content), nl=False)
    else:
        rows = [
            (each["task"], each["seed"], each["split"], f"{each['claimed']:.2f}", _number(each["recomputed"]))
            for each in result.figures
        ]
        show(
            ("dataset", "seed", "split", "claimed", "recomputed"), rows, form, numbers=("seed", "claimed", "recomputed")
        )
        for text in grouped((signal.where, f"{signal.kind}: {signal.what}") for signal in result.signals):
            say(text)
        say(f"{result.row.about['model']}: {result.level}")
    if result.level is not Level.RECOMPUTED:
        click.get_current_context().exit(1)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
