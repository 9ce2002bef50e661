"""Documents as one sequence of sub-tokens, cut into inputs of full length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from blurb.messages.errors import DataError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Ints = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
DOCUMENTS_AT_ONCE = 1_000
DOCUMENTS = 3
"""What is drawn here, beside what `inputs` draws."""
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
    batch: list[list[str]] = []
    separator = int(tokenizer.sep_token_id)

    def flush() -> None:
        coded = tokenizer(
            batch, is_split_into_words=True, add_special_tokens=False, return_attention_mask=False, verbose=False
        )
        for number, words in enumerate(batch):
            places = np.asarray(coded.word_ids(number), dtype=np.int64)
            begins = np.diff(places, prepend=-1) != 0
            lengths = np.asarray([len(word.encode()) + 1 for word in words], dtype=np.int64)
            ids.append(np.asarray([*coded["input_ids"][number], separator], dtype=np.int32))
            starts.append(np.append(begins, True))
            whole = np.append(np.where(begins, lengths[places], 0) if len(places) else places, 0)
            sizes.append(whole.astype(np.int32))
        batch.clear()

    for text in texts:
        if words := text.split():
            batch.append(words)
        if len(batch) == DOCUMENTS_AT_ONCE:
            flush()
    if batch:
        flush()
    if not ids:
        raise DataError("There is no text to pretrain on.")
    return Stream(np.concatenate(ids), np.concatenate(starts), np.concatenate(sizes), separator)


def enough(texts: Sequence[str], words: int, seed: int) -> Sequence[str]:
    """The documents that a budget of words reads: drawn by the seed, in the order of the text; all if it reads all.

    So a small budget begins at once, however much text there is. They are a quarter more than the budget, as the rest
    of an input is dropped, and at least `LEAST_WORDS`.
    """
    wanted, taken = max(LEAST_WORDS, words + words // 4), []
    for place in np.random.default_rng((seed, DOCUMENTS)).permutation(len(texts)).tolist():
        if wanted <= 0:
            break
        taken.append(place)
        wanted -= len(texts[place].split())
    return [texts[place] for place in sorted(taken)]


def cut(whole: Stream, length: int) -> Sequence[slice]:
    """Places of the inputs: `length` - 2 sub-tokens each, as [CLS] and [SEP] stand around them; the rest is dropped.

    A text of less than one input is one.
    """
    room = length - 2
    count = max(1, len(whole.ids) // room)
    return [slice(number * room, (number + 1) * room) for number in range(count)]
