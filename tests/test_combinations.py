"""Head x tagging x word pooling x relation input x pooling: every legal combination takes a step, the rest is refused.

What is legal is said here once more, apart from the code that decides it. One dataset stands for each kind of task; the
demo suite brings the text. The steps of a pairwise cover are always taken (any two choices meet in one of them), those
of the whole product are slow.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from blurb import tasks
from blurb.corpora import demo
from blurb.execution.job import Job
from blurb.execution.worker import execute_job
from blurb.heads import heads, poolings
from blurb.inputs.relations import STRATEGIES
from blurb.inputs.tagging import SCHEMES
from blurb.inputs.words import POOLINGS
from blurb.learners import building
from blurb.messages.errors import SettingsError
from blurb.planning import trials
from tests.conftest import Builder
from tests.planning.requests import request

AXES = {
    "head": heads.names(),
    "tagging": SCHEMES,
    "word_pooling": POOLINGS,
    "relation_input": STRATEGIES,
    "pooling": poolings.names(),
}
TAGGED = ("ncbi-disease", "ebm-pico")
RELATIONS = ("chemprot", "ddi", "gad")
OTHERS = ("biosses", "hoc", "pubmedqa")
ANYWHERE = {
    "cls",
    "cls-pooler",
    "last",
    "mean",
    "cls-mean",
    "attention",
    "attention-dot",
    "attention-general",
}
Combination = dict[str, str]


def everything() -> Iterator[Combination]:
    for values in itertools.product(*AXES.values()):
        yield dict(zip(AXES, values, strict=True))


def concerns(task: str, combination: Combination) -> Combination | None:
    """The part of a legal combination that is something to a task; None if it is not legal."""
    if task in TAGGED:
        return {axis: combination[axis] for axis in ("head", "tagging", "word_pooling")}
    strategy, pooling = combination["relation_input"], combination["pooling"]
    asked = {"head": combination["head"]} | (
        {"relation_input": strategy} if task in RELATIONS else {}
    )
    if combination["head"] in {"crf", "bilstm-crf"} or (task == "gad" and strategy == "original"):
        return None
    if combination["head"] == "bilstm":
        return asked
    fits = (
        pooling in ANYWHERE
        or (task in RELATIONS and pooling in {"mention", "mention-mean", "cls-mean-mentions"})
        or (task == "biosses" and pooling == "cosine")
        or (task in RELATIONS and pooling == "entity-start" and strategy.endswith("markers"))
    )
    return {**asked, "pooling": pooling} if fits else None


def legal() -> Iterator[tuple[str, Combination]]:
    for task in (*TAGGED, *RELATIONS, *OTHERS):
        found = (concerns(task, combination) for combination in everything())
        for items in dict.fromkeys(tuple(part.items()) for part in found if part is not None):
            yield task, dict(items)


def pairs(task: str, combination: Combination) -> set[frozenset[tuple[str, str]]]:
    """Every two choices that meet in a combination, the task being one."""
    return {
        frozenset(two) for two in itertools.combinations([("task", task), *combination.items()], 2)
    }


def cover() -> list[tuple[str, Combination]]:
    """Few legal combinations in which all pairs of choices meet that meet in any: greedily, the first of equals."""
    left = list(legal())
    missing = set().union(*(pairs(*one) for one in left))
    chosen = []
    while missing:
        best = max(left, key=lambda one: len(pairs(*one) & missing))
        chosen.append(best)
        missing -= pairs(*best)
    return chosen


COVER = cover()


def cases() -> Iterator[Any]:
    for task, combination in legal():
        marks = () if (task, combination) in COVER else (pytest.mark.slow,)
        yield pytest.param(
            task, combination, id=f"{task}-{'-'.join(combination.values())}", marks=marks
        )


@pytest.fixture(scope="module")
def planned(
    checkpoint: Builder, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, Combination], Job]:
    """The trial of one step that a combination asks for."""
    source, folder = building.resolve_model(str(checkpoint("bert_uncased"))), demo.prepare()
    store = tmp_path_factory.mktemp("runs")
    small = {"epochs": 1, "batch_size": 2, "max_train": 2, "max_eval": 2, "max_length": 64}

    def job(task: str, combination: Combination) -> Job:
        given = {
            "data": folder,
            "raw": folder,
            "overrides": {**small, **combination},
            "seeds": 1,
            "suite": "demo",
        }
        return trials.job(
            request(store, source, tasks_=task, **given), source, tasks.get(task), seed=1
        )

    return job


def test_the_cover_is_one_and_is_small() -> None:
    every = list(legal())
    assert all(one in every for one in COVER)
    met = set().union(*(pairs(*one) for one in COVER))
    assert met == set().union(*(pairs(*one) for one in every))
    assert len(COVER) < len(every) / 2


@pytest.mark.costly
@pytest.mark.parametrize(("task", "combination"), cases())
def test_a_legal_combination_takes_a_step(
    task: str, combination: Combination, planned: Callable[[str, Combination], Job]
) -> None:
    outcome = execute_job(planned(task, combination))
    assert (outcome.status, outcome.message) == ("done", "")


@pytest.mark.costly
@pytest.mark.parametrize("task", [*TAGGED, *RELATIONS, *OTHERS])
def test_the_rest_is_refused_with_a_reason_and_what_is_nothing_to_a_task_changes_no_trial(
    task: str, planned: Callable[[str, Combination], Job]
) -> None:
    trials: dict[str, Combination] = {}
    for combination in everything():
        part = concerns(task, combination)
        if part is None:
            with pytest.raises(SettingsError, match=r"Possible|does not support"):
                planned(task, combination)
        else:
            assert trials.setdefault(planned(task, combination).trial.hash, part) == part
    assert len(trials) == sum(one == task for one, _ in legal())
