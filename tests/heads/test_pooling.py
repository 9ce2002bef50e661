"""How the vectors of an input become one."""

import math

import pytest
import torch
from scipy.spatial.distance import cosine
from torch import Tensor

from blurb.heads import poolings

SIZES = (4, 2, 1)


@pytest.fixture
def hidden() -> Tensor:
    """Three inputs of 4, 2 and 1 sub-tokens; padding is huge, so that it shows where it counts."""
    torch.manual_seed(0)
    values = torch.randn(3, 4, 5)
    for row, size in enumerate(SIZES):
        values[row, size:] = 1e6
    return values


@pytest.fixture
def mask() -> Tensor:
    return (torch.arange(4) < torch.tensor(SIZES)[:, None]).long()


def test_mean_leaves_padding_out(hidden: Tensor, mask: Tensor) -> None:
    found = poolings.get("mean")(5, None)(hidden, mask, None)
    expected = torch.stack([hidden[row, :size].mean(0) for row, size in enumerate(SIZES)])
    assert torch.allclose(found, expected, atol=1e-6)


def test_the_mean_of_nothing_is_a_number(hidden: Tensor) -> None:
    assert torch.isfinite(
        poolings.get("mean")(5, None)(hidden, torch.zeros(3, 4, dtype=torch.int64), None)
    ).all()


def test_cls_at_the_end_is_the_last_sub_token_before_the_padding(
    hidden: Tensor, mask: Tensor
) -> None:
    assert torch.equal(
        poolings.get("cls")(5, -1)(hidden, mask, None),
        torch.stack([hidden[row, size - 1] for row, size in enumerate(SIZES)]),
    )


def test_cls_pooler_takes_the_pooler_where_there_is_one(hidden: Tensor, mask: Tensor) -> None:
    pooled = torch.randn(3, 5)
    cls = poolings.get("cls-pooler")(5, 0)
    assert cls.uses_pooler
    assert torch.equal(cls(hidden, mask, pooled), pooled)
    assert torch.equal(cls(hidden, mask, None), hidden[:, 0])


def test_cls_never_takes_the_pooler(hidden: Tensor, mask: Tensor) -> None:
    raw = poolings.get("cls")(5, 0)
    assert not raw.uses_pooler
    assert torch.equal(raw(hidden, mask, torch.zeros(3, 5)), hidden[:, 0])


def test_which_poolings_need_a_classification_token() -> None:
    assert {name: poolings.get(name).needs_cls for name in ("cls", "cls-pooler", "mean")} == {
        "cls": True,
        "cls-pooler": True,
        "mean": False,
    }


def attention_by_hand(name: str, pooling: torch.nn.Module, vectors: Tensor) -> Tensor:
    """Sub-token by sub-token: the score of each, the exponentials, the weighted sum."""
    mean = sum(vectors) / len(vectors)
    scores = []
    for vector in vectors:
        if name == "attention":
            inner = [
                torch.tanh(row @ vector + b)
                for row, b in zip(pooling.inner.weight, pooling.inner.bias, strict=True)
            ]
            scores.append(
                float(sum(v * x for v, x in zip(pooling.score.weight[0], inner, strict=True)))
            )
        else:
            asked = (
                mean
                if name == "attention-dot"
                else torch.stack([row @ mean for row in pooling.inner.weight])
            )
            scores.append(float(asked @ vector) / math.sqrt(len(vector)))
    shares = [math.exp(score) for score in scores]
    return sum(share / sum(shares) * vector for share, vector in zip(shares, vectors, strict=True))


ATTENTIONS = ("attention", "attention-dot", "attention-general")


@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention_is_the_formula_of_its_paper(name: str, hidden: Tensor, mask: Tensor) -> None:
    torch.manual_seed(1)
    pooling = poolings.get(name)(5, None)
    with torch.no_grad():
        found = pooling(hidden, mask)
        for row, size in enumerate(SIZES):
            assert torch.allclose(
                found[row], attention_by_hand(name, pooling, hidden[row, :size]), atol=1e-5
            )


@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention_does_not_hang_on_the_order(name: str, hidden: Tensor, mask: Tensor) -> None:
    pooling = poolings.get(name)(5, None)
    order = torch.tensor([2, 0, 3, 1])
    assert torch.allclose(
        pooling(hidden[:1], mask[:1]), pooling(hidden[:1, order], mask[:1]), atol=1e-5
    )
    assert torch.isfinite(pooling(hidden, torch.zeros_like(mask))).all()


def test_which_attentions_learn() -> None:
    assert {
        name: sum(one.numel() for one in poolings.get(name)(5, None).parameters())
        for name in ATTENTIONS
    } == {"attention": 25 + 5 + 5, "attention-dot": 0, "attention-general": 25}


# Mentions, entity starts and attention against loops over rows and places.


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
