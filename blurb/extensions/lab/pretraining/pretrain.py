"""One pretraining from text to a checkpoint that `blurb run` takes, and the words that an hour of a machine reads.

It begins with a model and a vocabulary from nothing, or from a checkpoint. Vocabularies are WordPiece or byte-level
BPE, the same for the same text in every process.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import platform
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoConfig,
    AutoModelForMaskedLM,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    BertTokenizerFast,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
    set_seed,
)

from blurb import __version__
from blurb.checkpoints import Checkpoint, scratch
from blurb.checkpoints.reading import hide_progress
from blurb.extensions.lab.pretraining import trainer
from blurb.extensions.lab.pretraining.inputs import PretrainingInputs, enough, stream
from blurb.extensions.lab.pretraining.recipe import (
    ABOUT,
    FIRST,
    HEAD,
    PLAN,
    SIZES,
    Recipe,
    version_in,
)
from blurb.extensions.lab.pretraining.request import PretrainingCorpus
from blurb.extensions.reports.html import environment
from blurb.messages import ModelError, SettingsError, count_noun, opt
from blurb.system.files import json_hash, nearest_existing, new_folder, read_json, write_json
from blurb.training.hardware import choose_device, choose_precision, has_bf16, machine_names

DROPOUTS = (
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "dropout",
    "attention_dropout",
    "activation_dropout",
    "embedding_dropout",
    "mlp_dropout",
)
"""Names of an encoder's dropout in configurations, by architecture."""


def build(texts: Sequence[str], recipe: Recipe) -> tuple[Any, PreTrainedTokenizerBase]:
    """The model and the tokenizer that a recipe begins with.

    :param texts: the documents that a new vocabulary is learnt from
    """
    if recipe.start:
        model, tokenizer = continued(recipe.start, recipe)
    else:
        tokenizer = train_vocabulary(texts, recipe)
        model = from_nothing(recipe, tokenizer)
    if not torch.cuda.is_available():
        # On a CPU the fused kernel spends twice the time of these short products, above all backwards.
        model.set_attn_implementation("eager")
    return model, tokenizer


def from_nothing(recipe: Recipe, tokenizer: PreTrainedTokenizerBase) -> Any:
    """A BERT of a size, with random weights that the seed of the recipe decides."""
    size = SIZES[recipe.size]
    config = BertConfig(
        vocab_size=len(tokenizer),
        **size,
        num_attention_heads=size["hidden_size"] // HEAD,
        intermediate_size=4 * size["hidden_size"],
        hidden_dropout_prob=recipe.dropout,
        attention_probs_dropout_prob=recipe.dropout,
        pad_token_id=tokenizer.pad_token_id,
    )
    set_seed(recipe.seed)
    return (BertForPreTraining if recipe.next_sentence else BertForMaskedLM)(config)


def continued(folder: str, recipe: Recipe) -> tuple[Any, PreTrainedTokenizerBase]:
    """The model and the tokenizer of a checkpoint; a head that it lacks is drawn by the seed.

    :raises ModelError: for a checkpoint without a mask token, or for pairs of texts one that is no BERT
    """
    tokenizer = _tokenizer_of(folder)
    if None in (tokenizer.mask_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id):
        raise ModelError(
            "has no mask, [CLS] or [SEP] token, so it cannot learn to fill gaps",
            where=folder,
            fix="take another.",
        )
    set_seed(recipe.seed)
    config = AutoConfig.from_pretrained(folder)
    if recipe.next_sentence and config.model_type != "bert":
        raise ModelError(
            f"is of type {config.model_type}, and only BERT learns pairs of texts",
            where=folder,
            fix=f"remove {opt('next-sentence')}.",
        )
    for name in DROPOUTS:
        if hasattr(config, name):
            setattr(config, name, recipe.dropout)
    loader = BertForPreTraining if recipe.next_sentence else AutoModelForMaskedLM
    return loader.from_pretrained(folder, config=config, dtype=torch.float32), tokenizer


def _tokenizer_of(folder: str) -> PreTrainedTokenizerBase:
    if not Path(folder).is_dir():
        raise ModelError(
            "there is no such checkpoint",
            where=folder,
            fix="hf download fetches one (docs/models.md).",
        )
    return AutoTokenizer.from_pretrained(folder)


