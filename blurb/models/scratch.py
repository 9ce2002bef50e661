"""`scratch:tiny`: an encoder made on the spot, so that the main job runs on a machine that reaches no hub.

A small BERT with random weights and a WordPiece vocabulary trained on the training text at hand. It is saved as an
ordinary checkpoint in the cache folder, under a name that follows from the text, and used like any other.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from blurb import tasks
from blurb.cache import home
from blurb.data import read_split
from blurb.data.schema import Row
from blurb.errors import DataError, UnknownName
from blurb.models.loading import quiet

PREFIX = "scratch:"
SIZES = {"tiny": {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512}}
VOCABULARY = 4_000
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
VERSION = 1
"""Raised by hand when the same text gives another checkpoint."""


def build(reference: str, folder: Path) -> Path:
    """The checkpoint for `scratch:tiny` and the training text of all tasks that are in a data folder."""
    size = reference.removeprefix(PREFIX)
    if size not in SIZES:
        raise UnknownName("scratch model", size, SIZES)
    texts = sorted(set(training_text(folder)))
    if not texts:
        raise DataError("there is no training text to make a vocabulary from.", folder)
    digest = hashlib.sha256("\n".join([f"{size} {VERSION}", *texts]).encode()).hexdigest()[:16]
    target = home() / "scratch" / f"{size}-{digest}"
    if not target.is_dir():
        aside = target.with_name(f".{target.name}.{os.getpid()}")
        shutil.rmtree(aside, ignore_errors=True)
        _save(size, texts, aside)
        try:
            aside.rename(target)
        except OSError:  # another process was quicker
            shutil.rmtree(aside)
    return target


def training_text(folder: Path) -> Iterator[str]:
    """The texts of the train splits that can be read."""
    for task in tasks.all():
        try:
            rows = read_split(task, folder, "train")
        except DataError:
            continue
        for row in rows:
            yield from _texts(row)


def _texts(row: Row) -> Iterable[str]:
    if "tokens" in row:
        return [" ".join(row["tokens"])]
    return [row[column] for column in ("text", "text_a", "text_b", "question", "context") if column in row]


def _save(size: str, texts: list[str], folder: Path) -> None:
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    quiet()
    trained = BertWordPieceTokenizer(lowercase=True)
    trained.train_from_iterator(
        texts, vocab_size=VOCABULARY, min_frequency=2, special_tokens=list(SPECIAL), show_progress=False
    )
    folder.mkdir(parents=True)
    trained.save_model(str(folder))
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=True, model_max_length=512)
    tokenizer.save_pretrained(folder)
    generator_state = torch.random.get_rng_state()
    torch.manual_seed(0)
    model = BertModel(BertConfig(vocab_size=len(tokenizer), **SIZES[size]), add_pooling_layer=False)
    torch.random.set_rng_state(generator_state)
    model.save_pretrained(folder)
