"""The calibration. Oracle: an encoder whose seconds are known, and the tensors and threads of a real one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from blurb.checkpoints import ModelSource
from blurb.checkpoints.architecture import EncoderSize
from blurb.cost import calibration
from blurb.cost.throughput import Rates
from blurb.learners import building
from tests.conftest import Builder

SHAPE = EncoderSize(body=1_000, table=0, vocabulary=1, layers=2, hidden=16, most=512)


class Clockwork:
    """An encoder that takes `fixed` seconds a step, and its time for each operation; it notes what is asked."""

    def __init__(self, fixed: float, training: float, predicting: float) -> None:
        self.load, self.fixed, self.training, self.predicting = 0.25, fixed, training, predicting
        self.asked: list[tuple[int, int]] = []

    def train(self, inputs: int, length: int) -> float:
        self.asked.append((inputs, length))
        return self.fixed + 3 * SHAPE.forward(inputs, length) / self.training

    def predict(self, inputs: int, length: int) -> float:
        return SHAPE.forward(inputs, length) / self.predicting

    def kept(self, length: int) -> int:
        return 7 * length


def measured(
    monkeypatch: pytest.MonkeyPatch,
    calibrator: Clockwork,
    lengths: tuple[int, ...],
    known: Rates | None = None,
) -> Rates:
    monkeypatch.setattr(calibration, "Calibrator", lambda *given: calibrator)
    source: Any = SimpleNamespace(checkpoint=SimpleNamespace(size=SHAPE))
    return calibration._measure(source, "cpu", "fp32", known, lengths)


def test_the_rates_of_an_encoder_are_found_whatever_the_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = measured(monkeypatch, Clockwork(0.03, 2e7, 5e7), (32, 128, 512))
    assert (found.load, found.fixed) == (0.25, pytest.approx(0.03))
    assert list(found.train.values()) == pytest.approx([2e7] * 3)
    assert list(found.predict.values()) == pytest.approx([5e7] * 3)
    assert found.kept == {length: 7 * length for length in (32, 128, 512)}
    assert float(found.step(4, 128)) == pytest.approx(0.03 + 3 * SHAPE.forward(4, 128) / 2e7)


def test_what_is_known_stays_and_the_rest_is_measured_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = measured(monkeypatch, Clockwork(0.03, 2e7, 5e7), (32,))
    slower = Clockwork(0.03, 1e7, 5e7)
    found = measured(monkeypatch, slower, (128,), known)
    assert {length for _, length in slower.asked} == {128}
    assert (found.load, found.fixed, found.train) == (
        known.load,
        known.fixed,
        {32: known.train[32], 128: pytest.approx(1e7)},
    )


@pytest.mark.parametrize("rate", [1e9, 1e6, 1e4])
def test_a_slow_encoder_is_measured_in_small_batches(
    rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step takes about `STEP` seconds at most, but of a single input."""
    calibrator = Clockwork(0.0, rate, rate)
    measured(monkeypatch, calibrator, (32, 512))
    first = 2  # the two steps that tell fixed seconds from those of inputs
    for inputs, length in calibrator.asked[first:]:
        assert inputs * length <= max(calibration.SUBTOKENS, 4 * 32, length)
        linear = 3 * SHAPE.forward(1, 32) / 32 / rate * inputs * length
        assert inputs == 1 or linear <= calibration.STEP or (inputs, length) == (4, 32)
    assert max(inputs for inputs, _ in calibrator.asked[first:]) == {1e9: 16, 1e6: 4, 1e4: 4}[rate]


