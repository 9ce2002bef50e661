"""docs/lesson.ipynb: its own code against torch's, its figures against the committed ones, its exercise, and a run."""

import ast
import importlib.util
import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from blurb.heads.pooling.attention_dot import AttentionDot
from blurb.learners.baselines import networks
from tests import tour
from tests.conftest import ROOT
from tests.rewriting import csv_lines

RESULTS = ROOT / "docs" / "results" / "baselines" / "leaderboard.csv"
STUDY = ROOT / "docs" / "results" / "lab" / "vocabulary-and-masking"
TEXT = {cell["id"]: tour.text(cell) for cell in tour.cells("lesson", "markdown")}
SECTIONS = 9
"""Numbered sections before the exercise."""


def is_definition(statement: ast.stmt) -> bool:
    """Imports, functions, classes and constants: what a cell defines, without what it trains."""
    if isinstance(statement, ast.Assign):
        targets = [
            name.id
            for target in statement.targets
            for name in ast.walk(target)
            if isinstance(name, ast.Name)
        ]
        return all(name.isupper() for name in targets)
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)


@pytest.fixture(scope="module")
def lesson() -> dict[str, Any]:
    """The names that the cells define, before any training."""
    names: dict[str, Any] = {}
    for cell in tour.cells("lesson"):
        body = [
            statement for statement in ast.parse(tour.text(cell)).body if is_definition(statement)
        ]
        exec(compile(ast.Module(body, []), cell["id"], "exec"), names)
    torch.manual_seed(0)
    return names


@pytest.mark.parametrize("masked", [False, True])
def test_attention_is_that_of_torch(lesson: dict[str, Any], masked: bool) -> None:
    queries, keys, values = torch.randn(3, 2, 4, 7, 16).unbind(0)
    allowed = lesson["causal"](7) if masked else None
    answers, weights = lesson["attention"](queries, keys, values, allowed)
    expected = functional.scaled_dot_product_attention(queries, keys, values, is_causal=masked)
    torch.testing.assert_close(answers, expected)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4, 7))


def test_multi_head_is_that_of_torch(lesson: dict[str, Any]) -> None:
    ours, theirs = lesson["MultiHead"](64, 4), nn.MultiheadAttention(64, 4, batch_first=True)
    parts = (ours.query, ours.key, ours.value)
    theirs.in_proj_weight.data = torch.cat([part.weight.data for part in parts])
    theirs.in_proj_bias.data = torch.cat([part.bias.data for part in parts])
    theirs.out_proj.load_state_dict(ours.out.state_dict())
    x = torch.randn(3, 9, 64)
    expected, weights = theirs(x, x, x, average_attn_weights=False)
    torch.testing.assert_close(ours(x), expected)
    torch.testing.assert_close(ours.weights, weights.detach())


def test_a_later_symbol_changes_no_earlier_output(lesson: dict[str, Any]) -> None:
    decoder, ids = lesson["Decoder"](), torch.randint(8, (1, 13))
    before = decoder(ids)
    for place in range(13):
        changed = ids.clone()
        changed[0, place] = (ids[0, place] + 1) % 8
        after = decoder(changed)
        torch.testing.assert_close(after[:, :place], before[:, :place], rtol=0, atol=0)
        assert not torch.allclose(after[:, place], before[:, place])


def test_the_answers_of_the_toy_are_copies_and_reverses(lesson: dict[str, Any]) -> None:
    examples = lesson["exercises"]()
    assert examples.shape[1] == 14
    assert len({tuple(row[1:7]) for row in examples.tolist()}) == len(examples)
    for command, *rest in examples[:100].tolist():
        letters, bar, answer = rest[:6], rest[6], rest[7:]
        assert bar == lesson["BAR"]
        assert answer == (letters[::-1] if command == lesson["REVERSE"] else letters)


def test_self_attention_without_positions_knows_no_order(lesson: dict[str, Any]) -> None:
    layer, x, order = lesson["MultiHead"](64, 4), torch.randn(2, 7, 64), torch.randperm(7)
    torch.testing.assert_close(layer(x[:, order]), layer(x)[:, order])


def test_sinusoids_follow_the_formula(lesson: dict[str, Any]) -> None:
    table = lesson["sinusoids"](20, 8)
    for place in range(20):
        for pair in range(4):
            angle = place / 10_000 ** (2 * pair / 8)
            assert table[place, 2 * pair : 2 * pair + 2].tolist() == pytest.approx(
                [math.sin(angle), math.cos(angle)], abs=1e-5
            )
    torch.testing.assert_close(
        lesson["sinusoids"](100, 64), networks.sinusoids(100, 64), atol=1e-4, rtol=0
    )


