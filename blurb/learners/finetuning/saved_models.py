"""Trained models on disk: the encoder as a checkpoint of transformers, the head beside it, and what both were made for.

- `config.json`, `model.safetensors`: the trained encoder for `AutoModel`, or the whole model for
  `AutoModelForTokenClassification` (of which `AutoModel` reads the encoder) where that gives the same scores
- the files of the tokenizer, with the tokens that were added for the task
- `head.safetensors`: pooling and head
- `blurb.json`: task, settings, precision, maximum length, trial
- `SEAL.json`: the SHA-256 of all others, written last

No file is a pickle.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoModelForTokenClassification

from blurb import formulations, tasks
from blurb.checkpoints import Checkpoint, adapter, of_folder
from blurb.checkpoints.tokenizer_files import FILES as TOKENIZER_FILES
from blurb.heads import heads
from blurb.learners.finetuning import adapters
from blurb.learners.finetuning.network import EncoderLearner
from blurb.learners.saved_models import ABOUT, read_about
from blurb.messages import ModelError, opt
from blurb.system.files import NO_FILE, seal_folder, write_json
from blurb.training.network import UsedRows

HEAD = "head.safetensors"
SCHEMA = 1
FIELDS: Mapping[str, type] = {
    "format": str,
    "model": str,
    "casing": str,
    "remote_code": bool,
    "max_length": int,
    "use_pooler": bool,
    "task": dict,
    "settings": dict,
    "precision": str,
}
"""Fields of `blurb.json` that are read."""
PLAIN, TAGGER = "AutoModel", "AutoModelForTokenClassification"
CLOSE = 1e-4
"""Maximum difference of logits that are the same."""


def save(learner: EncoderLearner, folder: Path, trial: Mapping[str, Any]) -> None:
    """Writes a fitted model; a kill leaves a folder without a seal.

    :param folder: is created
    :param trial: hash, settings and precision of the trial, for `blurb.json`
    """
    folder.mkdir(parents=True)
    network, task = learner.trainer.network, learner.formulation.task
    encoder: Any = network.encoder
    whole_embedding(encoder)
    adapted = learner.formulation.settings.adapter != "off"
    tagger = None if adapted else _as_token_classifier(learner)
    if adapted:
        adapters.save(encoder, folder)
    else:
        (encoder if tagger is None else tagger).save_pretrained(folder)
    # The configuration may decide the class of the tokenizer, so it comes first.
    if learner.source.remote_code:
        for code in Path(learner.source.location).glob("*.py"):
            shutil.copy(code, folder)
    _save_tokenizer(learner, folder)
    save_file(
        {
            name: value.detach().cpu().contiguous()
            for name, value in network.state_dict().items()
            if not name.startswith("encoder.")
        },
        folder / HEAD,
    )
    write_json(
        folder / ABOUT,
        {
            "schema": SCHEMA,
            "format": "adapter" if adapted else TAGGER if tagger is not None else PLAIN,
            "model": learner.source.name,
            "casing": learner.source.casing,
            "remote_code": learner.source.remote_code,
            "max_length": learner.limit,
            "use_pooler": network.use_pooler,
            "task": task.declaration,
            **(
                {"base": {"location": learner.source.location, "weights": learner.source.weights}}
                if adapted
                else {}
            ),
            **trial,
        },
    )
    seal_folder(folder)


def load(
    folder: Path, device: str = "auto", remote_code: bool = False
) -> tuple[EncoderLearner, dict[str, Any]]:
    """A kept model, ready to predict, and its `blurb.json`.

    :param remote_code: whether a person allowed the Python files in it; what it says itself allows nothing
    :raises ModelError: if it is missing or damaged, or needs code that was not allowed
    """

    if not folder.is_dir():
        raise ModelError(
            "no model here",
            where=folder,
            fix=f"run the trial again with {opt('keep-model', 'best')}.",
        )
    about = read_about(folder, SCHEMA, FIELDS)
    if about["remote_code"] and not remote_code:
        raise ModelError(
            "this model needs the Python files of its checkpoint, which are in its folder. If you trust who "
            f"made it: {opt('trust-remote-code')}",
            where=folder,
        )
    task = tasks.of_declaration(about["task"], str(folder / ABOUT))
    adapted = about["format"] == "adapter"
    place = _base_of(folder, about) if adapted else folder
    source = of_folder(
        place, about["model"], casing=about["casing"], remote_code=about["remote_code"]
    )
    if adapted and source.weights != about["base"]["weights"]:
        raise ModelError(
            f"the base of this adapter, {place}, has changed since it was trained", where=folder
        )
    learner = EncoderLearner(
        source, formulations.bind(task, about["settings"]), device, about["precision"]
    )
    if not (folder / HEAD).is_file():
        raise ModelError(
            f"{folder / HEAD}: missing, or {NO_FILE}",
            fix=f"run the trial again with {opt('keep-model', 'best')}.",
        )
    try:
        if adapted:
            state = adapters.in_network(load_file(folder / adapter.WEIGHTS))
        else:
            encoder, _ = source.checkpoint.load_encoder()
            state = {f"encoder.{name}": value for name, value in encoder.state_dict().items()}
        state |= load_file(folder / HEAD)
        tokenizer = (
            Checkpoint(folder, about["remote_code"], about["casing"]).tokenizer
            if adapted
            else learner.tokenizer
        )
        learner.restore(tokenizer, state, about["max_length"], about["use_pooler"])
    except (SafetensorError, RuntimeError, ValueError, TypeError) as error:
        raise ModelError(
            f"{folder / HEAD} does not fit the task and settings in {ABOUT} ({str(error).splitlines()[0]})."
        ) from error
    return learner, about


def _base_of(folder: Path, about: dict[str, Any]) -> Path:
    """The folder of the checkpoint that an adapter was trained on."""
    base = about.get("base")
    if not isinstance(base, dict) or not isinstance(base.get("location"), str):
        raise ModelError(
            "'base' must say where the checkpoint of this adapter lies", where=folder / ABOUT
        )
    if not Path(base["location"]).is_dir():
        raise ModelError(
            f"the base of this adapter is gone: {base['location']}",
            where=folder,
            fix=f"put it back; or merge the adapter: blurb run {folder} {opt('base', 'MODEL')}",
        )
    return Path(base["location"])


def whole_embedding(encoder: Any) -> None:
    """Puts back the rows of the embedding table that training left out (`blurb.training.network`)."""

    table = encoder.get_input_embeddings()
    if isinstance(table, UsedRows):
        table.eval()  # writes the trained rows into the table
        encoder.set_input_embeddings(
            nn.Embedding(table.full.shape[0], table.full.shape[1], _weight=table.full)
        )


def _save_tokenizer(learner: EncoderLearner, folder: Path) -> None:
    """Saves the tokenizer; ModelError if it would not come back as it is.

    Some tokenizers without a fast version lose entries when transformers saves them, so that the checkpoint's own files
    are copied.
    """

    def comes_back() -> bool:
        saved = Checkpoint(folder, learner.source.remote_code, learner.source.casing)
        return saved.tokenizer.hash == learner.tokenizer.hash

    learner.tokenizer.inner.save_pretrained(folder)
    if comes_back():
        return
    for name in TOKENIZER_FILES:
        (folder / name).unlink(missing_ok=True)
        if (original := Path(learner.source.location) / name).is_file():
            shutil.copy(original, folder)
    if not comes_back():
        raise ModelError(
            f"The tokenizer of {learner.source.name} cannot be saved as it is used in this trial, so its model is not "
            "kept",
            fix=f"run without {opt('keep-model')}.",
        )


def _as_token_classifier(learner: EncoderLearner) -> Any:
    """The model as AutoModelForTokenClassification, if that gives the same scores; else None."""

    network = learner.trainer.network
    if learner.formulation.kind != "tokens" or type(network.head) is not heads.get("linear"):
        return None
    encoder: Any = network.encoder
    head: Any = network.head
    labels = list(learner.formulation.labels)
    config = copy.deepcopy(encoder.config)
    config.id2label, config.label2id = (
        dict(enumerate(labels)),
        {label: at for at, label in enumerate(labels)},
    )
    network.to("cpu").eval()
    try:
        with torch.random.fork_rng():
            tagger = AutoModelForTokenClassification.from_config(config).eval()
        tagger.base_model.load_state_dict(encoder.state_dict())
        tagger.classifier.load_state_dict(head.linear.state_dict())
        ids = torch.arange(2, 18).remainder(config.vocab_size).view(2, 8)
        with torch.no_grad():  # in float32, whatever the trial had
            ours = head(encoder(input_ids=ids).last_hidden_state)
            same = torch.allclose(tagger(ids).logits, ours, atol=CLOSE)
    except Exception:  # noqa: BLE001 - an architecture without such a class, or with other layers
        return None
    finally:
        network.to(learner.device)
    return tagger if same else None
