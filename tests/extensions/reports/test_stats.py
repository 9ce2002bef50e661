"""Statistics against other ways to count them, and of the real files against what is committed beside this test.

`statistics.json` is what `blurb data stats --format json` says with BERT's uncased vocabulary, a line a split. The
figures in it that others have counted (docs/benchmark.md) are asserted here by themselves.
"""

import dataclasses
import json
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

from blurb import data, formulations, tasks
from blurb.checkpoints import Checkpoint
from blurb.checkpoints.source import reader_of
from blurb.cli import cli
from blurb.corpora import demo
from blurb.data.schema import Example
from blurb.extensions.reports.stats import adjacent, io_ceiling, label_counts, lengths, measure
from blurb.formulations._base import majority_score
from blurb.learners.building import resolve_model
from blurb.messages.errors import SettingsError
from blurb.tasks import SPLITS, Split
from tests.conftest import Builder

Rows = Callable[[str, Split], list[Example]]
EXPECTED: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "statistics.json").read_text(encoding="utf-8")
)
BY_SPLIT = {(one["task"], one["split"]): one for one in EXPECTED}
SLOW = ("chemprot", "ddi", "jnlpba", "bc2gm")
"""Tens of thousands of inputs to cut into sub-tokens."""


def rounded(value: Any) -> Any:
    """As the committed figures: floats with four digits."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return round(value, 4) if isinstance(value, float) else value


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40))
def test_quantiles_by_their_definition(sizes: list[int]) -> None:
    found = lengths(sizes, [str(number) for number in range(len(sizes))])
    assert list(found.values())[1:6] == [
        sorted(sizes)[-(-part * len(sizes) // 100) - 1] for part in (5, 25, 50, 75, 95)
    ]
    assert found["mean"] == pytest.approx(np.mean(sizes))
    assert (found["longest"], found["longest_id"]) == (max(sizes), str(int(np.argmax(sizes))))


TAGS = st.lists(st.tuples(st.sampled_from("XY"), st.integers(1, 3), st.integers(0, 1)), max_size=6)


@given(st.lists(TAGS, min_size=1, max_size=4))
def test_the_ceiling_of_io_by_hand(entities: list[list[tuple[str, int, int]]]) -> None:
    """Entities by place, and runs of one type instead of them; F1 from the sets."""
    rows, gold, merged, touching = [], set(), set(), 0
    for number, sentence in enumerate(entities):
        tags: list[str] = []
        for place, (kind, size, gap) in enumerate(sentence):
            gold.add((number, len(tags), len(tags) + size, kind))
            tags += [f"B-{kind}"] + [f"I-{kind}"] * (size - 1) + ["O"] * gap
            touching += place + 1 < len(sentence) and not gap and sentence[place + 1][0] == kind
        rows.append({"tags": tags})
        for kind, run in groupby(range(len(tags)), key=lambda place, tags=tags: tags[place][2:]):  # type: ignore[misc]
            inside = list(run)
            if kind:
                merged.add((number, inside[0], inside[-1] + 1, kind))
    right = len(gold & merged)
    assert io_ceiling(rows) == pytest.approx(2 * right / (len(gold) + len(merged)) if gold else 0)
    assert adjacent(rows) == touching


def test_labels_are_counted_in_the_unit_of_the_task() -> None:
    hoc = tasks.get("hoc")
    first, second = hoc.labels[:2]
    rows = [
        {"id": "1_s0", "doc_id": "1", "text": "a", "labels": [first]},
        {"id": "1_s1", "doc_id": "1", "text": "b", "labels": [first, second]},
        {"id": "2_s0", "doc_id": "2", "text": "c", "labels": []},
        {"id": "3", "doc_id": None, "text": "d", "labels": [second]},
    ]
    found = label_counts(hoc, rows)
    assert (found[first], found[second], found["(none)"], sum(found.values())) == (1, 2, 1, 4)
    assert list(found) == [*hoc.labels, "(none)"]
    assert label_counts(tasks.get("ebm-pico"), [{"tags": ["I-PAR", "I-PAR", "O", "I-OUT"]}]) == {
        "PAR": 2,
        "INT": 0,
        "OUT": 1,
    }


def test_a_single_pair_has_no_correlation() -> None:
    rows = [{"id": "a", "doc_id": None, "text_a": "kalo", "text_b": "mi", "score": 2.0}]
    with pytest.raises(SettingsError, match=r"biosses.*at least two pairs"):
        measure(tasks.get("biosses"), {"train": rows, "test": rows})


def test_without_train_there_is_no_majority_and_without_a_model_no_sub_token() -> None:
    rows = [{"id": "a", "doc_id": None, "text": "kalo mi", "label": "1"}]
    (found,) = measure(tasks.get("gad"), {"test": rows})
    assert {found["majority"], found["sub_tokens"], found["limit"], found["truncated"]} == {None}
    assert (found["words"]["mean"], found["labels"]) == (2, {"0": 0, "1": 1})


@pytest.mark.parametrize("kind", ["bert_uncased", "t5"])
def test_what_is_over_the_limit_is_what_training_says(checkpoint: Builder, kind: str) -> None:
    """The whole split at the limit, as the learner asks for it; here only what is too long is made again."""
    folder, suite = str(checkpoint(kind)), demo.prepare()
    read, tokenizer = reader_of(resolve_model(folder)), Checkpoint(Path(folder)).tokenizer
    for name in ("bc2gm", "chemprot", "hoc", "biosses", "pubmedqa"):
        task = dataclasses.replace(tasks.get(name), max_length=24)
        rows = data.read_split(task, suite, "dev")
        reading = read(task, rows)
        features = formulations.bind(task).features(rows, tokenizer, reading.limit)
        assert reading.limit == 24
        assert (reading.cut.truncated, reading.cut.windowed) == (
            features.truncated,
            features.windowed,
        )
        assert len(reading.long) == features.truncated + features.windowed > 0


def test_a_baseline_has_no_sub_tokens() -> None:
    result = CliRunner().invoke(
        cli,
        [
            "data",
            "stats",
            "--data",
            str(demo.prepare()),
            "--model",
            "baseline:majority",
            "--tasks",
            "gad",
        ],
    )
    assert "a baseline has no tokenizer" in str(result.exception)


def test_splits_without_entities_and_very_many_labels(tmp_path: Path) -> None:
    for split in SPLITS:
        (tmp_path / f"{split}.txt").write_text(
            "kalo\tO\n" if split == "dev" else "kalo\tB-L7\n\nmi\tB-L60\n"
        )
    labels = json.dumps([f"L{number}" for number in range(20_000)])
    files = "\n".join(f'{split} = "{split}.txt"' for split in SPLITS)
    path = tmp_path / "many.toml"
    path.write_text(
        f'name = "many"\ntype = "ner"\nlabels = {labels}\n[files]\n{files}\n[format]\nkind = "conll"\n'
    )
    try:
        result = CliRunner().invoke(cli, ["data", "stats", "--tasks", str(path)])
    finally:
        tasks._files.clear()
    assert result.exception is None
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["many", "L7", "1", "(50.0", "%)", "0", "1", "(50.0", "%)"] in lines
    assert ["many", "(19,950", "more:", "use", "--format", "csv)", "1", "0", "1"] in lines
    assert len(lines) < 80


@pytest.mark.parametrize(
    ("count", "words", "ratio", "expected"),
    [(3_000, 2, 1_500.0, "sequence"), (2_998, 2, 1_499.0, "bigrams"), (1, 4, 0.25, "bigrams")],
)
def test_the_rule_for_bigrams(count: int, words: int, ratio: float, expected: str) -> None:
    rows = [
        {"id": str(n), "doc_id": str(n), "text": "x " * words, "labels": []} for n in range(count)
    ]
    train, dev = measure(tasks.get("hoc"), {"train": rows, "dev": rows})
    assert (train["examples_per_word"], train["expected"]) == (ratio, expected)
    assert {dev["examples_per_word"], dev["expected"]} == {None}


def test_the_rule_says_nothing_of_tags_and_scores() -> None:
    tagged = [{"id": "1", "tokens": ["a", "b"], "tags": ["O", "O"]}]
    scored = [{"id": "1", "text_a": "a a", "text_b": "b b", "score": 1.0}]
    for name, rows in {"bc2gm": tagged, "ebm-pico": tagged, "biosses": 2 * scored}.items():
        (found,) = measure(tasks.get(name), {"train": rows})
        assert (found["examples_per_word"], found["expected"]) == (0.5, None)


def test_the_rule_on_the_real_sets() -> None:
    """All are below 1,500."""
    ratios = {
        name: BY_SPLIT[name, "train"]["examples_per_word"]
        for name in ("pubmedqa", "gad", "hoc", "chemprot", "ddi")
    }
    assert {name: round(ratio) for name, ratio in ratios.items()} == {
        "pubmedqa": 2,
        "gad": 161,
        "hoc": 470,
        "chemprot": 582,
        "ddi": 719,
    }
    assert {BY_SPLIT[name, "train"]["expected"] for name in ratios} == {"bigrams"}


@pytest.mark.real
@pytest.mark.parametrize(("name", "split"), BY_SPLIT)
def test_statistics_of_the_real_files(real_rows: Rows, name: str, split: Split) -> None:
    """All but the sub-tokens, which take long."""
    rows: dict[Split, list[Example]] = {split: real_rows(name, split)}
    task = tasks.get(name)
    majority = BY_SPLIT[name, split]["majority"]
    (found,) = measure(task, rows)
    given = {"sub_tokens", "limit", "truncated", "windowed", "majority"}
    assert {key: value for key, value in rounded(found).items() if key not in given} == {
        key: value for key, value in BY_SPLIT[name, split].items() if key not in given
    }
    if majority is not None and task.type != "ner":
        assert 100 * majority_score(task, real_rows(name, "train"), rows[split]) == pytest.approx(
            majority, abs=1e-4
        )


@pytest.mark.costly
@pytest.mark.real
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name in dict.fromkeys(name for name, _ in BY_SPLIT)
    ],
)
def test_sub_tokens_of_the_real_files(real_rows: Rows, minilm: Path, name: str) -> None:
    read = reader_of(resolve_model(str(minilm)))
    for split in SPLITS:
        if (name, split) in BY_SPLIT:
            (found,) = measure(tasks.get(name), {split: real_rows(name, split)}, read)
            expected = BY_SPLIT[name, split]
            got = rounded(found)
            for key in ("sub_tokens", "limit", "truncated", "windowed"):
                assert got[key] == expected[key], key


def _all(name: str, key: str) -> float:
    own = [one for one in EXPECTED if one["task"] == name]
    return sum(one["inputs"] * one[key]["mean"] for one in own) / sum(one["inputs"] for one in own)


def test_the_committed_averages_are_those_of_the_protocol() -> None:
    """docs/benchmark.md, "Lengths": BERT's uncased vocabulary on the real files."""
    for name, average in {
        "bc5-chem": 35.6,
        "bc5-disease": 35.6,
        "ncbi-disease": 34.6,
        "bc2gm": 38.1,
        "jnlpba": 40.6,
        "ebm-pico": 35.6,
        "chemprot": 69.6,
        "ddi": 98.3,
        "gad": 42.6,
        "biosses": 78.2,
        "hoc": 40.1,
        "pubmedqa": 330.0,
    }.items():
        assert round(_all(name, "sub_tokens"), 1) == average, name
    for name, by_split in {"chemprot": (66.4, 68.1, 74.5), "ddi": (105.5, 64.4, 80.9)}.items():
        for split, average in zip(SPLITS, by_split, strict=True):
            assert round(BY_SPLIT[name, split]["sub_tokens"]["mean"], 1) == average


