"""Targets, predictions by name and scores of every task type. Oracle of the scores: `blurb.metrics`."""

import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.spatial import distance
from sklearn.metrics import log_loss, mean_squared_error

from blurb import metrics, tasks
from blurb.checkpoints import Checkpoint
from blurb.data.loading import read_split
from blurb.formulations import bind
from blurb.inputs.features import Features, Ragged
from blurb.inputs.tokenizer import Tokenizer
from blurb.messages.errors import UnknownName
from blurb.protocols.settings import DEFAULTS
from blurb.results import results_csv
from blurb.store.record import LOSS, read_predictions
from blurb.store.rescore import figures
from blurb.store.store import Store
from blurb.training.batches import collate_batch
from tests.cli.in_process import ran
from tests.conftest import Builder
from tests.learners.test_encoder import _fit

NONE = Features(ids=Ragged.of([]), example_index=np.zeros(0, dtype=np.int64))


@pytest.fixture(scope="module")
def tokenizer(checkpoint: Builder) -> Tokenizer:
    return Checkpoint(checkpoint("bert_uncased")).tokenizer


def _words(tokens: str, tags: str, **more: Any) -> dict[str, Any]:
    return {"id": "x", "doc_id": None, "tokens": tokens.split(" "), "tags": tags.split(" "), **more}


def _relation(label: str, text: str = "a @GENE$ b @DISEASE$") -> dict[str, Any]:
    spans = {
        "head": {"start": 2, "end": 8, "type": "GENE"},
        "tail": {"start": 11, "end": 20, "type": "DISEASE"},
    }
    return {"id": "x", "doc_id": None, "text": text, "label": label, **spans}


def test_every_task_has_a_formulation_of_its_type() -> None:
    kinds = {task.name: bind(task).kind for task in tasks.all()}
    assert [kinds[name] for name in ("bc2gm", "ebm-pico", "ddi", "biosses", "hoc", "bioasq")] == [
        "tokens",
        "tokens",
        "single",
        "regression",
        "multi",
        "single",
    ]


def test_a_type_without_formulation_is_named() -> None:
    with pytest.raises(
        UnknownName, match=r"no task type called 'documents'. Did you mean 'document'"
    ):
        bind(dataclasses.replace(tasks.get("hoc"), type="documents"))


def test_the_options_of_a_type_have_the_defaults_of_their_settings() -> None:
    for task in tasks.all():
        formulation = bind(task)
        assert formulation.options == {name: DEFAULTS[name] for name in formulation.own_settings}
        assert formulation.settings.max_length == task.max_length


def test_a_type_has_settings_of_its_own_and_defaults_where_none_is_given() -> None:
    settings = {"document_unit": "abstract", "lr": 1.0}
    assert bind(tasks.get("hoc"), settings).options == {"document_unit": "abstract"}
    assert bind(tasks.get("gad"), settings).options == {"relation_input": "dummify"}
    assert bind(tasks.get("gad"), settings).settings.lr == 1.0
    for name in ("bc2gm", "ebm-pico", "gad"):
        assert bind(tasks.get(name), {"tagging": "io"}).scheme == (None if name == "gad" else "io")


# Tokens


def test_ner_targets_are_the_tags() -> None:
    formulation = bind(tasks.get("bc2gm"))
    assert formulation.labels == ("O", "B-GENE", "I-GENE")
    targets = formulation.targets([_words("a b c d", "B-GENE B-GENE I-GENE O"), _words("a", "O")])
    assert [targets[0].tolist(), targets[1].tolist()] == [[1, 1, 2, 0], [0]]


def test_pico_trains_on_bio_and_keeps_its_own_tags_as_gold() -> None:
    formulation = bind(tasks.get("ebm-pico"))
    row = _words("a b c d e", "I-PAR I-PAR O I-INT I-OUT")
    targets = formulation.targets([row])
    assert [formulation.labels[i] for i in targets[0]] == ["B-PAR", "I-PAR", "O", "B-INT", "B-OUT"]
    assert formulation.gold(row) == row["tags"]


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("io", "I-GENE I-GENE I-GENE O I-GENE I-GENE I-GENE"),
        ("bio", "B-GENE B-GENE I-GENE O B-GENE I-GENE I-GENE"),
        ("bioul", "U-GENE B-GENE L-GENE O B-GENE I-GENE L-GENE"),
    ],
)
def test_the_scheme_decides_the_targets_alone(scheme: str, expected: str) -> None:
    formulation = bind(tasks.get("bc2gm"), {"tagging": scheme})
    row = _words("a b c d e f g", "B-GENE B-GENE I-GENE O B-GENE I-GENE I-GENE")
    assert [formulation.labels[i] for i in formulation.targets([row])[0]] == expected.split(" ")
    assert formulation.gold(row) == row["tags"]
    assert formulation.constants([row]) == bind(tasks.get("bc2gm")).constants([row])


