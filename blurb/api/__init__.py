"""The front door: what `import blurb` offers and the commands call; extensions add to it (group `blurb.names`)."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blurb.api.comparing import Comparison, check, compare, row_of
    from blurb.api.datasets import load_dataset
    from blurb.api.keywords import NamedModel, run
    from blurb.api.predicting import KeptModel, load_model, predict
    from blurb.api.results import Results, load_results
    from blurb.api.scoring import Scores, score
    from blurb.api.seed_plans import SeedPlan, plan

__all__ = [
    "Comparison",
    "KeptModel",
    "NamedModel",
    "Results",
    "Scores",
    "SeedPlan",
    "check",
    "compare",
    "load_dataset",
    "load_model",
    "load_results",
    "plan",
    "predict",
    "row_of",
    "run",
    "score",
]
_HOMES = {
    "check": "comparing",
    "compare": "comparing",
    "Comparison": "comparing",
    "row_of": "comparing",
    "load_dataset": "datasets",
    "Results": "results",
    "load_results": "results",
    "NamedModel": "keywords",
    "run": "keywords",
    "KeptModel": "predicting",
    "load_model": "predicting",
    "predict": "predicting",
    "Scores": "scoring",
    "score": "scoring",
    "plan": "seed_plans",
    "SeedPlan": "seed_plans",
}


def __getattr__(name: str) -> Any:
    """Imports a name from its module when it is used: some need torch or pandas."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
