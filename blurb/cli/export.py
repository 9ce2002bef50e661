"""`blurb export`: a row of the store in the formats of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

OWN = ("published", "seed", "allow_partial", "sd", "transpose", "dataset_id")
"""Options that concern some formats only."""


@click.command(name="export")
@click.argument("form", metavar="FORMAT")
@click.option(
    "--store", type=click.Path(path_type=Path), default="runs", show_default=True,
    help="Folder of the trials (what `blurb run` calls --output).",
)  # fmt: skip
@click.option("--model", "models", multiple=True, metavar="NAME", help="Row to export; tables take several.")
@click.option("--row", default="", help="Words of its configuration, where a model has several: --row 'quick bf16'.")
@click.option("--tasks", "selection", default="all", show_default=True, help="Names or types, separated by commas.")
@click.option(
    "--out", type=click.Path(path_type=Path),
    help="File or folder to write.  [default: the terminal; submission, .eval_results for those two]",
)  # fmt: skip
@click.option("--seed", type=int, help="submission: whose predictions.  [default: the first of each dataset]")
@click.option("--allow-partial", is_flag=True, help="submission: leave out datasets that have no finished trial.")
@click.option(
    "--published", multiple=True, metavar="SOURCE[/MODEL]",
    help="latex, markdown: published rows beside, as in gu2021 or gu2021/PubMedBERT.",
)  # fmt: skip
@click.option("--sd", is_flag=True, help="latex, markdown: standard deviations over seeds.")
@click.option("--transpose", is_flag=True, help="latex, markdown: a line a model instead of a column.")
@click.option("--dataset-id", help="model-index, eval-results: BLURB's name on the Hub.  [default: EMBO/BLURB]")
def command(form: str, selection: str, **options: Any) -> None:
    """Write a row of the store in another FORMAT.

    FORMAT is submission (BLURB's JSON files and their zip), model-index or eval-results (model cards of the Hugging
    Face Hub), latex or markdown (tables), or bibtex (references). If anything is wrong nothing is written (exit code
    2).
    """
    from blurb import tasks
    from blurb.export import formats

    kind = formats.formats.get(form)
    given = {name: options[name] for name in options if options[name] is not None}
    # Zero is a seed; what is empty or False was not given.
    own = frozenset(name for name in OWN if name in given and given[name] is not False and given[name] != ())
    wanted = formats.Wanted(datasets=tasks.select(selection), given=own, **given)
    files = formats.render(form, wanted)
    out = wanted.out or (Path(kind.folder) if kind.folder else None)
    if out is None:
        click.echo(files[""].decode(), nl=False)
        return
    for path in formats.write(files, out, kind.alone):
        click.echo(f"Written: {path}", err=True)
