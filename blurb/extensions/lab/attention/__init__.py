"""The weights of attention as a page and a picture (docs/extensions/attention.md): models and a text in, out a
result with the weights of layers and heads over words.
"""

from __future__ import annotations

import html as markup
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from blurb.extensions.lab.attention import page, weights
from blurb.extensions.lab.attention.weights import Floats, Projections, Span
from blurb.extensions.reports.plots._style import plotted
from blurb.inputs.tokenizer import Subtokens
from blurb.messages import SettingsError
from blurb.system.files import write_whole


@dataclass(frozen=True, eq=False)
class ModelWeights:
    """The weights of one model.

    A column is a special token or a word, in the order of the input. The rows of an encoder are its columns; a pooling
    has a single row, as what asks is no word.

    :param name: of the model
    :param columns: special tokens and words
    :param before: number of special tokens before the words
    :param size: number of words
    :param matrix: (layers, heads, rows, columns), rows sum to 1
    :param is_pooling: whether these are the weights with which a pooling sums the words
    :param pieces: the sub-tokens of the input
    :param columns_of_pieces: the column of each sub-token
    :param projections: queries and keys, or a sentence that says why there are none
    """

    name: str
    columns: tuple[str, ...]
    before: int
    size: int
    matrix: Floats
    is_pooling: bool
    pieces: tuple[str, ...]
    columns_of_pieces: tuple[int, ...]
    projections: Projections | str

    @property
    def words(self) -> slice:
        """The columns of the words."""
        return slice(self.before, self.before + self.size)

    @property
    def special(self) -> list[int]:
        """The columns of the special tokens."""
        return [*range(self.before), *range(self.before + self.size, len(self.columns))]

    @property
    def rows(self) -> slice:
        """The rows of the words: the only row of a pooling."""
        return slice(0, 1) if self.is_pooling else self.words

    @property
    def weights(self) -> Floats:
        """From word to word, (layers, heads, words, words); of a pooling (1, 1, 1, words). Rows sum to at most 1."""
        return self.matrix[:, :, self.rows, self.words]

    @property
    def special_mass(self) -> Floats:
        """Weights of the special tokens for each word, (layers, heads, words, special tokens)."""
        return self.matrix[:, :, self.rows][..., self.special]

    @property
    def mean_special(self) -> Floats:
        """The part that the special tokens get of an average word, (layers, heads), 0 to 1."""
        mass: Floats = self.special_mass.sum(-1).mean(-1)
        return mass

    def busiest(self) -> tuple[int, int]:
        """Layer and head, from 0, whose words look least at the special tokens: where there is most to see."""
        layer, head = divmod(int(self.mean_special.argmin()), self.matrix.shape[1])
        return layer, head


