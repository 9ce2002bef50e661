"""The dropout of CPUs. Oracles: counts, torch's attention, and a plain attention that uses the same mask."""

import pytest
import torch
from torch import Tensor, nn

from blurb.training.dropout import ATTENTION, CpuDropout, attention, dropout, masks, use_cpu_dropout
from tests.training import tiny


@pytest.mark.parametrize("p", [0.0, 0.1, 0.3, 0.5, 0.9])
def test_elements_are_dropped_with_the_probability_asked_for(p: float) -> None:
    torch.manual_seed(0)
    mask = masks(1_000_001, p)
    assert mask.dtype == torch.int16
    assert set(mask.unique().tolist()) <= {0, -1}
    assert (mask == 0).float().mean().item() == pytest.approx(p, abs=0.002)


def test_neighbours_are_dropped_independently() -> None:
    """One draw serves four elements: none of its four parts may follow from another, nor from the draw before."""
    torch.manual_seed(0)
    dropped = (masks(400_000, 0.1) == 0).float()
    for distance in range(1, 9):
        both = (dropped[:-distance] * dropped[distance:]).mean().item()
        assert both == pytest.approx(0.01, abs=0.001)
    for part in range(4):
        assert dropped[part::4].mean().item() == pytest.approx(0.1, abs=0.004)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_what_is_kept_is_scaled_and_the_rest_is_zero(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randn(50, 41, dtype=dtype)
    y = dropout(x, 0.25)
    assert y.dtype == dtype
    kept = y != 0
    assert torch.equal(y[kept], (x * (1 / 0.75))[kept])
    assert 0.70 < kept.float().mean() < 0.80


def test_the_gradient_uses_the_mask_of_the_forward_pass() -> None:
    torch.manual_seed(0)
    x = torch.randn(30, 30, requires_grad=True)
    y = dropout(x, 0.5)
    upstream = torch.randn(30, 30)
    y.backward(upstream)
    assert torch.equal(x.grad, torch.where(y == 0, 0.0, upstream * 2))


def test_inputs_that_are_not_contiguous() -> None:
    torch.manual_seed(0)
    x = torch.randn(20, 30).t().requires_grad_()
    y = dropout(x, 0.5)
    assert torch.equal(y[y != 0], (2 * x.detach())[y != 0])
    y.sum().backward()


def test_the_seed_of_torch_repeats_it() -> None:
    def once(seed: int) -> Tensor:
        torch.manual_seed(seed)
        return dropout(torch.ones(1_000), 0.3)

    assert torch.equal(once(1), once(1))
    assert not torch.equal(once(1), once(2))


def test_without_training_or_probability_nothing_happens() -> None:
    x = torch.randn(5)
    assert dropout(x, 0.0) is x
    assert CpuDropout(0.5).eval()(x) is x


def test_not_a_number_and_infinity_do_not_come_from_dropped_elements() -> None:
    torch.manual_seed(0)
    assert set(dropout(torch.full((1_000,), float("inf")), 0.5).tolist()) == {0.0, float("inf")}


def _inputs(dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    query, key, value = (torch.randn(3, 2, 7, 8, dtype=dtype).requires_grad_() for _ in range(3))
    return query, key, value


def _mask(kind: str) -> Tensor | None:
    lengths = torch.tensor([7, 4, 1])
    allowed = (torch.arange(7) < lengths[:, None])[:, None, None, :].expand(3, 1, 7, 7)
    if kind == "none":
        return None
    if kind == "boolean":
        return allowed
    return torch.zeros(3, 1, 7, 7).masked_fill(~allowed, torch.finfo(torch.float32).min)


def _additive(mask: Tensor) -> Tensor:
    return mask if mask.dtype != torch.bool else torch.zeros(mask.shape).masked_fill(~mask, -1e30)


def _bias() -> Tensor:
    """T5's: (1, heads, pieces, pieces)."""
    return torch.randn(1, 2, 7, 7, generator=torch.Generator().manual_seed(3)) * 2


@pytest.mark.parametrize("mask", ["none", "boolean", "additive"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("scaling", [None, 0.2])
def test_attention_without_dropout_is_that_of_torch(
    mask: str, bias: bool, scaling: float | None
) -> None:
    query, key, value = _inputs()
    found, _ = attention(
        nn.Module(),
        query,
        key,
        value,
        _mask(mask),
        scaling=scaling,
        is_causal=False,
        position_bias=_bias() if bias else None,
    )
    allowed = _mask(mask)
    if bias:
        allowed = _bias() if allowed is None else _additive(allowed) + _bias()
    expected = nn.functional.scaled_dot_product_attention(query, key, value, allowed, scale=scaling)
    assert torch.allclose(found, expected.transpose(1, 2), atol=1e-6)


@pytest.mark.parametrize("mask", ["none", "boolean", "additive"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("scaling", [None, 0.2])
def test_attention_with_dropout_is_the_plain_formula_with_the_same_mask(
    mask: str, bias: bool, scaling: float | None
) -> None:
    query, key, value = _inputs()
    allowed = _mask(mask)
    torch.manual_seed(5)
    found, _ = attention(
        nn.Module(),
        query,
        key,
        value,
        allowed,
        scaling=scaling,
        dropout=0.4,
        position_bias=_bias() if bias else None,
    )

    torch.manual_seed(5)
    kept = masks(3 * 2 * 7 * 7, 0.4).view(3, 2, 7, 7) != 0
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key) * (8**-0.5 if scaling is None else scaling)
    if allowed is not None:
        scores = scores + _additive(allowed)
    if bias:
        scores = scores + _bias()
    weights = torch.where(kept, scores.softmax(-1) / 0.6, 0.0)
    expected = torch.einsum("bhqk,bhkd->bqhd", weights, value)
    assert torch.allclose(found, expected, atol=1e-5)

    upstream = torch.randn(3, 7, 2, 8)
    ours = torch.autograd.grad(found, (query, key, value), upstream)
    theirs = torch.autograd.grad(expected, (query, key, value), upstream)
    for mine, other in zip(ours, theirs, strict=True):
        assert torch.allclose(mine, other, atol=1e-5)


def test_attention_of_bfloat16_stays_bfloat16_under_autocast() -> None:
    query, key, value = _inputs(torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found, _ = attention(nn.Module(), query, key, value, None, dropout=0.1)
    assert found.dtype == torch.bfloat16
    assert torch.isfinite(found).all()


@pytest.mark.parametrize("how", ["module", "argument"])
def test_attention_of_a_decoder_does_not_look_ahead(how: str) -> None:
    """Without a mask such a model relies on the attention to be causal."""
    module = nn.Module()
    module.is_causal = how == "module"
    options = {"is_causal": True} if how == "argument" else {}
    query, key, value = _inputs()
    changed = value.detach().clone()
    changed[:, :, 5:] += 10.0
    outcomes = []
    for values in (value, changed):
        torch.manual_seed(1)
        outcomes.append(
            attention(module, query, key, values, None, dropout=0.2, **options)[0][:, :5]
        )
    assert torch.equal(*outcomes)


def test_masked_keys_get_no_weight() -> None:
    query, key, value = _inputs()
    changed = value.detach().clone()
    changed[2, :, 1:] = 1e6  # the third input has one sub-token only
    outcomes = []
    for values in (value, changed):
        torch.manual_seed(1)
        outcomes.append(
            attention(nn.Module(), query, key, values, _mask("boolean"), dropout=0.2)[0][2]
        )
    assert torch.equal(*outcomes)


def test_a_network_has_it_everywhere_and_predicts_as_before() -> None:
    plain, fast = tiny.network(dropout=0.1), tiny.network(dropout=0.1)
    use_cpu_dropout(fast)
    assert fast.encoder.config._attn_implementation == ATTENTION
    assert not [name for name, module in fast.named_modules() if type(module) is nn.Dropout]
    inputs = tiny.features(6)
    ids = torch.tensor([inputs.ids[0].tolist() + [0] * (20 - len(inputs.ids[0]))])
    mask = (ids != 0).long()
    one, other = (
        net.eval().encoder(input_ids=ids, attention_mask=mask).last_hidden_state[mask.bool()]
        for net in (plain, fast)
    )
    assert torch.allclose(one, other, atol=1e-5)
    fast.train()
    noisy = fast.encoder(input_ids=ids, attention_mask=mask).last_hidden_state[mask.bool()]
    assert not torch.allclose(one, noisy, atol=1e-2)