@pytest.mark.parametrize(
    ("scheme", "predicted", "stored"),
    [
        ("io", "I-INT I-INT O I-PAR I-OUT", "B-INT I-INT O B-PAR B-OUT"),
        ("bio", "I-INT B-INT O I-PAR I-OUT", "I-INT B-INT O I-PAR I-OUT"),  # as predicted
        ("bioul", "B-INT L-INT O U-PAR L-OUT", "B-INT I-INT O B-PAR B-OUT"),
    ],
)
def test_predictions_are_handed_out_in_bio(
    tokenizer: Tokenizer, scheme: str, predicted: str, stored: str
) -> None:
    formulation = bind(tasks.get("ebm-pico"), {"tagging": scheme})
    rows = [_words("kalo mi tra nex vor", "O O O O O")]
    features = formulation.features(rows, tokenizer, 64)
    tags = np.array([formulation.labels.index(tag) for tag in predicted.split(" ")])
    names, confidence = formulation.output(rows, features, [tags], [np.full(5, 0.5)])
    assert (names, confidence) == ([stored.split(" ")], [[0.5] * 5])
    expected = metrics.token_macro_f1([predicted.split(" ")], [predicted.split(" ")])
    # By word: the prefix does not matter
    assert formulation.score([predicted.split(" ")], names, [None]) == expected


def test_predictions_of_windows_are_put_together_and_words_without_sub_token_are_outside(
    tokenizer: Tokenizer,
) -> None:
    formulation = bind(tasks.get("bc2gm"))
    rows = [_words("kalo \x07 mi tra nex vor pil dun", "O " * 7 + "O"), _words("\u200b", "B-GENE")]
    features = formulation.features(rows, tokenizer, 8)
    assert len(features) > 2
    # Padding is predicted as well
    predicted = [np.full(len(words) + 3, 1) for words in features.word_ids]
    scores = [np.full(len(words) + 3, 0.7) for words in features.word_ids]
    names, confidence = formulation.output(rows, features, predicted, scores)
    assert names == [["B-GENE", "O", *["B-GENE"] * 6], ["O"]]
    assert confidence == [[0.7, 1.0, *[0.7] * 6], [1.0]]


def test_each_prediction_goes_to_its_own_word(tokenizer: Tokenizer) -> None:
    formulation = bind(tasks.get("ebm-pico"))
    rng = np.random.default_rng(0)
    rows = [
        _words(" ".join(["kalo", "mi", "tra", "nex"] * size), " ".join(["O"] * 4 * size))
        for size in (1, 3, 6)
    ]
    features = formulation.features(rows, tokenizer, 12)
    wanted = [rng.integers(0, 7, size=len(row["tokens"])) for row in rows]
    predicted = [
        wanted[unit][words]
        for unit, words in zip(features.example_index, features.word_ids, strict=True)
    ]
    names, _ = formulation.output(
        rows, features, predicted, [np.ones(len(row)) for row in predicted]
    )
    assert names == [[formulation.labels[i] for i in row] for row in wanted]


def test_ner_score_is_entity_f1_with_the_strict_figure_beside_it() -> None:
    gold, predicted = [["B-GENE", "I-GENE", "O"]], [["I-GENE", "I-GENE", "O"]]
    found = bind(tasks.get("bc2gm")).score(gold, predicted, [None])
    assert found == {**metrics.entity_f1(gold, predicted), "strict_f1": 0.0}
    assert bind(tasks.get("bc2gm")).main_metric(found) == found["f1"] == 1.0


