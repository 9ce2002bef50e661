"""A description that contradicts itself is told. The oracle is the committed row of a real run, which does not."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from blurb.extensions.board import consistency
from blurb.extensions.board.consistency import SignalKind
from blurb.protocols import protocol
from blurb.row_files.reading import read_row_files
from blurb.store.trial import Trial
from tests.conftest import ROOT

COMMITTED = [ROOT / "docs" / "results" / "minilm" / name / "row" for name in ("quick", "sketch")]


About = dict[str, Any]


def with_runs(about: About, values: Callable[[About], About]) -> About:
    return {**about, "runs": [{**run, **values(run)} for run in about["runs"]]}


def named_anew(about: About) -> About:
    """With the hashes of trials that this row would have: a fraud that knows of them."""
    of_row = {name: about[name] for name in ("weights", "tokenizer", "precision")}
    parts = ("task", "data", "settings", "seed", "plugins")
    return with_runs(
        about,
        lambda run: {
            "trial": Trial(
                **{name: run[name] for name in parts}, **of_row, recipe=int(about["recipe"])
            ).hash
        },
    )


def with_settings(about: About, settings: Callable[[About], About]) -> About:
    return named_anew(
        with_runs(about, lambda run: {"settings": {**run["settings"], **settings(run)}})
    )


def kinds(change: Callable[[About], About]) -> set[SignalKind]:
    """Of the signals of the committed row with something changed."""
    row = read_row_files(COMMITTED[0])
    about: Any = change(copy.deepcopy(row.about))  # type: ignore[arg-type]
    return {signal.kind for signal in consistency.signals(replace(row, about=about))}


def hash_of_another_row(about: About) -> About:
    runs = read_row_files(COMMITTED[1]).about["runs"]
    other = {(run["task"], run["seed"]): run["trial"] for run in runs}
    return with_runs(about, lambda run: {"trial": other[run["task"], run["seed"]]})


def the_worst_seed_never_was(about: About) -> About:
    planned = {
        task: [seed for seed in seeds if seed != 2] for task, seeds in about["planned"].items()
    }
    return {**about, "planned": planned, "runs": [run for run in about["runs"] if run["seed"] != 2]}


FRAUDS: dict[str, tuple[Callable[[About], About], SignalKind]] = {
    "one hash": (
        lambda about: with_runs(about, lambda run: {"trial": about["runs"][0]["trial"]}),
        SignalKind.TRIAL,
    ),
    "hashes of another row": (hash_of_another_row, SignalKind.TRIAL),
    "weights of another model": (lambda about: {**about, "weights": "0" * 64}, SignalKind.TRIAL),
    "tokenizer of another model": (
        lambda about: {**about, "tokenizer": "0" * 64},
        SignalKind.TRIAL,
    ),
    "a precision that it did not have": (
        lambda about: {**about, "precision": "fp32"},
        SignalKind.TRIAL,
    ),
    "a recipe that is no number": (lambda about: {**about, "recipe": "one"}, SignalKind.TRIAL),
    "lucky seeds": (
        lambda about: named_anew(with_runs(about, lambda run: {"seed": run["seed"] + 100})),
        SignalKind.UNPLANNED,
    ),
    "nothing planned": (lambda about: {**about, "planned": {}}, SignalKind.UNPLANNED),
    "the name of paper with a hash of nothing": (
        lambda about: {**about, "protocol": "paper", "protocol_hash": "0" * 64},
        SignalKind.PROTOCOL,
    ),
    "name and hash of smoke": (
        lambda about: {
            **about,
            "protocol": "smoke",
            "protocol_hash": protocol.load_protocol_file("smoke").hash,
        },
        SignalKind.PROTOCOL,
    ),
    "fifty epochs": (
        lambda about: with_settings(about, lambda run: {"epochs": 50}),
        SignalKind.PROTOCOL,
    ),
    "another head": (
        lambda about: with_settings(about, lambda run: {"head": "bilstm-crf"}),
        SignalKind.PROTOCOL,
    ),
    "a rate of its own for each seed": (
        lambda about: with_settings(about, lambda run: {"lr": [5e-5, 1e-4, 2e-4][run["seed"] - 1]}),
        SignalKind.UNEQUAL,
    ),
    "data of its own for each seed": (
        lambda about: named_anew(with_runs(about, lambda run: {"data": f"{run['seed']:064}"})),
        SignalKind.UNEQUAL,
    ),
    "a plug-in of one seed": (
        lambda about: named_anew(
            with_runs(about, lambda run: {"plugins": {"a": "0" * 64} if run["seed"] == 1 else {}})
        ),
        SignalKind.UNEQUAL,
    ),
    "the worst seed never was": (the_worst_seed_never_was, SignalKind.UNPLANNED),
    "all right on test": (
        lambda about: with_runs(about, lambda run: {"test": {**run["test"], run["metric"]: 1.0}}),
        SignalKind.GAP,
    ),
    "no dev": (lambda about: with_runs(about, lambda run: {"dev": {}}), SignalKind.NO_DEV),
}
MINE = {"protocol": "mine@01234567", "protocol_hash": "0123456789abcdef" * 4}
"""A file of a user, which has its hash in its name."""
EXACTLY: dict[str, tuple[Callable[[About], About], set[SignalKind]]] = {
    "of a plug-in": (lambda about: {**about, "learner": "somebody's"}, {SignalKind.UNCHECKED}),
    "of another version": (
        lambda about: {**about, "blurb": "0.0.9", "recipe": "9"},
        {SignalKind.UNCHECKED},
    ),
    "of another version of the protocol": (
        lambda about: {**about, "protocol": "quick@9", "protocol_hash": "0" * 64},
        {SignalKind.UNCHECKED},
    ),
    "of a file of a user": (lambda about: {**about, **MINE}, {SignalKind.UNCHECKED}),
    "of such a file, edited": (
        lambda about: {**about, **MINE, "protocol_hash": "f" * 64},
        {SignalKind.PROTOCOL},
    ),
    "overrides that its settings do not have": (
        lambda about: {**about, "overrides": {"epochs": 7}},
        {SignalKind.PROTOCOL},
    ),
    "overrides that its settings have": (
        lambda about: with_settings(
            {**about, "overrides": {"epochs": 7}}, lambda run: {"epochs": 7}
        ),
        set(),
    ),
    "overrides of nothing": (
        lambda about: {**about, "overrides": {"no such setting": [1]}},
        {SignalKind.PROTOCOL},
    ),
}


@pytest.mark.parametrize("folder", COMMITTED, ids=lambda folder: folder.parent.name)
def test_the_committed_rows_agree_with_themselves(folder: Any) -> None:
    assert list(consistency.signals(read_row_files(folder))) == []


@pytest.mark.parametrize("fraud", FRAUDS)
def test_what_contradicts_itself_is_told(fraud: str) -> None:
    change, kind = FRAUDS[fraud]
    assert kind in kinds(change)


@pytest.mark.parametrize("name", EXACTLY)
def test_what_cannot_be_checked_here_is_a_remark_and_overrides_are_those_of_the_settings(
    name: str,
) -> None:
    change, expected = EXACTLY[name]
    assert kinds(change) == expected
