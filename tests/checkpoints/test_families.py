"""Every other family of encoders: what runs, what surprises, and what padding and segments change."""

import shutil
from pathlib import Path

import pytest
import torch

from blurb.api.model_check import TRIES, check_model
from blurb.checkpoints import Checkpoint
from blurb.checkpoints.architecture import longest_input
from tests import checkpoints
from tests.conftest import Builder
from tests.rewriting import rewrite

EAGER, SEGMENTS, NO_CLS = "attention is 'eager'", "leaves these out", "no classification token"
SURPRISES: dict[str, tuple[str, ...]] = {
    "xlm_roberta": (),
    "albert": (SEGMENTS,),
    "electra": (),
    "deberta_v1": (EAGER,),
    "distilbert": (),
    "mpnet": (EAGER,),
    "eurobert": (NO_CLS,),
    "nomic_bert": (),
    "longformer": (EAGER,),
    "big_bird": (SEGMENTS, EAGER),
    "funnel": (SEGMENTS, EAGER),
    "xlnet": (SEGMENTS, EAGER),
    "ultrabert": (NO_CLS,),
    "embedding_gemma2": (NO_CLS,),
}
LIMITS = {
    "xlm_roberta": 512,
    "albert": 512,
    "electra": 512,
    "deberta_v1": 512,
    "distilbert": 512,
    "mpnet": 512,
    "eurobert": 8_192,
    "nomic_bert": 2_048,
    "longformer": 4_096,
    "big_bird": 4_096,
    "funnel": None,
    "xlnet": None,
    "ultrabert": 32_768,
    "embedding_gemma2": 262_144,
}
PRESETS = {
    "modernbert": ("ModernBertModel", False),
    "deberta": ("DebertaV2Model", False),
    "eurobert": ("EuroBertModel", False),
    "ultrabert": ("UltrabertModel", False),
    "embedding_gemma2": ("EmbeddingGemma2Model", False),
    "qwen3": ("Qwen3Model", True),
    "llama": ("LlamaModel", True),
    "mistral": ("MistralModel", True),
    "gemma3": ("Gemma3TextModel", True),
}
"""Tiny checkpoints of the presets of today and of decoders: the class of the encoder, and whether it is causal."""


def test_no_family_is_forgotten() -> None:
    assert tuple(SURPRISES) == tuple(LIMITS)
    assert tuple(kind for kind in LIMITS if kind not in checkpoints.MISSING) == checkpoints.FAMILIES


@pytest.mark.parametrize("kind", checkpoints.FAMILIES)
def test_every_kind_of_task_runs_and_what_surprises_is_told(checkpoint: Builder, kind: str) -> None:
    found = check_model(str(checkpoint(kind)))
    assert [one.error for one in found.tries] == [""] * len(TRIES)
    assert found.facts["longest_input"] == LIMITS[kind]
    # Of its small vocabulary
    told = [said for said in found.surprises if not said.startswith("Unknown tokens in")]
    assert len(told) == len(SURPRISES[kind])
    assert all(expected in said for said, expected in zip(told, SURPRISES[kind], strict=True))
    pooling = {"pooling": "mean"} if NO_CLS in SURPRISES[kind] else {}
    assert [one.settings for one in found.tries if one.task == "hoc"] == [pooling]


@pytest.mark.parametrize(
    ("kind", "truth"),
    [(kind, truth) for kind, truth in PRESETS.items() if kind not in checkpoints.MISSING],
)
def test_what_it_is_and_how_to_use_a_decoder_is_told(
    checkpoint: Builder, kind: str, truth: tuple[str, bool]
) -> None:
    found = check_model(str(checkpoint(kind)))
    said = " ".join(found.surprises)
    assert (found.facts["architecture"], "causal decoder" in said) == truth
    assert ("--pooling last, or --set attention=bidirectional with mean" in said) is truth[1]
    assert [one.error for one in found.tries] == [""] * len(TRIES)
    (hoc,) = (one for one in found.tries if one.task == "hoc")
    assert (hoc.settings == {"pooling": "last"}) is truth[1]


@pytest.mark.parametrize("kind", [kind for kind, most in LIMITS.items() if most == 512])
def test_the_longest_input_fits_and_one_more_does_not(checkpoint: Builder, kind: str) -> None:
    """XLM-R and MPNet have 514 positions of which padding takes two, DeBERTa has no end in its weights."""
    encoder = Checkpoint(checkpoint(kind)).load_encoder()[0].eval()
    assert longest_input(encoder) == 512
    ids = torch.full((1, 513), 5)
    with torch.no_grad():
        assert (
            encoder(ids[:, :512], torch.ones_like(ids[:, :512])).last_hidden_state.shape[1] == 512
        )
        if kind != "deberta_v1":
            with pytest.raises((IndexError, RuntimeError)):
                encoder(ids, torch.ones_like(ids))


@pytest.mark.parametrize("kind", checkpoints.FAMILIES)
def test_padding_changes_no_vector_but_in_funnel(checkpoint: Builder, kind: str) -> None:
    encoder = Checkpoint(checkpoint(kind)).load_encoder()[0].eval()
    ids = torch.arange(10, 21)[None]
    padding = torch.full((1, 9), Checkpoint(checkpoint(kind)).tokenizer.pad_id)
    mask = torch.cat([torch.ones_like(ids), torch.zeros_like(padding)], dim=1)
    with torch.no_grad():
        alone = encoder(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        padded = encoder(
            input_ids=torch.cat([ids, padding], dim=1), attention_mask=mask
        ).last_hidden_state
    same = torch.allclose(alone, padded[:, : ids.shape[1]], atol=1e-5)
    # It halves the length, and an odd last sub-token shares its place with padding
    assert same is (kind != "funnel")


@pytest.mark.parametrize("kind", ["albert", "funnel", "xlnet"])
def test_segments_that_are_left_out_come_back_as_the_message_says(
    checkpoint: Builder, kind: str, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(checkpoint(kind), tmp_path / "mine"))
    names = ["input_ids", "token_type_ids", "attention_mask"]
    rewrite(folder / "tokenizer_config.json", model_input_names=names)
    assert Checkpoint(folder).tokenizer.special_tokens.types is not None
    found = check_model(str(folder))
    assert not any(SEGMENTS in said for said in found.surprises)
    assert [one.error for one in found.tries] == [""] * len(TRIES)


def test_segments_that_an_encoder_knows_nothing_of_do_no_harm(checkpoint: Builder) -> None:
    """DistilBERT has BERT's tokenizer, which numbers the texts of a pair."""
    encoder = Checkpoint(checkpoint("distilbert")).load_encoder()[0].eval()
    special_tokens = Checkpoint(checkpoint("distilbert")).tokenizer.special_tokens
    ids, types = (
        torch.tensor([special_tokens.pair([7, 8], [9])]),
        torch.tensor([special_tokens.pair_types(2, 1)]),
    )
    assert types.max() == 1
    with torch.no_grad():
        with_types = encoder(
            input_ids=ids, attention_mask=torch.ones_like(ids), token_type_ids=types
        )
        without = encoder(input_ids=ids, attention_mask=torch.ones_like(ids))
    assert torch.equal(with_types.last_hidden_state, without.last_hidden_state)
