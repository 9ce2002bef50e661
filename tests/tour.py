"""Runs docs/tour.ipynb and stores the outputs of its cells: `python -m tests.tour`, in an empty folder or anywhere."""

from __future__ import annotations

import ast
import base64
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parent.parent / "docs" / "tour.ipynb"
DPI = 72


def outputs_of(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Runs a cell; its pictures, and the value of the expression that it ends with, as a notebook stores them."""
    import matplotlib.pyplot as plt

    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    found: list[dict[str, Any]] = []
    for figure in map(plt.figure, plt.get_fignums()):
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=DPI)
        width, height = (figure.get_size_inches() * figure.dpi).astype(int)
        text = f"<Figure size {width}x{height} with {len(figure.axes)} Axes>"
        data = {"image/png": base64.b64encode(content.getvalue()).decode(), "text/plain": text}
        found.append({"data": data, "metadata": {}, "output_type": "display_data"})
    plt.close("all")
    if value is not None:
        data = {"text/plain": _lines(_plain(value))}
        if hasattr(value, "_repr_html_"):
            data = {"text/html": _lines(value._repr_html_()), **data}
        found.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return found


def _plain(value: object) -> str:
    from pprint import pformat

    return pformat(value, width=79, sort_dicts=False) if isinstance(value, list | tuple | dict) else repr(value)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    """Runs all cells in a temporary folder and writes the notebook."""
    import matplotlib

    matplotlib.use("Agg")
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for number, cell in enumerate(cells, 1):
            cell["execution_count"] = number
            cell["outputs"] = outputs_of("".join(cell["source"]), names, number)
        os.chdir(NOTEBOOK.parent)
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
