"""The page and the picture of attention.

The page is one HTML file with its own style, script and data, which asks the network for nothing. The picture, which
needs Matplotlib, has all heads as thumbnails, and one head as lines between two columns of words.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from jinja2 import ChoiceLoader, PackageLoader

from blurb.extensions.lab.attention.weights import Floats, Projections
from blurb.extensions.reports.html import environment, in_script, policy_hash, source
from blurb.extensions.reports.plots._style import OURS, PAPER, QUIET, draw_grid
from blurb.messages import SettingsError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from blurb.extensions.lab.attention import Attention, ModelWeights

MOST_WORDS = 128
"""Of a page: the lines of more cannot be told apart."""
VECTORS_BYTES = 400_000
"""Maximum size of the queries and keys in a page; beyond it there are scores alone."""
STEPS = 255
"""Of the square root of a weight, so that small weights are kept more exactly: the error is at most 0.004."""


def check_words(words: int) -> None:
    """Raises a SettingsError for a text with too many words for a picture."""
    if words > MOST_WORDS:
        raise SettingsError(
            f"a picture of attention shows at most {MOST_WORDS} words (got {words:,})",
            fix="give a sentence or two; blurb.extensions.lab.attention returns the weights of longer texts.",
        )


def render(result: Attention) -> str:
    """The page as text.

    Its policy allows its style and script by their hashes; the data are JSON in which no tag can begin or end.

    :raises SettingsError: if there are too many words
    """
    check_words(len(result.words))
    templates = environment()
    templates.loader = ChoiceLoader(
        [
            PackageLoader("blurb.extensions.lab.attention"),
            PackageLoader("blurb.extensions.reports.html"),
        ]
    )
    style = source(templates, "palette.css", "attention.css")
    script = source(templates, "attention.js", "scores.js")
    first, after = result.entity or (0, 0)
    start, end = (result.places[first][0], result.places[after - 1][1]) if after else (0, 0)
    parts = (result.text[:start], result.text[start:end], result.text[end:])
    return templates.get_template("attention.html").render(
        result=result,
        names=" and ".join(model.name for model in result.models),
        special=", ".join(
            sorted({model.columns[place] for model in result.models for place in model.special})
        )
        or "none",
        is_pooling=all(model.is_pooling for model in result.models),
        asked="" if result.asked is None else result.words[result.asked],
        pieces=[{"text": part, "marked": place == 1} for place, part in enumerate(parts) if part],
        data=in_script(json.dumps(data(result), separators=(",", ":"))),
        style=style,
        script=script,
        style_hash=policy_hash(style),
        script_hash=policy_hash(script),
    )


def data(result: Attention) -> dict[str, Any]:
    """The data of the page's script."""
    room = VECTORS_BYTES // len(result.models)
    return {
        "words": list(result.words),
        "entity": result.entity,
        "asked": result.asked,
        "head": list(result.head),
        "models": [
            {
                "name": model.name,
                **dict(zip(("layers", "heads", "rows"), model.matrix.shape, strict=False)),
                "columns": list(model.columns),
                "before": model.before,
                "size": model.size,
                "pooling": model.is_pooling,
                "weights": stepped(model.matrix),
                **({} if result.asked is None else {"scores": _scores(model, result.asked, room)}),
            }
            for model in result.models
        ],
    }


def _scores(model: ModelWeights, asked: int, room: int) -> dict[str, Any]:
    """Scores of the sub-tokens of a word with all sub-tokens, and the queries and keys as far as there is room."""
    projections = model.projections
    if not isinstance(projections, Projections):
        return {"why": projections}
    mine = np.flatnonzero(np.equal(model.columns_of_pieces, model.before + asked)).tolist()
    queries = projections.queries[:, :, mine]  # (layers, heads, pieces of the word, size)
    content: dict[str, Any] = {
        "pieces": list(model.pieces),
        "mine": mine,
        "size": queries.shape[-1],
        **_small("scores", projections.scores[:, :, mine], np.int16),
    }
    size = queries.size + projections.keys.size
    if size > room:
        return content | {"left_out": size}
    return content | _small("queries", queries, np.int8) | _small("keys", projections.keys, np.int8)


def _small(name: str, values: Floats, kind: type[np.signedinteger[Any]]) -> dict[str, Any]:
    """Numbers as whole ones between the bounds of a type, with what a step is, by layer and head."""
    steps = np.abs(values).max(axis=(-2, -1)) / np.iinfo(kind).max  # (layers, heads)
    steps[steps == 0] = 1
    whole = np.rint(values / steps[..., None, None]).astype(np.dtype(kind).newbyteorder("<"))
    return {
        name: packed(whole),
        f"{name}_step": [float(f"{step:.4g}") for step in steps.reshape(-1)],
    }


def stepped(weights: Floats) -> str:
    """Weights as the page and the hash of the picture have them, in whole steps of their square roots."""
    return packed(np.rint(np.sqrt(weights.clip(0, 1)) * STEPS).astype(np.uint8))


def packed(values: npt.NDArray[Any]) -> str:
    """The bytes of an array, as base64."""
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()


CELL, LINE = 0.34, 0.17
"""Side of a thumbnail and height of a word, in inches."""
EDGE, TITLE, LINES = 0.4, 0.55, 3.6
"""Left of the thumbnails, above the panels, and width of the chosen head, in inches."""
GAP = 0.08
"""Between thumbnails, in their sides."""
LEAST = 0.01
"""Lines of smaller weights are not drawn: they would be thousands."""


