"""`baseline:bigrams`. Oracle: scikit-learn used directly, brute force, and that nothing hangs on order or chance."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge

import blurb
from blurb import tasks
from blurb.data import read_split
from blurb.execution.worker import execute_job
from blurb.formulations import bind
from blurb.learners import PREFIX, building, kinds
from blurb.learners.base import Learner, Subset
from blurb.learners.baselines import ngrams as bigrams
from blurb.learners.baselines.features import TextComparison, WindowFeatures, cues
from blurb.learners.baselines.ngrams import Bigrams
from blurb.learners.building import resolve_model
from blurb.messages.errors import SettingsError
from blurb.planning import trials
from tests.learners.conftest import TASKS, request


def learned(
    task: str, data: Path, most: int = 0, **settings: Any
) -> tuple[Bigrams, list[Any], Any]:
    """A learner that was fitted on the first examples of a task, the first ones of dev, and its predictions there."""
    # Sentences have many words
    most = most or (60 if task in ("ebm-pico", "ncbi-disease") else 200)
    formulation = bind(tasks.get(task), settings)
    train, dev = (
        formulation.units(read_split(tasks.get(task), data, split))[:most]
        for split in ("train", "dev")
    )
    learner = building.learner(resolve_model("baseline:bigrams"), formulation, "cpu", "fp32")
    learner.fit(Subset(train, ""), Subset(dev, ""), 1, lambda done, total: None)
    return learner, dev, learner.predict(Subset(dev, ""))


once = cache(learned)


@pytest.mark.costly
@pytest.mark.parametrize("task", TASKS)
def test_it_beats_the_majority_and_gives_the_same_twice(task: str, data: Path) -> None:
    learner, dev, (predicted, scores, *_) = once(task, data)
    again, _, (same, same_scores, *_) = learned(task, data)
    assert (predicted, scores) == (same, same_scores)
    assert np.array_equal(learner.model.weight, again.model.weight)
    formulation = learner.formulation
    answer = formulation.constants(read_split(tasks.get(task), data, "train"))[0]
    floor = formulation.score_of(dev, [formulation.constant(answer, unit) for unit in dev])
    assert formulation.score_of(dev, predicted) > floor + 0.05


@pytest.mark.parametrize("task", TASKS)
def test_answers_do_not_hang_on_the_order_of_the_questions(task: str, data: Path) -> None:
    learner, dev, (predicted, *_) = once(task, data)
    order = np.random.default_rng(0).permutation(len(dev))
    mixed, *_ = learner.predict(Subset([dev[place] for place in order], ""))
    assert mixed == [predicted[place] for place in order]


def test_documents_are_what_scikit_learn_makes_of_them(data: Path) -> None:
    """One label of HoC: TF-IDF of the same words and a logistic regression, with another solver."""
    learner, _, _ = once("hoc", data)
    train = read_split(tasks.get("hoc"), data, "train")[:200]
    x = TfidfVectorizer(
        token_pattern=r"@[^\s@]+\$|\w+|[^\w\s]",
        ngram_range=(1, 2),
        min_df=2,
        sublinear_tf=True,
        norm=None,
    ).fit_transform([row["text"] for row in train])
    x = np.hstack([x.toarray(), np.ones((x.shape[0], 1))])  # the feature that every example has
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    ours = learner.features.transform(train).toarray()
    assert sorted(map(tuple, ours.round(9).T)) == sorted(map(tuple, x.round(9).T))
    y = learner.formulation.targets(train)[:, 0]
    strength = learner.facts["strength"]
    # liblinear penalises the bias as a weight of one more constant feature.
    wide = np.hstack([x, np.ones((len(x), 1))])
    exact = LogisticRegression(C=1 / strength, tol=1e-8, max_iter=10_000, fit_intercept=False).fit(
        wide, y
    )
    found = learner.model.scores(learner.features.transform(train))[:, 0].numpy()
    assert np.allclose(found, exact.decision_function(wide), atol=0.02)


def test_two_classes_are_one_fit(data: Path) -> None:
    learner, _, _ = once("gad", data)
    assert not learner.model.weight[0].any()
    assert learner.model.weight[1].any()


def test_similarity_is_a_ridge(data: Path) -> None:
    learner, dev, (predicted, scores, *_) = once("biosses", data)
    train = read_split(tasks.get("biosses"), data, "train")[:200]
    exact = Ridge(alpha=learner.facts["strength"]).fit(
        learner.features.transform(train), [row["score"] for row in train]
    )
    assert scores is None
    assert np.allclose(predicted, exact.predict(learner.features.transform(dev)), atol=1e-5)


def test_the_comparison_of_two_texts_is_symmetric() -> None:
    pairs = [
        {"text_a": "A b c", "text_b": "a b d e"},
        {"text_a": "x y", "text_b": "x y"},
        {"text_a": "", "text_b": "z"},
    ]
    turned = [{"text_a": pair["text_b"], "text_b": pair["text_a"]} for pair in pairs]
    fitted = TextComparison(2).fit(pairs)
    found = fitted.transform(pairs)
    assert np.allclose(found, fitted.transform(turned))
    # a b | c d e: two of five words; "a b" of "a b", "b c", "b d", "d e"; two of three words; three and four words.
    assert found[0, 1:] == pytest.approx([2 / 5, 1 / 4, 2 / 3, 3 / 4])
    assert found[1] == pytest.approx([1, 1, 1, 1, 1])
    assert np.isfinite(found).all()


def test_a_relation_shows_the_order_of_its_entities_and_what_is_between() -> None:
    text = "We saw @GENE$ bind to @DISEASE$ there."
    gene, disease = (
        {"start": 7, "end": 13, "type": "GENE"},
        {"start": 22, "end": 31, "type": "DISEASE"},
    )
    formulation = bind(tasks.get("gad"))
    assert cues({"text": text, "head": gene, "tail": disease}, formulation) == [
        "order head first",
        "types GENE DISEASE",
        "gap 2",
        "before we",
        "before saw",
        "after there",
        "after .",
    ]
    assert cues({"text": text, "head": disease, "tail": gene}, formulation)[0] == "order tail first"


def test_a_window_ends_with_its_sentence() -> None:
    one, other = {"tokens": ["Beta", "x", "9"]}, {"tokens": ["y"]}
    features = WindowFeatures(2)
    together = features.transform([one, other]).toarray()
    assert np.array_equal(
        together, np.vstack([features.transform([row]).toarray() for row in (one, other)])
    )
    assert np.array_equal(together[3], features.transform([other]).toarray()[0])
    assert WindowFeatures(0).transform([one]).shape[1] < together.shape[1]


@pytest.mark.costly
def test_a_chain_lies_on_the_same_scores(data: Path) -> None:
    plain, _, (predicted, *_) = learned("ncbi-disease", data)
    chained, _, (others, confidence, *_) = learned(
        "ncbi-disease", data, head="crf,constrained=true"
    )
    assert plain.chain is None
    assert np.array_equal(plain.model.weight, chained.model.weight)
    assert predicted != others
    assert all(0 <= share <= 1.001 for row in confidence for share in row)
    # Constrained: no entity begins with I.
    assert not any(
        b[0] == "I" and a[1:] != b[1:]
        for row in others
        for a, b in zip(["O", *row], row, strict=False)
    )


@pytest.mark.costly
@pytest.mark.parametrize("tagging", ["io", "bioul"])
def test_other_tags_are_answered_in_bio(tagging: str, data: Path) -> None:
    learner, _, (predicted, *_) = learned("ncbi-disease", data, tagging=tagging)
    assert len(learner.model.bias) == {"io": 2, "bioul": 5}[tagging]
    assert {tag[0] for row in predicted for tag in row} <= {"B", "I", "O"}


def test_small_dev_means_folds_of_train(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, dev, _ = learned("gad", data, most=100)
    assert few.facts["chosen_by"] == "5 folds of train"
    monkeypatch.setattr(bigrams, "FEW", len(dev))
    assert learned("gad", data, most=100)[0].facts["chosen_by"] == "dev"


@pytest.mark.parametrize("task", ["hoc", "ddi", "gad", "biosses", "ncbi-disease"])
def test_almost_no_examples(task: str, data: Path) -> None:
    """As with `max_train`: labels that no example has, and one class only, are answered as often as they were seen."""
    learner, _, (predicted, *_) = learned(task, data, most=2)
    assert len(predicted) == 2
    assert np.isfinite(learner.model.bias).all()


def test_a_label_that_no_example_has_is_not_given(data: Path) -> None:
    formulation = bind(tasks.get("hoc"))
    rows = [{**row, "labels": []} for row in read_split(tasks.get("hoc"), data, "train")[:50]]
    learner = Bigrams(formulation, "cpu", "fp32")
    learner.fit(Subset(rows, ""), Subset(rows, ""), 1, lambda done, total: None)
    assert learner.predict(Subset(rows, ""))[0] == [[]] * 50


@pytest.mark.parametrize(
    ("task", "overrides", "settings"),
    [
        ("gad", {}, {"relation_input": "dummify"}),
        ("biosses", {"min_count": 1, "ngrams": 1}, {"ngrams": 1}),
        (
            "hoc",
            {"lr": 1.0, "head": "crf", "window": 3, "ngrams": 1},
            {"document_unit": "sentence", "ngrams": 1},
        ),
        (
            "ncbi-disease",
            {"head": "crf", "window": 3, "ngrams": 1},
            {"head": "crf", "tagging": "bio", "window": 3},
        ),
    ],
)
def test_a_trial_is_named_by_what_concerns_it(
    data: Path, tmp_path: Path, task: str, overrides: dict[str, Any], settings: dict[str, Any]
) -> None:
    asked = request(data, tmp_path, "bigrams", protocol="standard", overrides=overrides)
    job = trials.job(asked, asked.sources[0], tasks.get(task), 1)
    assert job.trial.settings == {"max_train": 0, "max_eval": 0, **settings}


def test_a_row_has_one_seed_no_precision_and_its_own_overrides(data: Path, tmp_path: Path) -> None:
    asked = request(data, tmp_path, "bigrams", overrides={"lr": 1.0, "ngrams": 1})
    trial = trials.job(asked, asked.sources[0], tasks.get("gad"), 1).trial
    assert (trial.weights, trial.tokenizer, trial.precision, trial.kind.rows.name) == (
        "baseline:bigrams",
        "",
        "fp32",
        "baseline",
    )
    assert asked.configuration(asked.sources[0]).overrides == {"ngrams": 1}
    assert trials.seeds_of(asked, asked.sources[0], tasks.get("biosses")) == (1,)


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (
            {"head": "bilstm"},
            "baseline:bigrams fits linear models only: the head must be linear or crf",
        ),
        ({"min_count": 0}, "min_count must be at least 1"),
    ],
)
def test_what_does_not_apply_is_refused(
    data: Path, tmp_path: Path, overrides: dict[str, Any], told: str
) -> None:
    with pytest.raises(SettingsError, match=told):
        trials.prepare(request(data, tmp_path, "bigrams", overrides=overrides))


def test_a_trial_keeps_to_the_caps_of_its_protocol(data: Path, tmp_path: Path) -> None:
    asked = request(data, tmp_path, "bigrams", protocol="smoke")
    job = trials.job(asked, asked.sources[0], tasks.get("hoc"), 1)
    outcome = execute_job(job)
    assert outcome.status == "done", outcome.message
    assert (job.path / "history.csv").read_text().splitlines()[0] == "strength,shift,dev"
    assert '"train_units": 64' in (job.path / "provenance.json").read_text()
    assert execute_job(job).status == "already done"


# Baselines. Oracle: brute force, and published class counts.


def _learn(kind: str, task: str, rows: list[dict[str, Any]]) -> Learner:
    learner = building.learner(
        resolve_model(f"baseline:{kind}"), bind(tasks.get(task)), "cpu", "fp32"
    )
    learner.fit(Subset(rows, ""), Subset([], ""), 1, lambda done, total: None)
    return learner


def _score(learner: Learner, rows: list[dict[str, Any]]) -> float:
    formulation = learner.formulation
    predicted, scores = learner.predict(Subset(rows, ""))
    assert scores is None
    documents = [row.get("doc_id") for row in rows]
    return formulation.main_metric(
        formulation.score([formulation.gold(row) for row in rows], predicted, documents)
    )


def _classes(counts: dict[str, int]) -> list[dict[str, Any]]:
    return [{"label": label} for label, count in counts.items() for _ in range(count)]


CHEMPROT = _classes(
    {"false": 12315, "CPR:3": 663, "CPR:4": 1655, "CPR:5": 178, "CPR:6": 292, "CPR:9": 642}
)


@pytest.mark.parametrize(
    ("kind", "task", "rows", "score"),
    [
        ("majority", "pubmedqa", _classes({"yes": 276, "no": 169, "maybe": 55}), 0.552),
        ("majority", "gad", _classes({"1": 281, "0": 253}), pytest.approx(0.6896, abs=5e-5)),
        ("majority", "chemprot", CHEMPROT, 0.0),  # false
        (
            "constant",
            "chemprot",
            CHEMPROT,
            pytest.approx(2 * 1655 / (15745 + (663 + 1655 + 178 + 292 + 642))),
        ),
        (
            "constant",
            "ebm-pico",
            [{"tokens": list("abc"), "tags": ["I-PAR", "I-OUT", "O"], "doc_id": "1"}],
            pytest.approx((2 * (1 / 3) / (1 / 3 + 1)) / 3),
        ),
    ],
)
def test_what_one_answer_for_all_scores(
    kind: str, task: str, rows: list[dict[str, Any]], score: Any
) -> None:
    assert _score(_learn(kind, task, rows), rows) == pytest.approx(score)


def test_the_constant_is_the_best_of_all_constants() -> None:
    rows = _classes({"0": 90, "1": 10})
    learner = _learn("constant", "gad", rows)
    assert _score(learner, rows) == pytest.approx(2 * 0.1 * 1 / 1.1)
    assert set(learner.predict(Subset(rows, ""))[0]) == {"1"}


def test_majority_of_similarity_is_the_mean_and_has_no_correlation() -> None:
    rows = [{"text_a": "a", "text_b": "b", "score": score} for score in (0.0, 1.0, 4.0)]
    learner = _learn("majority", "biosses", rows)
    assert learner.predict(Subset(rows, ""))[0] == pytest.approx([5 / 3] * 3)
    assert _score(learner, rows) == 0.0


def test_words() -> None:
    rows = [{"tokens": list("abcd"), "tags": ["O", "O", "O", "B-GENE"], "doc_id": None}] * 3
    assert _learn("majority", "bc2gm", rows).predict(Subset(rows, ""))[0] == [["O"] * 4] * 3
    assert _score(_learn("majority", "bc2gm", rows), rows) == 0.0
    # All words B: four entities a sentence, of which one is right.
    assert _score(_learn("constant", "bc2gm", rows), rows) == pytest.approx(2 * 1 / (4 + 1))


def test_documents() -> None:
    a, b = tasks.get("hoc").labels[:2]
    rows = [
        {"id": f"{doc}_s{i}", "doc_id": doc, "text": "x", "labels": labels}
        for i, (doc, labels) in enumerate(
            [("1", [a]), ("1", []), ("2", [a, b]), ("2", []), ("3", [])]
        )
    ]
    assert _learn("majority", "hoc", rows).predict(Subset(rows, ""))[0] == [[]] * 5
    learner = _learn("constant", "hoc", rows)
    assert learner.predict(Subset(rows, ""))[0] == [[a]] * 5
    assert _score(learner, rows) == pytest.approx(2 * 2 / (3 + 3))


# No kind of learner is named outside of `blurb/learners`: what depends on a kind asks its declaration.


ROOT = Path(blurb.__file__).parent
OTHER_MEANINGS = {
    "majority": (
        "store/rescore.py",
        "store/record.py",
        "store/index.py",
        "results/from_store.py",
        "execution/job.py",
        "results/results_csv.py",
        "extensions/reports/cli/stats.py",
        "cli/score.py",
        "scoring/scores.py",
    ),  # of the most frequent answer
    "constant": (
        "metrics/functions/pearson.py",
        "regression/forms.py",
    ),  # whether the predictions are all alike
    "bigrams": ("extensions/reports/stats.py",),  # repeated words in the data
    "probe": ("cost/budget.py",),  # a protocol
    "encoder": ("checkpoints/adapter.py",),  # a part of the name of a layer
}
"""Words that name something else, by word: the files that have them."""


def literals(file: Path) -> Iterator[tuple[int, str]]:
    """Texts of the code with their lines; docstrings and help are aside."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    aside = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    } | {
        id(help_text)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "setting"
        for help_text in node.args[2:]
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in aside:
            yield node.lineno, node.value


def named(name: str, text: str) -> bool:
    return text == name or text.partition(",")[0] == f"{PREFIX}{name}"


@pytest.mark.extensions
def test_no_kind_is_named_outside_of_its_room() -> None:
    found = []
    for file in sorted(ROOT.rglob("*.py")):
        place = file.relative_to(ROOT).as_posix()
        if place.startswith(("learners/", "heads/")):  # a head is called bilstm, too
            continue
        for line, text in literals(file):
            found += [
                f"{place}:{line}: {text!r}"
                for name in (*kinds.names(), "")
                if named(name, text) and name + text and place not in OTHER_MEANINGS.get(name, ())
            ]
    assert found == []


def test_every_other_meaning_is_still_there() -> None:
    for word, places in OTHER_MEANINGS.items():
        for place in filter(
            lambda place: (ROOT / place).exists() or not place.startswith("extensions/"), places
        ):
            assert any(text == word for _, text in literals(ROOT / place)), (word, place)
