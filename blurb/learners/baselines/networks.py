"""`baseline:bilstm` and `baseline:transformer`: networks that learn everything, words included, from train alone.

Vocabulary and weights are new in every trial; featurizer, heads and training loop are those of the encoders. Their
training settings stand in the protocols' files, under `[baselines]`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel, PretrainedConfig
from transformers.modeling_outputs import BaseModelOutput

from blurb.checkpoints.source import ModelSource
from blurb.formulations._base import Formulation
from blurb.heads.bilstm import BiLSTMLayer
from blurb.inputs.tokenizer import Tokenizer
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.learners.baselines.vocabulary import LONGEST, VOCABULARIES
from blurb.learners.finetuning import encoder
from blurb.learners.finetuning.network import NetworkLearner
from blurb.messages.errors import SettingsError, UnknownName
from blurb.protocols.settings import Where, unknown_origin
from blurb.training.hardware import Precision

DROPOUT = 0.1
POSITIONS = ("learned", "sinusoidal")


def check(source: ModelSource, formulation: Formulation, where: Where = unknown_origin) -> None:
    """Raises a SettingsError if head, pooling and task do not work together, or an option has an impossible value."""
    encoder.check(source, formulation, where)
    building.learner(source, formulation, "cpu", "fp32")


class FromScratch(NetworkLearner):
    """A network with random weights and a vocabulary of the training texts.

    :param vocabulary: `words` or `wordpiece`
    :param size: number of words or pieces
    :param width: size of a token's vector
    """

    def __init__(
        self, formulation: Formulation, device: str, precision: Precision, vocabulary: str, size: int, **sizes: int
    ) -> None:
        super().__init__(formulation, device, precision)
        if vocabulary not in VOCABULARIES:
            raise UnknownName("vocabulary", vocabulary, VOCABULARIES)
        for name, value in {"size": size, **sizes}.items():
            if value < 1:
                raise SettingsError(f"baseline: {name} must be at least 1 (got {value}).")
        self.vocabulary, self.size = vocabulary, size

    def plain_tokenizer(self, train: Subset) -> Tokenizer:
        texts = list(chain.from_iterable(self.formulation.texts(train.used)))  # as read: with dummies, say
        found = VOCABULARIES[self.vocabulary](texts, self.size, self.formulation.settings.min_count)
        self.facts["vocabulary"] = found.size
        return found

    def encoder(self) -> tuple[Any, bool]:
        made = self.network()
        self.facts["parameters"] = sum(parameter.numel() for parameter in made.parameters())
        return made, False

    def restore(self, tokenizer: Tokenizer, state: Mapping[str, Tensor], limit: int) -> None:
        """Takes the weights of a network that was fitted before (`blurb.learners.baselines.saved_networks`).

        :param tokenizer: with the special tokens of the formulation
        :param limit: maximum number of sub-tokens of its inputs
        """
        self.tokenizer, self.limit = tokenizer, limit
        network, _ = self._network()
        network.load_state_dict(state)
        self.trainer = self._trainer(network)

    @abstractmethod
    def network(self) -> Any:
        """A new encoder for the ids of `self.tokenizer`."""


class BiLSTMNetwork(FromScratch):
    """Vectors of tokens, read by a bidirectional LSTM.

    :param width: size of a token's vector
    :param hidden: hidden units per direction
    """

    def __init__(
        self,
        formulation: Formulation,
        device: str,
        precision: Precision,
        vocabulary: str = "words",
        size: int = 20_000,
        width: int = 200,
        hidden: int = 128,
        layers: int = 1,
    ) -> None:
        super().__init__(formulation, device, precision, vocabulary, size, width=width, hidden=hidden, layers=layers)
        self.width, self.hidden, self.layers = width, hidden, layers

    def network(self) -> RecurrentEncoder:
        return RecurrentEncoder(self.tokenizer.size, self.tokenizer.pad_id, self.width, self.hidden, self.layers)


class Transformer(FromScratch):
    """A Transformer encoder: BERT's architecture, which is that of Vaswani et al. (arXiv 1706.03762) with GELU.

    :param positions: `learned` or `sinusoidal` (section 3.5 there), which are not trained
    :param heads: attention heads a layer
    """

    def __init__(
        self,
        formulation: Formulation,
        device: str,
        precision: Precision,
        vocabulary: str = "words",
        size: int = 20_000,
        width: int = 128,
        heads: int = 4,
        layers: int = 2,
        positions: str = "learned",
    ) -> None:
        super().__init__(formulation, device, precision, vocabulary, size, width=width, heads=heads, layers=layers)
        if positions not in POSITIONS:
            raise UnknownName("kind of positions", positions, POSITIONS)
        if width % (2 * heads):
            raise SettingsError(f"baseline:transformer: width ({width}) must be a multiple of 2 * heads ({2 * heads}).")
        self.width, self.heads, self.layers, self.positions = width, heads, layers, positions

    def network(self) -> BertModel:
        config = BertConfig(
            vocab_size=self.tokenizer.size,
            hidden_size=self.width,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            intermediate_size=4 * self.width,
            max_position_embeddings=LONGEST,
            pad_token_id=self.tokenizer.pad_id,
        )
        model = BertModel(config, add_pooling_layer=False)
        if self.positions == "sinusoidal":
            table = model.embeddings.position_embeddings
            # At the scale of the other tables: of a norm of their own they would drown the words.
            table.weight.data.copy_(sinusoids(LONGEST, self.width) * config.initializer_range)
            table.requires_grad_(False)
        return model


class RecurrentEncoder(nn.Module):
    """Token vectors and a bidirectional LSTM, with the interface of an encoder of transformers."""

    def __init__(self, vocabulary: int, pad_id: int, width: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.config = PretrainedConfig(hidden_size=2 * hidden)
        self.table = nn.Embedding(vocabulary, width, padding_idx=pad_id)
        self.dropout = nn.Dropout(DROPOUT)
        self.lstm = BiLSTMLayer(width, hidden, layers, DROPOUT)

    def get_input_embeddings(self) -> nn.Module:
        """The table of token vectors."""
        return self.table

    def set_input_embeddings(self, table: nn.Module) -> None:
        """Replaces the table of token vectors."""
        self.table = table  # type: ignore[assignment]

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None
    ) -> BaseModelOutput:
        """(batch, pieces) to (batch, pieces, 2 * hidden)."""
        states, _ = self.lstm(self.dropout(self.table(input_ids)), attention_mask)
        return BaseModelOutput(last_hidden_state=self.dropout(states))


def sinusoids(positions: int, width: int) -> Tensor:
    """(positions, width): sine and cosine of every position at wavelengths from 2 pi to 10,000 * 2 pi."""
    rates = torch.exp(torch.arange(0, width, 2) * (-torch.log(torch.tensor(10_000.0)) / width))
    angles = torch.arange(positions).unsqueeze(1) * rates
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