def test_pico_score_is_by_word_whatever_the_prefix() -> None:
    gold, predicted = [["I-PAR", "I-INT", "I-OUT", "O"]], [["B-PAR", "I-INT", "B-OUT", "B-OUT"]]
    found = bind(tasks.get("ebm-pico")).score(gold, predicted, [None])
    assert found == metrics.token_macro_f1(gold, predicted)
    assert bind(tasks.get("ebm-pico")).main_metric(found) == pytest.approx((1 + 1 + 2 / 3) / 3)


def test_constants_of_words() -> None:
    formulation = bind(tasks.get("ebm-pico"))
    row = _words("a b c", "O O I-PAR")
    constants = formulation.constants([row])
    assert constants[:2] == ["O", "I-PAR"]
    assert set(constants) >= set(formulation.labels)
    assert formulation.constant("B-INT", row) == ["B-INT"] * 3


# One class


@pytest.mark.parametrize("name", ["chemprot", "ddi", "gad", "pubmedqa", "bioasq"])
def test_classes_are_numbered_by_the_declaration(name: str) -> None:
    task = tasks.get(name)
    formulation = bind(task)
    rows = [{"label": label} for label in reversed(task.labels)]
    targets = formulation.targets(rows)
    assert targets.tolist() == list(range(len(task.labels)))[::-1]
    names, scores = formulation.output(
        rows, NONE, list(targets), [np.eye(len(task.labels))[i] for i in targets]
    )
    assert names == [formulation.gold(row) for row in rows] == list(task.labels[::-1])
    assert [int(np.argmax(row)) for row in scores] == targets.tolist()


def test_constants_of_classes_are_the_most_frequent_first_then_the_unseen() -> None:
    rows = [{"label": label} for label in ("no", "maybe", "no")]
    assert bind(tasks.get("pubmedqa")).constants(rows) == ["no", "maybe", "yes"]


@pytest.mark.parametrize(
    ("name", "gold", "predicted", "metric"),
    [
        (
            "ddi",
            ["DDI-int", "DDI-false", "DDI-effect"],
            ["DDI-int", "DDI-int", "DDI-false"],
            lambda g, p: metrics.micro_f1_without(g, p, negative="DDI-false"),
        ),
        (
            "chemprot",
            ["CPR:3", "false"],
            ["CPR:3", "CPR:4"],
            lambda g, p: metrics.micro_f1_without(g, p, negative="false"),
        ),
        (
            "gad",
            ["1", "0", "1"],
            ["1", "1", "0"],
            lambda g, p: metrics.binary_f1(g, p, positive="1"),
        ),
        ("pubmedqa", ["yes", "no"], ["yes", "maybe"], metrics.accuracy),
        ("biosses", [0.0, 2.0, 4.0], [0.1, 2.0, 7.0], metrics.pearson),
    ],
)
def test_scores_are_those_of_the_metric(
    name: str, gold: list[Any], predicted: list[Any], metric: Any
) -> None:
    formulation = bind(tasks.get(name))
    found = formulation.score(gold, predicted, [None] * len(gold))
    assert found == metric(gold, predicted)
    assert formulation.main_metric(found) == found[next(iter(found))]


def test_relations_read_the_text_and_keep_the_entities(tokenizer: Tokenizer) -> None:
    text = "kalo " * 30 + "@GENE$ " + "mi " * 30 + "@DISEASE$" + " tra" * 30
    row = _relation("1", text)
    for role, dummy in (("head", "@GENE$"), ("tail", "@DISEASE$")):
        row[role] = {
            "start": text.index(dummy),
            "end": text.index(dummy) + len(dummy),
            "type": dummy[1:-1],
        }
    features = bind(tasks.get("gad")).features([row, _relation("0")], tokenizer, 32)
    shown = tokenizer.inner.decode(features.ids[0]).replace(" ", "")
    assert "@gene$" in shown
    assert "@disease$" in shown
    assert features.windowed == 1


def test_questions_come_first_and_stay_whole(tokenizer: Tokenizer) -> None:
    row = {"id": "x", "question": "kalo mi ?", "context": "tra " * 50, "label": "yes"}
    features = bind(tasks.get("bioasq")).features([row], tokenizer, 20)
    question = tokenizer.subtokens([row["question"]])[0].ids
    assert features.ids[0].tolist()[1 : 1 + len(question)] == question
    assert (len(features.ids[0]), features.truncated) == (20, 1)


