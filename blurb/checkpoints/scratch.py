"""`scratch:tiny`: an encoder generated locally, so that blurb runs on machines without access to the Hub.

A small BERT with random weights and a WordPiece vocabulary from the training text of the data. It is saved as an
ordinary checkpoint in the cache folder, named by a hash of the text. The same text gives the same checkpoint, so its
trials stay "already done" after the cache is cleared.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from blurb import tasks
from blurb.checkpoints.reading import hide_progress
from blurb.data import read_split
from blurb.data.raw import input_columns
from blurb.messages import DataError, UnknownName, opt
from blurb.system.cache import cache_home
from blurb.system.files import new_folder, text_hash

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

PREFIX = "scratch:"
SIZES = {
    "tiny": {
        "hidden_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 512,
    }
}
VOCABULARY = 4_000
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
CONFIG = {
    "architectures": ["BertModel"],
    "model_type": "bert",
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}
"""Written by hand, as the output of save_pretrained differs between versions of transformers."""
VERSION = 2
"""Raised by hand when a change gives another checkpoint for the same text."""


def build(reference: str, folder: Path) -> Path:
    """The checkpoint for `scratch:tiny` and the training text of all tasks in a data folder."""
    size = size_of(reference)
    texts = sorted(set(training_text(folder)))
    if not texts:
        raise DataError(
            "no training text to build a vocabulary from", folder, fix=f"check {opt('data')}."
        )
    digest = text_hash("\n".join([f"{size} {VERSION}", *texts]))[:16]
    target = cache_home() / "scratch" / f"{size}-{digest}"
    if not target.is_dir():
        with new_folder(target) as aside:
            _save_checkpoint(size, texts, aside)
    return target


def size_of(reference: str) -> str:
    """The size in a reference; UnknownName if there is no such size."""
    size = reference.removeprefix(PREFIX)
    if size not in SIZES:
        raise UnknownName("scratch model", size, SIZES)
    return size


def training_text(folder: Path) -> Iterator[str]:
    """The texts of all readable train splits."""
    for task in tasks.all():
        try:
            rows = read_split(task, folder, "train")
        except DataError:
            continue
        kinds = task.task_type.columns  # possibly of a user's own type
        names = [name for name in input_columns(task) if kinds[name] == "text"]
        for row in rows:
            yield from (
                [" ".join(row["tokens"])] if "tokens" in row else (row[name] for name in names)
            )


def _save_checkpoint(size: str, texts: list[str], folder: Path) -> None:
    """Writes a checkpoint that is byte-identical on every machine and with every version of torch."""
    from safetensors.numpy import save_file

    hide_progress()
    folder.mkdir(parents=True)
    tokenizer = train_wordpiece(texts, VOCABULARY)
    tokenizer.save_pretrained(folder)
    config = {**CONFIG, **SIZES[size], "vocab_size": len(tokenizer)}
    (folder / "config.json").write_text(
        json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8"
    )
    save_file(weights(config), folder / "model.safetensors", metadata={"format": "pt"})


def train_wordpiece(texts: Sequence[str], size: int, min_count: int = 2) -> PreTrainedTokenizerBase:
    """A BERT tokenizer that lower-cases, with a vocabulary from the texts."""
    from transformers import BertTokenizerFast

    return BertTokenizerFast(
        vocab={piece: index for index, piece in enumerate(vocabulary(texts, size, min_count))},
        do_lower_case=True,
        model_max_length=512,
    )


def vocabulary(
    texts: Sequence[str],
    size: int = VOCABULARY,
    min_count: int = 2,
    lowercase: bool = True,
    inner_letters: bool = True,
) -> list[str]:
    """A WordPiece vocabulary: the special tokens, then the pieces in alphabetical order.

    :param size: number of pieces
    :param min_count: number of times that a joined pair must occur
    :param inner_letters: the letters inside of words come on top of `size`
    """
    from tokenizers import BertWordPieceTokenizer

    trained = BertWordPieceTokenizer(lowercase=lowercase)
    letters = sorted(
        {letter for text in texts for letter in trained.normalize(text) if not letter.isspace()}
    )
    # The trainer numbers the letters inside of words as it meets them, in an order drawn anew in every process, and
    # settles ties by these numbers. Given in advance they are settled.
    inner = [f"##{letter}" for letter in letters]
    trained.train_from_iterator(
        texts,
        vocab_size=size + (len(inner) if inner_letters else 0),
        min_frequency=min_count,
        limit_alphabet=len(letters),
        special_tokens=[*SPECIAL, *inner],
        show_progress=False,
    )
    return [*SPECIAL, *sorted(set(trained.get_vocab()) - set(SPECIAL))]


def weights(config: Mapping[str, Any]) -> dict[str, npt.NDArray[np.float32]]:
    """Weights of the usual scale of BERT (sd 0.02; LayerNorm 1 and 0) by parameter name, from integers only.

    The raw output of PCG64 never changes, and the sum of four 16-bit numbers, nearly a normal distribution, is exact up
    to one rounding.
    """
    import torch
    from transformers import BertConfig, BertModel

    with torch.device("meta"):
        model = BertModel(BertConfig(**config), add_pooling_layer=False)
    source = np.random.PCG64(0)
    scale = 0.02 / math.sqrt(4 * (2**32 - 1) / 12)
    tensors: dict[str, npt.NDArray[np.float32]] = {}
    for name, shape in sorted(
        (name, tuple(parameter.shape)) for name, parameter in model.named_parameters()
    ):
        if len(shape) == 1:  # biases, and LayerNorm's factors
            tensors[name] = np.full(
                shape, 1 if name.endswith("LayerNorm.weight") else 0, dtype=np.float32
            )
            continue
        raw = np.asarray(source.random_raw(math.prod(shape)), dtype=np.uint64)
        parts = [(raw >> np.uint64(16 * part)) & np.uint64(0xFFFF) for part in range(4)]
        total: npt.NDArray[np.int64] = np.sum(parts, axis=0).astype(np.int64)
        tensors[name] = ((total - 2 * 0xFFFF) * scale).astype(np.float32).reshape(shape)
    tensors["embeddings.word_embeddings.weight"][0] = 0  # [PAD], as in BERT
    return tensors
