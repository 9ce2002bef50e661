"""Batches and costs of trials against what a trial then does, counted; more of anything never costs less."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from blurb.checkpoints import ModelSource
from blurb.cost import calibration, learners, model as cost
from blurb.cost.inputs import InputLengths, Ints
from blurb.cost.learners import (
    Batches,
    Cost,
    encoder,
    epoch_batches,
    epochs_of,
    pass_batches,
    probe,
)
from blurb.cost.throughput import Rates
from blurb.execution.worker import execute_job
from blurb.learners import building, kinds
from blurb.planning import trials
from blurb.planning.request import Request
from blurb.training import batches, loop
from blurb.training.batches import training_batches
from blurb.training.loop import SUBTOKENS
from tests.conftest import Builder
from tests.cost.settings import profile, rates, request

CONSTANTS = ("UNIT", "WORD", "SETUP")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing costs anything but what a test counts."""
    for name in CONSTANTS:
        monkeypatch.setattr(learners, name, 0.0)
    monkeypatch.setattr(learners, "FIT_RATE", 1e30)
    monkeypatch.setattr(learners, "_tokenising", lambda asked: 0.0)


@pytest.fixture(scope="module")
def source(checkpoint: Builder) -> ModelSource:
    return building.resolve_model(str(checkpoint("bert_uncased")), name="m")


def of(asked: Request, found: Rates, monkeypatch: pytest.MonkeyPatch) -> Cost:
    """The cost of a trial on an encoder with these rates."""
    monkeypatch.setattr(calibration, "rates_of", lambda *given: found)
    (trial,) = cost.estimate([trials.prepare(asked)], 1).trials
    return trial.cost


@pytest.mark.costly
@pytest.mark.parametrize(
    ("task", "overrides"),
    [
        ("gad", {"max_eval": 0}),
        ("gad", {"max_train": 0, "epochs": 3}),
        ("bc2gm", {"max_train": 50, "epochs": 2, "batch_size": 7}),
        ("biosses", {"max_updates": 7, "epochs": 9}),
        ("chemprot", {"epochs": 2, "select": "last", "max_eval": 40}),
        ("gad", {"epochs": 2, "dev_sample": 20, "batch_size": 64}),
        ("pubmedqa", {"epochs": 2, "max_length": 40, "max_train": 30}),
        ("gad", {"head_init": "linear"}),
    ],
)
def test_steps_and_padded_pieces_are_those_of_the_trial(
    task: str,
    overrides: dict[str, Any],
    source: ModelSource,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    counted: None,
) -> None:
    """The lengths of the sample are those of all units here, as the demo's splits are small."""
    monkeypatch.setattr("blurb.cost.inputs.SAMPLE", 10_000)
    asked = request(source, task, tmp_path, **overrides)
    steps = of(asked, rates(step=1.0), monkeypatch)
    train = of(asked, rates(piece=1.0), monkeypatch)
    passes = of(asked, rates(pass_piece=1.0), monkeypatch)
    seen = {"train": 0, "pass": 0}

    def collate(*given: Any) -> batches.Batch:
        batch = batches.collate_batch(*given)
        seen["train" if torch.is_grad_enabled() else "pass"] += batch.ids.numel()
        return batch

    monkeypatch.setattr(loop, "collate_batch", collate)
    (job,) = trials.prepare(asked).final
    told: list[Any] = []
    outcome = execute_job(job, told.append)
    assert outcome.status == "done", outcome.message
    assert steps.seconds == pytest.approx(told[-1].total)
    # Later epochs are drawn anew: their padding differs a little. So do the lengths of a drawn dev sample.
    epochs, sampled = told[-1].epochs, overrides.get("dev_sample", 0) > 0
    assert train.seconds == pytest.approx(seen["train"], rel=0.05 if epochs > 1 else 1e-9)
    assert passes.seconds == pytest.approx(seen["pass"], rel=0.05 if sampled else 1e-9)


