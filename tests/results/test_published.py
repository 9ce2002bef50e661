"""Numbers of papers. Oracle: the shipped file read with the csv module, and the bytes of files that are added to."""

import csv
import itertools
from importlib.resources import files
from pathlib import Path

import pytest

from blurb import tasks
from blurb.messages.errors import DataError
from blurb.results import published
from blurb.results.published import COLUMNS, DOUBTS, PAPER, Printed
from blurb.results.row import Origin
from tests.results import tampered

HEAD = ",".join(COLUMNS)


def shipped_lines() -> list[dict[str, str]]:
    text = (files("blurb.results") / "published.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def written(folder: Path, *lines: str) -> Path:
    path = folder / "external.csv"
    path.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
    return path


def told(path: Path) -> str:
    return tampered.told(published.read, path)


def test_the_shipped_rows_are_the_lines_of_the_shipped_file() -> None:
    expected: dict[tuple[str, str, str], dict[str, tuple[float, int]]] = {}
    for line in shipped_lines():
        key = line["source"], line["version"], line["model"]
        assert line["dataset"] not in expected.setdefault(key, {})
        expected[key][line["dataset"]] = float(line["score"]), int(line["runs"] or 0)
        assert line["certainty"] in DOUBTS
    found = {
        (row.source, row.version, row.model): {
            **{name: (one.means["test"], one.count) for name, one in row.datasets.items()},
            **({} if row.printed is None else {"score": (row.printed, 0)}),
        }
        for row in published.shipped()
    }
    assert found == expected
    assert {row.origin for row in published.shipped()} == {Origin.PUBLISHED}
    assert published.shipped() is published.shipped()


def test_the_best_of_the_paper_is_the_largest_of_its_table() -> None:
    table = [line for line in shipped_lines() if (line["source"], line["version"]) == PAPER]
    best = published.best_of_paper()
    assert len(best) == 13
    for name, (score, model) in best.items():
        column = {line["model"]: float(line["score"]) for line in table if line["dataset"] == name}
        assert score == max(column.values()) == column[model]


def test_a_row_of_others_says_what_is_known_of_it_and_no_more(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "us2026,v1,Ours,gad,81.5,5,printed",
        "us2026,v1,Ours,ddi,80,,printed",
        "us2026,v1,Ours,score,77.25,,printed",
        "us2026,v2,Ours,gad,10,1,quoted",
    )
    first, second = published.read(path)
    assert (first.means(), first.means("dev"), first.printed, first.score) == (
        {"ddi": 80.0, "gad": 81.5},
        {},
        77.25,
        77.25,
    )
    assert (first.run_counts, first.records, first.spread, first.weights) == ([5], {}, None, "")
    assert (first.published, first.kind.paired, first.suite, first.certainty, first.note) == (
        True,
        False,
        "blurb",
        "printed",
        "",
    )
    assert (second.version, second.means(), second.score, second.run_counts) == (
        "v2",
        {"gad": 10.0},
        None,
        [1],
    )
    assert second.note == DOUBTS["quoted"]


@pytest.mark.parametrize(
    "words", itertools.product(["printed", "quoted", "recalled", "heard", ""], repeat=2)
)
def test_a_row_is_as_sure_as_its_least_sure_number(words: tuple[str, str], tmp_path: Path) -> None:
    path = written(
        tmp_path,
        *(f"s,v,m,{name},80,1,{word}" for name, word in zip(("gad", "ddi"), words, strict=True)),
    )
    (row,) = published.read(path)
    order = ["printed", "quoted", "recalled"]  # and any other word counts as the last
    assert row.certainty == order[max(order.index(word) if word in order else 2 for word in words)]
    assert row.note == DOUBTS[row.certainty]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("s,v,m,gda,80,1,printed", "'gda'"),
        ("s,v,m,GAD,80,1,printed", "'GAD'"),
        ("s,v,m,gad,8o,1,printed", "'8o'"),
        ("s,v,m,gad,nan,1,printed", "'nan'"),
        ("s,v,m,gad,,1,printed", "score"),
        ("s,v,m,gad", "score"),
        (",v,m,gad,80,1,printed", "source"),
        ("s,v, ,gad,80,1,printed", "model"),
        ("s,v,m,gad,80,many,printed", "'many'"),
        ("s,v,m,gad,80,2.7,printed", "runs must be a whole number"),
        ("s,v,m,gad,80,-3,printed", "runs must be a whole number"),
        ("s,v,m,ner,80,1,printed", "'ner'"),
        # A cell too many, as a decimal comma makes one: 80,5 would be 80 of 5 runs
        ("s,v,m,gad,80,5,5,printed", str(len(COLUMNS))),
        ("s,v,m,gad,80,1,printed,", str(len(COLUMNS))),
    ],
)
def test_what_is_no_number_of_a_dataset_is_told_with_its_line(
    line: str, what: str, tmp_path: Path
) -> None:
    text = told(written(tmp_path, "s,v,m,ddi,80,1,printed", line))
    assert text.startswith(f"{tmp_path / 'external.csv'}:3: ")
    assert what in text


