"""The cost of trials of the built-in learners: from a trial's inputs to its seconds and bytes.

A kind of learner names its function in its declaration (`blurb.learners.kind`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from blurb import tasks
from blurb.cost.inputs import InputLengths, Ints, used
from blurb.cost.throughput import Rates
from blurb.protocols.settings import Settings

UNIT = 6e-5
"""Seconds per predicted example outside of the encoder: label names, metric, file."""
WORD = 2e-6
"""The same per predicted word."""
SETUP = 0.3
"""Fixed seconds of a trial that trains: head, optimizer, files."""
HELD = 0.2e9
"""Extra bytes of a process that trains: working memory of the backward pass, and what the allocator cannot release.
Measured (docs/performance.md)."""
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
"""Vectors per example, or joined per word; relations have one more, sentence pairs one less."""


@dataclass(frozen=True)
class Batches:
    """Padded batches of one pass: batch i has `sizes[i]` inputs of `lengths[i]` sub-tokens.

    :param share: fraction of the pass that runs; a limit of updates may end within a pass
    """

    sizes: Ints
    lengths: Ints
    share: float = 1.0

    @property
    def subtokens(self) -> float:
        """Padded sub-tokens of the pass."""
        return float((self.sizes * self.lengths).sum()) * self.share


@dataclass(frozen=True)
class TrialProfile:
    """The properties of a trial that decide its cost.

    :param lengths: input lengths of its splits, before sampling
    :param labels: outputs of its head
    :param parameters: parameters of the whole encoder
    :param device: type of the torch device
    :param rates: rates of its encoder; None if it has none
    :param trained: parameters of its adapter; 0 if the encoder itself learns
    :param keeps_bf16: whether the weights of the encoder stay in bf16
    :param recomputes: whether activations are computed twice instead of kept
    """

    settings: Settings
    seed: int
    lengths: Mapping[tasks.Split, InputLengths]
    labels: int
    parameters: int
    device: str
    precision: str
    rates: Rates | None
    trained: int = 0
    keeps_bf16: bool = False
    recomputes: bool = False


@dataclass(frozen=True)
class Cost:
    """The predicted cost of a trial.

    :param fit: seconds until the weights are chosen, including tokenising
    :param predict: seconds for dev and test after that
    :param memory: peak bytes, on top of those of a process that has loaded the libraries
    :param store: not read, as `cache` and `checkpoints`; functions of plug-ins may give them
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


def epoch_batches(lengths: Ints, batch_size: int, seed: int) -> Batches:
    """The batches of the first epoch."""
    from blurb.training.batches import training_batches

    return _padded(lengths, training_batches(lengths, batch_size, np.random.default_rng(seed)))


def pass_batches(lengths: Ints, device: str) -> Batches:
    """The batches in which a split is predicted.

    :param device: type of the torch device
    """
    from blurb.training.batches import prediction_batches
    from blurb.training.loop import SUBTOKENS

    return _padded(lengths, prediction_batches(lengths, SUBTOKENS.get(device, 8_192)))


def _padded(lengths: Ints, batches: list[Ints]) -> Batches:
    sizes = np.array([len(rows) for rows in batches], dtype=np.int64)
    return Batches(sizes, np.array([lengths[rows].max() for rows in batches], dtype=np.int64))


def epochs_of(batches: int, epochs: int, max_updates: int) -> tuple[int, float]:
    """Epochs begun, and passes over the data; with a limit of updates the last pass may be partial."""
    total = batches * epochs
    if max_updates:
        total = min(total, max_updates)
    return math.ceil(total / batches), total / batches


def nothing(profile: TrialProfile) -> Cost:
    """A constant answer takes no time to speak of."""
    return Cost()


