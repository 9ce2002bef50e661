"""Token ids of many inputs as ragged arrays: small, fast to pad, and easy to store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
RAGGED = ("ids", "token_type_ids", "word_ids", "word_starts", "word_ends")
"""The ragged fields of `Features`."""


@dataclass(frozen=True)
class Ragged:
    """Rows of different length: row i is `values[offsets[i]:offsets[i + 1]]`.

    :param values: (all items,)
    :param offsets: (rows + 1,)
    """

    values: Ints
    offsets: Ints

    @classmethod
    def of(cls, rows: Iterable[Sequence[int] | Ints]) -> Ragged:
        """Builds an array from rows of integers."""
        listed: list[Ints] = [np.asarray(row, dtype=np.int64) for row in rows]
        offsets = np.zeros(len(listed) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in listed], out=offsets[1:])
        return cls(np.concatenate(listed) if listed else np.zeros(0, dtype=np.int64), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> Ints:
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    @property
    def lengths(self) -> Ints:
        """Length of every row, (rows,)."""
        return np.diff(self.offsets)

    def take(self, rows: Iterable[int]) -> Ragged:
        """The given rows, in that order."""
        return Ragged.of([self[int(row)] for row in rows])


@dataclass(frozen=True)
class Features:
    """Inputs of the encoder. An example (sentence, pair, question) has one row, or several if it was cut into windows.

    :param ids: sub-token ids with special tokens, one row per input
    :param token_type_ids: segment ids of the same shape, or None if the tokenizer has none
    :param example_index: (rows,) index of the example of each row
    :param word_ids: token tasks: the words of the example that this row predicts, in order; each word that has
        sub-tokens is in exactly one row
    :param word_starts: token tasks: index in `ids` of the first sub-token of each of these words
    :param word_ends: token tasks: index after the last sub-token of each of these words
    :param entities: relation and similarity tasks: (rows, 2, 2) start and end (exclusive) in `ids` of head and tail,
        or of the two texts
    :param truncated: number of examples that lost some text
    :param windowed: number of examples that were cut into windows, or to a window around their entities
    """

    ids: Ragged
    example_index: Ints
    token_type_ids: Ragged | None = None
    word_ids: Ragged | None = None
    word_starts: Ragged | None = None
    word_ends: Ragged | None = None
    entities: Ints | None = None
    truncated: int = 0
    windowed: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    def of_units(self, units: Sequence[int]) -> Features:
        """The rows of the given examples, renumbered from 0 in that order; `truncated` and `windowed` do not change."""
        number = {int(unit): new for new, unit in enumerate(units)}
        rows = [row for row, unit in enumerate(self.example_index) if int(unit) in number]
        rows.sort(key=lambda row: number[int(self.example_index[row])])
        taken: dict[str, Any] = {
            name: each.take(rows) for name in RAGGED if (each := getattr(self, name)) is not None
        }
        return replace(
            self,
            example_index=np.array(
                [number[int(self.example_index[row])] for row in rows], dtype=np.int64
            ),
            entities=None if self.entities is None else self.entities[rows],
            **taken,
        )

    def save(self, path: Path) -> None:
        """Writes an uncompressed `.npz`."""
        arrays = {"example_index": self.example_index}
        for name in RAGGED:
            ragged: Ragged | None = getattr(self, name)
            if ragged is not None:
                arrays[f"{name}.values"] = ragged.values.astype(np.int32)
                arrays[f"{name}.offsets"] = ragged.offsets
        if self.entities is not None:
            arrays["entities"] = self.entities
        arrays["counts"] = np.array([self.truncated, self.windowed, len(arrays)])
        with path.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    @classmethod
    def read(cls, path: Path) -> Features:
        """Reads a file of `save`; a damaged file raises ValueError or any error of numpy and zipfile."""
        with np.load(path) as arrays:
            ragged = {
                name: Ragged(arrays[f"{name}.values"].astype(np.int64), arrays[f"{name}.offsets"])
                for name in RAGGED
                if f"{name}.values" in arrays
            }
            entities = arrays.get("entities")
            truncated, windowed, stored = (int(count) for count in arrays["counts"])
            if stored != 1 + 2 * len(ragged) + (entities is not None):
                raise ValueError(f"{path}: an array is missing")
            return cls(
                example_index=arrays["example_index"],
                entities=entities,
                truncated=truncated,
                windowed=windowed,
                **ragged,
            )
