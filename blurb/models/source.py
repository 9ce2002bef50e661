"""From what a user types to a model that is there: a path, a Hub id, a preset, `scratch:...` or `baseline:...`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from blurb.errors import ModelError, UnknownName
from blurb.models.checkpoint import check_config, check_tokenizer
from blurb.models.weights import check_headers, hash_weights, weight_files

TOKENIZERS = (
    "tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "spm.model",
    "tokenizer.model",
)  # fmt: skip
HUB_FILES = ["*.json", "*.txt", "*.model", "*.safetensors", "*.codes"]


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

    casing = _casing(reference) if casing is None else casing
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


def presets() -> dict[str, str]:
    """Short names of checkpoints on the Hub."""
    return {name: preset["id"] for name, preset in _presets().items()}


def _presets() -> dict[str, dict[str, str]]:
    content = tomllib.loads((files("blurb.models") / "presets.toml").read_text(encoding="utf-8"))
    return {name: {"id": entry} if isinstance(entry, str) else entry for name, entry in content.items()}


def _casing(reference: str) -> str:
    """What the presets know of a checkpoint on the Hub, asked for by its short name or its id."""
    if Path(reference).expanduser().is_dir():
        return ""
    repository = _repository(reference)[0]
    known = {preset["id"].lower(): preset.get("casing", "") for preset in _presets().values()}
    return known.get(repository.lower(), "")


def _repository(reference: str) -> tuple[str, str]:
    """The Hub id that a preset or an id means, and its revision, if it names one."""
    repository, _, revision = presets().get(reference, reference).partition("@")
    return repository, revision


def default_name(reference: str) -> str:
    """Last part of a path or Hub id."""
    if Path(reference).is_dir():
        return Path(reference).resolve().name
    return reference.partition("@")[0].rstrip("/").split("/")[-1]


def locate(reference: str, revision: str | None, remote_code: bool = False) -> tuple[Path, str | None]:
    """Folder of a checkpoint, from disk or (by huggingface_hub, with its cache) from the Hub, and its revision."""
    path = Path(reference).expanduser()
    if path.is_dir():
        return path.resolve(), None
    known = presets()
    if "/" not in reference and reference not in known:
        raise ModelError(f"{UnknownName('model', reference, known)} Or give a folder or a Hub id such as org/model.")
    repository, at = _repository(reference)
    if path.is_absolute() or reference.startswith((".", "~")) or repository.count("/") != 1:
        raise ModelError(f"The model folder {reference} does not exist.")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    wanted = revision or at or None
    patterns = [*HUB_FILES, *(["*.py"] if remote_code else [])]
    try:
        folder = Path(snapshot_download(repository, revision=wanted, allow_patterns=patterns))
        if not any(folder.glob("*.safetensors")):  # older checkpoints have pickled weights only
            folder = Path(snapshot_download(repository, revision=wanted, allow_patterns=[*patterns, "*.bin"]))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ModelError(
            f"{repository} is neither a folder here nor in the local Hub cache, and the Hub cannot give it: {reason}"
        ) from error
    return folder, folder.name


def check_folder(folder: Path) -> None:
    """ModelError if a checkpoint lacks its configuration, weights or tokenizer, or if these cannot be ones."""
    if not (folder / "config.json").is_file():
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
