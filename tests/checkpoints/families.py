"""The other families of encoders: small random weights of the architecture under its own kind of tokenizer."""

import json
from pathlib import Path
from typing import Any

import transformers as t
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors

from tests.checkpoints.kinds import ROBERTA, SIZES, bert_tokenizer, save
from tests.checkpoints.vocabularies import byte_level, unigram, wordpiece

LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How Llama 3 and EuroBERT cut a text before byte-level BPE."""
UNIGRAM = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")


def _of(tokenizer: Any) -> dict[str, Any]:
    """The fields of a configuration that follow from the tokenizer."""
    return {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}


def xlm_roberta(folder: Path) -> None:
    """Unigram behind a metaspace, RoBERTa's positions, no segments."""
    tokenizer = t.XLMRobertaTokenizer(
        vocab=[*unigram(ROBERTA, "<unk>"), ("<mask>", 0.0)], model_max_length=512
    )
    config = t.XLMRobertaConfig(
        **_of(tokenizer), max_position_embeddings=514, type_vocab_size=1, **SIZES
    )
    save(tokenizer, t.XLMRobertaForMaskedLM(config), folder)


def albert(folder: Path) -> None:
    """Unigram that lower-cases; all layers have the same weights; small embeddings behind a projection."""
    tokenizer = t.AlbertTokenizer(
        vocab=unigram(UNIGRAM, "<unk>", lowercase=True), model_max_length=512
    )
    config = t.AlbertConfig(**_of(tokenizer), embedding_size=16, **SIZES)
    save(tokenizer, t.AlbertForMaskedLM(config), folder)


def electra(folder: Path) -> None:
    """BERT's tokenizer; small embeddings behind a projection, no pooler."""
    tokenizer = bert_tokenizer(lowercase=True)
    config = t.ElectraConfig(**_of(tokenizer), embedding_size=16, **SIZES)
    save(tokenizer, t.ElectraForPreTraining(config), folder)


