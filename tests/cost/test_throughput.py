"""Rates: interpolation between measured lengths, and the cache."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from blurb.checkpoints.architecture import EncoderSize
from blurb.cost import throughput
from blurb.cost.throughput import Rates
from tests.conftest import Builder

SHAPE = EncoderSize(body=50, table=0, vocabulary=1, layers=1, hidden=4, most=512)


def test_between_two_lengths_the_rate_is_in_between() -> None:
    found = Rates(
        SHAPE, 0.0, 0.5, {32: 100.0, 128: 200.0}, {32: 10.0, 128: 10.0}, {32: 1.0, 128: 1.0}
    )
    assert found.step(2, 32) == pytest.approx(0.5 + 3 * SHAPE.forward(2, 32) / 100)
    assert found.step(2, 64) == pytest.approx(
        0.5 + 3 * SHAPE.forward(2, 64) / 150
    )  # half-way in the logarithm
    assert found.step(2, 512) == pytest.approx(0.5 + 3 * SHAPE.forward(2, 512) / 200)
    both = found.forward(np.array([1, 3]), np.array([8, 16]))
    assert both.tolist() == pytest.approx([SHAPE.forward(1, 8) / 10, SHAPE.forward(3, 16) / 10])


def test_memory_by_lengths_and_their_squares() -> None:
    found = Rates(SHAPE, 0.0, 0.0, kept={at: 7.0 * at + 3.0 * at**2 for at in (32, 128)})
    assert found.activations(5, 64) == pytest.approx(5 * (7 * 64 + 3 * 64**2))
    assert found.activations(1, 500) == pytest.approx(7 * 500 + 3 * 500**2)
    assert Rates(SHAPE, 0.0, 0.0, kept={16: 32.0}).activations(2, 8) == pytest.approx(32)


def test_what_was_measured_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLURB_HOME", str(tmp_path))
    found = Rates(SHAPE, 0.25, 0.5, {32: 100.0}, {32: 10.0}, {32: 1.0})
    assert throughput.read("x", SHAPE) is None
    throughput.write("x", found)
    assert throughput.read("x", SHAPE) == found
    for damage in (
        "{",
        "[]",
        '{"load": 1}',
        '{"load": 1, "fixed": 1, "train": [], "predict": {}, "kept": {}}',
    ):
        (tmp_path / "rates" / "x.json").write_text(damage)
        assert throughput.read("x", SHAPE) is None


def test_a_cache_that_cannot_be_written_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BLURB_HOME", str(tmp_path / "file"))
    throughput.write("x", Rates(SHAPE, 0.0, 0.0))
    assert throughput.read("x", SHAPE) is None


def test_a_measurement_is_for_one_machine_and_kind_of_encoder(checkpoint: Builder) -> None:
    folder = str(checkpoint("bert_uncased"))
    common = (folder, SHAPE, "cpu", "fp32", 1)
    assert throughput.key(*common) == throughput.key(*common)
    others = [
        throughput.key(folder, dataclasses.replace(SHAPE, layers=2), "cpu", "fp32", 1),
        throughput.key(folder, SHAPE, "cuda", "fp32", 1),
        throughput.key(folder, SHAPE, "cpu", "bf16", 1),
        throughput.key(folder, SHAPE, "cpu", "fp32", 2),
        throughput.key(str(checkpoint("roberta")), SHAPE, "cpu", "fp32", 1),
    ]
    assert len({throughput.key(*common), *others}) == 6
