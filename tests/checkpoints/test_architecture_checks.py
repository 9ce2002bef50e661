"""Models that cannot be fine-tuned are refused before any training, with what would work."""

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as t
from click.testing import CliRunner
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoConfig, AutoModel

from blurb import tasks
from blurb.api.model_check import TRIES, check_model
from blurb.checkpoints import Checkpoint
from blurb.cli import cli
from blurb.doctor import examine
from blurb.formulations import bind
from blurb.learners.building import resolve_model
from blurb.learners.finetuning.network import check
from blurb.messages.errors import ModelError, SettingsError
from blurb.protocols.settings import Settings
from tests import checkpoints
from tests.checkpoints import refused
from tests.checkpoints.vocabularies import byte_level
from tests.conftest import Builder
from tests.rewriting import edit, rewrite

NO_TABLE = "has no table of token embeddings, .*choose an encoder of text"
NO_TEXT = "is not a text-only model: .*choose an encoder of text"


@pytest.mark.costly
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("canine", f"CanineModel {NO_TABLE}"),
        (
            "funnel_base",
            r"FunnelBaseModel gives 5 vectors for 9 sub-tokens, .*choose a checkpoint that restores",
        ),
    ],
)
def test_families_without_a_vector_for_each_sub_token(
    checkpoint: Builder, kind: str, message: str
) -> None:
    refused(checkpoint(kind), message)


def _vision(folder: Path) -> None:
    t.ViTModel(t.ViTConfig(image_size=32, patch_size=16, **checkpoints.SIZES)).save_pretrained(
        folder
    )


def _speech(folder: Path) -> None:
    sizes = {
        "num_conv_pos_embeddings": 4,
        "num_conv_pos_embedding_groups": 2,
        "conv_dim": [8],
        "conv_kernel": [3],
    }
    t.Wav2Vec2Model(
        t.Wav2Vec2Config(**sizes, conv_stride=[2], num_feat_extract_layers=1, **checkpoints.SIZES)
    ).save_pretrained(folder)


@pytest.mark.parametrize("build", [_vision, _speech])
def test_pictures_and_speech_lack_no_tokenizer(
    build: Callable[[Path], None], tmp_path: Path
) -> None:
    build(tmp_path)
    refused(tmp_path, NO_TEXT)
    told = [problem.what for problem in examine(tmp_path).problems]
    assert len(told) == 1
    assert "is not a text-only model" in told[0]


def test_the_command_says_it_and_writes_nothing(here: Path) -> None:
    _vision(here / "vision")
    before = sorted(here.rglob("*"))
    for arguments in (
        ["run", "vision", "--suite", "demo", "--protocol", "smoke"],
        ["models", "check", "vision"],
    ):
        with pytest.raises(ModelError, match=NO_TEXT):
            CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert sorted(here.rglob("*")) == before


def _proteins(folder: Path) -> None:
    folder.mkdir()
    entries = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO", ".", "-", "<mask>"]
    (folder / "vocab.txt").write_text("\n".join(entries), encoding="utf-8")
    t.EsmTokenizer(folder / "vocab.txt").save_pretrained(folder)
    config = t.EsmConfig(
        vocab_size=len(entries),
        pad_token_id=1,
        mask_token_id=len(entries) - 1,
        max_position_embeddings=66,
        **checkpoints.SIZES,
    )
    t.EsmForMaskedLM(config).save_pretrained(folder)


def test_a_vocabulary_of_proteins_is_not_one_of_text(tmp_path: Path) -> None:
    _proteins(tmp_path / "proteins")
    refused(
        tmp_path / "proteins",
        r"none of the words the, .*not one of English text .*choose an encoder",
    )


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\x00", b"\x80\x04\x95binary\x00", "[PAD]\n[UNK]\n[CLS]\nnaïve".encode("latin-1")],
)
def test_a_vocabulary_file_that_is_not_text(copy: Path, content: bytes) -> None:
    (copy / "tokenizer.json").unlink()
    (copy / "vocab.txt").write_bytes(content)
    refused(copy, r"mine: cannot load the tokenizer: .*UTF-8; download the checkpoint again")


def _decoder(folder: Path) -> None:
    """GPT-2 as it is on the Hub: no token for padding, none for classification."""
    vocabulary = byte_level(["<|endoftext|>"])
    tokenizer = Tokenizer(
        models.BPE(vocabulary["vocab"], [tuple(merge) for merge in vocabulary["merges"]])
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    end = "<|endoftext|>"
    fast: Any = t.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=end, eos_token=end, unk_token=end
    )
    fast.save_pretrained(folder)
    t.GPT2LMHeadModel(
        t.GPT2Config(vocab_size=len(fast), n_embd=32, n_layer=2, n_head=2)
    ).save_pretrained(folder)


def test_a_decoder_without_padding_runs_as_the_messages_say(tmp_path: Path) -> None:
    _decoder(tmp_path)
    found = check_model(str(tmp_path))
    assert [one.error for one in found.tries] == [""] * len(TRIES)
    for expected in ("no classification token", "no padding token", "causal decoder"):
        assert any(expected in said for said in found.surprises), expected
    source = resolve_model(str(tmp_path))
    with pytest.raises(SettingsError, match=r"no classification token. Possible values: .*mean"):
        check(source, bind(tasks.get("gad"), Settings(max_length=48)))
    check(source, bind(tasks.get("gad"), Settings(max_length=48, pooling="mean")))


