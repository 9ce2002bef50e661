"""From what a user types to a network whose weights of attention can be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from blurb.checkpoints import scratch
from blurb.checkpoints.checkpoint import Checkpoint
from blurb.checkpoints.encoder_size import capacity
from blurb.checkpoints.references import Place, default_name, locate
from blurb.learners import is_named, saved_models
from blurb.learners.finetuning.network import NetworkLearner
from blurb.messages.errors import ModelError

if TYPE_CHECKING:
    from blurb.inputs.tokenizer import Tokenizer


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
            fix="run it with --keep-model best, and name the folder of the trial.",
        )
    folder = Path(reference).expanduser()
    for place in (folder, folder / saved_models.FOLDER):
        if (place / saved_models.ABOUT).is_file():
            return _kept(place, trust_remote_code)
    return _checkpoint(reference, trust_remote_code, data)


def _checkpoint(reference: str, trust_remote_code: bool, data: Path | None) -> Opened:
    is_scratch = reference.startswith(scratch.PREFIX)
    place = Place(scratch.located(reference, data)) if is_scratch else locate(reference, None, trust_remote_code)
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
