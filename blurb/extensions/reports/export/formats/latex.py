"""A LaTeX table, which needs the package `booktabs`."""

from __future__ import annotations

from blurb.extensions.reports.export.formats import ExportFormat, ExportRequest, Files
from blurb.extensions.reports.export.formats._grid import OPTIONS, ExportCell, grid

SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


def escape(text: str) -> str:
    r"""Escapes text for LaTeX.

    >>> escape("50% of a_b & {c}")
    '50\\% of a\\_b \\& \\{c\\}'
    """
    return " ".join(text.split()).translate(SPECIAL)


def _cell(cell: ExportCell) -> str:
    if not cell.text:
        return "--"
    text = rf"\textbf{{{cell.text}}}" if cell.best else cell.text
    return rf"{text} {{\scriptsize$\pm$\,{cell.sd}}}" if cell.sd else text


def _render(wanted: ExportRequest) -> Files:
    content = grid(wanted)
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(content.caption)}}}",
        r"\label{tab:blurb}",
        rf"\begin{{tabular}}{{l{'r' * len(content.heads)}}}",
        r"\toprule",
        " & ".join(["", *map(escape, content.heads)]).strip() + r" \\",
        r"\midrule",
    ]
    for name, cells in zip(content.lines, content.cells, strict=True):
        if name.endswith(" score"):
            lines.append(r"\midrule")
        lines.append(" & ".join([escape(name), *map(_cell, cells)]) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if content.notes:
        notes = "\\\\\n".join(map(escape, content.notes))
        lines += ["", r"\smallskip", r"\footnotesize", notes]
    lines.append(r"\end{table}")
    return {"": ("\n".join(lines) + "\n").encode()}


EXPORT = ExportFormat("table for a paper (booktabs)", _render, OPTIONS)
