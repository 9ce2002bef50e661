"""Which trials make a row of the leaderboard: `<root>/<model>/rows/<key>.json`.

What decides whether two rows may be compared is in the key, and no words are. Files of schema 1 had the protocol's note
in theirs and neither the tokenizer nor the recipe; they are read as the rows that they are now, and give way to new
files when one of their rows is written.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from blurb.errors import BlurbError, StoreError, Tell, tell_damage
from blurb.runs.spec import Configuration, Trial
from blurb.runs.store import Store, read_json, write_json

SCHEMA = 2
FOLDER = "rows"
"""No task can have this name (`blurb.tasks`)."""
FILE = re.compile(r"[0-9a-f]{12}\.json")
WORDS = {"quick": "", "smoke": "smoke test: scores mean nothing"}
"""Notes of shipped protocols that said, in schema 1, how many seeds and units there are; a row says that itself now."""


@dataclass(frozen=True)
class Row:
    """The trials of a row.

    :param tokenizer: its hash; "" for a baseline
    :param recipe: of the learner (`blurb.runs.spec.RECIPES`)
    :param trials: task -> seed -> hash of the trial
    :param families: task -> hash that these trials share, the seed left out
    """

    model: str
    weights: str
    tokenizer: str
    recipe: int
    configuration: Configuration
    trials: Mapping[str, Mapping[int, str]]
    families: Mapping[str, str]

    @property
    def key(self) -> str:
        """12 hexadecimal digits over all that decides whether rows may be compared."""
        parts = [self.model, self.weights, self.tokenizer, self.recipe, self.configuration.identity]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]

    def over(self, before: Row) -> Row:
        """This row with the trials that an earlier one has besides.

        Seeds of another family (other data, another winner of a search) are left out: they must not be averaged with
        these.
        """
        trials = {task: dict(seeds) for task, seeds in before.trials.items()}
        for task, seeds in self.trials.items():
            kept = trials.get(task, {}) if before.families.get(task) == self.families[task] else {}
            trials[task] = {**kept, **seeds}
        return replace(self, trials=trials, families={**before.families, **self.families})


def read(store: Store, tell: Tell = tell_damage) -> list[Row]:
    """All rows of a store, in a fixed order.

    :param tell: is told of a file that cannot be read; the others are read all the same
    """
    rows: list[Row] = []
    for folder in sorted(store.root.glob(f"*/{FOLDER}")):
        rows += _together(row for _, row in _files(store, folder, tell)).values()
    return rows


def write(store: Store, row: Row) -> Row:
    """Adds a row, or the trials of a row to what it has; call it under the lock of the store."""
    folder = store.root / store.folder(row.model) / FOLDER
    there = _files(store, folder, lambda text: None)
    rows = _together([*(other for _, other in there), row])
    old = {path for path, _ in there if path.stem not in rows}
    folder.mkdir(parents=True, exist_ok=True)
    for key in {row.key, *(other.key for path, other in there if path in old)}:
        write_json(folder / f"{key}.json", {"schema": SCHEMA, **asdict(rows[key])})
    for path in old:  # only now: what they said stands in the new ones
        path.unlink()
    return rows[row.key]


def _together(rows: Iterable[Row]) -> dict[str, Row]:
    """Rows by key; of those with one key the later ones over the earlier."""
    found: dict[str, Row] = {}
    for row in rows:
        found[row.key] = row.over(found[row.key]) if row.key in found else row
    return found


def _files(store: Store, folder: Path, tell: Tell) -> list[tuple[Path, Row]]:
    """The rows of a folder with their files: those of schema 1 first, else by age."""
    found: list[tuple[int, float, str, Path, list[Row]]] = []
    for path in sorted(folder.glob("*.json")):
        if not FILE.fullmatch(path.name):
            continue
        try:
            schema, rows = _parse(store, path)
            found.append((schema, path.stat().st_mtime, path.name, path, rows))
        except (BlurbError, KeyError, TypeError, ValueError, AttributeError, OSError) as error:
            reason = str(error) if isinstance(error, StoreError) else f"{path} is no row of a store ({error!r})."
            tell(f"{reason} Its row is left out; the `blurb run` that made it writes it anew once it is removed.")
    return [(path, row) for *_, path, rows in sorted(found, key=lambda item: item[:3]) for row in rows]


def _parse(store: Store, path: Path) -> tuple[int, list[Row]]:
    """The schema of a file, and its rows."""
    content = read_json(path)
    schema = content.pop("schema")
    if schema not in (1, SCHEMA):
        raise StoreError(f"{path} has schema version {schema}; this version of blurb reads 1 to {SCHEMA}.")
    configuration = Configuration(**content.pop("configuration"))
    trials = {
        str(task): {int(seed): str(hash_) for seed, hash_ in seeds.items()}
        for task, seeds in content.pop("trials").items()
    }
    families = {str(task): str(family) for task, family in content.pop("families").items()}
    if missing := trials.keys() - families.keys():
        raise KeyError(*missing)
    if schema == SCHEMA:
        return schema, [Row(configuration=configuration, trials=trials, families=families, **content)]
    return schema, _of_schema_1(store, content["model"], content["weights"], configuration, trials, families)


def _of_schema_1(
    store: Store, model: str, weights: str, configuration: Configuration,
    trials: Mapping[str, Mapping[int, str]], families: Mapping[str, str],
) -> list[Row]:  # fmt: skip
    """A row for each tokenizer and recipe among its trials; what was never run goes with the first."""
    kinds = {task: _asked(store, model, task, seeds.values()) for task, seeds in trials.items()}
    configuration = replace(configuration, note=WORDS.get(configuration.protocol, configuration.note))
    known = list(dict.fromkeys(kind for kind in kinds.values() if kind)) or [("", 1)]
    return [
        Row(
            model, weights, tokenizer, recipe, configuration,
            {task: seeds for task, seeds in trials.items() if (kinds[task] or known[0]) == (tokenizer, recipe)},
            {task: families[task] for task in trials if (kinds[task] or known[0]) == (tokenizer, recipe)},
        )
        for tokenizer, recipe in known
    ]  # fmt: skip


def _asked(store: Store, model: str, task: str, hashes: Iterable[str]) -> tuple[str, int] | None:
    """Tokenizer and recipe of the first trial that says so."""
    for hash_ in hashes:
        try:
            trial: Trial = store.read_spec(store.path(model, task, hash_))
        except (StoreError, TypeError):
            continue
        return trial.tokenizer, trial.recipe
    return None
