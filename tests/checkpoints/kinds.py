"""The kinds of checkpoints that most tests use, each with the real kind of tokenizer."""

import json
from pathlib import Path
from typing import Any

from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
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

from tests.checkpoints.texts import texts
from tests.checkpoints.vocabularies import byte_level, marked, trained, unigram, wordpiece

SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
}
BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA = ("<s>", "<pad>", "</s>", "<unk>")


def bert_tokenizer(lowercase: bool) -> BertTokenizer:
    """BERT's own WordPiece."""
    return BertTokenizer(
        vocab=wordpiece(BERT, lowercase), do_lower_case=lowercase, model_max_length=512
    )


def save(tokenizer: Any, model: Any, folder: Path) -> None:
    """Writes both as a pretraining would."""
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)


def bert_uncased(folder: Path) -> None:
    """WordPiece that lower-cases; a trained pooler, as BERT's own checkpoints have one."""
    tokenizer = bert_tokenizer(lowercase=True)
    save(tokenizer, BertForPreTraining(BertConfig(vocab_size=len(tokenizer), **SIZES)), folder)


def bert_cased(folder: Path) -> None:
    """WordPiece with capitals; no pooler in the weights."""
    tokenizer = bert_tokenizer(lowercase=False)
    save(tokenizer, BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **SIZES)), folder)


def roberta(folder: Path) -> None:
    """Byte-level BPE; 514 positions, of which 512 can be used; no segment ids."""
    model = byte_level([*ROBERTA, "<mask>"])
    tokenizer = RobertaTokenizer(
        vocab=model["vocab"],
        merges=[tuple(merge) for merge in model["merges"]],
        model_max_length=512,
    )
    config = RobertaConfig(
        vocab_size=len(tokenizer), max_position_embeddings=514, type_vocab_size=1, **SIZES
    )
    save(tokenizer, RobertaForMaskedLM(config), folder)


def modernbert(folder: Path) -> None:
    """Byte-level BPE of the GPT-NeoX kind: NFC, special tokens behind the rest, and added tokens for runs of blanks."""
    vocabulary = byte_level([])
    tokenizer = Tokenizer(
        models.BPE(vocabulary["vocab"], [tuple(merge) for merge in vocabulary["merges"]])
    )
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"])
    tokenizer.add_tokens(["    ", "   ", "  "])
    ids = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", ids
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        mask_token="[MASK]",
        model_input_names=["input_ids", "attention_mask"],
        model_max_length=8_192,
    )
    special = {
        f"{role}_token_id": getattr(fast, f"{role}_token_id") for role in ("pad", "cls", "sep")
    }
    config = ModernBertConfig(
        vocab_size=len(fast),
        bos_token_id=special["cls_token_id"],
        eos_token_id=special["sep_token_id"],
        max_position_embeddings=8_192,
        local_attention=16,
        **special,
        **SIZES,
    )
    save(fast, ModernBertForMaskedLM(config), folder)


def deberta(folder: Path) -> None:
    """DeBERTa-v3's kind: Unigram behind a metaspace, relative positions and no table of absolute ones."""
    vocabulary = unigram(["[PAD]", "[CLS]", "[SEP]", "[UNK]"], "[UNK]")
    tokenizer = DebertaV2Tokenizer(vocab=[*vocabulary, ("[MASK]", 0.0)], model_max_length=512)
    config = DebertaV2Config(
        vocab_size=len(tokenizer),
        relative_attention=True,
        position_buckets=16,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
        max_position_embeddings=512,
        type_vocab_size=0,
        **SIZES,
    )
    save(tokenizer, DebertaV2Model(config), folder)


def t5(folder: Path) -> None:
    """An encoder-decoder whose tokenizer adds no classification token."""
    vocabulary = unigram(["<pad>", "</s>", "<unk>"], "<unk>")
    tokenizer = T5Tokenizer(
        vocab=vocabulary, extra_ids=0, additional_special_tokens=[], model_max_length=512
    )
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=16,
        d_ff=64,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
    )
    save(tokenizer, T5ForConditionalGeneration(config), folder)


def bertweet(folder: Path) -> None:
    """A tokenizer without a fast version: its two files, written by hand as the original checkpoint has them."""
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(
        vocab_size=350,
        special_tokens=marked("{}</w>", "".join(texts())),
        end_of_word_suffix="</w>",
        show_progress=False,
    )
    model = trained(tokenizer, trainer)
    # Pieces inside a word end in @@, the last one has no mark; the dictionary holds ids from 4 on by its order.
    subtokens = dict.fromkeys(
        piece.removesuffix("</w>") if piece.endswith("</w>") else f"{piece}@@"
        for piece in model["vocab"]
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text(
        "".join(f"{piece} 1\n" for piece in subtokens), encoding="utf-8"
    )
    merges = "".join(f"{first} {second} 1\n" for first, second in model["merges"])
    (folder / "bpe.codes").write_text(merges, encoding="utf-8")
    settings = {"tokenizer_class": "BertweetTokenizer", "model_max_length": 128}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    config = RobertaConfig(
        vocab_size=len(subtokens) + 5,
        max_position_embeddings=130,
        type_vocab_size=1,
        tokenizer_class="BertweetTokenizer",
        **SIZES,
    )
    RobertaForMaskedLM(config).save_pretrained(folder)
