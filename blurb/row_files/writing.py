"""A row as files that can be passed on: `row.json`, the predictions of each dataset, and hashes of them all.

Predictions are ids and predicted labels; there is no text and no gold answer, so the licences of the corpora allow it.
With the data every figure can be recomputed from them except the loss on dev, which comes from probabilities; of that
the files have the part of each example, where it is known.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Annotated, Any, Literal, TypedDict

from blurb import __version__
from blurb.messages import StoreError
from blurb.results.row import Row
from blurb.store.record import LOSS, PREDICTIONS, Record, read_predictions, write_predictions
from blurb.tasks import SCORED

SCHEMA = 1
ABOUT, MANIFEST = "row.json", "MANIFEST.json"
ENDING = ".parquet"


Party = Literal["first", "third", ""]


class RunRecord(TypedDict):
    """A run in `row.json`."""

    task: Annotated[str, "name of the dataset"]
    seed: Annotated[int, "seed of the run"]
    trial: Annotated[str, "hash of the trial"]
    data: Annotated[str, "data hash"]
    verdict: Annotated[str, "verdict on the data where the run was made"]
    metric: Annotated[str, "name of the score among the figures"]
    metrics_version: Annotated[int, "version of the metrics"]
    settings: Annotated[Mapping[str, Any], "settings of the trial"]
    plugins: Annotated[
        Mapping[str, str], "setting -> hash of the code of a plug-in; empty if all code is built in"
    ]
    dev: Annotated[
        Mapping[str, float], "figures on dev, as fractions; empty if there are no predictions"
    ]
    test: Annotated[Mapping[str, float], "figures on test"]


class RowRecord(TypedDict):
    """The content of `row.json`."""

    schema: Annotated[int, "version of this format"]
    blurb: Annotated[str, "version of blurb that wrote it"]
    measured_by: Annotated[str, "who ran it, in their own words; empty if they do not say"]
    party: Annotated[Party, "first: who made the model; third: somebody else; empty: not said"]
    trained_on: Annotated[
        str,
        "what the model had met of its datasets before: none, texts (without labels), train or test (with labels), "
        "or unknown",
    ]
    model: Annotated[str, "name of the model"]
    learner: Annotated[str, "kind of learner"]
    weights: Annotated[str, "hash of the weights"]
    tokenizer: Annotated[str, "hash of the tokenizer"]
    recipe: Annotated[str, "recipe number of the learner"]
    protocol: Annotated[str, "name of the protocol"]
    protocol_hash: Annotated[str, "hash of its settings"]
    overrides: Annotated[Mapping[str, Any], "settings over those of the protocol"]
    precision: Annotated[str, "fp32, bf16 or fp16; empty if nobody knows"]
    suite: Annotated[str, "blurb, demo for synthetic data, or another suite"]
    planned: Annotated[Mapping[str, Sequence[int]], "planned seeds by dataset"]
    runs: Annotated[Sequence[RunRecord], "finished runs"]


def files(
    row: Row, measured_by: str = "", party: Party = "", trained_on: str = ""
) -> dict[str, bytes]:
    """The files of a row by name.

    :param measured_by: who ran it
    :param party: whether they made the model
    :param trained_on: what it had met before (`TRAINED_ON`), in place of what the row says
    :raises StoreError: if it has no predictions
    """
    if not row.records:
        raise StoreError(f"{row.name} has no predictions to export.")
    configuration = row.configuration
    about = RowRecord(
        schema=SCHEMA,
        blurb=__version__,
        measured_by=measured_by,
        party=party,
        trained_on=trained_on or row.trained_on or "unknown",
        model=row.model,
        learner=row.learner,
        weights=row.weights,
        tokenizer=row.tokenizer,
        recipe=row.recipe,
        protocol=configuration.protocol,
        protocol_hash=configuration.protocol_hash,
        overrides=dict(configuration.overrides),
        precision=configuration.precision,
        suite=configuration.suite,
        planned={task: list(scores.planned_seeds) for task, scores in row.datasets.items()},
        runs=[
            _run_record(record) for records in row.records.values() for record in records.values()
        ],
    )
    contents = {ABOUT: row_json_bytes(about)}
    contents |= {
        f"{task}{ENDING}": _predictions_bytes(records) for task, records in row.records.items()
    }
    return {
        **contents,
        MANIFEST: manifest_bytes(
            {name: hashlib.sha256(each).hexdigest() for name, each in contents.items()}
        ),
    }


def manifest_bytes(hashes: Mapping[str, str]) -> bytes:
    """The content of `MANIFEST.json`.

    :param hashes: name of a file -> its SHA-256
    """
    return (json.dumps({"sha256": dict(sorted(hashes.items()))}, indent=1) + "\n").encode()


def row_json_bytes(about: RowRecord) -> bytes:
    """The content of `row.json`."""
    return (json.dumps(about, indent=1, allow_nan=False) + "\n").encode()


def _run_record(record: Record) -> RunRecord:
    trial, figures = record.trial, record.metrics
    return RunRecord(
        task=trial.task,
        seed=trial.seed,
        trial=trial.hash,
        data=trial.data,
        verdict=record.provenance.data_verdict,
        metric=figures["metric"],
        metrics_version=figures["metrics_version"],
        settings=dict(trial.settings),
        plugins=dict(trial.plugins),
        dev=dict(figures["dev"]),
        test=dict(figures["test"]),
    )


def _predictions_bytes(records: Mapping[int, Record]) -> bytes:
    """The predictions of all seeds of a dataset as Parquet: seed, split, id, prediction, and loss where it is known."""
    columns: dict[str, list[Any]] = {"seed": [], "split": [], "id": [], "prediction": [], LOSS: []}
    for seed, record in records.items():
        stored = read_predictions(record.path / PREDICTIONS)
        stored.setdefault(LOSS, [None] * len(stored["id"]))
        places = [place for place, split in enumerate(stored["split"]) if split in SCORED]
        columns["seed"] += [seed] * len(places)
        for name in ("split", "id", "prediction", LOSS):
            columns[name] += [stored[name][place] for place in places]
    if set(columns[LOSS]) == {None}:
        del columns[LOSS]
    content = BytesIO()
    write_predictions(content, columns)
    return content.getvalue()
