"""Encoders and tokenizers as transformers loads them."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import (
    AutoTokenizer,
    LongT5Config,
    LongT5EncoderModel,
    LongT5Model,
    T5EncoderModel,
)

from blurb.checkpoints import Checkpoint
from blurb.checkpoints.architecture import enlarge_embeddings, longest_input
from blurb.checkpoints.weights import check_header
from blurb.messages.errors import ModelError
from tests import checkpoints
from tests.conftest import Builder
from tests.rewriting import rewrite


@pytest.mark.parametrize("kind", [*checkpoints.KINDS, *checkpoints.FAMILIES])
def test_every_kind_gives_vectors_in_float32(checkpoint: Builder, kind: str) -> None:
    encoder, _ = Checkpoint(checkpoint(kind)).load_encoder()
    tokenizer = Checkpoint(checkpoint(kind)).tokenizer
    assert {parameter.dtype for parameter in encoder.parameters()} == {torch.float32}
    ids = torch.tensor([tokenizer.special_tokens.single(tokenizer.subtokens(["kalo mi"])[0].ids)])
    hidden = encoder.eval()(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
    assert hidden.shape == (1, ids.shape[1], 48 if kind == "embedding_gemma2" else 32)
    assert torch.isfinite(hidden).all()


def test_weights_stored_in_bfloat16_become_float32(copy: Path) -> None:
    path = copy / "model.safetensors"
    checkpoints.reweigh(
        path, lambda state: {name: value.to(torch.bfloat16) for name, value in state.items()}
    )
    rewrite(copy / "config.json", dtype="bfloat16")
    encoder, _ = Checkpoint(copy).load_encoder()
    assert {parameter.dtype for parameter in encoder.parameters()} == {torch.float32}
    stored = load_file(path)["bert.embeddings.word_embeddings.weight"].float()
    assert torch.equal(encoder.embeddings.word_embeddings.weight, stored)


@pytest.mark.parametrize(
    ("kind", "trained"),
    [("bert_uncased", True), ("bert_cased", False), ("roberta", False), ("t5", False)],
)
def test_a_pooler_counts_only_if_its_weights_are_in_the_checkpoint(
    checkpoint: Builder, kind: str, trained: bool
) -> None:
    assert Checkpoint(checkpoint(kind)).load_encoder()[1] is trained


def test_only_the_encoder_of_an_encoder_decoder_is_loaded(checkpoint: Builder) -> None:
    encoder, _ = Checkpoint(checkpoint("t5")).load_encoder()
    assert not [
        name for name, _ in encoder.named_parameters() if "decoder" in name or "lm_head" in name
    ]
    assert torch.equal(
        encoder.shared.weight, load_file(checkpoint("t5") / "model.safetensors")["shared.weight"]
    )


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        ("bert_uncased", 512),
        ("roberta", 512),
        ("bertweet", 128),
        ("modernbert", 8_192),
        ("deberta", 512),
        ("t5", None),
    ],
)
def test_capacity(checkpoint: Builder, kind: str, most: int | None) -> None:
    encoder, _ = Checkpoint(checkpoint(kind)).load_encoder()
    assert longest_input(encoder) == most
    if most is not None and most <= 512:
        ids = torch.full((1, most), 5)
        assert (
            encoder.eval()(
                input_ids=ids, attention_mask=torch.ones_like(ids)
            ).last_hidden_state.shape[1]
            == most
        )


def test_one_sub_token_more_than_roberta_holds_fails(checkpoint: Builder) -> None:
    """So that 512 is not merely what fits but the most that does."""
    encoder, _ = Checkpoint(checkpoint("roberta")).load_encoder()
    ids = torch.full((1, 513), 5)
    with pytest.raises((IndexError, RuntimeError)):
        encoder.eval()(input_ids=ids, attention_mask=torch.ones_like(ids))


@pytest.mark.parametrize(
    ("values", "weight"),
    [
        ({"num_hidden_layers": 3}, "encoder.layer.2."),
        ({"intermediate_size": 128}, r"encoder.layer.0.intermediate.dense"),
    ],
)
def test_weights_that_do_not_belong_to_the_configuration(
    copy: Path, values: dict[str, int], weight: str
) -> None:
    rewrite(copy / "config.json", **values)
    with pytest.raises(
        ModelError,
        match=rf"weights of the encoder are missing in the checkpoint.*{weight}.*do not match",
    ):
        Checkpoint(copy).load_encoder()


def test_weights_under_names_that_nobody_knows(copy: Path) -> None:
    path = copy / "model.safetensors"
    checkpoints.reweigh(path, lambda state: {f"x{name}": value for name, value in state.items()})
    with pytest.raises(ModelError, match="do not match"):
        Checkpoint(copy).load_encoder()


@pytest.mark.parametrize("size", [0, 100, 10_000])
def test_a_weight_file_that_was_cut(copy: Path, size: int) -> None:
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ModelError, match="cannot load the weights"):
        Checkpoint(copy).load_encoder()


def _pickled(folder: Path, content: Any) -> None:
    (folder / "model.safetensors").unlink()
    torch.save(content, folder / "pytorch_model.bin")


def test_pickled_weights_are_read_as_the_same_weights(copy: Path) -> None:
    expected = Checkpoint(copy).load_encoder()[0].state_dict()
    _pickled(copy, load_file(copy / "model.safetensors"))
    found = Checkpoint(copy).load_encoder()[0].state_dict()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_no_numbers_are_named(copy: Path, value: float) -> None:
    weights = load_file(copy / "model.safetensors")
    weights["bert.encoder.layer.1.output.dense.weight"][3, :2] = value
    checkpoints.reweigh(copy / "model.safetensors", lambda state: weights)
    with pytest.raises(
        ModelError,
        match=r"mine: 2 of the 2,048 values of encoder.layer.1.output.dense.weight are NaN or infinite",
    ):
        Checkpoint(copy).load_encoder()


class Strange:
    """What runs when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("/tmp/blurb-test-code-ran"),)