def encoder(profile: TrialProfile) -> Cost:
    """Fine-tuning: all epochs with dev after each, then test, and all of dev if a sample was used before."""
    assert profile.rates is not None
    settings, rows = profile.settings, used(profile.lengths, profile.settings, profile.seed)
    batches = epoch_batches(rows["train"], settings.batch_size, profile.seed)
    epochs, share = epochs_of(len(batches.sizes), settings.epochs, settings.max_updates)
    train = share * float(profile.rates.step(batches.sizes, batches.lengths).sum())
    train *= 4 / 3 if profile.recomputes else 1  # a forward pass more
    dev, test = (
        _forward(profile, pass_batches(rows[split], profile.device)) + _written(profile, split)
        for split in tasks.SCORED
    )
    choosing = (
        dev
        if not settings.dev_sample
        else dev * min(1.0, settings.dev_sample / _units(profile, "dev"))
    )
    start = 0.0
    if settings.head_init == "linear":
        start = _forward(profile, pass_batches(rows["train"], profile.device)) + _fit(
            profile, len(rows["train"]), 1
        )
    looks = epochs if settings.select == "best" else 1
    fit = profile.rates.load + SETUP + _tokenising(profile) + start + train + looks * choosing
    again = dev if choosing < dev else 0.0
    return Cost(fit, again + test, _memory(profile, batches))


def probe(profile: TrialProfile) -> Cost:
    """A frozen encoder: one pass over all splits, then linear fits on its vectors."""
    assert profile.rates is not None
    rows = used(profile.lengths, profile.settings, profile.seed)
    once = {
        split: _forward(profile, pass_batches(rows[split], profile.device))
        for split in tasks.SPLITS
    }
    items = _words(profile, "train") or _units(profile, "train")
    fits = LAYERS * STRENGTHS * (1 + FOLDS * (_units(profile, "dev") < FEW))
    fit = (
        profile.rates.load
        + SETUP
        + _tokenising(profile)
        + sum(once.values())
        + _fit(profile, items, fits)
    )
    written = sum(_written(profile, split) for split in tasks.SCORED)
    size = 4.0 * PARTS * profile.rates.shape.hidden
    weights = (
        8.0 * profile.parameters
    )  # the one that is asked, and the one that is kept for the next trial
    return Cost(fit, written, weights + size * items)


def _forward(profile: TrialProfile, batches: Batches) -> float:
    assert profile.rates is not None
    return float(profile.rates.forward(batches.sizes, batches.lengths).sum())


def _written(profile: TrialProfile, split: tasks.Split) -> float:
    """Seconds of the answers to a split outside of the encoder."""
    return UNIT * _units(profile, split) + WORD * _words(profile, split)


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


def _memory(profile: TrialProfile, batches: Batches) -> float:
    """Bytes of weights, gradients, AdamW's two moments, the best weights so far, and the largest training batch.

    The largest batch counts with all tensors that its backward pass needs.

    A float32 has four bytes, half-precision weights have two. Without weight decay only the rows of the embedding
    table that occur have gradients and moments.
    """
    assert profile.rates is not None
    shape = profile.rates.shape
    rows = (
        shape.vocabulary
        if profile.settings.weight_decay
        else min(shape.vocabulary, batches.subtokens)
    )
    learns = (
        profile.parameters - shape.table + int(rows) * (shape.table // max(1, shape.vocabulary))
    )
    # One that learns, one that is kept for the next trial, the best so far.
    copies = 4 * profile.parameters * (3 if profile.settings.select == "best" else 2)
    half = 0 if profile.precision == "fp32" else 2 * shape.body
    if (
        profile.trained
    ):  # the best so far is that of the adapter, and frozen weights are cast when they are used
        learns, half = profile.trained, 0
        copies = profile.parameters * (2 if profile.keeps_bf16 else 8) + 8 * learns
    largest = float(np.max(profile.rates.activations(batches.sizes, batches.lengths)))
    if profile.recomputes:  # the inputs of all layers, and all of one layer
        largest = largest / max(1, shape.layers) + 4.0 * shape.layers * shape.hidden * float(
            np.max(batches.sizes * batches.lengths)
        )
    return HELD + copies + 12 * learns + half + largest
