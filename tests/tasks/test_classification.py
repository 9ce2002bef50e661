"""A text and one of k labels: the commonest corpus goes through every command. Oracle: scikit-learn."""

import csv
import json
import random
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

import blurb
from blurb import metrics, tasks
from blurb.messages.errors import BlurbError, UnknownName
from tests.cli.in_process import blurb as command, done, refused

SPLITS = {"train": 60, "dev": 24, "test": 24}
LABELS = ("bad", "good", "so so")


@pytest.fixture(autouse=True)
def corpus(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tasks, "_files", {})
    draw = random.Random(0)
    for split, size in SPLITS.items():
        rows = []
        for place in range(size):
            label = draw.choice(LABELS)
            word = draw.choice(LABELS) if draw.random() < 0.2 else label
            rows.append(
                {
                    "text": f"kalo {split}{place} {word.replace(' ', '')} mi",
                    "label": label,
                    "doc_id": f"{split}{place // 3}",
                }
            )
        (here / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return here


def new(folder: Path, name: str = "notes", more: str = "") -> None:
    files = [word for split in SPLITS for word in (f"--{split}", f"{split}.jsonl")]
    assert "Labels: bad, good, so so. Examples: train 60, dev 24, test 24." in done(
        ["tasks", "new", name, "--type", "classification", *files], folder
    )
    path = folder / f"{name}.toml"
    path.write_text(f"{more}\n{path.read_text()}")


def gold(folder: Path) -> list[str]:
    return [json.loads(line)["label"] for line in (folder / "test.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("more", "average"),
    [
        ("", None),
        ('metric = "accuracy"', None),
        ('metric = "macro_f1"', {"average": "macro"}),
        ('negative = "so so"', {"average": "micro", "labels": ["bad", "good"]}),
        ('positive = "bad"', {"average": "macro", "labels": ["bad"]}),
    ],
)
def test_the_task_file_chooses_the_metric(
    more: str, average: dict[str, object] | None, corpus: Path
) -> None:
    new(corpus, more=more)
    draw = random.Random(1)
    answers = [draw.choice(LABELS) if draw.random() < 0.5 else label for label in gold(corpus)]
    scored = blurb.score("./notes.toml", answers)[0].score
    right = gold(corpus)
    expected = (
        accuracy_score(right, answers)
        if average is None
        else f1_score(right, answers, zero_division=0, **average)
    )
    assert scored == pytest.approx(100 * expected)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ('metric = "pearson"', "There is no metric of a classification task"),
        ('metric = "macro_f1"\nnegative = "bad"', "give only one of 'metric' and 'negative'"),
        ('negative = "none"', "'negative' must be one of the labels"),
        ("scale = [0, 4]", "'scale' does not apply"),
    ],
)
def test_a_metric_that_does_not_fit_is_refused(more: str, told: str, corpus: Path) -> None:
    new(corpus, more=more)
    with pytest.raises(BlurbError, match=told):
        tasks.load("./notes.toml")


@pytest.mark.extensions
def test_it_is_outside_the_six_means_and_every_command_knows_it(corpus: Path) -> None:
    assert "classification" not in tasks.TYPES
    new(corpus)
    chosen = ["--tasks", "./notes.toml"]
    rows = ["baseline:majority", "baseline:constant", "baseline:bigrams"]
    done(["run", *rows, *chosen, "--protocol", "quick"], corpus)
    lines = [
        line
        for line in csv.DictReader((corpus / "runs" / "results.csv").open())
        if line["split"] == "test"
    ]
    values = {line["model"]: float(line["value"]) for line in lines if line["metric"] == "accuracy"}
    assert (
        values["baseline:bigrams"]
        > values["baseline:constant"]
        == pytest.approx(100 * max(map(gold(corpus).count, LABELS)) / 24)
    )
    board = next(csv.DictReader((corpus / "runs" / "leaderboard.csv").open()))
    assert all(board[name] == "" for name in (*tasks.TYPES, "score", tasks.TWELVE))
    for asked in (
        ["doctor", "notes.toml"],
        ["tasks", "show", "./notes.toml"],
        ["data", "stats", *chosen],
        ["data", "audit", *chosen],
        ["data", "export", *chosen, "--out", "splits"],
        ["errors", "baseline:bigrams", "--task", "./notes.toml"],
        ["diff", "baseline:bigrams", "baseline:majority", "--task", "./notes.toml"],
        ["compare", "baseline:bigrams", "baseline:majority"],
        ["check", "baseline:bigrams", "--baseline", "baseline:bigrams", "--max-drop", "5"],
        ["export", "markdown", "baseline:bigrams", *chosen],
        ["export", "latex", "baseline:bigrams", *chosen],
        ["export", "model-index", "baseline:bigrams", *chosen],
        ["leaderboard", "show", "--datasets"],
        ["leaderboard", "html", "--out", "page.html"],
        ["score", "--task", "./notes.toml", "--predictions", "splits/notes/test.jsonl"],
        ["rescore"],
    ):
        done(asked, corpus)
    assert "notes" in (corpus / "page.html").read_text()
    assert command(["export", "submission", "baseline:bigrams", *chosen], corpus)[0] == 2


@pytest.mark.costly
def test_encoders_heads_and_probes_read_it(corpus: Path) -> None:
    new(corpus, more='metric = "macro_f1"')
    for more in (
        ["--protocol", "smoke", "--keep-model", "best"],
        ["--protocol", "smoke", "--head", "bilstm"],
        ["--protocol", "probe"],
    ):
        done(["run", "scratch:tiny", "--tasks", "./notes.toml", *more], corpus)
    (corpus / "in.txt").write_text("kalo good mi\n")
    out = done(["predict", "scratch:tiny smoke", "in.txt", "--task", "notes"], corpus)
    assert json.loads(out.splitlines()[-1])["scores"].keys() == set(LABELS)
    for option, value in (("--head", "crf"), ("--pooling", "mention")):
        assert "notes" in refused(
            ["run", "scratch:tiny", "--tasks", "./notes.toml", option, value], corpus
        )
    done(
        [
            "ablate",
            "scratch:tiny",
            "--tasks",
            "./notes.toml",
            "--protocol",
            "smoke",
            "--axis",
            "head",
        ],
        corpus,
    )


def test_macro_f1_is_that_of_scikit_learn_also_from_sums_of_counts() -> None:
    draw = np.random.default_rng(0)
    for _ in range(50):
        labels = LABELS[: draw.integers(2, 4)]
        right, answers = (
            draw.choice(labels[: draw.integers(1, len(labels) + 1)], 20).tolist() for _ in range(2)
        )
        found = metrics.macro_f1(right, answers, labels=labels)
        assert found["macro_f1"] == pytest.approx(
            f1_score(right, answers, labels=labels, average="macro", zero_division=0)
        )
        single = f1_score(right, answers, labels=labels, average=None, zero_division=0)
        assert [found[f"f1_{label}"] for label in labels] == pytest.approx(list(single))
        counts = metrics.get("macro_f1").counts(right, answers, labels=labels)
        assert metrics.get("macro_f1").score(counts.sum(0)) == pytest.approx(found["macro_f1"])
        mistakes = metrics.get("macro_f1").mistakes(counts)
        assert (mistakes > 0).tolist() == [r != a for r, a in zip(right, answers, strict=True)]


def test_an_unknown_type_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownName, match="classification"):
        tasks.types.get("clasification")
