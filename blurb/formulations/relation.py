"""Relation extraction: classification of a text with two entities."""

from __future__ import annotations

from collections.abc import Sequence

from blurb.data.schema import Example
from blurb.formulations._base import Classification
from blurb.inputs import relations
from blurb.inputs.features import Features
from blurb.inputs.texts import encode_relations
from blurb.inputs.tokenizer import Tokenizer
from blurb.messages import SettingsError


class Relation(Classification):
    """Shows the entities as the setting `relation_input` says; long texts are cut to a window around them."""

    own_settings = ("relation_input",)
    has_entities = True
    vectors = ("first", "mean", "head", "tail")

    @property
    def strategy(self) -> str:
        """The setting `relation_input`, one of `blurb.inputs.relations.STRATEGIES`."""
        return self.settings.relation_input

    @property
    def has_markers(self) -> bool:
        return self.strategy in relations.MARKERS

    @property
    def needs_original(self) -> bool:
        """Whether the entities' names are needed, which the BLURB files of some tasks lack."""
        if self.strategy == "original" and self.task.dummified and not self.task.original:
            possible = ", ".join(name for name in relations.STRATEGIES if name != "original")
            raise SettingsError(
                "{task} was released with dummies in place of its entities, so there is no original text. "
                f"Possible for relation_input: {possible}.",
                task=self.task.name,
            )
        return (
            self.strategy not in relations.DUMMIES
            and self.task.dummified
            and bool(self.task.original)
        )

    def special_tokens(self, units: Sequence[Example]) -> list[str]:
        return relations.special_tokens(units, self.strategy)

    def texts(self, units: Sequence[Example]) -> list[list[str]]:
        return [[relations.mark(unit, self.strategy).text for unit in units]]

    def features(self, units: Sequence[Example], tokenizer: Tokenizer, max_length: int) -> Features:
        marked = [relations.mark(unit, self.strategy) for unit in units]
        texts, heads, tails = (
            [getattr(text, name) for text in marked] for name in ("text", "head", "tail")
        )
        return encode_relations(texts, heads, tails, tokenizer, max_length)
