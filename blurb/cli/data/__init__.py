"""`blurb data`: download, prepare, verify, inspect and export the datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from blurb.cli._exit import PARTLY
from blurb.cli._group import Group
from blurb.cli._made import DATA, TASKS_OR_FILES, click_command
from blurb.cli.data.download import download_originals, get_datasets
from blurb.cli.data.prepare import prepare_datasets, verify_datasets
from blurb.data.export import export_tasks as write
from blurb.data.loading import path_of
from blurb.messages import DataError, SettingsError
from blurb.options import Option
from blurb.planning.options import SUITE
from blurb.planning.steps import check_files, find_folders
from blurb.tasks import SCORED, SPLITS, TWELVE, ScoredSplit, Split, load_selection
from blurb.terminal.output import Column, print_records

COLUMNS = (
    Column("file", lambda one: f"{one.task}.jsonl"),
    Column("requests", number=",d"),
    Column("words", number=",d"),
    Column("tokens, at most", "tokens", ",d"),
    Column("of answers, at most", "answer_tokens", ",d"),
)


@click_command("data", cls=Group)
def command() -> None:
    """Get, verify, inspect and export the data."""


for each in (get_datasets, download_originals, prepare_datasets, verify_datasets):
    command.add_command(each)


@click_command("export", within=command)
def export(
    *,
    data: Annotated[Path | None, DATA] = None,
    suite: Annotated[str, SUITE] = "blurb",
    selection: Annotated[str, TASKS_OR_FILES] = "all",
    form: Annotated[
        str,
        Option(
            help="Format of the files; conll is for NER and PICO, batch for language models.",
            flag="--format",
            choices=("jsonl", "parquet", "conll", "batch"),
        ),
    ] = "jsonl",
    prompts: Annotated[
        Path | None,
        Option(
            help="batch: a TOML file of prompts, or a folder with a file a task type.  [default: those of blurb]"
        ),
    ] = None,
    shots: Annotated[
        int, Option(help="batch: solved examples before each question, drawn from train.", low=0)
    ] = 0,
    seed: Annotated[int, Option(help="batch: seed that draws the shots.", low=1)] = 1,
    split: Annotated[ScoredSplit, Option(help="batch: split to ask.", choices=SCORED)] = "test",
    limit: Annotated[
        int, Option(help="batch: ask at most this many examples; 0 for all.", low=0)
    ] = 0,
    model: Annotated[str, Option(help="batch: the model, as the server calls it.")] = "",
    out: Annotated[Path, Option(help="Folder to write.", path="dir")],
) -> None:
    """Write the splits with ids, for a tool that reads no BLURB layout.

    With --tasks all, splits that the data lacks are left out, and the exit code is 1; a named task must be whole.

    Writes OUT/TASK/SPLIT.FORMAT; batch writes OUT/TASK.jsonl with a request a line, and OUT/manifest.json
    (docs/language-models.md). The ids are those by which blurb score matches predictions. The files have the text of
    the corpora, whose licences forbid most to be passed on (blurb tasks show TASK).
    """
    chosen = load_selection(selection, suite)
    folder, _ = find_folders(suite, data, None, chosen)
    if form != "batch" and (prompts or shots or seed != 1 or limit or model or split != "test"):
        raise SettingsError(
            "--prompts, --shots, --seed, --split, --limit and --model are for --format batch."
        )
    batch: tuple[Split, ...] = (split, "train") if shots else (split,)
    needed = batch if form == "batch" else SPLITS
    lacking = None
    try:
        check_files(chosen, folder, needed)
    except DataError as error:
        if selection not in ("all", TWELVE):
            raise
        lacking = error
    if form == "batch":
        from blurb.scoring import requests  # with all that reads and scores examples

        there = [
            task for task in chosen if all(path_of(task, folder, each).exists() for each in needed)
        ]
        asked = requests.export(there, folder, out, split, prompts, shots, seed, limit, model)
        print_records("table", requests.Manifest, asked, COLUMNS)
        written = [out / requests.MANIFEST] if asked else []
    else:
        written = write(chosen, folder, out, form)
    if not written:
        raise DataError("has none of the chosen datasets.", folder, fix="check --data.")
    for path in written:
        click.echo(path)
    if lacking is not None:
        click.secho(f"Left out: {lacking}", fg="yellow", err=True)
        raise SystemExit(PARTLY)
