"""A checkpoint of a run, and what its own files say of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blurb import names
from blurb.messages.errors import BlurbError
from blurb.system.files import read_json

LARGEST = 1e300
MOST_COUNT = 10**15
"""Of updates, words and tokens: a larger one is no count, and no float has it whole."""
NUMBER = re.compile(r"[0-9]+")
STATE = "trainer_state.json"
FIGURES = "quality.json"
"""Figures of a checkpoint that whoever pretrains wrote beside it, such as `{"bits per byte": 1.61}`."""
PLAN = "recipe.json"
"""A file above the checkpoints that says how many words the whole run reads."""


@dataclass(frozen=True)
class Step:
    """A checkpoint of a run.

    :param reference: what `blurb run` takes for it: an absolute folder, as a relative one that is rotated away would be
        looked up on the Hub, or `org/model@revision`
    :param words: of text seen by then; None if its files do not say it
    :param tokens: likewise
    :param planned: updates of the whole run
    :param figures: of the pretraining itself: bits per byte, loss
    """

    run: str
    step: int
    reference: str
    words: int | None = None
    tokens: int | None = None
    planned: int | None = None
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """`run@step`, the model name of its rows."""
        return names.checkpoint(self.run, self.step)

    def earlier(self, step: int) -> Step:
        """A checkpoint of the same run that is gone: words as planned for it, and nothing else."""
        return Step(self.run, step, "", self.words and round(self.words * step / self.step), planned=self.planned)

    def at(self, axis: str) -> float | None:
        """Its place on an axis: step, words or tokens."""
        value = getattr(self, axis)
        return None if value is None else float(value)


def number(name: str) -> int | None:
    """The step in the name of a folder or revision: its last number; None without any.

    >>> number("checkpoint-5000"), number("step_200-ema"), number("final")
    (5000, 200, None)
    """
    found = NUMBER.findall(name)
    return int(found[-1]) if found and len(found[-1]) < 16 else None


def numbers_beside(step: Step) -> set[int]:
    """The steps in the names of all folders beside a checkpoint, whole ones and others."""
    folder = Path(step.reference).parent
    found = (number(path.name) for path in (folder.iterdir() if folder.is_dir() else ()))
    return {one for one in found if one is not None}


def read(run: str, step: int, folder: Path) -> Step:
    """The checkpoint in a folder, with what its files say; what they do not say, or not legibly, is unknown."""
    state = _json(folder / STATE)
    planned = _count(state.get("max_steps"))
    words = next(
        (_count(plan.get("words")) for plan in map(_plan, (folder.parent, folder.parent.parent)) if plan), None
    )
    seen = round(words * step / planned) if words and planned else None
    losses = [loss for at, loss in logged_losses(state).items() if at <= step]
    figures = {"training loss": float(losses[-1])} if losses and is_number(losses[-1]) else {}
    own = {name: float(value) for name, value in _json(folder / FIGURES).items() if is_number(value)}
    tokens = _count(state.get("num_input_tokens_seen"))
    return Step(run, step, str(folder.absolute()), seen, tokens, planned, {**own, **figures})


def logged_losses(state: Mapping[str, Any]) -> dict[int, Any]:
    """Step -> training loss, as a Trainer logged it; entries without a step are left out."""
    entries = state.get("log_history")
    return {
        entry["step"]: entry["loss"]
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("step"), int) and "loss" in entry
    }


def state_of(folder: Path) -> Mapping[str, Any]:
    """`trainer_state.json` of a checkpoint; {} if it is not there, or cannot be read."""
    return _json(folder / STATE)


def _plan(folder: Path) -> Mapping[str, Any]:
    recipe = _json(folder / PLAN).get("recipe")
    return recipe if isinstance(recipe, dict) else {}


def is_number(value: Any) -> bool:
    """Whether a curve can show a value: a whole number of hundreds of digits is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST_COUNT else None


def _json(file: Path) -> Mapping[str, Any]:
    try:
        return read_json(file, with_nan=True) if file.is_file() else {}
    except (BlurbError, OSError):
        return {}
