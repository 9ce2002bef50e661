"""`blurb models check`: the surprises of a checkpoint, and whether every kind of task runs with it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from blurb import formulations, tasks
from blurb.checkpoints import ModelSource
from blurb.checkpoints.architecture import find_silent_faults
from blurb.checkpoints.references import published_terms
from blurb.checkpoints.source import encoder_of
from blurb.corpora import demo
from blurb.data import read_split
from blurb.inputs.tokenizer import Tokenizer
from blurb.inputs.words import word_pieces
from blurb.learners.base import Subset
from blurb.messages import BlurbError, SettingsError, opt
from blurb.protocols import protocol

TRIES: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("bc5-chem", {"head": "crf"}),
    ("chemprot", {"relation_input": "markers", "pooling": "entity-start"}),
    ("biosses", {}),
    ("hoc", {}),
    ("pubmedqa", {}),
)
"""A task of each kind of input, with the settings that ask most of a tokenizer."""
SMALL = {"batch_size": 2, "max_length": 32, "epochs": 1}
"""A step on two examples of the demo suite, one of them padded, so that a base-size encoder takes seconds."""
SYMBOLS = ("TNF-α", "β2-microglobulin", "µg", "5′-UTR", "Ca²⁺", "≥", "→", "37 °C", "Sjögren")
"""Letters and signs of biomedical texts that vocabularies lack, beside the terms of the paper's Table 1."""


@dataclass(frozen=True)
class SmokeTest:
    """A step of training and a prediction.

    :param task: task of the demo suite
    :param settings: setting -> value
    :param seconds: it took
    :param error: why it failed; "" if it ran
    """

    task: str
    settings: Mapping[str, str]
    seconds: float
    error: str


class Facts(TypedDict):
    """A description of a checkpoint."""

    architecture: Annotated[str, "class of the encoder"]
    parameters: Annotated[int, "of the encoder"]
    longest_input: Annotated[int | None, "maximum sub-tokens of an input; null without a limit"]
    attention: Annotated[str | None, "implementation in transformers"]
    entries: Annotated[int, "size of the vocabulary"]
    case: Annotated[Literal["kept", "lowered"], "of the tokenizer"]
    unknown_probes: Annotated[int, "probe terms with an unknown token"]


@dataclass(frozen=True)
class ModelCheck:
    """The report on a checkpoint.

    :param model: name
    :param facts: what it is
    :param surprises: sentences: what may cost scores or time, and what to do
    :param tries: a step of training and a prediction for each kind of task
    """

    model: str
    facts: Facts
    surprises: Sequence[str]
    tries: Sequence[SmokeTest]


def check_model(
    reference: str, casing: str | None = None, remote_code: bool = False, base: str | None = None
) -> ModelCheck:
    """Examines a checkpoint, and tries it on synthetic examples.

    :param base: the model that an adapter was trained on
    :raises ModelError: if it cannot be loaded; `blurb doctor` then lists all faults
    """
    from blurb.planning.steps import check_used, load_source

    # transformers warns of new embeddings, which markers need.
    logging.getLogger("transformers").setLevel(logging.ERROR)
    check_used([reference], {"casing": casing, "trust_remote_code": remote_code, "base": base})
    folder = demo.prepare()
    checked = load_source(reference, None, None, remote_code, folder, casing, base=base)
    if not checked.is_checkpoint:
        raise SettingsError(f"{reference} has no encoder to check", fix="name a checkpoint.")
    tokenizer, (encoder, _) = checked.checkpoint.tokenizer, encoder_of(checked)
    probes, index = [*published_terms(), *SYMBOLS], tokenizer.inner.unk_token_id
    unknown = [
        probe
        for probe, cut in zip(probes, tokenizer.subtokens(probes), strict=True)
        if index in cut.ids
    ]
    facts: Facts = {
        "architecture": type(encoder).__name__,
        "parameters": checked.parameters,
        "longest_input": checked.checkpoint.size.most,
        "attention": getattr(encoder.config, "_attn_implementation", None),
        "entries": tokenizer.size,
        "case": "lowered" if tokenizer.lower_cases else "kept",
        "unknown_probes": len(unknown),
    }
    surprises = [
        *_tokenizer_notes(tokenizer, unknown),
        *_encoder_notes(checked, tokenizer, encoder),
    ]
    if short := [
        task.name
        for task in tasks.all()
        if task.paper_order and (facts["longest_input"] or task.max_length) < task.max_length
    ]:
        surprises.append(
            f"Inputs of {', '.join(short)} are cut to {facts['longest_input']} sub-tokens, the maximum of the encoder, "
            "where the protocol has more."
        )
    causal = checked.checkpoint.is_causal
    plain = (
        {"pooling": "last" if causal else "mean"}
        if causal or tokenizer.special_tokens.cls is None
        else {}
    )
    tries = [
        _train_one_step(checked, tasks.get(name), settings or plain, folder)
        for name, settings in TRIES
    ]
    return ModelCheck(checked.name, facts, surprises, tries)


