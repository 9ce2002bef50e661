"""`baseline:bilstm` and `baseline:transformer`: networks that learn everything, words included, from train alone.

Vocabulary and weights are new in every trial; featurizer, heads and training loop are those of the encoders. Their
training settings stand in the protocols' files, under `[baselines]`. A kept one is `network.safetensors`, its tokenizer
and `blurb.json`, sealed; no pickle.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer as Backend, models, normalizers, pre_tokenizers, processors
from torch import Tensor, nn
from transformers import BertConfig, BertModel, PretrainedConfig, PreTrainedTokenizerFast
from transformers.modeling_outputs import BaseModelOutput

from blurb import formulations, tasks
from blurb.checkpoints import Checkpoint, ModelSource
from blurb.checkpoints.scratch import SPECIAL, train_wordpiece
from blurb.formulations._base import Formulation
from blurb.heads._spec import plugin_options
from blurb.heads.bilstm import BiLSTMLayer
from blurb.inputs.tokenizer import Tokenizer
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.learners.finetuning import network
from blurb.learners.finetuning.saved_models import whole_embedding
from blurb.learners.saved_models import ABOUT, read_about
from blurb.messages import ModelError, SettingsError, UnknownName
from blurb.protocols.settings import Where, unknown_origin
from blurb.system.files import seal_folder, write_json
from blurb.training.hardware import Precision

DROPOUT = 0.1
POSITIONS = ("learned", "sinusoidal")


def check(source: ModelSource, formulation: Formulation, where: Where = unknown_origin) -> None:
    """Raises a SettingsError if head, pooling and task do not work together, or an option has an impossible value."""
    network.check(source, formulation, where)
    building.learner(source, formulation, "cpu", "fp32")


class FromScratch(network.NetworkLearner):
    """A network with random weights and a vocabulary of the training texts.

    :param vocabulary: `words` or `wordpiece`
    :param size: number of words or pieces
    :param width: size of a token's vector
    """

    def __init__(
        self,
        formulation: Formulation,
        device: str,
        precision: Precision,
        vocabulary: str,
        size: int,
        **sizes: int,
    ) -> None:
        super().__init__(formulation, device, precision)
        if vocabulary not in VOCABULARIES:
            raise UnknownName("vocabulary", vocabulary, VOCABULARIES)
        for name, value in {"size": size, **sizes}.items():
            if value < 1:
                raise SettingsError(f"baseline: {name} must be at least 1 (got {value}).")
        self.vocabulary, self.size = vocabulary, size

    def plain_tokenizer(self, train: Subset) -> Tokenizer:
        # The texts as they are read, such as with dummies.
        texts = list(chain.from_iterable(self.formulation.texts(train.used)))
        found = VOCABULARIES[self.vocabulary](texts, self.size, self.formulation.settings.min_count)
        self.facts["vocabulary"] = found.size
        return found

    def encoder(self) -> tuple[Any, bool]:
        made = self.network()
        self.facts["parameters"] = sum(parameter.numel() for parameter in made.parameters())
        return made, False

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
        super().__init__(
            formulation,
            device,
            precision,
            vocabulary,
            size,
            width=width,
            hidden=hidden,
            layers=layers,
        )
        self.width, self.hidden, self.layers = width, hidden, layers

    def network(self) -> RecurrentEncoder:
        return RecurrentEncoder(
            self.tokenizer.size, self.tokenizer.pad_id, self.width, self.hidden, self.layers
        )


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
        super().__init__(
            formulation,
            device,
            precision,
            vocabulary,
            size,
            width=width,
            heads=heads,
            layers=layers,
        )
        if positions not in POSITIONS:
            raise UnknownName("kind of positions", positions, POSITIONS)
        if width % (2 * heads):
            raise SettingsError(
                f"baseline:transformer: width ({width}) must be a multiple of 2 * heads ({2 * heads})."
            )
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


NETWORK = "network.safetensors"
SCHEMA = 1
FIELDS: Mapping[str, type] = {
    "model": str,
    "learner": str,
    "max_length": int,
    "options": dict,
    "task": dict,
    "settings": dict,
    "precision": str,
}
"""Fields of `blurb.json` that are read."""
NETWORKS: Mapping[str, type[FromScratch]] = {"bilstm": BiLSTMNetwork, "transformer": Transformer}
"""By the name in `blurb.json`, which is that of the kind of learner and never that of a class."""


def save(learner: FromScratch, folder: Path, trial: Mapping[str, Any]) -> None:
    """Writes a fitted network; a kill leaves a folder without a seal.

    :param folder: is created
    :param trial: hash, settings and precision of the trial, for `blurb.json`
    :raises ModelError: if its tokenizer cannot be saved as it is
    """

    folder.mkdir(parents=True)
    network: Any = learner.trainer.network
    whole_embedding(network.encoder)
    save_file(
        {name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()},
        folder / NETWORK,
    )
    learner.tokenizer.inner.save_pretrained(folder)
    if Checkpoint(folder).tokenizer.hash != learner.tokenizer.hash:
        raise ModelError("its tokenizer cannot be saved as it is, so it is not kept", where=folder)
    kind = next(name for name, network_type in NETWORKS.items() if type(learner) is network_type)
    about = {
        "schema": SCHEMA,
        "learner": kind,
        "model": f"baseline:{kind}",
        "max_length": learner.limit,
        "options": {name: getattr(learner, name) for name in plugin_options(type(learner))},
        "task": learner.formulation.task.declaration,
    }
    write_json(folder / ABOUT, {**about, **trial})
    seal_folder(folder)


def load(
    folder: Path, device: str = "auto", remote_code: bool = False
) -> tuple[FromScratch, dict[str, Any]]:
    """A kept network, ready to predict, and its `blurb.json`.

    :param remote_code: has no effect, as there is no code in it
    :raises ModelError: if it is missing or damaged
    """
    about = read_about(folder, SCHEMA, FIELDS)
    if about["learner"] not in NETWORKS:
        raise ModelError(f"there is no baseline '{about['learner']}'", where=folder / ABOUT)
    formulation = formulations.bind(
        tasks.of_declaration(about["task"], str(folder / ABOUT)), about["settings"]
    )
    try:
        learner = NETWORKS[about["learner"]](
            formulation, device, about["precision"], **about["options"]
        )
        learner.restore(
            Checkpoint(folder).tokenizer, load_file(folder / NETWORK), about["max_length"]
        )
    except (SafetensorError, OSError, RuntimeError, ValueError, TypeError) as error:
        raise ModelError(
            f"does not fit the task and options in {ABOUT} ({str(error).splitlines()[0]}).",
            where=folder / NETWORK,
        ) from error
    return learner, about


LONGEST = 512
"""Positions of a text."""


def words(texts: Sequence[str], size: int, min_count: int) -> Tokenizer:
    """Lower-cased words, and each sign of punctuation by itself; others are unknown.

    :param size: maximum number of words: the most frequent, in alphabetical order if tied
    :param min_count: number of texts that a word must occur in
    """
    normalizer, splitter = (
        normalizers.BertNormalizer(lowercase=True),
        pre_tokenizers.BertPreTokenizer(),
    )
    counts = Counter(
        word
        for text in texts
        for word in {word for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))}
    )
    kept = sorted(
        (word for word in counts if counts[word] >= min_count),
        key=lambda word: (-counts[word], word),
    )
    vocabulary = {word: index for index, word in enumerate([*SPECIAL, *kept[:size]])}
    backend = Backend(models.WordLevel(vocabulary, unk_token="[UNK]"))
    backend.normalizer, backend.pre_tokenizer = normalizer, splitter
    ids = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=ids
    )
    return Tokenizer(
        PreTrainedTokenizerFast(
            tokenizer_object=backend,
            unk_token="[UNK]",
            cls_token="[CLS]",
            sep_token="[SEP]",
            pad_token="[PAD]",
            model_input_names=["input_ids", "token_type_ids", "attention_mask"],
            model_max_length=LONGEST,
        )
    )


def pieces(texts: Sequence[str], size: int, min_count: int) -> Tokenizer:
    """Lower-cased WordPieces, learnt from the texts; a word that one occurs in need not have been seen.

    :param size: number of pieces, about
    :param min_count: as for `words`; a pair of pieces is joined if it occurs that often
    """
    found: Any = train_wordpiece(sorted(set(texts)), size, min_count)
    return Tokenizer(found)


VOCABULARIES = {"words": words, "wordpiece": pieces}
"""By the value of the option `vocabulary`."""
