"""A checkpoint: configuration, weights and tokenizer, each by itself and together. Its own code is never run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from blurb.checkpoints import Checkpoint, weights
from blurb.checkpoints.architecture_checks import config_faults
from blurb.checkpoints.checkpoint import CONFIG
from blurb.checkpoints.tokenizer_files import TOKENIZERS
from blurb.doctor._base import Fact, Problem, Report, of_error
from blurb.inputs.tokenizer import Tokenizer
from blurb.messages.errors import ModelError

SAVE = "Save it again with save_pretrained, or download it again."
TOKENIZER = "Save it to this folder with tokenizer.save_pretrained, or name another with --tokenizer."


def examine(folder: Path) -> Report:
    """What is wrong with a checkpoint folder."""
    facts: dict[str, Fact] = {}
    checkpoint = Checkpoint(folder)
    problems = [*structure(checkpoint), *parts(checkpoint)]
    if not problems:  # what fits together shows only if each part is whole
        problems += _together(checkpoint, facts)
    return Report("checkpoint", str(folder), list(dict.fromkeys(problems)), facts)


def parts(checkpoint: Checkpoint) -> list[Problem]:
    """What is wrong with configuration, weights and tokenizer, each by itself."""
    return [problem for check in (_config, _weights, _tokenizer) for problem in check(checkpoint)]


def _tried(checkpoint: Checkpoint, fix: str, check: Callable[[], object]) -> list[Problem]:
    try:
        check()
    except ModelError as error:
        return [of_error(error, checkpoint.folder, fix)]
    return []


def structure(checkpoint: Checkpoint) -> list[Problem]:
    """An adapter, a folder of checkpoints: whatever hides that it is no checkpoint at all."""
    return _tried(checkpoint, SAVE, checkpoint.check_structure)


def _has_config(checkpoint: Checkpoint) -> bool:
    return (checkpoint.folder / CONFIG).is_file()


def _config(checkpoint: Checkpoint) -> Iterator[Problem]:
    if not _has_config(checkpoint):
        return
    unread = _tried(checkpoint, SAVE, lambda: checkpoint.config_json)
    yield from unread
    for fault in () if unread else config_faults(checkpoint.config_json):  # `check_config` stops at the first
        yield of_error(fault, checkpoint.folder / CONFIG, "Correct it, or save the model again.")


def _weights(checkpoint: Checkpoint) -> Iterator[Problem]:
    folder = checkpoint.folder
    if not _has_config(checkpoint):
        files = sorted(path for pattern in weights.PATTERNS for path in folder.glob(pattern))
    elif _tried(checkpoint, SAVE, lambda: checkpoint.config_json):
        return  # it is told, and it may name the weights
    else:
        lost = _tried(checkpoint, SAVE, lambda: checkpoint.weights)
        yield from lost
        if lost:
            return
        files = list(checkpoint.weights.files)
    if not files:
        yield Problem(str(folder), "No weights; expected model.safetensors or pytorch_model.bin.", SAVE)
    for path in files:
        for problem in _tried(checkpoint, SAVE, partial(weights.check_header, folder, path)):
            yield dataclasses.replace(problem, where=str(path), fix=SAVE)


def _tokenizer(checkpoint: Checkpoint) -> list[Problem]:
    if checkpoint.has_tokenizer():
        return _tried(checkpoint, TOKENIZER, lambda: checkpoint.tokenizer_config)
    # A model of pictures lacks no tokenizer.
    whole = _has_config(checkpoint) and not list(_config(checkpoint))
    unread = _tried(checkpoint, SAVE, lambda: checkpoint.outline) if whole else []
    missing = f"No tokenizer; expected one of {', '.join(TOKENIZERS)}."
    return unread or [Problem(str(checkpoint.folder), missing, TOKENIZER)]


def _together(checkpoint: Checkpoint, facts: dict[str, Fact]) -> list[Problem]:
    """What only the libraries see: the architecture, sizes, casing, weights that are missing or not finite."""
    problems = _tried(checkpoint, SAVE, checkpoint.check_fit)
    if not problems:
        facts["parameters"] = checkpoint.parameters
        facts["weights"] = checkpoint.weights_hash[:12]
        facts["tokenizer"] = checkpoint.tokenizer.hash[:12]
        facts["tokenizer_entries"] = checkpoint.tokenizer.size
    try:
        if problems:  # it may have stopped before it compared them, and what the weights do not fill would be built
            checkpoint.check_filled()
        encoder, _ = checkpoint.load_encoder()
        facts["longest_input"] = checkpoint.size.most
    except ModelError as error:
        problems.append(of_error(error, checkpoint.folder, SAVE))
    return problems or list(silent(checkpoint.folder, checkpoint.tokenizer, encoder))


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