def deberta_v1(folder: Path) -> None:
    """Byte-level BPE without a blank in front; relative positions."""
    model = byte_level(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"])
    merges = [tuple(merge) for merge in model["merges"]]
    tokenizer = t.DebertaTokenizer(vocab=model["vocab"], merges=merges, model_max_length=512)
    config = t.DebertaConfig(
        **_of(tokenizer),
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        position_biased_input=False,
        **SIZES,
    )
    save(tokenizer, t.DebertaModel(config), folder)


def distilbert(folder: Path) -> None:
    """BERT's tokenizer with its segments, of which the encoder knows nothing; other names in its configuration."""
    tokenizer = bert_tokenizer(lowercase=True)
    config = t.DistilBertConfig(**_of(tokenizer), dim=32, n_layers=2, n_heads=2, hidden_dim=64)
    save(tokenizer, t.DistilBertForMaskedLM(config), folder)


def mpnet(folder: Path) -> None:
    """WordPiece between RoBERTa's special tokens; absolute positions as RoBERTa's, and relative ones."""
    vocabulary = wordpiece(("<s>", "<pad>", "</s>", "[UNK]", "<mask>"), lowercase=True)
    tokenizer = t.MPNetTokenizer(vocab=vocabulary, model_max_length=512)
    config = t.MPNetConfig(**_of(tokenizer), max_position_embeddings=514, **SIZES)
    save(tokenizer, t.MPNetForMaskedLM(config), folder)


def eurobert(folder: Path) -> None:
    """Llama's kind of byte-level BPE between tokens that begin and end a text, none called a classification token."""
    vocabulary = byte_level([])
    tokenizer = Tokenizer(
        models.BPE(vocabulary["vocab"], [tuple(merge) for merge in vocabulary["merges"]])
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(LLAMA_3), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    begin, end = "<|begin_of_text|>", "<|end_of_text|>"
    tokenizer.add_special_tokens([begin, end, "<|mask|>", "<|pad|>"])
    ids = [(name, tokenizer.token_to_id(name)) for name in (begin, end)]
    tokenizer.post_processor = processors.TemplateProcessing(
        f"{begin} $A {end}", f"{begin} $A {end} $B {end}", ids
    )
    fast = t.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=begin,
        eos_token=end,
        mask_token="<|mask|>",
        pad_token="<|pad|>",
        model_input_names=["input_ids", "attention_mask"],
        model_max_length=8_192,
    )
    config = t.EuroBertConfig(
        **_of(fast),
        bos_token_id=fast.bos_token_id,
        eos_token_id=fast.eos_token_id,
        mask_token_id=fast.mask_token_id,
        num_key_value_heads=1,
        **SIZES,
    )
    save(fast, t.EuroBertForMaskedLM(config), folder)


def nomic_bert(folder: Path) -> None:
    """BERT's tokenizer; rotary positions, and segments."""
    tokenizer = bert_tokenizer(lowercase=True)
    save(tokenizer, t.NomicBertForMaskedLM(t.NomicBertConfig(**_of(tokenizer), **SIZES)), folder)


def longformer(folder: Path) -> None:
    """RoBERTa's tokenizer; attention within a window, to a multiple of which it pads its inputs itself."""
    model = byte_level([*ROBERTA, "<mask>"])
    merges = [tuple(merge) for merge in model["merges"]]
    tokenizer = t.RobertaTokenizer(vocab=model["vocab"], merges=merges, model_max_length=4_096)
    config = t.LongformerConfig(
        **_of(tokenizer),
        attention_window=8,
        max_position_embeddings=4_098,
        type_vocab_size=1,
        **SIZES,
    )
    save(tokenizer, t.LongformerForMaskedLM(config), folder)


def big_bird(folder: Path) -> None:
    """Unigram; attention to random blocks, which it leaves for full attention where inputs are short."""
    vocabulary = unigram(("<pad>", "</s>", "<s>", "<unk>", "[SEP]", "[MASK]", "[CLS]"), "<unk>")
    tokenizer = t.BigBirdTokenizer(vocab=vocabulary, model_max_length=4_096)
    config = t.BigBirdConfig(
        **_of(tokenizer),
        sep_token_id=tokenizer.sep_token_id,
        block_size=2,
        num_random_blocks=1,
        **SIZES,
    )
    save(tokenizer, t.BigBirdForMaskedLM(config), folder)


def _funnel() -> tuple[Any, Any]:
    special = ("<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "<s>", "</s>")
    tokenizer = t.FunnelTokenizer(
        vocab=wordpiece(special, lowercase=True, unknown="<unk>"), model_max_length=512
    )
    config = t.FunnelConfig(
        **_of(tokenizer),
        block_sizes=[1, 1],
        num_decoder_layers=1,
        d_model=32,
        n_head=2,
        d_head=16,
        d_inner=64,
    )
    return tokenizer, config


def funnel(folder: Path) -> None:
    """WordPiece whose classification token has a segment of its own; shortened inside, and made long again."""
    tokenizer, config = _funnel()
    save(tokenizer, t.FunnelForMaskedLM(config), folder)


def funnel_base(folder: Path) -> None:
    """Funnel without the part that makes its vectors as many as the sub-tokens again."""
    tokenizer, config = _funnel()
    save(tokenizer, t.FunnelBaseModel(config), folder)


def xlnet_tokenizer(**options: Any) -> t.XLNetTokenizer:
    """Unigram with the classification token at the end, in a segment of its own."""
    special = ("<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>")
    return t.XLNetTokenizer(vocab=unigram(special, "<unk>"), **options)


def xlnet(folder: Path) -> None:
    """Relative positions without a limit; each sub-token's vector is made from both sides."""
    tokenizer = xlnet_tokenizer()
    config = t.XLNetConfig(**_of(tokenizer), d_model=32, n_layer=2, n_head=2, d_inner=64)
    save(tokenizer, t.XLNetLMHeadModel(config), folder)


def canine(folder: Path) -> None:
    """Characters by their code points, hashed: no vocabulary, no sub-tokens, no table of their embeddings."""
    config = t.CanineConfig(
        num_hash_buckets=64, max_position_embeddings=512, local_transformer_stride=16, **SIZES
    )
    save(t.CanineTokenizer(model_max_length=512), t.CanineModel(config), folder)


def _byte_tokenizer(begin: str, end: str, pad: str) -> Any:
    """Byte-level BPE of today's decoders: `begin` before a text and `end` behind it, if they are given."""
    vocabulary = byte_level([])
    tokenizer = Tokenizer(
        models.BPE(vocabulary["vocab"], [tuple(merge) for merge in vocabulary["merges"]])
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(LLAMA_3), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(dict.fromkeys(name for name in (begin, end, pad) if name)))
    frame, ids = (
        f"{begin} {{}} {end}".strip(),
        [(name, tokenizer.token_to_id(name)) for name in (begin, end) if name],
    )
    if ids:
        tokenizer.post_processor = processors.TemplateProcessing(
            frame.format("$A"),
            frame.format("$A") + " " + frame.format("$B").removeprefix(begin).strip(),
            ids,
        )
    return t.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        **({"bos_token": begin} if begin else {}),
        eos_token=end or pad,
        pad_token=pad,
        model_input_names=["input_ids", "attention_mask"],
        model_max_length=8_192,
    )


def _decoder(folder: Path, config: Any, model: Any, tokenizer: Any, **fields: Any) -> None:
    sizes = {**SIZES, "num_key_value_heads": 1, "head_dim": 16, **fields}
    ids = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    save(tokenizer, model(config(**_of(tokenizer), **ids, **sizes)), folder)


def qwen3(folder: Path) -> None:
    """Qwen3-Embedding: a decoder whose texts end with the token that also pads them, and begin with none."""
    _decoder(
        folder, t.Qwen3Config, t.Qwen3Model, _byte_tokenizer("", "<|endoftext|>", "<|endoftext|>")
    )


def llama(folder: Path) -> None:
    """A decoder with a token before the text, which no classification token is."""
    tokenizer = _byte_tokenizer("<|begin_of_text|>", "", "<|end_of_text|>")
    _decoder(folder, t.LlamaConfig, t.LlamaForCausalLM, tokenizer)


def mistral(folder: Path) -> None:
    """A decoder with a window of attention."""
    tokenizer = _byte_tokenizer("<s>", "", "</s>")
    _decoder(folder, t.MistralConfig, t.MistralModel, tokenizer, sliding_window=8)


def gemma3(folder: Path) -> None:
    """A decoder with layers of both kinds: a window of attention, and all of it."""
    tokenizer = _byte_tokenizer("<bos>", "<eos>", "<pad>")
    kinds = ["sliding_attention", "full_attention"]
    _decoder(
        folder,
        t.Gemma3TextConfig,
        t.Gemma3TextModel,
        tokenizer,
        sliding_window=8,
        layer_types=kinds,
    )


def ultrabert(folder: Path) -> None:
    """An encoder of a decoder's parts, with windows of attention."""
    tokenizer = _byte_tokenizer("[CLS]", "[SEP]", "[PAD]")
    config = t.AutoConfig.for_model("ultrabert").__class__
    kinds = ["sliding_attention", "full_attention"]
    _decoder(
        folder,
        config,
        t.AutoModelForMaskedLM.from_config,
        tokenizer,
        sliding_window=8,
        layer_types=kinds,
    )


def embedding_gemma2(folder: Path) -> None:
    """EmbeddingGemma 2, which reads pictures and sound, too: an encoder with an embedding of its own for each layer."""
    tokenizer = _byte_tokenizer("<bos>", "<eos>", "<pad>")
    text = t.EmbeddingGemma2TextConfig(
        **_of(tokenizer), **SIZES, num_key_value_heads=1, head_dim=16, sliding_window=8,
        layer_types=["sliding_attention", "full_attention"], hidden_size_per_layer_input=8, embedding_dim=48,
    )  # fmt: skip
    config = t.AutoConfig.for_model(
        "embedding_gemma2", text_config=text.to_dict(), vision_config=None, audio_config=None
    )
    save(tokenizer, t.AutoModel.from_config(config), folder)
    stored = json.loads((folder / "config.json").read_text())
    # The release has the parts, which are left out
    stored["vision_config"] = {"model_type": "gemma4_vision"}
    (folder / "config.json").write_text(json.dumps(stored))
