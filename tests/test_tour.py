"""The cells of docs/tour.ipynb run, in order, and its pictures are there."""

from pathlib import Path
from typing import Any

import pytest

from tests import tour


@pytest.mark.costly
def test_the_tour(here: Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    cells = tour.cells("tour")
    names: dict[str, Any] = {}
    for cell in cells:
        exec(tour.text(cell), names)
    assert not names["results"].failed
    assert names["model"].task.name == "ncbi-disease"
    (stored, *_) = cells[0]["outputs"]  # python -m tests.tour makes them anew
    assert "".join(stored["data"]["text/plain"]) == repr(names["results"]), (
        "the outputs are of another day"
    )
    assert (
        max(len("".join(one["data"]["text/plain"])) for cell in cells for one in cell["outputs"])
        < 1_000
    )
    assert any(
        "image/png" in output.get("data", {}) for cell in cells for output in cell["outputs"]
    )
    assert not any(output["output_type"] == "error" for cell in cells for output in cell["outputs"])
