"""Learners that train a network (an encoder, a featurizer and a head), and the one that fine-tunes a checkpoint."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import Tensor

from blurb.checkpoints import ModelSource, hub
from blurb.checkpoints.architecture import (
    check_segments,
    enlarge_embeddings,
    longest_input,
    make_bidirectional,
)
from blurb.checkpoints.source import encoder_of
from blurb.formulations._base import Formulation
from blurb.heads import Pooling, Problem, heads, poolings
from blurb.heads._spec import parse_spec
from blurb.inputs.features import Features
from blurb.inputs.relations import NEW_TOKENS
from blurb.inputs.tokenized_split import cached_features, features_key
from blurb.inputs.tokenizer import Tokenizer
from blurb.learners.base import History, Learner, Predicted, Progress, Subset
from blurb.learners.finetuning import adapters
from blurb.messages import SettingsError, opt
from blurb.protocols.settings import CHECKPOINTS_OWN, DEFAULTS, Where, show_setting, unknown_origin
from blurb.training.dropout import set_dropout
from blurb.training.hardware import Precision, choose_device, seed_everything
from blurb.training.linear import end_linear_start, linear_start
from blurb.training.loop import Trainer
from blurb.training.network import Network
from blurb.training.optimizer import check_layers, layers_differ, treat_layers
from blurb.training.resuming import restore_weights

OF_LORA = ("lora_rank", "lora_alpha", "lora_dropout", "lora_targets")


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
        self.features: dict[
            tuple[str, tuple[int, ...] | None], Features
        ] = {}  # dev is asked for in every epoch

    @abstractmethod
    def plain_tokenizer(self, train: Subset) -> Tokenizer:
        """The tokenizer, without the special tokens of the formulation."""

    @abstractmethod
    def encoder(self) -> tuple[Any, bool]:
        """A new encoder for the ids of `self.tokenizer`, and whether it has a pooler with trained weights."""

    def adapt(self, encoder: Any) -> None:
        """Changes a new encoder as the settings of large models say; nothing by default."""

    def vector_size(self, encoder: Any) -> int:
        """Size of a vector of the encoder."""
        return int(encoder.config.hidden_size)

    def fit(self, train: Subset, dev: Subset, seed: int, progress: Progress) -> History:
        settings = self.formulation.settings
        seed_everything(seed)
        self.known = None
        self.tokenizer = self.plain_tokenizer(train).extended(
            self.formulation.special_tokens(train.rows)
        )
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
            started = time.perf_counter()
            output = self._predict(choosing)
            score = self.formulation.score_of(choosing.used, output.answers)
            if settings.select == "last" or self.trainer.state.is_better(score):
                self.known = choosing, output
            spent += time.perf_counter() - started
            return score

        if settings.head_init == "linear":
            self.facts["head_start"] = linear_start(self.trainer, features, targets, seed)
        history = self.trainer.fit(features, targets, settings, seed, evaluate)
        if settings.head_init == "linear":
            end_linear_start(network.head)
        self.facts.update(
            max_length=self.limit,
            micro_batch=self.trainer.micro_batch,
            choosing_units=len(choosing.used),
            choose_seconds=round(spent, 2),
            **({"resumed": self.trainer.resumed} if self.trainer.resumed else {}),
        )
        return [asdict(epoch) for epoch in history]

    def restore(
        self,
        tokenizer: Tokenizer,
        state: Mapping[str, Tensor],
        limit: int,
        use_pooler: bool = False,
    ) -> None:
        """Takes the weights of a network that was fitted before.

        :param tokenizer: with the special tokens of the formulation
        :param limit: maximum number of sub-tokens of its inputs
        """
        self.tokenizer, self.limit = tokenizer, limit
        network, _ = self._network()
        network.use_pooler = use_pooler
        restore_weights(network, state)
        self.trainer = self._trainer(network)

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
        whole = cached_features(
            key, lambda: self.formulation.features(units.rows, self.tokenizer, self.limit)
        )
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
            checkpointing=self.checkpointing,
        )

    def _network(self) -> tuple[Network, int | None]:
        """A new network, and the maximum number of sub-tokens of its encoder."""
        settings = self.formulation.settings
        encoder, trained_pooler = self.encoder()
        most = longest_input(encoder)
        treat_layers(encoder, settings)
        if settings.encoder_dropout != CHECKPOINTS_OWN:
            set_dropout(encoder, settings.encoder_dropout)
        self.adapt(encoder)
        enlarge_embeddings(encoder, self.tokenizer.size)
        pooling, use_pooler = None, False
        size = self.vector_size(encoder)
        head, options = parse_spec(heads, settings.head)
        if self.formulation.pooled and not head.reads_sequence:
            pooling_class, choices = parse_spec(poolings, settings.pooling)
            pooling = pooling_class(size, self.tokenizer.special_tokens.cls, **choices)
            use_pooler = pooling.uses_pooler and trained_pooler
            size = pooling.size
        if not use_pooler and getattr(encoder, "pooler", None) is not None:
            encoder.pooler = None  # nothing reads it; without it there are no idle parameters
        top = head(
            size,
            Problem(self.formulation.kind, self.formulation.labels, self.formulation.scheme),
            settings.head_dropout,
            **options,
        )
        return Network(encoder, pooling, top, use_pooler, settings.word_pooling), most


def check(source: ModelSource, formulation: Formulation, where: Where = unknown_origin) -> None:
    """Raises a SettingsError if head, pooling, layers, task and tokenizer do not work together, before any training.

    :param where: origin of the settings, for the message
    """
    settings = formulation.settings
    head, _ = parse_spec(heads, settings.head)
    named = show_setting(settings, "head", where)
    formulation.check_head(head.kinds, where)
    if settings.head_init == "linear" and head is not heads.get("linear"):
        raise SettingsError(
            f"The head_init {show_setting(settings, 'head_init', where)} supports only the head 'linear', not {named}.",
            fix=f"Use a random start: {opt('set', 'head_init=random')}",
        )
    if layers_differ(settings):
        if not source.is_checkpoint:
            raise SettingsError(
                "freeze_layers, reinit_layers and layer_decay are for pretrained layers, which {model} has not.",
                model=source.name,
            )
        check_layers(source.checkpoint.outline, settings)
    _check_large(source, formulation, where)
    if formulation.pooled and not head.reads_sequence:
        reason = _why_unfit(parse_spec(poolings, settings.pooling)[0], formulation, source)
        if reason:
            fit = [
                name
                for name, one in poolings.usable().items()
                if not _why_unfit(one, formulation, source)
            ]
            raise SettingsError(
                f"The pooling {show_setting(settings, 'pooling', where)} does not work on {{task}} with "
                f"{{model}}: {reason}. Possible values: {', '.join(fit)}.",
                task=formulation.task.name,
                model=source.name,
            )


def _check_large(source: ModelSource, formulation: Formulation, where: Where) -> None:
    """Raises a SettingsError if attention or adapter do not suit a checkpoint, or the other settings."""
    settings = formulation.settings
    if settings.attention == "bidirectional" and not source.checkpoint.can_be_bidirectional:
        raise SettingsError(
            f"The attention {show_setting(settings, 'attention', where)} has no effect on {{model}}: a word "
            "still changes no vector before it.",
            model=source.name,
        )
    if settings.adapter == "off":
        if given := [name for name in OF_LORA if getattr(settings, name) != DEFAULTS[name]]:
            raise SettingsError(f"{', '.join(given)}: only with {opt('adapter', 'lora')}.")
        return
    if layers_differ(settings):
        raise SettingsError(
            "freeze_layers, reinit_layers and layer_decay have no effect beside an adapter, with which no layer learns",
            fix=f"leave them at their defaults, or remove {opt('adapter')}.",
        )
    if formulation.has_entities and settings.relation_input in NEW_TOKENS:
        raise SettingsError(
            f"The relation input {show_setting(settings, 'relation_input', where)} adds tokens, whose vectors an "
            "adapter does not learn",
            fix=f"use dummify or original, or remove {opt('adapter')}.",
        )
    adapters.check(source.checkpoint.outline, settings)


def _why_unfit(pooling: type[Pooling], formulation: Formulation, source: ModelSource) -> str:
    """Why a pooling does not work, or ""."""
    if pooling.needs_cls and source.is_checkpoint:  # the vocabularies of baselines have one
        place = source.checkpoint.tokenizer.special_tokens.cls
        if place is None:
            return "its tokenizer adds no classification token"
        if place == 0 and source.checkpoint.is_causal:
            return "it is a causal decoder, whose first sub-token, the classification token, cannot attend to the text"
    if pooling.needs_entities and not formulation.has_entities:
        return "its inputs do not have two entities"
    if pooling.needs_pair and not formulation.has_pair:
        return "its inputs are not pairs of texts"
    if pooling.needs_markers and not formulation.has_markers:
        return "its inputs have no markers (relation_input markers or typed-markers)"
    return ""


class EncoderLearner(NetworkLearner):
    """A pretrained encoder, fine-tuned with featurizer and head."""

    def __init__(
        self, source: ModelSource, formulation: Formulation, device: str, precision: Precision
    ) -> None:
        super().__init__(formulation, device, precision)
        self.source = source
        self.tokenizer = source.checkpoint.tokenizer

    def plain_tokenizer(self, train: Subset) -> Tokenizer:
        return self.source.checkpoint.tokenizer

    def encoder(self) -> tuple[Any, bool]:
        adapted = self.formulation.settings.adapter != "off"
        return encoder_of(self.source, keep_bf16=adapted and self.precision == "bf16")

    def adapt(self, encoder: Any) -> None:
        settings = self.formulation.settings
        if settings.attention == "bidirectional":
            make_bidirectional(encoder)
        if settings.adapter != "off":
            base = hub.repository_of(Path(self.source.location)) or self.source.location
            adapters.inject(encoder, settings, base)

    def vector_size(self, encoder: Any) -> int:
        return self.source.checkpoint.width

    def fit(self, train: Subset, dev: Subset, seed: int, progress: Progress) -> History:
        check(self.source, self.formulation)
        return super().fit(train, dev, seed, progress)
