"""The metrics as `evaluate.Metric`: the same values, without network and without a writable home."""

import socket
from pathlib import Path
from typing import Any

import pytest

from blurb import metrics
from blurb.messages.errors import UnknownName

evaluate = pytest.importorskip("evaluate")

from blurb.metrics import hf  # noqa: E402  (imports evaluate)

INPUTS: dict[str, tuple[list[Any], list[Any], dict[str, Any]]] = {
    "entity_f1": ([["B-X", "I-X"], [], ["O"]], [["I-X", "I-X"], [], ["B-X"]], {"strict": True}),
    "token_macro_f1": ([["I-PAR", "O"], ["I-OUT"]], [["I-PAR", "I-INT"], ["O"]], {}),
    "micro_f1_without": (["a", "b", "no"], ["a", "a", "a"], {"negative": "no"}),
    "binary_f1": (["1", "0", "1"], ["1", "1", "0"], {"positive": "1"}),
    "pearson": ([0.1, 2.0, 3.9], [0.3, 1.0, 5.5], {"high": 5.0}),
    "multilabel_f1": ([["A", "B"], [], ["A"]], [["A"], [], []], {"labels": ["A", "B"]}),
    "accuracy": (["yes", "no"], ["yes", "yes"], {}),
    "macro_f1": (["yes", "no"], ["yes", "yes"], {"labels": ["yes", "no"]}),
}


@pytest.fixture(autouse=True)
def offline_and_homeless(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr(
        socket.socket, "connect", lambda *given, **more: pytest.fail("a metric went to the network")
    )
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", Path("/proc/not/writable"))


def test_all_metrics_are_tried() -> None:
    assert set(INPUTS) == set(metrics.names())


@pytest.mark.parametrize("name", INPUTS)
def test_compute_equals_the_function(name: str) -> None:
    gold, predicted, options = INPUTS[name]
    metric = hf.load(name, **options)
    assert isinstance(metric, evaluate.Metric)
    assert metric.name == name
    expected = metrics.get(name)(gold, predicted, **options)
    result = metric.compute(references=gold, predictions=predicted)
    assert result == expected
    assert list(result) == list(expected)


@pytest.mark.parametrize("name", INPUTS)
def test_batches_equal_the_whole(name: str) -> None:
    gold, predicted, options = INPUTS[name]
    metric = hf.load(name, **options)
    expected = metrics.get(name)(gold, predicted, **options)
    for _ in range(2):  # a metric can be used again
        metric.add_batch(references=gold[:1], predictions=predicted[:1])
        metric.add_batch(references=gold[1:], predictions=predicted[1:])
        assert metric.compute() == expected
        for reference, prediction in zip(gold, predicted, strict=True):
            metric.add(reference=reference, prediction=prediction)
        assert metric.compute() == expected


def test_two_metrics_do_not_mix() -> None:
    first, second = hf.load("accuracy"), hf.load("accuracy")
    first.add_batch(references=["a"], predictions=["a"])
    second.add_batch(references=["a"], predictions=["b"])
    assert (first.compute(), second.compute()) == ({"accuracy": 1.0}, {"accuracy": 0.0})


def test_combine_tells_metrics_apart() -> None:
    result = evaluate.combine(
        [hf.load("accuracy"), hf.load("binary_f1", positive="a")], force_prefix=True
    ).compute(references=["a", "b"], predictions=["a", "a"])
    assert (result["accuracy_accuracy"], result["binary_f1_recall"]) == (0.5, 1.0)


def test_documentation_is_that_of_the_function() -> None:
    assert hf.load("entity_f1", strict=True).description == metrics.entity_f1.__doc__


def test_errors() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'accuracy'"):
        hf.load("acuracy")
    with pytest.raises(ValueError, match="Sentence 0"):
        hf.load("entity_f1").compute(references=[["O"]], predictions=[["O", "O"]])
