"""The special tokens that a tokenizer puts around one text or two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from blurb.inputs.features import Ragged
from blurb.messages import ModelError


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
