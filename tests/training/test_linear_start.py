"""A linear fit on frozen features. Oracles: scikit-learn's logistic and ridge regressions on standardised features."""

import numpy as np
import pytest
import torch

from blurb.heads._base import OutputKind
from blurb.training.linear import STRENGTH, StandardisedLinear, end_linear_start, fit, linear_start
from tests.training import tiny
from tests.training.test_linear import centred, oracle

ROWS, SIZE = 240, 12


def data(kind: OutputKind, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Features of very different scales, and answers that follow from them with noise."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(ROWS, SIZE)) * 10 ** random.uniform(-3, 2, SIZE) + random.normal(
        size=SIZE
    )
    logits = (x - x.mean(0)) / x.std(0) @ random.normal(size=(SIZE, 3)) + random.normal(
        size=(ROWS, 3)
    )
    answers = {
        "single": logits.argmax(1),
        "tokens": logits.argmax(1),
        "multi": (logits > 0.5).astype(int),
        "regression": logits[:, 0],
    }[kind]
    return torch.tensor(x, dtype=torch.float32), torch.tensor(answers)


@pytest.mark.parametrize("strength", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("kind", ["single", "tokens", "multi", "regression"])
def test_it_is_scikit_learns(kind: OutputKind, strength: float) -> None:
    x, y = data(kind)
    labels = 1 if kind == "regression" else 3
    layer, _ = fit(x, y, kind, labels, strength)
    assert layer.weight.shape == (labels, SIZE)
    z = (x.numpy() - x.numpy().mean(0)) / x.numpy().std(0)
    found = layer(x).detach().numpy()
    assert layer.folded()(x).detach().numpy() == pytest.approx(found, abs=1e-3)
    expected = oracle(kind, z, y.numpy(), strength)
    assert centred(kind, found) == pytest.approx(centred(kind, expected), abs=2e-2)


def test_a_feature_that_never_changes_has_no_part() -> None:
    x, y = data("single")
    x[:, 3] = 7.0
    layer, loss = fit(x, y, "single", 3, 1.0)
    assert torch.isfinite(layer.folded().weight).all()
    assert torch.isfinite(layer.folded().bias).all()
    assert 0 < loss < 1.1


@pytest.mark.parametrize("words", [False, True])
def test_the_head_begins_with_the_fit_on_its_own_features(words: bool) -> None:
    kind: OutputKind = "tokens" if words else "single"
    network = tiny.network(kind, dropout=0.1)
    inputs = tiny.features(120, words=words)
    answers = tiny.targets(inputs)
    trainer = tiny.trainer(network)
    before = {
        name: value for name, value in tiny.weights(network).items() if name.startswith("encoder")
    }
    x, y = trainer.head_features(inputs, answers)
    assert len(x) == len(y) == (sum(map(len, answers)) if words else 120)
    assert linear_start(trainer, inputs, answers, seed=1)["rows"] == len(x)
    layer, _ = fit(x, y, kind, 3, STRENGTH * len(x))
    assert isinstance(network.head.linear, StandardisedLinear)
    assert torch.equal(network.head.linear.weight, layer.weight)
    assert torch.equal(network.head.linear.bias, layer.bias)
    after = tiny.weights(network)
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert tiny.accuracy(trainer, inputs) > 0.5  # of three classes
    _, scores = trainer.predict(inputs)
    end_linear_start(network.head)
    assert type(network.head.linear) is torch.nn.Linear
    _, plain = trainer.predict(inputs)
    for one, two in zip(scores, plain, strict=True):
        assert one == pytest.approx(two, abs=1e-4)
