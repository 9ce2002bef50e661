"""Which rows share a ranking: the groups within which there are ranks, a best figure and bold print.

Rows of one group were made alike: by learners of one kind, their recipe, a protocol and overrides. Within a group a
column is ranked among figures on the same data, scored alike (`blurb.results.comparability`). The published rows are by
other code, on data of theirs; the protocols that follow a paper share their ranking, at the defaults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from blurb import learners
from blurb.grouping import by_key
from blurb.messages import make_distinct
from blurb.protocols import protocol
from blurb.results.comparability import SHORT, is_latest
from blurb.results.row import Row
from blurb.results.score import DatasetScores, mean_weights

OF_PAPERS = ("standard", "paper", "linkbert")
"""Protocols of which the rows may stand beside published ones."""
DIFFERENCES = {
    "data": "other data",
    "metrics": "another version of the metrics",
    "examples": "another part of the examples",
    "plugins": "other plug-ins",
}
"""Field of `State` -> what is said of rows that are ranked apart from the others of their group."""
UNREAD, TOLD, UNRANKED = "{} of the answers could not be read", 0.01, 0.2
"""What is said of a share of answers of a language model, from which share on, and from which its row has no rank."""
THEIRS = "Published rows: other code, data of theirs"


class State(NamedTuple):
    """The evidence behind a figure of a dataset.

    :param why_not: why it has no rank, "" if it has one
    """

    data: str = ""
    metrics: str = ""
    examples: str = ""
    plugins: str = ""
    released: bool = False
    why_not: str = ""


@dataclass(frozen=True)
class Standing:
    """Where a row may be ranked.

    :param key: equal for rows of one group
    :param title: what to call the group; "" for that of the published rows
    :param place: of the group among the others
    :param states: dataset -> what its figure rests on; None for published rows, whose data is theirs
    :param why_not: why the row has no rank at all
    :param mark: stands before its ranks; rows with a mark have a board of their own on the page
    :param claimed: the figures are what somebody says, and were not recomputed
    :param remark: on a rank that the user asked for
    """

    key: tuple[str, ...] = ()
    title: str = ""
    place: int = 0
    states: Mapping[str, State] | None = None
    why_not: str = ""
    mark: str = ""
    claimed: bool = False
    remark: str = ""

    def state(self, column: str) -> tuple[State, ...]:
        """The evidence behind a column: a state for each of its datasets."""
        return tuple((self.states or {}).get(name, State()) for name in datasets_of(column))

    def unranked(self, column: str) -> str:
        """Why the row has no rank in a column; "" if it has one."""
        return self.why_not or next(
            (state.why_not for state in self.state(column) if state.why_not), ""
        )


class RankingPart(NamedTuple):
    """Rows that are ranked together.

    :param places: the places of these rows among the given ones
    :param unranked: those of rows of the same group that have no rank
    """

    title: str
    places: list[int]
    unranked: list[int]


def datasets_of(column: str) -> tuple[str, ...]:
    """The datasets of a column: of a mean, or the one itself."""
    return tuple(mean_weights().get(column, (column,)))


def standing(row: Row, claimed: bool = False, together: bool = False) -> Standing:
    """The standing of a row.

    :param claimed: whether somebody says so, and it was not recomputed
    :param together: whether somebody asked to rank it with published rows, from which its kind is apart
    """
    kind = row.kind
    if row.published:
        return Standing(("published", str(learners.DEFAULT.recipe)), mark=kind.mark)
    configuration = row.configuration
    plain = configuration.protocol.partition("@")[0]
    states = {name: _state_of_dataset(row, name, one) for name, one in row.datasets.items()}
    why = (
        "the recipe or the protocol is not known"
        if not (row.recipe and configuration.protocol_hash)
        else ""
    )
    if claimed:
        why = "its figures were not recomputed"
    if plain in protocol.without_rank() and not configuration.from_file:
        why = f"rows of {plain} have no rank"
    recipe = "latest" if is_latest(row) else row.recipe
    key = (
        configuration.suite,
        row.learner,
        recipe,
        configuration.protocol_hash[:SHORT],
        configuration.overrides_text,
    )
    standing = Standing(key, configuration.text, kind.place, states, why, kind.mark, claimed)
    if together and kind.joins:
        standing = replace(standing, mark="", remark=f"{kind.title}, ranked here as you asked")
        if configuration.suite == "blurb":
            return replace(
                standing, key=("published", str(learners.DEFAULT.recipe)), title="", place=0
            )
    if kind.title:
        usual = configuration.text in ("", kind.name)
        return replace(
            standing, title=kind.title if usual else f"{kind.title}, {configuration.text}"
        )
    if (
        kind.beside_papers
        and plain in OF_PAPERS
        and configuration.protocol_hash[:SHORT] == _hash_of_shipped(plain)[:SHORT]
        and not (row.capped or any(row.limits("max_train").values()))
        and not (
            configuration.from_file or configuration.overrides or configuration.suite != "blurb"
        )
    ):
        return replace(standing, key=("published", row.recipe), title="", place=0)
    return standing


@cache
def _hash_of_shipped(name: str) -> str:
    """The hash of a protocol that comes with blurb."""
    return protocol.load_protocol_file(name).hash


def _state_of_dataset(row: Row, name: str, dataset: DatasetScores) -> State:
    data, metrics = dataset.known("data_hash"), dataset.known("metrics_version")
    most, seed, code = dataset.limit("max_eval"), dataset.limit("eval_seed"), dataset.plugins
    why = ""
    if dataset.finished < dataset.planned:
        why = f"{dataset.finished} of {dataset.planned} seeds of {name}"
    elif row.unread.get(name, 0.0) >= UNRANKED:
        why = f"{name}: {UNREAD.format(f'{row.unread[name]:.0%}')}"
    elif len(data) != 1:
        why = f"the data of {name} is {'not known' if not data else 'not the same for all seeds'}"
    elif len(metrics) != 1 or most is None or code is None or (most and seed is None):
        why = f"it is not known how {name} was scored"
    examples = f"{most} drawn by {seed}" if most else ""
    released = dataset.known("verdict") == {"identical"}
    return State(
        "".join(sorted(data))[:SHORT], "".join(sorted(metrics)), examples, code or "", released, why
    )


def parts(standings: Sequence[Standing], column: str) -> list[RankingPart]:
    """The rows that share a ranking in a column, group by group, that of the published rows first.

    The published rows stand with figures on the data of the release; where there are none, with those of most rows.
    """
    groups = by_key((one.key, place) for place, one in enumerate(standings))
    ordered = sorted(
        groups.values(), key=lambda places: (standings[places[0]].place, standings[places[0]].title)
    )
    firsts = [standings[places[0]] for places in ordered]
    titles = make_distinct(
        [one.title for one in firsts], [(*one.key, "", "", "", "")[2:4] for one in firsts]
    )
    return [
        part
        for each in zip(ordered, titles, strict=True)
        for part in _group_parts(standings, column, *each)
    ]


def _group_parts(
    standings: Sequence[Standing], column: str, places: Sequence[int], title: str
) -> list[RankingPart]:
    states: dict[tuple[State, ...], list[int]] = {}
    theirs, unranked = [], []
    for place in places:
        standing = standings[place]
        if standing.unranked(column):
            unranked.append(place)
        elif standing.states is None:
            theirs.append(place)
        else:
            states.setdefault(standing.state(column), []).append(place)
    order = sorted(
        states,
        key=lambda state: (not all(one.released for one in state), -len(states[state]), state),
    )
    first, *others = [states[state] for state in order] or [[]]
    apart = [
        f"{title or 'protocols of papers'}, {_describe_difference(order[0], state)}"
        for state in order[1:]
    ]
    headings = make_distinct(
        apart, [(str(apart[: place + 1].count(text)),) for place, text in enumerate(apart)]
    )
    return [
        RankingPart(title, sorted([*theirs, *first]), unranked),
        *(RankingPart(heading, other, []) for heading, other in zip(headings, others, strict=True)),
    ]


def _describe_difference(first: Sequence[State], other: Sequence[State]) -> str:
    """In what the figures of a part differ from those of the first part of its group."""
    differing = {
        text
        for pair in zip(first, other, strict=True)
        for name, text in DIFFERENCES.items()
        if len({getattr(state, name) for state in pair}) > 1
    }
    return (
        ", ".join(text for text in DIFFERENCES.values() if text in differing) or DIFFERENCES["data"]
    )