@pytest.mark.parametrize("score", ["Bahdanau", "Luong"])
def test_padding_gets_no_weight(lesson: dict[str, Any], score: str) -> None:
    reader, ids = lesson["Reader"](20, score), torch.tensor([[3, 4, 5, 0, 0], [6, 7, 8, 9, 10]])
    answers, weights = reader(ids)
    assert weights[0, 3:].tolist() == [0, 0]
    torch.testing.assert_close(weights.sum(1), torch.ones(2))
    torch.testing.assert_close(answers[:1], reader(ids[:1, :3])[0])
    torch.testing.assert_close(
        reader(ids, equal=True)[1][0], torch.tensor([1 / 3, 1 / 3, 1 / 3, 0, 0])
    )


def test_the_encoder_reads_both_sides_and_no_padding(lesson: dict[str, Any]) -> None:
    encoder = _encoder(lesson)
    ids = torch.tensor([[3, 4, 5, 6]])
    torch.testing.assert_close(encoder(functional.pad(ids, (0, 4)))[:, :4], encoder(ids))
    assert not torch.allclose(encoder(torch.tensor([[3, 4, 5, 7]]))[:, 0], encoder(ids)[:, 0])


def _encoder(lesson: dict[str, Any]) -> nn.Module:
    """An encoder of the lesson with a vocabulary of ten words."""
    lesson["all_words"] = {str(number): number for number in range(3, 13)}
    return lesson["Encoder"]()


def tables() -> list[tuple[str, str, str]]:
    """(dataset, model, figure) of each table of datasets."""
    figures = []
    for text in TEXT.values():
        for header, body in re.findall(
            r"^\| dataset \| (.+) \|\n\|[-:|]+\|\n((?:\|.+\|\n?)+)", text, flags=re.MULTILINE
        ):
            for line in body.splitlines():
                dataset, *values = (cell.strip() for cell in line.strip("|").split("|"))
                figures += [
                    (dataset, *pair) for pair in zip(header.split(" | "), values, strict=True)
                ]
    return figures


def test_the_figures_are_the_committed_ones() -> None:
    rows = {
        row["model"]: row
        for row in csv_lines(RESULTS)
        if row["protocol"] in ("quick@2", "standard")
    }
    given = tables()
    assert len(given) > 50
    assert given == [
        (name, model, rows[model][name.lower().replace(" ", "-")]) for name, model, _ in given
    ]


def test_figures_in_sentences_are_those_of_the_tables() -> None:
    """A score (two digits behind the point) in a sentence is in a table of the lesson, or in the lab's study."""
    # PubMedQA's constant answer, as `baseline:constant` has it
    known = {value for _, _, value in tables()} | {"55.20"}
    study = (STUDY / "README.md").read_text(encoding="utf-8")
    for name, text in TEXT.items():
        for figure in re.findall(r"(?<![\d.-])\d\d\.\d\d(?!\d)", text):
            assert figure in known or (name == "lesson-lab-study" and figure in study), (
                name,
                figure,
            )


def test_the_table_of_the_study_is_the_committed_one() -> None:
    cells = {
        row["variant"]: row
        for row in csv_lines(STUDY / "study.csv")
        if (row["protocol"], row["dataset"]) == ("quick", "ncbi-disease")
    }
    bits = dict(
        re.findall(
            r"^\| ([\w-]+) \| (\d\.\d{3}) \|",
            (STUDY / "README.md").read_text("utf-8"),
            re.MULTILINE,
        )
    )
    expected = [
        f" | {cells[name]['pretrainings']} | {cells[name]['mean']} | {bits[name]} |"
        for name in ("untrained", "general-sub-token", "own-whole-word")
    ]
    expected.append(f" | | {cells['baseline:bigrams']['mean']} | |")
    body = TEXT["lesson-lab-study"].split("|---|---:|---:|---:|\n")[1].splitlines()[:4]
    assert [line[line.index(" | ") :] for line in body] == expected


def test_the_rule_of_1500_is_that_of_the_page_of_baselines() -> None:
    page = (ROOT / "docs" / "baselines.md").read_text(encoding="utf-8")
    assert "below 1,500" in page
    assert "161 for GAD" in page
    assert "GAD there is 161" in TEXT["lesson-bigrams-real"]


