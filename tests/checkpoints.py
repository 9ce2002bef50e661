"""Tiny random checkpoints, each with the real kind of tokenizer of its family, trained on made-up text.

`build(kind, folder)` writes one as `save_pretrained` would; no network, a fraction of a second each.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    BertTokenizer,
    DebertaV2Config,
    DebertaV2Model,
    DebertaV2Tokenizer,
    ModernBertConfig,
    ModernBertForMaskedLM,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaTokenizer,
    T5Config,
    T5ForConditionalGeneration,
    T5Tokenizer,
)

SYLLABLES = ("ka", "lo", "mi", "tra", "nex", "vor", "pil", "dun", "sey", "gra", "bo", "fin", "zu", "qe", "hy", "wos")
ODD = ("β", "naïve", "@DRUG$", "@GENE$", "@CHEMICAL$", "(-)", ";", ".", "12.5", "%")
SIZES: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64,
}  # fmt: skip
ROBERTA = ("<s>", "<pad>", "</s>", "<unk>")


def words(seed: int = 0, size: int = 300) -> list[str]:
    """Made-up words of one to four syllables, some with capitals, and a few with odd characters."""
    rng = random.Random(seed)
    plain = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(size)]
    return plain + [word.capitalize() for word in plain[::4]] + [word.upper() for word in plain[::8]] + list(ODD)


def texts(seed: int = 0, size: int = 300) -> list[str]:
    """Made-up sentences of 3 to 20 words."""
    rng, lexicon = random.Random(seed + 1), words(seed)
    return [" ".join(rng.choices(lexicon, k=rng.randint(3, 20))) for _ in range(size)]


def _trained(tokenizer: Tokenizer, trainer: Any) -> dict[str, Any]:
    """The `model` part of a tokenizer.json after training: vocabulary, merges or scores."""
    tokenizer.train_from_iterator(texts(), trainer)
    found: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    return found


def _wordpiece(lowercase: bool) -> BertTokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    model = _trained(tokenizer, trainers.WordPieceTrainer(vocab_size=350, special_tokens=special, show_progress=False))
    # Sorted, as the trainer draws the order of equals anew each time.
    subtokens = [*special, *sorted(set(model["vocab"]) - set(special))]
    vocabulary = {piece: index for index, piece in enumerate(subtokens)}
    return BertTokenizer(vocab=vocabulary, do_lower_case=lowercase, model_max_length=512)


def _byte_level(special: list[str]) -> dict[str, Any]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=450, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )  # fmt: skip
    return _trained(tokenizer, trainer)


def _unigram(special: list[str], unknown: str) -> list[tuple[str, float]]:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=350, special_tokens=special, unk_token=unknown, show_progress=False)
    subtokens = dict(_trained(tokenizer, trainer)["vocab"])
    # Sorted and rounded, as the trainer draws the order and the last digits anew each time.
    return [(piece, 0.0) for piece in special] + sorted(
        (piece, round(score, 1)) for piece, score in subtokens.items() if piece not in special
    )


def _save(tokenizer: Any, model: Any, folder: Path) -> None:
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)


def bert_uncased(folder: Path) -> None:
    """WordPiece that lower-cases; a trained pooler, as BERT's own checkpoints have one."""
    tokenizer = _wordpiece(lowercase=True)
    _save(tokenizer, BertForPreTraining(BertConfig(vocab_size=len(tokenizer), **SIZES)), folder)


def bert_cased(folder: Path) -> None:
    """WordPiece with capitals; no pooler in the weights."""
    tokenizer = _wordpiece(lowercase=False)
    _save(tokenizer, BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **SIZES)), folder)


def roberta(folder: Path) -> None:
    """Byte-level BPE; 514 positions, of which 512 can be used; no segment ids."""
    model = _byte_level([*ROBERTA, "<mask>"])
    tokenizer = RobertaTokenizer(
        vocab=model["vocab"], merges=[tuple(merge) for merge in model["merges"]], model_max_length=512
    )
    config = RobertaConfig(vocab_size=len(tokenizer), max_position_embeddings=514, type_vocab_size=1, **SIZES)
    _save(tokenizer, RobertaForMaskedLM(config), folder)


def modernbert(folder: Path) -> None:
    """Byte-level BPE of the GPT-NeoX kind: NFC, special tokens behind the rest, and added tokens for runs of blanks."""
    vocabulary = _byte_level([])
    tokenizer = Tokenizer(models.BPE(vocabulary["vocab"], [tuple(merge) for merge in vocabulary["merges"]]))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"])
    tokenizer.add_tokens(["    ", "   ", "  "])
    ids = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", ids)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]",
        mask_token="[MASK]", model_input_names=["input_ids", "attention_mask"], model_max_length=8_192,
    )  # fmt: skip
    special = {f"{role}_token_id": getattr(fast, f"{role}_token_id") for role in ("pad", "cls", "sep")}
    config = ModernBertConfig(
        vocab_size=len(fast), bos_token_id=special["cls_token_id"], eos_token_id=special["sep_token_id"],
        max_position_embeddings=8_192, local_attention=16, **special, **SIZES,
    )  # fmt: skip
    _save(fast, ModernBertForMaskedLM(config), folder)


