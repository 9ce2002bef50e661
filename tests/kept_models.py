"""Small trials on the demo suite whose models are kept, and what they stored and predict."""

from pathlib import Path
from typing import Any

import blurb
from blurb.store.record import read_predictions

FEW: dict[str, Any] = {
    "suite": "demo",
    "protocol": "smoke",
    "leaderboard": None,
    "progress": False,
    "device": "cpu",
    "max_train": 40,
    "precision": "fp32",
    "max_eval": 0,
}


def fine_tuned(model: Any, tasks: str, folder: Path, **more: Any) -> blurb.Results:
    results = blurb.run(
        model, tasks, output=folder, name="m", **{**FEW, "keep_model": "best", **more}
    )
    assert not results.failed, results.failed[0].message
    return results


def stored(trial: Path) -> list[tuple[str, Any, Any]]:
    there = read_predictions(trial / "predictions.parquet", ("id", "prediction", "scores"), "test")
    return list(zip(*there.values(), strict=True))


def predicted(model: blurb.KeptModel) -> list[tuple[str, Any, Any]]:
    examples = blurb.load_dataset(model.task.name, suite="demo", original=model.reads_originals)[
        "test"
    ].to_list()
    return [(one["id"], one["prediction"], one["scores"]) for one in model.of_examples(examples)]
