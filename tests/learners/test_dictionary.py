"""`baseline:dictionary`: against an independent search, and the figures of the real files."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st

from blurb import tasks
from blurb.data.schema import Example
from blurb.formulations import bind
from blurb.learners.base import Subset
from blurb.learners.baselines import dictionary
from blurb.learners.building import resolve_model
from blurb.messages import SettingsError
from blurb.results.score import bounds
from tests.data.test_seen import sentences, spans_of


def predict(task: str, train: Sequence[Example], rows: Sequence[Example]) -> list[list[str]]:
    learner = dictionary.Dictionary(bind(tasks.get(task)), "cpu", "fp32")
    learner.fit(Subset(train, ""), Subset([], ""), 1, lambda done, total: None)
    answers, scores = learner.predict(Subset(rows, ""))
    assert scores is None
    return [list(answer) for answer in answers]


def search(train: Sequence[Example], words: list[str], labels: Sequence[str]) -> set[Any]:
    """Every mention of train at every place, from the left the longest, as one would with a list on paper."""
    mentions = [
        (tuple(word.lower() for word in row["tokens"][start:end]), kind)
        for row in train
        for start, end, kind in spans_of(row["tags"])
    ]
    low, place, found = [word.lower() for word in words], 0, set()
    while place < len(low):
        fits = [m for m, _ in mentions if tuple(low[place : place + len(m)]) == m]
        if not fits:
            place += 1
            continue
        longest = max(fits, key=len)
        kinds = Counter(kind for m, kind in mentions if m == longest)
        best = next(kind for kind in labels if kinds[kind] == max(kinds.values()))
        found.add((place, place + len(longest), best))
        place += len(longest)
    return found


@given(
    st.lists(sentences("io", ("PAR", "INT", "OUT")), max_size=5),
    sentences("io", ("PAR", "INT", "OUT")),
)
def test_it_finds_what_a_search_finds(train: list[Example], row: Example) -> None:
    (answer,) = predict("ebm-pico", train, [row])
    labels = tasks.get("ebm-pico").labels
    tagged = ["O"] * len(row["tokens"])
    for start, end, kind in search(train, row["tokens"], labels):
        tagged[start:end] = [f"I-{kind}"] * (end - start)
    assert answer == tagged


@pytest.mark.parametrize(
    ("train", "words", "tags"),
    [
        pytest.param([["a", "b"], ["b", "c"]], "A b c b c b", "B I O B I O", id="no match crosses"),
        pytest.param(
            [["type 2", "diabetes"]],
            "Type_2 diabetes type 2 diabetes",
            "B I B I I",
            id="a token with a blank",
        ),
    ],
)
def test_matches_do_not_cross_and_a_token_with_a_blank_is_found(
    train: list[list[str]], words: str, tags: str
) -> None:
    rows = [{"tokens": mention, "tags": ["B-Disease", "I-Disease"]} for mention in train]
    asked = [{"tokens": [word.replace("_", " ") for word in words.split()]}]
    assert predict("ncbi-disease", rows, asked) == [
        [tag if tag == "O" else f"{tag}-Disease" for tag in tags.split()]
    ]


@pytest.mark.parametrize(
    ("name", "f1"),
    [
        ("ncbi-disease", 58.9),
        ("bc5-disease", 68.8),
        ("bc5-chem", 65.8),
        ("bc2gm", 42.5),
        ("jnlpba", 46.4),
    ],
)
def test_the_figures_of_the_real_files(name: str, f1: float, real_rows: Any) -> None:
    """Counted by independent code for the review of 1ec2948e."""
    rows = real_rows(name, "test")
    formulation = bind(tasks.get(name))
    answers = predict(name, real_rows(name, "train"), rows)
    gold = [row["tags"] for row in rows]
    score = 100 * formulation.score(gold, answers, [None] * len(rows))["f1"]
    assert round(score, 1) == f1
    assert score < bounds()[name][0]  # bigrams stay the floor of skill


@pytest.mark.parametrize("task", ["gad", "hoc", "biosses", "pubmedqa"])
def test_a_task_without_mentions_is_refused(task: str) -> None:
    with pytest.raises(SettingsError, match=f"finds mentions of NER and PICO; {task} has none"):
        dictionary.check(resolve_model("baseline:dictionary"), bind(tasks.get(task)))
