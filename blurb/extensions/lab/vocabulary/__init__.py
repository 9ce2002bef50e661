"""What a vocabulary does to the texts of the benchmark: Tables 1 and 8 of Gu et al. for any tokenizer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from blurb.data.schema import Example
from blurb.extensions.lab.vocabulary import terms as terms_
from blurb.formulations._base import Formulation
from blurb.inputs.tokenizer import Subtokens, Tokenizer, flat

Ints = npt.NDArray[np.int64]


@dataclass
class Counts:
    """What a tokenizer makes of the inputs of a dataset, as sums.

    :param inputs: number of inputs (sentences, pairs, questions)
    :param words: blank-separated words; the dataset's own in NER and PICO
    :param pieces: sub-tokens without special tokens
    :param unknown: of these, the unknown token
    :param length: sub-tokens with special tokens
    :param longer: inputs longer than `limit`; those of NER and relations are read in windows, the others cut
    :param mentions: entity mentions (NER)
    :param whole: of these, those of which no word is split
    """

    limit: int
    inputs: int = 0
    words: int = 0
    pieces: int = 0
    unknown: int = 0
    length: int = 0
    longer: int = 0
    mentions: int = 0
    whole: int = 0
    mention_words: int = 0
    mention_pieces: int = 0

    @property
    def mean_length(self) -> float:
        """Mean sub-tokens of an input, special tokens included, as in Table 8."""
        return self.length / self.inputs if self.inputs else 0.0


@dataclass(frozen=True)
class VocabularyReport:
    """The report of one tokenizer.

    :param hash: of the vocabulary: equal for tokenizers that give every entry the same id
    :param size: number of entries
    :param terms: term -> its pieces
    :param datasets: dataset -> counts
    """

    name: str
    hash: str
    size: int
    lower_cases: bool
    terms: Mapping[str, Sequence[str]]
    datasets: dict[str, Counts] = field(default_factory=dict)

    def share(self, part: str, whole: str) -> float | None:
        """The ratio of two counts over all datasets; None where the second is 0."""
        sums = [sum(getattr(one, name) for one in self.datasets.values()) for name in (part, whole)]
        return sums[0] / sums[1] if sums[1] else None


def report(name: str, tokenizer: Tokenizer, terms: Sequence[str]) -> VocabularyReport:
    """A report without datasets; `count` adds them."""
    return VocabularyReport(
        name,
        vocabulary_hash(tokenizer),
        len(tokenizer.inner.get_vocab()),
        tokenizer.lower_cases,
        terms_.split(tokenizer, terms),
    )


def vocabulary_hash(tokenizer: Tokenizer) -> str:
    """SHA-256 of the entries by id."""
    entries = sorted(tokenizer.inner.get_vocab().items(), key=lambda entry: (entry[1], entry[0]))
    return hashlib.sha256(json.dumps(entries).encode()).hexdigest()


def count(tokenizer: Tokenizer, formulation: Formulation, examples: Sequence[Example], limit: int) -> Counts:
    """The counts of the examples of a dataset, read as in training.

    :param limit: maximum number of sub-tokens of an input
    """
    texts = formulation.texts(formulation.units(examples))
    frame = tokenizer.special_tokens
    around = (frame.prefix, frame.suffix) if len(texts) == 1 else (frame.prefix, frame.middle, frame.pair_suffix)
    has_mentions = formulation.task.task_type.borders
    placed = tokenizer.subtokens(texts[0]) if has_mentions else []
    counted = [flat(placed)] if has_mentions else [tokenizer.counted(part) for part in texts]
    lengths = np.sum([sizes for _, sizes in counted], axis=0) + sum(map(len, around))
    unknown = tokenizer.inner.unk_token_id
    counts = Counts(
        limit=limit,
        inputs=len(lengths),
        words=sum(len(text.split()) for part in texts for text in part),
        pieces=sum(len(ids) for ids, _ in counted),
        unknown=0 if unknown is None else sum(int((ids == unknown).sum()) for ids, _ in counted),
        length=int(lengths.sum()),
        longer=int((lengths > limit).sum()),
    )
    if has_mentions:
        _add_mentions(counts, texts[0], placed, examples)
    return counts


def _add_mentions(
    found: Counts, texts: Sequence[str], placed: Sequence[Subtokens], examples: Sequence[Example]
) -> None:
    """Counts the entity mentions, and the sub-tokens of their words."""
    tags = np.array([tag[0] for row in examples for tag in row["tags"]])
    inside = tags != "O"
    of_word = _pieces_of_words(texts, placed, [len(word) for row in examples for word in row["tokens"]])
    mention = np.cumsum(tags == "B") - 1
    split = np.bincount(mention[inside], weights=of_word[inside] != 1)
    found.mentions, found.whole = len(split), int((split == 0).sum())
    found.mention_words, found.mention_pieces = int(inside.sum()), int(of_word[inside].sum())


def _pieces_of_words(texts: Sequence[str], placed: Sequence[Subtokens], words: Sequence[int]) -> Ints:
    """The number of sub-tokens of each word, (words,); a sub-token belongs to the word that it begins in.

    :param words: length of each word of all texts, whose words are joined by single blanks
    """
    # Every text has a place of its own on one line of characters, with a blank between two.
    begins = np.cumsum([0, *(len(text) + 1 for text in texts)])
    starts = [np.array(one.starts, dtype=np.int64) + begin for one, begin in zip(placed, begins, strict=False)]
    ends = np.cumsum(np.array(words) + 1)
    found: Ints = np.bincount(np.searchsorted(ends, np.concatenate(starts), side="right"), minlength=len(words))
    return found
