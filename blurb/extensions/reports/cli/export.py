"""`blurb export`: a row of the store in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from blurb import tasks
from blurb.cli import _complete
from blurb.cli._options import STORE
from blurb.extensions.reports.export import formats

FORMAT_OPTIONS = (
    "published",
    "seed",
    "allow_partial",
    "sd",
    "transpose",
    "dataset_id",
    "dataset_revision",
    "source_url",
    "source_name",
    "source_org",
    "measured_by",
    "party",
)
"""Options that apply to some formats only."""


@click.command(name="export")
@click.argument("form", metavar="FORMAT")
@click.argument("rows", shell_complete=_complete.rows, nargs=-1, metavar="[ROW]...")
@STORE
@click.option(
    "--tasks",
    "selection",
    shell_complete=_complete.tasks,
    default="all",
    show_default=True,
    help="Task names or types, comma-separated.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="File or folder to write.  [default: the terminal; for row, submission and eval-results the folders row, "
    "submission and .eval_results]",
)
@click.option("--seed", type=int, help="submission: seed of the predictions.  [default: the first of each dataset]")
@click.option("--allow-partial", is_flag=True, help="submission: skip datasets without a finished trial.")
@click.option(
    "--published",
    multiple=True,
    metavar="SOURCE[/MODEL]",
    help="latex, markdown: published rows to add, such as gu2021 or gu2021/PubMedBERT.",
)
@click.option("--sd", is_flag=True, help="latex, markdown: add standard deviations over seeds.")
@click.option(
    "--transpose",
    is_flag=True,
    help="latex, markdown: one line per model instead of one column; more than ten are always lines.",
)
@click.option("--dataset-id", help="model-index, eval-results: BLURB's name on the Hub.  [default: EMBO/BLURB]")
@click.option("--dataset-revision", metavar="COMMIT", help="eval-results: commit of the dataset on the Hub.")
@click.option("--source-url", metavar="URL", help="eval-results: where the results come from, as the Hub shows it.")
@click.option("--source-name", metavar="NAME", help="eval-results: name of that source.")
@click.option("--source-org", metavar="NAME", help="eval-results: organisation on the Hub that it is of.")
@click.option("--measured-by", metavar="NAME", help="row, every-eval-ever: who ran it.")
@click.option(
    "--party",
    type=click.Choice(["first", "third"]),
    help="row, every-eval-ever: first if they made the model, else third.",
)
def command(form: str, rows: tuple[str, ...], output: Path, selection: str, **options: Any) -> None:
    """Write a ROW of the store in another FORMAT.

    FORMAT is row (files that others can verify), submission (BLURB's JSON files and their zip), model-index or
    eval-results (model cards of the Hugging Face Hub), every-eval-ever (an entry of that store of results), latex or
    markdown (tables), or bibtex (references). After an error nothing is written (exit code 2).

    ROW is MODEL or 'MODEL CONFIGURATION', as the tables print it, a run for its checkpoints, FOLDER[:ROW],
    FILE.csv[:ROW] or published:MODEL. Tables and references take several, or all without any; the other formats need
    one.
    """
    kind = formats.get(form)
    given = {name: options[name] for name in options if options[name] is not None}
    # 0 is a valid seed; empty or False means that the option was not given.
    own = frozenset(name for name in FORMAT_OPTIONS if name in given and given[name] is not False and given[name] != ())
    datasets = tasks.load_selection(selection)
    typed = {part.strip() for part in selection.split(",")}
    named = frozenset(task.name for task in datasets if task.name in typed or task.file)
    wanted = formats.ExportRequest(output, datasets, rows=rows, named=named, given=own, **given)
    files = formats.render(form, wanted)
    out = wanted.out or (Path(kind.folder) if kind.folder else None)
    if out is None:
        click.echo(files[""].decode(), nl=False)
        return
    for path in formats.write(files, out, kind.alone):
        click.echo(f"Written: {path}", err=True)
    if left_out := [f"--{name.replace('_', '-')}" for name in kind.advised if name not in own]:
        click.echo(f"Nothing says who ran it: {' and '.join(left_out)} would.", err=True)
