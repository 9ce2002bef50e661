"""A uniform interface to all tokenizers: sub-tokens with offsets, and the special tokens around them.

Everything is determined by testing the tokenizer, never from its class or the model's type, so WordPiece, byte-level
BPE, SentencePiece and tokenizers without a fast version are treated alike.
"""

from __future__ import annotations

import copy
import json
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from blurb.inputs.features import Ints, Ragged
from blurb.messages import ModelError
from blurb.system.files import file_hash, text_hash


@dataclass(frozen=True)
class SpecialTokens:
    """Special tokens around one text (`prefix A suffix`) or two (`prefix A middle B pair_suffix`), with segment ids.

    :param types: segment ids of (prefix, A, middle, B, suffix) in a pair, or None if the tokenizer has none
    :param single_suffix_types: segment ids of `suffix` (XLNet's classification token has its own)
    :param cls: index of the classification token: 0 (first), -1 (last), or None if there is none
    """

    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    middle: tuple[int, ...]
    pair_suffix: tuple[int, ...]
    types: tuple[tuple[int, ...], int, tuple[int, ...], int, tuple[int, ...]] | None
    single_suffix_types: tuple[int, ...]
    cls: int | None

    @property
    def highest_type(self) -> int:
        """The highest segment id of a pair; 0 without segment ids."""
        if self.types is None:
            return 0
        prefix, a, middle, b, suffix = self.types
        return max(*prefix, a, *middle, b, *suffix)

    def segments(self, rows: Iterable[list[int] | None]) -> Ragged | None:
        """The segment ids of inputs, as `single_types` and `pair_types` give them; None without segment ids."""
        return None if self.types is None else Ragged.of(row for row in rows if row is not None)

    def single(self, ids: Sequence[int]) -> list[int]:
        """Ids of one text with its special tokens."""
        return [*self.prefix, *ids, *self.suffix]

    def pair(self, first: Sequence[int], second: Sequence[int]) -> list[int]:
        """Ids of two texts with their special tokens."""
        return [*self.prefix, *first, *self.middle, *second, *self.pair_suffix]

    def single_types(self, size: int) -> list[int] | None:
        """Segment ids of one text of `size` sub-tokens."""
        if self.types is None:
            return None
        prefix, a, *_ = self.types
        return [*prefix, *[a] * size, *self.single_suffix_types]

    def pair_types(self, first: int, second: int) -> list[int] | None:
        """Segment ids of two texts of these sizes."""
        if self.types is None:
            return None
        prefix, a, middle, b, suffix = self.types
        return [*prefix, *[a] * first, *middle, *[b] * second, *suffix]


def special_tokens_of(inner: Any) -> SpecialTokens:
    """The special tokens of a tokenizer, determined from two test inputs.

    :param inner: result of `AutoTokenizer.from_pretrained`
    :raises ModelError: if it changes a text when it adds them
    """
    plain = [inner(text, add_special_tokens=False)["input_ids"] for text in ("a", "b")]
    alone, together = inner("a"), inner("a", "b")
    single = list(alone["input_ids"])
    pair, types = list(together["input_ids"]), together.get("token_type_ids")
    try:
        start = _find_part(plain[0], single, 0)
        second = _find_part(plain[1], pair, start + len(plain[0]))
    except ValueError:
        raise ModelError(
            f"The tokenizer {type(inner).__name__} changes a text when it adds special tokens "
            f"(single: {single}, pair: {pair}), so blurb cannot use it",
            fix="choose another checkpoint.",
        ) from None
    end, last = start + len(plain[0]), second + len(plain[1])
    prefix, suffix = tuple(single[:start]), tuple(single[end:])
    segments, suffix_types = None, ()
    if types is not None:
        segments = (
            tuple(types[:start]),
            types[start],
            tuple(types[end:second]),
            types[second],
            tuple(types[last:]),
        )
        suffix_types = tuple(alone["token_type_ids"][end:])
    cls_id = inner.cls_token_id
    cls = None if cls_id is None else 0 if cls_id in prefix else -1 if cls_id in suffix else None
    return SpecialTokens(
        prefix, suffix, tuple(pair[end:second]), tuple(pair[last:]), segments, suffix_types, cls
    )


