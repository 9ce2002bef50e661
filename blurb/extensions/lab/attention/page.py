"""The page: one HTML file with its own style, script and data, which asks the network for nothing."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from jinja2 import ChoiceLoader, PackageLoader
from markupsafe import Markup

from blurb.extensions.lab.attention.projections import Projections
from blurb.extensions.lab.attention.result import Attention, ModelWeights
from blurb.extensions.lab.attention.words import Floats
from blurb.extensions.reports.html import templating
from blurb.messages.errors import SettingsError

MOST_WORDS = 128
"""Of a page: the lines of more cannot be told apart."""
VECTORS_BYTES = 400_000
"""Maximum size of the queries and keys in a page; beyond it there are scores alone."""
STEPS = 255
"""Of the square root of a weight, so that small weights are kept more exactly: the error is at most 0.004."""


def check(words: int) -> None:
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
    check(len(result.words))
    environment = templating.environment()
    environment.loader = ChoiceLoader(
        [PackageLoader("blurb.extensions.lab.attention"), PackageLoader("blurb.extensions.reports.html")]
    )
    style = templating.source(environment, "palette.css", "attention.css")
    script = templating.source(environment, "attention.js", "scores.js")
    special = sorted({model.columns[place] for model in result.models for place in model.special})
    return environment.get_template("attention.html").render(
        result=result,
        names=" and ".join(model.name for model in result.models),
        special=", ".join(special) or "none",
        is_pooling=all(model.is_pooling for model in result.models),
        asked="" if result.asked is None else result.words[result.asked],
        pieces=_marked(result),
        data=Markup(_json(data(result))),
        style=Markup(style),
        script=Markup(script),
        style_hash=templating.policy_hash(style),
        script_hash=templating.policy_hash(script),
    )


def _json(content: object) -> str:
    """JSON in which `</script>` and `<!--` of a word are no markup."""
    text = json.dumps(content, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _marked(result: Attention) -> list[dict[str, Any]]:
    """The text as it was given, the entity marked."""
    first, after = result.entity or (0, 0)
    start, end = (result.places[first][0], result.places[after - 1][1]) if after else (0, 0)
    texts = (result.text[:start], result.text[start:end], result.text[end:])
    return [{"text": text, "marked": place == 1} for place, text in enumerate(texts) if text]


def data(result: Attention) -> dict[str, Any]:
    """What the script reads."""
    room = VECTORS_BYTES // len(result.models)
    return {
        "words": list(result.words),
        "entity": result.entity,
        "asked": result.asked,
        "head": list(result.head),
        "models": [_model(model, result.asked, room) for model in result.models],
    }


def _model(model: ModelWeights, asked: int | None, room: int) -> dict[str, Any]:
    layers, heads, rows, _ = model.matrix.shape
    content: dict[str, Any] = {
        "name": model.name,
        "layers": layers,
        "heads": heads,
        "rows": rows,
        "columns": list(model.columns),
        "before": model.before,
        "size": model.size,
        "pooling": model.is_pooling,
        "weights": stepped(model.matrix),
    }
    if asked is not None:
        content["scores"] = _scores(model, asked, room)
    return content


def _scores(model: ModelWeights, asked: int, room: int) -> dict[str, Any]:
    """Scores of the sub-tokens of a word with all sub-tokens, and the queries and keys as far as there is room."""
    projections = model.projections
    if not isinstance(projections, Projections):
        return {"why": projections}
    mine = [place for place, column in enumerate(model.columns_of_pieces) if column == model.before + asked]
    queries = projections.queries[:, :, mine]  # (layers, heads, pieces of the word, size)
    content: dict[str, Any] = {
        "pieces": list(model.pieces),
        "mine": mine,
        "size": queries.shape[-1],
        **_small("scores", projections.scores[:, :, mine], np.int16),
    }
    if queries.size + projections.keys.size > room:
        content["left_out"] = queries.size + projections.keys.size
        return content
    return {**content, **_small("queries", queries, np.int8), **_small("keys", projections.keys, np.int8)}


def _small(name: str, values: Floats, kind: type[np.signedinteger[Any]]) -> dict[str, Any]:
    """Numbers as whole ones between the bounds of a type, with what a step is, by layer and head."""
    most = np.iinfo(kind).max
    steps = np.abs(values).max(axis=(-2, -1)) / most  # (layers, heads)
    steps[steps == 0] = 1
    whole = np.rint(values / steps[..., None, None]).astype(np.dtype(kind).newbyteorder("<"))
    rounded: Sequence[float] = [float(f"{step:.4g}") for step in steps.reshape(-1)]
    return {name: packed(whole), f"{name}_step": rounded}


def stepped(weights: Floats) -> str:
    """Weights as the page and the hash of the picture have them, in whole steps of their square roots."""
    return packed(np.rint(np.sqrt(weights.clip(0, 1)) * STEPS).astype(np.uint8))


def packed(values: npt.NDArray[Any]) -> str:
    """The bytes of an array, as base64."""
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()
