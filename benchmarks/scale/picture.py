"""How time and memory of the commands grow with the trials, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.pictures import stamp

VIEWS = ("tables", "show", "compare", "status", "gc", "verify")
DRIVER = ("planning_ms", "scheduling_ms", "passing_over_ms", "slurm_ms")


def draw(found: Mapping[str, Mapping[str, Mapping[str, float]]], path: Path) -> None:
    """Three panels over the number of trials: seconds and memory of each view, milliseconds a trial of the driver.

    :param found: size -> command or phase -> figures, as `benchmarks.scale` writes them
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    sizes = [int(size) for size in found]
    curves = {
        "seconds of the processor": {
            name: [one[name]["seconds"] for one in found.values()] for name in VIEWS
        },
        "peak memory, MB": {name: [one[name]["mb"] for one in found.values()] for name in VIEWS},
        "milliseconds a trial": {
            name.removesuffix("_ms").replace("_", " "): [
                next(figures[name] for figures in one.values() if name in figures)
                for one in found.values()
            ]
            for name in DRIVER
        },
    }
    figure, places = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    for place, (title, lines) in zip(places, curves.items(), strict=True):
        for name, values in lines.items():
            place.plot(sizes, values, "o-", label=name, markersize=4)
        place.set_xscale("log")
        place.set_yscale("log")
        place.set_xticks(sizes, [f"{size:,}" for size in sizes])
        place.minorticks_off()
        place.set_ylim(bottom=min(map(min, lines.values())) / 4)  # room for the legend
        place.set_xlabel("trials")
        place.set_ylabel(title)
        place.spines[["top", "right"]].set_visible(False)
        place.grid(alpha=0.3)
        place.legend(frameon=False, fontsize=8, loc="lower right", ncols=2)
    figure.savefig(path, dpi=110, metadata=stamp(found))
    plt.close(figure)
