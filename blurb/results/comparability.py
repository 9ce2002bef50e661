"""Comparability: one place says whether two rows may be ranked, checked or compared with each other.

A use asks for more the more it concludes. To *rank* rows says that one is better, and to *check* a row that it became
worse: both need rows that were made alike. To *compare* two rows shows their difference, whatever made them; only the
verdict needs numbers of one kind. What is unknown is not equal: a published row, or a table made by hand, may not say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from blurb import learners
from blurb.grouping import by_key
from blurb.results.across import ACROSS
from blurb.results.score import DatasetScores
from blurb.store.trial import short_weights
from blurb.tasks import Split

if TYPE_CHECKING:
    from blurb.results.row import Row

SHORT = 12
"""Digits of a hash in the tables."""


class Use(Enum):
    """The purpose of bringing two rows together."""

    RANK = "rank"
    CHECK = "check"
    COMPARE = "compare"


class Reason(Enum):
    """Why two rows, or their numbers of a dataset, do not meet; the value is the beginning of the message."""

    LEARNER = "different learners"
    RECIPE = "different recipes"
    PROTOCOL = "different protocols"
    OVERRIDES = "different overrides"
    PLUGINS = "different plug-in code"
    SPLIT = "different splits"
    DATA = "different data"
    METRICS = "different versions of the metrics"
    EXAMPLES = "different examples were scored"
    UNKNOWN = "unknown"


NOUNS = {
    Reason.LEARNER: "learner",
    Reason.RECIPE: "recipe",
    Reason.PROTOCOL: "protocol",
    Reason.OVERRIDES: "overrides",
    Reason.PLUGINS: "plug-in code",
    Reason.SPLIT: "split",
    Reason.DATA: "data",
    Reason.METRICS: "version of the metrics",
    Reason.EXAMPLES: "number of scored examples",
}


@dataclass(frozen=True)
class Obstacle:
    """One thing that two rows do not share.

    :param of: what it is
    :param sides: its value in the first row and in the other, None where it is unknown
    :param words: the message, without what is unknown
    """

    of: Reason
    sides: tuple[str | None, str | None]
    words: str = ""

    @property
    def reason(self) -> Reason:
        """`UNKNOWN` if a side does not say, else what differs."""
        return Reason.UNKNOWN if None in self.sides else self.of

    @property
    def noun(self) -> str:
        """The difference, or the unknown value."""
        return NOUNS[self.of]

    def text(self, first: str = "the first row", other: str = "the other row") -> str:
        """As a message.

        :param first: what to call the first row, if it does not say
        """
        if self.reason is not Reason.UNKNOWN:
            return (
                self.words
                or f"{self.of.value}: {self.sides[0] or 'none'} / {self.sides[1] or 'none'}"
            )
        where = (
            "both rows" if self.sides == (None, None) else first if self.sides[0] is None else other
        )
        return f"the {self.noun} of {where} is unknown"

    @property
    def hint(self) -> str:
        """The option that passes over it in a check; "" if none may."""
        if self.reason is Reason.LEARNER:
            mine, theirs = self.sides
            bounded = theirs and learners.row_kind(theirs).lower_bound
            least = ", and set min_score in the rules for a minimum" if bounded else ""
            return f"; name the row of another {mine} as baseline{least}"
        ways = (self.of.name.lower(), "unknown" if self.reason is Reason.UNKNOWN else "")
        way = next((way for way in ways if way in ACROSS), "")
        return f"; --across {way} judges all the same" if way else ""

    @property
    def both_sides(self) -> str:
        """Both sides, for a remark: `protocol: standard / quick@2`."""
        first, other = ("unknown" if side is None else side or "none" for side in self.sides)
        return f"{self.noun}: {first} / {other}"


def find_obstacles(
    first: Row, other: Row, use: Use, task: str = "", split: Split = "test"
) -> list[Obstacle]:
    """All that keeps two rows apart, in a fixed order; of a dataset too, if one is named."""
    reasons = [_other_learner(first, other, use)]
    if use is not Use.COMPARE:
        reasons += [_row_fact(of, first, other) for of in ROW_FACTS]
    if task:
        sides = tuple(row.datasets.get(task, DatasetScores(task)) for row in (first, other))
        if use is not Use.COMPARE:
            reasons.append(_why_unequal(Reason.PLUGINS, sides[0].plugins, sides[1].plugins))
        if (
            use is not Use.RANK
            and split != "test"
            and any(each.means and not each.runs for each in sides)
        ):
            reasons.append(
                Obstacle(
                    Reason.SPLIT,
                    ("dev", "test"),
                    f"{Reason.SPLIT.value}: numbers without runs are from test",
                )
            )
        reasons += [_other_data(*sides), _other_metrics(*sides), _other_examples(*sides)]
    return [each for each in reasons if each is not None]


def is_passed(obstacle: Obstacle, across: Collection[str]) -> bool:
    """Whether an obstacle is one that the user passes over (`ACROSS`)."""
    return obstacle.of.name.lower() in across or (
        obstacle.reason is Reason.UNKNOWN and "unknown" in across
    )


def is_latest(row: Row) -> bool:
    """Whether it is of a baseline with its own latest recipe: the numbers of two baselines count by themselves."""
    own = (
        learners.named_kinds().get(learners.name_in(row.weights))
        if learners.is_named(row.weights)
        else None
    )
    return own is not None and row.recipe == str(own.recipe)


ROW_FACTS: dict[Reason, Callable[[Row], str | None]] = {
    Reason.RECIPE: lambda row: row.recipe or None,
    Reason.PROTOCOL: lambda row: row.configuration.protocol_hash[:SHORT] or None,
    Reason.OVERRIDES: lambda row: row.configuration.overrides_text,
}
"""Facts of a row as a whole, which no published one states, in the order of the messages. That of a protocol is its
hash, whatever the file is called; of a shipped one it has the version."""


def _row_fact(of: Reason, first: Row, other: Row) -> Obstacle | None:
    if of is Reason.RECIPE and is_latest(first) and is_latest(other):
        return None
    one, two = (None if row.published else ROW_FACTS[of](row) for row in (first, other))
    obstacle = _why_unequal(of, one, two)
    if obstacle is None or of is not Reason.PROTOCOL or obstacle.reason is Reason.UNKNOWN:
        return obstacle
    names = first.configuration.protocol, other.configuration.protocol
    if names[0] == names[1]:  # two files of one name and version, as a table could have them
        names = tuple(f"{name} {side}" for name, side in zip(names, obstacle.sides, strict=True))  # type: ignore[assignment]
    return Obstacle(of, names)


def _why_unequal(
    of: Reason, first: str | None, other: str | None, words: str = ""
) -> Obstacle | None:
    return None if first is not None and first == other else Obstacle(of, (first, other), words)


def _other_learner(first: Row, other: Row, use: Use) -> Obstacle | None:
    alike = first.kind.measures_like(other.kind)
    if first.learner == other.learner or (use is Use.COMPARE and alike):
        return None
    apart = sorted((first.kind, other.kind), key=lambda kind: -kind.place)
    words = (
        ""
        if alike
        else f"{Reason.LEARNER.value}: {apart[0].noun} is not comparable with {apart[1].noun}"
    )
    return Obstacle(Reason.LEARNER, (first.learner, other.learner), words)


def _other_data(first: DatasetScores, other: DatasetScores) -> Obstacle | None:
    hashes = [
        frozenset(each[:SHORT] for each in side.known("data_hash")) for side in (first, other)
    ]
    if len(hashes[0] | hashes[1]) > 1:  # also seeds of one row on several data
        listed_hashes = [" and ".join(sorted(each)) or "unknown" for each in hashes]
        return Obstacle(Reason.DATA, (listed_hashes[0], listed_hashes[1]), Reason.DATA.value)
    if all(hashes) or all(each.known("verdict") == {"identical"} for each in (first, other)):
        return None
    return Obstacle(Reason.DATA, tuple("same" if each else None for each in hashes))  # type: ignore[arg-type]


def _other_metrics(first: DatasetScores, other: DatasetScores) -> Obstacle | None:
    one, two = ("/".join(sorted(side.known("metrics_version"))) or None for side in (first, other))
    return _why_unequal(
        Reason.METRICS, one, two, f"{Reason.METRICS.value}: run blurb rescore on both"
    )


def _other_examples(first: DatasetScores, other: DatasetScores) -> Obstacle | None:
    most = first.limit("max_eval"), other.limit("max_eval")
    words = [None if count is None else f"at most {count:,}" if count else "all" for count in most]
    if most[0] != most[1] or None in most:
        shown = ["unknown" if word is None else word for word in words]
        text = f"{Reason.EXAMPLES.value}: {shown[0]} in one row, {shown[1]} in the other"
        return Obstacle(Reason.EXAMPLES, (words[0], words[1]), text)
    if not any(most):
        return None
    one, two = (
        None if seed is None else str(seed)
        for seed in (first.limit("eval_seed"), other.limit("eval_seed"))
    )
    text = f"{Reason.EXAMPLES.value}: they were sampled with different seeds (eval_seed)"
    return _why_unequal(Reason.EXAMPLES, one, two, text)


def remarks(first: Row, other: Row) -> list[str]:
    """All that differs between two rows, and what is not known of both: shown above a comparison, never a refusal."""
    apart = find_obstacles(first, other, Use.CHECK)
    weights = short_weights(first.weights), short_weights(other.weights)
    texts = []
    if (
        weights[0]
        and weights[0] == weights[1]
        and any(obstacle.of is Reason.PROTOCOL for obstacle in apart)
    ):
        texts.append("the same encoder under two protocols")
    texts += [obstacle.both_sides for obstacle in apart]
    precisions = first.configuration.precision, other.configuration.precision
    if all(precisions) and precisions[0] != precisions[1]:
        texts.append(f"precision: {precisions[0]} / {precisions[1]}")
    datasets = by_key(
        ((obstacle.of, obstacle.reason is Reason.UNKNOWN), name)
        for name in first.datasets
        if name in other.datasets
        for obstacle in find_obstacles(first, other, Use.CHECK, name)[len(apart) :]
    )
    for (of, unknown), names in datasets.items():
        texts.append(
            f"{NOUNS[of]}: {'unknown for' if unknown else 'not the same on'} {listed(names)}"
        )
    return texts


ONE_SEED = "one seed"
SEVERAL = 3
"""Maximum number of datasets to list by name."""


def note(
    words: str,
    seeds: Mapping[str, int],
    most_train: Mapping[str, int],
    most_eval: Mapping[str, int],
) -> str:
    """The note of a row: the note of its protocol, then the seeds and limits of its trials.

    :param words: note in the protocol's file
    :param seeds: dataset -> planned runs; empty for a baseline
    :param most_train: dataset -> maximum number of training examples, 0 for all
    :param most_eval: dataset -> maximum number of dev and test examples, 0 for all
    """
    parts = (
        words,
        ONE_SEED if set(seeds.values()) == {1} else "",
        _limited_to("training examples", most_train),
        _limited_to("dev and test examples", most_eval),
    )
    return "; ".join(filter(None, parts))


def _limited_to(what: str, most: Mapping[str, int]) -> str:
    """`at most 2,000 training examples`, with the names of the datasets if only some have a limit."""
    limited = {name: count for name, count in most.items() if count}
    if not limited:
        return ""
    counts = " or ".join(f"{count:,}" for count in sorted(set(limited.values())))
    return f"at most {counts} {what}" + (
        "" if len(limited) == len(most) else f" ({listed(limited)})"
    )


def listed(names: Collection[str]) -> str:
    """The names of a few datasets, the number of many."""
    return ", ".join(names) if len(names) <= SEVERAL else f"{len(names)} datasets"
