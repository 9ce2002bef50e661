"""What a reader of a row should know of its learning rates, of what was planned for it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from blurb.checkpoints import ModelSource
from blurb.messages import ModelError
from blurb.store.trial import Trial

if TYPE_CHECKING:
    from blurb.planning.trials import Request


def remarks(request: Request, source: ModelSource, trials: Iterable[Trial]) -> dict[str, str]:
    """Task -> a remark; without those tasks of which there is nothing to say."""
    protocol, searches = request.protocol, request.learner(source).searches
    if not searches or "lr" in request.overrides:
        return {}
    grid, texts = sorted(protocol.search.get("lr", ())), {}
    for task, rate, adapter in {(one.task, one.settings["lr"], one.settings.get("adapter")) for one in trials}:
        if len(grid) > 1 and rate in (grid[0], grid[-1]):
            texts[task] = f"rate at the edge of the grid {grid[0]:g} to {grid[-1]:g}"
        elif adapter and not grid and "lr" not in protocol.adapter:
            texts[task] = "an adapter at a rate of full fine-tuning, where about ten times that is usual"
        elif not adapter and protocol.family and _family(source) not in ("", protocol.family):
            texts[task] = f"rates published for {protocol.family.upper()}"
    return texts


def _family(source: ModelSource) -> str:
    """The `model_type` of a checkpoint; "" if its files are gone, as they may be after a long search."""
    with suppress(ModelError):
        return str(source.checkpoint.config_json.get("model_type", ""))
    return ""
