"""The state file of a series of looks: which candidates were judged against a baseline, in which order, at what level.

    {"version": 1,
     "plan": {"level": 0.05, "looks": 40, "split": "dev", "sd": null},
     "baseline": {"name": "published quick", "hash": "..."},
     "looks": [{"candidate": "run@1000", "hash": "...", "weights": "74c3f9df99ef", "level": 0.00125,
                "outcome": "pass", "at": "2026-11-25T...", "runs": {"gad": {"total": 2.0, "degrees": 2}}}],
     "spent": 0.00125,
     "digest": "..."}

A candidate is what was tested: the scores of its runs, by seed, on the datasets that were asked for, and its weights.
Its name is no part of that. The same candidate has its number and level for ever, and is judged by the variance that
was known at that look; more seeds or other datasets are another look, since they are another test. The digest is of all
the rest: a file that was edited, cut or merged by hand does not fit it. It is no signature, and stops nobody who wants
to cheat.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from blurb.messages import SettingsError, StoreError, opt
from blurb.regression.decision import Decision, Turn
from blurb.regression.judging import compared_of, decide_check
from blurb.regression.rules import Rules
from blurb.regression.variances import squares_of
from blurb.results.row import Row
from blurb.statistics.pooled import Squares
from blurb.statistics.welch import level_of_look, level_spent
from blurb.store.trial import from_json, short_weights
from blurb.system import leases
from blurb.system.files import read_json, text_hash, write_json
from blurb.tasks import Split

VERSION = 1
DIGITS = 4
"""Digits of the scores of a `results.csv`, so that a row has the same hash from a table and from a store."""
NEW_FILE = (
    "begin a new file, whose looks have a level of their own, and say so wherever you report it"
)


@dataclass(frozen=True)
class LookDesign:
    """The terms that all looks of a series share."""

    level: float
    looks: int | None
    split: str
    sd: float | None


@dataclass(frozen=True)
class Look:
    """A candidate that was judged.

    :param candidate: name of its row
    :param hash: of what was tested (`identity`)
    :param weights: of the checkpoint, shortened; "" if unknown
    :param outcome: in words
    :param at: time, ISO 8601
    :param runs: what its runs say of their variance, by dataset
    """

    candidate: str
    hash: str
    weights: str
    level: float
    outcome: str
    at: str
    runs: Mapping[str, Squares]


@dataclass(frozen=True)
class LookSeries:
    """A state file.

    :param baseline: name and hash of the row that all looks share
    """

    plan: LookDesign
    baseline: tuple[str, str]
    looks: tuple[Look, ...] = ()

    def turn(self, candidate: str, baseline: str, where: Path, weights: Sequence[str] = ()) -> Turn:
        """The turn of a candidate, by its hash and that of the baseline that it is compared with.

        :param weights: of both; their runs are in the variance already and must not count twice
        """
        earlier = [look.hash for look in self.looks]
        repeated = candidate in earlier
        before = self.looks[: earlier.index(candidate)] if repeated else self.looks
        number, plan = len(before) + 1, self.plan
        level = level_of_look(number, plan.level, plan.looks)
        why = ""
        if baseline != self.baseline[1]:
            why = f"the baseline is not the one of {where} ({self.baseline[0]}), or it has other scores now"
        elif not level:
            why = f"all {plan.looks} looks of {where} are spent; {NEW_FILE}"
        spent = level_spent(max(number, len(self.looks)), plan.level, plan.looks)
        series = {f"{look.candidate} (look {place})": look for place, look in enumerate(before, 1)}
        return Turn(
            number,
            plan.looks,
            level,
            plan.level,
            spent,
            repeated,
            _one_a_checkpoint(series, weights),
            why,
            str(where),
        )


def _one_a_checkpoint(
    looks: Mapping[str, Look], known: Sequence[str]
) -> dict[str, dict[str, Squares]]:
    """Variance estimates, one a checkpoint: of several looks at one, that with most runs.

    :param known: weights to leave out
    """
    # Checkpoint and dataset -> degrees and name of the look.
    most: dict[tuple[str, str], tuple[int, str]] = {}
    for name, look in looks.items():
        for dataset, squares in look.runs.items():
            key = (look.weights or name, dataset)
            most[key] = max(most.get(key, (0, "")), (squares.degrees, name))
    return {
        name: {
            dataset: squares
            for dataset, squares in look.runs.items()
            if most[look.weights or name, dataset][1] == name and look.weights not in known
        }
        for name, look in looks.items()
    }


def identity(row: Row, split: Split, names: Sequence[str] | None = None) -> str:
    """The hash of what a row brings to a test: its weights, and its scores by seed.

    :param names: datasets; None for all of the row
    """
    scores = {
        name: {str(seed): f"{score:.{DIGITS}f}" for seed, score in dataset.scores(split).items()}
        or {on: f"{mean:.{DIGITS}f}" for on, mean in dataset.means.items()}
        for name, dataset in row.datasets.items()
        if names is None or name in names
    }
    return _digest_of(
        [short_weights(row.weights), {name: known for name, known in scores.items() if known}]
    )


def start_series(rules: Rules, baseline: Row) -> LookSeries:
    """A series without looks."""
    return LookSeries(
        LookDesign(rules.level, rules.looks, rules.split, rules.sd),
        (baseline.name, identity(baseline, rules.split)),
    )


def merge_rules(series: LookSeries, rules: Rules, where: Path) -> Rules:
    """The rules, completed by those of the series; SettingsError if they contradict it."""
    plan = series.plan
    if rules.looks is not None and rules.looks < len(series.looks):
        raise SettingsError(
            f"looks must be at least the {len(series.looks)} that are spent (got {rules.looks})",
            where=where,
            fix=f"leave it out, or {NEW_FILE}.",
        )
    for name in ("level", "looks", "split", "sd"):
        mine, theirs = getattr(plan, name), getattr(rules, name)
        unsaid = name in ("looks", "sd") and theirs is None
        if mine != theirs and not unsaid:
            raise SettingsError(
                f"{name} is {_show_value(mine)} in this series and {_show_value(theirs)} in the rules of this check, "
                "and stays the same for all looks",
                where=where,
                fix=f"give the former, or {NEW_FILE}.",
            )
    return replace(rules, looks=plan.looks, sd=plan.sd)


def _show_value(value: object) -> str:
    return "not stated" if value is None else str(value)


def write(path: Path, series: LookSeries) -> None:
    """Writes a state file as a whole."""
    looks = [asdict(look) for look in series.looks]
    plan, name_and_hash = series.plan, dict(zip(("name", "hash"), series.baseline, strict=True))
    content = {
        "version": VERSION,
        "plan": asdict(plan),
        "baseline": name_and_hash,
        "looks": looks,
        "spent": level_spent(len(looks), plan.level, plan.looks),
    }
    write_json(path, {**content, "digest": _digest_of(content)})


def read(path: Path) -> LookSeries:
    """Reads a state file; StoreError, with its name, if it is no such file, or was changed."""
    content = read_json(path)
    if "plan" not in content or "digest" not in content:
        raise StoreError(
            "is no state file of blurb check",
            where=path,
            fix=f"give another name to {opt('state')}.",
        )
    if content.get("version") != VERSION:
        raise StoreError(
            f"has version {content.get('version')!r:.60}, only {VERSION} is known here",
            where=path,
            fix="update blurb.",
        )
    if content.pop("digest") != _digest_of(content):
        raise StoreError(
            "was edited or is damaged: its digest does not fit its content",
            where=path,
            fix=f"put back the file as the last check wrote it, or {NEW_FILE}.",
        )
    try:
        looks = tuple(
            replace(
                look,
                runs={
                    name: from_json(Squares, squares, path) for name, squares in look.runs.items()
                },
            )
            for look in (from_json(Look, each, path) for each in content["looks"])
        )
        baseline = content["baseline"]
        return LookSeries(
            from_json(LookDesign, content["plan"], path),
            (baseline["name"], baseline["hash"]),
            looks,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreError(
            f"is damaged ({type(error).__name__}: {error})", where=path, fix=f"{NEW_FILE}."
        ) from None


def _digest_of(content: object) -> str:
    return text_hash(json.dumps(content, sort_keys=True, separators=(",", ":")))


def decide_in_series(candidate: Row, baseline: Row, rules: Rules, state: Path) -> Decision:
    """Judges a candidate at its turn; the state file is made by the first look.

    A look at which no test decided anything spends nothing, nor does the baseline beside itself. Checks of several
    processes wait for each other.

    :raises SettingsError: if rules and state do not go together; StoreError if the state file was edited or is damaged
    """
    # Replacing a link would leave its file behind, with fewer looks.
    state = Path(os.path.realpath(state))
    _check_state(state, rules)
    with leases.held(state.with_name(f".{state.name}.lease")):
        series = read(state) if os.path.lexists(state) else start_series(rules, baseline)
        merged = merge_rules(series, rules, state)
        names = compared_of(baseline, merged)
        candidate_hash = identity(candidate, merged.split, names)
        if candidate_hash == identity(baseline, merged.split, names):  # no checkpoint of the series
            return decide_check(candidate, baseline, merged)
        weights = [short_weights(row.weights) for row in (candidate, baseline) if row.weights]
        turn = series.turn(candidate_hash, identity(baseline, merged.split), state, weights)
        decision = decide_check(candidate, baseline, merged, turn)
        if not decision.tested:
            return decision if turn.refused else replace(decision, turn=None)
        if not turn.repeated:
            at, mine = datetime.now(UTC).isoformat("T", "seconds"), short_weights(candidate.weights)
            look = Look(
                decision.candidate,
                candidate_hash,
                mine,
                turn.level,
                decision.outcome.words,
                at,
                squares_of(candidate, names, merged.split),
            )
            write(state, replace(series, looks=(*series.looks, look)))
    return decision


def _check_state(state: Path, rules: Rules) -> None:
    if not rules.level:
        raise SettingsError(
            "level 0 turns the test off, and a state file divides a level",
            fix=f"remove {opt('state')}.",
        )
    if state.is_dir():
        raise SettingsError("is a folder", where=state, fix=f"give a file to {opt('state')}.")
    if not state.parent.is_dir():
        raise SettingsError(
            "its folder does not exist",
            where=state,
            fix=f"make it, or give another path to {opt('state')}.",
        )
