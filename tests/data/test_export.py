"""`blurb data export`: what is written is read again as the same examples, and its ids match predictions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow.parquet import read_table

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.splits import read_split
from tests.cli.in_process import blurb as command

TASKS = [task for task in tasks.all() if task.paper_order]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    for form, chosen in (("jsonl", "all"), ("parquet", "all"), ("conll", "ner,pico")):
        asked = ["data", "export", "--suite", "demo", "--tasks", chosen, "--format", form, "--out", str(folder)]
        assert command(asked, folder)[0] == 0
    return folder


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_examples_are_those_of_the_data(task: tasks.Task, exported: Path) -> None:
    for split in tasks.SPLITS:
        rows = read_split(task, demo.prepare(), split)
        lines = (exported / task.name / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line) for line in lines] == rows
        assert read_table(exported / task.name / f"{split}.parquet").to_pylist() == rows


@pytest.mark.parametrize("task", [task for task in TASKS if "tokens" in task.task_type.columns], ids=lambda t: t.name)
def test_gold_tags_in_conll_score_a_hundred_by_id(task: tasks.Task, exported: Path) -> None:
    scored = blurb.score(task.name, exported / task.name / "test.conll", suite="demo")[0]
    assert (scored.score, scored.matched) == (100.0, "by id")


def test_conll_is_for_tagged_words(tmp_path: Path) -> None:
    asked = ["data", "export", "--suite", "demo", "--tasks", "gad,bc2gm", "--format", "conll", "--out", "x"]
    code, _, err = command(asked, tmp_path)
    assert code == 2
    assert "CoNLL is for tagged words, which gad have not; export as jsonl." in err
    assert not (tmp_path / "x").exists()