@pytest.mark.parametrize("dataset", ["gad", "score"])
def test_a_number_that_stands_there_twice_is_refused_with_both_lines(
    dataset: str, tmp_path: Path
) -> None:
    path = written(
        tmp_path,
        "s,v,m,ddi,1,,printed",
        f"s,v,m,{dataset},80,,printed",
        f"s,v,m,{dataset},81,,printed",
    )
    text = told(path)
    assert text.startswith(f"{path}:4: ")
    assert "line 3" in text


@pytest.mark.parametrize(
    "head", ["", "model,score", HEAD.replace(",certainty", ""), f"{HEAD},more", HEAD.upper()]
)
def test_a_file_of_other_columns_is_another_file(head: str, tmp_path: Path) -> None:
    (tmp_path / "external.csv").write_text(f"{head}\ns,v,m,gad,80,1,printed\n")
    text = told(tmp_path / "external.csv")
    assert all(column in text for column in COLUMNS)


def test_what_was_added_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "external.csv"
    names = [task.name for task in tasks.all() if task.paper_order]
    asked = [
        Printed(
            "us2026",
            "v1",
            "Ours",
            {name: 70 + place / 100 for place, name in enumerate(names)},
            {"gad": 5},
            71.5,
        ),
        Printed("us2026", "", 'a "b", c', {"gad": 0.85}, {}, None, "recalled"),
        Printed("us2026", "v1", "ü ß", {}, {}, 100.0, "quoted"),
    ]
    for each in asked:
        published.add(path, each)
    for each, row in zip(asked, published.read(path), strict=True):
        assert (row.source, row.version, row.model) == (each.source, each.version, each.model)
        assert (row.means(), row.printed, row.certainty) == (
            each.scores,
            each.total,
            each.certainty,
        )
        assert {name: one.count for name, one in row.datasets.items() if one.count} == each.runs


@pytest.mark.parametrize(
    "before", ["s,v,m,gad,80,1,printed\n", "s,v,m,gad,80,1,printed", "\n\ns,v,m,gad,80,,\n"]
)
def test_adding_keeps_what_is_there_as_it_is(before: str, tmp_path: Path) -> None:
    path = tmp_path / "external.csv"
    path.write_text(f"\ufeff{HEAD}\n{before}", encoding="utf-8")  # as a spreadsheet writes it
    old = path.read_bytes()
    published.add(path, Printed("s", "v", "other", {"gad": 81.5}, {"gad": 2}))
    assert path.read_bytes() == old.removesuffix(b"\n") + b"\ns,v,other,gad,81.5,2,printed\n"
    assert [row.model for row in published.read(path)] == ["m", "other"]


def test_numbers_that_are_there_are_not_added_again(tmp_path: Path) -> None:
    path = written(tmp_path, "s,v,m,gad,80,1,printed")
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"m of s \(v\)") as caught:
        published.add(path, Printed("s", "v", "m", {"ddi": 70.0}))
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before
    published.add(path, Printed("s", "", "m", {"ddi": 70.0}))  # another edition
    with pytest.raises(DataError, match="already has m of s"):
        published.add(path, Printed("s", "", "m", {"gad": 70.0}))


def test_a_damaged_file_is_not_added_to(tmp_path: Path) -> None:
    path = written(tmp_path, "s,v,m,gad,x,1,printed")
    before = path.read_bytes()
    with pytest.raises(DataError, match=":2: "):
        published.add(path, Printed("s", "v", "n", {"gad": 80.0}))
    assert path.read_bytes() == before


def test_whatever_comes_back_is_read_or_told(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        *(f"s,v,{model},{name},80,1,printed" for model in "mn" for name in ("gad", "ddi", "hoc")),
    )

    def read(path: Path) -> None:
        assert all(row.name for row in published.read(path))

    tampered.check_any(path, read)
