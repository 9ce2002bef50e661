"""From a network and a text to weights of layers and heads over sub-tokens, and from these to weights over words.

Queries and keys are known where the weights are the softmax of their scaled products and of nothing else.
"""

from __future__ import annotations

import inspect
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import softmax
from torch import nn
from transformers import PreTrainedModel

from blurb.checkpoints.architecture import longest_input
from blurb.checkpoints.references import default_name
from blurb.checkpoints.source import open_checkpoint
from blurb.inputs.tokenizer import Subtokens, Tokenizer
from blurb.learners import is_named, saved_models
from blurb.learners.finetuning.network import NetworkLearner
from blurb.messages import ModelError, SettingsError, opt

Floats = npt.NDArray[np.float32]
Span = tuple[int, int]
WORD = re.compile(r"\w+(?:[-.,'/]\w+)*|[^\w\s]")
"""Letters and digits, also around a single sign as in IL-2, 0.5 or patient's; any other sign is a word by itself."""


def spans(text: str) -> list[Span]:
    """Start and end (exclusive, in characters) of each word.

    :raises SettingsError: for a text without words

    >>> [text[start:end] for text in ["IL-2 rose (by 0.5)."] for start, end in spans(text)]
    ['IL-2', 'rose', '(', 'by', '0.5', ')', '.']
    """
    if not (words := [match.span() for match in WORD.finditer(text)]):
        raise SettingsError("the text has no words", fix="give a sentence.")
    return words


def words_of_pieces(words: Sequence[Span], pieces: Subtokens) -> list[int]:
    """The index of the word in which each sub-token begins; blanks alone belong to the word behind them."""
    return [max(0, bisect_right(words, start, key=itemgetter(0)) - 1) for start in pieces.starts]


def boundaries(words: Sequence[Span], pieces: Subtokens) -> set[int]:
    """Where a word begins that the tokenizer keeps apart from the one before: indices of words, 0 always.

    A word belongs to the one before if a sub-token reaches over both, or if no sub-token begins in it; words at the
    beginning of which the tokenizer drops all, such as a byte order mark, belong to the one behind them.

    :raises SettingsError: if the tokenizer drops all words
    """
    if not (owners := words_of_pieces(words, pieces)):
        raise SettingsError("the tokenizer drops the whole text", fix="give a sentence.")
    kept = set(owners)
    for owner, end in zip(owners, pieces.ends, strict=True):
        for later in range(owner + 1, len(words)):
            if words[later][0] >= end:
                break
            kept.discard(later)
    return kept - {min(kept)} | {0}


def united(words: Sequence[Span], kept: set[int]) -> list[Span]:
    """The words after those that are not `kept` were added to the ones before them."""
    return [
        (words[first][0], words[after - 1][1])
        for first, after in pairwise([*sorted(kept), len(words)])
    ]


def join(weights: Floats, columns: Sequence[int], size: int) -> Floats:
    """Weights of sub-tokens as weights of words: the sum over keys, the mean over queries.

    What a word attends to is the mean of what its sub-tokens attend to, and what it is given is the sum of what they
    are given; so rows still sum to 1.

    :param weights: (layers, heads, pieces, pieces)
    :param columns: the word of each sub-token
    :param size: number of words
    :returns: (layers, heads, words, words)

    >>> halves = np.full((1, 1, 2, 2), 0.5, dtype=np.float32)
    >>> join(halves, [0, 0], 1).tolist()
    [[[[1.0]]]]
    """
    members = _members(columns, size)  # (pieces, words)
    means = (members / members.sum(0)).T  # (words, pieces)
    joined: Floats = means @ weights @ members  # (layers, heads, words, words)
    return joined


def join_keys(weights: Floats, columns: Sequence[int], size: int) -> Floats:
    """`join` for rows that are no sub-tokens: (..., pieces) to (..., words)."""
    return weights @ _members(columns, size)


def _members(columns: Sequence[int], size: int) -> Floats:
    """1 where a sub-token is of a word, (pieces, words)."""
    members = np.zeros((len(columns), size), dtype=np.float32)
    members[np.arange(len(columns)), columns] = 1
    return members


def find_entity(text: str, words: Sequence[Span], entity: str) -> Span:
    """The first and the last word (exclusive) that an entity of the text touches, where it is first mentioned.

    :raises SettingsError: if it is not in the text
    """
    sought = entity.strip()
    # As written, else in any case. As whole words first: "ion" is in "lesion", too.
    matches = (
        re.search(pattern, text, flags)
        for pattern in (rf"(?<!\w){re.escape(sought)}(?!\w)", re.escape(sought))
        for flags in (0, re.IGNORECASE)
    )
    match = next((match for match in matches if match), None) if sought else None
    if match is None:
        raise SettingsError(f"'{entity}' is not in the text", fix="write it as the text does.")
    touched = [
        index
        for index, (start, end) in enumerate(words)
        if start < match.end() and end > match.start()
    ]
    return touched[0], touched[-1] + 1


