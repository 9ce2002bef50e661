"""Stores scored predictions as trials of a model that is claimed to have made them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from blurb import __version__, learners, names
from blurb.formulations._base import Formulation
from blurb.learners import EXTERNAL, PROMPTED
from blurb.messages import SettingsError, opt
from blurb.results.groups import TOLD
from blurb.scoring.scores import MatchedAnswers, Score, hash_predictions
from blurb.store import rescore, row_trials
from blurb.store.record import PREDICTIONS, write_predictions
from blurb.store.store import Store
from blurb.store.trial import PROVENANCE, Configuration, Provenance, Trial
from blurb.system import leases
from blurb.system.files import text_hash, write_json

UNKNOWN = ""
"""The precision, as nobody here has seen how the predictions were made."""
UNSEEN = "whether the model saw the test sets in its training is unknown"
"""The note of answers of a language model."""
HISTORY = "epoch,loss,learning_rate,dev\n"


def add(
    root: Path,
    model: str,
    seed: int,
    suite: str,
    predictions: Sequence[MatchedAnswers],
    scores: Sequence[Score],
    dev: Mapping[str, MatchedAnswers],
    trained_on: str = "",
) -> frozenset[str]:
    """Writes predictions as finished trials, and their row; returns the tasks for which the row had others before.

    A trial is identified by its predictions. Other predictions of the same model and seed take its place in the row.

    :param root: of the store
    :param model: name of the model in the store
    :param predictions: on test, with their `scores`
    :param dev: dataset -> predictions on dev, if there are any
    :param trained_on: what the model had met before (`TRAINED_ON`); "" keeps that of the row
    :raises SettingsError: for an invalid name, or data that lacks a split
    """
    _check_names(model, predictions)
    like, store = _row_of(model, suite, [*predictions, *dev.values()]), Store(root)
    with store.locked():
        store.claim(model)
    trials = {}
    for answers, score in zip(predictions, scores, strict=True):
        columns = _columns_of_splits(answers, dev.get(score.task.name))
        trial = _make_trial(like, seed, answers, hash_predictions(columns))
        origin = Provenance(
            data_verdict=answers.facts.verdict,
            model=model,
            configuration=like.configuration,
            started=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            facts={"file": score.file.name, "matched": answers.matched, **_of_model(answers)},
            environment={"blurb": __version__},
        )
        _write_trial(store, trial, origin, answers.formulation, columns)
        trials[trial.task] = trial
    row = replace(
        like,
        trials={task: {seed: trial.hash} for task, trial in trials.items()},
        families={task: trial.family for task, trial in trials.items()},
        unread={trials[each.task.name].hash: each.unread for each in scores if each.unread >= TOLD},
        trained_on=trained_on,
    )
    with store.locked():
        before = {each.key: each.trials for each in row_trials.read(store, near=model)}.get(
            row.key, {}
        )
        row_trials.write(store, row)
    return frozenset(
        task
        for task, trial in trials.items()
        if before.get(task, {}).get(seed, trial.hash) != trial.hash
    )


def _row_of(model: str, suite: str, predictions: Sequence[MatchedAnswers]) -> row_trials.RowTrials:
    """The row of some predictions, without its trials.

    Its weights are a claim, as nobody here has seen them. For a language model the prompts take the place of the
    tokenizer: they decide what is read.

    :raises SettingsError: if not all were made alike
    """
    rows = {}
    for answers in predictions:
        served = answers.replies.model if answers.replies is not None else ""
        if answers.replies is None:
            kind, read, name = EXTERNAL, "", EXTERNAL.name
            configuration = Configuration(name, text_hash(name), {}, UNKNOWN, suite)
        else:
            kind, asked = PROMPTED, answers.replies.manifest
            overrides, read = {"shots": asked.shots, **asked.settings}, asked.input_hash
            configuration = Configuration(
                asked.prompts, asked.prompts_hash, overrides, UNKNOWN, suite, UNSEEN
            )
        claim = text_hash(f"{kind.name} {model}{served and f' {served}'}")
        row = row_trials.RowTrials(
            model, claim, read, kind.recipe, configuration, {}, {}, learner=kind.name
        )
        rows[row.key] = row
    if len(rows) > 1:
        raise SettingsError(
            "These answers were not made alike: model, prompts, shots or limit differ, or there are other predictions",
            fix=f"add each of them with a call of {opt('add')}.",
        )
    return next(iter(rows.values()))


def _of_model(answers: MatchedAnswers) -> dict[str, Any]:
    """What is known of the answers of a language model."""
    faults = {"faults": dict(answers.faults)} if answers.faults else {}
    return faults if answers.replies is None else {**answers.replies.facts, **faults}


def _check_names(model: str, predictions: Sequence[MatchedAnswers]) -> None:
    names.check(model, "The model name", opt("add"))
    if learners.is_named(model):
        raise SettingsError(f"'{model}' is no name for predictions of another tool.")
    for answers in predictions:
        if answers.facts.missing:
            lost = " and ".join(answers.facts.missing)
            raise SettingsError(
                f"The data of {answers.formulation.task.name} lacks {lost}; a trial is identified by all its splits",
                fix=f"score without {opt('add')}, or get the rest of the data.",
            )


def _columns_of_splits(test: MatchedAnswers, dev: MatchedAnswers | None) -> dict[str, list[Any]]:
    """The columns of both splits, dev first as in every trial."""
    columns = test.columns
    if dev is not None and dev.formulation.options != test.formulation.options:
        name = test.formulation.task.name
        raise SettingsError(
            f"{name}: the predictions on dev and test are of different units, such as abstracts."
        )
    return (
        columns
        if dev is None
        else {name: [*cells, *columns[name]] for name, cells in dev.columns.items()}
    )


def _make_trial(
    row: row_trials.RowTrials, seed: int, answers: MatchedAnswers, predictions: str
) -> Trial:
    """The trial of some predictions.

    :param row: the row of the trial
    :param predictions: hash of the predictions
    """
    formulation, replies = answers.formulation, answers.replies
    settings = formulation.options if formulation.by_document else {}
    settings |= replies.manifest.settings if replies is not None else {}
    return Trial(
        formulation.task.name,
        row.weights,
        row.tokenizer,
        answers.facts.hash,
        settings,
        seed,
        UNKNOWN,
        row.recipe,
        learner=row.learner,
        predictions=predictions,
    )


def _write_trial(
    store: Store,
    trial: Trial,
    origin: Provenance,
    formulation: Formulation,
    columns: Mapping[str, list[Any]],
) -> None:
    path = store.path(origin.model, trial.task, trial.hash)
    path.parent.mkdir(parents=True, exist_ok=True)
    with leases.held(store.lease(path)) as lease:
        if rescore.is_done(store, path):
            return
        with store.writing(path, lease) as aside:
            write_json(aside / "spec.json", trial.content)
            write_predictions(
                aside / PREDICTIONS, {**columns, "scores": [None] * len(columns["id"])}
            )
            write_json(aside / "metrics.json", rescore.figures(formulation, columns))
            write_json(aside / PROVENANCE, origin.content)
            (aside / "history.csv").write_text(HISTORY, encoding="utf-8")
            (aside / "log.txt").write_text(
                f"{origin.started} scored {origin.facts['file']}\n", encoding="utf-8"
            )