@pytest.mark.parametrize("kind", ["bert_uncased", "roberta", "modernbert", "deberta", "t5"])
def test_sizes_are_those_of_the_configuration(kind: str, checkpoint: Builder) -> None:
    shape = Checkpoint(checkpoint(kind)).size
    assert (shape.layers, shape.hidden) == (2, 32)


def test_the_width_is_that_of_the_vectors(copy: Path) -> None:
    """EmbeddingGemma 2 projects its last vectors to a width that `hidden_size` does not say."""
    sizes = checkpoints.SIZES | {"num_key_value_heads": 1, "head_dim": 16, "embedding_dim": 48}
    config = AutoConfig.for_model("embedding_gemma2_text", vocab_size=350, pad_token_id=0, **sizes)
    AutoModel.from_config(config).save_pretrained(copy)
    read = Checkpoint(copy)
    encoder, _ = read.load_encoder()
    assert (
        read.width == encoder(torch.ones(1, 5, dtype=torch.long)).last_hidden_state.shape[-1] == 48
    )


# A causal decoder has nothing at its first place. Oracle: the gradient of the first vector by the other inputs.


DECODERS = ("gpt2", "llama", "qwen3", "bert", "bloom", "mamba")


def _config(kind: str, size: int) -> Any:
    return {
        "gpt2": lambda: t.GPT2Config(
            n_embd=32, n_layer=2, n_head=2, vocab_size=size, bos_token_id=1, eos_token_id=1
        ),
        "llama": lambda: t.LlamaConfig(vocab_size=size, num_key_value_heads=2, **checkpoints.SIZES),
        "qwen3": lambda: t.Qwen3Config(
            vocab_size=size, num_key_value_heads=2, head_dim=16, **checkpoints.SIZES
        ),
        "bert": lambda: t.BertConfig(vocab_size=size, is_decoder=True, **checkpoints.SIZES),
        "bloom": lambda: t.BloomConfig(hidden_size=32, n_layer=2, n_head=2, vocab_size=size),
        "mamba": lambda: t.MambaConfig(hidden_size=32, num_hidden_layers=2, vocab_size=size),
    }[kind]()


@pytest.fixture(scope="module")
def decoder(checkpoint: Builder, tmp_path_factory: pytest.TempPathFactory) -> Builder:
    """A decoder whose tokenizer puts [CLS] first, as that of an encoder does."""

    def build(kind: str) -> Path:
        folder = Path(
            shutil.copytree(checkpoint("bert_uncased"), tmp_path_factory.mktemp("decoders") / kind)
        )
        AutoModel.from_config(_config(kind, 350)).save_pretrained(folder)
        return folder

    return build


def _sees_nothing(folder: Path) -> bool:
    encoder = Checkpoint(folder).load_encoder()[0].eval()
    vectors = encoder.get_input_embeddings()(torch.arange(5, 13)[None]).detach().requires_grad_()
    encoder(inputs_embeds=vectors, attention_mask=torch.ones(1, 8)).last_hidden_state[
        0, 0
    ].square().sum().backward()
    return not bool(vectors.grad[0, 1:].any())


@pytest.mark.parametrize("kind", DECODERS)
def test_a_decoder_is_causal(decoder: Builder, kind: str) -> None:
    folder = decoder(kind)
    assert _sees_nothing(folder)
    assert Checkpoint(folder).is_causal


@pytest.mark.parametrize("kind", ["llama", "qwen3"])
def test_a_decoder_that_config_makes_bidirectional_is_not(
    decoder: Builder, tmp_path: Path, kind: str
) -> None:
    """Its modules still say that they are causal (transformers 5.2 and later)."""
    folder = Path(shutil.copytree(decoder(kind), tmp_path / kind))
    rewrite(folder / "config.json", is_causal=False)
    assert not _sees_nothing(folder)
    assert not Checkpoint(folder).is_causal


@pytest.mark.parametrize("kind", [*checkpoints.KINDS, *checkpoints.FAMILIES])
def test_an_encoder_is_not(checkpoint: Builder, kind: str) -> None:
    if kind != "embedding_gemma2":  # each layer looks the ids up again
        assert not _sees_nothing(checkpoint(kind))
    assert not Checkpoint(checkpoint(kind)).is_causal


@pytest.mark.parametrize("pooling", ["cls", "cls-pooler"])
@pytest.mark.parametrize("kind", ["gpt2", "bert", "bloom"])
def test_cls_is_refused_with_what_would_work(decoder: Builder, kind: str, pooling: str) -> None:
    source = resolve_model(str(decoder(kind)))
    settings = Settings(max_length=48, pooling=pooling)
    with pytest.raises(
        SettingsError,
        match=r"causal decoder.* Possible values: attention, attention-dot, attention-general, last, mean\.",
    ):
        check(source, bind(tasks.get("hoc"), settings))
    check(source, bind(tasks.get("bc2gm"), settings))  # words are not pooled
    for other in ("mean", "attention"):
        check(source, bind(tasks.get("hoc"), dataclasses.replace(settings, pooling=other)))


def test_a_classification_token_at_the_end_has_seen_everything(
    decoder: Builder, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(decoder("gpt2"), tmp_path / "last"))

    def last(content: dict[str, Any]) -> None:
        for frame in ("single", "pair"):
            cls, *others = content["post_processor"][frame]
            content["post_processor"][frame] = [*others, cls]

    edit(folder / "tokenizer.json", last)
    # It takes the special tokens from the file.
    rewrite(folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    source = resolve_model(str(folder))
    assert source.checkpoint.tokenizer.special_tokens.cls == -1
    check(source, bind(tasks.get("hoc"), Settings(max_length=48)))
