"""The tables of `blurb ablate` on the page."""

from __future__ import annotations

from pathlib import Path

from blurb.extensions.reports.html.model import Ablation
from blurb.lines import table_of
from blurb.messages.errors import DataError
from blurb.messages.spelling import opt
from blurb.planning import ablations
from blurb.results.schema import original

Line = dict[str, str]


def read(folder: Path) -> list[Ablation]:
    """Reads the tables that `blurb ablate` wrote to a folder."""
    if not (paths := sorted(folder.rglob("*.csv"))):
        raise DataError(f"no CSV files here; {opt('ablations')} needs the {opt('out')} folder of blurb ablate.", folder)
    ablations = []
    for path in paths:
        lines = _cells(path)
        by_cell: dict[str, dict[str, Line]] = {}
        for line in lines:
            by_cell.setdefault(line["cell"], {})[line["task"]] = line
        model = next((line["model"] for line in lines if line["model"]), "")
        names = tuple(dict.fromkeys(line["task"] for line in lines))
        ablations.append(Ablation(lines[0]["axis"], model, names, tuple(by_cell.items())))
    return ablations


def _cells(path: Path) -> list[Line]:
    """The lines of an ablation table."""
    lines = table_of(path, needed=ablations.COLUMNS, noun="table of blurb ablate").rows
    if not lines:
        raise DataError("the table has no rows.", path)
    for at, line in lines:
        if line["schema"] != str(ablations.SCHEMA):
            what = f"schema version {line['schema'] or 'none'}; this version of blurb reads {ablations.SCHEMA}."
            raise at.error(what)
    return [{column: original(cell) for column, cell in line.items()} for _, line in lines]
