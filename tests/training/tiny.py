"""A network of a few thousand weights and made-up inputs for it."""

from typing import Any

import numpy as np
import torch
from transformers import BertConfig, BertModel

from blurb.heads import heads, poolings
from blurb.heads._base import OutputKind, Problem
from blurb.inputs.features import Features, Ragged
from blurb.protocols.settings import Settings
from blurb.training.loop import Trainer
from blurb.training.network import Network

VOCABULARY = 60
PAD = 0


def network(
    kind: OutputKind = "single", labels: int = 3, dropout: float = 0.0, seed: int = 0, **config: Any
) -> Network:
    """BERT with two layers of 16; `mean` pooling for sequence problems."""
    torch.manual_seed(seed)
    sizes = {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    encoder = BertModel(
        BertConfig(
            vocab_size=VOCABULARY,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
            **{**sizes, **config},
        ),
        add_pooling_layer=False,
    )
    head = heads.get("linear")(16, Problem(kind, [str(label) for label in range(labels)]), dropout)
    return Network(encoder, None if kind == "tokens" else poolings.get("mean")(16, 0), head, False)


def trainer(net: Network, **options: Any) -> Trainer:
    """On the CPU in float32."""
    return Trainer(net, PAD, torch.device("cpu"), "fp32", **options)


def features(
    rows: int, seed: int = 0, ids: tuple[int, int] = (5, 40), words: bool = False
) -> Features:
    """Rows of 3 to 12 sub-tokens between `ids`; with `words`, every second sub-token begins a word."""
    rng = np.random.default_rng(seed)
    subtokens = [rng.integers(*ids, size=rng.integers(3, 13)) for _ in range(rows)]
    positions = [np.arange(0, len(row), 2) for row in subtokens]
    return Features(
        ids=Ragged.of(subtokens),
        token_type_ids=Ragged.of([np.zeros(len(row), dtype=np.int64) for row in subtokens]),
        example_index=np.arange(rows),
        word_ids=Ragged.of([np.arange(len(row)) for row in positions]) if words else None,
        word_starts=Ragged.of(positions) if words else None,
        word_ends=Ragged.of(
            np.minimum(row + 2, len(piece)) for row, piece in zip(positions, subtokens, strict=True)
        )
        if words
        else None,
    )


def targets(inputs: Features, labels: int = 3) -> Any:
    """What can be learnt: the class follows from the first sub-token, a word's tag from its own."""
    if inputs.word_ids is not None and inputs.word_starts is not None:
        return Ragged.of(
            [inputs.ids[i][inputs.word_starts[i]] % labels for i in range(len(inputs))]
        )
    return np.array([int(inputs.ids[i][0]) % labels for i in range(len(inputs))], dtype=np.int64)


def accuracy(trained: Trainer, inputs: Features) -> float:
    """The share of right answers, of words a mean over the inputs; tags of padding follow those of words."""
    predicted, _ = trained.predict(inputs)
    gold = targets(inputs)
    return float(
        np.mean(
            [
                np.mean(np.atleast_1d(row)[: np.size(right)] == right)
                for row, right in zip(predicted, gold, strict=True)
            ]
        )
    )


def settings(**values: Any) -> Settings:
    """The defaults with a higher rate and few epochs."""
    return Settings(**{"max_length": 32, "epochs": 2, "batch_size": 8, "lr": 1e-3, **values})


def weights(net: Network) -> dict[str, torch.Tensor]:
    """A copy of all weights by name."""
    return {name: value.detach().clone() for name, value in net.state_dict().items()}
