"""Tables of models: names and tags of rows, and what is wrong with a table, with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

import blurb
from blurb.messages.errors import BlurbError
from blurb.planning.options import NamedModel, RunOptions, read_models
from blurb.store import row_trials
from blurb.store.store import Store


def _table(folder: Path, text: str) -> Path:
    file = folder / "models.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_table_has_names_and_tags_and_folders_beside_it(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    file = _table(tmp_path, "model,name,tags\none,first,base seed-1\norg/model,,\n")
    assert read_models(file) == [
        NamedModel(str(tmp_path / "one"), "first", ("base", "seed-1")),
        NamedModel("org/model"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"models\.csv:1: needs the columns model"),
        ("path,name\nx,y\n", r":1: needs the columns"),
        ('model,tags\nx,"a,b"\n', r":2: tags are separated by blanks, and have no commas"),
        ("model,tags\nx,a,b\n", ":2: expected 2 cells"),
        ("model,name\n,y\n", ":2: names no model"),
        ("model\n", "names no model"),
        ("model,name\rx,y\r", "invalid CSV"),
        ("model\n" + "x" * 200_000 + "\n", "invalid CSV"),
    ],
)
def test_a_wrong_table_says_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BlurbError, match=said):
        read_models(_table(tmp_path, text))


def test_all_wrong_lines_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(BlurbError, match=r"(?s)csv:2: tags.*csv:3: names"):
        read_models(_table(tmp_path, 'model,tags\nx,"a,b"\n,c\n'))


def test_options_have_the_models_of_both(tmp_path: Path) -> None:
    file = _table(tmp_path, "model,name\nbaseline:majority,common\n")
    options = RunOptions(model=("baseline:mean",), models_file=file)
    assert options.named_models == [NamedModel("baseline:mean"), NamedModel("baseline:majority", "common")]


def test_tags_are_of_the_row_and_of_no_identity(tmp_path: Path) -> None:
    store = tmp_path / "runs"
    model = NamedModel("baseline:majority", "common", ("base", "first"))
    tagged = blurb.run(model, "gad", suite="demo", output=store, progress=False)
    assert tagged.rows[0].tags == ("base", "first")
    assert tagged.rows[0].model == "common"
    again = blurb.run("baseline:majority", "gad", name="common", suite="demo", output=store, progress=False)
    assert [row.key for row in again.rows] == [row.key for row in tagged.rows]
    assert again.rows[0].tags == ("base", "first")  # kept by a run that names none
    (row,) = row_trials.read(Store(store))
    assert row.tags == ("base", "first")
    changed = blurb.run(NamedModel("baseline:majority", "common", ("other",)), "gad", suite="demo", output=store,
                        progress=False)  # fmt: skip
    assert changed.rows[0].tags == ("other",)


def test_no_model_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BlurbError, match=r"There is no model to run; name a MODEL"):
        blurb.run([], "gad", suite="demo", output=tmp_path / "runs", progress=False)
