"""From what a user types to a model that is there: a path, a Hub id, a preset, `scratch:...` or `baseline:...`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from blurb.errors import ModelError, UnknownName
from blurb.models.checkpoint import check_config, check_tokenizer, read_json
from blurb.models.references import default_name, known_casing, locate, presets
from blurb.models.weights import check_headers, hash_weights, weight_files

__all__ = ["Source", "check_folder", "default_name", "hash_weights", "locate", "presets", "resolve", "weight_files"]

TOKENIZERS = (
    "tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "spm.model",
    "tokenizer.model",
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A model that is there, and what identifies it.

    :param name: the name of its rows
    :param kind: "encoder" or "baseline"
    :param location: folder of the checkpoint, or the name of the baseline
    :param weights: SHA-256 of weights and configuration
    :param tokenizer: SHA-256 of what decides the token ids
    :param parameters: parameters of the encoder
    :param remote_code: code that comes with the checkpoint may run
    :param casing: "cased" or "uncased" where the files of the tokenizer are wrong about it
    """

    name: str
    kind: str
    location: str
    weights: str
    tokenizer: str = ""
    parameters: int = 0
    remote_code: bool = False
    revision: str | None = None
    casing: str = ""


def resolve(
    reference: str,
    name: str | None = None,
    revision: str | None = None,
    remote_code: bool = False,
    casing: str | None = None,
) -> Source:
    """The model that a reference means.

    :param reference: a folder, a preset, a Hub id (`org/model` or `org/model@revision`), or `baseline:majority`;
        `scratch:...` is built from data first, see `blurb.models.scratch`
    :param casing: "cased" or "uncased"; None for what the preset says, or else the files of the tokenizer
    :raises ModelError: naming what is missing and what to do
    """
    if reference.startswith("baseline:"):
        from blurb.models.baseline import BASELINES

        kind = reference.removeprefix("baseline:")
        if kind not in BASELINES:
            raise UnknownName("baseline", kind, BASELINES)
        return Source(name or reference, "baseline", kind, weights=f"baseline:{kind}")
    folder, found = locate(reference, revision, remote_code)
    check_folder(folder)
    from blurb.models.loading import describe

    casing = known_casing(reference) if casing is None else casing
    tokenizer, parameters = describe(folder, remote_code, casing)
    return Source(
        name=name or default_name(reference),
        kind="encoder",
        location=str(folder),
        weights=hash_weights(folder, remote_code),
        tokenizer=tokenizer,
        parameters=parameters,
        remote_code=remote_code,
        revision=found,
        casing=casing,
    )


def check_folder(folder: Path) -> None:
    """ModelError if a checkpoint lacks its configuration, weights or tokenizer, or if these cannot be ones."""
    if (folder / "adapter_config.json").is_file():
        base = read_json(folder, "adapter_config.json").get("base_model_name_or_path")
        raise ModelError(
            f"{folder}: this is a PEFT adapter, not a whole model (there is an adapter_config.json). Merge it with "
            f"PeftModel.from_pretrained(base, adapter).merge_and_unload(), base being {base or 'its base model'}, "
            "then save_pretrained of the model and of its tokenizer into a folder of their own."
        )
    if not (folder / "config.json").is_file():
        inner = sorted((path.parent.name for path in folder.glob("*/config.json")), key=_by_number)
        if inner:
            names = f"{', '.join(inner[:10])}{', ...' if len(inner) > 10 else ''}"
            raise ModelError(f"{folder}: there is no config.json, but there are checkpoints in it: {names}. Give one.")
        raise ModelError(f"{folder}: there is no config.json; a checkpoint is a folder that save_pretrained wrote.")
    if not weight_files(folder):
        raise ModelError(f"{folder}: there are no weights (expected model.safetensors or pytorch_model.bin).")
    if not any((folder / name).is_file() for name in (*TOKENIZERS, "bpe.codes")):
        raise ModelError(
            f"{folder}: there is no tokenizer (expected one of {', '.join(TOKENIZERS)}); "
            "save it beside the weights with tokenizer.save_pretrained."
        )
    check_config(folder)
    check_tokenizer(folder)
    check_headers(folder)


def _by_number(name: str) -> list[tuple[int, str]]:
    """checkpoint-500 comes before checkpoint-1000."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", name)]