def test_one_encoder_in_two_precisions_has_two_rates(
    source: ModelSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = request(source, "biosses", tmp_path, max_updates=3)
    steps = {"fp32": 2.0, "bf16": 1.0}
    monkeypatch.setattr(
        calibration,
        "rates_of",
        lambda source, device, precision, *more: rates(step=steps[precision]),
    )
    planned = [
        trials.prepare(dataclasses.replace(asked, precision=precision)) for precision in steps
    ]
    fp32, bf16 = (trial.cost.fit for trial in cost.estimate(planned, 1).trials)
    assert fp32 - bf16 == pytest.approx(3)


def test_fitting_takes_the_epochs_and_predicting_dev_and_test(counted: None) -> None:
    found = encoder(profile({"epochs": 3, "batch_size": 10}, rates(step=1.0, pass_piece=0.1)))
    assert found.fit == pytest.approx(
        3 * 10 + 3 * 20
    )  # 20 units of 10 sub-tokens at a tenth of a second
    assert found.predict == pytest.approx(30)  # dev was predicted by the weights that were chosen
    sample = encoder(
        profile({"epochs": 3, "batch_size": 10, "dev_sample": 5}, rates(step=1.0, pass_piece=0.1))
    )
    assert sample.fit == pytest.approx(3 * 10 + 3 * 5)
    assert sample.predict == pytest.approx(20 + 30)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ({"epochs": 2}, {"epochs": 3}),
        ({"max_train": 40}, {"max_train": 80}),
        ({"max_eval": 5}, {"max_eval": 10}),
        ({"max_updates": 3}, {"max_updates": 9}),
        ({"dev_sample": 5}, {"dev_sample": 10}),
        ({"select": "last"}, {"select": "best"}),
        ({"head_init": "random"}, {"head_init": "linear"}),
    ],
)
def test_more_never_costs_less(less: dict[str, Any], more: dict[str, Any]) -> None:
    found = rates(step=1.0, piece=0.01, pass_piece=0.005)
    low, high = (
        encoder(profile({"epochs": 4, "batch_size": 10, **each}, found)) for each in (less, more)
    )
    assert low.seconds < high.seconds
    assert low.memory <= high.memory


