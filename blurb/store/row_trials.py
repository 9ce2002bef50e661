"""Records which trials make a leaderboard row: `<root>/<model>/rows/<key>.json`.

The key has everything that decides whether two rows are comparable, and no notes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from blurb import names
from blurb.messages import BlurbError, StoreError, Tell, tell_damage, with_effect
from blurb.store.record import read_spec
from blurb.store.store import Store, begin_store
from blurb.store.trial import Configuration, Provenance, Trial, from_json, read_provenance
from blurb.system.files import json_hash, read_json, write_json

FOLDER = "rows"
"""No task can have this name (`blurb.tasks`)."""
FILE = re.compile(r"[0-9a-f]{12}\.json")
LATER = ("learner", "design", "rates", "tags", "unread", "trained_on")
"""Fields that came later: stored only if they are not empty."""

TRAINED_ON = {
    "none": "it had met nothing of these datasets before",
    "texts": "it had met the texts of these datasets before, without labels",
    "train": "it had met the train sets before, with labels",
    "test": "it had met the test sets before, with labels",
    "unknown": "",
}
"""What a model had met of its datasets before it was trained here -> the remark on its row."""


@dataclass(frozen=True)
class RowTrials:
    """The trials of a row.

    :param tokenizer: hash of the tokenizer; "" for a baseline
    :param recipe: recipe number of the learner (`blurb.learners.kind`)
    :param trials: task -> seed -> hash of the trial
    :param families: task -> hash of its trials without the seed
    :param plugins: task -> `Trial.plugins` of its trials, if any
    :param learner: `Trial.learner` of its trials; stored only if not empty
    :param tags: words to find it by, no part of any identity; likewise
    :param design: a sentence on how its seeds were planned, if by more than a number; no part of any identity, and
        stored only if not empty
    :param rates: task -> a remark on its learning rate (`Protocol.remark`), likewise
    :param unread: hash of a trial -> share of the answers of a language model that could not be read, likewise
    :param trained_on: a key of `TRAINED_ON`, no part of any identity; "" as "unknown", likewise
    """

    model: str
    weights: str
    tokenizer: str
    recipe: int
    configuration: Configuration
    trials: Mapping[str, Mapping[int, str]]
    families: Mapping[str, str]
    plugins: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    learner: str = ""
    tags: tuple[str, ...] = ()
    design: str = ""
    rates: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, float] = field(default_factory=dict)
    trained_on: str = ""

    @property
    def content(self) -> dict[str, Any]:
        """The content to store."""
        return {name: value for name, value in asdict(self).items() if value or name not in LATER}

    @cached_property
    def key(self) -> str:
        """12 hexadecimal digits: a hash of everything that decides whether rows are comparable."""
        parts = [self.model, self.weights, self.tokenizer, self.recipe, self.configuration.identity]
        return json_hash(parts)[:12]

    def is_of(self, trial: Trial, made: Provenance) -> bool:
        """Whether a trial was run for such a row: of the same model, weights, tokenizer, recipe and configuration."""
        alike = (trial.weights, trial.tokenizer, trial.recipe) == (
            self.weights,
            self.tokenizer,
            self.recipe,
        )
        return alike and (made.model, made.configuration) == (self.model, self.configuration)

    def over(self, before: RowTrials) -> RowTrials:
        """This row, with the additional trials of an earlier version of it.

        Excluded are seeds of another family (other data, another winner of a search), which must not be averaged with
        these, and datasets that were run with other plug-in code. They stay in the store.
        """
        code = {item for used in self.plugins.values() for item in used.items()}
        changed = {setting for setting, _ in code}
        kept = {
            task: seeds
            for task, seeds in before.trials.items()
            if all(
                item in code for item in before.plugins.get(task, {}).items() if item[0] in changed
            )
        }
        trials = {task: dict(seeds) for task, seeds in kept.items()}
        for task, seeds in self.trials.items():
            same = before.families.get(task) == self.families[task]
            trials[task] = {**(trials.get(task, {}) if same else {}), **seeds}
        families, plugins = {**before.families, **self.families}, {**before.plugins, **self.plugins}
        return replace(
            self,
            trials=trials,
            families={task: families[task] for task in trials},
            plugins={task: plugins[task] for task in trials if task in plugins},
            tags=self.tags or before.tags,
            design=self.design or before.design,
            trained_on=self.trained_on or before.trained_on,
            unread={**before.unread, **self.unread},
            rates={
                **{
                    task: said
                    for task, said in before.rates.items()
                    if task in trials.keys() - self.trials.keys()
                },
                **self.rates,
            },
        )


def read(store: Store, tell: Tell = tell_damage, near: str = "") -> list[RowTrials]:
    """All rows of a store, in a fixed order.

    :param tell: receives a message for each file that cannot be read; such files are skipped
    :param near: the name of a row or of its model: only rows that it may mean are read, and all of equal names
    """
    rows: list[RowTrials] = []
    for model in sorted(_names_in(store.root, tell), key=names.by_number):
        if near and not names.related(model, near):
            continue
        folder = store.root / model / FOLDER
        for name in sorted(filter(FILE.fullmatch, _names_in(folder, tell))):
            try:
                row = _parse_row(folder / name)
                store.folder(row.model)  # it has to be known where its trials are
                rows.append(row)
            except BlurbError as error:
                tell(
                    with_effect(
                        error,
                        "Its row is left out",
                        "run its blurb run command again to rebuild it, without training.",
                    )
                )
    return rows


def _names_in(folder: Path, tell: Tell) -> list[str]:
    """The names in a folder; none if it does not exist, as a model may have no rows."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        tell(StoreError(f"cannot be read: {error.strerror}. Its rows are left out.", where=folder))
        return []


