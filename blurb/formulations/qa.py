"""Question answering: classification of question and context; only the context is truncated."""

from __future__ import annotations

from collections.abc import Sequence

from blurb.data.schema import Example
from blurb.formulations._base import Classification
from blurb.inputs.features import Features
from blurb.inputs.texts import encode_pairs
from blurb.inputs.tokenizer import Tokenizer


class Qa(Classification):
    """[CLS] question [SEP] context [SEP]."""

    def features(self, units: Sequence[Example], tokenizer: Tokenizer, max_length: int) -> Features:
        questions, contexts = ([unit[part] for unit in units] for part in ("question", "context"))
        return encode_pairs(questions, contexts, tokenizer, max_length, shorten="second")
