"""`blurb leaderboard verify`: recompute the figures of a row from its predictions."""

from __future__ import annotations

from pathlib import Path

import click

from blurb.cli._formats import formats


def _printed() -> object:
    from blurb.board.reproduction import VerifiedRow

    return VerifiedRow


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--data", type=click.Path(path_type=Path), help="Your own data folder, which has the gold answers.")
@click.option("--suite", type=click.Choice(["blurb", "demo"]), default="blurb", show_default=True, help="Data suite.")
@click.option("--beside", type=click.Path(path_type=Path), help="A folder of rows to look at it beside.")
@click.option("--rerun", type=click.Path(path_type=Path), help="Another party's row of the same recipe, as a folder.")
@click.option("--margin", type=click.FloatRange(0, min_open=True), help="--rerun: points of the score.  [default: 1]")
@formats(_printed, has_csv=False)
def verify(
    folder: Path,
    data: Path | None,
    suite: str,
    beside: Path | None,
    rerun: Path | None,
    margin: float | None,
    form: str,
) -> None:
    """Recompute every figure of a row from its predictions.

    FOLDER is what blurb export row wrote. Its files are read as data; nothing in them is run.

    A row is claimed if a figure is not what its predictions give on your data, else recomputed; and reproduced if the
    runs of another party, --rerun, are equivalent to its own within --margin. Whatever is odd about it is told beside
    it. Exit code 0: recomputed, or with --rerun reproduced; 1: less than that; 2: not the files of a row.
    """
    from blurb import tasks
    from blurb.board import reproduction
    from blurb.board.verification import Level
    from blurb.board.verification import verify as verified
    from blurb.messages.errors import SettingsError
    from blurb.messages.text import grouped
    from blurb.planning.request import folders
    from blurb.terminal.output import json_text, say, show

    if margin is not None and rerun is None:
        raise SettingsError("--margin is for --rerun.")
    place, _ = folders(suite, data, None, tasks.load_selection("all"))
    result = verified(folder, place, beside)
    again = reproduction.Reproduction(result, verified(rerun, place), margin or reproduction.MARGIN) if rerun else None
    level = again.level if again else result.level
    if form == "json":
        click.echo(json_text(reproduction.printed(result, again)), nl=False)
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
        for text in reproduction.sentences(again.content) if again else ():
            say(text)
        say(f"{result.row.about['model']}: {level}")
    if level is not (Level.REPRODUCED if rerun else Level.RECOMPUTED):
        click.get_current_context().exit(1)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
