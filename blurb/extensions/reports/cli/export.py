"""`blurb export`: a row of the store in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import click

from blurb import tasks
from blurb.cli._made import TASKS, click_command
from blurb.extensions.reports.export import formats
from blurb.options import Argument, option_parameters
from blurb.planning.options import OUTPUT

REQUEST = option_parameters(formats.ExportRequest)


@click_command("export", formats.ExportRequest)
def command(
    form: Annotated[str, Argument(metavar="FORMAT")],
    rows: Annotated[tuple[str, ...], Argument(metavar="[ROW]...", complete="rows")] = (),
    *,
    output: Annotated[Path, OUTPUT] = Path("runs"),
    selection: Annotated[str, TASKS] = "all",
    **options: Any,
) -> None:
    """Write a ROW of the store in another FORMAT.

    FORMAT is row (files that others can verify), submission (BLURB's JSON files and their zip), model-index or
    eval-results (model cards of the Hugging Face Hub), every-eval-ever (an entry of that store of results), latex or
    markdown (tables), or bibtex (references). After an error nothing is written (exit code 2).

    ROW is MODEL or 'MODEL CONFIGURATION', as the tables print it, a run for its checkpoints, FOLDER[:ROW],
    FILE.csv[:ROW] or published:MODEL. Tables and references take several, or all without any; the other formats need
    one.
    """
    kind = formats.formats.get(form)
    given = {
        name: value for name, value in options.items() if value not in (None, REQUEST[name].default)
    }
    own = frozenset(given) - {"out"}
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
