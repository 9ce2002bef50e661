"""Which settings concern a trial: only these are part of its identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from blurb import formulations
from blurb.heads import heads, poolings
from blurb.heads._spec import canonical, parse
from blurb.protocols import protocol
from blurb.protocols import settings as settings_
from blurb.protocols.settings import BIGRAM_FIELDS, FIELDS, FROM_NOTHING, PROBE_FIELDS
from blurb.runs.spec import BIGRAMS, PROBE

_EXAMPLES = ("max_train", "max_eval", "eval_seed", "document_unit")
_NETWORK = tuple(name for name in FIELDS if name not in ("ngrams", "window"))
BASELINE_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "baseline": _EXAMPLES,
    BIGRAMS: (*_EXAMPLES, "head", "tagging", "relation_input", *BIGRAM_FIELDS),
    **dict.fromkeys(FROM_NOTHING, _NETWORK),
}
"""The settings that can change the answers of a baseline."""


def relevant(formulation: formulations.Formulation, learner: str) -> dict[str, Any]:
    """The settings that can change the result of a trial; only these are part of its identity.

    :param learner: a key of `blurb.runs.spec.RECIPES`
    """
    settings = formulation.settings
    values, defaults = asdict(settings), protocol.defaults()
    foreign = {*formulations.specific_settings()} - {*formulation.own_settings}
    foreign |= {name for name in settings_.LATER if values[name] == defaults[name]}
    if not settings.max_eval:
        foreign.add("eval_seed")
    if learner == "baseline":
        return {name: values[name] for name in BASELINE_SETTINGS[learner] if name not in foreign}
    values["head"] = canonical(heads, settings.head)
    values["pooling"] = canonical(poolings, settings.pooling)
    if formulation.pooled:
        foreign.add("word_pooling")
    if learner == BIGRAMS:
        foreign |= {"ngrams", "min_count"} if formulation.kind == "tokens" else {"head", "window"}
        foreign |= {"min_count"} if formulation.has_pair else set()
        return {name: values[name] for name in BASELINE_SETTINGS[learner] if name not in foreign}
    foreign |= {*BIGRAM_FIELDS} - ({"min_count"} if learner in FROM_NOTHING else set())
    if learner == PROBE:
        return {name: values[name] for name in PROBE_FIELDS if name not in foreign}
    if not formulation.pooled or parse(heads, settings.head)[0].reads_sequence:
        foreign.add("pooling")
    return {name: value for name, value in values.items() if name not in foreign}
