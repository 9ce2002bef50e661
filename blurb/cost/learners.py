"""What trials of the built-in learners take: from a trial's inputs to its seconds and bytes.

A kind of learner names its function in its declaration (`blurb.learners.kind`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from blurb import tasks
from blurb.cost import passes
from blurb.cost.inputs import used
from blurb.cost.passes import Batches, Ints, Lengths
from blurb.cost.rates import Rates
from blurb.protocols.settings import Settings

UNIT = 6e-5
"""Seconds per predicted example outside of the encoder: label names, metric, file."""
WORD = 2e-6
"""The same per predicted word."""
SETUP = 0.3
"""Fixed seconds of a trial that trains: head, optimizer, files."""
STORED_UNIT, STORED_WORD = 30, 3.5
"""Bytes per predicted example and word in the store: ids, gold, prediction and scores, compressed."""
HELD = 0.2e9
"""Extra bytes of a process that trains: working memory of the backward pass, and what the allocator cannot release.
Measured (docs/performance.md)."""
STORED = 12_000
"""Bytes of the other files of a trial."""
ITERATIONS = 100
"""Iterations of a linear fit, each with a product of features and weights, and its gradient."""
FIT_RATE = 5e9
"""Floating-point operations per second of a linear fit, which is bound by memory."""
LAYERS, STRENGTHS = 2, 6
"""Layers with cached vectors, and regularization strengths tried on each, of the frozen probe (a copy of the learner's
constants, as those would load torch; a test compares them)."""
FEW, FOLDS = 200, 5
"""If dev has fewer examples, the probe also fits each strength on folds of train. Sentences of documents count singly
here, so HoC may be off by a fit or two."""
PARTS = 3
"""Cached vectors per example, or joined per word; relations have one more, sentence pairs one less."""

FEATURE, FIT_WORD = 2e-5, 3e-6
"""Seconds to make the features of a word for `baseline:bigrams`, and to fit one label on it once: on the real sets."""
TEXT = 40
"""Words of an example of a type without words, about."""
BIGRAM_STRENGTHS, BIGRAM_START = 3, 1.5
"""Strengths that are tried, most often; seconds to load scikit-learn."""
TAG_MEMORY, TEXT_MEMORY = 600.0, 150.0
"""Bytes per word of `baseline:bigrams`, where words have tags and else: some twenty or five features, held twice."""

NETWORK_WORD, NETWORK_SQUARE = 8e-6, 1.4e-6
"""Seconds of a forward pass in networks that start from nothing: per word, and times the words of its text (padding,
attention). Fitted to both networks on the twelve real sets; a set is off by a factor of 2 at most."""
NETWORK_MEMORY, NETWORK_PAIR = 0.3e9, 500.0
"""Bytes, and bytes per pair of words of each text of a batch: on PubMedQA."""
NETWORK = 4e6
"""Parameters of such networks, of which there are fewer where train has fewer words."""


@dataclass(frozen=True)
class Ask:
    """The properties of a trial that decide its cost.

    :param lengths: input lengths of its splits, before sampling
    :param labels: outputs of its head
    :param parameters: parameters of the whole encoder
    :param device: type of the torch device
    :param rates: rates of its encoder; None if it has none
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
    """The predicted cost of a trial.

    :param fit: seconds until the weights are chosen, including tokenising
    :param predict: seconds for dev and test after that
    :param memory: peak bytes, on top of those of a process that has loaded the libraries
    :param store: bytes in the store
    :param cache: bytes in the cache, shared by all trials with the same inputs
    :param checkpoints: bytes while it runs, if it saves itself
    """

    fit: float = 0.0
    predict: float = 0.0
    memory: float = 0.0
    store: float = 0.0
    cache: float = 0.0
    checkpoints: float = 0.0

    @property
    def seconds(self) -> float:
        """Total seconds."""
        return self.fit + self.predict


def encoder(ask: Ask) -> Cost:
    """Fine-tuning: all epochs with dev after each, then test, and all of dev if a sample was used before."""
    assert ask.rates is not None
    settings, rows = ask.settings, used(ask.lengths, ask.settings, ask.seed)
    batches = passes.training(rows["train"], settings.batch_size, ask.seed)
    epochs, share = passes.epochs(len(batches.sizes), settings.epochs, settings.max_updates)
    train = share * float(ask.rates.step(batches.sizes, batches.lengths).sum())
    dev, test = (_predicted(ask, split, rows[split]) for split in tasks.SCORED)
    choosing = dev if not settings.dev_sample else dev * min(1.0, settings.dev_sample / _units(ask, "dev"))
    start = 0.0
    if settings.head_init == "linear":
        start = _forward(ask, passes.prediction(rows["train"], ask.device)) + _fit(ask, len(rows["train"]), 1)
    looks = epochs if settings.select == "best" else 1
    fit = ask.rates.load + SETUP + _tokenising(ask) + start + train + looks * choosing
    again = dev if choosing < dev else 0.0
    memory, checkpoints = _memory(ask, batches), _checkpoints(ask, _learns(ask, batches))
    return Cost(fit, again + test, memory, _stored(ask), _cached(ask), checkpoints)


def constant(ask: Ask) -> Cost:
    """A constant answer: only reading and writing."""
    seconds = sum(UNIT * _units(ask, split) + WORD * _words(ask, split) for split in tasks.SCORED)
    return Cost(UNIT * _units(ask, "train"), seconds, 0.0, _stored(ask))


