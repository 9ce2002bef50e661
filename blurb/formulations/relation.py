"""Relations of two entities in a sentence, which arrive dummified: classification of the whole text."""

from __future__ import annotations

from collections.abc import Sequence

from blurb.data.schema import Row
from blurb.formulations._base import Classification
from blurb.inputs.features import Features
from blurb.inputs.texts import encode_relations
from blurb.inputs.tokenizer import Tokenizer


class Relation(Classification):
    """The text with its dummies; what is too long is cut so that both entities stay."""

    def features(self, units: Sequence[Row], tokenizer: Tokenizer, max_length: int) -> Features:
        heads, tails = ([(unit[role]["start"], unit[role]["end"]) for unit in units] for role in ("head", "tail"))
        return encode_relations([unit["text"] for unit in units], heads, tails, tokenizer, max_length)


FORMULATION = Relation