def train_vocabulary(texts: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    """A tokenizer with BERT's special tokens and a vocabulary from the texts.

    :raises SettingsError: if the texts do not support as many entries: rare pieces would be noise
    """
    if recipe.vocabulary_of:
        tokenizer = _checkpoint_tokenizer(texts, recipe)
    elif recipe.kind == "wordpiece":
        tokenizer = _bert(
            scratch.vocabulary(
                texts, recipe.vocabulary, lowercase=not recipe.cased, inner_letters=False
            ),
            recipe,
        )
    else:
        tokenizer = _bpe(texts, recipe)
    if len(tokenizer) < 0.9 * recipe.vocabulary:
        raise SettingsError(
            f"The text supports a vocabulary of {len(tokenizer):,} entries, not {recipe.vocabulary:,}",
            fix="ask for fewer, or add text.",
        )
    return tokenizer


def _checkpoint_tokenizer(texts: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    """The letters of the text, as a learnt vocabulary has them, then the entries that the checkpoint numbers first.

    Trainers of WordPiece number frequent pieces first, so a part of BERT's vocabulary is a smaller one of its text.

    :raises ModelError: for a checkpoint whose vocabulary is not WordPiece
    """
    pieces = checkpoint_entries(recipe.vocabulary_of)
    normalize = BertWordPieceTokenizer(lowercase=not recipe.cased).normalize
    letters = {letter for text in texts for letter in normalize(text) if not letter.isspace()}
    wanted = {*letters, *(f"##{letter}" for letter in letters)}
    first = [piece for piece in pieces if piece in wanted]
    others = [piece for piece in pieces if len(piece.removeprefix("##")) > 1]
    return _bert([*scratch.SPECIAL, *first, *others][: recipe.vocabulary], recipe)


def checkpoint_entries(folder: str) -> Sequence[str]:
    """The WordPiece entries of a checkpoint in the order of their numbers, without special and unused ones."""
    tokenizer = _tokenizer_of(folder)
    model = json.loads(tokenizer.backend_tokenizer.to_str())["model"] if tokenizer.is_fast else {}
    if model.get("type") != "WordPiece":
        raise ModelError(
            "has no WordPiece vocabulary", where=folder, fix="take a checkpoint of BERT."
        )
    entries = sorted(model["vocab"], key=model["vocab"].__getitem__)
    return [piece for piece in entries if piece[0] != "[" or piece[-1] != "]" or len(piece) == 1]


def _bert(entries: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    return BertTokenizerFast(
        vocab={piece: number for number, piece in enumerate(entries)},
        do_lower_case=not recipe.cased,
        strip_accents=not recipe.cased,
        model_max_length=512,
    )


def _bpe(texts: Sequence[str], recipe: Recipe) -> PreTrainedTokenizerBase:
    trained = ByteLevelBPETokenizer(add_prefix_space=True, lowercase=not recipe.cased)
    trained.train_from_iterator(
        texts,
        vocab_size=recipe.vocabulary,
        min_frequency=2,
        special_tokens=list(scratch.SPECIAL),
        show_progress=False,
    )
    # The processor of a ByteLevelBPETokenizer only moves offsets, which its decoder does not need.
    trained.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, trained.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    return PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer, model_max_length=512, **names
    )


CUT = re.compile(r"inline_container|unexpected pos|No space left on device|os error 28")
"""Words of torch's and safetensors' writers where a disk is full."""


@contextlib.contextmanager
def full_disks_told(folder: Path) -> Iterator[None]:
    """Within it a full disk is an OSError: torch and safetensors have errors of their own for a file that was cut.

    :raises OSError: which names the folder
    """
    try:
        yield
    except Exception as error:
        if not CUT.search(str(error)) or isinstance(error, OSError):
            raise
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder)) from error


