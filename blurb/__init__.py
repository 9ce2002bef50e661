"""blurb: fine-tunes any encoder on the thirteen BLURB datasets and reports the macro-averaged score.

    results = blurb.run("path/to/checkpoint", tasks="ner", data="data/", protocol="quick")
    results.leaderboard()

docs/python.md shows the rest.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
DISTRIBUTION = "blurb-bench"
"""Its name on the package index, where `blurb` is CPython's news tool."""
__all__ = [
    "KeptModel",
    "NamedModel",
    "Results",
    "Scores",
    "attention",
    "bisect",
    "check",
    "compare",
    "confusion",
    "diff",
    "errors",
    "load_dataset",
    "load_model",
    "load_results",
    "plan",
    "predict",
    "pretrain",
    "run",
    "score",
    "series",
    "study",
    "watch",
]

if TYPE_CHECKING:
    from blurb.api import (
        KeptModel,
        NamedModel,
        Results,
        Scores,
        attention,
        bisect,
        check,
        compare,
        confusion,
        diff,
        errors,
        load_dataset,
        load_model,
        load_results,
        plan,
        predict,
        pretrain,
        run,
        score,
        series,
        study,
        watch,
    )


def __getattr__(name: str) -> Any:
    """Imports the front door when somebody comes in: `import blurb` takes no time."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module("blurb.api"), name)
    if not isinstance(value, type):
        value = importlib.import_module("blurb.api.argument_checks").spoken(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