# Similarity


def test_similarity_is_a_number_and_its_majority_the_mean(tokenizer: Tokenizer) -> None:
    formulation = bind(tasks.get("biosses"))
    rows = [{"text_a": "kalo", "text_b": "mi tra", "score": score} for score in (1.0, 3.5)]
    targets = formulation.targets(rows)
    assert targets.dtype == np.float32
    assert targets.tolist() == [1.0, 3.5]
    assert formulation.constants(rows) == [2.25]
    assert formulation.output(rows, NONE, [np.float32(7.5), np.float32(-1)], []) == (
        [7.5, -1.0],
        None,
    )
    features = formulation.features(rows, tokenizer, 64)
    assert features.ids[0].tolist() == tokenizer.inner("kalo", "mi tra")["input_ids"]


def test_the_order_of_two_texts_is_nothing_to_a_frozen_encoder() -> None:
    u, v = np.random.default_rng(0).normal(size=(2, 5, 4))
    found = bind(tasks.get("biosses")).joined([u, v])
    assert found == pytest.approx(bind(tasks.get("biosses")).joined([v, u]))
    assert found[:, 0] == pytest.approx(
        [1 - distance.cosine(*pair) for pair in zip(u, v, strict=True)]
    )
    assert found.shape == (5, 9)


# Documents

A, B, C = tasks.get("hoc").labels[:3]
ROWS = [
    {"id": "1_s0", "doc_id": "1", "text": "kalo .", "labels": [B]},
    {"id": "2_s0", "doc_id": "2", "text": "mi .", "labels": []},
    {"id": "1_s1", "doc_id": "1", "text": "tra .", "labels": [A, B]},
]


def test_the_units_of_hoc_are_sentences_or_abstracts() -> None:
    assert bind(tasks.get("hoc")).units(ROWS) == ROWS
    assert bind(tasks.get("hoc"), {"document_unit": "abstract"}).units(ROWS) == [
        {"id": "1", "doc_id": "1", "text": "kalo . tra .", "labels": [A, B]},
        {"id": "2", "doc_id": "2", "text": "mi .", "labels": []},
    ]


def test_hoc_targets_are_columns_of_zero_and_one() -> None:
    targets = bind(tasks.get("hoc")).targets(ROWS)
    assert targets.dtype == np.float32
    assert targets.tolist() == [[0, 1, *[0] * 8], [0] * 10, [1, 1, *[0] * 8]]


def test_hoc_predictions_are_names_in_the_order_of_the_declaration() -> None:
    flags = np.zeros((1, 10), dtype=np.int64)
    flags[0, [2, 0]] = 1
    names, scores = bind(tasks.get("hoc")).output(ROWS[:1], NONE, list(flags), [np.full(10, 0.25)])
    assert (names, scores) == ([[A, C]], [[0.25] * 10])


def test_hoc_is_scored_by_the_union_of_an_abstract_for_both_units() -> None:
    """Abstract 1: gold A, B, predicted B, C; abstract 2: gold none, predicted A."""
    by_sentence = bind(tasks.get("hoc"))
    by_abstract = bind(tasks.get("hoc"), {"document_unit": "abstract"})
    expected = metrics.multilabel_f1([[A, B], []], [[B, C], [A]], labels=tasks.get("hoc").labels)
    assert expected["micro_f1"] == pytest.approx(2 * 1 / (2 + 3))
    gold = [by_sentence.gold(row) for row in ROWS]
    assert by_sentence.score(gold, [[C], [A], [B]], ["1", "2", "1"]) == expected
    units = by_abstract.units(ROWS)
    gold = [by_abstract.gold(unit) for unit in units]
    assert by_abstract.score(gold, [[B, C], [A]], [unit["doc_id"] for unit in units]) == expected


def test_sentences_of_no_document_are_documents_of_their_own() -> None:
    expected = metrics.multilabel_f1([[A], [B]], [[B], [B]], labels=tasks.get("hoc").labels)
    assert bind(tasks.get("hoc")).score([[A], [B]], [[B], [B]], [None, None]) == expected
    rows = [{"id": name, "doc_id": None, "text": "kalo", "labels": [A]} for name in ("x", "y")]
    assert bind(tasks.get("hoc"), {"document_unit": "abstract"}).units(rows) == rows


