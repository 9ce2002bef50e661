"""Runs the notebooks of docs/ and stores the outputs of their cells, in an empty folder: `python -m tests.tour`.

With names (`python -m tests.tour lesson`) only these.
"""

import ast
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"


def cells(name: str, kind: str = "code") -> list[dict[str, Any]]:
    """The cells of a kind, `code` or `markdown`, in their order."""
    notebook = json.loads((DOCS / f"{name}.ipynb").read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def text(cell: dict[str, Any]) -> str:
    """What a cell says."""
    return "".join(cell["source"])


def outputs_of(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Runs a cell; what it prints, its pictures, and the value of its last expression, as a notebook stores them."""
    import matplotlib.pyplot as plt

    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        value = (
            None
            if last is None
            else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        )
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append(
            {"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())}
        )
    for figure in map(plt.figure, plt.get_fignums()):
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=72)
        width, height = (figure.get_size_inches() * figure.dpi).astype(int)
        plain = f"<Figure size {width}x{height} with {len(figure.axes)} Axes>"
        data = {"image/png": base64.b64encode(content.getvalue()).decode(), "text/plain": plain}
        found.append({"data": data, "metadata": {}, "output_type": "display_data"})
    plt.close("all")
    if value is not None:
        data = {"text/plain": _lines(_plain(value))}
        if hasattr(value, "_repr_html_"):
            data = {"text/html": _lines(value._repr_html_()), **data}
        found.append(
            {
                "data": data,
                "execution_count": number,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return found


def _plain(value: object) -> str:
    from pprint import pformat

    return (
        pformat(value, width=79, sort_dicts=False)
        if isinstance(value, list | tuple | dict)
        else repr(value)
    )


def _lines(content: str) -> list[str]:
    return content.splitlines(keepends=True)


def store(name: str) -> None:
    """Runs all cells of a notebook in a temporary folder and writes it."""
    path = DOCS / f"{name}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for number, cell in enumerate(code, 1):
            cell["execution_count"] = number
            cell["outputs"] = outputs_of(text(cell), names, number)
        os.chdir(DOCS)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    """Runs the notebooks that the command line names, or all."""
    import matplotlib

    matplotlib.use("Agg")
    for name in sys.argv[1:] or ("tour", "lesson"):
        store(name)


if __name__ == "__main__":
    main()
