"""`blurb run --seeds auto`: what the pilot asks for, once, and what the row says. Oracle: Stein's formula."""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import t

import blurb
from blurb.api import two_stages
from blurb.api.two_stages import PILOT, seeds_of_pilot
from blurb.messages.errors import BlurbError, SettingsError
from blurb.planning.seeds import Aim
from blurb.store import planned_rows
from blurb.store.store import Store
from tests.results import invented

RUN: dict[str, Any] = {
    "model": "scratch:tiny", "tasks": "gad,hoc", "suite": "demo", "protocol": "smoke", "progress": False,
}  # fmt: skip


def stein(scores: list[float], detect: float, power: float = 0.8) -> int:
    quantiles = t.ppf(0.975, len(scores) - 1) + t.ppf(power, len(scores) - 1)
    return max(PILOT, math.ceil(2 * statistics.variance(scores) * (quantiles / detect) ** 2))


def test_the_variance_of_the_first_five_decides_and_no_mean() -> None:
    pilot = [80.0, 81.2, 79.1, 80.4, 80.9]
    aim = Aim(1.5)
    expected = {"gad": stein(pilot, 1.5)}
    assert expected["gad"] > PILOT
    for scores in (pilot, [score - 30 for score in pilot], [*pilot, 20.0, 99.0]):  # lower; with more seeds
        assert seeds_of_pilot(invented.row("new", {"gad": scores}), aim) == expected
    row = invented.row("new", {"gad": [80.0, 80.0, 80.1, 80.0, 80.1], "hoc": [80.0, 20, 90, 50, 10], "ddi": [80.0]})
    counts = seeds_of_pilot(row, aim)
    assert (counts["gad"], counts["hoc"]) == (PILOT, None)  # enough; above a thousand
    assert "ddi" not in counts  # one deterministic run


@pytest.mark.costly
def test_two_stages_train_what_the_pilot_asks_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "runs"
    old = blurb.run(**RUN, seeds=2, name="old", output=store)
    plain = blurb.run(**RUN, seeds=PILOT, name="plain", output=store)
    scores = {name: plain.rows[0].values(name) for name in ("gad", "hoc")}
    spread = {name: statistics.stdev(values) for name, values in scores.items()}
    assert all(spread.values())
    detect = 2.2 * spread["gad"]  # eight or so seeds of GAD
    made = blurb.run(**RUN, seeds="auto", against=old.rows[0], detect=detect, name="new", output=store)
    (row,) = made.rows
    expected = {name: stein(values, detect) for name, values in scores.items()}
    assert {name: len(row.values(name)) for name in expected} == expected
    assert expected["gad"] > PILOT
    assert f"gad {expected['gad']}" in row.note
    assert "seeds planned in two stages (Stein)" in row.note
    assert "old smoke demo has fewer of gad" in row.note
    again = blurb.run(**RUN, seeds="auto", against=old.rows[0], detect=detect, name="new", output=store)
    assert again.rows[0].note == row.note
    assert {name: len(again.rows[0].values(name)) for name in expected} == expected


@pytest.mark.costly
def test_the_plan_is_no_part_of_an_identity(tmp_path: Path) -> None:
    """The trials of a planned row are those of the same seeds, and so is its key."""
    store = Store(tmp_path / "runs")
    old = blurb.run(**RUN, seeds=2, name="new", output=store.root)
    (before,) = planned_rows.read(store)
    blurb.run(**RUN, seeds="auto", against=old.rows[0], detect=99.0, name="new", output=store.root)
    (after,) = planned_rows.read(store)
    assert after.key == before.key
    assert after.design
    assert not before.design
    assert all(before.trials[task][seed] == after.trials[task][seed] for task in before.trials for seed in (1, 2))
    assert {task: len(seeds) for task, seeds in after.trials.items()} == {"gad": PILOT, "hoc": PILOT}
    blurb.run(**RUN, seeds=2, name="new", output=store.root)
    assert planned_rows.read(store)[0].design == after.design  # as the seeds are still there
    (file,) = (store.root / "new" / "rows").glob("*.json")
    content = json.loads(file.read_text())
    assert content.pop("design") == after.design
    file.write_text(json.dumps(content))
    assert planned_rows.read(store)[0].design == ""  # as in stores of before


@pytest.mark.extensions
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seeds": "auto"}, "--seeds auto needs|needs against"),
        ({"seeds": "auto", "detect": 1.5}, "needs"),
        ({"seeds": "auto", "against": "old"}, "needs"),
        ({"seeds": 3, "detect": 1.5}, "see blurb plan"),
        ({"against": "old"}, "see blurb plan"),
        ({"seeds": "many"}, "or auto"),
        ({"seeds": "auto", "against": "old", "detect": 0.0}, "must be above 0"),
        ({"seeds": "auto", "against": "old", "detect": -1.0}, "must be above 0"),
        ({"seeds": "auto", "against": "old", "detect": 1.5, "power": 0.0}, "power must be above 0 and below 1"),
        ({"seeds": "auto", "against": "old", "detect": 1.5, "power": 1.0}, "power must be above 0 and below 1"),
        ({"seeds": "auto", "against": "none", "detect": 1.5}, "none|no finished row"),
        ({"seeds": "auto", "against": "old", "detect": 1.5, "budget": "1h"}, "chooses the protocol"),
        ({"seeds": "auto", "against": "old", "detect": 1.5, "model": ["scratch:tiny", "scratch:mini"]}, "one MODEL"),
        (
            {"seeds": "auto", "against": "old", "detect": 1.5, "engine": "slurm", "precision": "fp32"},
            "which submitted jobs bring later",
        ),
    ],
)
def test_what_cannot_be_is_told_before_anything_runs(tmp_path: Path, given: dict[str, Any], message: str) -> None:
    with pytest.raises(BlurbError, match=message):
        blurb.run(**{**RUN, **given}, output=tmp_path / "runs")
    assert not list(tmp_path.glob("runs/*"))


def test_a_dry_run_lists_the_pilot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = invented.row("old", {"gad": [80.0, 81.0]})
    given = {**RUN, "seeds": "auto", "against": row, "detect": 1.5, "dry_run": True}
    blurb.run(**given, output=tmp_path / "runs")
    printed = capsys.readouterr()
    assert "their variance decides" in printed.err
    assert not list(tmp_path.glob("runs/*/*/*"))
    assert printed.out


def test_a_pilot_that_failed_ends_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from blurb.api import running
    from blurb.api.results import Results

    asked: list[Any] = []
    broken = Results((), tmp_path, ("a failure",))  # type: ignore[arg-type]
    monkeypatch.setattr(running, "executed", lambda options, *rest, **more: asked.append(options.seeds) or broken)
    row = invented.row("old", {"gad": [80.0, 81.0]})
    assert blurb.run(**RUN, seeds="auto", against=row, detect=1.5, output=tmp_path) is broken
    assert asked == [PILOT]


def test_ablate_knows_no_word(tmp_path: Path) -> None:
    from blurb.api.ablation import ablate
    from blurb.planning.ablate_options import AblateOptions

    with pytest.raises(SettingsError, match="a whole number"):
        ablate(AblateOptions(model="scratch:tiny", axis="head", seeds="auto"))
    assert two_stages.SPLIT == "test"  # as `blurb compare`


def test_any_power_may_be_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = invented.row("old", {"gad": [80.0, 81.0]})
    given = {**RUN, "seeds": "auto", "against": row, "detect": 1.5, "power": 0.9, "dry_run": True}
    blurb.run(**given, output=tmp_path / "runs")
    assert "their variance decides" in capsys.readouterr().err
