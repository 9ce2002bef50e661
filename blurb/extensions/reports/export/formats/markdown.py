"""A Markdown table for a README or an issue."""

from __future__ import annotations

from blurb.extensions.reports.export.formats import ExportFormat, ExportRequest, Files
from blurb.extensions.reports.export.formats._grid import OPTIONS, ExportCell, grid
from blurb.messages import in_markdown as escape


def _cell(cell: ExportCell) -> str:
    text = f"**{cell.text}**" if cell.best else cell.text or "–"
    return f"{text} ± {cell.sd}" if cell.sd else text


def _render(wanted: ExportRequest) -> Files:
    content = grid(wanted)
    head = [content.corner, *map(escape, content.heads)]
    rows = [
        [escape(name), *map(_cell, cells)]
        for name, cells in zip(content.lines, content.cells, strict=True)
    ]
    table = [head, ["---", *["---:"] * len(content.heads)], *rows]
    lines = [f"| {' | '.join(row)} |" for row in table]
    lines += ["", escape(content.caption), "", *(f"- {escape(note)}" for note in content.notes)]
    return {"": ("\n".join(lines).rstrip() + "\n").encode()}


EXPORT = ExportFormat("table for a README", _render, OPTIONS)
