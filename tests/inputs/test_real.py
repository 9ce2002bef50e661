"""Figures on the real files with BERT's uncased vocabulary, which MiniLM uses. Special tokens count.

docs/benchmark.md, "Lengths" and docs/benchmark.md, "Tagging schemes" have them.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from blurb import formulations, tasks
from blurb.checkpoints import Checkpoint
from blurb.data.schema import Example
from blurb.inputs.tagging import SCHEMES, convert_tags
from blurb.inputs.tokenizer import Tokenizer
from blurb.tasks import SPLITS, Split

pytestmark = pytest.mark.real
Rows = Callable[[str, Split], list[Example]]


@pytest.fixture(scope="module")
def tokenizer(minilm: Path) -> Tokenizer:
    return Checkpoint(minilm).tokenizer


def _rows(real_rows: Rows, name: str) -> list[Example]:
    splits = SPLITS if name != "ebm-pico" else ("dev", "test")
    return [row for split in splits for row in real_rows(name, split)]


def _text(row: Example) -> str:
    return row["text"] if "text" in row else " ".join(row["tokens"])


def _long(rows: list[Example]) -> list[Example]:
    """Those with 540 characters, to save time: that the figures below are met shows that no shorter one counts."""
    return [row for row in rows if len(_text(row)) >= 540]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "average"),
    [("ncbi-disease", 34.6), ("gad", 42.6), ("biosses", 78.2), ("hoc", 40.1), ("pubmedqa", 330.0)],
)
def test_average_lengths_of_table_8(
    real_rows: Rows, tokenizer: Tokenizer, name: str, average: float
) -> None:
    rows = _rows(real_rows, name)
    features = formulations.bind(tasks.get(name)).features(rows, tokenizer, 10_000)
    assert len(features) == len(rows)
    assert features.ids.lengths.mean() == pytest.approx(average, abs=0.05)


def test_no_pair_of_biosses_is_cut_at_512(real_rows: Rows, tokenizer: Tokenizer) -> None:
    """So how the longer of two sentences is cut changed no figure of it."""
    rows = _rows(real_rows, "biosses")
    formulation = formulations.bind(tasks.get("biosses"))
    features = formulation.features(rows, tokenizer, 512)
    assert features.truncated == 0
    assert int(features.ids.lengths.max()) == 152
    assert formulation.features(rows, tokenizer, 151).truncated > 0  # the count counts


@pytest.mark.costly
def test_the_longest_sentence_has_364_sub_tokens(real_rows: Rows, tokenizer: Tokenizer) -> None:
    longest = {}
    for name in ("bc5-chem", "ncbi-disease", "bc2gm", "jnlpba", "ebm-pico", "hoc"):
        rows = _long(_rows(real_rows, name))
        features = formulations.bind(tasks.get(name)).features(rows, tokenizer, 10_000)
        longest[name] = int(features.ids.lengths.max(initial=0))
    assert longest["jnlpba"] == max(longest.values()) == 364


@pytest.mark.costly
@pytest.mark.parametrize(("name", "number"), [("ddi", 2_669), ("chemprot", 512)])
def test_relations_over_256_keep_both_dummies(
    real_rows: Rows, tokenizer: Tokenizer, name: str, number: int
) -> None:
    rows = _long(_rows(real_rows, name))
    features = formulations.bind(tasks.get(name)).features(rows, tokenizer, 256)
    assert features.windowed == number
    assert int((features.ids.lengths == 256).sum()) >= number
    assert int(features.ids.lengths.max()) == 256
    dummies = ("@DRUG$", "@DRUG-DRUG$", "@CHEMICAL$", "@GENE$", "@CHEM-GENE$")
    sought = {dummy: " ".join(map(str, tokenizer.subtokens([dummy])[0].ids)) for dummy in dummies}
    for row, example in enumerate(rows):
        kept = " ".join(map(str, features.ids[row]))
        kinds = [f"@{example[role]['type']}$" for role in ("head", "tail")]
        if example["head"] == example["tail"]:
            assert sought[kinds[0]] in kept
        else:
            assert all(kept.count(sought[kind]) >= kinds.count(kind) for kind in kinds)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "length", "entities"),
    [
        ("ncbi-disease", 512, 960),
        ("ncbi-disease", 24, 960),
        ("bc5-disease", 40, 4_424),
        ("bc2gm", 48, 6_325),
    ],
)
def test_every_gold_entity_is_scored_whatever_the_window(
    real_rows: Rows, tokenizer: Tokenizer, name: str, length: int, entities: int
) -> None:
    rows = real_rows(name, "test")
    formulation = formulations.bind(tasks.get(name))
    features = formulation.features(rows, tokenizer, length)
    assert int(features.ids.lengths.max()) <= length
    targets = formulation.targets(rows)
    perfect = [
        targets[unit][features.word_ids[row]] for row, unit in enumerate(features.example_index)
    ]
    predicted, _ = formulation.output(
        rows, features, perfect, [np.ones(len(row)) for row in perfect]
    )
    figures = formulation.score(
        [formulation.gold(row) for row in rows], predicted, [None] * len(rows)
    )
    assert figures["gold"] == entities
    assert figures["f1"] == figures["strict_f1"] == 1.0


@pytest.mark.costly
def test_every_word_of_the_test_sets_has_a_sub_token(real_rows: Rows, tokenizer: Tokenizer) -> None:
    rows = real_rows("jnlpba", "test") + real_rows("ebm-pico", "test")
    features = formulations.bind(tasks.get("jnlpba")).features(rows, tokenizer, 512)
    assert len(features.word_ids.values) == sum(len(row["tokens"]) for row in rows)


@pytest.mark.parametrize(
    ("name", "split", "ceiling"),
    [
        ("bc5-chem", "test", 99.69),
        ("bc5-disease", "test", 99.08),
        ("ncbi-disease", "test", 99.22),
        ("bc2gm", "test", 98.17),
        ("jnlpba", "test", 98.35),
        ("jnlpba", "dev", 96.22),
    ],
)
def test_the_ceilings_of_tagging_schemes(
    real_rows: Rows, name: str, split: Split, ceiling: float
) -> None:
    """What perfect predictions get against the gold, by scheme: IO loses the borders of adjacent entities."""
    gold = [row["tags"] for row in real_rows(name, split)]
    for scheme, expected in (("io", ceiling), ("bio", 100), ("bioul", 100)):
        predicted = [
            convert_tags(convert_tags(tags, "bio", scheme), scheme, "bio") for tags in gold
        ]
        figures = formulations.bind(tasks.get(name), {"tagging": scheme}).score(
            gold, predicted, [None] * len(gold)
        )
        assert round(100 * figures["f1"], 2) == expected


@pytest.mark.parametrize("scheme", SCHEMES)
def test_pico_has_no_ceiling_in_any_scheme(real_rows: Rows, scheme: str) -> None:
    gold = [row["tags"] for row in real_rows("ebm-pico", "test")]
    predicted = [convert_tags(convert_tags(tags, "bio", scheme), scheme, "bio") for tags in gold]
    assert (
        formulations.bind(tasks.get("ebm-pico")).score(gold, predicted, [None] * len(gold))[
            "macro_f1"
        ]
        == 1
    )