def _tokenizer_notes(tokenizer: Tokenizer, unknown: Sequence[str]) -> Iterator[str]:
    if not getattr(tokenizer.inner, "is_fast", False):
        yield "The tokenizer has no fast version: sub-tokens are found word by word, and a word is their only place."
    if tokenizer.special_tokens.cls is None:
        yield "The tokenizer adds no classification token: the pooling must be attention, last or mean."
    if tokenizer.inner.pad_token_id is None:
        yield "There is no padding token: id 0 is used, which the mask hides."
    first, later = (tokenizer.subtokens([text])[0].ids for text in ("insulin", "an insulin"))
    if first and later[-len(first) :] != first:
        yield (
            "A word at the start of a text has other entries than one behind a blank (byte-level BPE without "
            "add_prefix_space); so it had in pretraining, and blurb leaves it so."
        )
    words = ["The", "(", "beta", ")", "-blocker", ",", "IL", "-", "2", "R", "."]
    placed = word_pieces(words, tokenizer.subtokens([" ".join(words)])[0])
    if lost := [word for word, place in zip(words, placed, strict=True) if place[0] < 0]:
        yield f"Words without any sub-token ({' '.join(lost)}) are always predicted as O."
    if any(one == other for one, other in pairwise(placed) if one[0] >= 0):
        yield "Some sub-tokens span two words: no border of an entity can be told between them (blurb data audit)."
    if unknown:
        yield f"Unknown tokens in {len(unknown)} of the probes: {', '.join(unknown)}."


def _encoder_notes(source: ModelSource, tokenizer: Tokenizer, encoder: Any) -> Iterator[str]:
    folder = Path(source.location)
    if remark := source.checkpoint.ignored_code:
        yield (
            f"{remark}. If its attention is bidirectional: {opt('set', 'attention=bidirectional')}; to run its code: "
            f"{opt('trust-remote-code')}."
        )
    yield from (
        f"{fault.what} {fault.fix}" for fault in find_silent_faults(folder, tokenizer, encoder)
    )
    if source.checkpoint.is_causal:
        other = (
            f", or {opt('set', 'attention=bidirectional')}"
            if source.checkpoint.can_be_bidirectional
            else ""
        )
        yield (
            "It is a causal decoder: each position sees only what is before it, and the pooling cls is refused. Use "
            f"{opt('pooling', 'last')}{other} with mean (docs/large-models.md)."
        )
    if _leaves_segments_out(tokenizer, encoder):
        yield (
            "The encoder can tell the texts of a pair apart by segment ids, but its tokenizer leaves these out. If its "
            'pretraining had them (ALBERT, XLNet, Funnel), add "token_type_ids" to "model_input_names" in '
            "tokenizer_config.json."
        )
    if (folder / "modules.json").is_file():
        yield (
            "It is a sentence-transformers folder: its own pooling, normalisation and prompts are not used; blurb "
            "fine-tunes the encoder with the pooling of the protocol."
        )
    attention = getattr(encoder.config, "_attn_implementation", None)
    if attention != "sdpa":
        yield f"Its attention is '{attention}', not torch's own (sdpa): slower, and with more memory."


def _leaves_segments_out(tokenizer: Tokenizer, encoder: Any) -> bool:
    """Whether the encoder takes segment ids, and the tokenizer gives them only on request."""
    takes = "token_type_ids" in signature(encoder.forward).parameters
    if (
        tokenizer.special_tokens.types is not None
        or not takes
        or getattr(encoder.config, "type_vocab_size", 2) < 2
    ):
        return False
    return any(tokenizer.inner("a", "b", return_token_type_ids=True)["token_type_ids"])


def _train_one_step(
    source: ModelSource, task: tasks.Task, settings: Mapping[str, Any], folder: Path
) -> SmokeTest:
    """One step of training and a prediction, on synthetic examples."""
    from blurb.learners.finetuning.network import EncoderLearner

    started = time.perf_counter()
    error = ""
    try:
        changed = protocol.load_protocol_file("smoke").settings(
            task, {**settings, **SMALL}, source.parameters
        )
        formulation = formulations.bind(task, changed)
        rows = formulation.units(list(read_split(task, folder, "train"))[: SMALL["batch_size"]])
        units = Subset(rows, "")
        learner = EncoderLearner(source, formulation, "cpu", "fp32")
        learner.fit(units, units, 1, lambda done, total: None)
        predicted = learner.predict(units)[0]
        assert len(predicted) == len(rows)
    except (
        BlurbError,
        RuntimeError,
        ValueError,
        IndexError,
        KeyError,
        TypeError,
        AttributeError,
    ) as found:
        error = str(found) if isinstance(found, BlurbError) else f"{type(found).__name__}: {found}"
    return SmokeTest(task.name, dict(settings), round(time.perf_counter() - started, 2), error)
