"""The vocabulary of a baseline that is trained from nothing: the words or the WordPieces of its training texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tokenizers import Tokenizer as Backend
from tokenizers import models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from blurb.checkpoints.scratch import SPECIAL, wordpiece
from blurb.inputs.tokenizer import Tokenizer

LONGEST = 512
"""Positions of a text."""


def words(texts: Sequence[str], size: int, min_count: int) -> Tokenizer:
    """Lower-cased words, and each sign of punctuation by itself; others are unknown.

    :param size: maximum number of words: the most frequent, in alphabetical order if tied
    :param min_count: number of texts that a word must occur in
    """
    normalizer, splitter = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({word for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))})
    kept = sorted((word for word in counts if counts[word] >= min_count), key=lambda word: (-counts[word], word))
    vocabulary = {word: index for index, word in enumerate([*SPECIAL, *kept[:size]])}
    backend = Backend(models.WordLevel(vocabulary, unk_token="[UNK]"))
    backend.normalizer, backend.pre_tokenizer = normalizer, splitter
    ids = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=ids
    )
    return Tokenizer(
        PreTrainedTokenizerFast(
            tokenizer_object=backend,
            unk_token="[UNK]",
            cls_token="[CLS]",
            sep_token="[SEP]",
            pad_token="[PAD]",
            model_input_names=["input_ids", "token_type_ids", "attention_mask"],
            model_max_length=LONGEST,
        )
    )


def pieces(texts: Sequence[str], size: int, min_count: int) -> Tokenizer:
    """Lower-cased WordPieces, learnt from the texts; a word that one occurs in need not have been seen.

    :param size: number of pieces, about
    :param min_count: as for `words`; a pair of pieces is joined if it occurs that often
    """
    found: Any = wordpiece(sorted(set(texts)), size, min_count)
    return Tokenizer(found)


VOCABULARIES = {"words": words, "wordpiece": pieces}
"""By the value of the option `vocabulary`."""
