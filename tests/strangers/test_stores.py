"""A store of somebody else is looked at by every command, and nothing that it says runs (SECURITY.md)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from blurb import tasks
from blurb.messages.errors import BlurbError
from blurb.store.record import read_spec
from blurb.store.store import Store
from tests.cli.in_process import run
from tests.strangers.evil import Evil

MAJORITY, CONSTANT = "baseline:majority", "baseline:constant"
COMMANDS: dict[str, list[str]] = {
    "show": ["leaderboard", "show", "--output", "runs"],
    "html": ["leaderboard", "html", "--output", "runs", "--out", "page.html"],
    "rescore": ["rescore", "--output", "runs"],
    "compare": ["compare", MAJORITY, CONSTANT, "--output", "runs"],
    "check": ["check", MAJORITY, "--baseline", CONSTANT, "--output", "runs"],
    "errors": ["errors", MAJORITY, "--task", "gad", "--output", "runs"],
    "diff": ["diff", MAJORITY, CONSTANT, "--task", "gad", "--output", "runs"],
    "doctor": ["doctor", "runs"],
    "runs": ["runs", "--output", "runs"],
    "runs show": ["runs", "show", MAJORITY, "--output", "runs"],
    "runs verify": ["runs", "verify", "--output", "runs"],
    "status": ["status", "--output", "runs"],
    "gc": ["gc", "--output", "runs", "--dry-run"],
    "export": ["export", "model-index", MAJORITY, "--output", "runs", "--out", "out"],
    "latex": ["export", "latex", MAJORITY, "--output", "runs", "--out", "out.tex"],
    "predict": ["predict", MAJORITY, "--task", "gad", "--text", "a", "--output", "runs"],
}
Change = Callable[[dict[str, Any], dict[str, Any], str], None]


def declared(**changes: Any) -> dict[str, Any]:
    return {**asdict(tasks.get("gad")), "file": "own.toml", **changes}


def _type(spec: dict[str, Any], made: dict[str, Any], reference: str) -> None:
    made["declaration"] = declared(type=reference)


def _metric(spec: dict[str, Any], made: dict[str, Any], reference: str) -> None:
    made["declaration"] = declared(metric=reference)


def _reader(spec: dict[str, Any], made: dict[str, Any], reference: str) -> None:
    made["declaration"] = declared(
        reader=reference, builder=reference, original=reference, source=reference
    )


def _task(spec: dict[str, Any], made: dict[str, Any], reference: str) -> None:
    spec["task"] = reference


def _head(spec: dict[str, Any], made: dict[str, Any], reference: str) -> None:
    spec["settings"] |= {"head": reference, "pooling": reference, "word_pooling": reference}


CHANGES: dict[str, Change] = {
    "type": _type,
    "metric": _metric,
    "reader": _reader,
    "task": _task,
    "head": _head,
}


def alter(runs: Path, change: Change, reference: str) -> None:
    """Alters the trials of gad of both rows, and seals them as whoever makes a store would."""
    store = Store(runs)
    for trial in [path for path in store.trial_folders() if path.parent.name == "gad"]:
        spec, made = (
            json.loads((trial / name).read_text()) for name in ("spec.json", "provenance.json")
        )
        change(spec, made, reference)
        (trial / "spec.json").write_text(json.dumps(spec))
        (trial / "provenance.json").write_text(json.dumps(made))
        store.seal(trial)
        digest = read_spec(trial).hash
        if (
            digest != trial.name and spec["task"] == "gad"
        ):  # else it is damage: a folder has the name of its trial
            trial.rename(trial.with_name(digest))
            for rows in (trial.parent.parent / "rows").glob("*.json"):
                rows.write_text(rows.read_text().replace(trial.name, digest))


@pytest.mark.costly
@pytest.mark.parametrize("field", CHANGES)
@pytest.mark.parametrize("place", range(4), ids=["name", "relative", "absolute", "module"])
def test_no_command_that_looks_at_a_store_runs_what_it_names(
    field: str, place: int, runs: Path, evil: Evil
) -> None:
    for name, command in COMMANDS.items():
        if name in (
            "show",
            "rescore",
        ):  # what a command before it repaired or indexed is altered again
            alter(runs, CHANGES[field], evil.references[place])
        found = run(*command)
        assert not evil.has_run(), name
        assert found.exit_code in (0, 1, 2) or isinstance(found.exception, Exception), name
        assert "Traceback" not in found.output, (name, found.output)
        if name in ("show", "html", "compare", "runs", "status") and field != "task":
            assert found.exit_code == 0, (name, found.output, found.exception)


def test_what_is_missing_is_said_and_the_figures_are_shown(runs: Path) -> None:
    """A type that is not registered here: its figures stand, and the message says what is missing."""
    before = run("leaderboard", "show", "--output", "runs", "--format", "csv").output
    alter(runs, _type, "their-type")
    found = run("leaderboard", "show", "--output", "runs", "--format", "csv")
    figures = [line.split(",") for line in before.splitlines()]
    for line in figures[1:]:
        assert all(cell in found.output for cell in line if cell[:1].isdigit() and "." in cell), (
            found.output
        )
    assert "gad: the task type is not registered here; install its plug-in." in found.output
    shown = run("leaderboard", "show", "--output", "runs", "--datasets").output
    assert "57.99" in shown
    doctor = run("doctor", "runs").output
    assert "There is no task type called 'their-type'" in doctor


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "numbers": ({"type": "similarity"}, "are not those of a task of type similarity"),
    "tags": ({"type": "ner"}, "are not those of a task of type ner"),
    "several labels": ({"type": "document"}, "are not those of a task of type document"),
    "task": (asdict(tasks.get("biosses")), "provenance.json missing or damaged"),
    "metric": ({"metric": "entity_f1", "metric_options": {}}, "The metric entity_f1 cannot score"),
    "options": ({"metric_options": {"positive": [1]}}, "must be of type str (got list)"),
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_task_that_does_not_fit_its_predictions_is_refused_by_one_sentence(
    other: str, runs: Path
) -> None:
    """Every analysis took them as they were; each ended with a traceback of its own."""
    changes, message = OTHERS[other]
    alter(runs, lambda spec, made, _: made.update(declaration=declared(**changes)), "")
    told = []
    for name in ("show", "html", "rescore", "compare", "errors", "diff", "doctor"):
        found = run(*COMMANDS[name])
        assert isinstance(found.exception, BlurbError | SystemExit | None), (name, found.exception)
        assert "Traceback" not in found.output, (name, found.output)
        told += [str(found.exception), found.output]
        if name in ("errors", "diff") and other != "metric":  # which these do not need
            assert found.exit_code, name
    assert any(message in text for text in told)