def test_code_in_a_pickle_does_not_run(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "ran"
    monkeypatch.setattr(Strange, "__reduce__", lambda self: (Path.touch, (marker,)))
    _pickled(copy, {"embeddings.word_embeddings.weight": Strange()})
    with pytest.raises(ModelError, match="cannot load the weights"):
        Checkpoint(copy).load_encoder()
    # A plan reads the header first; torch's own message would say how to run it.
    with pytest.raises(ModelError, match=r"objects of Python beside weights, .* take a release"):
        check_header(copy, copy / "pytorch_model.bin")
    assert not marker.exists()


def test_a_t5_that_was_saved_without_its_decoder(checkpoint: Builder, tmp_path: Path) -> None:
    """T5EncoderModel.save_pretrained: its configuration names no decoder, and AutoModel would look for one."""
    folder = checkpoint("t5")
    T5EncoderModel.from_pretrained(folder).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    whole, alone = (
        Checkpoint(place).load_encoder()[0].state_dict() for place in (folder, tmp_path)
    )
    assert all((alone[name] == value).all() for name, value in whole.items())
    assert Checkpoint(tmp_path).parameters == Checkpoint(folder).parameters


@pytest.mark.parametrize("whole", [True, False])
def test_a_longt5_that_was_saved_with_and_without_its_decoder(
    checkpoint: Builder, tmp_path: Path, whole: bool
) -> None:
    """LongT5 has no class of an encoder alone in AutoModelForTextEncoding: AutoModel looks for the decoder, too."""
    config = LongT5Config(
        vocab_size=200,
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        local_radius=4,
        global_block_size=4,
    )
    saved = (LongT5Model if whole else LongT5EncoderModel)(config)
    saved.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(checkpoint("t5")).save_pretrained(tmp_path)
    encoder, _ = Checkpoint(tmp_path).load_encoder()
    there = dict((saved.encoder).named_parameters())
    loaded = dict(encoder.named_parameters())
    assert there.keys() == loaded.keys()
    assert all(torch.equal(there[name], loaded[name]) for name in there)
    weights = load_file(tmp_path / "model.safetensors")
    gone = next(name for name in weights if name.startswith("encoder.block.1") and "weight" in name)
    del weights[gone]
    checkpoints.reweigh(tmp_path / "model.safetensors", lambda state: weights)
    with pytest.raises(ModelError, match="1 weights of the encoder are missing"):
        Checkpoint(tmp_path).load_encoder()


def test_room_for_new_tokens_is_made_without_the_warning_of_transformers(
    checkpoint: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers.utils import logging as transformers_logging

    encoder, _ = Checkpoint(checkpoint("bert_uncased")).load_encoder()
    size, before = (
        encoder.get_input_embeddings().num_embeddings,
        transformers_logging.get_verbosity(),
    )
    resize, heard = type(encoder).resize_token_embeddings, []

    def resized(self: Any, size: int) -> None:
        heard.append(transformers_logging.get_verbosity())
        resize(self, size)

    monkeypatch.setattr(type(encoder), "resize_token_embeddings", resized)
    for wanted in (size - 1, size + 4):
        enlarge_embeddings(encoder, wanted)
    assert encoder.get_input_embeddings().num_embeddings == size + 4
    assert heard == [transformers_logging.ERROR]
    assert transformers_logging.get_verbosity() == before
