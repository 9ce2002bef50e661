"""What stands beside a checkpoint may be anything: it ends no watch of all runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blurb.extensions.series import curves

HUGE = 10**400
CONTENTS = {
    "quality.json": {"x": HUGE, "y": 1.5, "z": -HUGE},
    "trainer_state.json": {
        "max_steps": HUGE,
        "num_input_tokens_seen": HUGE,
        "log_history": [{"step": 5, "loss": HUGE}, {"step": HUGE, "loss": 1.0}],
    },
    "../recipe.json": {"recipe": {"words": HUGE}},
}


@pytest.mark.parametrize("name", [*CONTENTS, "all"])
def test_a_whole_number_of_hundreds_of_digits_is_no_figure(name: str, tmp_path: Path) -> None:
    """No float has it, and asking whether it is finite raises an OverflowError."""
    folder = tmp_path / "run" / "checkpoint-10"
    folder.mkdir(parents=True)
    for each in CONTENTS if name == "all" else [name]:
        (folder / each).resolve().write_text(json.dumps(CONTENTS[each]))
    step = curves.read("run", 10, folder)
    assert (step.words, step.tokens, step.planned) == (None, None, None)
    assert step.figures == ({"y": 1.5} if name in ("quality.json", "all") else {})
    assert not curves.is_number(HUGE)
    assert curves.is_number(1e299)