QUERY, KEY = (
    ("query", "q_lin", "q_proj", "query_proj", "q"),
    ("key", "k_lin", "k_proj", "key_proj", "k"),
)
"""Last parts of the names of the linear layers that make queries and keys."""
CLOSE = 1e-4
"""Maximum difference of a weight from the one that follows from queries and keys."""
NOT_APART = "this encoder does not make queries and keys by layers of their own"
NOT_ALONE = "its weights are not the softmax of query and key alone: positions or other terms enter the scores"


@dataclass(frozen=True, eq=False)
class Projections:
    """Queries and keys of all sub-tokens, special tokens included.

    :param queries: (layers, heads, pieces, size)
    :param keys: the same
    """

    queries: Floats
    keys: Floats

    @property
    def scores(self) -> Floats:
        """Products of queries and keys, divided by the square root of their size: (layers, heads, pieces, pieces)."""
        root = np.float32(self.queries.shape[-1] ** 0.5)
        return self.queries @ self.keys.swapaxes(-1, -2) / root


@contextmanager
def recording(encoder: Any) -> Iterator[tuple[list[torch.Tensor], list[torch.Tensor]]]:
    """Records the outputs of the layers of queries and keys while the encoder runs, in the order of the layers."""
    queries: list[torch.Tensor] = []
    keys: list[torch.Tensor] = []
    with ExitStack() as hooks:
        for name, module in encoder.named_modules():
            last = name.rpartition(".")[2]
            target = queries if last in QUERY else keys if last in KEY else None
            if target is not None and isinstance(module, nn.Linear):
                hooks.enter_context(
                    module.register_forward_hook(
                        lambda _, given, output, to=target: to.append(output.detach())
                    )
                )
        yield queries, keys


def projections(
    queries: list[torch.Tensor], keys: list[torch.Tensor], weights: Floats
) -> Projections | str:
    """Queries and keys by head, or a sentence that says why there are none.

    Decided by behaviour: they count if the weights of the encoder follow from them.

    :param queries: (1, pieces, heads * size) of each layer
    :param weights: (layers, heads, pieces, pieces), as the encoder returned them
    """
    layers, heads, pieces, _ = weights.shape
    if not queries or not keys:
        return NOT_APART
    if len(queries) != layers or len(keys) != layers:  # DeBERTa's make those of positions, too
        return NOT_ALONE
    if any(
        each.ndim != 3 or each.shape[1] != pieces or each.shape[2] % heads
        for each in (*queries, *keys)
    ):
        return NOT_APART
    by_head = Projections(_by_head(queries, heads), _by_head(keys, heads))
    if by_head.queries.shape != by_head.keys.shape:
        return NOT_ALONE
    difference = np.abs(softmax(by_head.scores, axis=-1) - weights).max()
    return by_head if difference <= CLOSE else NOT_ALONE


def _by_head(rows: list[torch.Tensor], heads: int) -> Floats:
    """(layers, heads, pieces, size)."""
    stacked = np.stack([row[0].float().numpy() for row in rows])  # (layers, pieces, heads * size)
    by_head = stacked.reshape(*stacked.shape[:2], heads, -1)  # (layers, pieces, heads, size)
    return np.ascontiguousarray(by_head.transpose(0, 2, 1, 3))


@dataclass(frozen=True, eq=False)
class Opened:
    """A network and its tokenizer.

    :param name: what it is called in pictures
    :param where: its folder, for errors
    :param encoder: in evaluation mode
    :param pooling: the pooling of a kept model, or None
    :param most: maximum number of sub-tokens of an input, special tokens counted; None if there is no limit
    """

    name: str
    where: Path
    tokenizer: Tokenizer
    encoder: Any
    pooling: Any = None
    most: int | None = None


def open_model(reference: str, trust_remote_code: bool = False, data: Path | None = None) -> Opened:
    """A checkpoint, or the kept model of a trial.

    :param reference: folder, preset or Hub id of a checkpoint, `scratch:tiny`, or folder of a trial with a kept model
    :param data: data folder, from whose train texts `scratch:` takes its vocabulary
    :raises ModelError: if there is neither
    """
    if is_named(reference):
        raise ModelError(
            "a baseline has no weights before it is trained",
            where=reference,
            fix=f"run it with {opt('keep-model', 'best')}, and name the folder of the trial.",
        )
    folder = Path(reference).expanduser()
    for place in (folder, folder / saved_models.FOLDER):
        if (place / saved_models.ABOUT).is_file():
            return _kept(place, trust_remote_code)
    checkpoint = open_checkpoint(reference, data, trust_remote_code)
    checkpoint.check()
    encoder, _ = checkpoint.load_encoder()
    return Opened(
        default_name(reference),
        checkpoint.folder,
        checkpoint.tokenizer,
        encoder.eval(),
        None,
        longest_input(encoder),
    )


