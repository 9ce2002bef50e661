"""The models that have a name of their own, for `blurb models`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from blurb import learners
from blurb.checkpoints.references import preset_facts
from blurb.checkpoints.scratch import PREFIX, SIZES
from blurb.records import Rule


@dataclass(frozen=True)
class ModelName:
    """A reference that `blurb run` takes beside folders and Hub ids.

    :param name: what MODEL may be
    :param kind: from the Hub, with random weights, or no encoder at all
    :param model: its Hub id, or what it is
    :param casing: casing that blurb states over the checkpoint's files; "" if these are right
    :param needs: what it takes to run it
    :param size: base, large, ... as its makers call it
    :param text: what it was pretrained on
    :param vocabulary: whose vocabulary it has
    :param published: its row in `blurb leaderboard published`
    :param revision: a revision that was seen in a source; nothing is pinned by it
    :param licence: as its page on the Hub or its makers' repository states it; "" if none was seen
    """

    name: str
    kind: Annotated[str, Rule("enum", ("preset", "scratch", "baseline"))]
    model: str
    casing: Annotated[str, Rule("enum", ("", "cased", "uncased"))]
    needs: str
    size: str = ""
    text: str = ""
    vocabulary: str = ""
    published: str = ""
    revision: str = ""
    licence: str = ""


def named_models() -> list[ModelName]:
    """Presets, encoders that start from scratch, baselines."""
    models = [
        ModelName(
            name,
            "preset",
            facts["id"],
            facts.get("casing", ""),
            "download",
            **{key: fact for key, fact in facts.items() if key not in ("id", "casing")},
        )
        for name, facts in preset_facts().items()
    ]
    for name, size in SIZES.items():
        what = f"random weights, {size['num_hidden_layers']} layers of {size['hidden_size']}"
        models.append(ModelName(f"{PREFIX}{name}", "scratch", what, "", "data"))
    models += [
        ModelName(f"{learners.PREFIX}{name}", kind.rows.name, kind.summary, "", "nothing")
        for name, kind in learners.named_kinds().items()
    ]
    return models