@dataclass(frozen=True, eq=False)
class Attention:
    """The attention of one model or two on one text. In a notebook it shows its page.

    :param text: as it was given
    :param places: start and end (exclusive, in characters) of each word; words that a tokenizer cannot keep apart are
        one
    :param models: a model each
    :param entity: its first and its last word (exclusive), or None
    :param asked: the word, by its index, whose queries, keys and scores the page shows, or None
    :param head: layer and head that are shown first, from 0
    :param notes: sentences for people
    """

    text: str
    places: tuple[Span, ...]
    models: tuple[ModelWeights, ...]
    entity: Span | None
    asked: int | None
    head: tuple[int, int]
    notes: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the text."""
        return tuple(self.text[start:end] for start, end in self.places)

    @property
    def weights(self) -> Floats:
        """Those of the first model: (layers, heads, words, words)."""
        return self.models[0].weights

    def to_pandas(self) -> pd.DataFrame:
        """A line for each model, layer and head (both from 1), query and key; special tokens are in it, too."""
        parts = []
        for model in self.models:
            rows = ("pooling",) if model.is_pooling else model.columns
            places = np.indices(model.matrix.shape).reshape(4, -1).T  # (weights, 4)
            table = pd.DataFrame(places, columns=["layer", "head", "query", "key"])
            table[["layer", "head"]] += 1
            table["from"] = np.array(rows, dtype=object)[table["query"]]
            table["to"] = np.array(model.columns, dtype=object)[table["key"]]
            table["weight"] = model.matrix.reshape(-1)
            table.insert(0, "model", model.name)
            parts.append(table)
        return pd.concat(parts, ignore_index=True)

    def html(self, path: Path | str) -> None:
        """Writes the page: one file that needs no network.

        :raises SettingsError: if there are too many words for a page
        :raises DataError: if the file cannot be written
        """
        write_whole(Path(path), page.render(self).encode())

    def plot(self, path: Path | str) -> None:
        """Writes the picture, .png, .svg or .pdf; needs the extra `plots`.

        :raises SettingsError: for another ending, without Matplotlib, or with too many words
        :raises DataError: if the file cannot be written
        """
        page.check_words(len(self.words))
        # Those of the page, so that a picture can be told to be of the page beside it.
        figures = [
            [model.name, *model.columns, page.stepped(model.matrix)] for model in self.models
        ]
        plotted(path, lambda: page.draw(self), [figures, list(self.head)])

    def _repr_html_(self) -> str:
        text = markup.escape(page.render(self))
        return f'<iframe srcdoc="{text}" sandbox="allow-scripts" width="100%" height="900" title="Attention"></iframe>'


MODELS = 2
"""Maximum number of models that are shown side by side."""
NO_QUERY = "a pooling has one learned query for all texts, and no keys"


def attention(
    models: str | Path | Sequence[str],
    text: str,
    *,
    entity: str | None = None,
    word: str | None = None,
    head: str | None = None,
    data: str | Path | None = None,
    output: str | Path | None = None,
    trust_remote_code: bool = False,
) -> Attention:
    """The weights of attention of one model or two on a text.

    :param models: folders, presets or Hub ids of checkpoints, `scratch:tiny`, or folders of trials with a kept model
    :param entity: part of the text whose words are marked, and whose mean row can be shown
    :param word: a word whose queries, keys and scores the page has, too
    :param head: layer and head to show first, as `5.3`, both from 1; without it, the head that looks least at the
        special tokens
    :param data: data folder, from whose train texts `scratch:tiny` takes its vocabulary
    :param output: file of the page, written at the end
    :param trust_remote_code: allow the checkpoints to run their own code
    :raises SettingsError: for an empty text, more than two models, an entity or a word that is not in the text, a head
        that is not there, a text that is longer than a model reads
    :raises ModelError: for a model without attention, or that cannot be loaded
    :raises DataError: if the page cannot be written
    """
    references = [models] if isinstance(models, str | Path) else list(models)
    if not 1 <= len(references) <= MODELS:
        raise SettingsError(
            f"attention is shown of one model or two (got {len(references)})",
            fix="name two at most.",
        )
    plain = weights.spans(text)
    for part in (entity, word):  # before anything is loaded
        if part is not None:
            weights.find_entity(text, plain, part)
    folder = None if data is None else Path(data)
    opened = [
        weights.open_model(os.fspath(reference), trust_remote_code, folder)
        for reference in references
    ]
    pieces = [model.tokenizer.subtokens([text])[0] for model in opened]
    # What one tokenizer cannot keep apart is one word for both, so that they can be compared.
    words = weights.united(
        plain, set.intersection(*(weights.boundaries(plain, each) for each in pieces))
    )
    weighed = [
        _weights(model, subtokens, text, words)
        for model, subtokens in zip(opened, pieces, strict=True)
    ]
    sides = [side for side, _ in weighed]
    result = Attention(
        text=text,
        places=tuple(words),
        models=tuple(sides),
        entity=None if entity is None else weights.find_entity(text, words, entity),
        asked=None if word is None else weights.find_entity(text, words, word)[0],
        head=_head(head, sides),
        notes=tuple(note for _, notes in weighed for note in notes),
    )
    if output is not None:
        result.html(output)
    return result


def _weights(
    model: weights.Opened, pieces: Subtokens, text: str, words: Sequence[weights.Span]
) -> tuple[ModelWeights, list[str]]:
    """The weights of a model over words, and notes."""
    special = model.tokenizer.special_tokens
    before, end = len(special.prefix), len(special.prefix) + len(words)
    size = end + len(special.suffix)
    columns = [
        *range(before),
        *(before + owner for owner in weights.words_of_pieces(words, pieces)),
        *range(end, size),
    ]
    batch = weights.inputs(model, pieces, len(words))
    is_pooling = not hasattr(model.encoder, "set_attn_implementation")
    if not is_pooling:
        pairs, projections, notes = weights.encoder_weights(model, batch)
        matrix = weights.join(pairs, columns, size)
    else:
        projections, notes = NO_QUERY, []
        matrix = weights.join_keys(weights.pooling_weights(model, batch), columns, size)
    names = model.tokenizer.inner.convert_ids_to_tokens
    first, last = names(special.prefix), names(special.suffix)
    # In the letters of the text; a blank by itself by its name in the vocabulary.
    surface = [
        text[start:end] or name
        for start, end, name in zip(pieces.starts, pieces.ends, names(pieces.ids), strict=True)
    ]
    side = ModelWeights(
        name=model.name,
        columns=(*first, *(text[start:end] for start, end in words), *last),
        before=before,
        size=len(words),
        matrix=matrix,
        is_pooling=is_pooling,
        pieces=(*first, *surface, *last),
        columns_of_pieces=tuple(columns),
        projections=projections,
    )
    return side, notes


def _head(typed: str | None, models: Sequence[ModelWeights]) -> tuple[int, int]:
    """Layer and head, from 0, of the first model that has more than one head."""
    model = next((model for model in models if not model.is_pooling), models[0])
    if typed is None:
        return model.busiest()
    layers, heads = model.matrix.shape[:2]
    layer, dot, head = typed.partition(".")
    if not (dot and layer.isdecimal() and head.isdecimal()):
        raise SettingsError(f"a head is written LAYER.HEAD, as 5.3 (got '{typed}').")
    if not (1 <= int(layer) <= layers and 1 <= int(head) <= heads):
        raise SettingsError(
            f"{model.name} has no head {typed}: it has {layers} layers of {heads} heads, from 1."
        )
    return int(layer) - 1, int(head) - 1
