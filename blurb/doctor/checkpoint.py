"""A checkpoint: configuration, weights and tokenizer, each by itself and together. Its own code is never run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from blurb.checkpoints import Checkpoint
from blurb.doctor._base import Diagnosis, Fact, Fault, as_fault
from blurb.inputs.tokenizer import Tokenizer
from blurb.messages import ErrorCollector

SAVE = "Save it again with save_pretrained, or download it again."


def examine(folder: Path) -> Diagnosis:
    """The faults of a checkpoint folder."""
    facts: dict[str, Fact] = {}
    checkpoint, errors = Checkpoint(folder), ErrorCollector()
    checkpoint.check_files(errors=errors)
    # What fits together shows only if each part is whole.
    surprises = [] if errors.errors else _together(checkpoint, errors, facts)
    problems = [as_fault(error, folder, SAVE) for error in errors.errors]
    return Diagnosis("checkpoint", str(folder), problems or surprises, facts)


def _together(
    checkpoint: Checkpoint, errors: ErrorCollector, facts: dict[str, Fact]
) -> list[Fault]:
    """The faults that only the libraries see: architecture, sizes, casing, weights that are missing or not finite."""

    def load() -> Any:
        if errors.errors:  # `check_fit` may have stopped before this, and what the weights do not fill would be built
            checkpoint.check_filled()
        return checkpoint.load_encoder()

    with errors:
        checkpoint.check_fit()
    if not errors.errors:
        facts["parameters"] = checkpoint.parameters
        facts["weights"] = checkpoint.weights_hash[:12]
        facts["tokenizer"] = checkpoint.tokenizer.hash[:12]
        facts["tokenizer_entries"] = checkpoint.tokenizer.size
    with errors:
        loaded = load()
        facts["longest_input"] = checkpoint.size.most
        return list(silent(checkpoint.folder, checkpoint.tokenizer, loaded[0]))
    return []


def silent(folder: Path, tokenizer: Tokenizer, encoder: Any) -> Iterator[Fault]:
    """The faults that load without an error and then cost scores, or fail on some of the tasks only."""
    where = str(folder / "tokenizer_config.json")
    if tokenizer.keeps_unknown_capitals():
        yield Fault(
            where,
            "The tokenizer keeps upper case, but no entry of its vocabulary has any: words with capitals are unknown.",
            'Set "do_lower_case": true, or take the tokenizer of the original checkpoint with --tokenizer.',
        )
    table = getattr(getattr(encoder, "embeddings", None), "token_type_embeddings", None)
    segments = 1 + tokenizer.special_tokens.highest_type
    if table is not None and segments > table.num_embeddings:
        yield Fault(
            where,
            f"The tokenizer numbers {segments} segments of a pair of texts, but the encoder has embeddings for "
            f"{table.num_embeddings} only: trials on pairs (similarity, QA) will fail.",
            'Set "model_input_names": ["input_ids", "attention_mask"], which leaves the segments out.',
        )
