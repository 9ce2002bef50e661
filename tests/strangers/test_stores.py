"""A store of somebody else is looked at by every command, and nothing that it says runs (SECURITY.md)."""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from blurb import tasks
from blurb.cli import status
from blurb.execution import sweeps
from blurb.messages.errors import BlurbError
from blurb.regression import looks
from blurb.scoring import matching
from blurb.store import row_trials
from blurb.store.record import read_spec
from blurb.store.store import Store
from blurb.store.trial import read_provenance
from blurb.system import cache
from blurb.system.lease_records import LeaseRecord
from tests.cli.in_process import ran, run
from tests.strangers.evil import Evil
from tests.strangers.test_fuzz import ODD, changed, values

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
        # Else it is damage: a folder has the name of its trial
        if digest != trial.name and spec["task"] == "gad":
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
        # What a command before it repaired or indexed is altered again
        if name in ("show", "rescore"):
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
    for line in [line.split(",") for line in before.splitlines()][1:]:
        assert all(cell in found.output for cell in line if cell[:1].isdigit() and "." in cell), (
            found.output
        )
    assert "gad: the task type is not registered here; install its plug-in." in found.output
    assert "57.99" in run("leaderboard", "show", "--output", "runs", "--datasets").output
    assert "There is no task type called 'their-type'" in run("doctor", "runs").output


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


# A key that is missing, unknown or of another type: each reader says so with the name of the file.


def tables(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every table in a JSON value."""
    if isinstance(value, dict):
        yield path
    for name, inner in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        yield from tables(inner, (*path, name))


def altered(content: Any) -> Iterator[tuple[object, Any]]:
    """Copies of a JSON value with one thing wrong, and which."""
    for place in values(content):
        yield from (((place, odd), changed(content, place, odd)) for odd in (*ODD, 0.5, 0))
        whole = copy.deepcopy(content)
        inner = whole
        for step in place[:-1]:
            inner = inner[step]
        del inner[place[-1]]
        yield (place, "gone"), whole
    for place in tables(content):
        yield (
            (place, "one more"),
            changed(content, (*place, "odd"), 1) if place else {**content, "odd": 1},
        )


def refusals(
    file: Path, read: Callable[[], object], sign: Callable[[Any], Any] = lambda content: content
) -> list[str]:
    """What a reader says of each altered copy that it refuses."""
    before, said = file.read_text(encoding="utf-8"), []
    for what, content in altered(json.loads(before)):
        file.write_text(json.dumps(sign(content)), encoding="utf-8")
        try:
            read()
        except BlurbError as error:
            said.append(f"{what}: {error}")
    file.write_text(before, encoding="utf-8")
    assert [one for one in said if file.name not in one or "__init__" in one] == []
    return said


def _has(said: list[str], *parts: str) -> None:
    for part in parts:
        assert any(part in one for one in said), (part, said)


ODD_KEY = "'odd' is unknown to this version of blurb."


def test_row_and_trial(runs: Path) -> None:
    (row,) = runs.glob("baseline-majority/rows/*.json")
    content = json.loads(row.read_text(encoding="utf-8"))
    with_all = {
        **content,
        "tags": ["a"],
        "design": "x",
        "rates": {"gad": "x"},
        "plugins": {"gad": {"head": "0" * 16}},
    }
    row.write_text(json.dumps(with_all), encoding="utf-8")
    own = row_trials._parse_row(row)

    def joined() -> object:
        return own.over(row_trials._parse_row(row)).over(own)

    _has(
        refusals(row, joined),
        ODD_KEY,
        "'model' is missing.",
        "'tags' must be of type list",
        "'protocol' is missing.",
    )
    (spec,) = runs.glob("baseline-majority/gad/*/spec.json")
    _has(
        refusals(spec, lambda: read_spec(spec.parent).hash),
        ODD_KEY,
        "'seed' is missing.",
        "'recipe' must be of type",
    )
    said = refusals(
        spec.parent / "provenance.json", lambda: read_provenance(spec.parent).configuration
    )
    _has(said, ODD_KEY, "'suite' is missing.", "'overrides' must be of type dict")


@pytest.mark.extensions
def test_sweep_and_its_parts(here: Path) -> None:
    from blurb.extensions.clusters import _slurm_script

    asked = [
        "--suite",
        "demo",
        "--tasks",
        "gad",
        "--protocol",
        "smoke",
        "--precision",
        "fp32",
        "--device",
        "cpu",
    ]
    ran(["run", "baseline:majority", *asked, "--engine", "slurm", "--print"])
    (folder,) = sweeps.folders(Path("runs"))
    said = refusals(folder / sweeps.JOBS, lambda: sweeps.read(folder))
    _has(
        said,
        ODD_KEY,
        "'kind' is missing.",
        "'source' must be of type list",
        "'seed' must be of type int",
    )
    said = refusals(
        folder / _slurm_script.PARTS,
        lambda: _slurm_script.note_submitted(
            folder, "7", _slurm_script.read_parts(folder)["taken"]
        ),
    )
    _has(said, "'parts' must be of type list", "'submitted' must be of type list (got NoneType)")


def test_state_of_a_series(here: Path) -> None:
    """Whoever edits it by hand can give it a digest that fits."""
    plan = {"level": 0.05, "looks": 40, "split": "dev", "sd": None}
    look = {
        "candidate": "a@1",
        "hash": "x",
        "weights": "74c3f9df99ef",
        "level": 0.00125,
        "outcome": "pass",
        "at": "now",
    }
    runs = {"gad": {"total": 2.0, "degrees": 2}}
    content = {
        "version": 1,
        "plan": plan,
        "baseline": {"name": "b", "hash": "h"},
        "looks": [{**look, "runs": runs}],
    }
    file = here / "state.json"

    def signed(given: Any) -> Any:
        return {
            **given,
            "digest": looks._digest_of(
                {name: one for name, one in given.items() if name != "digest"}
            ),
        }

    file.write_text(json.dumps(signed(content)), encoding="utf-8")
    said = refusals(file, lambda: looks.read(file).turn("c", "h", file, ["w"]), signed)
    _has(
        said,
        ODD_KEY,
        "'degrees' is missing.",
        "'level' must be of type int or float",
        "'weights' must be of type str",
    )


def test_facts_of_data_are_found_again_and_news_of_a_lease_left_out(made: Path) -> None:
    gad, folder = tasks.get("gad"), next(cache.cache_home().glob("demo/*"))
    right = matching.facts(gad, folder)
    kept = next(
        file
        for file in (cache.cache_home() / matching.FOLDER).iterdir()
        if right.hash in file.read_text()
    )

    def again() -> None:
        found = matching.facts(gad, folder)
        assert (type(found.hash), type(found.verdict), type(found.missing)) in {
            (str, str, list),
            (str, str, tuple),
        }

    assert refusals(kept, again) == []
    news = {"done": 1, "total": 2, "epoch": 1, "epochs": 3, "loss": 0.5, "dev": 0.2, "x": 1}
    lease = kept.with_name("lease")
    lease.write_bytes(replace(LeaseRecord.me(), news=news).content())

    def shown() -> tuple[str, ...]:
        holder = LeaseRecord.parse(lease.read_bytes())
        trial: Any = SimpleNamespace(holder=holder, model="m", task="gad", seed=1)
        return status._running_cells(trial)

    assert shown()[-1] == "epoch 2 of 3, 50 %, loss 0.500, dev 20.0"
    assert refusals(lease, shown) == []
