"""What trials of the built-in learners take: from a trial's inputs to its seconds and bytes.

A kind of learner names its function in its declaration (`blurb.learners.kind`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from blurb import tasks
from blurb.cost import batch_shapes
from blurb.cost.batch_shapes import Batches, Ints, Lengths
from blurb.cost.inputs import used
from blurb.cost.throughput import Rates
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
class TrialProfile:
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


def encoder(profile: TrialProfile) -> Cost:
    """Fine-tuning: all epochs with dev after each, then test, and all of dev if a sample was used before."""
    assert profile.rates is not None
    settings, rows = profile.settings, used(profile.lengths, profile.settings, profile.seed)
    batches = batch_shapes.training(rows["train"], settings.batch_size, profile.seed)
    epochs, share = batch_shapes.epochs(len(batches.sizes), settings.epochs, settings.max_updates)
    train = share * float(profile.rates.step(batches.sizes, batches.lengths).sum())
    dev, test = (_predicted(profile, split, rows[split]) for split in tasks.SCORED)
    choosing = dev if not settings.dev_sample else dev * min(1.0, settings.dev_sample / _units(profile, "dev"))
    start = 0.0
    if settings.head_init == "linear":
        start = _forward(profile, batch_shapes.prediction(rows["train"], profile.device)) + _fit(
            profile, len(rows["train"]), 1
        )
    looks = epochs if settings.select == "best" else 1
    fit = profile.rates.load + SETUP + _tokenising(profile) + start + train + looks * choosing
    again = dev if choosing < dev else 0.0
    memory, checkpoints = _memory(profile, batches), _checkpoints(profile, _learns(profile, batches))
    return Cost(fit, again + test, memory, _stored(profile), _cached(profile), checkpoints)


def constant(profile: TrialProfile) -> Cost:
    """A constant answer: only reading and writing."""
    seconds = sum(UNIT * _units(profile, split) + WORD * _words(profile, split) for split in tasks.SCORED)
    return Cost(UNIT * _units(profile, "train"), seconds, 0.0, _stored(profile))


def bigrams(profile: TrialProfile) -> Cost:
    """Features of all splits, then binary fits, one a label and strength, in the folds of train where dev is small."""
    words = {split: _words(profile, split) or TEXT * _units(profile, split) for split in tasks.SPLITS}
    fits = profile.labels * BIGRAM_STRENGTHS * (1 + (FOLDS - 1) * (_units(profile, "dev") < FEW))
    fit = BIGRAM_START + FEATURE * (words["train"] + words["dev"]) + FIT_WORD * words["train"] * fits
    memory = sum(words.values()) * (TAG_MEMORY if _words(profile, "train") else TEXT_MEMORY)
    return Cost(fit, FEATURE * (words["dev"] + words["test"]) + constant(profile).predict, memory, _stored(profile))


def probe(profile: TrialProfile) -> Cost:
    """A frozen encoder: one pass over all splits, then linear fits on its vectors."""
    assert profile.rates is not None
    rows = used(profile.lengths, profile.settings, profile.seed)
    once = {split: _forward(profile, batch_shapes.prediction(rows[split], profile.device)) for split in tasks.SPLITS}
    items = _words(profile, "train") or _units(profile, "train")
    fits = LAYERS * STRENGTHS * (1 + FOLDS * (_units(profile, "dev") < FEW))
    fit = profile.rates.load + SETUP + _tokenising(profile) + sum(once.values()) + _fit(profile, items, fits)
    written = sum(UNIT * _units(profile, split) + WORD * _words(profile, split) for split in tasks.SCORED)
    vector = 2.0 * LAYERS * profile.rates.shape.hidden  # half precision
    features = sum(vector * (_words(profile, split) or PARTS * _units(profile, split)) for split in tasks.SPLITS)
    size = 4.0 * PARTS * profile.rates.shape.hidden
    weights = 8.0 * profile.parameters  # the one that is asked, and the one that is kept for the next trial
    return Cost(fit, written, weights + size * items, _stored(profile), _cached(profile) + features)


def from_scratch(profile: TrialProfile) -> Cost:
    """A small network that reads words: all epochs with dev after each, then test."""
    settings = profile.settings
    read = {split: profile.lengths[split].read or TEXT for split in tasks.SPLITS}
    once = {name: size * _units(profile, name) * (NETWORK_WORD + NETWORK_SQUARE * size) for name, size in read.items()}
    batches = math.ceil(_units(profile, "train") / settings.batch_size)
    epochs, share = batch_shapes.epochs(batches, settings.epochs, settings.max_updates)
    sample = min(1.0, settings.dev_sample / _units(profile, "dev")) if settings.dev_sample else 1.0
    fit = SETUP + 3 * share * once["train"] + epochs * sample * once["dev"]
    predict, checkpoints = once["test"] + constant(profile).predict, _checkpoints(profile, NETWORK)
    memory = NETWORK_MEMORY + NETWORK_PAIR * settings.batch_size * read["train"] ** 2
    return Cost(fit, predict, memory, _stored(profile), checkpoints=checkpoints)


def _forward(profile: TrialProfile, batches: Batches) -> float:
    assert profile.rates is not None
    return float(profile.rates.forward(batches.sizes, batches.lengths).sum())


def _predicted(profile: TrialProfile, split: tasks.Split, rows: Ints) -> float:
    """Seconds to predict the given rows of a split and to score it."""
    return (
        _forward(profile, batch_shapes.prediction(rows, profile.device))
        + UNIT * _units(profile, split)
        + WORD * _words(profile, split)
    )


def _units(profile: TrialProfile, split: tasks.Split) -> float:
    most = profile.settings.max_train if split == "train" else profile.settings.max_eval
    units = profile.lengths[split].units
    return min(units, most) if most else units


def _words(profile: TrialProfile, split: tasks.Split) -> float:
    return profile.lengths[split].words * _units(profile, split) / profile.lengths[split].units


def _tokenising(profile: TrialProfile) -> float:
    return sum(each.seconds for each in profile.lengths.values())


def _fit(profile: TrialProfile, items: float, fits: int) -> float:
    """Seconds of linear fits on `items` feature vectors."""
    assert profile.rates is not None
    size = 3 * max(profile.rates.shape.hidden, 1)
    return fits * ITERATIONS * 4 * min(items, 50_000) * size * profile.labels / FIT_RATE


def _stored(profile: TrialProfile) -> float:
    return STORED + sum(
        STORED_UNIT * _units(profile, split) + STORED_WORD * _words(profile, split) for split in tasks.SCORED
    )


def _cached(profile: TrialProfile) -> float:
    return sum(each.disk for each in profile.lengths.values())


def _memory(profile: TrialProfile, batches: Batches) -> float:
    """Bytes of weights, gradients, AdamW's two moments, the best weights so far, and the largest training batch.

    The largest batch counts with all tensors that its backward pass needs.

    A float32 has four bytes, half-precision weights have two. Without weight decay only the rows of the embedding
    table that occur have gradients and moments.
    """
    assert profile.rates is not None
    shape = profile.rates.shape
    learns = _learns(profile, batches)
    # One that learns, one that is kept for the next trial, the best so far.
    copies = 4 * profile.parameters * (3 if profile.settings.select == "best" else 2)
    half = 0 if profile.precision == "fp32" else 2 * shape.body
    largest = float(np.max(profile.rates.activations(batches.sizes, batches.lengths)))
    return HELD + copies + 12 * learns + half + largest


def _learns(profile: TrialProfile, batches: Batches) -> float:
    """Parameters that learn."""
    assert profile.rates is not None
    shape = profile.rates.shape
    rows = shape.vocabulary if profile.settings.weight_decay else min(shape.vocabulary, batches.subtokens)
    return profile.parameters - shape.table + int(rows) * (shape.table // max(1, shape.vocabulary))


def _checkpoints(profile: TrialProfile, learns: float) -> float:
    """Bytes of weights, moments and best weights, twice: a checkpoint is removed when the next is there."""
    return 2 * 4 * learns * (4 if profile.settings.select == "best" else 3)
