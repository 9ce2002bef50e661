"""Whether a candidate passes: a pure function of two rows and the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from blurb.leaderboard.comparison import SCORE, Line, flips, judge
from blurb.leaderboard.gate.rules import Limit, Rules
from blurb.leaderboard.score import weights
from blurb.leaderboard.sides import Side
from blurb.leaderboard.significance import Comparison


class Outcome(IntEnum):
    """The exit code of the check."""

    PASS = 0
    REGRESSION = 1
    CANNOT_JUDGE = 2

    @property
    def words(self) -> str:
        """As the renderers print it."""
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True)
class Finding:
    """What was decided of one dataset, or of the score.

    :param reasons: why it is not a pass
    :param worse: units with more mistakes than before, and how many more a run; of regressions with predictions
    :param better: likewise with fewer
    """

    line: Line
    outcome: Outcome
    reasons: tuple[str, ...] = ()
    worse: Sequence[tuple[str, float]] = ()
    better: Sequence[tuple[str, float]] = ()

    @property
    def name(self) -> str:
        """The dataset, or `score`."""
        return self.line.name


@dataclass(frozen=True)
class Decision:
    """The answer of the check: the findings, the score first."""

    candidate: str
    baseline: str
    rules: Rules
    findings: tuple[Finding, ...]

    @property
    def outcome(self) -> Outcome:
        """A regression anywhere is one; a pass needs that everything could be judged, and that there was something."""
        found = {finding.outcome for finding in self.findings}
        if Outcome.REGRESSION in found:
            return Outcome.REGRESSION
        return Outcome.PASS if found == {Outcome.PASS} else Outcome.CANNOT_JUDGE


def decide(candidate: Side, baseline: Side, rules: Rules) -> Decision:
    """Judges every required dataset, and the score where both have it.

    A dataset is a regression if its mean fell by more than `max_drop`, is below `min_score`, or fell by more than runs
    of one encoder do, at the level of the rules, corrected over the datasets (Holm; the test units are the same for
    both sides, so they are no source of chance under that null). It cannot be judged if it is missing or incomplete, if
    data or metrics are others, or if no variance between runs is known and no `max_drop` is set.
    """
    lines = {line.name: line for line in judge(baseline, candidate, rules.split, with_units=False)}
    required = rules.required if rules.required is not None else tuple(baseline.means)
    findings = [
        _finding(lines[name], candidate, baseline, rules, rules.limit(name)) if name in lines else _absent(name)
        for name in dict.fromkeys(required)
    ]
    if SCORE in lines and set(weights()) <= set(required):
        findings.insert(0, _finding(lines[SCORE], candidate, baseline, rules, rules.limit(SCORE)))
    elif rules.overall != Limit():
        findings.insert(0, _absent(SCORE, "the score needs all thirteen datasets on both sides"))
    return Decision(candidate.name, baseline.name, rules, tuple(findings))


def _absent(name: str, reason: str = "not there on either side") -> Finding:
    return Finding(Line(name, None, None, (0, 0), Comparison(None)), Outcome.CANNOT_JUDGE, (reason,))


def _finding(line: Line, candidate: Side, baseline: Side, rules: Rules, limit: Limit) -> Finding:
    if line.before is None or line.after is None:
        side = "the candidate" if line.after is None else "the baseline"
        return Finding(line, Outcome.CANNOT_JUDGE, (f"{side} does not have it",))
    unfit = _unfit(line, candidate, baseline)
    if unfit:
        return Finding(line, Outcome.CANNOT_JUDGE, (unfit,))
    drop = line.before - line.after
    broken = []
    if limit.min_score is not None and line.after < limit.min_score:
        broken.append(f"{line.after:.2f} is below the minimum of {limit.min_score:g}")
    if limit.max_drop is not None and drop > limit.max_drop:
        broken.append(f"fell by {drop:.2f} points, more than {limit.max_drop:g}")
    if rules.level and line.p_drop is not None and line.p_drop < rules.level:
        broken.append(f"fell by {drop:.2f} points, more than runs of one encoder do (p {line.p_drop:.3f})")
    if broken:
        worse, better = flips(baseline, candidate, line.name, rules.split)
        return Finding(line, Outcome.REGRESSION, tuple(broken), worse, better)
    if limit.max_drop is None and (line.p_drop is None or not rules.level) and not _same(line):
        why = line.reason or "the test is turned off"
        return Finding(line, Outcome.CANNOT_JUDGE, (f"{why}, and no max_drop is set",))
    return Finding(line, Outcome.PASS)


def _same(line: Line) -> bool:
    """Several runs on each side and all of one score: nothing fell."""
    return min(line.runs) > 1 and line.comparison.error == 0 and line.difference is not None and line.difference >= 0


def _unfit(line: Line, candidate: Side, baseline: Side) -> str:
    """Why no limit can be applied either."""
    if line.name == SCORE:
        return line.reason if line.reason.endswith(("other data", "blurb rescore")) else ""
    if line.reason.startswith("other "):
        return line.reason
    for side, what in ((candidate, "the candidate"), (baseline, "the baseline")):
        missing = sorted(set(side.planned.get(line.name, ())) - set(side.scores.get(line.name, {})))
        if missing:
            return f"{what} lacks the seeds {', '.join(map(str, missing))}"
    return ""