def test_the_majority_of_hoc_is_what_most_units_have() -> None:
    formulation = bind(tasks.get("hoc"))
    assert formulation.constants(ROWS)[0] == [B]
    assert formulation.constants([{"labels": [A]}, {"labels": []}])[0] == []
    assert list(formulation.constant([A], ROWS[1])) == [A]


def of_every_set(gold: list[list[str]], documents: list[str | None]) -> float:
    """The best score of one set of labels for all, of all 1,023."""
    formulation = bind(tasks.get("hoc"))
    sets = (
        list(part)
        for size in range(1, 11)
        for part in itertools.combinations(formulation.labels, size)
    )
    answers = ([answer] * len(gold) for answer in sets)
    return max(
        formulation.main_metric(formulation.score(gold, answer, documents)) for answer in answers
    )


def test_the_best_constant_of_hoc_is_the_best_of_all_sets() -> None:
    """Labels that are frequent among sentences may be rare among documents, which are what is scored."""
    labels = bind(tasks.get("hoc")).labels
    for seed in range(4):
        random = np.random.default_rng(seed)
        odds = random.dirichlet(np.ones(10)) * random.uniform(0.5, 3)
        gold = [
            [label for label, odd in zip(labels, odds, strict=True) if random.random() < odd]
            for _ in range(60)
        ]
        documents: list[str | None] = [f"d{number}" for number in random.integers(0, 12, 60)]
        assert bind(tasks.get("hoc")).best_constant(gold, documents) == pytest.approx(
            of_every_set(gold, documents)
        )


@pytest.mark.costly
def test_the_best_constant_of_the_real_hoc(test_data: Path) -> None:
    rows = read_split(tasks.get("hoc"), test_data / "blurb", "test")
    gold, documents = [row["labels"] for row in rows], [row["doc_id"] for row in rows]
    assert 100 * (bind(tasks.get("hoc")).best_constant(gold, documents) or 0) == pytest.approx(
        31.61, abs=0.005
    )


# How far probabilities are from the gold answers. Oracles: scikit-learn's log_loss and torch's losses of a head.


RANDOM = np.random.default_rng(0)


def _shares(rows: int, labels: int) -> Any:
    return RANDOM.dirichlet(np.ones(labels), rows).astype(np.float32)


def test_classes() -> None:
    formulation = bind(tasks.get("chemprot"))
    labels = list(formulation.labels)
    gold, shares = RANDOM.integers(0, len(labels), 50), _shares(50, len(labels))
    losses = formulation.losses([{"label": labels[place]} for place in gold], NONE, list(shares))
    expected = log_loss(gold, shares, labels=range(len(labels)))
    assert formulation.mean_loss([labels[place] for place in gold], losses) == pytest.approx(
        expected, rel=1e-6
    )


def test_labels_of_documents() -> None:
    formulation = bind(tasks.get("hoc"))
    right, shares = RANDOM.random((40, 10)) < 0.3, RANDOM.random((40, 10)).astype(np.float32)
    units = [
        {"labels": [formulation.labels[place] for place in np.flatnonzero(row)]} for row in right
    ]
    losses = formulation.losses(units, NONE, list(shares))
    expected = log_loss(right.ravel(), shares.ravel().astype(np.float64))
    assert formulation.mean_loss([unit["labels"] for unit in units], losses) == pytest.approx(
        expected, rel=1e-6
    )


def test_numbers() -> None:
    formulation = bind(tasks.get("biosses"))
    gold, given = RANDOM.random(20) * 4, RANDOM.random(20).astype(np.float32) * 4
    losses = formulation.losses([{"score": value} for value in gold], NONE, list(given))
    assert formulation.mean_loss(list(gold), losses) == pytest.approx(
        mean_squared_error(gold, given), rel=1e-5
    )


