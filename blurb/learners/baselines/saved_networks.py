"""Trained baselines on disk: `network.safetensors`, the tokenizer's files, and `blurb.json`, sealed. No pickle."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from blurb import formulations, tasks
from blurb.checkpoints.checkpoint import Checkpoint
from blurb.learners.baselines import networks
from blurb.learners.finetuning.saved_models import whole_embedding
from blurb.learners.saved_models import ABOUT
from blurb.messages.errors import ModelError
from blurb.messages.spelling import opt
from blurb.system.files import damage, read_json, seal, write_json

if TYPE_CHECKING:
    from blurb.learners.baselines.networks import FromScratch

NETWORK = "network.safetensors"
SCHEMA = 1
FIELDS: Mapping[str, type] = {
    "model": str,
    "max_length": int,
    "options": dict,
    "task": dict,
    "settings": dict,
    "precision": str,
}
"""Fields of `blurb.json` that are read."""
NETWORKS: Mapping[str, type[FromScratch]] = {"bilstm": networks.BiLSTMNetwork, "transformer": networks.Transformer}
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
    state = {name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()}
    save_file(state, folder / NETWORK)
    learner.tokenizer.inner.save_pretrained(folder)
    if Checkpoint(folder).tokenizer.hash != learner.tokenizer.hash:
        raise ModelError("its tokenizer cannot be saved as it is, so it is not kept", where=folder)
    kind = next(name for name, network_type in NETWORKS.items() if type(learner) is network_type)
    about = {
        "schema": SCHEMA,
        "learner": kind,
        "model": f"baseline:{kind}",
        "max_length": learner.limit,
        "options": options(learner),
        "task": dataclasses.asdict(learner.formulation.task),
    }
    write_json(folder / ABOUT, {**about, **trial})
    seal(folder)


def options(learner: FromScratch) -> dict[str, Any]:
    """The constructor's parameters with defaults, with their values."""
    parameters = inspect.signature(type(learner)).parameters.values()
    return {each.name: getattr(learner, each.name) for each in parameters if each.default is not each.empty}


def load(folder: Path, device: str = "auto", remote_code: bool = False) -> tuple[FromScratch, dict[str, Any]]:
    """A kept network, ready to predict, and its `blurb.json`.

    :param remote_code: has no effect, as there is no code in it
    :raises ModelError: if it is missing or damaged
    """

    if lost := damage(folder):
        raise ModelError(
            f"{', '.join(lost)} missing or damaged",
            where=folder,
            fix=f"remove the folder and run the trial again with {opt('keep-model', 'best')}.",
        )
    about = read_json(folder / ABOUT)
    wrong = [name for name, kind in FIELDS.items() if type(about.get(name)) is not kind]
    if wrong or about.get("schema") != SCHEMA or about.get("learner") not in NETWORKS:
        raise ModelError(
            f"this version of blurb cannot read it ({', '.join(wrong) or 'another schema'})", where=folder / ABOUT
        )
    task = tasks.of_declaration(about["task"], str(folder / ABOUT))
    formulation = formulations.bind(task, about["settings"])
    try:
        learner = NETWORKS[about["learner"]](formulation, device, about["precision"], **about["options"])
        learner.restore(Checkpoint(folder).tokenizer, load_file(folder / NETWORK), about["max_length"])
    except (SafetensorError, OSError, RuntimeError, ValueError, TypeError) as error:
        why = str(error).splitlines()[0]
        raise ModelError(f"does not fit the task and options in {ABOUT} ({why}).", where=folder / NETWORK) from error
    return learner, about
