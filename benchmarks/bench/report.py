"""docs/performance.md and its picture from the figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from benchmarks.device import page
from benchmarks.pictures import stamp

TEMPLATE = Path(__file__).with_name("performance.md.jinja")
AXES = {
    "length": ("sub-tokens an input", "ms a step"),
    "batch": ("inputs a batch", "ms a step"),
    "model": ("layers x width", "ms a step"),
    "trials": ("trials in the store", "seconds to write the tables"),
}


def write(found: Mapping[str, Any], docs: Path) -> None:
    """The page, and beside the figures the picture of how cost grows."""
    (docs / "performance.md").write_text(render(found, docs), encoding="utf-8")
    picture(found["growth"]["figures"], docs / "results" / "bench" / "growth.png")


def render(found: Mapping[str, Any], docs: Path) -> str:
    """The page, with the figures of cards between their marks."""
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    figures = {name: section["figures"] for name, section in found.items()}
    text = environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        **figures,
        machines=machines(found),
        peaks={name: one["machine"]["peak MiB"] for name, one in found.items()},
    )
    return page.fill(text.rstrip() + "\n", docs / "results" / "device")


def machines(found: Mapping[str, Any]) -> list[str]:
    """In words, the machines that the sections ran on; one, if all ran in one go."""
    said = {}
    for section in found.values():
        one = section["machine"]
        hardware = f"{one['processor']} ({one['instructions']}), {one['cores']} cores, {one['memory GiB']} GiB"
        software = (
            f"torch {one['torch']}, transformers {one['transformers']}, {one['threads']} threads"
        )
        said.setdefault(f"{hardware}, {one['gpu'] or 'no GPU'}; {software}", None)
    return list(said)


def picture(growth: Mapping[str, Mapping[str, float]], path: Path) -> None:
    """Four curves; both axes logarithmic where the numbers grow by factors."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, places = plt.subplots(1, 4, figsize=(13, 3.2), layout="constrained")
    for place, (name, (across, up)) in zip(places, AXES.items(), strict=True):
        values = list(growth[name].values())
        numbers = (
            [float(text) for text in growth[name]] if name != "model" else list(range(len(values)))
        )
        place.plot(numbers, values, "o-", color="#2a6f97", markersize=4)
        place.set_yscale("log")
        if name == "model":
            place.set_xticks(numbers, list(growth[name]), rotation=30)
        else:
            place.set_xscale("log", base=2 if name != "trials" else 10)
            place.set_xticks(numbers, list(growth[name]))
        place.minorticks_off()
        place.set_xlabel(across)
        place.set_ylabel(up)
        place.spines[["top", "right"]].set_visible(False)
        place.grid(alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata=stamp(growth))
    plt.close(figure)
