"""Checkpoint folders put together in the cache: of a loaded model, or of weights with another tokenizer."""

from __future__ import annotations

import contextlib
import copy
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from blurb.checkpoints import adapter
from blurb.checkpoints.checkpoint import Checkpoint
from blurb.checkpoints.reading import blame_folder
from blurb.checkpoints.references import CheckpointPlace, locate_checkpoint
from blurb.checkpoints.tokenizer_files import TOKENIZERS
from blurb.checkpoints.weights import INDEX
from blurb.inputs.tokenizer import Tokenizer
from blurb.messages import ModelError
from blurb.system.cache import cache_home
from blurb.system.files import file_hash

IN_MEMORY = "in memory"
"""The revision of a loaded model."""


def of_loaded(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase | str | Path | None
) -> Path:
    """Saves a copy of a loaded model's encoder, in its own dtype, and of its tokenizer; the model is not changed.

    :param tokenizer: a loaded one, or the folder or Hub id of one
    :raises ModelError: if it is no model of transformers, has no weights, is quantised or has adapters, or if there is
        no tokenizer
    """
    _check_loaded(model)
    if tokenizer is None:
        raise ModelError("A loaded model needs its tokenizer: add tokenizer=...")
    base = model.base_model
    # Tensors are shared, but save_pretrained writes into the configuration.
    encoder = copy.copy(base)
    encoder.config = copy.deepcopy(base.config)

    def fill(folder: Path) -> None:
        with blame_folder("the loaded model", "cannot be saved"):
            encoder.save_pretrained(folder)

    return _keep_folder(fill, tokenizer, False, None).folder


def with_tokenizer(
    checkpoint: Path,
    tokenizer: PreTrainedTokenizerBase | str | Path,
    remote_code: bool,
    casing: str | None,
) -> CheckpointPlace:
    """The weights of a checkpoint with another tokenizer.

    :param casing: of the tokenizer; None follows what it is loaded from
    """
    read = Checkpoint(checkpoint, remote_code)
    read.check_files(with_tokenizer=False)
    return _keep_folder(lambda folder: _copy_weights(read, folder), tokenizer, remote_code, casing)


def with_adapter(
    folder: Path,
    base: str,
    tokenizer: PreTrainedTokenizerBase | str | Path | None,
    remote_code: bool,
    casing: str | None,
) -> CheckpointPlace:
    """A folder with the weights of a base and an adapter that loading merges into them, and a revision naming both.

    Merged weights are not saved: they could include weights that loading draws at random, such as a pooler.

    :param base: the reference of its base; no file of the adapter decides it
    :param tokenizer: instead of those of the adapter and of the base
    :param casing: of the tokenizer; None follows what it is loaded from
    """
    adapter.check(folder, base)
    place = locate_checkpoint(base, None, remote_code)
    checkpoint = Checkpoint(place.folder, remote_code)
    checkpoint.check_files(with_tokenizer=False)
    adapter.read(folder, base, checkpoint.outline)
    has_own = any((folder / name).is_file() for name in TOKENIZERS)

    def fill(target: Path) -> None:
        _copy_weights(checkpoint, target)
        (target / adapter.FOLDER).mkdir()
        for name in (adapter.ADAPTER, adapter.WEIGHTS):
            shutil.copyfile(folder / name, target / adapter.FOLDER / name)

    own = CheckpointPlace(folder) if has_own else place
    source = own if tokenizer is None else tokenizer
    return _keep_folder(fill, source, remote_code, casing)._replace(
        revision=f"{file_hash(folder / adapter.WEIGHTS)[:12]} on {base} {checkpoint.weights_hash[:12]}"
    )


def default_name(model: PreTrainedModel) -> str:
    """The name of a loaded model's rows: the last part of what it was loaded from, or its class."""
    return str(model.name_or_path).rstrip("/").split("/")[-1] or type(model).__name__


def _check_loaded(model: Any) -> None:
    kind = type(model).__name__
    if not isinstance(model, PreTrainedModel):
        inner = f"; of a {kind} give the encoder inside" if hasattr(model, "parameters") else ""
        raise ModelError(
            f"MODEL must be a reference or a PreTrainedModel of transformers (got {kind}){inner}. Other modules can be "
            "saved with a config.json and given as a folder."
        )
    if (
        getattr(model, "is_quantized", False)
        or getattr(model.config, "quantization_config", None) is not None
    ):
        raise ModelError(
            f"The weights of this {kind} are quantised, but blurb trains float32; load it unquantised."
        )
    if getattr(model, "_hf_peft_config_loaded", False):
        raise ModelError(
            f"This {kind} has adapters; merge them into its weights first (merge_and_unload of PEFT)."
        )
    if any(parameter.is_meta for parameter in model.parameters()):
        raise ModelError(
            f"This {kind} has weights on the device 'meta', which holds none; load the weights."
        )


def _keep_folder(
    fill: Callable[[Path], None],
    tokenizer: PreTrainedTokenizerBase | str | Path | CheckpointPlace,
    remote_code: bool,
    casing: str | None,
) -> CheckpointPlace:
    """A folder of the cache, named by its content; an existing one is kept if it has the weights of its name.

    :param fill: writes weights and configuration
    """
    root = cache_home() / "models"
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root, prefix=".", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        fill(folder)
        if isinstance(tokenizer, str | Path):
            tokenizer = locate_checkpoint(str(tokenizer), None, remote_code)
        if isinstance(tokenizer, CheckpointPlace):
            casing = tokenizer.casing if casing is None else casing
            tokenizer = Checkpoint(tokenizer.folder, remote_code, casing).tokenizer.inner
        # Its class is saved, too: the configuration of another model would lead to a wrong one.
        tokenizer.save_pretrained(folder)
        weights = Checkpoint(folder, remote_code).weights_hash
        final = root / f"{weights[:16]}-{Tokenizer(tokenizer).hash[:16]}"
        kept = ""
        with contextlib.suppress(ModelError, OSError):  # there is none, or it is damaged
            kept = Checkpoint(final, remote_code).weights_hash
        if kept != weights:
            shutil.rmtree(final, ignore_errors=True)
            folder.chmod(0o755)
            with contextlib.suppress(OSError):  # another process was faster
                folder.rename(final)
    return CheckpointPlace(final, casing=casing or "")


def _copy_weights(checkpoint: Checkpoint, folder: Path) -> None:
    """Copies configuration, weights and code; a link would follow what is later written into the original."""
    patterns = ("config.json", f"*{INDEX}", *(["*.py"] if checkpoint.remote_code else []))
    others = [path for pattern in patterns for path in checkpoint.folder.glob(pattern)]
    for path in (*others, *checkpoint.weights.files):
        target = folder / path.relative_to(checkpoint.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