def draw(result: Attention) -> Figure:
    """A row of panels for each model: its heads, and the chosen one."""
    from matplotlib.figure import Figure

    encoders = [model for model in result.models if not model.is_pooling]
    layers, heads = (
        max((model.matrix.shape[axis] for model in encoders), default=0) for axis in (0, 1)
    )
    left = CELL * heads + (EDGE if heads else 0)
    lines = LINE * (max(len(model.columns) for model in result.models) + 1)
    row = TITLE + max(lines, CELL * layers)
    wide, high = left + LINES, row * len(result.models)
    figure = Figure(figsize=(wide, high))
    for place, model in enumerate(result.models):
        top = high - place * row - TITLE  # of the panels, in inches from the bottom
        if model.is_pooling:
            axes = figure.add_axes(
                (
                    (left + 1.1) / wide,
                    (top - lines + 0.45) / high,
                    2.3 / wide,
                    (lines - 0.45) / high,
                )
            )
            _pooling(axes, model)
            continue
        _grid(figure, model, top)
        axes = figure.add_axes((left / wide, (top - lines) / high, LINES / wide, lines / high))
        _lines(axes, model, *result.head, result.entity or (0, 0))
    return figure


def _grid(figure: Figure, model: ModelWeights, top: float) -> None:
    """Thumbnails of the words' weights; darkness grows with their square roots, alike in all.

    :param top: of the thumbnails, in inches from the bottom of the figure
    """
    from matplotlib.patches import Rectangle

    wide, high = figure.get_size_inches()
    layers, heads = model.matrix.shape[:2]
    figure.text(
        0.04 / wide,
        (top + TITLE - 0.05) / high,
        f"{model.name}\nlayers down, heads across",
        va="top",
        fontsize=7,
        parse_math=False,
    )
    axes = figure.add_axes(
        (
            (EDGE - 0.12) / wide,
            (top - CELL * layers) / high,
            CELL * heads / wide,
            CELL * layers / high,
        )
    )
    # All in one panel: a panel for each takes two seconds.
    for layer in range(layers):
        for head in range(heads):
            axes.imshow(
                np.sqrt(model.weights[layer, head]),
                cmap="Blues",
                vmin=0,
                vmax=1,
                interpolation="nearest",
                extent=(head + GAP, head + 1, layer + 1 - GAP, layer),
            )
            axes.add_patch(
                Rectangle(
                    (head + GAP, layer),
                    1 - GAP,
                    1 - GAP,
                    fill=False,
                    linewidth=0.4,
                    edgecolor=QUIET,
                )
            )
    axes.set(xlim=(0, heads + 0.02), ylim=(layers, -0.02), aspect="auto")
    axes.set_xticks(np.arange(heads) + 0.5, [*map(str, range(1, heads + 1))], fontsize=6)
    axes.set_yticks(np.arange(layers) + 0.5, [*map(str, range(1, layers + 1))], fontsize=6)
    axes.tick_params(length=0, pad=2, top=False, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)


def _lines(axes: Axes, model: ModelWeights, layer: int, head: int, entity: tuple[int, int]) -> None:
    """One head: a line from each word to the words that it looks at, and what the special tokens get on average."""
    layer, head = min(layer, model.matrix.shape[0] - 1), min(head, model.matrix.shape[1] - 1)
    weights, words = model.weights[layer, head], model.columns[model.words]
    for row, column in np.argwhere(weights >= min(LEAST, 0.5 / len(model.columns))):
        value = float(weights[row, column])
        axes.plot(
            (0, 1),
            (row, column),
            color=OURS,
            alpha=min(1.0, 0.06 + 1.3 * value),
            linewidth=0.4 + 1.6 * value,
            solid_capstyle="round",
        )
    for place, word in enumerate(words):
        colour = PAPER if entity[0] <= place < entity[1] else "black"
        look: dict[str, Any] = {"va": "center", "fontsize": 7, "color": colour, "parse_math": False}
        axes.text(-0.04, place, word, ha="right", **look)
        axes.text(1.04, place, word, ha="left", **look)
    for below, column in enumerate(model.special):
        mass = float(model.matrix[layer, head, model.words, column].mean())
        axes.text(
            1.04,
            len(words) + 0.6 + below,
            f"{model.columns[column]} {mass:.0%} of the mean word",
            va="center",
            fontsize=6,
            color=QUIET,
            parse_math=False,
        )
    axes.set_title(
        f"{model.name}\nlayer {layer + 1}, head {head + 1}",
        loc="left",
        parse_math=False,
        fontsize=7,
    )
    axes.set_xlim(-1.1, 2.4)
    axes.set_ylim(len(words) + len(model.special), -0.7)
    axes.axis("off")


def _pooling(axes: Axes, model: ModelWeights) -> None:
    """The weight of each word, as bars; special tokens below, in grey."""
    order = [*range(len(model.columns))[model.words], *model.special]
    colours = [QUIET if place in model.special else OURS for place in order]
    axes.barh(range(len(order)), model.matrix[0, 0, 0, order], color=colours, height=0.7)
    axes.set_yticks(
        range(len(order)), [model.columns[place] for place in order], fontsize=7, parse_math=False
    )
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    draw_grid(axes, "x")
    axes.set_xlabel("weight")
    axes.set_title(
        f"{model.name}\nweights of the pooling", loc="left", parse_math=False, fontsize=7
    )
