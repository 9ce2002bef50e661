"""A checkpoint that has been read: code that needs a model gets this, not a path."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from blurb.checkpoints import adapter, architecture, loading
from blurb.checkpoints.reading import blame_folder, read_json, shorten_value
from blurb.checkpoints.tokenizer_files import TOKENIZER_CONFIG, TOKENIZERS, read_tokenizer_config
from blurb.checkpoints.weights import (
    PATTERNS,
    Stamp,
    Weights,
    check_header,
    find_weights,
    other_release,
)
from blurb.inputs.tokenizer import Tokenizer
from blurb.messages import FIRST, ErrorCollector, ModelError, first_of, opt
from blurb.names import by_number

CONFIG = "config.json"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The folder of a checkpoint. Each of its files is read once, when it is first asked for, and checked before use.

    A folder that may have changed is read again by making another `Checkpoint` of it. Every property raises a
    ModelError that names the file if it is missing or invalid.

    :param remote_code: whether a person allowed the code of the checkpoint
    :param casing: "cased" or "uncased" to override the tokenizer's files, see `blurb.checkpoints.tokenizer_files`
    """

    folder: Path
    remote_code: bool = False
    casing: str = ""
    read_at: float = field(default_factory=time.time, init=False)
    """Seconds since 1970, before any of its files was read."""

    @cached_property
    def config_json(self) -> Mapping[str, Any]:
        """The content of `config.json`, unchecked."""
        return read_json(self.folder, CONFIG)

    @cached_property
    def tokenizer_config(self) -> Mapping[str, Any]:
        """The content of `tokenizer_config.json`, once all files of the tokenizer have been checked; {} without it."""
        return read_tokenizer_config(self.folder)

    @cached_property
    def weights(self) -> Weights:
        """The files of the weights; the largest are opened by `check_header`, `Weights.hash` and loading."""
        return find_weights(self.folder, self.config_json)

    @cached_property
    def weights_hash(self) -> str:
        """SHA-256 of weights and configuration, and of the checkpoint's own code if that may run.

        With an adapter it is `adapter.identity`.
        """
        _ = self.stamp  # first, so that a change during hashing shows
        own = self.weights.hash(
            self.config_json, sorted(self.folder.glob("*.py")) if self.remote_code else []
        )
        return own if self.adapter_folder is None else adapter.identity(self.adapter_folder, own)

    @cached_property
    def adapter_folder(self) -> Path | None:
        """The folder of the adapter that loading merges into the weights, if `staged_checkpoint` put one there."""
        folder = self.folder / adapter.FOLDER
        return folder if folder.is_dir() else None

    @cached_property
    def stamp(self) -> Stamp:
        """Sizes and times of the files, which show without reading whether they changed since they were hashed."""
        return self.weights.stamp(self.remote_code)

    @cached_property
    def config(self) -> Any:
        """The configuration as an object of transformers; nobody may change it."""
        self.check_config()
        return loading.load_config(self.folder, self.config_json, self.remote_code)

    @cached_property
    def outline(self) -> Any:
        """The encoder without weights: a module on torch's `meta` device. Nobody may change it."""
        return loading.build_outline(self.folder, self.config, self.remote_code)

    @cached_property
    def parameters(self) -> int:
        """Number of parameters of the encoder."""
        return int(sum(parameter.numel() for parameter in self.outline.parameters()))

    @cached_property
    def size(self) -> architecture.EncoderSize:
        """Sizes that decide the time and memory of a pass."""
        return architecture.size_of(self.outline)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer; a folder may hold one alone."""
        config = self.config if (self.folder / CONFIG).is_file() else None
        self.check_code()
        switches = self.tokenizer_config  # which checks the files before a library reads them
        return loading.load_tokenizer(self.folder, config, switches, self.remote_code, self.casing)

    @property
    def ignored_code(self) -> str:
        """A remark if the checkpoint names a class of its own that was not allowed; otherwise ""."""
        if "'AutoModel" not in str(self.config_json.get("auto_map")) or self.remote_code:
            return ""
        return "config.json names code of its own, which was not allowed: the stock class of its type was loaded"

    @cached_property
    def is_causal(self) -> bool:
        """Whether each position attends only to itself and those before it, as in a decoder."""
        encoder, _ = self.load_encoder()
        with blame_folder(self.folder, "the encoder cannot read a text"):
            return architecture.is_causal(encoder)

    @cached_property
    def can_be_bidirectional(self) -> bool:
        """Whether each position can be made to attend to all."""
        encoder, _ = self.load_encoder()
        architecture.make_bidirectional(encoder)
        return not architecture.is_causal(encoder)

    @cached_property
    def width(self) -> int:
        """Size of a vector of the last layer: measured, as some config.json state that of another layer."""
        shape = architecture.vectors_of(self.outline)
        return shape[1] if shape is not None else int(self.config.hidden_size)

    def load_encoder(self, keep_bf16: bool = False) -> tuple[Any, bool]:
        """A new encoder in float32, and whether it has a pooler with trained weights.

        :param keep_bf16: leave weights in bf16 that are so in the file, unless an adapter is added to them
        """
        dtype = self.weights.dtype if keep_bf16 and self.adapter_folder is None else "float32"
        encoder, trained_pooler = loading.load_encoder(
            self.folder, self.config, self.remote_code, dtype
        )
        if self.adapter_folder is not None:
            adapter.merge(self.adapter_folder, encoder, trained_pooler)
        return encoder, trained_pooler

    def check(self) -> None:
        """Raises a ModelError if this cannot be fine-tuned; does not check that weights are finite."""
        self.check_files()
        self.check_fit()

    def check_files(self, with_tokenizer: bool = True, errors: ErrorCollector = FIRST) -> None:
        """Raises a ModelError if configuration, weights or tokenizer are missing or invalid, each by itself.

        :param with_tokenizer: whether it needs a tokenizer
        :param errors: gets all faults; by default the first one is raised
        """
        with errors:
            self.check_structure()
        has_config = (self.folder / CONFIG).is_file()
        before = len(errors.errors)
        with errors:
            if has_config:
                config = self.config_json
                with errors:
                    self.check_code()
                architecture.check_config(self.folder, config, self.remote_code, errors)
        whole = has_config and len(errors.errors) == before
        with errors:
            # An unreadable configuration may name them: its fault is then reported again, and counts once.
            files = (
                self.weights.files
                if has_config
                else [path for pattern in PATTERNS for path in sorted(self.folder.glob(pattern))]
            )
            if not files:
                raise ModelError(
                    "no weights; expected model.safetensors or pytorch_model.bin",
                    where=self.folder,
                    fix=other_release(self.folder),
                )
            for path in files:
                with errors:
                    check_header(self.folder, path)
        fix = f"Save it to this folder with tokenizer.save_pretrained, or name another with {opt('tokenizer')}."
        if with_tokenizer and any(
            (self.folder / name).is_file() for name in (*TOKENIZERS, "bpe.codes")
        ):
            try:
                _ = self.tokenizer_config
            except ModelError as error:
                error.fix = error.fix or fix
                errors.add(error)
        elif with_tokenizer:
            with errors:
                _ = self.outline if whole else None  # a model of pictures lacks none
                raise ModelError(
                    f"no tokenizer (expected one of {', '.join(TOKENIZERS)}).",
                    where=self.folder,
                    fix=fix,
                )

    def check_structure(self) -> None:
        """Raises a ModelError for a folder that is no checkpoint: an adapter, a folder of checkpoints."""
        if (
            (self.folder / adapter.ADAPTER).is_file()
            and (self.folder / CONFIG).is_file()
            and self.weights.files
        ):
            raise ModelError(
                f"{adapter.ADAPTER} lies beside whole weights, and transformers would load the adapter and the base "
                "that it names",
                where=self.folder,
                fix=f"if the weights are merged, remove {adapter.ADAPTER}.",
            )
        if (self.folder / adapter.ADAPTER).is_file():
            says = shorten_value(
                read_json(self.folder, adapter.ADAPTER).get("base_model_name_or_path")
            )
            raise ModelError(
                f"this is an adapter of PEFT ({adapter.ADAPTER}), not a whole model",
                where=self.folder,
                fix=f"name the model that it was trained on with {opt('base')} (it says {says}).",
            )
        if (self.folder / CONFIG).is_file():
            return
        inner = sorted(
            (path.parent.name for path in self.folder.glob(f"*/{CONFIG}")), key=by_number
        )
        if inner:
            raise ModelError(
                f"no config.json here, but checkpoints in subfolders: {first_of(inner, 10)}.",
                where=self.folder,
                fix="Choose one of them.",
            )
        raise ModelError(
            "no config.json; a checkpoint must be a folder written by save_pretrained",
            where=self.folder,
            fix=other_release(self.folder),
        )

    def check_config(self) -> None:
        """Raises a ModelError for a configuration of an impossible encoder, or of code that nobody allowed."""
        self.check_code()
        architecture.check_config(self.folder, self.config_json, self.remote_code, FIRST)

    def check_code(self) -> None:
        """Raises a ModelError for code that may run, but is no part of the hash of the checkpoint."""
        if self.remote_code:
            config = {CONFIG: self.config_json} if (self.folder / CONFIG).is_file() else {}
            architecture.check_code(
                self.folder, {**config, TOKENIZER_CONFIG: self.tokenizer_config}
            )

    def check_fit(self) -> None:
        """Raises a ModelError if configuration, tokenizer and weights do not belong together, or suit no text."""
        _ = self.config  # its errors first
        architecture.check_rows(self.folder, self.tokenizer, self.outline)
        self.check_filled()
        architecture.check_text(self.folder, self.tokenizer)
        # Last: it goes through all layers, of which config.json alone may have hundreds.
        architecture.check_vector_count(self.folder, self.outline)

    def check_filled(self) -> None:
        """Raises a ModelError if the weights do not fill the encoder of `config.json`, before it is built."""
        if self.parameters > self.weights.size:  # a parameter takes a byte at least
            raise ModelError(
                f"config.json describes an encoder of {self.parameters:,} parameters, but the weights are "
                f"{self.weights.size:,} bytes; config.json and the weights do not match.",
                where=self.folder,
            )
        # Weights of other formats would be read whole.
        if all(path.suffix == ".safetensors" for path in self.weights.files):
            loading.check_filled(self.folder, self.config, self.remote_code)