@pytest.mark.parametrize("scheme", ["bio", "bioul"])
def test_words_of_a_sentence_in_two_inputs(scheme: str) -> None:
    formulation = bind(tasks.get("ncbi-disease"), {"tagging": scheme})
    units = [
        {"tokens": ["a"] * 5, "tags": ["O", "B-Disease", "I-Disease", "O", "B-Disease"]},
        {"tokens": ["a"] * 2, "tags": ["O", "O"]},
    ]
    pieces = Features(
        Ragged.of([[0]] * 3), np.array([0, 0, 1]), word_ids=Ragged.of([[0, 1, 2], [3, 4], [1]])
    )
    targets = np.concatenate([formulation.targets(units)[unit] for unit in (0, 1)])
    assert len(set(targets)) == (3 if scheme == "bio" else 4)
    shares = [_shares(size, len(formulation.labels)) for size in (3, 2, 1)]
    losses = formulation.losses(units, pieces, [np.pad(row, ((0, 1), (0, 0))) for row in shares])
    read = np.r_[targets[:5], targets[6]]  # the first word of the second sentence has no sub-token
    known = list(range(len(formulation.labels)))
    assert sum(losses) == pytest.approx(
        6 * log_loss(read, np.concatenate(shares), labels=known), rel=1e-6
    )
    assert formulation.mean_loss([unit["tags"] for unit in units], losses) == pytest.approx(
        sum(losses) / 7
    )
    # Those of the best tags alone
    assert formulation.losses(units, pieces, [row.max(1) for row in shares]) is None


def test_a_certain_mistake_is_finite_and_as_scikit_learn_counts_it() -> None:
    formulation = bind(tasks.get("gad"))
    losses = formulation.losses(
        [{"label": formulation.labels[0]}], NONE, [np.array([0, 1], np.float32)]
    )
    assert losses == [
        pytest.approx(log_loss([0], np.array([[0, 1]], np.float32), labels=[0, 1]), rel=1e-6)
    ]


@pytest.mark.parametrize(
    ("task", "head"),
    [
        ("bc2gm", "linear"),
        ("bc2gm", "bilstm"),
        ("gad", "linear"),
        ("gad", "bilstm"),
        ("hoc", "linear"),
        ("biosses", "linear"),
    ],
)
def test_of_a_network_they_are_the_loss_that_is_trained(
    task: str, head: str, checkpoint: Builder
) -> None:
    learner, units, _ = _fit(checkpoint("bert_uncased"), task, head=head)
    learner.known = None
    losses = learner.predict(units).losses
    features = learner._features(units)
    batch = collate_batch(
        features, np.arange(len(features)), 0, learner.formulation.targets(units.used)
    )
    with torch.no_grad():
        expected = learner.trainer.network.eval().loss(batch)
    assert sum(losses) == pytest.approx(float(expected), rel=2e-4)


@pytest.mark.parametrize("head", ["crf", "bilstm-crf"])
def test_a_chain_has_none(head: str, checkpoint: Builder) -> None:
    learner, units, _ = _fit(checkpoint("bert_uncased"), "bc2gm", head=head)
    answers, scores, losses = learner.predict(units)
    assert losses is None
    assert [len(row) for row in scores] == [len(row) for row in answers]


@pytest.mark.costly
def test_a_trial_has_it_on_dev_and_scored_again_too(store: Store, tmp_path: Path) -> None:
    run = ["run", "baseline:bigrams", "baseline:majority", "--suite", "demo", "--protocol", "smoke"]
    ran([*run, "--tasks", "gad,biosses,hoc,ncbi-disease", "--output", str(tmp_path / "runs")])
    rows = {row.model: row for row in results_csv.read(tmp_path / "runs" / "results.csv")}
    for record in map(store.read, store.trial_folders()):
        columns, name = read_predictions(record.path / "predictions.parquet"), record.task.name
        stored = json.loads((record.path / "metrics.json").read_text())
        loss = "squared_error" if name == "biosses" else "log_loss"
        run_of = rows[record.provenance.model].datasets[name].runs[1]
        if record.provenance.model == "baseline:majority":
            assert LOSS not in columns
            assert loss not in stored["dev"]
            assert loss not in run_of.figures["dev"]
            continue
        assert stored["dev"][loss] > 0
        assert loss not in stored["test"]
        assert list(stored["dev"])[-1] == loss
        # Not times 100
        assert run_of.figures["dev"][loss].value == pytest.approx(stored["dev"][loss], abs=1e-4)
        assert figures(bind(record.task, record.trial.settings), columns) == stored
        assert [value is None for value in columns[LOSS]] == [
            split == "test" for split in columns["split"]
        ]