def pretrain(
    out: Path,
    corpus: PretrainingCorpus,
    recipe: Recipe,
    about: Mapping[str, Any],
    progress: bool = True,
    every: int = 0,
    callbacks: Sequence[Any] = (),
) -> Path:
    """Pretrains an encoder, or goes on with one that was killed; returns the folder of the finished one.

    :param out: folder of the checkpoints; the encoder itself is `out/model`
    :param about: what the card says of the text
    :param callbacks: of the Trainer, such as the fault of `benchmarks.faulty_run`
    :param every: updates between checkpoints that stay, beside those at 1, 2, 5, 10, 20, 50, ...
    :raises SettingsError: if the folder is of another recipe or text
    """
    recipe.check()
    recipe = replace(recipe, version=version_in(out, recipe.version))
    key = recipe.hash(corpus.hash)
    target = out / "model"
    _check(out, key)
    if (target / ABOUT).is_file():
        return target
    if find_spec("accelerate") is None:
        raise SettingsError("The Trainer of transformers needs accelerate: pip install accelerate")
    model, tokenizer = build(corpus.texts, recipe)
    out.mkdir(parents=True, exist_ok=True)
    precision = usual_precision()
    if (out / PLAN).is_file():  # one without it is of a release that had all products in fp32
        precision = str(read_json(out / PLAN).get("precision", "fp32"))
    write_json(out / PLAN, {"hash": key, "recipe": asdict(recipe), "precision": precision})
    # The first version read all documents.
    texts = (
        corpus.texts if recipe.version == FIRST else enough(corpus.texts, recipe.words, recipe.seed)
    )
    learnt, aside = stream(texts, tokenizer), stream(corpus.held_out, tokenizer)
    inputs = PretrainingInputs(learnt, recipe, tokenizer)
    hide_progress()
    bits = partial(trainer.bits_per_byte, tokenizer=tokenizer, held_out=aside, length=recipe.length)
    checkpoints, seconds, flops = out / trainer.CHECKPOINTS, 0.0, 0
    if recipe.words:
        # Those of the update in the middle, where a rising mask rate has its mean, for each.
        flops = inputs.updates * trainer.flops(model, inputs.update(inputs.updates // 2))
        with full_disks_told(checkpoints):
            seconds = trainer.train(
                model, inputs, checkpoints, precision == "bf16", bits, every, progress, callbacks
            )
    quality = trainer.measure(model.cpu().float(), tokenizer, learnt, aside, recipe.length)
    facts = {
        "recipe": asdict(recipe),
        "hash": key,
        "text": {
            **about,
            "sha256": corpus.hash,
            "words": corpus.words,
            "left out": corpus.left_out,
        },
        "seen": {
            "words": round(inputs.words_per_update * inputs.updates),
            "epochs": round(len(inputs) / len(inputs.slices), 2),
            "tokens": len(inputs) * recipe.length,
            "updates": inputs.updates,
            "flops": flops,
            "seconds": round(seconds, 1),
        },
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "bits per byte": quality,
        "precision": precision,
        "vocabulary": json_hash(sorted(tokenizer.get_vocab().items()))[:16],
        "start": Checkpoint(Path(recipe.start)).weights_hash if recipe.start else "",
        "machine": machine(),
        "environment": {
            "blurb": __version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
    }
    with full_disks_told(target), new_folder(target) as folder:
        folder.mkdir(parents=True)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        (folder / "README.md").write_text(card(facts), encoding="utf-8")
        write_json(folder / ABOUT, facts)
    return target


def usual_precision() -> str:
    """The precision of a pretraining that begins on this machine."""
    return choose_precision("auto", torch.device("cuda" if torch.cuda.is_available() else "cpu"))


def machine() -> dict[str, Any]:
    """The kind of machine, by which a time that was measured is good for another pretraining."""
    return {
        "hardware": machine_names(str(choose_device("auto"))),
        "threads": torch.get_num_threads(),
    }


def _check(out: Path, key: str) -> None:
    """Nobody goes on with the checkpoints of another recipe."""
    if (out / PLAN).is_file():
        if read_json(out / PLAN).get("hash") != key:
            raise SettingsError(
                "is of another recipe or text", where=out, fix="take another folder."
            )
    elif out.exists() and any(out.iterdir()):
        raise SettingsError(
            "is not empty, and no pretraining", where=out, fix="take another folder."
        )
    elif not nearest_existing(out).is_dir():
        raise SettingsError("cannot be made: a file is in the way", where=out)


WARM_UP, SECONDS = 3.0, 6.0
"""Kernels for new shapes are made in the first seconds."""
SHARE = 0.95
"""Of the time is for updates; the rest for checkpoints and the measurement at the end."""


def for_hours(out: Path, corpus: PretrainingCorpus, recipe: Recipe, hours: float) -> Recipe:
    """The recipe with the words that are read in some hours.

    A pretraining that goes on keeps the words of its start: another trial would give others.
    """
    if (out / PLAN).is_file():
        return replace(recipe, words=int(read_json(out / PLAN)["recipe"]["words"]))
    return replace(
        recipe, words=max(1, round(SHARE * hours * 3600 * words_per_second(corpus, recipe)))
    )


def words_per_second(corpus: PretrainingCorpus, recipe: Recipe) -> float:
    """Measured on updates of a model that is thrown away."""
    model, tokenizer = build(corpus.texts, recipe)
    learnt = stream(enough(corpus.texts, 0, recipe.seed), tokenizer)
    inputs = PretrainingInputs(learnt, replace(recipe, words=10**9), tokenizer)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    updates, started = 0, time.monotonic()
    middle = inputs.updates // 2  # where a rising mask rate has its mean
    start_time = started
    while time.monotonic() - started < WARM_UP + SECONDS or not updates:
        if time.monotonic() - started < WARM_UP:
            updates, start_time = 0, time.monotonic()
        batch = {name: value.to(device) for name, value in inputs.update(middle + updates).items()}
        torch.autograd.backward(trainer.loss(model, batch, has_bf16(device)))
        optimizer.step()
        optimizer.zero_grad()
        updates += 1
    return updates * inputs.words_per_update / (time.monotonic() - start_time)


def card(facts: Mapping[str, Any]) -> str:
    """The README of a checkpoint, in Markdown.

    :param facts: the content of `pretraining.json`
    """
    text = facts["text"]
    page = environment(__package__, html=False).get_template("card.md.jinja")
    return (
        page.render(
            facts,
            plural=count_noun,
            bits=facts["bits per byte"],
            sizes=text.get("words of each corpus") or (),
            against=text.get("compared with") or (),
            without=text.get("datasets without original text") or (),
        )
        + "\n"
    )
