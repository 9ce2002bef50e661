"""The forward pass of a frozen encoder. Oracle: transformers, one input at a time, without padding."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from blurb import tasks
from blurb.checkpoints import Checkpoint
from blurb.data import read_split
from blurb.formulations import bind
from blurb.inputs.features import Features
from blurb.learners import building
from blurb.learners.frozen.encoder import LAYERS, Frozen, fingerprint, middle
from blurb.messages.errors import ModelError
from blurb.training.network import Network
from tests.conftest import Builder

DATA = Path(__file__).parents[1] / "golden" / "data"


def read(
    folder: Path, task: str, word_pooling: str = "first"
) -> tuple[Features, list[np.ndarray], Frozen]:
    """Features of a training set, and its vectors from both layers."""
    source = building.resolve_model(str(folder))
    tokenizer, formulation = source.checkpoint.tokenizer, bind(tasks.get(task))
    units = formulation.units(read_split(tasks.get(task), DATA, "train"))
    (features,) = formulation.frozen_features(units, tokenizer, 24)
    encoder, _ = Checkpoint(Path(source.location)).load_encoder()
    frozen = Frozen(
        encoder,
        encoder.config.hidden_size,
        tokenizer.special_tokens.cls,
        tokenizer.pad_id,
        torch.device("cpu"),
        "fp32",
        word_pooling,
    )
    rows = len(features) if features.word_ids is None else int(features.word_ids.offsets[-1])
    width = frozen.size * (1 if features.word_ids is not None else len(formulation.vectors))
    into = [np.zeros((rows, width), np.float16) for _ in LAYERS]
    frozen.fill(features, formulation.vectors, into)
    return features, into, frozen


def alone(frozen: Frozen, features: Features, row: int) -> list[torch.Tensor]:
    """The layers of one input, (pieces, size) each, in the order of `LAYERS`."""
    inputs = {"input_ids": torch.from_numpy(features.ids[row])[None]}
    if features.token_type_ids is not None:
        inputs["token_type_ids"] = torch.from_numpy(features.token_type_ids[row])[None]
    with torch.no_grad():
        output = frozen.encoder(**inputs, output_hidden_states=True)
    states = output.hidden_states
    return [output.last_hidden_state[0], states[middle(len(states) - 1)][0]]


@pytest.mark.parametrize("kind", ["bert_uncased", "roberta", "t5"])
@pytest.mark.parametrize("task", ["hoc", "gad", "pubmedqa"])
def test_vectors_are_those_of_each_input_alone(kind: str, task: str, checkpoint: Builder) -> None:
    features, found, frozen = read(checkpoint(kind), task)
    for row in range(len(features)):
        for layer, hidden in enumerate(alone(frozen, features, row)):
            expected = [hidden[(-1 if frozen.cls == -1 else 0)], hidden.mean(0)]
            if features.entities is None:
                expected.append(hidden.amax(0))
            else:
                expected += [hidden[start:end].mean(0) for start, end in features.entities[row]]
            assert found[layer][row] == pytest.approx(
                torch.cat(expected).numpy(), abs=4e-3, rel=2e-3
            )


@pytest.mark.parametrize("word_pooling", ["first", "mean", "last"])
def test_words_stand_in_the_order_of_the_text(word_pooling: str, checkpoint: Builder) -> None:
    features, found, frozen = read(checkpoint("bert_uncased"), "bc5-chem", word_pooling)
    assert features.windowed  # cut at 24: a sentence has several rows
    expected: list[list[np.ndarray]] = [[], []]
    for row in range(len(features)):
        for layer, hidden in enumerate(alone(frozen, features, row)):
            for start, end in zip(features.word_starts[row], features.word_ends[row], strict=True):
                subtokens = hidden[start:end]
                one = {"first": subtokens[0], "mean": subtokens.mean(0), "last": subtokens[-1]}[
                    word_pooling
                ]
                expected[layer].append(one.numpy())
    for layer in range(2):
        assert found[layer] == pytest.approx(np.stack(expected[layer]), abs=4e-3, rel=2e-3)
    order = [
        (int(unit), int(word))
        for row, unit in enumerate(features.example_index)
        for word in features.word_ids[row]
    ]
    assert order == sorted(order)


def test_they_are_what_fine_tuning_starts_from(checkpoint: Builder) -> None:
    """The same numbers as the network of the fine-tuning path gives its head."""
    from blurb.heads import heads
    from blurb.heads._base import Problem
    from blurb.heads.pooling.cls_mean_mentions import ClsMeanMentions
    from blurb.training.batches import collate_batch

    features, found, frozen = read(checkpoint("bert_uncased"), "gad")
    pooling = ClsMeanMentions(frozen.size, frozen.cls)
    head = heads.get("linear")(pooling.size, Problem("single", ("0", "1")), 0.1)
    network = Network(frozen.encoder, pooling, head, use_pooler=False).eval()
    with torch.no_grad():
        expected = network.features(
            collate_batch(features, np.arange(len(features)), frozen.pad_id)
        )
    assert found[0] == pytest.approx(expected.numpy(), abs=4e-3, rel=2e-3)


@pytest.mark.parametrize(
    ("change", "asked", "told"),
    [
        # As in a funnel, whose inner layers are shorter than its input
        (
            lambda states: [state[:, ::2] for state in states],
            ("first",),
            r"layers of this encoder \(function\) differ in length or size",
        ),
        (
            lambda states: None,
            ("first", "mean", "head", "tail"),
            "does not return the hidden states of its layers",
        ),
    ],
    ids=["of other lengths", "none"],
)
def test_layers_of_other_lengths_or_none_are_named(
    change: Any, asked: tuple[str, ...], told: str, checkpoint: Builder
) -> None:
    features, into, frozen = read(checkpoint("bert_uncased"), "gad")
    inner = frozen.encoder

    def forward(**inputs: object) -> SimpleNamespace:
        output = inner(**inputs)
        return SimpleNamespace(
            last_hidden_state=output.last_hidden_state, hidden_states=change(output.hidden_states)
        )

    frozen.encoder = forward
    with pytest.raises(ModelError, match=told):
        frozen.fill(features, asked, into)


def test_a_hash_of_all_that_is_read(checkpoint: Builder) -> None:
    chem, _, _ = read(checkpoint("bert_uncased"), "bc5-chem")
    again, _, _ = read(checkpoint("bert_uncased"), "bc5-chem")
    assert fingerprint(chem) == fingerprint(again)
    gad, _, _ = read(checkpoint("bert_uncased"), "gad")
    moved = Features(**{**vars(gad), "entities": gad.entities + 1})
    fewer = gad.of_units(range(len(gad) - 1))
    turned = gad.of_units(range(len(gad))[::-1])
    assert len({fingerprint(one) for one in (chem, gad, moved, fewer, turned)}) == 5
