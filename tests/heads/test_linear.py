"""The linear head. Oracles: torch's own losses on logits computed by hand."""

import copy
import dataclasses

import pytest
import torch
from torch import Tensor
from torch.nn import functional

import blurb.heads
from blurb.heads import heads
from blurb.heads._base import Head, OutputKind, Problem
from blurb.messages.errors import SettingsError, UnknownName

LABELS = ("a", "b", "c")


def _head(kind: OutputKind, dropout: float = 0.0) -> Head:
    torch.manual_seed(0)
    return heads.get("linear")(
        4, Problem(kind, LABELS if kind != "regression" else ("score",)), dropout
    )


def _logits(head: Head, features: Tensor) -> Tensor:
    """By hand: the one matrix and the one vector of the head."""
    matrix, bias = head.state_dict()["linear.weight"], head.state_dict()["linear.bias"]
    return torch.einsum("...s,ls->...l", features, matrix) + bias


@pytest.fixture
def features() -> Tensor:
    torch.manual_seed(1)
    return torch.randn(5, 4) * 30


@pytest.fixture
def words() -> tuple[Tensor, Tensor, Tensor]:
    """Features of two sentences of three and one words, their tags, and the mask."""
    torch.manual_seed(1)
    mask = torch.tensor([[True, True, True], [True, False, False]])
    return torch.randn(2, 3, 4) * 30, torch.tensor([[0, 2, 1], [1, 0, 0]]), mask


def test_single(features: Tensor) -> None:
    head, targets = _head("single"), torch.tensor([0, 1, 2, 2, 0])
    logits = _logits(head, features)
    expected = -sum(torch.log_softmax(logits[i], 0)[targets[i]] for i in range(5))
    assert head.loss(features, targets, None).item() == pytest.approx(float(expected), rel=1e-5)
    classes, scores = head.predict(features, None)
    assert classes.tolist() == logits.argmax(-1).tolist()
    assert torch.allclose(scores, logits.softmax(-1), atol=1e-6)


def test_multi(features: Tensor) -> None:
    head, targets = _head("multi"), (torch.arange(15).view(5, 3) % 2).float()
    p = _logits(head, features).sigmoid()
    expected = -(targets * p.log() + (1 - targets) * (1 - p).log()).sum()
    assert head.loss(features, targets, None).item() == pytest.approx(expected.item(), rel=1e-4)
    chosen, scores = head.predict(features, None)
    assert chosen.tolist() == (p > 0.5).long().tolist()
    assert 0 < chosen.sum() < 15
    assert torch.allclose(scores, p, atol=1e-6)


def test_regression(features: Tensor) -> None:
    head, targets = _head("regression"), torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0])
    values = _logits(head, features).squeeze(-1)
    assert head.loss(features, targets, None).item() == pytest.approx(
        ((values - targets) ** 2).sum().item(), rel=1e-5
    )
    predicted, scores = head.predict(features, None)
    assert predicted.shape == (5,)
    assert torch.allclose(predicted, values)
    assert torch.equal(predicted, scores)


def test_tokens_count_words_only(words: tuple[Tensor, Tensor, Tensor]) -> None:
    head, (features, targets, mask) = _head("tokens"), words
    logits = _logits(head, features)
    expected = functional.cross_entropy(
        torch.stack([logits[0, 0], logits[0, 1], logits[0, 2], logits[1, 0]]),
        torch.tensor([0, 2, 1, 1]),
        reduction="sum",
    )
    assert head.loss(features, targets, mask).item() == pytest.approx(expected.item(), rel=1e-5)
    padded = features.clone()
    padded[1, 1:] = 1e4
    assert head.loss(padded, targets, mask).item() == head.loss(features, targets, mask).item()
    tags, confidence = head.predict(features, mask)
    assert tags.tolist() == logits.argmax(-1).tolist()
    assert torch.allclose(confidence, logits.softmax(-1))


def test_sentences_without_words_have_a_loss_of_zero() -> None:
    loss = _head("tokens").loss(
        torch.randn(2, 1, 4),
        torch.zeros(2, 1, dtype=torch.int64),
        torch.zeros(2, 1, dtype=torch.bool),
    )
    assert loss.item() == 0.0
    loss.backward()


def test_terms_are_what_the_loss_adds_up(words: tuple[Tensor, Tensor, Tensor]) -> None:
    _, targets, mask = words
    assert _head("tokens").num_targets(targets, mask) == 4
    assert _head("single").num_targets(torch.zeros(7), None) == 7
    assert _head("multi").num_targets(torch.zeros(7, 3), None) == 21
    assert _head("regression").num_targets(torch.zeros(7), None) == 7


