"""Figures of README and docs/results are those of the committed tables, read by code of the test's own."""

import csv
import re
import statistics
from collections import defaultdict

import pytest

from blurb import tasks
from tests.conftest import ROOT

RESULTS = ROOT / "docs" / "results"
METRICS = {
    "ner": "f1",
    "pico": "macro_f1",
    "relation": "f1",
    "similarity": "pearson",
    "document": "micro_f1",
    "qa": "accuracy",
}
"""The metric of each task type as `results.csv` names it."""
MINILM = "all-MiniLM-L6-v2"
ROWS = {
    "mpnet quick": ("mpnet/results.csv", "all-mpnet-base-v2", "quick@2"),
    "mpnet standard": ("mpnet/results.csv", "all-mpnet-base-v2", "standard"),
    "quick": ("minilm/quick/results.csv", MINILM, "quick@2"),
    "sketch": ("minilm/sketch/results.csv", MINILM, "sketch"),
    "probe": ("minilm/probe/results.csv", MINILM, "probe"),
    "standard": ("minilm/standard/results.csv", MINILM, "standard"),
    "standard-short": ("protocol-study/results.csv", "whole", "standard-short"),
    "bigrams": ("baselines/results.csv", "baseline:bigrams", "standard"),
    "BiLSTM": ("baselines/results.csv", "baseline:bilstm", "standard"),
    "Transformer": ("baselines/results.csv", "baseline:transformer", "standard"),
    "constant": ("baselines/results.csv", "baseline:constant", "standard"),
    "majority": ("baselines/results.csv", "baseline:majority", "standard"),
}
"""A name for each committed row: table, model, protocol."""
PAGES = {
    "README.md": {
        "mpnet, `standard`": "mpnet standard",
        "mpnet, `quick`": "mpnet quick",
        "MiniLM, `quick`": "quick",
        "bigrams": "bigrams",
    },
    "docs/results/mpnet/README.md": {
        "`quick`": "mpnet quick",
        "`standard`, with its 95 % interval": "mpnet standard",
    },
    "docs/results/README.md": {
        "`quick`": "quick",
        "`sketch`": "sketch",
        "`probe`": "probe",
        "bigrams": "bigrams",
        "BiLSTM": "BiLSTM",
        "Transformer": "Transformer",
        "best constant": "constant",
    },
    "docs/results/baselines/README.md": {
        "best constant": "constant",
        "bigrams": "bigrams",
        "BiLSTM": "BiLSTM",
        "Transformer": "Transformer",
        "MiniLM, `probe`": "probe",
        "MiniLM, `quick`": "quick",
    },
    "docs/results/minilm/quick/README.md": {
        "dev": "quick dev",
        "test": "quick",
        "majority": "majority",
        "best constant": "constant",
    },
    "docs/results/minilm/sketch/README.md": {"dev": "sketch dev", "test": "sketch"},
    "docs/results/minilm/probe/README.md": {"dev": "probe dev", "test": "probe"},
    "docs/results/minilm/standard/README.md": {
        "dev": "standard dev",
        "test": "standard",
        "the same under [`quick`](../quick/README.md), mean of three": "quick",
    },
    "docs/results/minilm/standard-short/README.md": {
        "dev": "standard-short dev",
        "test": "standard-short",
        "the same under [`quick`](../quick/README.md)": "quick",
    },
}
"""Page -> column of its tables of datasets -> row, with `dev` for the other split."""
TITLES = {task.title: task for task in tasks.all()}


def scores(row: str) -> dict[str, list[float]]:
    """Dataset -> the score of each seed."""
    name, split = (row, "test") if row in ROWS else row.rsplit(" ", 1)
    file, model, protocol = ROWS[name]
    found: dict[str, dict[str, float]] = defaultdict(dict)
    with (RESULTS / file).open(encoding="utf-8", newline="") as table:
        for line in csv.DictReader(table):
            if (line["model"], line["protocol"], line["split"]) != (model, protocol, split):
                continue
            task = tasks.get(line["task"])
            if line["metric"] == METRICS[task.type] and not line.get("overrides"):
                found[task.title][line["seed"]] = float(line["value"])
    return {title: list(values.values()) for title, values in found.items()}


def written(values: list[float], with_deviation: bool) -> str:
    """A mean as the pages write it, with the standard deviation if the cell has one."""
    mean = f"{statistics.mean(values):.2f}"
    return f"{mean} ± {statistics.stdev(values):.2f}" if with_deviation else mean


def cells(page: str) -> list[tuple[str, str, str]]:
    """Title of the dataset, column and text of each cell of a page's tables of datasets."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = []
    for table in re.findall(
        r"^\| dataset \|.*\n\|[-:| ]+\|\n(?:\|.*\n)+", text, flags=re.MULTILINE
    ):
        lines = [
            [cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()
        ]
        for line in lines[2:]:
            title = line[0].removesuffix(" (substitute train set)")
            found += [(title, column, cell) for column, cell in zip(lines[0], line, strict=True)]
    return found


@pytest.mark.parametrize("page", PAGES)
def test_tables_of_datasets(page: str) -> None:
    columns = {column: scores(row) for column, row in PAGES[page].items()}
    checked = [
        (title, column, re.sub(r" \(.*\)", "", cell), written(columns[column][title], "±" in cell))
        for title, column, cell in cells(page)
        if column in columns and title in TITLES and cell
    ]
    assert len(checked) >= 2 * len(columns)
    assert {column for _, column, _, _ in checked} == set(columns)
    assert [each for each in checked if each[2].strip("*") != each[3]] == []


def best_published() -> dict[str, str]:
    """Dataset -> the best score of Table 6 and its model."""
    best: dict[str, tuple[float, str]] = {}
    with (ROOT / "blurb" / "results" / "published.csv").open(encoding="utf-8", newline="") as table:
        for line in csv.DictReader(table):
            if (
                line["source"] == "gu2021"
                and "Table 6" in line["version"]
                and line["dataset"] in {task.name for task in tasks.all()}
            ):
                title = tasks.get(line["dataset"]).title
                best[title] = max(best.get(title, (0.0, "")), (float(line["score"]), line["model"]))
    return {title: f"{score:.2f} {model}" for title, (score, model) in best.items()}


@pytest.mark.parametrize("page", ["README.md", "docs/results/README.md"])
def test_the_best_of_table_6(page: str) -> None:
    best = best_published()
    found = [
        (title, cell)
        for title, column, cell in cells(page)
        if column.startswith("best of the paper")
    ]
    assert len(found) >= 3
    assert found == [(title, best[title]) for title, _ in found]


def test_figures_in_the_prose_of_the_results() -> None:
    text = " ".join((RESULTS / "README.md").read_text(encoding="utf-8").split())
    standard, short = scores("standard"), scores("standard-short")
    for title in ("BC5-disease", "ChemProt", "PubMedQA"):
        assert re.search(rf"{title} (?:has )?{written(standard[title], False)}\b", text), title
    for title in ("NCBI-disease", "GAD"):
        assert re.search(rf"{title} (?:has )?{written(short[title], True)}\b", text), title
    kinds = defaultdict(list)
    for title, values in scores("quick").items():
        kinds[TITLES[title].type].append(statistics.mean(values))
    assert (
        f"is {statistics.mean(statistics.mean(each) for each in kinds.values()):.2f} under `quick`"
        in text
    )
