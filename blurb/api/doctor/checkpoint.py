"""A checkpoint: configuration, weights and tokenizer, each by itself and together. Its own code is never run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from blurb.api.doctor._base import Fact, Problem, Report, of_error
from blurb.errors import ModelError
from blurb.inputs.tokenizer import Tokenizer
from blurb.models import checkpoint, source, tokenizer_files, weights

SAVE = "Save it again with save_pretrained, or download it again."
TOKENIZER = "Save it to this folder with tokenizer.save_pretrained, or name another with --tokenizer."


def examine(folder: Path) -> Report:
    """What is wrong with a checkpoint folder."""
    facts: dict[str, Fact] = {}
    problems = [*structure(folder), *parts(folder)]
    if not problems:  # what fits together shows only if each part is whole
        problems += _together(folder, facts)
    return Report("checkpoint", str(folder), list(dict.fromkeys(problems)), facts)


def parts(folder: Path) -> list[Problem]:
    """What is wrong with configuration, weights and tokenizer, each by itself."""
    return [problem for check in (_config, _weights, _tokenizer) for problem in check(folder)]


def _tried(folder: Path, mend: str, check: Callable[..., Any], *arguments: object) -> list[Problem]:
    try:
        check(*arguments)
    except ModelError as error:
        return [of_error(error, folder, mend)]
    return []


def structure(folder: Path) -> list[Problem]:
    """An adapter, a folder of checkpoints: whatever hides that it is no checkpoint at all."""
    if (folder / "adapter_config.json").is_file() or not (folder / "config.json").is_file():
        return _tried(folder, SAVE, source.check_folder, folder)
    return []


def _config(folder: Path) -> Iterator[Problem]:
    if not (folder / "config.json").is_file():
        return
    try:
        config = checkpoint.read_json(folder, "config.json")
        fields = list(checkpoint.config_fields(config))
    except ModelError as error:
        yield of_error(error, folder, SAVE)
        return
    for fault in (*checkpoint.code_faults(config), *(checkpoint.config_fault(*field) for field in fields)):
        if fault:  # `check_config` stops at the first
            yield of_error(fault, folder / "config.json", "Correct it, or save the model again.")


def _weights(folder: Path) -> Iterator[Problem]:
    if (folder / "config.json").is_file() and _tried(folder, SAVE, checkpoint.read_json, folder, "config.json"):
        return  # it is told, and it may name the weights
    if not (folder / "config.json").is_file():
        found = sorted(path for pattern in weights.PATTERNS for path in folder.glob(pattern))
    else:
        try:
            found = weights.weight_files(folder)
        except ModelError as error:
            yield of_error(error, folder, SAVE)
            return
    if not found:
        yield Problem(str(folder), "No weights; expected model.safetensors or pytorch_model.bin.", SAVE)
    for path in found:
        try:
            weights.check_header(folder, path)
        except ModelError as error:
            yield dataclasses.replace(of_error(error, folder, SAVE), where=str(path), mend=SAVE)


def _tokenizer(folder: Path) -> Iterator[Problem]:
    if not any((folder / name).is_file() for name in (*source.TOKENIZERS, "bpe.codes")):
        from blurb.models.loading import outline

        # A model of pictures lacks no tokenizer.
        whole = (folder / "config.json").is_file() and not list(_config(folder))
        unread = _tried(folder, SAVE, outline, str(folder)) if whole else []
        missing = Problem(str(folder), f"No tokenizer; expected one of {', '.join(source.TOKENIZERS)}.", TOKENIZER)
        yield from unread or [missing]
        return
    yield from _tried(folder, TOKENIZER, tokenizer_files.check_tokenizer, folder)


def _together(folder: Path, facts: dict[str, Fact]) -> list[Problem]:
    """What only the libraries see: the architecture, sizes, casing, weights that are missing or not finite."""
    from blurb.models import loading

    loading.quiet()
    found: list[Problem] = []
    try:
        tokenizer, parameters = loading.describe(folder, False)
        facts["parameters"] = parameters
        facts["weights"] = weights.hash_weights(folder)[:12]
        facts["tokenizer"] = tokenizer[:12]
        facts["tokenizer_entries"] = loading.load_tokenizer(str(folder)).size
    except ModelError as error:
        found.append(of_error(error, folder, SAVE))
    try:
        if found:  # it may have stopped before it compared them, and what the weights do not fill would be built
            loading.check_fit(str(folder))
        encoder, _ = loading.load_encoder(str(folder))
        facts["longest_input"] = loading.capacity(encoder)
    except ModelError as error:
        found.append(of_error(error, folder, SAVE))
    return found or list(silent(folder, loading.load_tokenizer(str(folder)), encoder))


def silent(folder: Path, tokenizer: Tokenizer, encoder: Any) -> Iterator[Problem]:
    """What loads without an error, and then costs the scores or fails on some of the tasks only."""
    where = str(folder / "tokenizer_config.json")
    if tokenizer.keeps_unknown_capitals():
        yield Problem(
            where,
            "The tokenizer keeps upper case, but no entry of its vocabulary has any: words with capitals are unknown.",
            'Set "do_lower_case": true, or take the tokenizer of the original checkpoint with --tokenizer.',
        )
    table = getattr(getattr(encoder, "embeddings", None), "token_type_embeddings", None)
    segments = 1 + tokenizer.special_tokens.highest_type
    if table is not None and segments > table.num_embeddings:
        yield Problem(
            where,
            f"The tokenizer numbers {segments} segments of a pair of texts, but the encoder has embeddings for "
            f"{table.num_embeddings} only: trials on pairs (similarity, QA) will fail.",
            'Set "model_input_names": ["input_ids", "attention_mask"], which leaves the segments out.',
        )