@pytest.mark.parametrize("kind", ["tokens", "single", "multi", "regression"])
def test_dropout_is_for_training_only(kind: OutputKind) -> None:
    head, features = _head(kind, 0.5), torch.ones(2, 3, 4) if kind == "tokens" else torch.ones(6, 4)
    mask = torch.ones(2, 3, dtype=torch.bool) if kind == "tokens" else None
    head.eval()
    assert torch.equal(head.predict(features, mask)[1], head.predict(features, mask)[1])
    head.train()
    torch.manual_seed(0)
    assert not torch.equal(head.predict(features, mask)[1], head.predict(features, mask)[1])


def test_heads_start_as_those_of_bert() -> None:
    torch.manual_seed(0)
    head = heads.get("linear")(4_000, Problem("single", LABELS), 0.1)
    assert head.state_dict()["linear.weight"].std().item() == pytest.approx(0.02, rel=0.05)
    assert head.state_dict()["linear.bias"].tolist() == [0.0, 0.0, 0.0]


def test_the_shipped_heads_are_found_and_a_slip_is_understood() -> None:
    assert "linear" in heads.names()
    with pytest.raises(UnknownName, match=r"no head called 'liner'. Did you mean 'linear'"):
        heads.get("liner")


# What the author of a head imports is what the documents and the errors name, and costs nothing until it is used.


def test_the_contracts_can_be_imported_from_the_room() -> None:
    from blurb.heads import Head, Pooling, Problem, heads, poolings

    assert issubclass(heads.get("linear"), Head)
    assert issubclass(poolings.get("mean"), Pooling)
    assert dataclasses.is_dataclass(Problem)
    assert all(hasattr(blurb.heads, name) for name in blurb.heads.__all__)
    assert not hasattr(blurb.heads, "Hed")


def test_heads_for_tags_alone_are_those_whose_classes_say_so() -> None:
    declared = {name: blurb.heads.heads.get(name).kinds for name in blurb.heads.heads.built_in}
    assert {name for name, kinds in declared.items() if kinds == ("tokens",)} == set(
        blurb.heads.OF_TAGS
    )


def test_an_error_names_a_class_that_can_be_imported() -> None:
    with pytest.raises(
        SettingsError, match=r"fractions:Fraction is .* not a class below blurb.heads.Head"
    ) as caught:
        blurb.heads.heads.load("fractions:Fraction")
    room, _, name = str(caught.value).rstrip(".").split()[-1].rpartition(".")
    namespace: dict[str, object] = {}
    exec(f"from {room} import {name}", namespace)
    assert name in namespace


# Losses over all places with the padding masked. Oracle: the words alone, chosen by their mask, as it was before.


TAGS = ("O", "B", "I")


def batch(seed: int, empty: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Features (6, 9, 16), tags and mask; one sentence without words where `empty`."""
    draw = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 10, (6,), generator=draw)
    lengths[0] = 9
    if empty:
        lengths[3] = 0
    mask = torch.arange(9) < lengths.unsqueeze(1)
    tags = torch.randint(0, 2, (6, 9), generator=draw)  # no I, so that every path obeys the scheme
    return torch.randn(6, 9, 16, generator=draw), tags, mask


def gradients(head: torch.nn.Module, loss: Tensor) -> list[Tensor]:
    head.zero_grad()
    loss.backward()
    return [parameter.grad.clone() for parameter in head.parameters() if parameter.grad is not None]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("empty", [False, True])
def test_linear(seed: int, empty: bool) -> None:
    features, tags, mask = batch(seed, empty)
    head = heads.get("linear")(16, Problem("tokens", TAGS, "bio"), 0.0)
    before = functional.cross_entropy(head(features)[mask], tags[mask], reduction="sum")
    assert head.loss(features, tags, mask).item() == pytest.approx(before.item(), rel=1e-6)
    pairs = zip(
        gradients(head, before), gradients(head, head.loss(features, tags, mask)), strict=True
    )
    assert all(torch.equal(one, other) for one, other in pairs)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("empty", [False, True])
def test_crf(seed: int, empty: bool) -> None:
    features, tags, mask = batch(seed, empty)
    head = heads.get("crf")(16, Problem("tokens", TAGS, "bio"), 0.0)
    other = copy.deepcopy(head)
    rows = mask[:, 0]
    before = -other.chain.log_likelihood(other(features, mask)[rows], tags[rows], mask[rows]).sum()
    after = head.loss(features, tags, mask)
    assert after.item() == pytest.approx(before.item(), rel=1e-6)
    pairs = list(zip(gradients(other, before), gradients(head, after), strict=True))
    if empty:  # sums over a batch of another size
        assert all(torch.allclose(one, two, rtol=1e-5, atol=1e-6) for one, two in pairs)
    else:
        assert all(torch.equal(one, two) for one, two in pairs)
    best, confidence = head.eval().predict(features, mask)
    assert (best[~mask] == 0).all()
    assert (confidence[~mask] == 0).all()
    assert torch.equal(best[rows], other.chain.decode(other(features, mask)[rows], mask[rows]))
