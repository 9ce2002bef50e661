"""The models that have a name of their own, for `blurb models`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NamedModel:
    """A reference that `blurb run` takes beside folders and Hub ids.

    :param model: its Hub id, or what it is
    :param casing: that blurb states over the tokenizer's files; "" if these are right
    :param needs: what it takes to run it
    """

    name: str
    kind: str
    model: str
    casing: str
    needs: str


def named_models() -> list[NamedModel]:
    """Presets, encoders that start from scratch, baselines."""
    from blurb.models.baselines import BASELINES
    from blurb.models.references import known_casing, presets
    from blurb.models.scratch import PREFIX, SIZES

    found = [NamedModel(name, "preset", model, known_casing(model), "download") for name, model in presets().items()]
    for name, size in SIZES.items():
        what = f"random weights, {size['num_hidden_layers']} layers of {size['hidden_size']}"
        found.append(NamedModel(f"{PREFIX}{name}", "scratch", what, "", "data"))
    found += [NamedModel(f"baseline:{name}", "baseline", one.summary, "", "nothing") for name, one in BASELINES.items()]
    return found
