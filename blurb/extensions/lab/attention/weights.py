"""From a network and a text to weights of layers and heads over sub-tokens: (layers, heads, pieces, pieces).

From what a user types to a network whose weights of attention can be asked for.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from transformers import PreTrainedModel

from blurb.checkpoints import scratch
from blurb.checkpoints.architecture import capacity
from blurb.checkpoints.checkpoint import Checkpoint
from blurb.checkpoints.references import CheckpointPlace, default_name, locate
from blurb.extensions.lab.attention import projections as vectors
from blurb.extensions.lab.attention.words import Floats
from blurb.learners import is_named, saved_models
from blurb.learners.finetuning.network import NetworkLearner
from blurb.messages.errors import ModelError, SettingsError
from blurb.messages.spelling import opt

if TYPE_CHECKING:
    from blurb.inputs.tokenizer import Subtokens, Tokenizer


@dataclass(frozen=True, eq=False)
class Opened:
    """A network and its tokenizer.

    :param name: what it is called in pictures
    :param where: its folder, for errors
    :param encoder: in evaluation mode
    :param pooling: the pooling of a kept model, or None
    :param most: maximum number of sub-tokens of an input, special tokens counted; None if there is no limit
    """

    name: str
    where: Path
    tokenizer: Tokenizer
    encoder: Any
    pooling: Any = None
    most: int | None = None


def open_model(reference: str, trust_remote_code: bool = False, data: Path | None = None) -> Opened:
    """A checkpoint, or the kept model of a trial.

    :param reference: folder, preset or Hub id of a checkpoint, `scratch:tiny`, or folder of a trial with a kept model
    :param data: data folder, from whose train texts `scratch:` takes its vocabulary
    :raises ModelError: if there is neither
    """
    if is_named(reference):
        raise ModelError(
            "a baseline has no weights before it is trained",
            where=reference,
            fix=f"run it with {opt('keep-model', 'best')}, and name the folder of the trial.",
        )
    folder = Path(reference).expanduser()
    for place in (folder, folder / saved_models.FOLDER):
        if (place / saved_models.ABOUT).is_file():
            return _kept(place, trust_remote_code)
    return _checkpoint(reference, trust_remote_code, data)


def _checkpoint(reference: str, trust_remote_code: bool, data: Path | None) -> Opened:
    is_scratch = reference.startswith(scratch.PREFIX)
    place = (
        CheckpointPlace(scratch.located(reference, data)) if is_scratch else locate(reference, None, trust_remote_code)
    )
    checkpoint = Checkpoint(place.folder, trust_remote_code, place.casing)
    checkpoint.check()
    encoder, _ = checkpoint.load_encoder()
    name = default_name(reference)
    return Opened(name, place.folder, checkpoint.tokenizer, encoder.eval(), None, capacity(encoder))


def _kept(folder: Path, trust_remote_code: bool) -> Opened:

    with torch.random.fork_rng(devices=[]):  # it is built with random weights before it gets its own
        learner, about = saved_models.load(folder, "cpu", trust_remote_code)
    name = str(about.get("model", folder.parent.name))
    if not isinstance(learner, NetworkLearner):
        raise ModelError(f"{name} has no layers of attention", where=folder, fix="choose a network.")
    network: Any = learner.trainer.network.eval()
    # The autocast of the trial, that accelerate puts into an instance: in bf16 the weights of a row do not sum to 1.
    vars(network.encoder).pop("forward", None)
    return Opened(name, folder, learner.tokenizer, network.encoder, network.pooling, learner.limit)


RETURNS_WEIGHTS = "eager"
"""The attention of transformers that computes its weights one by one; the others never have them in memory."""
NO_ATTENTION = "this model has no layers of attention, or returns no weights of them"
SUM = 1e-3
"""Maximum difference of the sum of a row from 1."""


def inputs(model: Opened, pieces: Subtokens, words: int) -> dict[str, Any]:
    """What the network reads, a batch of one.

    :raises SettingsError: for a text that is too long
    """
    special = model.tokenizer.special_tokens
    ids = special.single(pieces.ids)
    if model.most is not None and len(ids) > model.most:
        raise SettingsError(
            f"the text has {words:,} words, which are {len(ids):,} sub-tokens with special tokens, and {model.name} "
            f"reads at most {model.most:,}",
            fix="give a shorter text.",
        )
    batch = {
        "input_ids": torch.tensor([ids]),
        "attention_mask": torch.ones(1, len(ids), dtype=torch.long),
    }  # (1, pieces)
    types = special.single_types(len(pieces.ids))
    if types is not None and _has_segments(model.encoder):
        batch["token_type_ids"] = torch.tensor([types])
    return batch


def _has_segments(encoder: Any) -> bool:
    """Whether the forward pass takes segments: DistilBERT's tokenizer makes them, and its encoder knows none."""
    return "token_type_ids" in inspect.signature(encoder.forward).parameters


