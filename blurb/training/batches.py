"""Groups inputs into batches and turns them into padded tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import pad

from blurb.inputs.features import Features, Ints, Ragged

Targets = npt.NDArray[np.generic] | Ragged
SORT_FROM = 1_000
"""With fewer examples batches are random: sorting by length would give the same batches in every epoch."""


@dataclass(frozen=True)
class Batch:
    """Padded inputs.

    :param ids: (batch, pieces)
    :param mask: (batch, pieces), 1 for sub-tokens
    :param token_type_ids: (batch, pieces) segment ids, or None
    :param word_starts: token tasks: (batch, words), index of each word's first sub-token
    :param word_ends: token tasks: (batch, words), index after each word's last sub-token
    :param word_mask: token tasks: (batch, words), True for words
    :param entities: relation tasks: (batch, 2, 2), indices of head and tail
    :param inside: token tasks: (batch, 2), whether a row begins and ends inside of its sentence, as windows of long
        ones do; None if no row does
    :param targets: (batch,), (batch, labels) or (batch, words); None for prediction
    """

    ids: Tensor
    mask: Tensor
    token_type_ids: Tensor | None
    word_starts: Tensor | None
    word_mask: Tensor | None
    targets: Tensor | None
    entities: Tensor | None = None
    word_ends: Tensor | None = None
    inside: Tensor | None = None

    @property
    def inputs(self) -> dict[str, Tensor]:
        """What an encoder of transformers is called with."""
        inputs = {
            "input_ids": self.ids,
            "attention_mask": self.mask,
            "token_type_ids": self.token_type_ids,
        }
        return {name: value for name, value in inputs.items() if value is not None}

    def to(self, device: torch.device) -> Batch:
        """The batch on a device, from one on a CPU."""
        if device.type == "cpu":
            return self
        tensors = {name: value for name, value in vars(self).items() if value is not None}
        return replace(self, **copy_at_once(tensors, device))


def copy_at_once(tensors: Mapping[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    """Copies of tensors of a CPU, views of one piece of memory.

    Each of eight copies from pageable memory would wait until a GPU has done all its earlier work; one from pinned
    memory waits for nothing.
    """
    pieces = [value.reshape(-1).view(torch.uint8) for value in tensors.values()]
    packed = torch.cat([pad(piece, (0, -len(piece) % 8)) for piece in pieces])  # aligned to int64
    if device.type == "cuda":
        packed = packed.pin_memory()
    copies = packed.to(device, non_blocking=device.type == "cuda").split(  # type: ignore[no-untyped-call]
        [len(piece) + -len(piece) % 8 for piece in pieces]
    )
    return {
        name: copy[: value.nbytes].view(value.dtype).view(value.shape)
        for copy, (name, value) in zip(copies, tensors.items(), strict=True)
    }


def training_batches(lengths: Ints, batch_size: int, rng: np.random.Generator) -> list[Ints]:
    """Batches of one epoch: shuffled, then sorted by length within mega-batches, then the batches shuffled.

    A mega-batch is at most an eighth of the data, so that the batches differ between epochs; padding is still only a
    few per cent. Every input is in exactly one batch, and all batches but one have `batch_size` inputs.
    """
    order = rng.permutation(len(lengths))
    if len(lengths) >= SORT_FROM:
        mega = max(1, len(lengths) // 8 // batch_size) * batch_size
        parts = [order[start : start + mega] for start in range(0, len(order), mega)]
        order = np.concatenate([part[np.argsort(-lengths[part], kind="stable")] for part in parts])
    batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def prediction_batches(lengths: Ints, subtokens: int) -> list[Ints]:
    """Batches for prediction: longest first, at most `subtokens` padded sub-tokens each (at least one input)."""
    order = np.argsort(-lengths, kind="stable")
    batches, start = [], 0
    while start < len(order):
        size = max(1, subtokens // max(1, int(lengths[order[start]])))
        batches.append(order[start : start + size])
        start += size
    return batches


def collate_batch(
    features: Features, rows: Ints, pad_id: int, targets: Targets | None = None
) -> Batch:
    """Pads some rows to the longest of them.

    :param targets: targets of all examples, from the formulation
    """
    ids = [features.ids[row] for row in rows]
    word_starts = word_ends = word_mask = answers = None
    if features.word_ids is not None:
        assert features.word_starts is not None
        assert features.word_ends is not None
        places = [features.word_starts[row] for row in rows]
        word_starts = _pad_rows(places, 0)
        # Padding words have one sub-token, since a mean needs some.
        word_ends = _pad_rows([features.word_ends[row] for row in rows], 1)
        word_mask = _pad_rows([np.ones_like(place) for place in places], 0).bool()
        if isinstance(targets, Ragged):
            answers = _pad_rows(
                [targets[features.example_index[row]][features.word_ids[row]] for row in rows], 0
            )
    elif targets is not None:
        answers = torch.from_numpy(np.asarray(targets)[features.example_index[rows]])
    return Batch(
        ids=_pad_rows(ids, pad_id),
        mask=_pad_rows([np.ones_like(row) for row in ids], 0),
        token_type_ids=None
        if features.token_type_ids is None
        else _pad_rows([features.token_type_ids[row] for row in rows], 0),
        word_starts=word_starts,
        word_ends=word_ends,
        word_mask=word_mask,
        targets=answers,
        entities=None if features.entities is None else torch.from_numpy(features.entities[rows]),
        inside=None
        if features.word_ids is None
        else _neighbours_inside(features.example_index, rows),
    )


def _neighbours_inside(example_index: Ints, rows: Ints) -> Tensor | None:
    """(batch, 2): whether the rows before and after belong to the same example, whose rows are neighbours."""
    changes = np.concatenate([[True], example_index[1:] != example_index[:-1], [True]])
    inside = ~np.stack([changes[rows], changes[np.asarray(rows) + 1]], axis=1)
    return torch.from_numpy(inside) if inside.any() else None


def _pad_rows(rows: Sequence[Ints], value: int) -> Tensor:
    padded = np.full((len(rows), max(1, max(map(len, rows)))), value, dtype=np.int64)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return torch.from_numpy(padded)