def bigrams(ask: Ask) -> Cost:
    """Features of all splits, then binary fits, one a label and strength, in the folds of train where dev is small."""
    words = {split: _words(ask, split) or TEXT * _units(ask, split) for split in tasks.SPLITS}
    fits = ask.labels * BIGRAM_STRENGTHS * (1 + (FOLDS - 1) * (_units(ask, "dev") < FEW))
    fit = BIGRAM_START + FEATURE * (words["train"] + words["dev"]) + FIT_WORD * words["train"] * fits
    memory = sum(words.values()) * (TAG_MEMORY if _words(ask, "train") else TEXT_MEMORY)
    return Cost(fit, FEATURE * (words["dev"] + words["test"]) + constant(ask).predict, memory, _stored(ask))


def probe(ask: Ask) -> Cost:
    """A frozen encoder: one pass over all splits, then linear fits on its vectors."""
    assert ask.rates is not None
    rows = used(ask.lengths, ask.settings, ask.seed)
    once = {split: _forward(ask, passes.prediction(rows[split], ask.device)) for split in tasks.SPLITS}
    items = _words(ask, "train") or _units(ask, "train")
    fits = LAYERS * STRENGTHS * (1 + FOLDS * (_units(ask, "dev") < FEW))
    fit = ask.rates.load + SETUP + _tokenising(ask) + sum(once.values()) + _fit(ask, items, fits)
    written = sum(UNIT * _units(ask, split) + WORD * _words(ask, split) for split in tasks.SCORED)
    vector = 2.0 * LAYERS * ask.rates.shape.hidden  # half precision
    features = sum(vector * (_words(ask, split) or PARTS * _units(ask, split)) for split in tasks.SPLITS)
    size = 4.0 * PARTS * ask.rates.shape.hidden
    weights = 8.0 * ask.parameters  # the one that is asked, and the one that is kept for the next trial
    return Cost(fit, written, weights + size * items, _stored(ask), _cached(ask) + features)


def from_scratch(ask: Ask) -> Cost:
    """A small network that reads words: all epochs with dev after each, then test."""
    settings = ask.settings
    read = {split: ask.lengths[split].read or TEXT for split in tasks.SPLITS}
    once = {name: size * _units(ask, name) * (NETWORK_WORD + NETWORK_SQUARE * size) for name, size in read.items()}
    batches = math.ceil(_units(ask, "train") / settings.batch_size)
    epochs, share = passes.epochs(batches, settings.epochs, settings.max_updates)
    sample = min(1.0, settings.dev_sample / _units(ask, "dev")) if settings.dev_sample else 1.0
    fit = SETUP + 3 * share * once["train"] + epochs * sample * once["dev"]
    predict, checkpoints = once["test"] + constant(ask).predict, _checkpoints(ask, NETWORK)
    memory = NETWORK_MEMORY + NETWORK_PAIR * settings.batch_size * read["train"] ** 2
    return Cost(fit, predict, memory, _stored(ask), checkpoints=checkpoints)


def _forward(ask: Ask, batches: Batches) -> float:
    assert ask.rates is not None
    return float(ask.rates.forward(batches.sizes, batches.lengths).sum())


def _predicted(ask: Ask, split: tasks.Split, rows: Ints) -> float:
    """Seconds to predict the given rows of a split and to score it."""
    return _forward(ask, passes.prediction(rows, ask.device)) + UNIT * _units(ask, split) + WORD * _words(ask, split)


def _units(ask: Ask, split: tasks.Split) -> float:
    most = ask.settings.max_train if split == "train" else ask.settings.max_eval
    units = ask.lengths[split].units
    return min(units, most) if most else units


def _words(ask: Ask, split: tasks.Split) -> float:
    return ask.lengths[split].words * _units(ask, split) / ask.lengths[split].units


def _tokenising(ask: Ask) -> float:
    return sum(each.seconds for each in ask.lengths.values())


def _fit(ask: Ask, items: float, fits: int) -> float:
    """Seconds of linear fits on `items` feature vectors."""
    assert ask.rates is not None
    size = 3 * max(ask.rates.shape.hidden, 1)
    return fits * ITERATIONS * 4 * min(items, 50_000) * size * ask.labels / FIT_RATE


def _stored(ask: Ask) -> float:
    return STORED + sum(STORED_UNIT * _units(ask, split) + STORED_WORD * _words(ask, split) for split in tasks.SCORED)


def _cached(ask: Ask) -> float:
    return sum(each.disk for each in ask.lengths.values())


def _memory(ask: Ask, batches: Batches) -> float:
    """Bytes of weights, gradients, AdamW's two moments, the best weights so far, and the largest training batch.

    The largest batch counts with all tensors that its backward pass needs.

    A float32 has four bytes, half-precision weights have two. Without weight decay only the rows of the embedding
    table that occur have gradients and moments.
    """
    assert ask.rates is not None
    shape = ask.rates.shape
    learns = _learns(ask, batches)
    # One that learns, one that is kept for the next trial, the best so far.
    copies = 4 * ask.parameters * (3 if ask.settings.select == "best" else 2)
    half = 0 if ask.precision == "fp32" else 2 * shape.body
    largest = float(np.max(ask.rates.activations(batches.sizes, batches.lengths)))
    return HELD + copies + 12 * learns + half + largest


def _learns(ask: Ask, batches: Batches) -> float:
    """Parameters that learn."""
    assert ask.rates is not None
    shape = ask.rates.shape
    rows = shape.vocabulary if ask.settings.weight_decay else min(shape.vocabulary, batches.subtokens)
    return ask.parameters - shape.table + int(rows) * (shape.table // max(1, shape.vocabulary))


def _checkpoints(ask: Ask, learns: float) -> float:
    """Bytes of weights, moments and best weights, twice: a checkpoint is removed when the next is there."""
    return 2 * 4 * learns * (4 if ask.settings.select == "best" else 3)
