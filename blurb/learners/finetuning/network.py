"""Learners that train a network: an encoder, a featurizer and a head."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import asdict
from typing import Any

from blurb.checkpoints.architecture_checks import check_segments
from blurb.checkpoints.encoder_size import capacity, enlarge
from blurb.formulations._base import Formulation
from blurb.heads import heads, poolings
from blurb.heads._base import Problem
from blurb.heads._spec import parse
from blurb.inputs.features import Features
from blurb.inputs.tokenized_split import cached, features_key
from blurb.inputs.tokenizer import Tokenizer
from blurb.learners.base import History, Learner, Predicted, Progress, Subset
from blurb.protocols.settings import CHECKPOINTS_OWN
from blurb.training.dropout import set_dropout
from blurb.training.hardware import Precision, choose_device, seed_everything
from blurb.training.linear import fold, linear_start
from blurb.training.loop import Trainer
from blurb.training.network import Network
from blurb.training.optimizer import treat_layers


class NetworkLearner(Learner):
    """Encoder, featurizer and head, trained together.

    :param device: `auto` or a torch device
    :param precision: resolved precision, never `auto`
    """

    trainer: Trainer
    tokenizer: Tokenizer
    limit: int
    known: tuple[Subset, Predicted] | None = None
    """Predictions of the chosen weights on the dev examples, so that dev is not predicted twice."""

    def __init__(self, formulation: Formulation, device: str, precision: Precision) -> None:
        super().__init__(formulation)
        self.device = choose_device(device)
        self.precision = precision
        self.features: dict[tuple[str, tuple[int, ...] | None], Features] = {}  # dev is asked for in every epoch

    @abstractmethod
    def plain_tokenizer(self, train: Subset) -> Tokenizer:
        """The tokenizer, without the special tokens of the formulation."""

    @abstractmethod
    def encoder(self) -> tuple[Any, bool]:
        """A new encoder for the ids of `self.tokenizer`, and whether it has a pooler with trained weights."""

    def vector_size(self, encoder: Any) -> int:
        """Size of a vector of the encoder."""
        return int(encoder.config.hidden_size)

    def fit(self, train: Subset, dev: Subset, seed: int, progress: Progress) -> History:
        settings = self.formulation.settings
        seed_everything(seed)
        self.known = None
        self.tokenizer = self.plain_tokenizer(train).extended(self.formulation.special_tokens(train.rows))
        network, most = self._network()
        self.limit = min(settings.max_length, most or settings.max_length)
        self.trainer = self._trainer(network, progress)
        features = self._features(train)
        check_segments(network, features)
        targets = self.formulation.targets(train.used)
        choosing = dev.sample(settings.dev_sample, seed, whole=self.formulation.by_document)
        spent = 0.0

        def evaluate() -> float:
            nonlocal spent
            begun = time.perf_counter()
            output = self._predict(choosing)
            score = self.formulation.score_of(choosing.used, output.answers)
            if settings.select == "last" or self.trainer.state.is_better(score):
                self.known = choosing, output
            spent += time.perf_counter() - begun
            return score

        if settings.head_init == "linear":
            self.facts["head_start"] = linear_start(self.trainer, features, targets, seed)
        history = self.trainer.fit(features, targets, settings, seed, evaluate)
        if settings.head_init == "linear":
            fold(network.head)
        self.facts.update(
            max_length=self.limit,
            micro_batch=self.trainer.micro_batch,
            choosing_units=len(choosing.used),
            choose_seconds=round(spent, 2),
            **({"resumed": self.trainer.resumed} if self.trainer.resumed else {}),
        )
        return [asdict(epoch) for epoch in history]

    def predict(self, units: Subset) -> Predicted:
        if self.known is not None and self.known[0] is units:
            return self.known[1]
        return self._predict(units)

    def _predict(self, units: Subset) -> Predicted:
        features = self._features(units)
        predicted, scores = self.trainer.predict(features)
        output = self.formulation.output(units.used, features, predicted, scores)
        return Predicted(*output, self.formulation.losses(units.used, features, scores))

    def _features(self, units: Subset) -> Features:
        if not units.key:
            return self.formulation.features(units.used, self.tokenizer, self.limit)
        known = (units.key, tuple(units.chosen) if units.chosen is not None else None)
        if known in self.features:
            return self.features[known]
        key = features_key(units.key, self.tokenizer.hash, self.limit)
        whole = cached(key, lambda: self.formulation.features(units.rows, self.tokenizer, self.limit))
        self.facts[f"{units.name}_inputs"] = {
            "units": len(units.rows),
            "rows": len(whole),
            "truncated": whole.truncated,
            "windowed": whole.windowed,
        }
        self.features[known] = whole if units.chosen is None else whole.of_units(units.chosen)
        return self.features[known]

    def _trainer(self, network: Network, progress: Progress = lambda done, total: None) -> Trainer:
        return Trainer(
            network,
            self.tokenizer.pad_id,
            self.device,
            self.precision,
            progress,
            tracking=self.tracking,
            checkpoints=self.checkpoints,
        )

    def _network(self) -> tuple[Network, int | None]:
        """A new network, and the maximum number of sub-tokens of its encoder."""
        settings = self.formulation.settings
        encoder, trained_pooler = self.encoder()
        most = capacity(encoder)
        treat_layers(encoder, settings)
        if settings.encoder_dropout != CHECKPOINTS_OWN:
            set_dropout(encoder, settings.encoder_dropout)
        enlarge(encoder, self.tokenizer.size)
        pooling, use_pooler = None, False
        size = self.vector_size(encoder)
        head, options = parse(heads, settings.head)
        if self.formulation.pooled and not head.reads_sequence:
            pooling_class, choices = parse(poolings, settings.pooling)
            pooling = pooling_class(size, self.tokenizer.special_tokens.cls, **choices)
            use_pooler = pooling.uses_pooler and trained_pooler
            size = pooling.size
        if not use_pooler and getattr(encoder, "pooler", None) is not None:
            encoder.pooler = None  # nothing reads it; without it there are no idle parameters
        problem = Problem(self.formulation.kind, self.formulation.labels, self.formulation.scheme)
        top = head(size, problem, settings.head_dropout, **options)
        return Network(encoder, pooling, top, use_pooler, settings.word_pooling), most