def _find_part(part: list[int], whole: list[int], start: int) -> int:
    for place in range(start, len(whole) - len(part) + 1):
        if whole[place : place + len(part)] == part:
            return place
    raise ValueError


WITHOUT_FRAME: dict[str, Any] = {
    "add_special_tokens": False,
    "return_attention_mask": False,
    "return_token_type_ids": False,
    "truncation": False,
    "padding": False,
    "verbose": False,
}
"""How the tokenizer is called for the sub-tokens of texts alone."""


@dataclass(frozen=True)
class Subtokens:
    """Sub-tokens of one text, without special tokens.

    :param ids: (pieces,)
    :param starts: first non-blank character of each piece; equal to its end if the piece has only blanks
    :param ends: character after each piece (code points of the text)
    """

    ids: list[int]
    starts: list[int]
    ends: list[int]


class Tokenizer:
    """A Hugging Face tokenizer with the interface that the transforms need.

    :param inner: result of `AutoTokenizer.from_pretrained`
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def extended(self, tokens: Sequence[str]) -> Tokenizer:
        """A tokenizer with additional special tokens, which are neither split nor lower-cased."""
        if not tokens:
            return self
        from tokenizers import AddedToken

        inner = copy.deepcopy(self.inner)
        inner.add_tokens(
            [AddedToken(token, special=True, normalized=False) for token in tokens],
            special_tokens=True,
        )
        known = self.inner.get_vocab()
        if set(known.values()) & {
            inner.get_vocab()[token] for token in tokens if token not in known
        }:
            raise ModelError(  # the next id is the number of entries, whatever ids there are
                f"The ids of the tokenizer {self.inner.name_or_path} have gaps, so a new token such as {tokens[0]} "
                "would get the id of another token; renumber its vocabulary without gaps."
            )
        return Tokenizer(inner)

    @cached_property
    def pad_id(self) -> int:
        """Padding id; 0 if the tokenizer has none, as padding is masked anyway."""
        return 0 if self.inner.pad_token_id is None else int(self.inner.pad_token_id)

    @cached_property
    def size(self) -> int:
        """Required number of embeddings: the highest id plus one, as ids may have gaps."""
        return max(len(self.inner), 1 + max(self.inner.get_vocab().values(), default=-1))

    def subtokens(self, texts: Sequence[str]) -> list[Subtokens]:
        """Sub-tokens of each text."""
        if not texts:
            return []
        if not getattr(self.inner, "is_fast", False):
            return [self._subtokens_by_word(text) for text in texts]
        batch = self._encoded(texts, return_offsets_mapping=True)
        return [
            _without_leading_blanks(text, ids, offsets, self._blanks)
            for text, ids, offsets in zip(
                texts, batch["input_ids"], batch["offset_mapping"], strict=True
            )
        ]

    def counted(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        """`flatten_subtokens` of the sub-tokens of all texts, without finding where each of them stands."""
        if getattr(self.inner, "is_fast", False) and texts:
            return _flatten_rows(self._encoded(texts)["input_ids"])
        return flatten_subtokens(self.subtokens(texts))

    def _encoded(self, texts: Sequence[str], **more: bool) -> Any:
        """The encodings of the texts by a fast tokenizer.

        A pattern of its own that gives up on one of them panics in Rust, which is no Exception in Python and would end
        the whole command.
        """
        try:
            return self.inner(list(texts), **WITHOUT_FRAME, **more)
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            raise ModelError(
                f"The tokenizer {self.inner.name_or_path} gives up on a text: {error}."
            ) from error

    @cached_property
    def _blanks(self) -> frozenset[int]:
        """Ids of the pieces that represent only blanks (SentencePiece's `▁`)."""
        return frozenset(
            index
            for token, index in self.inner.get_vocab().items()
            if token and not token.strip("▁")
        )

    def _subtokens_by_word(self, text: str) -> Subtokens:
        """For tokenizers without offsets: every sub-token gets the span of its blank-separated word."""
        result = Subtokens([], [], [])
        for word in re.finditer(r"\S+", text):
            ids = self.inner.convert_tokens_to_ids(self.inner.tokenize(word.group()))
            result.ids.extend(ids)
            result.starts.extend([word.start()] * len(ids))
            result.ends.extend([word.end()] * len(ids))
        return result

    @cached_property
    def special_tokens(self) -> SpecialTokens:
        """The special tokens, determined from two test inputs."""
        return special_tokens_of(self.inner)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of everything that decides the ids; the same tokenizer in two folders has the same hash."""
        if getattr(self.inner, "is_fast", False):
            state = json.loads(self.inner.backend_tokenizer.to_str())
            # Length limits and padding belong to the caller; some checkpoints store them in the file.
            state.pop("truncation", None)
            state.pop("padding", None)
        else:
            state = {
                "class": type(self.inner).__name__,
                "vocabulary": self.inner.get_vocab(),
                **self._slow_state(),
            }
        text = json.dumps({"state": state, "frame": asdict(self.special_tokens)}, sort_keys=True)
        return text_hash(text)

    def _slow_state(self) -> dict[str, Any]:
        """Merges and switches, which decide the ids of a slow tokenizer besides its vocabulary."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                # Some tokenizers have no default for the prefix.
                files = self.inner.save_vocabulary(folder, None)
            except NotImplementedError:
                files = ()
            digests = [file_hash(Path(file)) for file in files]
        origin = ("is_local", "local_files_only")  # where it came from changes nothing
        switches = {
            name: value
            for name, value in self.inner.init_kwargs.items()
            if isinstance(value, bool) and name not in origin
        }
        return {"files": digests, "switches": switches}

    @cached_property
    def lower_cases(self) -> bool:
        """Whether it ignores upper case."""
        return bool(self.inner.tokenize("Aspirin DNA") == self.inner.tokenize("aspirin dna"))

    @cached_property
    def capitals(self) -> tuple[int, int]:
        """Numbers of vocabulary entries with upper case and in total, without special tokens."""
        special = set(self.inner.all_special_tokens)
        entries = [token for token in self.inner.get_vocab() if token not in special]
        return sum(token != token.lower() for token in entries), len(entries)

    def lowers_a_cased_vocabulary(self) -> bool:
        """Whether many vocabulary entries have upper case, which this tokenizer can never produce.

        The usual cause is a cased checkpoint that lost its `do_lower_case`: capitalised words then get wrong ids.
        """
        if not self.lower_cases:
            return False
        special = set(self.inner.all_special_tokens)
        words = [
            token
            for token in self.inner.get_vocab()
            if token not in special and token.strip("[]<>#▁Ġ").isalpha()
        ]
        return bool(sum(token != token.lower() for token in words) > 0.05 * len(words))


def flatten_subtokens(subtokens: Sequence[Subtokens]) -> tuple[Ints, Ints]:
    """The sub-tokens of all texts one after another, and their number in each text: (pieces,), (texts,)."""
    return _flatten_rows([one.ids for one in subtokens])


def _flatten_rows(rows: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    ids = np.fromiter(chain.from_iterable(rows), dtype=np.int64)
    return ids, np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))


def _without_leading_blanks(
    text: str, ids: list[int], offsets: list[tuple[int, int]], blanks: frozenset[int]
) -> Subtokens:
    starts, ends = [], []
    for place, (start, end) in enumerate(offsets):
        # A blank put before a word (at the start of the text, by T5 before every word) gets the word's first character.
        if ids[place] in blanks and place + 1 < len(ids) and offsets[place + 1][0] == start:
            end = start
        while start < end and text[start].isspace():
            start += 1
        starts.append(start)
        ends.append(end)
    return Subtokens(ids, starts, ends)
