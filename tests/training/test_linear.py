"""Regularised linear fits. Oracles: scikit-learn, and neighbours written out."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier

from blurb.heads._base import OutputKind
from blurb.training.linear import Design, Fit, feature_moments, solve_linear

ROWS, SIZE = 300, 10


def data(kind: OutputKind) -> tuple[torch.Tensor, torch.Tensor]:
    """Standardised features that are far from independent, and answers that follow from them with noise."""
    random = np.random.default_rng(0)
    x = random.normal(size=(ROWS, SIZE)) @ random.normal(size=(SIZE, SIZE)) + 5
    z = (x - x.mean(0)) / x.std(0)
    logits = z @ random.normal(size=(SIZE, 3)) + 2 * random.normal(size=(ROWS, 3))
    answers = {
        "single": logits.argmax(1),
        "tokens": logits.argmax(1),
        "multi": (logits > 1).astype(int),
        "regression": logits[:, 0],
    }[kind]
    return torch.tensor(z, dtype=torch.float32), torch.tensor(answers)


def centred(kind: OutputKind, scores: np.ndarray) -> np.ndarray:
    """Scores of classes are known up to what all have in common."""
    return scores - scores.mean(1, keepdims=True) if kind in ("single", "tokens") else scores


def oracle(kind: OutputKind, x: np.ndarray, y: np.ndarray, strength: float) -> np.ndarray:
    if kind == "regression":
        return np.asarray(Ridge(alpha=strength).fit(x, y).predict(x))[:, None]
    model = LogisticRegression(C=1 / strength, max_iter=10_000, tol=1e-10)
    chosen = OneVsRestClassifier(model) if kind == "multi" else model
    return np.asarray(chosen.fit(x, y).decision_function(x))


@pytest.mark.parametrize("strength", [1.0, 10.0, 1000.0])
@pytest.mark.parametrize("kind", ["single", "multi", "regression"])
def test_it_is_scikit_learns(kind: OutputKind, strength: float) -> None:
    z, y = data(kind)
    found = (
        solve_linear(Design(z), y, kind, 1 if kind == "regression" else 3, strength)
        .scores(Design(z))
        .numpy()
    )
    expected = oracle(kind, z.numpy(), y.numpy(), strength)
    assert centred(kind, found) == pytest.approx(centred(kind, expected), abs=2e-2)


def sentences() -> tuple[torch.Tensor, torch.Tensor, np.ndarray]:
    """Words of sentences of one word and more, with the three words of each written out side by side."""
    z, y = data("tokens")
    units = np.sort(np.random.default_rng(1).integers(0, 60, ROWS))
    wide = np.zeros((ROWS, 3 * SIZE), dtype=np.float32)
    for row in range(ROWS):
        for place, other in enumerate((row - 1, row, row + 1)):
            if 0 <= other < ROWS and units[other] == units[row]:
                wide[row, place * SIZE : (place + 1) * SIZE] = z[other]
    return z, y, wide


def neighbours(wide: np.ndarray) -> torch.Tensor:
    return torch.tensor((wide[1:, :SIZE] != 0).any(1).astype(np.float32)).unsqueeze(1)


def test_a_word_is_read_with_the_words_beside_it() -> None:
    z, y, wide = sentences()
    rows = Design(z, neighbours(wide))
    assert rows.width == 3 * SIZE
    weight = torch.randn(4, rows.width, generator=torch.Generator().manual_seed(0))
    assert rows.scores(weight).numpy() == pytest.approx(wide @ weight.numpy().T, abs=1e-4)
    found = solve_linear(rows, y, "tokens", 3, 10.0).scores(rows).numpy()
    expected = oracle("tokens", wide, y.numpy(), 10.0)
    assert centred("tokens", found) == pytest.approx(centred("tokens", expected), abs=2e-2)


def test_rows_that_are_taken_keep_their_neighbours() -> None:
    z, _, wide = sentences()
    rows = Design(z, neighbours(wide))
    units = np.concatenate([[0], np.cumsum(rows.same.numpy().ravel() == 0)])
    kept = torch.from_numpy(units % 3 != 1)  # whole sentences
    weight = torch.randn(2, rows.width, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(rows.take(kept).scores(weight), rows.scores(weight)[kept], atol=1e-5)


@pytest.mark.parametrize("kind", ["single", "multi"])
def test_where_it_begins_decides_nothing(kind: OutputKind) -> None:
    z, y = data(kind)
    rows = Design(z)
    cold = solve_linear(rows, y, kind, 3, 3.0)
    other = solve_linear(rows, y, kind, 3, 300.0)
    for again in (
        solve_linear(rows, y, kind, 3, 3.0, start=other),
        solve_linear(rows, y, kind, 3, 3.0, near=1e-10),
    ):
        assert again.loss == pytest.approx(cold.loss, abs=1e-5)
        assert again.scores(rows).numpy() == pytest.approx(cold.scores(rows).numpy(), abs=3e-2)
    assert other.loss > cold.loss


def test_it_is_the_least_of_the_loss() -> None:
    z, y = data("single")
    rows = Design(z)
    best = solve_linear(rows, y, "single", 3, 5.0)

    def loss(fit: Fit) -> float:
        total = torch.nn.functional.cross_entropy(fit.scores(rows), y, reduction="sum")
        return float((total + 2.5 * (fit.weight**2).sum()) / ROWS)

    assert best.loss == pytest.approx(loss(best), abs=1e-6)
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        step = 0.05 * torch.randn(best.weight.shape, generator=generator)
        assert loss(Fit(best.weight + step, best.bias, 0.0)) > best.loss


def test_a_feature_that_never_changes_divides_by_no_zero() -> None:
    mean, sd = feature_moments(torch.tensor([[1.0, 2.0], [1.0, 4.0]]))
    assert mean.tolist() == [1.0, 3.0]
    assert sd.tolist() == pytest.approx([1e-6, 1.0])
