"""Products of bf16 matrices in float32 are those of torch, to the last of their eight bits."""

import pytest
import torch
from torch import nn

from blurb import tasks
from blurb.checkpoints import Checkpoint
from blurb.formulations import bind
from blurb.learners.building import resolve_model
from blurb.learners.finetuning.network import check
from blurb.messages.errors import SettingsError
from blurb.protocols.settings import Settings
from blurb.training.hardware import ProductsInFloat32, bf16_products
from blurb.training.network import train_used_rows
from blurb.training.optimizer import layers, make_adamw, treat_layers
from tests import checkpoints
from tests.conftest import Builder

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


# Layer-wise rates, frozen and redrawn layers, on encoders of several families.


SHARED = "albert"  # one layer, gone through several times
KINDS = (
    "bert_uncased",
    "roberta",
    "deberta",
    "modernbert",
    "t5",
    *(family for family in checkpoints.FAMILIES if family != SHARED),
)


def weights(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in module.parameters()])


@pytest.mark.parametrize("kind", KINDS)
def test_the_layers_are_those_of_the_configuration(kind: str, checkpoint: Builder) -> None:
    encoder, _ = Checkpoint(checkpoint(kind)).load_encoder()
    # Which makes short inputs long again
    decoder = encoder.config.num_decoder_layers if kind == "funnel" else 0
    assert len(layers(encoder)) == encoder.config.get_text_config().num_hidden_layers + decoder


@pytest.mark.parametrize("kind", KINDS)
def test_rates_fall_from_the_top_to_the_embeddings(kind: str, checkpoint: Builder) -> None:
    encoder, _ = Checkpoint(checkpoint(kind)).load_encoder()
    settings = Settings(max_length=32, layer_decay=0.5)
    treat_layers(encoder, settings)
    train_used_rows(encoder, torch.arange(5))
    network = torch.nn.ModuleDict({"encoder": encoder, "head": torch.nn.Linear(2, 2)})
    scale = {
        parameter: group["scale"]
        for group in make_adamw(network, settings).param_groups
        for parameter in group["params"]
    }
    assert set(scale) == set(network.parameters())
    found = layers(encoder)
    for depth, block in enumerate(reversed(found)):
        assert {scale[parameter] for parameter in block.parameters()} == {0.5**depth}
    assert {scale[parameter] for parameter in encoder.get_input_embeddings().parameters()} == {
        0.5 ** len(found)
    }
    assert {scale[parameter] for parameter in network["head"].parameters()} == {1.0}


@pytest.mark.parametrize("kind", KINDS)
def test_frozen_layers_and_embeddings_do_not_learn(kind: str, checkpoint: Builder) -> None:
    encoder, _ = Checkpoint(checkpoint(kind)).load_encoder()
    treat_layers(encoder, Settings(max_length=32, freeze_layers=1))
    lowest, *others = layers(encoder)
    assert not any(parameter.requires_grad for parameter in lowest.parameters())
    assert not encoder.get_input_embeddings().weight.requires_grad
    assert all(parameter.requires_grad for block in others for parameter in block.parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_the_highest_layers_are_drawn_anew(kind: str, checkpoint: Builder) -> None:
    encoder, _ = Checkpoint(checkpoint(kind)).load_encoder()
    before = [weights(block) for block in layers(encoder)]
    treat_layers(encoder, Settings(max_length=32, reinit_layers=1))
    after = [weights(block) for block in layers(encoder)]
    assert not torch.equal(before[-1], after[-1])
    assert all(torch.equal(a, b) for a, b in zip(before[:-1], after[:-1], strict=True))


@pytest.mark.parametrize(
    "values", [{"freeze_layers": 1}, {"reinit_layers": 1}, {"layer_decay": 0.9}]
)
def test_layers_that_share_their_weights_cannot_be_treated_differently(
    values: dict[str, float], checkpoint: Builder
) -> None:
    settings = Settings(**{"max_length": 32, **values})
    encoder, _ = Checkpoint(checkpoint(SHARED)).load_encoder()
    refused = r"The 2 layers of AlbertModel share the weights of 1 .*leave freeze_layers"
    with pytest.raises(SettingsError, match=refused):
        treat_layers(encoder, settings)
    with pytest.raises(SettingsError, match=refused):  # before any training
        check(resolve_model(str(checkpoint(SHARED))), bind(tasks.get("gad"), settings))


def test_more_layers_than_there_are(checkpoint: Builder) -> None:
    encoder, _ = Checkpoint(checkpoint("bert_uncased")).load_encoder()
    with pytest.raises(SettingsError, match=r"freeze_layers 90 .* must not exceed"):
        treat_layers(encoder, Settings(max_length=32, freeze_layers=90))
    source, settings = (
        resolve_model(str(checkpoint("bert_uncased"))),
        Settings(max_length=32, freeze_layers=90),
    )
    with pytest.raises(
        SettingsError, match=r"freeze_layers 90 .* must not exceed the 2 layers of BertModel"
    ):
        check(source, bind(tasks.get("gad"), settings))
    with pytest.raises(SettingsError, match="layer_decay must be above 0"):
        Settings(max_length=32, layer_decay=0.0)