def test_the_committed_extremes_are_those_of_the_protocol() -> None:
    """Each from another section of the page.

    docs/benchmark.md, "Lengths": longest sentence, rows over 256; docs/benchmark.md, "Tagging schemes": ceilings of IO;
    docs/benchmark.md, "NER": adjacent entities; docs/benchmark.md, "GAD": always positive;
    docs/benchmark.md, "PubMedQA": always yes; docs/benchmark.md, "File counts": words;
    docs/benchmark.md, "BIOSSES": means.
    """
    sentences = [
        one for one in EXPECTED if tasks.get(one["task"]).type in ("ner", "pico", "document")
    ]
    assert max(one["sub_tokens"]["longest"] for one in sentences) == 364
    for name, number in (("ddi", 2_669), ("chemprot", 512)):
        assert sum(BY_SPLIT[name, split]["windowed"] for split in SPLITS) == number
    ceilings = {
        "bc5-chem": 99.69,
        "bc5-disease": 99.08,
        "ncbi-disease": 99.22,
        "bc2gm": 98.17,
        "jnlpba": 98.35,
    }
    assert {name: round(BY_SPLIT[name, "test"]["io_ceiling"], 2) for name in ceilings} == ceilings
    assert round(BY_SPLIT["jnlpba", "dev"]["io_ceiling"], 2) == 96.22
    assert {name: BY_SPLIT[name, "test"]["adjacent_entities"] for name in ceilings} == {
        "bc5-chem": 11,
        "bc5-disease": 27,
        "ncbi-disease": 5,
        "bc2gm": 80,
        "jnlpba": 95,
    }
    assert round(BY_SPLIT["gad", "test"]["majority"], 2) == 68.96
    assert round(BY_SPLIT["pubmedqa", "test"]["majority"], 1) == 55.2
    words = {
        ("bc5-chem", "train"): (25.9, 154),
        ("bc5-chem", "dev"): (25.6, 225),
        ("bc5-disease", "test"): (26.0, 165),
        ("ncbi-disease", "train"): (25.0, 123),
        ("ncbi-disease", "dev"): (26.0, 86),
        ("ncbi-disease", "test"): (26.1, 106),
        ("bc2gm", "train"): (28.3, 171),
        ("bc2gm", "dev"): (28.2, 265),
        ("bc2gm", "test"): (28.5, 205),
        ("jnlpba", "dev"): (27.3, 123),
        ("jnlpba", "test"): (26.2, 208),
    }
    for key, (mean, longest) in words.items():
        found = BY_SPLIT[key]["words"]
        assert (round(found["mean"], 1), found["longest"]) == (mean, longest), key
    assert {split: round(BY_SPLIT["biosses", split]["score"]["mean"], 2) for split in SPLITS} == {
        "train": 2.40,
        "dev": 1.71,
        "test": 1.94,
    }
