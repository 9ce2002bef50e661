"""A key that is missing, unknown or of another type: each reader says so with the name of the file.

The readers are those of every JSON file from which a data class is made; a wrong value anywhere is no bug of blurb.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from blurb import tasks
from blurb.cli import status
from blurb.execution import sweeps
from blurb.messages import BlurbError
from blurb.regression import looks
from blurb.scoring import matching
from blurb.store import row_trials
from blurb.store.record import read_spec
from blurb.store.trial import read_provenance
from blurb.system import cache
from blurb.system.lease_records import LeaseRecord
from tests.cli.in_process import ran
from tests.strangers.test_fuzz import ODD, changed, values


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
    from blurb.extensions.clusters import _slurm_parts

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
        folder / _slurm_parts.PARTS,
        lambda: _slurm_parts.note_submitted(folder, "7", _slurm_parts.read_parts(folder)["taken"]),
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
