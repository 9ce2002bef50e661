"""The card of a pretrained encoder: what it read, what was kept out, how far it came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blurb.extensions.reports.html import templating
from blurb.messages.text import plural


def card(facts: Mapping[str, Any]) -> str:
    """The README of a checkpoint, in Markdown.

    :param facts: the content of `pretraining.json`
    """
    text = facts["text"]
    template = templating.environment(__package__, escape=False).get_template("card.md.jinja")
    return (
        template.render(
            plural=plural,
            facts=facts,
            recipe=facts["recipe"],
            seen=facts["seen"],
            text=text,
            bits=facts["bits per byte"],
            sizes=text.get("words of each corpus") or (),
            against=text.get("compared with") or (),
            without=text.get("datasets without original text") or (),
        )
        + "\n"
    )
