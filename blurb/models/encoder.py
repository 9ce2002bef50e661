"""The learner that fine-tunes an encoder."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import asdict

from torch import Tensor

from blurb.errors import SettingsError
from blurb.formulations._base import Formulation, Output
from blurb.heads import heads, poolings
from blurb.heads._base import Head, Problem
from blurb.heads._spec import parse
from blurb.heads.pooling._base import Pooling
from blurb.inputs.cache import cached, features_key
from blurb.inputs.features import Features
from blurb.models._base import History, Learner, Progress, Subset
from blurb.models.loading import capacity, encoder_of, enlarge, is_causal, outline, tokenizer_of
from blurb.models.source import Source
from blurb.protocols.settings import OWN, Where, shown, unsaid
from blurb.training import layerwise
from blurb.training.dropout import set_dropout
from blurb.training.hardware import Precision, choose_device, seed_everything
from blurb.training.linear_start import fold, linear_start
from blurb.training.loop import Trainer
from blurb.training.network import Network


def check(source: Source, formulation: Formulation, where: Where = unsaid) -> None:
    """Raises a SettingsError if head, pooling, layers, task and tokenizer do not work together, before any training.

    :param where: origin of the settings, for the message
    """
    settings = formulation.settings
    head, _ = parse(heads, settings.head)
    named = shown(settings, "head", where)
    if not issubclass(head, Head):
        raise SettingsError(f"{settings.head} is not a subclass of blurb.heads.Head.")
    if formulation.kind not in head.kinds:
        raise SettingsError(
            f"The head {named} does not support {formulation.task.name} ({formulation.kind}); see blurb heads."
        )
    if settings.head_init == "linear" and head is not heads.get("linear"):
        raise SettingsError(
            f"The head_init {shown(settings, 'head_init', where)} supports only the head 'linear', not {named}. "
            "Use a random start: --set head_init=random"
        )
    if layerwise.asked_for(settings):
        layerwise.check(outline(source.location, source.remote_code), settings)
    if formulation.pooled and not head.reads_sequence:
        reason = _unfit(parse(poolings, settings.pooling)[0], formulation, source)
        if reason:
            fit = [name for name in poolings.names() if not _unfit(poolings.get(name), formulation, source)]
            raise SettingsError(
                f"The pooling {shown(settings, 'pooling', where)} does not work on {formulation.task.name} with "
                f"{source.name}: {reason}. Possible values: {', '.join(fit)}."
            )


def _unfit(pooling: type[Pooling], formulation: Formulation, source: Source) -> str:
    """Why a pooling does not work, or ""."""
    if pooling.needs_cls:
        place = tokenizer_of(source).special_tokens.cls
        if place is None:
            return "its tokenizer adds no classification token"
        if place == 0 and is_causal(source.location, source.remote_code):
            return "it is a causal decoder, whose first sub-token, the classification token, cannot attend to the text"
    if pooling.needs_entities and not formulation.has_entities:
        return "its inputs do not have two entities"
    if pooling.needs_pair and not formulation.has_pair:
        return "its inputs are not pairs of texts"
    if pooling.needs_markers and not formulation.has_markers:
        return "its inputs have no markers (relation_input markers or typed-markers)"
    return ""


class EncoderLearner(Learner):
    """Encoder, featurizer and head, fine-tuned together.

    :param device: `auto` or a torch device
    :param precision: resolved precision, never `auto`
    """

    trainer: Trainer
    limit: int
    known: tuple[Subset, Output] | None = None
    """Predictions of the chosen weights on the dev examples, so that dev is not predicted twice."""

    def __init__(self, source: Source, formulation: Formulation, device: str, precision: Precision) -> None:
        super().__init__(formulation)
        self.source = source
        self.device = choose_device(device)
        self.precision = precision
        self.tokenizer = tokenizer_of(source)
        self.features: dict[tuple[str, tuple[int, ...] | None], Features] = {}  # dev is asked for in every epoch

    def fit(self, train: Subset, dev: Subset, seed: int, progress: Progress) -> History:
        settings = self.formulation.settings
        check(self.source, self.formulation)
        seed_everything(seed)
        self.known = None
        plain = tokenizer_of(self.source)
        self.tokenizer = plain.extended(self.formulation.special_tokens(train.rows))
        network, most = self._network()
        self.limit = min(settings.max_length, most or settings.max_length)
        self.trainer = self._trainer(network, progress)
        features = self._features(train)
        targets = self.formulation.targets(train.used)
        choosing = dev.sample(settings.dev_sample, seed, whole=self.formulation.by_document)
        gold = [self.formulation.gold(unit) for unit in choosing.used]
        documents = [unit.get("doc_id") for unit in choosing.used]
        spent = 0.0

        highest = -math.inf

        def evaluate() -> float:
            nonlocal spent, highest
            begun = time.perf_counter()
            output = self._predict(choosing)
            score = self.formulation.main_metric(self.formulation.score(gold, output[0], documents))
            if settings.select == "last" or score > highest:  # as the loop selects
                highest, self.known = score, (choosing, output)
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
        )
        return [asdict(epoch) for epoch in history]

    def restore(self, state: Mapping[str, Tensor], limit: int, use_pooler: bool) -> None:
        """Takes the weights of a model that was fitted before (`blurb.models.kept`).

        :param state: of the network
        :param limit: maximum number of sub-tokens of its inputs
        """
        network, _ = self._network()
        network.use_pooler, self.limit = use_pooler, limit
        network.load_state_dict(state)
        self.trainer = self._trainer(network)

    def predict(self, units: Subset) -> Output:
        if self.known is not None and self.known[0] is units:
            return self.known[1]
        return self._predict(units)

    def _predict(self, units: Subset) -> Output:
        features = self._features(units)
        return self.formulation.output(units.used, features, *self.trainer.predict(features))

    def _features(self, units: Subset) -> Features:
        if not units.key:
            return self.formulation.features(units.used, self.tokenizer, self.limit)
        known = (units.key, tuple(units.chosen) if units.chosen is not None else None)
        if known in self.features:
            return self.features[known]
        key = features_key(units.key, self.tokenizer.hash, self.limit)
        whole = cached(key, lambda: self.formulation.features(units.rows, self.tokenizer, self.limit))
        self.facts[f"{units.name}_inputs"] = {
            "units": len(units.rows), "rows": len(whole), "truncated": whole.truncated, "windowed": whole.windowed,
        }  # fmt: skip
        self.features[known] = whole if units.chosen is None else whole.of_units(units.chosen)
        return self.features[known]

    def _trainer(self, network: Network, progress: Progress = lambda done, total: None) -> Trainer:
        return Trainer(network, self.tokenizer.pad_id, self.device, self.precision, progress, tracking=self.tracking)

    def _network(self) -> tuple[Network, int | None]:
        """A new network, and the maximum number of sub-tokens of its encoder."""
        settings = self.formulation.settings
        encoder, trained_pooler = encoder_of(self.source)
        most = capacity(encoder)
        layerwise.apply(encoder, settings)
        if settings.encoder_dropout != OWN:
            set_dropout(encoder, settings.encoder_dropout)
        enlarge(encoder, self.tokenizer.size)
        pooling, use_pooler = None, False
        size = int(encoder.config.hidden_size)
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
