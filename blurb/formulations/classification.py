"""Classification of a text; long ones are truncated at the end."""

from __future__ import annotations

from collections.abc import Sequence

from blurb.data.schema import Example
from blurb.formulations._base import Classification
from blurb.inputs.features import Features
from blurb.inputs.texts import encode_texts
from blurb.inputs.tokenizer import Tokenizer


class TextClassification(Classification):
    """[CLS] text [SEP]."""

    def features(self, units: Sequence[Example], tokenizer: Tokenizer, max_length: int) -> Features:
        return encode_texts([unit["text"] for unit in units], tokenizer, max_length)
