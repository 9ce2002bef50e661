"""The weights of attention as a page and a picture (docs/extensions/attention.md): models and a text in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from blurb.extensions.lab.attention import weights
from blurb.extensions.lab.attention.result import Attention, ModelWeights
from blurb.inputs.tokenizer import Subtokens
from blurb.messages import SettingsError

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
    projections: weights.Projections | str = NO_QUERY
    notes: list[str] = []
    is_pooling = not hasattr(model.encoder, "set_attn_implementation")
    if is_pooling:
        matrix = weights.join_keys(weights.pooling_weights(model, batch), columns, size)
    else:
        pairs, projections, notes = weights.encoder_weights(model, batch)
        matrix = weights.join(pairs, columns, size)
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
