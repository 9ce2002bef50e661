"""Products of bf16 matrices in float32 are those of torch, to the last of their eight bits."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from blurb.training.precision import ProductsInFloat32, bf16_products

ULP = 2**-7
"""Of a bf16 number, relative to it."""


@pytest.fixture
def matrices() -> list[torch.Tensor]:
    draw = torch.Generator().manual_seed(1)
    return [
        torch.randn(shape, generator=draw).bfloat16()
        for shape in ((7, 33), (33, 5), (5,), (3, 7, 33), (3, 33, 5))
    ]


def test_products_equal_those_of_torch_to_an_ulp(matrices: list[torch.Tensor]) -> None:
    left, right, bias, several, others = matrices

    def all_of_them() -> list[torch.Tensor]:
        batch = torch.baddbmm(bias.expand(3, 7, 5), several, others)
        return [left @ right, torch.addmm(bias, left, right), torch.bmm(several, others), batch]

    plain = all_of_them()
    with ProductsInFloat32():
        ours = all_of_them()
    for expected, product in zip(plain, ours, strict=True):
        assert product.dtype is torch.bfloat16
        torch.testing.assert_close(product, expected, rtol=ULP, atol=ULP)
        assert (product == expected).float().mean() > 0.9


def test_a_product_is_rounded_once(matrices: list[torch.Tensor]) -> None:
    left, right = matrices[:2]
    with ProductsInFloat32():
        ours = left @ right
    assert torch.equal(ours, (left.double() @ right.double()).bfloat16())


def test_gradients_equal_those_of_torch(matrices: list[torch.Tensor]) -> None:
    def gradients() -> list[torch.Tensor]:
        torch.manual_seed(2)
        network = nn.Sequential(nn.Linear(33, 16), nn.GELU(), nn.Linear(16, 1))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            network(matrices[0].float()).sum().backward()
        return [weight.grad for weight in network.parameters()]

    plain = gradients()
    with ProductsInFloat32():
        ours = gradients()
    for expected, gradient in zip(plain, ours, strict=True):
        torch.testing.assert_close(gradient, expected, rtol=0.05, atol=0.02)


def test_float32_products_are_untouched() -> None:
    left, right = torch.randn(7, 33), torch.randn(33, 5)
    with ProductsInFloat32():
        ours = left @ right
    assert torch.equal(ours, left @ right)


@pytest.mark.parametrize("has_avx512", [True, False])
@pytest.mark.parametrize(
    ("device", "precision"), [("cpu", "bf16"), ("cpu", "fp32"), ("cuda", "bf16")]
)
def test_only_where_the_processor_has_none(
    monkeypatch: pytest.MonkeyPatch, device: str, precision: str, has_avx512: bool
) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_supported", lambda: has_avx512)
    replaced = isinstance(bf16_products(torch.device(device), precision), ProductsInFloat32)
    assert replaced == (not has_avx512 and device == "cpu" and precision == "bf16")
