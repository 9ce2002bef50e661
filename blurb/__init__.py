"""blurb: fine-tunes any encoder on the thirteen BLURB datasets and reports the macro-averaged score.

    results = blurb.run("path/to/checkpoint", tasks="ner", data="data/", protocol="quick")
    results.leaderboard()

docs/python.md shows the rest.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
DISTRIBUTION = "blurb-bench"
"""Its name on the package index, where `blurb` is CPython's news tool."""
__all__ = [
    "KeptModel",
    "NamedModel",
    "Results",
    "Scores",
    "check",
    "compare",
    "load_dataset",
    "load_model",
    "load_results",
    "plan",
    "predict",
    "run",
    "score",
]
_HOMES = {
    "comparing": ("check", "compare", "plan"),
    "predicting": ("KeptModel", "load_dataset", "load_model", "predict"),
    "results": ("Results", "load_results"),
    "running": ("NamedModel", "run"),
    "scoring": ("Scores", "score"),
}
"""Modules of `blurb.api` that are imported when a name is used: some need torch or pandas."""

if TYPE_CHECKING:
    from blurb.api.comparing import check, compare, plan
    from blurb.api.predicting import KeptModel, load_dataset, load_model, predict
    from blurb.api.results import Results, load_results
    from blurb.api.running import NamedModel, run
    from blurb.api.scoring import Scores, score
    from blurb.extensions.lab.api.pretraining import pretrain as pretrain
    from blurb.extensions.lab.api.studying import study as study
    from blurb.extensions.lab.attention import attention as attention
    from blurb.extensions.reports.api.mistakes import (
        confusion as confusion,
        diff as diff,
        errors as errors,
    )
    from blurb.extensions.series.api.following import (
        bisect as bisect,
        series as series,
        watch as watch,
    )


def __getattr__(name: str) -> Any:
    """Imports the front door when somebody comes in: `import blurb` takes no time."""
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is not None:
        value = getattr(importlib.import_module(f"blurb.api.{home}"), name)
    elif name.startswith("_") or importlib.util.find_spec(f"{__name__}.{name}") is not None:
        # A room of the package is no name of the front door.
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        value = importlib.import_module("blurb.api.door").front_door(name)
    if callable(value) and not isinstance(value, type):
        value = importlib.import_module("blurb.api.door").from_python(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    others = [
        name
        for name in importlib.import_module("blurb.api.door").additions.names()
        if "." not in name
    ]
    return sorted({*__all__, *others, "__version__"})
