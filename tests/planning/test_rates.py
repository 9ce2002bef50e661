"""Remarks on learning rates: of which rows they are, and that every reader of a row sees them."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from blurb.planning import trials
from blurb.planning.options import RunOptions
from blurb.planning.request import make_request
from blurb.store.row_trials import RowTrials
from blurb.store.trial import Configuration
from tests.cli.in_process import ran, run
from tests.conftest import Builder

LOW = 'description = "a grid that is too low"\nseeds = 1\n[all]\nepochs = 1\nmax_train = 24\nmax_eval = 16\n'


def _said(
    folder: Path, model: Path | str, protocol: str, store: Path, **given: Any
) -> Mapping[str, str]:
    """The remarks on the trials that are planned, as if their rates were those of the protocol's tasks."""
    options = RunOptions(
        model=str(model),
        suite="demo",
        tasks="gad,biosses",
        protocol=protocol,
        output=store,
        device="cpu",
        **given,
    )
    request, *_ = make_request(options)
    planned = [job.trial for job in trials.prepare(request).final]
    return trials.remarks_on_rates(request, request.sources[0], planned)


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("bert_uncased", {}, ""),
        ("roberta", {}, "rates published for BERT"),
        ("roberta", {"lr": 1e-4}, ""),
        ("bert_uncased", {"adapter": "lora"}, ""),
    ],
)
def test_standard_says_for_whom_its_rates_were_published(
    checkpoint: Builder, tmp_path: Path, kind: str, given: dict[str, Any], expected: str
) -> None:
    found = _said(tmp_path, checkpoint(kind), "standard", tmp_path / "runs", **given)
    assert found == (dict.fromkeys(("gad", "biosses"), expected) if expected else {})


def test_an_adapter_under_a_rate_of_full_tuning_is_told_so(
    checkpoint: Builder, tmp_path: Path
) -> None:
    found = _said(tmp_path, checkpoint("bert_uncased"), "smoke", tmp_path / "runs", adapter="lora")
    assert set(found.values()) == {
        "an adapter at a rate of full fine-tuning, where about ten times that is usual"
    }


def test_a_baseline_has_no_remark(tmp_path: Path) -> None:
    assert _said(tmp_path, "baseline:bilstm", "standard", tmp_path / "runs") == {}


@pytest.mark.costly
def test_the_edge_of_the_grid_is_told_in_tables_page_json_and_check(tmp_path: Path) -> None:
    """On a grid that is too low the highest rate wins: the more an encoder from scratch learns, the better."""
    protocol, store, table = tmp_path / "low.toml", tmp_path / "runs", tmp_path / "leaderboard.csv"
    protocol.write_text(LOW + "[search]\nlr = [1e-9, 2e-9]\n", encoding="utf-8")
    train = f"run scratch:tiny --suite demo --tasks bc5-chem --protocol {protocol} --device cpu --output {store}"
    assert ran([*shlex.split(train), "--leaderboard", str(table)]).exit_code == 0
    said = "rate at the edge of the grid 1e-09 to 2e-09"
    assert said in table.read_text(encoding="utf-8")
    for form in ("table", "json"):
        shown = ran(["leaderboard", "show", "--output", str(store), "--format", form])
        assert said in " ".join(shown.stdout.split())
    check = ["check", "scratch:tiny", "--baseline", "scratch:tiny", "--output", str(store)]
    judged = run(*check, "--format", "json")  # one seed: it cannot judge
    assert any(said in one for one in json.loads(judged.stdout)["row_remarks"])
    assert said in " ".join(run(*check).stdout.split())


def test_a_remark_stays_with_the_trials_it_is_of() -> None:
    made = Configuration("standard", "h" * 64, {}, "fp32", "blurb", "")
    before = RowTrials(
        "m",
        "w",
        "t",
        1,
        made,
        {"gad": {1: "a"}, "hoc": {1: "b"}},
        {"gad": "f", "hoc": "f"},
        rates={"gad": "x", "hoc": "y"},
    )
    later = RowTrials("m", "w", "t", 1, made, {"gad": {2: "c"}}, {"gad": "f"})
    assert dict(later.over(before).rates) == {"hoc": "y"}
    assert "rates" not in later.content
