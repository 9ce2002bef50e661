"""The card of a pretrained encoder: what it read, what was kept out, how far it came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blurb.messages.text import plural


def text(facts: Mapping[str, Any]) -> str:
    """The README of a checkpoint, in Markdown.

    :param facts: the content of `pretraining.json`
    """
    recipe, seen, source, bits = (facts[name] for name in ("recipe", "seen", "text", "bits per byte"))
    start = f"continued from {recipe['start']}" if recipe["start"] else f"`{recipe['size']}`, from random weights"
    kind = "its own" if recipe["start"] else f"{recipe['kind']}, {'cased' if recipe['cased'] else 'lower case'}"
    units = "whole words" if recipe["whole_word"] else "sub-tokens"
    lines = [
        "# An encoder pretrained with blurb",
        "",
        f"{start[0].upper()}{start[1:]}; {facts['parameters']:,} parameters with the head; vocabulary {kind}; masked "
        f"language modelling of {units} at {100 * recipe['mask_rate']:g} %; seed {recipe['seed']}.",
        "",
        f"Text: {source['source']}, {source['words']:,} words{_mixed(source)}. {_left_out(source)}",
        f"Seen: {seen['words']:,} words ({seen['epochs']:g} epochs), {seen['tokens']:,} sub-tokens, "
        f"{plural(seen['updates'], 'update')}, {seen['seconds']:,.0f} seconds, products in {facts['precision']}.",
        "",
        f"Its configuration has a dropout of {recipe['dropout']:g}: that of a fine-tuning by a protocol which leaves "
        "dropout to the checkpoint.",
        "",
        f"Bits per byte of {bits['words']:,} masked words of held-out text: **{bits['model']:.3f}**; by frequencies "
        f"of sub-tokens alone {bits['frequencies']:.3f}, by the sub-token before {bits['pairs']:.3f}.",
        "",
        f"Made by blurb {facts['environment']['blurb']}; `pretraining.json` has everything.",
    ]
    return "\n".join(lines) + "\n"


def _mixed(source: Mapping[str, Any]) -> str:
    sizes = source.get("words of each corpus") or []
    return f" ({' and '.join(f'{size:,}' for size in sizes)}, the smaller repeated)" if len(sizes) > 1 else ""


def _left_out(source: Mapping[str, Any]) -> str:
    names = {"pmid": "by PMID", "text": "by text", "copy": "as copies"}
    parts = [f"{count:,} {names[reason]}" for reason, count in source["left out"].items()]
    against = source.get("compared with") or []
    if not against:
        return "No documents of dev and test were kept out, as no data folder was given."
    kept = f"Kept out: {', '.join(parts)}." if parts else "No document had to be kept out."
    without = ", ".join(source.get("datasets without original text") or ())
    lacks = f" Without {without}, whose text has dummies in the place of entities." if without else ""
    return f"{kept} Compared with dev and test of {', '.join(against)}.{lacks}"
