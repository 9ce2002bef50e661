"""What a trial costs, by kind of learner: one function a kind, all of the same form.

A learner of another kind is one more function in `TERMS`, from what a trial reads to its seconds and bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from blurb import tasks
from blurb.protocols.settings import Settings
from blurb.runs.cost import passes
from blurb.runs.cost.inputs import used
from blurb.runs.cost.passes import Batches, Lengths
from blurb.runs.cost.rates import Rates

UNIT = 6e-5
"""Seconds of a predicted unit outside of the encoder: names of labels, metric, file."""
WORD = 2e-6
"""The same for a predicted word."""
SETUP = 0.3
"""Seconds of a trial that trains: its head and optimizer, its files."""
STORED_UNIT, STORED_WORD = 30, 3.5
"""Bytes of a predicted unit and word in the store: ids, gold, prediction and scores, compressed."""
HELD = 0.2e9
"""Bytes that a process that trains holds beside what is in use at once: the working memory of the backward pass, and
what the allocator cannot give back. Measured (docs/performance.md)."""
STORED = 12_000
"""Bytes of the other files of a trial."""
ITERATIONS = 100
"""Of a linear fit: products of features with weights, and back."""
FIT_RATE = 5e9
"""Floating-point operations a second of a linear fit, which is bound by memory."""
LAYERS, STRENGTHS = 2, 6
"""Of the frozen probe: layers whose vectors are kept, and strengths that are tried on each (a test holds them equal to
the learner's, which would load torch)."""
FEW, FOLDS = 200, 5
"""Of the same: where dev has fewer units each strength is fitted on folds of train, too. Documents are counted as units
here, so HoC is taken for the larger set that it is not: a fit or two more."""
PARTS = 3
"""Vectors that are kept of a unit, or joined for a word; relations have one more, pairs of sentences one less."""


@dataclass(frozen=True)
class Ask:
    """A trial as far as it decides its cost.

    :param lengths: of its splits, whole
    :param labels: outputs of its head
    :param parameters: of the whole encoder
    :param device: type of the torch device
    :param rates: of its encoder; None for what has none
    """

    settings: Settings
    seed: int
    lengths: Mapping[tasks.Split, Lengths]
    labels: int
    parameters: int
    device: str
    precision: str
    rates: Rates | None


@dataclass(frozen=True)
class Cost:
    """What a trial was predicted to take.

    :param fit: seconds up to the chosen weights, tokenising included
    :param predict: seconds of dev and test after that
    :param memory: bytes at its peak, beside those of a process that has loaded the libraries
    :param store: bytes in the store
    :param cache: bytes in the cache, for all trials that read the same
    """

    fit: float = 0.0
    predict: float = 0.0
    memory: float = 0.0
    store: float = 0.0
    cache: float = 0.0

    @property
    def seconds(self) -> float:
        """All of them."""
        return self.fit + self.predict


def encoder(ask: Ask) -> Cost:
    """Fine-tuning: the epochs with dev after each, then test, and dev where it was chosen on a sample."""
    assert ask.rates is not None
    settings, rows = ask.settings, used(ask.lengths, ask.settings, ask.seed)
    batches = passes.training(rows["train"], settings.batch_size, ask.seed)
    epochs, share = passes.epochs(len(batches.sizes), settings.epochs, settings.max_updates)
    train = share * float(ask.rates.step(batches.sizes, batches.lengths).sum())
    dev, test = (_predicted(ask, split, len(rows[split])) for split in ("dev", "test"))
    choosing = dev if not settings.dev_sample else dev * min(1.0, settings.dev_sample / _units(ask, "dev"))
    start = 0.0
    if settings.head_init == "linear":
        start = _forward(ask, passes.prediction(rows["train"], ask.device)) + _fit(ask, len(rows["train"]), 1)
    looks = epochs if settings.select == "best" else 1
    fit = ask.rates.load + SETUP + _tokenising(ask) + start + train + looks * choosing
    again = dev if choosing < dev else 0.0
    return Cost(fit, again + test, _memory(ask, batches), _stored(ask), _cached(ask))


def baseline(ask: Ask) -> Cost:
    """A constant answer: reading and writing alone."""
    seconds = sum(UNIT * _units(ask, split) + WORD * _words(ask, split) for split in ("dev", "test"))
    return Cost(UNIT * _units(ask, "train"), seconds, 0.0, _stored(ask))


def probe(ask: Ask) -> Cost:
    """The frozen encoder: one pass over all splits, then linear fits on what it gave."""
    assert ask.rates is not None
    rows = used(ask.lengths, ask.settings, ask.seed)
    once = {split: _forward(ask, passes.prediction(rows[split], ask.device)) for split in tasks.SPLITS}
    items = _words(ask, "train") or _units(ask, "train")
    fits = LAYERS * STRENGTHS * (1 + FOLDS * (_units(ask, "dev") < FEW))
    fit = ask.rates.load + SETUP + _tokenising(ask) + sum(once.values()) + _fit(ask, items, fits)
    written = sum(UNIT * _units(ask, split) + WORD * _words(ask, split) for split in ("dev", "test"))
    vector = 2.0 * LAYERS * ask.rates.shape.hidden  # half precision
    features = sum(vector * (_words(ask, split) or PARTS * _units(ask, split)) for split in tasks.SPLITS)
    size = 4.0 * PARTS * ask.rates.shape.hidden
    weights = 8.0 * ask.parameters  # the one that is asked, and the one that is kept for the next trial
    return Cost(fit, written, weights + size * items, _stored(ask), _cached(ask) + features)


TERMS: dict[str, Callable[[Ask], Cost]] = {"encoder": encoder, "probe": probe, "baseline": baseline}
"""By kind of learner."""


def _forward(ask: Ask, batches: Batches) -> float:
    assert ask.rates is not None
    return float(ask.rates.forward(batches.sizes, batches.lengths).sum())


def _predicted(ask: Ask, split: tasks.Split, rows: int) -> float:
    """Seconds to predict a split and to score it."""
    batches = passes.prediction(used(ask.lengths, ask.settings, ask.seed)[split], ask.device)
    return _forward(ask, batches) + UNIT * _units(ask, split) + WORD * _words(ask, split)


def _units(ask: Ask, split: tasks.Split) -> float:
    most = ask.settings.max_train if split == "train" else ask.settings.max_eval
    units = ask.lengths[split].units
    return min(units, most) if most else units


def _words(ask: Ask, split: tasks.Split) -> float:
    return ask.lengths[split].words * _units(ask, split) / ask.lengths[split].units


def _tokenising(ask: Ask) -> float:
    return sum(each.seconds for each in ask.lengths.values())


def _fit(ask: Ask, items: float, fits: int) -> float:
    """Seconds of linear fits on that many feature vectors."""
    assert ask.rates is not None
    size = 3 * max(ask.rates.shape.hidden, 1)
    return fits * ITERATIONS * 4 * min(items, 50_000) * size * ask.labels / FIT_RATE


def _stored(ask: Ask) -> float:
    return STORED + sum(
        STORED_UNIT * _units(ask, split) + STORED_WORD * _words(ask, split) for split in ("dev", "test")
    )


def _cached(ask: Ask) -> float:
    return sum(each.disk for each in ask.lengths.values())


def _memory(ask: Ask, batches: Batches) -> float:
    """Bytes of weights, gradients, AdamW's two moments, the best weights so far, and the largest training batch.

    The largest batch counts with all tensors that its backward pass needs.

    A float32 has four bytes; weights in half precision for the passes have two. Of the table of embeddings only the
    rows that occur have gradients and moments where nothing decays.
    """
    assert ask.rates is not None
    shape = ask.rates.shape
    learns = ask.parameters - shape.table
    rows = shape.vocabulary if ask.settings.weight_decay else min(shape.vocabulary, batches.pieces)
    learns += int(rows) * (shape.table // max(1, shape.vocabulary))
    # One that learns, one that is kept for the next trial, the best so far.
    copies = 4 * ask.parameters * (3 if ask.settings.select == "best" else 2)
    half = 0 if ask.precision == "fp32" else 2 * shape.body
    largest = float(np.max(ask.rates.activations(batches.sizes, batches.lengths)))
    return HELD + copies + 12 * learns + half + largest