def of_encoder(model: Opened, batch: dict[str, Any]) -> tuple[Floats, vectors.Projections | str, list[str]]:
    """Weights, queries and keys, and notes.

    :returns: (layers, heads, pieces, pieces); projections, or why there are none; sentences for people
    :raises ModelError: if there are no weights from every sub-token to every other
    """
    if not isinstance(model.encoder, PreTrainedModel):
        raise ModelError(NO_ATTENTION, where=model.where, fix="choose an encoder with attention.")
    notes = _switch(model)
    try:
        with torch.inference_mode(), vectors.recording(model.encoder) as (queries, keys):
            output = model.encoder(**batch, output_attentions=True)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise ModelError(f"{NO_ATTENTION} ({error})", where=model.where, fix="choose another.") from error
    layers = getattr(output, "attentions", None)
    if not layers or any(layer is None for layer in layers):
        raise ModelError(NO_ATTENTION, where=model.where, fix="choose an encoder with attention.")
    size = batch["input_ids"].shape[1]
    shapes = {tuple(layer.shape) if isinstance(layer, torch.Tensor) else () for layer in layers}
    square = len(shapes) == 1 and len(shape := next(iter(shapes))) == 4 and shape[-2:] == (size, size)
    weights = np.stack([layer[0].float().numpy() for layer in layers]) if square else None
    if weights is None or np.abs(weights.sum(-1) - 1).max() > SUM:
        raise ModelError(
            "its weights are not those of every sub-token over all others (a window, blocks, or shortened inputs), "
            "so they cannot be shown as one picture",
            where=model.where,
            fix="choose an encoder with full attention.",
        )
    return weights, vectors.projections(queries, keys, weights), notes


def _switch(model: Opened) -> list[str]:
    """Switches an encoder to the attention that returns weights; says so."""
    usual = getattr(model.encoder.config, "_attn_implementation", RETURNS_WEIGHTS)
    if usual == RETURNS_WEIGHTS:
        return []
    try:
        model.encoder.set_attn_implementation(RETURNS_WEIGHTS)
    except (ValueError, AttributeError, ImportError) as error:
        raise ModelError(f"{NO_ATTENTION} ({error})", where=model.where, fix="choose another.") from error
    return [
        f"{model.name}: its attention ({usual}) returns no weights, so it was switched to "
        f"'{RETURNS_WEIGHTS}', which computes the same."
    ]


def of_pooling(model: Opened, batch: dict[str, Any]) -> Floats:
    """The weights with which a pooling sums the sub-tokens, (1, 1, 1, pieces).

    :raises ModelError: if it does not weight them
    """
    if not hasattr(model.pooling, "weights"):
        raise ModelError(
            f"{model.name} has no weights over words: neither layers nor a pooling of attention",
            where=model.where,
            fix=f"train one with {opt('set', 'pooling=attention')}, on a task of whole texts.",
        )
    with torch.inference_mode():
        hidden = model.encoder(**batch).last_hidden_state.float()  # (1, pieces, size)
        weights: Floats = model.pooling.weights(hidden, batch["attention_mask"])[:, None, None].numpy()
    return weights  # (1, 1, 1, pieces)
