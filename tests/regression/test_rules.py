"""`blurb-check.toml`. Oracle: what stands in the file, read by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from blurb import tasks
from blurb.messages.errors import BlurbError
from blurb.regression.rules import Limit, Rules, load_rules
from blurb.results.score import SCORE

NAMES = tuple(task.name for task in tasks.all() if task.paper_order)


def rules_of(folder: Path, text: str) -> Rules:
    path = folder / "blurb-check.toml"
    path.write_text(text, encoding="utf-8")
    return load_rules(path)


def test_an_empty_file_asks_for_what_no_file_does(tmp_path: Path) -> None:
    assert rules_of(tmp_path, "") == Rules()
    assert (Rules().split, Rules().level, Rules().required) == ("dev", 0.05, None)
    assert {Rules().limit(name) for name in (*NAMES, SCORE)} == {Limit()}


def test_every_key_is_read(tmp_path: Path) -> None:
    text = """
version = 1
split = "test"
level = 0.01
rule = "and"
looks = 40
sd = 0.7
max_drop = 2
tasks = ["gad", "qa"]
[overall]
max_drop = 0.5
min_score = 70
[datasets.ncbi-disease]
min_score = 80.5
[datasets.hoc]
max_drop = 0
"""
    assert rules_of(tmp_path, text) == Rules(
        split="test",
        level=0.01,
        default=Limit(2.0),
        overall=Limit(0.5, 70.0),
        limits={"ncbi-disease": Limit(None, 80.5), "hoc": Limit(0.0)},
        rule="and",
        looks=40,
        sd=0.7,
        required=("gad", "pubmedqa", "bioasq"),
    )


@pytest.mark.parametrize(
    ("wanted", "required"),
    [
        ('"all"', NAMES),
        ('"ner"', NAMES[:5]),
        ('["biosses"]', ("biosses",)),
        ('"hoc, gad"', ("gad", "hoc")),
        ('["qa", "bioasq"]', NAMES[11:]),
    ],
)
def test_tasks_are_names_and_types_in_the_papers_order(
    wanted: str, required: tuple[str, ...], tmp_path: Path
) -> None:
    assert rules_of(tmp_path, f"tasks = {wanted}").required == required


def test_the_common_drop_is_that_of_all_that_have_none_of_their_own() -> None:
    rules = Rules(default=Limit(2.0), limits={"gad": Limit(None, 80.0), "hoc": Limit(0.0)})
    assert rules.limit("gad") == Limit(2.0, 80.0)
    assert rules.limit("hoc") == Limit(0.0)  # none at all, and not the common one
    assert rules.limit("ddi") == rules.limit(SCORE) == Limit(2.0)
    assert replace(rules, overall=Limit(0.5, 70.0)).limit(SCORE) == Limit(0.5, 70.0)
    assert replace(rules, overall=Limit(None, 70.0)).limit(SCORE) == Limit(2.0, 70.0)
    assert replace(rules, default=Limit()).limit("gad") == Limit(None, 80.0)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("splt = 1", "'split'"),
        ("[datasets.ncbi]\nmax_drop = 1", "'ncbi-disease'"),
        ("[datasets.gad]\nmin_scor = 1", "'min_score'"),
        ("[overall]\nmaxdrop = 1", "'max_drop'"),
        ('split = "train"', "split"),
        ("level = 1", "level"),
        ("level = -0.1", "level"),
        ("level = nan", "level"),
        ("version = 2", "version must be 1"),
        ('rule = "xor"', "rule"),
        ("looks = 0", "looks"),
        ("looks = 2.5", "looks"),
        ("sd = 0", "sd"),
        ("sd = inf", "sd"),
        ("max_drop = -1", "max_drop"),
        ("max_drop = inf", "max_drop"),
        ("[datasets.gad]\nmax_drop = -0.5", "gad"),
        ("[datasets.gad]\nmin_score = nan", "min_score"),
        ("overall = 0.5", "overall"),
        ("datasets = 1", "datasets"),
        ("datasets.gad = 80", "gad"),
        ("[[datasets]]\ngad = 1", "datasets"),
        ("tasks = 5", "tasks"),
        ("tasks = [1]", "tasks"),
        ('tasks = "nre"', "'ner'"),
        ('tasks = ["gat"]', "'gad'"),
        ("tasks = []", "tasks"),
        ('tasks = ","', "tasks"),
        ("[", "TOML"),
    ],
)
def test_what_cannot_be_a_rule_is_refused_with_file_and_key(
    text: str, what: str, tmp_path: Path
) -> None:
    with pytest.raises(BlurbError) as caught:
        rules_of(tmp_path, text)
    assert what in str(caught.value)
    assert str(tmp_path / "blurb-check.toml") in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(BlurbError) as caught:
            load_rules(path)
        assert str(path) in str(caught.value)
