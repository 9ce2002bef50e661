"""Resolves what a user types to a checkpoint: a path, a Hub id or a preset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.errors import ModelError
from blurb.models.checkpoint import check_config, read_json
from blurb.models.references import default_name, known_casing, locate, presets
from blurb.models.tokenizer_files import check_tokenizer
from blurb.models.weights import check_headers, hash_weights, weight_files
from blurb.names import by_number

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

__all__ = [
    "Source",
    "check_folder",
    "default_name",
    "hash_weights",
    "locate",
    "of_checkpoint",
    "presets",
    "weight_files",
]

KINDS = ("checkpoint", "learner")
CHECKPOINT = KINDS[0]
TOKENIZERS = (
    "tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "spm.model",
    "tokenizer.model",
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A resolved model and what identifies it.

    :param name: the name of its rows
    :param kind: `CHECKPOINT`, or "learner" for a kind of learner that needs none (`blurb.learners`)
    :param location: folder of the checkpoint, or the name of the learner and its options
    :param weights: SHA-256 of weights and configuration
    :param tokenizer: SHA-256 of everything that decides the token ids
    :param parameters: number of parameters of the encoder
    :param remote_code: whether code of the checkpoint may run
    :param casing: "cased" or "uncased" if it overrides the tokenizer's files
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

    @property
    def is_checkpoint(self) -> bool:
        """Whether it is a checkpoint, not a learner that needs none."""
        return self.kind == CHECKPOINT


def of_checkpoint(
    reference: str,
    name: str | None = None,
    revision: str | None = None,
    remote_code: bool = False,
    casing: str | None = None,
    tokenizer: PreTrainedTokenizerBase | str | Path | None = None,
) -> Source:
    """Resolves a reference to a checkpoint.

    :param reference: a folder, a preset, or a Hub id (`org/model` or `org/model@revision`); `scratch:...` is built from
        data first, see `blurb.models.scratch`
    :param casing: "cased" or "uncased"; None follows the preset, or else the tokenizer's files
    :param tokenizer: over that of the checkpoint: a loaded one, or the folder or Hub id of one
    :raises ModelError: says what is missing and what to do
    """
    folder, found = locate(reference, revision, remote_code)
    casing = known_casing(reference) if casing is None else casing
    if tokenizer is not None:
        from blurb.models import assembled

        check_folder(folder, with_tokenizer=False)
        folder = assembled.with_tokenizer(folder, tokenizer, remote_code)
    return of_folder(folder, name or default_name(reference), found, remote_code, casing)


def of_folder(
    folder: Path, name: str, revision: str | None = None, remote_code: bool = False, casing: str = ""
) -> Source:
    """The model in a checkpoint folder; ModelError if it is invalid."""
    check_folder(folder, remote_code=remote_code)
    from blurb.models.loading import describe

    tokenizer, parameters = describe(folder, remote_code, casing)
    return Source(
        name=name,
        kind=CHECKPOINT,
        location=str(folder),
        weights=hash_weights(folder, remote_code),
        tokenizer=tokenizer,
        parameters=parameters,
        remote_code=remote_code,
        revision=revision,
        casing=casing,
    )


def check_folder(folder: Path, with_tokenizer: bool = True, remote_code: bool = False) -> None:
    """Raises a ModelError if the configuration, weights or tokenizer of a checkpoint are missing or invalid.

    :param with_tokenizer: whether it needs one
    """
    if (folder / "adapter_config.json").is_file():
        base = read_json(folder, "adapter_config.json").get("base_model_name_or_path")
        raise ModelError(
            "this is a PEFT adapter (adapter_config.json), not a full model. Merge it with "
            f"PeftModel.from_pretrained(base, adapter).merge_and_unload(), where base is {base or 'its base model'}, "
            "and save model and tokenizer with save_pretrained to a new folder.",
            where=folder,
        )
    if not (folder / "config.json").is_file():
        inner = sorted((path.parent.name for path in folder.glob("*/config.json")), key=by_number)
        if inner:
            names = f"{', '.join(inner[:10])}{', ...' if len(inner) > 10 else ''}"
            raise ModelError(
                f"no config.json here, but checkpoints in subfolders: {names}.", where=folder, fix="Choose one of them."
            )
        raise ModelError("no config.json; a checkpoint must be a folder written by save_pretrained.", where=folder)
    if not weight_files(folder):
        raise ModelError("no weights; expected model.safetensors or pytorch_model.bin.", where=folder)
    check_config(folder, remote_code)
    if with_tokenizer and not any((folder / name).is_file() for name in (*TOKENIZERS, "bpe.codes")):
        from blurb.models.loading import outline

        outline(str(folder), remote_code)  # a model of pictures lacks no tokenizer
        raise ModelError(
            f"no tokenizer (expected one of {', '.join(TOKENIZERS)})",
            where=folder,
            fix="save it to this folder with tokenizer.save_pretrained, or name another with --tokenizer.",
        )
    if with_tokenizer:
        check_tokenizer(folder)
    check_headers(folder)
