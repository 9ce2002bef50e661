"""Mentions, entity starts and attention against loops over rows and places."""

from __future__ import annotations

import pytest
import torch
from scipy.spatial.distance import cosine

from blurb.heads import poolings

SIZE, CLS = 5, 0


@pytest.fixture
def batch() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Hidden states, mask and entities; the mentions of the second row overlap, its padding is large."""
    hidden = torch.randn(2, 7, SIZE, generator=torch.Generator().manual_seed(1))
    mask = torch.tensor([[1] * 7, [1] * 5 + [0] * 2])
    hidden[1, 5:] = 1e4
    return hidden, mask, torch.tensor([[[1, 3], [5, 6]], [[1, 4], [2, 5]]])


@pytest.mark.parametrize(
    ("name", "pool"),
    [("mention", lambda part: part.max(0).values), ("mention-mean", lambda part: part.mean(0))],
)
def test_mentions(name: str, pool, batch: tuple[torch.Tensor, ...]) -> None:  # type: ignore[no-untyped-def]
    hidden, mask, entities = batch
    pooling = poolings.get(name)(SIZE, CLS)
    assert pooling.size == 2 * SIZE
    expected = [
        torch.cat([pool(row[start:end]) for start, end in spans.tolist()])
        for row, spans in zip(hidden, entities, strict=True)
    ]
    torch.testing.assert_close(pooling(hidden, mask, entities=entities), torch.stack(expected))


def test_entity_start(batch: tuple[torch.Tensor, ...]) -> None:
    hidden, mask, entities = batch
    found = poolings.get("entity-start")(SIZE, CLS)(hidden, mask, entities=entities)
    expected = torch.stack(
        [torch.cat([hidden[0, 1], hidden[0, 5]]), torch.cat([hidden[1, 1], hidden[1, 2]])]
    )
    torch.testing.assert_close(found, expected)


def test_attention_weighs_what_is_there(batch: tuple[torch.Tensor, ...]) -> None:
    hidden, mask, _ = batch
    pooling = poolings.get("attention")(SIZE, CLS)
    row = hidden[1, :5]
    weights = (
        torch.tanh(row @ pooling.inner.weight.T + pooling.inner.bias) @ pooling.score.weight[0]
    ).softmax(0)
    torch.testing.assert_close(pooling(hidden, mask)[1], weights @ row)


@pytest.mark.parametrize("cls", [0, -1])
def test_parts_are_concatenated(cls: int, batch: tuple[torch.Tensor, ...]) -> None:
    hidden, mask, entities = batch
    parts = [poolings.get(name)(SIZE, cls) for name in ("cls", "mean", "mention-mean")]
    expected = [part(hidden, mask, entities=entities) for part in parts]
    for name, count in (("cls-mean", 2), ("cls-mean-mentions", 3)):
        pooling = poolings.get(name)(SIZE, cls)
        whole = torch.cat(expected[:count], 1)
        assert pooling.size == whole.shape[1]
        torch.testing.assert_close(pooling(hidden, mask, entities=entities), whole)


def test_cosine_is_that_of_the_averages(batch: tuple[torch.Tensor, ...]) -> None:
    hidden, mask, places = batch
    pooling = poolings.get("cosine")(SIZE, None)
    assert pooling.size == 1
    averages = [
        [row[start:end].mean(0).numpy() for start, end in spans]
        for row, spans in zip(hidden, places.tolist(), strict=True)
    ]
    expected = [[1 - cosine(first, second)] for first, second in averages]
    torch.testing.assert_close(
        pooling(hidden, mask, entities=places), torch.tensor(expected, dtype=torch.float32)
    )
