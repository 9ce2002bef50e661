"""How the checkpoints of a series get their rows: by running trials, or from the store."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from blurb import names, tasks as tasks_
from blurb.api.running import NamedModel, options_of, run
from blurb.checkpoints import Checkpoint
from blurb.extensions.series.curves import Scored, Step, numbers_beside
from blurb.extensions.series.finding import FoundCheckpoints
from blurb.extensions.series.series import Series
from blurb.fields import check_fields
from blurb.grouping import by_key
from blurb.learners.building import resolve_model
from blurb.messages import BlurbError, ModelError, opt
from blurb.names import by_number
from blurb.protocols import protocol as protocols
from blurb.results import from_store
from blurb.results.row import Row
from blurb.store.store import Store

PLAIN = frozenset(
    {"data", "raw", "suite", "seeds", "tokenizer", "casing", "trust_remote_code"}
    | {"device", "precision", "jobs", "progress"}
)
"""Options of `blurb.run` that set apart no trials, or by what a row says itself."""


@dataclass(frozen=True)
class Scoring:
    """How checkpoints get their rows.

    :param trials: options and settings of `blurb.run`
    :param told: what failed
    :param notes: what else is to be said
    """

    names: list[str]
    protocol: str
    split: tasks_.Split
    output: Path
    trials: Mapping[str, Any]
    told: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tokenizers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises a BlurbError for options and settings that `blurb.run` would refuse, also where nothing is run."""
        check_fields(options_of(run, **self.trials))

    def score(self, steps: Sequence[Step], protocol: str) -> Mapping[str, Row]:
        """Runs the trials that are missing; what failed is told, and the rest goes on."""
        models = [NamedModel(step.reference, step.name) for step in steps]
        results = run(
            models, ",".join(self.names), protocol=protocol, output=self.output, **self.trials
        )
        self.told.extend(
            f"{outcome.job.source.name} on {outcome.job.trial.task}, seed {outcome.job.trial.seed}: {outcome.message}"
            for outcome in results.failed
        )
        requested = self._seeds(protocol)
        return {row.model: _with_seeds(row, requested) for row in results.rows}

    def of_step(self, step: Step) -> Row | None:
        """The row of one checkpoint; None if its trials failed, or if it is none that can be scored: both are told."""
        try:
            return self.score([step], self.protocol).get(step.name)
        except BlurbError as error:
            if not all(isinstance(each, ModelError) for each in getattr(error, "errors", (error,))):
                raise  # of the options, and so of all checkpoints
            self.told.append(f"{step.name}: {error}")
            return None

    def read(self, steps: Sequence[Step], protocol: str) -> Mapping[str, Row]:
        """Reads the rows of the store: those that the trials of each checkpoint, as it is now, would have."""
        requested, by_name = self._seeds(protocol), self._by_name(protocol)
        by_step: dict[str, list[Row]] = {}
        for step in steps:
            # The rows of the weights that it has now, those with the fewest settings of their own first. Of a revision
            # on the Hub the name stays that of its weights.
            rows, folder = by_name.get(step.name, []), Path(step.reference)
            weights = Checkpoint(folder).weights_hash if rows and folder.is_dir() else None
            own = [row for row in rows if weights in (None, row.weights)]
            if own and weights:
                own = [row for row in own if row.tokenizer == self._tokenizer_of(step)]
            if rows and not own:
                self.told.append(
                    f"{step.name}: the store has the scores of other weights or of another tokenizer; "
                    f"without {opt('read')} it is scored."
                )
            if own:
                by_step[step.name] = sorted(own, key=lambda row: len(row.configuration.overrides))
        kinds = dict.fromkeys(
            f"{row.configuration.text} {row.configuration.precision}"
            for own in by_step.values()
            for row in own
        )
        if len(kinds) > 1:
            self.notes.append(
                f"The store has rows by {', '.join(kinds)}; each checkpoint shows its first "
                f"({opt('precision')} chooses)."
            )
        return {name: _with_seeds(own[0], requested) for name, own in by_step.items()}

    def _tokenizer_of(self, step: Step) -> str:
        """The hash of the tokenizer that was given, or else that of the checkpoints of a run, which is one."""
        if step.run not in self.tokenizers:
            self.tokenizers[step.run] = resolve_model(
                step.reference,
                remote_code=self.trials.get("trust_remote_code", False),
                casing=self.trials.get("casing"),
                tokenizer=self.trials.get("tokenizer"),
            ).tokenizer
        return self.tokenizers[step.run]

    @cached_property
    def _rows(self) -> list[Row]:
        """Those of the store when it is first asked."""
        return from_store.read(Store(self.output))

    def _by_name(self, protocol: str) -> dict[str, list[Row]]:
        """The rows that this call would make, by their model names."""
        suite = tasks_.load_suite(self.trials.get("suite", "blurb")).name
        requested = protocols.load_protocol_file(protocol).name, suite
        precision = self.trials.get("precision", "auto")
        return by_key(
            (row.model, row)
            for row in self._rows
            if (row.configuration.protocol, row.suite) == requested
            and precision in ("auto", row.configuration.precision)
        )

    def past(self, steps: Sequence[Step]) -> list[Scored]:
        """The checkpoints of the same runs whose folders are gone, as `save_total_limit` leaves it, with their rows.

        They are older than those that are there; of two rows of one name nothing tells which is of this run.
        """
        last = {step.run: step for step in sorted(steps, key=lambda step: step.step)}
        present = {step.name for step in steps} | {
            names.checkpoint(run, number)
            for run, step in last.items()
            for number in numbers_beside(step)
        }
        requested = self._seeds(self.protocol)
        gone = []
        for name, rows in self._by_name(self.protocol).items():
            run, number = names.run_and_step(name) or ("", 0)
            if name in present or run not in last or number >= last[run].step:
                continue
            with suppress(ModelError):  # whoever scored it was told
                if Path(last[run].reference).is_dir():
                    rows = [row for row in rows if row.tokenizer == self._tokenizer_of(last[run])]
            if len(rows) == 1:
                gone.append(Scored(last[run].earlier(number), _with_seeds(rows[0], requested)))
        return gone

    def stored(self, steps: Sequence[Step]) -> Mapping[str, Row]:
        """The rows that have all that this call would score already, in the precision of this machine."""
        from blurb.training import hardware

        trials = dict(self.trials)
        requested = self._seeds(self.protocol)
        if trials.keys() - PLAIN:
            return {}  # the planning knows which trials are those of settings
        if trials.get("precision", "auto") == "auto":
            device = hardware.choose_device(trials.get("device", "auto"))
            trials["precision"] = hardware.choose_precision("auto", device)
        rows = replace(self, trials=trials, told=[], notes=[]).read(steps, self.protocol)
        return {
            name: row
            for name, row in rows.items()
            if not row.configuration.overrides
            and all(
                task in row.datasets and seeds <= row.datasets[task].runs.keys()
                for task, seeds in requested.items()
            )
        }

    def _seeds(self, protocol: str) -> Mapping[str, frozenset[int]]:
        """Dataset -> the seeds that are asked for."""
        loaded = protocols.load_protocol_file(protocol)
        return {
            task.name: frozenset(loaded.seeds(task, self.trials.get("seeds")))
            for task in tasks_.load_selection(self.names, None)
        }

    def value(self, row: Row) -> float | None:
        """The mean over the datasets; None unless all are there."""
        means = row.means(self.split)
        return (
            statistics.fmean(means[name] for name in self.names)
            if set(self.names) <= means.keys()
            else None
        )

    def series(self, scored: Sequence[Scored], found: FoundCheckpoints) -> Series:
        gone = self.past([one.step for one in scored])
        order = list(dict.fromkeys(one.step.run for one in scored))
        whole = sorted([*scored, *gone], key=lambda one: (order.index(one.step.run), one.step.step))
        listed = ", ".join(sorted((one.step.name for one in gone), key=by_number))
        note = f"Gone since they were scored: {listed}; their scores are those of the store."
        if gone and note not in self.notes:
            self.notes.append(note)
        return self.with_notes(
            Series(tuple(whole), tuple(self.names), self.protocol, self.split), found
        )

    def with_notes(self, series: Series, found: FoundCheckpoints) -> Series:
        """A series with the checkpoints left out, rows that are odd, and last the trials that failed, by now."""
        notes = (*found.left_out, *self.notes, *self.told)
        return replace(series, notes=notes, failed=tuple(self.told))


def names_of(tasks: str | Sequence[str], suite: str | None) -> list[str]:
    """The names of the chosen tasks, task files included.

    :param suite: of all of them
    """
    return [task.name for task in tasks_.load_selection(tasks, suite)]


def _with_seeds(row: Row, asked: Mapping[str, frozenset[int]]) -> Row:
    """A row with the seeds that were asked for: others, as of a search, would be a mean beside single runs."""
    kept = {name: one.of_seeds(asked[name]) for name, one in row.datasets.items() if name in asked}
    return replace(row, datasets={**row.datasets, **kept})
