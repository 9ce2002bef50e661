"""The recipe of a pretraining; its hash names it, and a killed one goes on only under the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from blurb.fields import Field, check_fields, declare_field
from blurb.messages import SettingsError, UnknownName
from blurb.options import option
from blurb.system.files import json_hash, read_json

ABOUT = "pretraining.json"
PLAN = "recipe.json"
"""Stands in the folder before the first checkpoint, with the precision, in which every machine goes on."""
SIZES: Mapping[str, Mapping[str, int]] = {
    "tiny": {"num_hidden_layers": 2, "hidden_size": 128},
    "mini": {"num_hidden_layers": 4, "hidden_size": 256},
    "small": {"num_hidden_layers": 6, "hidden_size": 384},
}
"""Heads are 64 wide and the inner layer four times the hidden one, as in BERT (Devlin et al. 2019)."""
HEAD = 64
VERSION = 2
"""Raised by hand when a change gives other weights for the same recipe; what began with another keeps it.

Version 1 masked whole words until there were enough, 15.6 % for a rate of 15 %, and the nearest number of sub-tokens;
and it read all documents in an order of all their inputs, where later ones draw the documents that a budget reads.
"""
FIRST = 1
"""The version of recipes that name none."""
LATER = ("vocabulary_of",)
"""Settings that came later: left out of the hash while they are empty."""
VocabularyKind = Literal["wordpiece", "bpe"]


@dataclass(frozen=True)
class Recipe:
    """The settings of a pretraining.

    :param size: a key of `SIZES`; "" for the size of `start`
    :param start: checkpoint whose weights and vocabulary are taken; "" for random weights
    :param vocabulary: number of entries; 0 for that of `start`
    :param vocabulary_of: checkpoint with a WordPiece vocabulary, of which the letters of the text and the first entries
        are taken; "" learns one from the text
    :param words: budget, in words of text seen; equal budgets are equal text, whatever the vocabulary. 0 leaves the
        weights as they are drawn
    :param mask_rate: part of the tokens that is masked; with `rising`, at the end
    :param rising: the rate grows from a fifth of it, as from 5 to 25 % in Gu et al., section 3.1
    :param whole_word: all sub-tokens of a word are masked, or none
    :param next_sentence: the encoder also learns whether the second half of its input follows the first
    :param length: sub-tokens of an input, special tokens included
    :param batch: inputs of an update
    :param version: of what these settings mean: `VERSION`, or that with which a pretraining began
    """

    size: str = option(
        "tiny",
        "",
        "tiny (2 layers of 128), mini (4 of 256) or small (6 of 384).",
        choices=tuple(SIZES),
        words=("",),
    )
    start: str = option(
        "", "", "Continue from a checkpoint, with its vocabulary.", flag="--from", metavar="FOLDER"
    )
    vocabulary: int = option(8_000, "", "Entries of the vocabulary that is learnt.", low=0)
    vocabulary_of: str = option(
        "",
        "",
        "Take the entries from the WordPiece vocabulary of a checkpoint, the first ones.",
        metavar="FOLDER",
    )
    kind: VocabularyKind = option(
        "wordpiece",
        "",
        "Kind of vocabulary.",
        choices=get_args(VocabularyKind),
        noun="kind of vocabulary",
    )
    cased: bool = option(False, "", "Keep upper case.")
    words: int = declare_field(1_000_000, Field(low=0))
    mask_rate: float = option(0.15, "", "Part of the sub-tokens to predict.", above=0, below=1)
    rising: bool = option(False, "", "The mask rate grows from a fifth of it.")
    whole_word: bool = option(False, "", "Mask all sub-tokens of a word, or none.")
    next_sentence: bool = option(False, "", "Also learn whether one text follows another.")
    length: int = option(64, "", "Sub-tokens of an input.", low=8, most=512)
    batch: int = option(32, "", "Inputs of an update.", low=1)
    lr: float = option(3e-3, "", "Learning rate; 1e-3 suits mini and small.", above=0, below=1)
    warmup: float = declare_field(0.06, Field(low=0, below=1))
    weight_decay: float = declare_field(0.01, Field(low=0, below=1))
    dropout: float = declare_field(0.0, Field(low=0, below=1))
    seed: int = option(1, "", "Decides weights, masks and order.", low=0, below=2**32)
    version: int = VERSION

    def check(self) -> None:
        """Raises a SettingsError for what no pretraining can do."""
        check_fields(self)
        if not self.start and self.size not in SIZES:
            raise UnknownName("size", self.size, SIZES)
        if self.vocabulary_of and (self.start or self.kind != "wordpiece"):
            raise SettingsError(
                "A vocabulary of a checkpoint is WordPiece, and for random weights."
            )
        if not self.start and self.vocabulary < 100:
            raise SettingsError(f"A vocabulary needs at least 100 entries (got {self.vocabulary}).")

    def rate_at(self, progress: float) -> float:
        """The mask rate at a part of the way, 0 to 1."""
        return self.mask_rate * (0.2 + 0.8 * progress) if self.rising else self.mask_rate

    def hash(self, text: str) -> str:
        """16 hexadecimal digits for the recipe on a text.

        :param text: hash of the documents
        """
        own = {name: value for name, value in asdict(self).items() if value or name not in LATER}
        return json_hash({**own, "text": text})[:16]


def version_in(out: Path, asked: int = VERSION) -> int:
    """The version of pretraining in a folder: that of its start, else the one that is asked for."""
    return version_of(read_json(out / PLAN)) if (out / PLAN).is_file() else asked


def version_of(about: Mapping[str, Any]) -> int:
    """The version of the recipe with which a pretraining began, from what is written of it."""
    recipe = about.get("recipe")
    return int(recipe.get("version", FIRST)) if isinstance(recipe, dict) else VERSION
