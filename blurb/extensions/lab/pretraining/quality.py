"""How well an encoder fills gaps, in bits per byte of text: comparable between vocabularies, as losses are not.

A part of the words of held-out documents is masked, once and for all; the words are the same for every vocabulary. The
pseudo-log-likelihood of their sub-tokens (Salazar et al. 2020, here many words at a time) is divided by their bytes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from blurb.extensions.lab.pretraining.inputs import IGNORED
from blurb.extensions.lab.pretraining.objective import loss
from blurb.extensions.lab.pretraining.packing import Bools, Stream, cut

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

RATE = 0.15
SEED = 20_240_101
BATCH = 64


@dataclass(frozen=True)
class Quality:
    """Bits per byte of the masked words of the held-out text.

    :param model: of the encoder
    :param frequencies: of the frequencies of the sub-tokens in the text that was learnt from: the plateau that every
        encoder reaches first
    :param pairs: of the sub-token before (bigrams), mixed with the frequencies
    :param words: number of masked words
    """

    model: float
    frequencies: float
    pairs: float
    words: int


def masked(held_out: Stream) -> Bools:
    """The sub-tokens of the masked words; which words, no vocabulary decides."""
    real = held_out.starts & (held_out.ids != held_out.separator)
    drawn = np.random.default_rng(SEED).random(int(real.sum())) < RATE
    places = np.zeros(len(held_out.ids), dtype=np.bool_)
    numbers = np.cumsum(real) - 1
    inside = held_out.ids != held_out.separator
    places[inside] = drawn[numbers[inside]]
    return places


def bits_per_byte(model: Any, tokenizer: PreTrainedTokenizerBase, held_out: Stream, length: int) -> float:
    """The bits of an encoder alone, as for a checkpoint on the way."""
    places, slices = _masked_inputs(held_out, length)
    return _bits(model, tokenizer, held_out, places, slices) / int(held_out.sizes[places].sum())


def measure(model: Any, tokenizer: PreTrainedTokenizerBase, learnt: Stream, held_out: Stream, length: int) -> Quality:
    """The quality of an encoder, and of the two models that see no more than a word before.

    :param learnt: the text of the pretraining
    :param length: sub-tokens of an input
    """
    places, slices = _masked_inputs(held_out, length)
    size = int(held_out.sizes[places].sum())
    bits = _bits(model, tokenizer, held_out, places, slices)
    frequencies, bigrams = _baselines(learnt, held_out, places, len(tokenizer))
    words = int((held_out.starts & places).sum())
    return Quality(bits / size, frequencies / size, bigrams / size, words)


def _masked_inputs(held_out: Stream, length: int) -> tuple[Bools, Sequence[slice]]:
    """The masked places, and the inputs; what is left at the end of the text is in none."""
    places, slices = masked(held_out), list(cut(held_out, length))
    places[slices[-1].stop :] = False
    return places, slices


def _bits(model: Any, tokenizer: PreTrainedTokenizerBase, held_out: Stream, places: Bools, slices: Any) -> float:
    """The bits of the masked sub-tokens under an encoder that sees all the others."""

    first, last = int(tokenizer.cls_token_id), held_out.separator
    device = model.device
    model.eval()
    total = 0.0
    for begin in range(0, len(slices), BATCH):
        rows, labels = [], []
        for each in slices[begin : begin + BATCH]:
            own, hidden = held_out.ids[each].astype(np.int64), places[each]
            rows.append([first, *np.where(hidden, tokenizer.mask_token_id, own), last])
            labels.append([IGNORED, *np.where(hidden, own, IGNORED), IGNORED])
        answers = torch.tensor(np.asarray(labels), device=device)
        if count := int((answers != IGNORED).sum()):
            with torch.inference_mode():
                total += count * float(
                    loss(model, {"input_ids": torch.tensor(np.asarray(rows), device=device), "labels": answers})
                )
    model.train()
    return total / math.log(2)


def _baselines(learnt: Stream, held_out: Stream, places: Bools, entries: int) -> tuple[float, float]:
    """Bits under the frequencies (one added to each count), and under those after the sub-token before.

    The two are mixed as Witten and Bell do (1991): an entry with few or many followers is believed accordingly.
    """
    counts = np.bincount(learnt.ids, minlength=entries) + 1.0
    single = counts / counts.sum()
    pairs = Counter(zip(learnt.ids[:-1].tolist(), learnt.ids[1:].tolist(), strict=True))
    followers, kinds = np.zeros(entries), np.zeros(entries)
    for (before, _), count in pairs.items():
        followers[before] += count
        kinds[before] += 1
    frequencies = bigrams = 0.0
    for place in np.flatnonzero(places).tolist():
        now, before = int(held_out.ids[place]), int(held_out.ids[place - 1]) if place else held_out.separator
        weight = kinds[before] / (kinds[before] + followers[before]) if kinds[before] else 1.0
        after = pairs.get((before, now), 0) / followers[before] if followers[before] else 0.0
        frequencies -= math.log2(single[now])
        bigrams -= math.log2(weight * single[now] + (1 - weight) * after)
    return frequencies, bigrams
