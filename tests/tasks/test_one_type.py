"""A task type is one file, and a metric is one file: a seventh type goes through `run`, the tables, `compare`, the
analysis of mistakes and the page. Oracle: scikit-learn, on the stored predictions."""

import ast
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sklearn.metrics import balanced_accuracy_score

import blurb
from blurb import metrics, tasks
from blurb.checkpoints import scratch
from blurb.messages.errors import SettingsError
from blurb.metrics import functions
from blurb.registry import Registry
from blurb.store.record import read_predictions
from blurb.store.store import Store
from blurb.tasks import types
from tests.cli.in_process import ran
from tests.conftest import Builder
from tests.rewriting import csv_lines

TYPE = '''
"""Claims and the evidence for or against them."""
from collections import Counter

from blurb.formulations import Classification
from blurb.inputs.texts import encode_pairs
from blurb.tasks import TaskType


class Claims(Classification):
    def features(self, units, tokenizer, max_length):
        claims, evidence = ([unit[part] for unit in units] for part in ("claim", "evidence"))
        return encode_pairs(claims, evidence, tokenizer, max_length, shorten="second")


def label_counts(examples):
    return Counter(example["label"] for example in examples)


TYPE = TaskType(
    short="Claims",
    columns={"claim": "text", "evidence": "text", "label": "text"},
    formulation="blurb.tasks.types.claims:Claims",
    hub="text-classification",
    unit="claims",
    label_counts=label_counts,
    errors="blurb.extensions.reports.errors.classes:analyse",
    metric="mean_recall",
    metric_labels=True,
    sample_labels=("holds", "fails"),
)
'''
METRIC = """
import numpy as np
from blurb.metrics import Metric

def mean_recall(gold, predicted, *, labels):
    return {"mean_recall": float(score(counts(gold, predicted, labels=labels).sum(0)))}

def counts(gold, predicted, *, labels):
    return np.array([[x for l in labels for x in (g == p == l, g == l)] for g, p in zip(gold, predicted)], dtype=float)

def score(sums):
    found, there = sums[..., 0::2], sums[..., 1::2]
    recalls = np.divide(found, there, out=np.zeros_like(found), where=there > 0)
    return recalls.sum(-1) / np.maximum((there > 0).sum(-1), 1)

def mistakes(counts):
    return (counts[:, 1::2] - counts[:, 0::2]).sum(1)

METRIC = Metric(mean_recall, main="mean_recall", hub="recall", counts=counts, score=score, mistakes=mistakes)
"""


@pytest.fixture
def folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The two files in the folders of types and metrics, and registries that have not looked there yet."""
    for module, owner, name, text in (
        (types, types, "claims", TYPE),
        (functions, metrics, "mean_recall", METRIC),
    ):
        home = here / name
        home.mkdir()
        (home / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.setattr(module, "__path__", [*module.__path__, str(home)])
        known = owner._registry
        fresh = Registry[object](
            known.kind,
            known.package,
            known.attribute,
            known.group,
            known.contract,
            separator=known.separator,
        )
        monkeypatch.setattr(owner, "_registry", fresh)
    monkeypatch.setattr(tasks, "_files", {})
    draw = random.Random(0)
    for split, size in (("train", 24), ("dev", 12), ("test", 40)):
        lines = [
            f"kalo {draw.choice('ab')} mi\ttra {draw.choice('xy')}\t{draw.choice(['holds', 'fails'])}"
            for _ in range(size)
        ]
        (here / f"{split}.tsv").write_text(
            "\n".join(["claim\tevidence\tlabel", *lines]) + "\n", encoding="utf-8"
        )
    yield here
    for module_name in ("blurb.tasks.types.claims", "blurb.metrics.functions.mean_recall"):
        sys.modules.pop(module_name, None)


def run(*arguments: str) -> str:
    return ran(list(arguments)).output


@pytest.mark.costly
def test_a_seventh_type_goes_all_the_way(folder: Path, checkpoint: Builder) -> None:
    files = [part for split in tasks.SPLITS for part in (f"--{split}", f"{split}.tsv")]
    run("tasks", "new", "claims-of-mine", "--type", "claims", *files)
    assert 'labels = ["fails", "holds"]  # classes' in (folder / "claims-of-mine.toml").read_text(
        encoding="utf-8"
    )
    tasks.load("./claims-of-mine.toml")
    assert {"kalo a mi", "tra x"} <= set(scratch.training_text(folder))
    assert "24" in run("data", "stats", "--tasks", "./claims-of-mine.toml")
    given = ["--tasks", "./claims-of-mine.toml", "--protocol", "smoke", "--device", "cpu"]
    run("run", str(checkpoint("bert_uncased")), "--name", "tuned", *given, "--seeds", "2")
    run("run", "baseline:majority", *given)

    store = Store(folder / "runs")
    lines = [
        line
        for line in csv_lines(folder / "runs" / "results.csv")
        if line["split"] == "test" and line["model"] == "tuned"
    ]
    assert {(line["task"], line["type"], line["metric"]) for line in lines} == {
        ("claims-of-mine", "claims", "mean_recall")
    }
    by_trial = {path.name: path for path in store.trial_folders()}
    for line in lines:
        columns = read_predictions(by_trial[line["trial"]] / "predictions.parquet", split="test")
        oracle = 100 * balanced_accuracy_score(columns["gold"], columns["prediction"])
        assert float(line["value"]) == pytest.approx(oracle, abs=1e-4)
    assert len(lines) == 2

    assert "claims-of-mine" in run("compare", "tuned", "baseline:majority", "--format", "csv")
    assert "claims-of-mine" in run("errors", "tuned", "--task", "claims-of-mine")
    run("leaderboard", "html", "--out", "page.html", "--no-published")
    assert "claims-of-mine" in (folder / "page.html").read_text(encoding="utf-8")


def test_what_is_no_type_is_refused(folder: Path) -> None:
    (folder / "claims" / "nothing.py").write_text("TYPE = len", encoding="utf-8")
    with pytest.raises(
        SettingsError, match=r"nothing:TYPE is of type builtin_function_or_method, not"
    ):
        types.get("nothing")


@pytest.mark.costly
def test_only_its_declaration_names_a_type() -> None:
    """No branch and no table by type, wherever: each would be an edit more for a new one."""
    top = Path(blurb.__file__).parent
    known = {*types.TYPES} - {"relation"}  # also an axis of the ablations
    for path in top.rglob("*.py"):
        if path.parent in (top / "tasks", top / "tasks" / "types"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            values = (
                [node.left, *node.comparators]
                if isinstance(node, ast.Compare)
                else [key for key in node.keys if key]
                if isinstance(node, ast.Dict)
                else []
            )
            names = {value.value for value in values if isinstance(value, ast.Constant)}
            assert names.isdisjoint(known), f"{path}:{node.lineno}"
