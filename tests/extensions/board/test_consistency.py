"""A description that contradicts itself is told. The oracle is the committed row of a real run, which does not."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from blurb.extensions.board import consistency
from blurb.extensions.board.consistency import SignalKind
from blurb.protocols import protocol
from blurb.row_files.reading import RowFiles, read_row_files
from blurb.store.trial import Trial
from tests.conftest import ROOT

COMMITTED = [ROOT / "docs" / "results" / "minilm" / name / "row" for name in ("quick", "sketch")]


def named_anew(about: dict[str, Any]) -> None:
    """The hashes of trials that this row would have: a fraud that knows of them."""
    for run in about["runs"]:
        parts = {name: run[name] for name in ("task", "data", "settings", "seed", "plugins")}
        of_row = {name: about[name] for name in ("weights", "tokenizer", "precision")}
        run["trial"] = Trial(**parts, **of_row, recipe=int(about["recipe"])).hash


def one_hash(about: dict[str, Any]) -> None:
    for run in about["runs"]:
        run["trial"] = about["runs"][0]["trial"]


def hash_of_another_row(about: dict[str, Any]) -> None:
    other = {
        (run["task"], run["seed"]): run["trial"]
        for run in read_row_files(COMMITTED[1]).about["runs"]
    }
    for run in about["runs"]:
        run["trial"] = other[run["task"], run["seed"]]


def weights_of_another_model(about: dict[str, Any]) -> None:
    about["weights"] = "0" * 64


def tokenizer_of_another_model(about: dict[str, Any]) -> None:
    about["tokenizer"] = "0" * 64


def lucky_seeds(about: dict[str, Any]) -> None:
    for run in about["runs"]:
        run["seed"] += 100
    named_anew(about)


def nothing_planned(about: dict[str, Any]) -> None:
    about["planned"] = {}


def name_of_paper_with_a_hash_of_nothing(about: dict[str, Any]) -> None:
    about |= {"protocol": "paper", "protocol_hash": "0" * 64}


def name_and_hash_of_smoke(about: dict[str, Any]) -> None:
    about |= {"protocol": "smoke", "protocol_hash": protocol.load_protocol_file("smoke").hash}


def fifty_epochs(about: dict[str, Any]) -> None:
    for run in about["runs"]:
        run["settings"] = {**run["settings"], "epochs": 50}
    named_anew(about)


def another_head(about: dict[str, Any]) -> None:
    for run in about["runs"]:
        run["settings"] = {**run["settings"], "head": "bilstm-crf"}
    named_anew(about)


def a_rate_of_its_own_for_each_seed(about: dict[str, Any]) -> None:
    for run in about["runs"]:
        run["settings"] = {**run["settings"], "lr": [5e-5, 1e-4, 2e-4][run["seed"] - 1]}
    named_anew(about)


def a_precision_that_it_did_not_have(about: dict[str, Any]) -> None:
    about["precision"] = "fp32"


def a_recipe_that_is_no_number(about: dict[str, Any]) -> None:
    about["recipe"] = "one"


def the_worst_seed_never_was(about: dict[str, Any]) -> None:
    about["runs"] = [run for run in about["runs"] if run["seed"] != 2]
    about["planned"] = {
        task: [seed for seed in seeds if seed != 2] for task, seeds in about["planned"].items()
    }


def all_right_on_test(about: dict[str, Any]) -> None:
    for run in about["runs"]:
        run["test"] = {**run["test"], run["metric"]: 1.0}


def no_dev(about: dict[str, Any]) -> None:
    for run in about["runs"]:
        run["dev"] = {}


FRAUDS: list[tuple[Callable[[dict[str, Any]], None], SignalKind]] = [
    (one_hash, SignalKind.TRIAL),
    (hash_of_another_row, SignalKind.TRIAL),
    (weights_of_another_model, SignalKind.TRIAL),
    (tokenizer_of_another_model, SignalKind.TRIAL),
    (a_precision_that_it_did_not_have, SignalKind.TRIAL),
    (a_recipe_that_is_no_number, SignalKind.TRIAL),
    (lucky_seeds, SignalKind.UNPLANNED),
    (nothing_planned, SignalKind.UNPLANNED),
    (name_of_paper_with_a_hash_of_nothing, SignalKind.PROTOCOL),
    (name_and_hash_of_smoke, SignalKind.PROTOCOL),
    (fifty_epochs, SignalKind.PROTOCOL),
    (another_head, SignalKind.PROTOCOL),
    (a_rate_of_its_own_for_each_seed, SignalKind.UNEQUAL),
    (the_worst_seed_never_was, SignalKind.UNPLANNED),
    (all_right_on_test, SignalKind.GAP),
    (no_dev, SignalKind.NO_DEV),
]


def changed(row: RowFiles, change: Callable[[dict[str, Any]], None]) -> RowFiles:
    about: Any = copy.deepcopy(row.about)
    change(about)
    return replace(row, about=about)


@pytest.mark.parametrize("folder", COMMITTED, ids=lambda folder: folder.parent.name)
def test_the_committed_rows_agree_with_themselves(folder: Any) -> None:
    assert list(consistency.signals(read_row_files(folder))) == []


@pytest.mark.parametrize(("change", "kind"), FRAUDS, ids=[change.__name__ for change, _ in FRAUDS])
def test_what_contradicts_itself_is_told(
    change: Callable[[dict[str, Any]], None], kind: SignalKind
) -> None:
    assert kind in {
        signal.kind for signal in consistency.signals(changed(read_row_files(COMMITTED[0]), change))
    }


def of_a_plug_in(about: dict[str, Any]) -> None:
    about["learner"] = "somebody's"


def of_another_version(about: dict[str, Any]) -> None:
    about |= {"blurb": "0.0.9", "recipe": "9"}


def of_another_protocol_version(about: dict[str, Any]) -> None:
    about |= {"protocol": "quick@9", "protocol_hash": "0" * 64}


@pytest.mark.parametrize("change", [of_a_plug_in, of_another_version, of_another_protocol_version])
def test_what_cannot_be_checked_here_is_a_remark(change: Callable[[dict[str, Any]], None]) -> None:
    told = {
        signal.kind for signal in consistency.signals(changed(read_row_files(COMMITTED[0]), change))
    }
    assert told == {SignalKind.UNCHECKED}


def test_a_file_of_a_user_has_its_hash_in_its_name() -> None:
    def mine(about: dict[str, Any]) -> None:
        about |= {"protocol": "mine@01234567", "protocol_hash": "0123456789abcdef" * 4}

    def edited(about: dict[str, Any]) -> None:
        mine(about)
        about["protocol_hash"] = "f" * 64

    row = read_row_files(COMMITTED[0])
    assert {signal.kind for signal in consistency.signals(changed(row, mine))} == {
        SignalKind.UNCHECKED
    }
    assert {signal.kind for signal in consistency.signals(changed(row, edited))} == {
        SignalKind.PROTOCOL
    }


def test_overrides_of_the_row_are_those_of_its_settings() -> None:
    def claimed(about: dict[str, Any]) -> None:
        about["overrides"] = {"epochs": 7}

    def true(about: dict[str, Any]) -> None:
        claimed(about)
        for run in about["runs"]:
            run["settings"] = {**run["settings"], "epochs": 7}
        named_anew(about)

    def hostile(about: dict[str, Any]) -> None:
        about["overrides"] = {"no such setting": [1]}

    row = read_row_files(COMMITTED[0])
    assert {signal.kind for signal in consistency.signals(changed(row, claimed))} == {
        SignalKind.PROTOCOL
    }
    assert list(consistency.signals(changed(row, true))) == []
    assert {signal.kind for signal in consistency.signals(changed(row, hostile))} == {
        SignalKind.PROTOCOL
    }
