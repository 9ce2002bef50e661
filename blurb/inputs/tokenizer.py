"""A uniform interface to all tokenizers: sub-tokens with offsets, and the special tokens around them.

Everything is determined by testing the tokenizer, never from its class or the model's type, so WordPiece, byte-level
BPE, SentencePiece and tokenizers without a fast version are treated alike.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from blurb.inputs.features import Ints
from blurb.inputs.special_tokens import SpecialTokens, special_tokens_of
from blurb.messages import ModelError
from blurb.system.files import file_hash

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
        return hashlib.sha256(text.encode()).hexdigest()

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