def test_a_probe_passes_once_over_every_split_and_fits(
    counted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = probe(profile({}, rates(pass_piece=0.1)))
    assert once.seconds == pytest.approx((100 + 20 + 30) * 10 * 0.1)
    monkeypatch.setattr(learners, "FIT_RATE", 1e3)
    fitted = probe(profile({}, rates(pass_piece=0.1)))
    folds = 1 + learners.FOLDS  # 20 units of dev are few
    work = learners.LAYERS * learners.STRENGTHS * folds * learners.ITERATIONS * 4 * 100 * 3 * 1 * 2
    assert fitted.seconds - once.seconds == pytest.approx(work / 1e3)
    assert (
        probe(profile({"epochs": 9, "batch_size": 1}, rates(pass_piece=0.1))).seconds
        == fitted.seconds
    )


def test_what_is_known_of_the_probe_is_the_probe_s() -> None:
    from blurb.learners import linear as choosing
    from blurb.learners.frozen import encoder as frozen, probe as learner

    known = (learners.LAYERS, learners.STRENGTHS, learners.FEW, learners.FOLDS)
    assert known == (len(frozen.LAYERS), len(learner.STRENGTHS), choosing.FEW, choosing.FOLDS)


def test_every_kind_that_reads_a_checkpoint_has_a_term() -> None:
    for kind in kinds.usable().values():
        assert callable(kind.load("cost")) if kind.reads_checkpoint or kind.cost else not kind.cost


def test_a_function_of_a_package_may_still_give_what_nobody_reads() -> None:
    assert (
        Cost(fit=1.0, predict=2.0, memory=3.0, store=4.0, cache=5.0, checkpoints=6.0).seconds == 3.0
    )


def test_memory_is_weights_moments_and_the_largest_batch() -> None:
    found = rates(step=1.0)
    batch = 10 * (
        10 * 10 + 10**2
    )  # `rates` keeps 10 L + L^2 bytes an input; ten inputs of ten sub-tokens
    asked = profile({"batch_size": 10, "select": "last"}, found)
    assert encoder(asked).memory == pytest.approx(
        learners.HELD + 2 * 4 * 1_000 + 12 * 1_000 + batch
    )  # one encoder is kept
    best = profile({"batch_size": 10}, found)
    assert encoder(best).memory - encoder(asked).memory == 4 * 1_000
    long = {
        split: dataclasses.replace(each, rows=np.full(each.units, 40))
        for split, each in asked.lengths.items()
    }
    assert encoder(dataclasses.replace(asked, lengths=long)).memory - encoder(
        asked
    ).memory == pytest.approx(10 * (10 * 40 + 40**2) - batch)


MANY = np.random.default_rng(7).integers(5, 300, size=2_000)
SIZES = st.lists(st.integers(1, 600), min_size=1, max_size=60).map(np.array)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("lengths", [MANY[:50], MANY])
def test_a_pass_of_training_is_the_first_of_the_loop(lengths: Ints, seed: int) -> None:
    """Below 1,000 inputs nothing is sorted by length, above it is."""
    found = epoch_batches(lengths, 16, seed)
    batches = training_batches(lengths, 16, np.random.default_rng(seed))
    assert found.sizes.tolist() == [len(rows) for rows in batches]
    assert found.lengths.tolist() == [max(lengths[rows]) for rows in batches]
    assert found.subtokens == sum(len(rows) * max(lengths[rows]) for rows in batches)


@given(SIZES, st.integers(1, 20), st.integers(0, 3))
def test_every_input_is_trained_on_once_in_whole_batches(
    lengths: Ints, batch_size: int, seed: int
) -> None:
    found = epoch_batches(lengths, batch_size, seed)
    assert found.sizes.sum() == len(lengths)
    assert len(found.sizes) == -(-len(lengths) // batch_size)
    assert found.lengths.max() == lengths.max()
    assert found.subtokens >= lengths.sum()


@given(SIZES, st.sampled_from(["cpu", "cuda", "another"]))
def test_prediction_fills_batches_up_to_the_device_s_room(lengths: Ints, device: str) -> None:
    found = pass_batches(lengths, device)
    assert found.sizes.sum() == len(lengths)
    assert np.all(
        (found.sizes == 1) | (found.sizes * found.lengths <= SUBTOKENS.get(device, 8_192))
    )
    assert found.lengths.tolist() == sorted(found.lengths, reverse=True)


def test_a_part_of_a_pass_has_that_part_of_its_subtokens() -> None:
    whole = Batches(np.array([4, 2]), np.array([10, 30]))
    assert whole.subtokens == 100
    assert Batches(whole.sizes, whole.lengths, share=0.25).subtokens == 25


def test_the_rows_of_chosen_examples_are_all_of_their_rows() -> None:
    """The second example is long, and has three rows."""
    lengths = InputLengths(np.array([5, 9, 8, 7, 6]), np.array([0, 1, 1, 1, 2]), units=3)
    assert lengths.of(None).tolist() == [5, 9, 8, 7, 6]
    assert lengths.of(np.array([1, 2])).tolist() == [9, 8, 7, 6]
    assert lengths.of(np.array([0])).tolist() == [5]


@pytest.mark.parametrize(
    ("batches", "epochs", "updates", "begun", "share"),
    [
        (10, 3, 0, 3, 3.0),
        (10, 3, 30, 3, 3.0),
        (10, 3, 31, 3, 3.0),  # a limit beyond the end is none
        (10, 3, 25, 3, 2.5),
        (10, 3, 20, 2, 2.0),
        (10, 60, 7, 1, 0.7),
    ],
)
def test_a_limit_of_updates_may_end_within_a_pass(
    batches: int, epochs: int, updates: int, begun: int, share: float
) -> None:
    assert epochs_of(batches, epochs, updates) == (begun, pytest.approx(share))


def test_an_adapter_needs_less_memory_and_recomputing_less_still() -> None:
    """Of 100 million parameters: no gradients, no moments and no copy of the best weights; in bf16 a quarter."""
    found = rates(step=1.0)
    found = dataclasses.replace(found, shape=dataclasses.replace(found.shape, layers=4))
    plain, lora, half = (
        profile({}, found, parameters=10**8, **values)
        for values in ({}, {"trained": 10**6}, {"trained": 10**6, "keeps_bf16": True})
    )
    memory = [encoder(one).memory for one in (plain, lora, half)]
    assert memory[0] - memory[1] == pytest.approx(16 * 10**8 - (12 + 8) * 10**6, rel=1e-3)
    assert memory[1] - memory[2] == pytest.approx(6 * 10**8)
    again = dataclasses.replace(plain, recomputes=True)
    assert encoder(again).memory < encoder(plain).memory
    assert encoder(again).fit == pytest.approx(
        learners.SETUP + 4 / 3 * (encoder(plain).fit - learners.SETUP), rel=0.05
    )
