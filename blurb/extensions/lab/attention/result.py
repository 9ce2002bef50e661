"""The result of `attention`: weights of layers and heads over words, of one model or two."""

from __future__ import annotations

import html as markup
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from blurb.extensions.lab.attention import page
from blurb.extensions.lab.attention.weights import Floats, Projections, Span
from blurb.extensions.reports.plots._style import plotted
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
