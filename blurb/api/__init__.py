"""The front door: what `import blurb` offers and the commands call. It alone knows all rooms below."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blurb.api.attending import attention
    from blurb.api.comparing import Comparison, check, compare, row_of
    from blurb.api.datasets import load_dataset
    from blurb.api.following import bisect, series, watch
    from blurb.api.keywords import NamedModel, run
    from blurb.api.mistakes import confusion, diff, errors
    from blurb.api.predicting import KeptModel, load_model, predict
    from blurb.api.pretraining import pretrain
    from blurb.api.results import Results, load_results
    from blurb.api.scoring import Scores, score
    from blurb.api.seed_plans import SeedPlan, plan
    from blurb.api.studying import study

__all__ = [
    "Comparison",
    "KeptModel",
    "NamedModel",
    "Results",
    "Scores",
    "SeedPlan",
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
    "row_of",
    "run",
    "score",
    "series",
    "study",
    "watch",
]
_HOMES = {
    "attention": "attending",
    "check": "comparing",
    "compare": "comparing",
    "Comparison": "comparing",
    "row_of": "comparing",
    "load_dataset": "datasets",
    "Results": "results",
    "load_results": "results",
    "NamedModel": "keywords",
    "run": "keywords",
    "confusion": "mistakes",
    "diff": "mistakes",
    "errors": "mistakes",
    "KeptModel": "predicting",
    "load_model": "predicting",
    "predict": "predicting",
    "pretrain": "pretraining",
    "Scores": "scoring",
    "score": "scoring",
    "bisect": "following",
    "series": "following",
    "watch": "following",
    "plan": "seed_plans",
    "SeedPlan": "seed_plans",
    "study": "studying",
}


def __getattr__(name: str) -> Any:
    """Imports a name from its module when it is used: some need torch or pandas."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