def deberta(folder: Path) -> None:
    """DeBERTa-v3's kind: Unigram behind a metaspace, relative positions and no table of absolute ones."""
    vocabulary = _unigram(["[PAD]", "[CLS]", "[SEP]", "[UNK]"], "[UNK]")
    tokenizer = DebertaV2Tokenizer(vocab=[*vocabulary, ("[MASK]", 0.0)], model_max_length=512)
    config = DebertaV2Config(
        vocab_size=len(tokenizer), relative_attention=True, position_buckets=16, norm_rel_ebd="layer_norm",
        share_att_key=True, pos_att_type=["p2c", "c2p"], position_biased_input=False, max_position_embeddings=512,
        type_vocab_size=0, **SIZES,
    )  # fmt: skip
    _save(tokenizer, DebertaV2Model(config), folder)


def t5(folder: Path) -> None:
    """An encoder-decoder whose tokenizer adds no classification token."""
    vocabulary = _unigram(["<pad>", "</s>", "<unk>"], "<unk>")
    tokenizer = T5Tokenizer(vocab=vocabulary, extra_ids=0, additional_special_tokens=[], model_max_length=512)
    config = T5Config(
        vocab_size=len(tokenizer), d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, decoder_start_token_id=0
    )
    _save(tokenizer, T5ForConditionalGeneration(config), folder)


def bertweet(folder: Path) -> None:
    """A tokenizer without a fast version: its two files, written by hand as the original checkpoint has them."""
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=350, end_of_word_suffix="</w>", show_progress=False)
    model = _trained(tokenizer, trainer)
    # Pieces inside a word end in @@, the last one has no mark; the dictionary holds ids from 4 on by its order.
    subtokens = dict.fromkeys(
        piece.removesuffix("</w>") if piece.endswith("</w>") else f"{piece}@@" for piece in model["vocab"]
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("".join(f"{piece} 1\n" for piece in subtokens), encoding="utf-8")
    merges = "".join(f"{first} {second} 1\n" for first, second in model["merges"])
    (folder / "bpe.codes").write_text(merges, encoding="utf-8")
    settings = {"tokenizer_class": "BertweetTokenizer", "model_max_length": 128}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    config = RobertaConfig(
        vocab_size=len(subtokens) + 5, max_position_embeddings=130, type_vocab_size=1,
        tokenizer_class="BertweetTokenizer",
        **SIZES,
    )  # fmt: skip
    RobertaForMaskedLM(config).save_pretrained(folder)


BUILDERS: dict[str, Callable[[Path], None]] = {
    builder.__name__: builder for builder in (bert_uncased, bert_cased, roberta, modernbert, deberta, t5, bertweet)
}
KINDS = tuple(BUILDERS)


def build(kind: str, folder: Path, seed: int = 0) -> Path:
    """Writes the checkpoint of a kind; the weights follow from the seed."""
    state = torch.random.get_rng_state()
    torch.manual_seed(seed)
    BUILDERS[kind](folder)
    torch.random.set_rng_state(state)
    return folder


def xlnet_like() -> PreTrainedTokenizerFast:
    """A tokenizer (no checkpoint) with its classification token at the end, in a segment of its own."""
    names = ["<unk>", "<pad>", "<sep>", "<cls>"]
    vocabulary = _unigram(names, "<unk>")
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    ids = [(name, tokenizer.token_to_id(name)) for name in ("<sep>", "<cls>")]
    tokenizer.post_processor = processors.TemplateProcessing(
        "$A:0 <sep>:0 <cls>:2", "$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2", ids
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", cls_token="<cls>", sep_token="<sep>", pad_token="<pad>",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip


def odd_words() -> Iterator[str]:
    """Words on which alignments break: accents, Greek, emoji, dropped control characters, long words, punctuation."""
    yield from (
        "naïve",
        "α-β",
        "ΔF508",
        "😀",
        "🧬x",
        "\x07",
        "a\x00b",
        "e\u0301tat",
        "\u0301",
        "\u200b",
        "日本語",
        "--",
    )
    yield from ("(", "...", "@DRUG$", "q" * 300, "[SEP", "µg/ml", "İzmir", "ﬁn", "½", "\ufffd", "ß", "x\u200by", "_")