def write(store: Store, row: RowTrials, tell: Tell = tell_damage, *, met: str = "") -> RowTrials:
    """Adds a row, or trials to an existing row; the caller holds the lock of the store.

    :param tell: receives a message if the file of this row is damaged; it is renamed and rebuilt from its trials
    :param met: its `trained_on` if none was stated
    """
    begin_store(store.root)
    store.claim(row.model)
    own = _row_path(store, row)
    if own.exists():
        try:
            before = _parse_row(own)
        except BlurbError:
            aside = own.with_suffix(".damaged")
            own.replace(aside)
            tell(
                StoreError(
                    f"could not be read; renamed it to {aside.name} and rebuilt its row from the trials of the store.",
                    where=own,
                )
            )
            before = _recover_row(store, row)
        row = row.over(before)
    row = replace(row, trained_on=row.trained_on or met)
    own.parent.mkdir(parents=True, exist_ok=True)
    write_json(own, row.content)
    return row


def remove(store: Store, row: RowTrials) -> None:
    """Removes a row and keeps its trials; the caller holds the lock of the store."""
    _row_path(store, row).unlink(missing_ok=True)


def _row_path(store: Store, row: RowTrials) -> Path:
    return store.root / store.folder(row.model) / FOLDER / f"{row.key}.json"


def _recover_row(store: Store, row: RowTrials) -> RowTrials:
    """Rebuilds a row from the trials that belong to it; planned trials that never ran are lost."""
    recovered = replace(row, trials={}, families={}, plugins={})
    for path in sorted((store.root / store.folder(row.model)).glob("*/*/spec.json")):
        try:
            trial, made = read_spec(path.parent), read_provenance(path.parent)
        except StoreError:
            continue
        if row.is_of(trial, made):
            recovered = replace(
                row,
                trials={trial.task: {trial.seed: trial.hash}},
                families={trial.task: trial.family},
                plugins={trial.task: trial.plugins} if trial.plugins else {},
            ).over(recovered)
    return recovered


def _parse_row(path: Path) -> RowTrials:
    """The row in a file; StoreError, or SettingsError of a name, if it cannot be read."""
    try:
        return _row_from_content(read_json(path), path)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, BlurbError):
            raise
        raise StoreError(f"not a valid row file: {_message_of(error)}", where=path) from error


def _row_from_content(content: dict[str, Any], path: Path) -> RowTrials:
    stored = from_json(RowTrials, content, path)
    trials = {
        task: {int(seed): str(hash_) for seed, hash_ in seeds.items()}
        for task, seeds in stored.trials.items()
    }
    families = {task: str(family) for task, family in stored.families.items()}
    if missing := trials.keys() - families.keys():
        raise KeyError(*missing)
    row = replace(
        stored,
        configuration=from_json(Configuration, stored.configuration, path),
        trials=trials,
        families=families,
        tags=tuple(stored.tags),
    )
    if f"{row.key}.json" != path.name:
        raise ValueError("the file name does not match the content")
    _check_row(row, path)
    # A dataset without trials would look as if nobody had asked for it, and a check would pass without it.
    if lost := [task for task in families if not trials.get(task)]:
        raise ValueError(f"no trials of {', '.join(lost)}, which it has planned")
    return row


def _message_of(error: Exception) -> str:
    if isinstance(error, ValueError):
        return str(error)
    return f"{error} is missing" if isinstance(error, KeyError) else "a field has the wrong type"


def _check_row(row: RowTrials, path: Path) -> None:
    """Raises a ValueError or BlurbError if a field of a row is invalid."""
    configuration = row.configuration
    scalars = [*configuration.overrides.values(), *row.unread.values()]
    if not all(isinstance(value, str | int | float) for value in scalars):
        raise ValueError("a field has the wrong type")
    hashes = [hash_ for seeds in row.trials.values() for hash_ in seeds.values()]
    if not all(map(names.HASH.fullmatch, hashes)) or not all(map(names.TASK.fullmatch, row.trials)):
        raise ValueError("invalid name or hash of a trial")
    if len(set(hashes)) < len(hashes):
        raise ValueError("two seeds or datasets name one trial")
    code = [hash_ for used in row.plugins.values() for hash_ in used.values()]
    for text in (*row.rates.values(), *row.tags, *code):
        if not isinstance(text, str):
            raise ValueError(f"expected a text, got {text!r}")
    if row.trained_on not in ("", *TRAINED_ON):
        raise ValueError(f"trained_on must be one of {', '.join(TRAINED_ON)}")
    names.check(row.model, f"{path}: the model name")
    # Not asdict: of thousands of rows its copies take seconds. Its trials have been checked, and are most of it.
    content = {**vars(row), "trials": {}, "configuration": vars(configuration)}
    json.dumps(content, ensure_ascii=False).encode()  # no halves of characters