def test_seconds_that_fall_with_the_batch_are_no_rates_below_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a busy machine two inputs may take longer than eight."""
    calibrator = Clockwork(0.0, 2e7, 5e7)
    steps = iter([5.0, 1.0])
    train = calibrator.train
    monkeypatch.setattr(calibrator, "train", lambda *given: next(steps, None) or train(*given))
    found = measured(monkeypatch, calibrator, (32, 128))
    assert 0 <= found.fixed <= 1.0 * 5
    assert min(found.train.values()) > 0


def test_no_input_is_longer_than_the_encoder_s(
    checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLURB_HOME", str(tmp_path))
    source = building.resolve_model(str(checkpoint("bert_uncased")))
    most = source.checkpoint.size.most
    asked: list[Any] = []

    def noted(
        source: ModelSource,
        device: str,
        precision: str,
        known: Rates | None,
        lengths: list[int],
        _: Any,
    ) -> Rates:
        asked.append((lengths, torch.get_num_threads()))
        each = dict.fromkeys(lengths, 1.0)
        return Rates(source.checkpoint.size, 0.0, 0.0, each, each, each)

    monkeypatch.setattr(calibration, "_measure", noted)
    before = torch.get_num_threads()
    calibration.rates_of(source, "cpu", "fp32", before + 1, (32, most, 10 * most))
    assert asked == [([32, most], before + 1)]
    assert torch.get_num_threads() == before


def test_inputs_have_ids_of_the_vocabulary_and_no_padding(checkpoint: Builder) -> None:
    source = building.resolve_model(str(checkpoint("bert_uncased")))
    calibrator = calibration.Calibrator(source, "cpu", "fp32")
    features = calibrator.features(3, 20)
    ids = np.concatenate([features.ids[row] for row in range(3)])
    assert (len(ids), features.example_index.tolist()) == (60, [0, 1, 2])
    assert calibrator.trainer.pad_id not in ids
    assert ids.max() < source.checkpoint.size.vocabulary


@pytest.mark.costly
def test_it_is_measured_once_and_what_is_missing_is_added(
    checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLURB_HOME", str(tmp_path))
    source = building.resolve_model(str(checkpoint("bert_uncased")))
    threads = torch.get_num_threads()
    measured: list[int] = []
    train = calibration.Calibrator.train

    def counting(self: calibration.Calibrator, inputs: int, length: int) -> float:
        measured.append(length)
        return train(self, inputs, length)

    monkeypatch.setattr(calibration.Calibrator, "train", counting)
    first = calibration.rates_of(source, "cpu", "fp32", None, (32, 128))
    assert set(first.train) == set(first.predict) == set(first.kept) == {32, 128}
    assert min(*first.train.values(), *first.predict.values(), first.load) > 0
    assert first.shape == source.checkpoint.size
    before = len(measured)
    assert calibration.rates_of(source, "cpu", "fp32", None, (32, 128)) == first
    assert len(measured) == before
    more = calibration.rates_of(source, "cpu", "fp32", None, (128, 512))
    assert measured[before:] == [512]
    assert {at: rate for at, rate in more.train.items() if at < 512} == first.train
    assert torch.get_num_threads() == threads


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["roberta", "modernbert", "deberta", "t5", "bertweet"])
def test_any_architecture_can_be_measured(
    kind: str, checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLURB_HOME", str(tmp_path))
    source = building.resolve_model(str(checkpoint(kind)))
    found = calibration.rates_of(source, "cpu", "fp32", None, (32, 512))
    lengths = {32, min(512, source.checkpoint.size.most or 512)}
    assert set(found.train) == lengths
    assert found.kept[max(lengths)] > found.kept[32] > 0


def test_the_bytes_of_a_backward_pass_are_those_of_its_tensors(checkpoint: Builder) -> None:
    """The oracle: every linear layer keeps its input, so there are at least those of the layers of this encoder."""
    calibrator = calibration.Calibrator(
        building.resolve_model(str(checkpoint("bert_uncased"))), "cpu", "fp32"
    )
    hidden, inner, layers, length = 32, 64, 2, 40
    least = (
        4 * length * layers * (2 * hidden + inner)
    )  # what the attention's and the two dense layers read
    assert least < calibrator.kept(length) < 12 * least
    assert calibrator.kept(2 * length) > 2 * calibrator.kept(
        length
    )  # attention grows with the square
