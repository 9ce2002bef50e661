"""The learner that fine-tunes an encoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from blurb.checkpoints import ModelSource
from blurb.checkpoints.loaded_encoder import encoder_of
from blurb.formulations._base import Formulation
from blurb.heads import heads, poolings
from blurb.heads._base import Head
from blurb.heads._spec import parse
from blurb.heads.pooling._base import Pooling
from blurb.inputs.tokenizer import Tokenizer
from blurb.learners.base import History, Progress, Subset
from blurb.learners.finetuning.network import NetworkLearner
from blurb.messages.errors import SettingsError
from blurb.messages.spelling import opt
from blurb.protocols.settings import Where, shown, unknown_origin
from blurb.training.hardware import Precision
from blurb.training.optimizer import check_layers, layers_differ


def check(source: ModelSource, formulation: Formulation, where: Where = unknown_origin) -> None:
    """Raises a SettingsError if head, pooling, layers, task and tokenizer do not work together, before any training.

    :param where: origin of the settings, for the message
    """
    settings = formulation.settings
    head, _ = parse(heads, settings.head)
    named = shown(settings, "head", where)
    if not issubclass(head, Head):
        raise SettingsError(f"{settings.head} is not a subclass of blurb.heads.Head.")
    formulation.check_head(head.kinds, where)
    if settings.head_init == "linear" and head is not heads.get("linear"):
        raise SettingsError(
            f"The head_init {shown(settings, 'head_init', where)} supports only the head 'linear', not {named}.",
            fix=f"Use a random start: {opt('set', 'head_init=random')}",
        )
    if layers_differ(settings):
        if not source.is_checkpoint:
            raise SettingsError(
                "freeze_layers, reinit_layers and layer_decay are for pretrained layers, which {model} has not.",
                model=source.name,
            )
        check_layers(source.checkpoint.outline, settings)
    if formulation.pooled and not head.reads_sequence:
        reason = _unfit(parse(poolings, settings.pooling)[0], formulation, source)
        if reason:
            fit = [name for name, one in poolings.usable().items() if not _unfit(one, formulation, source)]
            raise SettingsError(
                f"The pooling {shown(settings, 'pooling', where)} does not work on {{task}} with {{model}}: {reason}. "
                f"Possible values: {', '.join(fit)}.",
                task=formulation.task.name,
                model=source.name,
            )


def _unfit(pooling: type[Pooling], formulation: Formulation, source: ModelSource) -> str:
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

    def __init__(self, source: ModelSource, formulation: Formulation, device: str, precision: Precision) -> None:
        super().__init__(formulation, device, precision)
        self.source = source
        self.tokenizer = source.checkpoint.tokenizer

    def plain_tokenizer(self, train: Subset) -> Tokenizer:
        return self.source.checkpoint.tokenizer

    def encoder(self) -> tuple[Any, bool]:
        return encoder_of(self.source)

    def vector_size(self, encoder: Any) -> int:
        return self.source.checkpoint.width

    def fit(self, train: Subset, dev: Subset, seed: int, progress: Progress) -> History:
        check(self.source, self.formulation)
        return super().fit(train, dev, seed, progress)

    def restore(self, state: Mapping[str, Tensor], limit: int, use_pooler: bool) -> None:
        """Takes the weights of a model that was fitted before (`blurb.learners.finetuning.saved_models`).

        :param state: of the network
        :param limit: maximum number of sub-tokens of its inputs
        """
        network, _ = self._network()
        network.use_pooler, self.limit = use_pooler, limit
        network.load_state_dict(state)
        self.trainer = self._trainer(network)
