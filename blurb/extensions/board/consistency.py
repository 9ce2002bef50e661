"""Signals of what is odd about a row, and those within `row.json`, which says things twice.

It is compared with itself, and with what this blurb knows of protocols and seeds. A signal is told beside the row, with
its figure; its reader judges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from blurb import __version__, learners, tasks
from blurb.messages import BlurbError, count_noun
from blurb.protocols.protocol import Protocol, load_protocol_file, protocol_names
from blurb.row_files.reading import RowFiles, run_predictions
from blurb.row_files.writing import RowRecord, RunRecord
from blurb.scoring.scores import hash_predictions
from blurb.store.trial import Configuration, Trial


class SignalKind(StrEnum):
    """The oddities of a row."""

    FIGURE = "figure edited"
    EXAMPLES = "examples"
    DATA = "other data"
    SUBSTITUTE = "not the release"
    UNSEEN = "not looked at"
    METRICS = "other version of the metrics"
    CAPPED = "part of the examples"
    SEEDS = "fewer seeds than planned"
    UNPLANNED = "seeds that were not planned"
    UNEQUAL = "runs of different settings"
    TRIAL = "trial hash"
    PROTOCOL = "not the protocol"
    NO_DEV = "no predictions on dev"
    UNCHECKED = "cannot be checked here"
    SAME_RUNS = "two seeds alike"
    GAP = "test far above dev"
    LEAKED = "much from leaked examples"
    BETTER = "better than runs of its recipe"
    COPIED = "predictions of another row"


FATAL = (
    SignalKind.FIGURE,
    SignalKind.EXAMPLES,
    SignalKind.DATA,
    SignalKind.METRICS,
    SignalKind.UNSEEN,
)
"""Signals with which a figure is not recomputed."""


@dataclass(frozen=True)
class Signal:
    """Something odd, with its figure.

    :param where: dataset, and seed if it is of one run
    """

    kind: SignalKind
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.what}"


NAMED = ("head", "pooling")
"""Settings of which only the first word, the name, is compared: a trial has their options written out."""
MANY = 100
"""Answers that are not all right by chance."""
WHOLE = "the row"


def signals(row: RowFiles) -> Iterator[Signal]:
    """Everything in the description of a row that does not fit."""
    about = row.about
    yield from _trial_signals(row)
    yield from _protocol_signals(about)
    # No learner by itself answers everything right on test and not on dev.
    for run in about["runs"]:
        metric = run["metric"]
        if run["dev"] and run["test"] and run["test"][metric] >= 1 > run["dev"][metric]:
            count = len(run_predictions(row, run, "test"))
            if count >= MANY:
                yield Signal(
                    SignalKind.GAP,
                    name_run(run),
                    f"all {count} answers on test are right, and dev has {100 * run['dev'][metric]:.2f}",
                )
    for task in dict.fromkeys([*about["planned"], *row.by_task]):
        yield from _dataset_signals(about, task, row.by_task.get(task, []))


def name_run(run: RunRecord) -> str:
    """Dataset and seed of a run: where a signal of it is."""
    return f"{run['task']}, seed {run['seed']}"


def kinds_of(about: RowRecord) -> list[learners.LearnerKind]:
    """The kinds of learners that may have made a row; none if it is not installed here."""
    if learners.is_named(about["weights"]):
        with suppress(BlurbError):
            return [learners.get_named(about["weights"])]
        return []
    return [kind for kind in learners.kinds.usable().values() if kind.rows.name == about["learner"]]


def _trial_signals(row: RowFiles) -> Iterator[Signal]:
    """The hashes of trials that do not follow from the rest of the row."""
    about, kinds = row.about, kinds_of(row.about)
    runs = about["runs"]
    wrong = [
        (run, hashes) for run in runs if run["trial"] not in (hashes := _hashes(row, run, kinds))
    ]
    repeated = len({run["trial"] for run in runs}) < len(runs)
    if not wrong and not repeated:
        return
    known = [(run, hashes[0]) for run, hashes in wrong if hashes]
    if repeated:
        yield Signal(
            SignalKind.TRIAL,
            WHOLE,
            "two runs have one trial hash, which names the seed and the dataset",
        )
    if not kinds:
        yield Signal(
            SignalKind.UNCHECKED, WHOLE, f"trial hashes of the learner '{about['learner']}'"
        )
    elif about["blurb"] != __version__:
        yield Signal(
            SignalKind.UNCHECKED,
            WHOLE,
            f"trial hashes of blurb {about['blurb']}; this is {__version__}",
        )
    elif known:
        run, hash_ = known[0]
        yield Signal(
            SignalKind.TRIAL,
            name_run(run),
            f"{len(wrong)} of {count_noun(len(runs), 'trial')} have another hash than the row gives them; "
            f"it says {run['trial']}, and its content gives {hash_}",
        )
    elif wrong:
        yield Signal(
            SignalKind.TRIAL,
            WHOLE,
            f"the recipe '{about['recipe']}' is no number, so no trial has it",
        )


def _hashes(row: RowFiles, run: RunRecord, kinds: Sequence[learners.LearnerKind]) -> list[str]:
    """The hash that the trial of a run has by what the row says of it, for each kind of learner."""
    about = row.about
    if not about["recipe"].isascii() or not about["recipe"].isdecimal():
        return []
    return [
        Trial(
            task=run["task"],
            weights=about["weights"],
            tokenizer=about["tokenizer"],
            data=run["data"],
            settings=run["settings"],
            seed=run["seed"],
            precision=about["precision"] or ("" if kind.rows.claimed else "fp32"),
            recipe=int(about["recipe"]),
            plugins=run["plugins"],
            learner=learners.in_trial(kind),
            predictions="" if kind.runs else _predictions(row, run),
        ).hash
        for kind in kinds
    ]


def _predictions(row: RowFiles, run: RunRecord) -> str:
    """The hash of the predictions of another tool."""
    cells = [(split, *pair) for split in tasks.SCORED for pair in run_predictions(row, run, split)]
    names = ("split", "id", "prediction")
    return hash_predictions(
        {name: [cell[place] for cell in cells] for place, name in enumerate(names)}
    )


def _protocol_signals(about: RowRecord) -> Iterator[Signal]:
    """A protocol whose hash is not that of its name, and settings that it does not have."""
    if learners.row_kind(about["learner"]).claimed:
        return
    named = Configuration(about["protocol"], about["protocol_hash"], {}, "", "")
    name = named.protocol.partition("@")[0]
    shipped = load_protocol_file(name) if name in protocol_names() else None
    if shipped is not None and shipped.name == named.protocol:  # else of another version
        if shipped.hash == named.protocol_hash:
            for run in about["runs"]:
                yield from _settings_signals(about, run, shipped)
        else:
            yield Signal(
                SignalKind.PROTOCOL,
                named.protocol,
                f"its hash is {named.protocol_hash[:12]}, that of {shipped.name} is {shipped.hash[:12]}",
            )
    elif named.from_file and not named.protocol_hash.startswith(named.protocol.rpartition("@")[2]):
        yield Signal(
            SignalKind.PROTOCOL,
            named.protocol,
            f"its hash is {named.protocol_hash[:12]}, which is not that in its name",
        )
    else:
        yield Signal(
            SignalKind.UNCHECKED,
            WHOLE,
            f"hash and settings of the protocol '{named.protocol}', which this blurb does not have",
        )


def _settings_signals(about: RowRecord, run: RunRecord, shipped: Protocol) -> Iterator[Signal]:
    """Settings of a run that its protocol and its overrides do not give."""
    try:
        expected = _expected(about, run, shipped)
    except (BlurbError, TypeError, ValueError) as error:
        yield Signal(
            SignalKind.PROTOCOL, run["task"], f"its overrides are none: {str(error)[:200]}"
        )
        return
    for name, value in run["settings"].items():
        if expected and not any(_equal(name, value, given) for given in expected.get(name, ())):
            usual = " or ".join(dict.fromkeys(map(str, expected.get(name, ("no such setting",)))))
            yield Signal(
                SignalKind.PROTOCOL,
                run["task"],
                f"{name} is {value!s:.40}, and {about['protocol']} with the overrides of the row has {usual}",
            )


def _expected(about: RowRecord, run: RunRecord, shipped: Protocol) -> Mapping[str, Sequence[Any]]:
    """Setting -> the values that it may have, as the size of the encoder and a search decide; empty if not known."""
    task, kinds = tasks.get(run["task"]), kinds_of(about)
    if not kinds:
        return {}
    sizes = [0, *(round(limit[0] * 1e6) for limit in (shipped.lr_by_size, shipped.small) if limit)]
    tables = {kind.name if kind.own_training else "" for kind in kinds}
    found = [
        vars(shipped.settings(task, about["overrides"], size, table))
        for size in sizes
        for table in tables
    ]
    searched = shipped.axes(about["overrides"], task.name)
    return {name: [*(each[name] for each in found), *searched.get(name, ())] for name in found[0]}


def _equal(name: str, value: Any, given: Any) -> bool:
    if name in NAMED:
        value, given = (str(each).partition(",")[0].strip() for each in (value, given))
    return bool(value == given)


def _dataset_signals(about: RowRecord, task: str, runs: Sequence[RunRecord]) -> Iterator[Signal]:
    """Seeds that are missing or were not planned, runs that were not made alike, and missing answers on dev."""
    planned, seeds = set(about["planned"].get(task, ())), {run["seed"] for run in runs}
    is_claimed = learners.row_kind(about["learner"]).claimed
    if planned - seeds:
        yield Signal(
            SignalKind.SEEDS,
            task,
            f"{len(planned & seeds)} of {count_noun(len(planned), 'planned seed')}",
        )
    if seeds - planned:
        yield Signal(SignalKind.UNPLANNED, task, ", ".join(map(str, sorted(seeds - planned))))
    if planned and max(planned) - min(planned) >= len(planned) and not is_claimed:
        listed = ", ".join(map(str, sorted(planned)))
        yield Signal(SignalKind.UNPLANNED, task, f"seeds {listed} were planned; blurb plans 1 to N")
    for name in ("settings", "plugins", "data"):
        if any(dict(run)[name] != dict(runs[0])[name] for run in runs):
            yield Signal(SignalKind.UNEQUAL, task, f"its runs differ in their {name}")
    without = [str(run["seed"]) for run in runs if not run["dev"]]
    if without and not is_claimed:
        yield Signal(
            SignalKind.NO_DEV, task, f"seeds {', '.join(without)}; every run of blurb has them"
        )