def _kept(folder: Path, trust_remote_code: bool) -> Opened:
    # The encoder is built with random weights before it gets its own.
    with torch.random.fork_rng(devices=[]):
        learner, about = saved_models.load(folder, "cpu", trust_remote_code)
    name = str(about.get("model", folder.parent.name))
    if not isinstance(learner, NetworkLearner):
        raise ModelError(
            f"{name} has no layers of attention", where=folder, fix="choose a network."
        )
    network: Any = learner.trainer.network.eval()
    return Opened(name, folder, learner.tokenizer, network.encoder, network.pooling, learner.limit)


RETURNS_WEIGHTS = "eager"
"""The attention of transformers that computes its weights one by one; the others never have them in memory."""
NO_ATTENTION = "this model has no layers of attention, or returns no weights of them"
SUM = 1e-3
"""Maximum difference of the sum of a row from 1."""


def inputs(model: Opened, pieces: Subtokens, words: int) -> dict[str, Any]:
    """The input of the network, a batch of one.

    :raises SettingsError: for a text that is too long
    """
    special = model.tokenizer.special_tokens
    ids = special.single(pieces.ids)
    if model.most is not None and len(ids) > model.most:
        raise SettingsError(
            f"the text has {words:,} words, which are {len(ids):,} sub-tokens with special tokens, and {model.name} "
            f"reads at most {model.most:,}",
            fix="give a shorter text.",
        )
    # (1, pieces)
    batch = {
        "input_ids": torch.tensor([ids]),
        "attention_mask": torch.ones(1, len(ids), dtype=torch.long),
    }
    types = special.single_types(len(pieces.ids))
    # DistilBERT's tokenizer makes segments, and its encoder knows none.
    if (
        types is not None
        and "token_type_ids" in inspect.signature(model.encoder.forward).parameters
    ):
        batch["token_type_ids"] = torch.tensor([types])
    return batch


def encoder_weights(
    model: Opened, batch: dict[str, Any]
) -> tuple[Floats, Projections | str, list[str]]:
    """Weights, queries and keys, and notes.

    :returns: (layers, heads, pieces, pieces); projections, or why there are none; sentences for people
    :raises ModelError: if there are no weights from every sub-token to every other
    """
    if not isinstance(model.encoder, PreTrainedModel):
        raise ModelError(NO_ATTENTION, where=model.where, fix="choose an encoder with attention.")
    notes = []
    usual = getattr(model.encoder.config, "_attn_implementation", RETURNS_WEIGHTS)
    try:
        if usual != RETURNS_WEIGHTS:
            model.encoder.set_attn_implementation(RETURNS_WEIGHTS)
            notes.append(
                f"{model.name}: its attention ({usual}) returns no weights, so it was switched to "
                f"'{RETURNS_WEIGHTS}', which computes the same."
            )
        with torch.inference_mode(), recording(model.encoder) as (queries, keys):
            output = model.encoder(**batch, output_attentions=True)
    except (TypeError, ValueError, NotImplementedError, AttributeError, ImportError) as error:
        raise ModelError(
            f"{NO_ATTENTION} ({error})", where=model.where, fix="choose another."
        ) from error
    layers = getattr(output, "attentions", None)
    if not layers or any(layer is None for layer in layers):
        raise ModelError(NO_ATTENTION, where=model.where, fix="choose an encoder with attention.")
    size = batch["input_ids"].shape[1]
    shapes = {tuple(layer.shape) if isinstance(layer, torch.Tensor) else () for layer in layers}
    square = (
        len(shapes) == 1 and len(shape := next(iter(shapes))) == 4 and shape[-2:] == (size, size)
    )
    weights = np.stack([layer[0].float().numpy() for layer in layers]) if square else None
    if weights is None or np.abs(weights.sum(-1) - 1).max() > SUM:
        raise ModelError(
            "its weights are not those of every sub-token over all others (a window, blocks, or shortened inputs), "
            "so they cannot be shown as one picture",
            where=model.where,
            fix="choose an encoder with full attention.",
        )
    return weights, projections(queries, keys, weights), notes


def pooling_weights(model: Opened, batch: dict[str, Any]) -> Floats:
    """The weights with which a pooling sums the sub-tokens, (1, 1, 1, pieces).

    :raises ModelError: if it does not weight them
    """
    if not hasattr(model.pooling, "weights"):
        raise ModelError(
            f"{model.name} has no weights over words: neither layers nor a pooling of attention",
            where=model.where,
            fix=f"train one with {opt('set', 'pooling=attention')}, on a task of whole texts.",
        )
    with torch.inference_mode():
        hidden = model.encoder(**batch).last_hidden_state.float()  # (1, pieces, size)
        weights: Floats = model.pooling.weights(hidden, batch["attention_mask"])[
            :, None, None
        ].numpy()
    return weights  # (1, 1, 1, pieces)
