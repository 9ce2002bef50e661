"""A check as one look of a series: reads the state file, judges, and writes the look before anybody is told."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from blurb.messages.errors import SettingsError
from blurb.messages.spelling import opt
from blurb.regression import looks
from blurb.regression.decision import Decision
from blurb.regression.judging import compared_of, decide
from blurb.regression.rules import Rules
from blurb.regression.variances import squares_of
from blurb.results.row_scores import RowScores
from blurb.store.trial import short_weights
from blurb.system import leases


def decide_in_series(candidate: RowScores, baseline: RowScores, rules: Rules, state: Path) -> Decision:
    """Judges a candidate at its turn; the state file is made by the first look.

    A look at which no test decided anything spends nothing, nor does the baseline beside itself. Checks of several
    processes wait for each other.

    :raises SettingsError: if rules and state do not go together; StoreError if the state file was edited or is damaged
    """
    state = Path(os.path.realpath(state))  # to replace a link would leave its file behind, with fewer looks
    _check(state, rules)
    with leases.held(state.with_name(f".{state.name}.lease")):
        series = looks.read(state) if os.path.lexists(state) else looks.begun(rules, baseline)
        agreed = looks.agreed(series, rules, state)
        names = compared_of(baseline, agreed)
        candidate_hash = looks.identity(candidate, agreed.split, names)
        if candidate_hash == looks.identity(baseline, agreed.split, names):  # no checkpoint of the series
            return decide(candidate, baseline, agreed)
        weights = [short_weights(row.weights) for row in (candidate, baseline) if row.weights]
        turn = series.turn(candidate_hash, looks.identity(baseline, agreed.split), state, weights)
        decision = decide(candidate, baseline, agreed, turn)
        if not decision.tested:
            return decision if turn.refused else replace(decision, turn=None)
        if not turn.repeated:
            runs, mine = squares_of(candidate, names, agreed.split), short_weights(candidate.weights)
            looks.write(state, series.with_look(looks.look_of(decision, turn, candidate_hash, mine, runs)))
    return decision


def _check(state: Path, rules: Rules) -> None:
    if not rules.level:
        raise SettingsError(
            "level 0 turns the test off, and a state file divides a level", fix=f"remove {opt('state')}."
        )
    if state.is_dir():
        raise SettingsError("is a folder", where=state, fix=f"give a file to {opt('state')}.")
    if not state.parent.is_dir():
        raise SettingsError(
            "its folder does not exist", where=state, fix=f"make it, or give another path to {opt('state')}."
        )
