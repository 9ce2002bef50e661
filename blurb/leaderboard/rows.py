"""Rows of the leaderboard, gathered from the store: what the CSV files and the terminal show."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blurb import tasks
from blurb.errors import StoreError, Tell, tell_damage
from blurb.leaderboard import notes
from blurb.leaderboard.score import blurb_score, spread, type_means
from blurb.leaderboard.wording import distinct
from blurb.runs import rows as row_files
from blurb.runs.rows import Row
from blurb.runs.spec import Configuration, kind_of
from blurb.runs.store import Record, Store, left_out
from blurb.tasks import TaskType

DEMO = "demo"


@dataclass(frozen=True)
class Result:
    """One model in one configuration, from its finished trials.

    :param key: of its row in the store (`blurb.runs.rows`)
    :param records: task -> seed -> finished trial
    :param planned: task -> seeds that the row is to have
    :param families: task -> hash that its trials share, the seed left out
    :param learner: what learned, a key of `blurb.runs.spec.RECIPES`: rows of a probe and fine-tuned ones are never
        compared
    """

    key: str
    model: str
    weights: str
    tokenizer: str
    recipe: int
    configuration: Configuration
    records: Mapping[str, Mapping[int, Record]]
    planned: Mapping[str, tuple[int, ...]]
    families: Mapping[str, str]
    learner: str

    def values(self, task: str, split: str = "test", baseline: bool = False) -> list[float]:
        """Score of each seed, times 100; `baseline` gives what the majority gets there."""
        return [100 * record.score(split, baseline) for _, record in sorted(self.records.get(task, {}).items())]

    def means(self, split: str = "test") -> dict[str, float]:
        """Mean over seeds of each dataset of BLURB that has any finished trial."""
        known = [task.name for task in tasks.all() if task.row]
        return {name: statistics.fmean(values) for name in known if (values := self.values(name, split))}

    def type_means(self) -> dict[TaskType, float]:
        """Means of the task types that are there whole."""
        return type_means(self.means())

    @property
    def score(self) -> float | None:
        """The BLURB score, None unless all thirteen datasets are there."""
        return blurb_score(self.means())

    @property
    def spread(self) -> tuple[float, float] | None:
        """Standard deviation of the score over seeds and standard error of its mean."""
        deviations = {}
        for name in self.means():
            values = self.values(name)
            deviations[name] = (statistics.stdev(values) if len(values) > 1 else 0.0, len(values))
        return spread(deviations)

    @property
    def missing(self) -> list[str]:
        """Datasets of BLURB without a finished trial."""
        return [task.name for task in tasks.all() if task.row and not self.records.get(task.name)]

    @property
    def complete(self) -> bool:
        """All thirteen datasets with all planned seeds."""
        return not self.missing and all(
            set(seeds) <= set(self.records.get(name, {})) for name, seeds in self.planned.items()
        )

    @property
    def data(self) -> str:
        """`synthetic`, `verified` (all data identical to the release), or what is not."""
        if self.configuration.suite == DEMO:
            return "synthetic"
        doubtful = {
            name: record.provenance["data_verdict"]
            for name, seeds in self.records.items()
            for record in seeds.values()
            if record.provenance["data_verdict"] != "identical"
        }
        return "; ".join(f"{name} {verdict}" for name, verdict in sorted(doubtful.items())) or "verified"

    @property
    def note(self) -> str:
        """What to know before comparing this row with others (`blurb.leaderboard.notes`)."""
        trained = {t: len(seeds) for t, seeds in self.planned.items()} if self.learner == "encoder" else {}
        most_train, most_eval = self.limits("max_train"), self.limits("max_eval")
        return notes.of_row(self.configuration.note, trained, most_train, most_eval)

    @property
    def capped(self) -> bool:
        """Whether a dataset was scored on a part of its units: no figure of such a row is a result on BLURB."""
        return any(self.limits("max_eval").values())

    def limits(self, setting: str) -> dict[str, int]:
        """The value of `max_train` or `max_eval` by dataset."""
        return {
            task: int(next(iter(seeds.values())).trial.settings.get(setting, 0)) for task, seeds in self.records.items()
        }

    def seeds(self, task: str) -> tuple[int, ...]:
        """Seeds of the finished trials."""
        return tuple(sorted(self.records.get(task, {})))


def extras(row: Result) -> tuple[str, ...]:
    """What tells two rows of one model, configuration and precision apart."""
    return (
        row.configuration.suite, row.weights[:12], row.configuration.protocol_hash[:8],
        *learned(row.tokenizer, str(row.recipe)),
    )  # fmt: skip


def learned(tokenizer: str, recipe: str) -> tuple[str, str]:
    """What tells two rows of the same weights apart."""
    return (f"tokenizer {tokenizer[:8]}" if tokenizer else "", f"recipe {recipe}" if recipe else "")


def names(rows: Sequence[Result]) -> list[str]:
    """Model, configuration and precision of rows, and more where these are alike."""
    plain = [" ".join(filter(None, (row.model, row.configuration.text, row.configuration.precision))) for row in rows]
    return distinct(plain, [extras(row) for row in rows])


def gather(store: Store, tell: Tell = tell_damage) -> list[Result]:
    """All rows of a store that have a finished trial, by model and configuration.

    :param tell: is told of files and trials that are damaged, and left out
    """
    found = [_result(store, row, tell) for row in row_files.read(store, tell)]
    kept = [result for result in found if result.records]
    return sorted(kept, key=_order)


def _order(row: Result) -> tuple[str | int, ...]:
    made = row.configuration
    return made.suite, row.model, made.text, made.precision, row.weights, row.tokenizer, row.recipe


def _result(store: Store, row: Row, tell: Tell) -> Result:
    records: dict[str, dict[int, Record]] = {}
    for task, seeds in row.trials.items():
        for seed, hash_ in seeds.items():
            path = store.path(row.model, task, hash_)
            if not path.exists():  # planned, and not run yet
                continue
            try:
                damage = store.damage(path)
                if not damage:
                    records.setdefault(task, {})[seed] = store.read(path)
            except StoreError as error:
                tell(f"{error} The trial is left out.")
            else:
                if damage:
                    tell(left_out(path, damage))
    planned = {task: tuple(sorted(seeds)) for task, seeds in row.trials.items()}
    made = row.key, row.model, row.weights, row.tokenizer, row.recipe, row.configuration
    done = (record.trial.kind for seeds in records.values() for record in seeds.values())
    learner = row.learner or next(done, kind_of(row.weights))  # a row of before may not say it, and its trials do
    return Result(*made, records, planned, row.families, learner)
