"""The inputs of a pretraining in the order in which they are seen; place and seed decide all of each.

Documents are one sequence of sub-tokens, cut into inputs of full length; some sub-tokens an encoder has to predict.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, islice, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from blurb.extensions.lab.pretraining.recipe import FIRST, VERSION, Recipe
from blurb.messages import DataError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Ints = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
DOCUMENTS_AT_ONCE = 1_000
DOCUMENTS = 3
"""Random streams of this module, beside those of `inputs`."""
LEAST_WORDS = 300_000
"""By which frequencies of sub-tokens and pairs of them are known well enough to be compared with."""


@dataclass(frozen=True)
class Stream:
    """Sub-tokens of all documents in a row; a separator follows each document.

    :param ids: sub-token ids, of shape (tokens,)
    :param starts: whether a sub-token begins a word, likewise; separators begin one that is never masked
    :param sizes: UTF-8 bytes of the word that begins there, with the blank before it; 0 inside of words, likewise
    :param separator: its id
    """

    ids: Shorts
    starts: Bools
    sizes: Shorts
    separator: int

    @property
    def words(self) -> int:
        """Number of words."""
        return int(self.starts.sum() - (self.ids == self.separator).sum())


def stream(texts: Iterable[str], tokenizer: PreTrainedTokenizerBase) -> Stream:
    """Tokenizes documents by words that blanks separate, which are the words of the budget.

    :raises DataError: if there is no text
    """
    ids: list[Shorts] = []
    starts: list[Bools] = []
    sizes: list[Shorts] = []
    separator = int(tokenizer.sep_token_id)
    documents = filter(None, (text.split() for text in texts))
    while batch := list(islice(documents, DOCUMENTS_AT_ONCE)):
        coded = tokenizer(
            batch,
            is_split_into_words=True,
            add_special_tokens=False,
            return_attention_mask=False,
            verbose=False,
        )
        for number, words in enumerate(batch):
            places = np.asarray(coded.word_ids(number), dtype=np.int64)
            begins = np.diff(places, prepend=-1) != 0
            lengths = np.asarray([len(word.encode()) + 1 for word in words], dtype=np.int64)
            ids.append(np.asarray([*coded["input_ids"][number], separator], dtype=np.int32))
            starts.append(np.append(begins, True))
            sizes.append(np.append(np.where(begins, lengths[places], 0), 0).astype(np.int32))
    if not ids:
        raise DataError("There is no text to pretrain on.")
    return Stream(np.concatenate(ids), np.concatenate(starts), np.concatenate(sizes), separator)


def enough(texts: Sequence[str], words: int, seed: int) -> Sequence[str]:
    """The documents that a budget of words reads: drawn by the seed, in the order of the text; all if it reads all.

    So a small budget begins at once, however much text there is. They are a quarter more than the budget, as the rest
    of an input is dropped, and at least `LEAST_WORDS`.
    """
    drawn = np.random.default_rng((seed, DOCUMENTS)).permutation(len(texts)).tolist()
    shuffled = [texts[place] for place in drawn]
    count = len(first_words(shuffled, max(LEAST_WORDS, words + words // 4)))
    return [texts[place] for place in sorted(drawn[:count])]


def first_words(texts: Sequence[str], words: int) -> list[str]:
    """The first documents, until they have so many words; the rest is not looked at."""
    before = accumulate((len(text.split()) for text in texts), initial=0)
    return [
        text
        for text, _ in takewhile(lambda pair: pair[1] < words, zip(texts, before, strict=False))
    ]


def cut(whole: Stream, length: int) -> list[slice]:
    """Places of the inputs: `length` - 2 sub-tokens each, as [CLS] and [SEP] stand around them; the rest is dropped.

    A text of less than one input is one.
    """
    room = length - 2
    return [
        slice(begin, begin + room) for begin in range(0, max(1, len(whole.ids) - room + 1), room)
    ]


IGNORED = -100
"""Label of a sub-token that is not predicted (torch's cross entropy)."""
MASKED, RANDOM = 0.8, 0.1
"""Of the chosen sub-tokens; the rest is shown as it is (Devlin et al. 2019, section 3.1)."""


def choose(
    starts: Bools,
    free: Bools,
    rate: float,
    whole_word: bool,
    generator: np.random.Generator,
    version: int = VERSION,
) -> npt.NDArray[np.bool_]:
    """The sub-tokens to predict: on average `rate` of those that are free, at least one.

    :param starts: whether a sub-token begins a word, of shape (length,)
    :param free: whether it may be chosen, likewise; special tokens may not
    :param whole_word: words are drawn, and all of their sub-tokens chosen, until there are enough; the last of them
        with the probability that makes the average right
    :param version: of the recipe
    """
    chosen = np.zeros(len(starts), dtype=np.bool_)
    mean = rate * int(free.sum())
    if not whole_word:
        count = round(mean) if version == FIRST else int(mean) + int(generator.random() < mean % 1)
        places = np.flatnonzero(free)
        chosen[generator.choice(places, min(max(1, count), len(places)), replace=False)] = True
        return chosen
    words = np.cumsum(starts)
    numbers, lengths = np.unique(words[free], return_counts=True)
    order = generator.permutation(len(numbers))
    before = np.cumsum(lengths[order]) - lengths[order]
    taken = order[before < max(1, round(mean) if version == FIRST else mean)]
    if version != FIRST and len(taken) > 1:
        last = len(taken) - 1
        taken = taken[
            : last + int(generator.random() < (mean - before[last]) / lengths[taken[last]])
        ]
    return np.isin(words, numbers[taken]) & free


def mask(
    ids: Ints, chosen: Bools, mask_id: int, ordinary: Ints, generator: np.random.Generator
) -> tuple[Ints, Ints]:
    """The input of the encoder, and the labels.

    :param ordinary: ids that may stand in for a chosen sub-token: no special tokens
    """
    draw = generator.random(len(ids))
    seen = np.where(chosen & (draw < MASKED), mask_id, ids)
    swapped = chosen & (draw >= MASKED) & (draw < MASKED + RANDOM)
    seen[swapped] = generator.choice(ordinary, int(swapped.sum()))
    return seen, np.where(chosen, ids, IGNORED)


ORDER, MASK, PAIR = 0, 1, 2
"""Random draws; each has a generator of its own."""


@lru_cache(maxsize=1)
def epoch_order(seed: int, epoch: int, inputs: int) -> Ints:
    """The places of all inputs in the order of an epoch; that of the last one is kept."""
    return np.random.default_rng((seed, ORDER, epoch)).permutation(inputs)


@dataclass(frozen=True)
class PretrainingInputs:
    """A dataset of torch: as long as the whole pretraining, epoch after epoch, each in another order.

    So a pretraining that goes on after a kill sees what it would have seen, whatever else was drawn before.
    """

    stream: Stream
    recipe: Recipe
    tokenizer: PreTrainedTokenizerBase

    @cached_property
    def slices(self) -> list[slice]:
        """The inputs of an epoch, in the order of the text."""
        return cut(self.stream, self.recipe.length - int(self.recipe.next_sentence))

    @cached_property
    def updates(self) -> int:
        """Updates that the budget of words makes."""
        words = self.recipe.words
        return max(1, math.ceil(words / self.words_per_update)) if words else 0

    @property
    def words_per_update(self) -> float:
        """Mean number of words of an update."""
        return self.stream.words / len(self.slices) * self.recipe.batch

    def update(self, number: int) -> dict[str, Any]:
        """The batch of an update, counted from 0."""
        from transformers import default_data_collator

        size = self.recipe.batch
        return default_data_collator([self[number * size + row] for row in range(size)])  # type: ignore[no-any-return]

    @cached_property
    def _ordinary(self) -> Ints:
        return np.setdiff1d(np.arange(len(self.tokenizer)), self.tokenizer.all_special_ids)

    def __len__(self) -> int:
        return self.updates * self.recipe.batch

    def __getitem__(self, place: int) -> dict[str, Any]:
        recipe = self.recipe
        epoch, number = divmod(place, len(self.slices))
        order = epoch_order(recipe.seed, epoch, len(self.slices))
        ids, starts, follows = self._content(int(order[number]), place)
        free = (ids != self.tokenizer.cls_token_id) & (ids != self.stream.separator)
        generator = np.random.default_rng((recipe.seed, MASK, place))
        picked = choose(
            starts,
            free,
            recipe.rate_at(place / len(self)),
            recipe.whole_word,
            generator,
            recipe.version,
        )
        seen, labels = mask(ids, picked, self.tokenizer.mask_token_id, self._ordinary, generator)
        item: dict[str, Any] = {"input_ids": seen, "labels": labels}
        if recipe.next_sentence:
            half = (len(ids) - 3) // 2 + 2
            item |= {
                "token_type_ids": (np.arange(len(ids)) >= half).astype(np.int64),
                "next_sentence_label": follows,
            }
        return item

    def _content(self, chosen: int, place: int) -> tuple[Ints, Any, int]:
        """Ids with special tokens, where words start, and 1 if the second half is of elsewhere (BERT's coding)."""
        ids, starts = self._ids(chosen), self.stream.starts[self.slices[chosen]]
        first, last = [self.tokenizer.cls_token_id], [self.stream.separator]
        if not self.recipe.next_sentence:
            return np.concatenate([first, ids, last]), np.concatenate([[True], starts, [True]]), 0
        generator = np.random.default_rng((self.recipe.seed, PAIR, place))
        half, follows = len(ids) // 2, 0
        second, begins = ids[half:], starts[half:]
        if generator.random() < 0.5 and len(self.slices) > 1:
            other = (chosen + 1 + int(generator.integers(len(self.slices) - 1))) % len(self.slices)
            second, begins = self._ids(other)[half:], self.stream.starts[self.slices[other]][half:]
            follows = 1
        return (
            np.concatenate([first, ids[:half], last, second, last]),
            np.concatenate([[True], starts[:half], [True], begins, [True]]),
            follows,
        )

    def _ids(self, number: int) -> Ints:
        return self.stream.ids[self.slices[number]].astype(np.int64)