def test_it_takes_an_hour() -> None:
    titles = re.findall(
        r"^## (\d+)\. .+ \((\d+) minutes\)$", "\n".join(TEXT.values()), flags=re.MULTILINE
    )
    assert [int(number) for number, _ in titles] == list(range(1, SECTIONS + 1))
    assert 50 <= sum(int(minutes) for _, minutes in titles) <= 60
    listed = re.findall(r"^\| \d+\. .+ \| (\d+) \|$", TEXT["lesson-start"], flags=re.MULTILINE)
    assert listed == [minutes for _, minutes in titles]


def test_each_section_has_a_formula_a_picture_and_questions() -> None:
    import json

    notebook = json.loads((tour.DOCS / "lesson.ipynb").read_text(encoding="utf-8"))
    sections: list[list[str]] = []
    for cell in notebook["cells"]:
        shown = [
            "picture" for output in cell.get("outputs", []) if "image/png" in output.get("data", {})
        ]
        text = tour.text(cell)
        for part in re.split(r"(?m)^(?=## )", text) if cell["cell_type"] == "markdown" else [text]:
            if part.startswith("## "):
                sections.append([])
            if sections:
                sections[-1] += [*shown, part]
    for section in sections[:SECTIONS]:
        content = "\n".join(section)
        assert "picture" in section, section[0][:80]
        assert "$$" in content or "$n^2" in content, section[0][:80]
        assert "**Check yourself.**" in content, section[0][:80]
        assert "docs/results/" in content or "docs/extensions/lab.md" in content, section[0][:80]


def test_the_stored_outputs_are_short_and_of_one_run() -> None:
    cells = tour.cells("lesson")
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        for output in cell["outputs"]:
            assert output["output_type"] != "error"
            shown = "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
            assert len(shown) < 1_000
            assert "/tmp" not in shown


def code_of(name: str) -> list[str]:
    """The blocks of Python in a text."""
    return re.findall(r"```python\n(.+?)```", TEXT[name], flags=re.DOTALL)


def test_the_solution_is_the_built_in_attention(tmp_path: Path) -> None:
    (solution,) = code_of("lesson-solution")
    path = tmp_path / "my_pooling.py"
    path.write_text(solution, encoding="utf-8")
    assert (
        len([line for line in solution.splitlines() if line.strip() and not line.startswith("#")])
        <= 10
    )
    spec = importlib.util.spec_from_file_location("solution_of_the_lesson", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    hidden, mask = (
        torch.randn(3, 6, 8),
        torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0]]),
    )
    torch.testing.assert_close(module.Dot(8, 0)(hidden, mask), AttentionDot(8, 0)(hidden, mask))


@pytest.mark.costly
def test_the_exercise_as_a_student_hands_it_in(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("my_pooling.py").write_text(code_of("lesson-solution")[0], encoding="utf-8")
    pattern, call, check = code_of("lesson-right-text-real")
    Path("pattern.py").write_text(pattern, encoding="utf-8")
    import blurb

    names: dict[str, Any] = {"blurb": blurb, "torch": torch}
    monkeypatch.syspath_prepend(here)
    exec(check, names)
    assert names["same"]
    exec(call, names)
    mine, theirs = (names[name].predictions("scratch:tiny", "gad") for name in ("mine", "theirs"))
    assert (mine.prediction == theirs.prediction).mean() > 0.9
    assert len(set(mine.prediction)) == 2, "it says more than the constant answer"
    pooled = blurb.run(
        "scratch:tiny", "gad", suite="demo", protocol="smoke", pooling="./pattern.py:Largest", output="pattern",
        progress=False,
    )  # fmt: skip
    assert not pooled.failed


@pytest.mark.slow
def test_the_lesson(here: Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    names: dict[str, Any] = {}
    outputs = {
        cell["id"]: tour.outputs_of(tour.text(cell), names, number)
        for number, cell in enumerate(tour.cells("lesson"), 1)
    }
    assert not names["results"].failed
    assert names["recalled"][True][-1] > 0.9 > 0.5 > names["recalled"][False][-1]
    assert names["right"]["learned"] > 0.98
    assert names["right"]["sinusoidal"] > 0.98
    assert names["right"]["none"] < 0.5
    assert names["earlier_is_same"]
    assert max(names["tuned"]["nothing"]) < min(names["tuned"]["diseases"])
    (stored, *_) = next(
        cell["outputs"] for cell in tour.cells("lesson") if cell["id"] == "lesson-bigrams-scores"
    )
    assert outputs["lesson-bigrams-scores"][0]["data"]["text/plain"] == stored["data"]["text/plain"]
