"""Which settings concern a trial: only these are part of its identity."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from blurb import formulations
from blurb.heads import heads, poolings
from blurb.heads._spec import canonical, parse
from blurb.learners import LearnerKind
from blurb.protocols.settings import DEFAULTS, FIELDS


def relevant(formulation: formulations.Formulation, kind: LearnerKind) -> dict[str, Any]:
    """The settings that can change the result of a trial; only these are part of its identity."""
    settings = formulation.settings
    values = asdict(settings)
    foreign = {*formulations.specific_settings()} - {*formulation.own_settings}
    foreign |= {name for name, facts in FIELDS.items() if facts.later and values[name] == DEFAULTS[name]}
    foreign |= {*kind.unused(formulation)}
    if not settings.max_eval:
        foreign.add("eval_seed")
    if formulation.pooled:
        foreign.add("word_pooling")
    own = {name: value for name, value in values.items() if name in kind.settings and name not in foreign}
    if "head" in own:
        own["head"] = canonical(heads, settings.head)
    if "pooling" in own and (not formulation.pooled or parse(heads, settings.head)[0].reads_sequence):
        del own["pooling"]
    elif "pooling" in own:
        own["pooling"] = canonical(poolings, settings.pooling)
    return own
