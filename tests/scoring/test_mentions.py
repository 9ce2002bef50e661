"""Mentions as text and back to tags. Oracles: a decoder word by word, counts, and the files of BLURB."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from blurb import tasks
from blurb.data.loading import read_split
from blurb.inputs import tagging
from blurb.inputs.tagging import Span
from blurb.scoring.mentions import MISSING, OVERLAPPING, UNORDERED, SearchedWords, of_tags

WORDS = ["IL", "-", "2", "β", "a", "of", "TNF-α", "gene", "(", ")"]


def spans(words: str, *mentions: str) -> tuple[list[tuple[int, int]], dict[str, int]]:
    faults = Counter[str]()
    listed = [{"text": text, "type": "GENE"} for text in mentions]
    return [
        (start, end) for start, end, _ in SearchedWords(words.split()).spans(listed, faults)
    ], dict(faults)


@pytest.mark.parametrize(
    ("words", "mentions", "expected", "faults"),
    [
        ("IL - 2 binds IL - 2", ["IL-2", "IL - 2"], [(0, 3), (4, 7)], {}),
        ("a b a b", ["b", "b"], [(1, 2), (3, 4)], {}),
        ("a b a b", ["b", "a"], [(1, 2), (2, 3)], {}),
        ("a b c", ["c", "a"], [(0, 1), (2, 3)], {UNORDERED: 1}),
        ("a b c", ["a b", "b"], [(0, 2)], {OVERLAPPING: 1}),
        ("a b c", ["a b", "a b"], [(0, 2)], {OVERLAPPING: 1}),
        ("alpha b", ["a", "alp", "lpha", "", " "], [], {MISSING: 5}),
        ("a b c", ["a b c d", "B"], [], {MISSING: 2}),
        ("TNF - α ( TNF )", ["TNF-α", "TNF"], [(0, 3), (4, 5)], {}),
    ],
)
def test_places_and_faults(
    words: str, mentions: list[str], expected: object, faults: object
) -> None:
    assert spans(words, *mentions) == (expected, faults)


def by_words(words: list[str], mentions: list[list[str]]) -> list[tuple[int, int]]:
    """The cursor, word by word: the first free place behind the mention before, else the first free one."""
    free, found, cursor = [True] * len(words), [], 0
    for part in mentions:
        places = [
            at
            for at in range(len(words))
            if words[at : at + len(part)] == part and all(free[at : at + len(part)])
        ]
        if places:
            start = next((at for at in places if at >= cursor), places[0])
            cursor = start + len(part)
            free[start:cursor] = [False] * len(part)
            found.append((start, cursor))
    return sorted(found)


@given(st.lists(st.sampled_from(WORDS), max_size=14), st.data())
def test_it_is_the_cursor_by_words(words: list[str], data: st.DataObject) -> None:
    """No word of these is made of others, so letters and words give the same places."""
    starts = st.integers(0, max(0, len(words) - 1))
    pairs = data.draw(st.lists(st.tuples(starts, st.integers(1, 3)), max_size=6))
    mentions = [words[start : start + size] for start, size in pairs if words]
    listed = [{"text": " ".join(part), "type": "X"} for part in mentions]
    found = SearchedWords(words).spans(listed, Counter())
    assert [(start, end) for start, end, _ in found] == by_words(words, mentions)


def generated(count: int) -> list[tuple[list[str], list[Span]]]:
    """Sentences with repeated, adjacent and nested names, Greek letters and words with blanks of their own."""
    draw = random.Random(7)
    rows = []
    for number in range(count):
        words, entities = [f"w{number}"], list[Span]()
        for _ in range(draw.randrange(6)):
            name = draw.choice(
                [["IL", "-", "2"], ["IL", "-", "2", "receptor"], ["β"], ["NF\u00a0κB"], ["p53"]]
            )
            entities.append(
                Span(len(words), len(words) + len(name), draw.choice(["GENE", "Disease"]))
            )
            words += [*name, *draw.choice([[], ["and"], ["of", "the"]])]
        rows.append((words, entities))
    return rows


def test_a_generated_corpus_comes_back() -> None:
    faults = Counter[str]()
    for words, entities in generated(2000):
        written = of_tags(words, tagging.tags(entities, len(words), "bio"))
        assert SearchedWords(words).spans(written, faults) == entities
    assert not faults


@pytest.mark.real
@pytest.mark.parametrize(
    "name", ["bc5-chem", "bc5-disease", "ncbi-disease", "bc2gm", "jnlpba", "ebm-pico"]
)
def test_gold_mentions_come_back(name: str, real_data: Path) -> None:
    """At most one mention in seven hundred is found at an earlier place that nobody annotated."""
    task = tasks.get(name)
    gold = read_split(task, real_data, "test")
    faults, same, total = Counter[str](), 0, 0
    for row in gold:
        right = tagging.decode_spans(row["tags"])
        found = SearchedWords(row["tokens"]).spans(of_tags(row["tokens"], row["tags"]), faults)
        same, total = same + len({*right} & {*found}), total + len(right)
    assert not faults
    assert same / total >= 0.9985
