"""The linear chain. Oracles: all paths one by one, pytorch-crf, finite differences in float64."""

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torchcrf import CRF

from blurb.heads.linear_chain_crf import model
from blurb.heads.linear_chain_crf.model import Chain
from blurb.heads.linear_chain_crf.partition import prefers_tree, sequential, tree
from blurb.inputs.tagging import tagging_rules

ALGORITHMS = {"sequential": sequential, "tree": tree}
BIO = ("O", "B-X", "I-X")


@pytest.fixture(params=sorted(ALGORITHMS))
def algorithm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either algorithm, whatever the size."""
    monkeypatch.setattr(model, "log_partition", ALGORITHMS[request.param])


def _chain(tags: int, seed: int, **options: Any) -> Chain:
    torch.manual_seed(seed)
    chain = Chain(tags, **options)
    for parameter in chain.parameters():
        torch.nn.init.normal_(parameter)
    return chain


def _case(seed: int, most: int = 12) -> tuple[Tensor, Tensor, Tensor]:
    """Emissions, tags and mask of ragged sequences; the padding is NaN and out of range."""
    rng = np.random.default_rng(seed)
    batch, words, tags = rng.integers(1, 6), rng.integers(1, most), rng.integers(1, 6)
    lengths = torch.from_numpy(rng.integers(1, words + 1, size=batch))
    mask = torch.arange(words) < lengths[:, None]
    emissions = torch.from_numpy(rng.normal(size=(batch, words, tags)) * 3).float()
    gold = torch.from_numpy(rng.integers(0, tags, size=(batch, words)))
    return emissions.masked_fill(~mask[..., None], math.nan), gold.masked_fill(~mask, -100), mask


def _all_paths(
    chain: Chain, emissions: Tensor, allowed: Any = None
) -> dict[tuple[int, ...], float]:
    """Score of every (allowed) path of one sequence (words, tags)."""
    start_transitions, transitions, end_transitions = (
        value.tolist()
        for value in (chain.start_transitions, chain.transitions, chain.end_transitions)
    )
    scores = emissions.tolist()
    found = {}
    for path in itertools.product(range(len(start_transitions)), repeat=len(scores)):
        pairs = list(itertools.pairwise(path))
        if allowed is not None and not (
            allowed.start_transitions[path[0]]
            and allowed.end_transitions[path[-1]]
            and all(allowed.transitions[a, b] for a, b in pairs)
        ):
            continue
        found[path] = (
            start_transitions[path[0]]
            + end_transitions[path[-1]]
            + sum(row[tag] for row, tag in zip(scores, path, strict=True))
            + sum(transitions[a][b] for a, b in pairs)
        )
    return found


def _log_sum(values: Any) -> float:
    return math.log(math.fsum(math.exp(value) for value in values))


@pytest.mark.usefixtures("algorithm")
@pytest.mark.parametrize("seed", range(30))
def test_all_paths_one_by_one(seed: int) -> None:
    emissions, gold, mask = _case(seed, most=6)
    chain = _chain(emissions.shape[-1], seed)
    found = chain.log_likelihood(emissions, gold, mask)
    best, shares = chain.decode(emissions, mask), chain.marginals(emissions, mask)
    for row, length in enumerate(mask.sum(1).tolist()):
        paths = _all_paths(chain, emissions[row, :length])
        total = _log_sum(paths.values())
        assert found[row].item() == pytest.approx(
            paths[tuple(gold[row, :length].tolist())] - total, abs=1e-4
        )
        assert paths[tuple(best[row, :length].tolist())] == pytest.approx(
            max(paths.values()), abs=1e-4
        )
        assert best[row, length:].tolist() == [0] * (mask.shape[1] - length)
        for word, tag in itertools.product(range(length), range(emissions.shape[-1])):
            expected = math.fsum(
                math.exp(score - total) for path, score in paths.items() if path[word] == tag
            )
            assert shares[row, word, tag].item() == pytest.approx(expected, abs=1e-4)
        assert not shares[row, length:].any()


@pytest.mark.parametrize("labels", [BIO, ("O", "B-X", "I-X", "B-Y", "I-Y")])
@pytest.mark.parametrize("seed", range(20))
def test_rules_are_obeyed_in_decoding_and_marginals(labels: tuple[str, ...], seed: int) -> None:
    allowed = tagging_rules(labels, "bio")
    chain = _chain(len(labels), seed, rules=allowed)
    emissions = torch.randn(3, 5, len(labels)) * 5
    mask = torch.arange(5) < torch.tensor([5, 1, 4])[:, None]
    best, shares = chain.decode(emissions, mask), chain.marginals(emissions, mask)
    for row, length in enumerate((5, 1, 4)):
        paths = _all_paths(chain, emissions[row, :length], allowed)
        assert paths[tuple(best[row, :length].tolist())] == pytest.approx(
            max(paths.values()), abs=1e-4
        )
        total = _log_sum(paths.values())
        first = math.fsum(math.exp(score - total) for path, score in paths.items() if path[0] == 0)
        assert shares[row, 0, 0].item() == pytest.approx(first, abs=1e-4)
        assert shares[row, 0, 2].item() == 0.0  # I-X cannot be first


@pytest.mark.parametrize("scheme", ["bio", "bioul"])
@pytest.mark.parametrize("edges", list(itertools.product((False, True), repeat=2)))
def test_a_window_may_begin_and_end_inside_of_an_entity(
    scheme: str, edges: tuple[bool, bool]
) -> None:
    """Oracle: all paths that obey the rules between words, and at an edge only where the sentence ends there."""
    labels = ("O", "B-X", "I-X", *(("L-X", "U-X") if scheme == "bioul" else ()))
    allowed = tagging_rules(labels, scheme)
    at_edges = SimpleNamespace(
        transitions=allowed.transitions,
        start_transitions=allowed.start_transitions | edges[0],
        end_transitions=allowed.end_transitions | edges[1],
    )
    for seed in range(8):
        chain = _chain(len(labels), seed, rules=allowed)
        emissions = torch.randn(3, 4, len(labels)) * 5 - (2e4 if seed % 2 else 0)
        mask = torch.arange(4) < torch.tensor([4, 1, 3])[:, None]
        inside = torch.tensor([edges, edges, (False, False)])
        best, shares = (
            chain.decode(emissions, mask, inside),
            chain.marginals(emissions, mask, inside),
        )
        for row, (length, own) in enumerate(((4, at_edges), (1, at_edges), (3, allowed))):
            paths = _all_paths(chain, emissions[row, :length], own)
            assert paths[tuple(best[row, :length].tolist())] == pytest.approx(
                max(paths.values()), abs=1e-2
            )
            highest = max(paths.values())
            paths = {path: score - highest for path, score in paths.items()}
            total = _log_sum(paths.values())
            for word, tag in itertools.product(range(length), range(len(labels))):
                share = math.fsum(
                    math.exp(score - total) for path, score in paths.items() if path[word] == tag
                )
                assert shares[row, word, tag].item() == pytest.approx(share, abs=2e-3)


@pytest.mark.usefixtures("algorithm")
def test_constrained_training_gives_no_weight_to_forbidden_transitions() -> None:
    allowed = tagging_rules(BIO, "bio")
    inner = SimpleNamespace(
        start_transitions=np.ones(3, bool),
        end_transitions=np.ones(3, bool),
        transitions=allowed.transitions,
    )
    chain = _chain(3, 0, rules=allowed, constrained=True)
    emissions = torch.randn(1, 6, 3, requires_grad=True)
    # A window may start inside
    gold, mask = (torch.tensor([[2, 2, 0, 1, 2, 0]]), torch.ones(1, 6, dtype=torch.bool))
    paths = _all_paths(chain, emissions[0], inner)
    found = chain.log_likelihood(emissions, gold, mask)
    assert found.item() == pytest.approx(
        paths[tuple(gold[0].tolist())] - _log_sum(paths.values()), abs=1e-4
    )
    found.sum().backward()
    assert chain.transitions.grad[0, 2] == 0.0
    assert all(
        parameter.grad is not None and parameter.grad.isfinite().all()
        for parameter in chain.parameters()
    )
    broken = torch.tensor([[0, 2, 0, 0, 0, 0]])
    with pytest.raises(ValueError, match=r"tags of sequence 0 violate the tagging scheme.*\[0, 2"):
        chain.log_likelihood(emissions, broken, mask)
    with pytest.raises(ValueError, match="tags of sequence 0 violate"):
        chain.check_tags(broken, mask)  # as the loop asks on the CPU
    # Padding
    chain.check_tags(torch.tensor([[0, 2, 77, -1, 0, 0]]), torch.arange(6).view(1, 6) < 1)


@pytest.mark.usefixtures("algorithm")
@pytest.mark.parametrize("seed", range(30))
def test_pytorch_crf(seed: int) -> None:
    emissions, gold, mask = _case(seed)
    chain, theirs = _chain(emissions.shape[-1], seed), CRF(emissions.shape[-1], batch_first=True)
    pairs = (
        (chain.start_transitions, theirs.start_transitions),
        (chain.transitions, theirs.transitions),
        (chain.end_transitions, theirs.end_transitions),
    )
    for one, other in pairs:
        other.data.copy_(one.data)
    ours = emissions.clone().requires_grad_()
    clean = emissions.nan_to_num(0.0).requires_grad_()
    likelihood = chain.log_likelihood(ours, gold, mask)
    expected = theirs(clean, gold.clamp(min=0), mask=mask, reduction="none")
    assert torch.allclose(likelihood, expected, atol=1e-3)
    weights = torch.rand(len(mask))
    (likelihood * weights).sum().backward()
    (expected * weights).sum().backward()
    assert torch.allclose(ours.grad, clean.grad, atol=1e-4)
    for one, other in pairs:
        # One word has no transitions
        wanted = torch.zeros_like(one) if other.grad is None else other.grad
        assert torch.allclose(one.grad, wanted, atol=1e-3)
    assert [
        row[real].tolist() for row, real in zip(chain.decode(emissions, mask), mask, strict=True)
    ] == theirs.decode(clean, mask)


@pytest.mark.usefixtures("algorithm")
@pytest.mark.parametrize("words", [1, 2, 3, 8, 9])
@pytest.mark.parametrize("constrained", [False, True])
def test_gradients_by_finite_differences(words: int, constrained: bool) -> None:
    chain = _chain(3, words, rules=tagging_rules(BIO, "bio"), constrained=constrained).double()
    mask = torch.arange(words) < torch.tensor([words, max(1, words // 2)])[:, None]
    gold = torch.zeros(2, words, dtype=torch.int64)
    emissions = torch.randn(2, words, 3, dtype=torch.float64, requires_grad=True)
    names = [name for name, _ in chain.named_parameters()]

    def likelihood(scores: Tensor, *values: Tensor) -> Tensor:
        return torch.func.functional_call(
            _Likelihood(chain),
            {f"chain.{name}": value for name, value in zip(names, values, strict=True)},
            (scores, gold, mask),
        )

    assert torch.autograd.gradcheck(likelihood, (emissions, *chain.parameters()))


class _Likelihood(torch.nn.Module):
    def __init__(self, chain: Chain) -> None:
        super().__init__()
        self.chain = chain

    def forward(self, *values: Tensor) -> Tensor:
        return self.chain.log_likelihood(*values)


def test_long_inputs_keep_their_digits() -> None:
    chain, emissions = _chain(5, 0), torch.randn(2, 512, 5) * 20 + 300
    gold, mask = torch.zeros(2, 512, dtype=torch.int64), torch.ones(2, 512, dtype=torch.bool)
    exact = _chain(5, 0).double().log_likelihood(emissions.double(), gold, mask)
    assert torch.allclose(chain.log_likelihood(emissions, gold, mask).double(), exact, rtol=1e-5)


def test_float32_whatever_the_surroundings() -> None:
    chain, emissions = _chain(3, 0), torch.randn(2, 9, 3)
    gold, mask = torch.zeros(2, 9, dtype=torch.int64), torch.ones(2, 9, dtype=torch.bool)
    expected = chain.log_likelihood(emissions, gold, mask)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(chain.log_likelihood(emissions, gold, mask), expected)
    assert chain.log_likelihood(emissions.bfloat16(), gold, mask).dtype == torch.float32


def test_few_tags_and_long_inputs_take_the_tree() -> None:
    assert prefers_tree(32, 128, 3, "cpu")
    assert not prefers_tree(32, 128, 11, "cpu")
    assert not prefers_tree(32, 8, 3, "cpu")


def _with(values: Tensor, place: Any, value: float) -> Tensor:
    changed = values.clone()
    changed[place] = value
    return changed


EMISSIONS, TAGS = torch.zeros(2, 4, 3), torch.zeros(2, 4, dtype=torch.int64)
MASK = torch.ones(2, 4).bool()


@pytest.mark.parametrize(
    ("emissions", "tags", "mask", "message"),
    [
        pytest.param(
            EMISSIONS,
            TAGS,
            _with(MASK, (1, 2), False),
            r"gap before \[sequence, word\] \[1, 3\]: emissions \(2, 4, 3\), mask \(2, 4\)",
            id="hole",
        ),
        pytest.param(
            EMISSIONS,
            _with(TAGS, (1, 3), 3),
            MASK,
            r"tag at \[sequence, word\] \[1, 3\] is not in 0\.\.2.*tags \(2, 4\)",
            id="tag",
        ),
        pytest.param(
            EMISSIONS, TAGS, _with(MASK, 1, False), r"sequence \[1\] is empty", id="empty"
        ),
        pytest.param(
            EMISSIONS[:, :0],
            TAGS[:, :0],
            MASK[:, :0],
            r"empty.*emissions \(2, 0, 3\)",
            id="no words",
        ),
        pytest.param(
            _with(EMISSIONS, (0, 2, 1), math.nan),
            TAGS,
            MASK,
            r"not finite at \[sequence, word, tag\] \[0, 2, 1\]",
            id="nan",
        ),
        pytest.param(
            EMISSIONS, TAGS, MASK[:, :3], r"emissions \(2, 4, 3\), mask \(2, 3\)", id="shape"
        ),
        pytest.param(
            EMISSIONS, TAGS, MASK.long(), r"must be torch\.bool \(got torch\.int64", id="dtype"
        ),
    ],
)
def test_bad_input_is_refused_with_its_place(
    emissions: Tensor, tags: Tensor, mask: Tensor, message: str
) -> None:
    chain = Chain(3)
    with pytest.raises(ValueError, match=message):
        chain.log_likelihood(emissions, tags, mask)
    if not tags.any():
        for method in (chain.decode, chain.marginals):
            with pytest.raises(ValueError, match=r"mask \("):
                method(emissions, mask)


def test_rules_that_allow_nothing_are_told() -> None:
    with pytest.raises(ValueError, match="allow no tag sequence for sequence 0 with 1 words"):
        Chain(2, tagging_rules(("B-X", "L-X"), "bioul")).decode(
            torch.zeros(1, 1, 2), torch.ones(1, 1).bool()
        )
    with pytest.raises(ValueError, match=r"rules have shape \(3,\) for start_transitions"):
        Chain(2, tagging_rules(BIO, "bio"))
