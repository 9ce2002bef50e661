"""How the checkpoints of a series get their rows: by running trials, or from the store."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.messages.errors import SettingsError

if TYPE_CHECKING:
    from blurb.checkpoint_series.conduct import Score
    from blurb.checkpoint_series.curves import Scored
    from blurb.checkpoint_series.finding import Found
    from blurb.checkpoint_series.series import Series
    from blurb.checkpoint_series.steps import Step
    from blurb.results.row_scores import RowScores
    from blurb.tasks import Split


@dataclass(frozen=True)
class Scoring:
    """How checkpoints get their rows.

    :param trials: options and settings of `blurb.run`
    :param told: what failed
    """

    names: list[str]
    protocol: str
    split: Split
    output: Path
    trials: Mapping[str, Any]
    told: list[str]

    def score(self, steps: Sequence[Step], protocol: str, seeds: int | None = None) -> Mapping[str, RowScores]:
        """Runs the trials that are missing; what failed is told, and the rest goes on."""
        from blurb.api.keywords import NamedModel, run

        models = [NamedModel(step.reference, step.name) for step in steps]
        given = self.trials if seeds is None else {**self.trials, "seeds": seeds}
        results = run(models, ",".join(self.names), protocol=protocol, output=self.output, **given)
        self.told.extend(
            f"{outcome.job.source.name} on {outcome.job.trial.task}, seed {outcome.job.trial.seed}: {outcome.message}"
            for outcome in results.failed
        )
        return {row.model: row for row in results.rows}

    @property
    def read(self) -> Score:
        """Reads the rows of the store; of two of one name and protocol, that of the checkpoint as it is now."""
        from blurb.results import from_store
        from blurb.store.store import Store

        rows = from_store.read(Store(self.output))

        def score(steps: Sequence[Step], protocol: str) -> Mapping[str, RowScores]:
            own_rows: dict[str, RowScores] = {}
            for step in steps:
                own = [row for row in rows if row.model == step.name and row.configuration.protocol == protocol]
                if len(own) > 1:
                    own = [row for row in own if row.weights == _weights(step)]
                if own:
                    own_rows[step.name] = own[0]
            return own_rows

        return score

    def value(self, row: RowScores) -> float | None:
        """The mean over the datasets; None unless all are there."""
        means = row.means(self.split)
        return statistics.fmean(means[name] for name in self.names) if set(self.names) <= means.keys() else None

    def series(self, scored: Sequence[Scored], found: Found) -> Series:
        from blurb.checkpoint_series.series import Series

        return Series(tuple(scored), tuple(self.names), self.protocol, self.split, notes=found.left_out)


def names_of(tasks: str | Sequence[str], most: int | None = None) -> list[str]:
    """The names of the chosen tasks, task files included."""
    from blurb import tasks as tasks_

    names = [task.name for task in tasks_.load_selection(tasks.split(",") if isinstance(tasks, str) else list(tasks))]
    if most is not None and len(names) > most:
        raise SettingsError(f"Choose one dataset (got {', '.join(names)}).")
    return names


def _weights(step: Step) -> str:
    from blurb.checkpoints import Checkpoint

    return Checkpoint(Path(step.reference)).weights_hash if Path(step.reference).is_dir() else ""
