"""What a model had met of its datasets before: a remark of a row, from the command to tables, page and row files."""

import json
from pathlib import Path
from typing import Any

import pytest

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.messages.errors import BlurbError, DataError
from blurb.results import from_store
from blurb.results.row import Row
from blurb.row_files import reading, writing
from blurb.row_files.references import resolve
from blurb.store import row_trials
from blurb.store.row_trials import TRAINED_ON
from blurb.store.store import Store
from tests.cli.in_process import done, refused
from tests.scoring.test_forms import answers


def add(store: Path, **given: Any) -> Row:
    found = answers("gad", read_split(tasks.get("gad"), demo.prepare(), "test"))
    blurb.score("gad", found, suite="demo", add="tool", output=store, **given)
    return resolve("tool", store)


def file_of(store: Path) -> Path:
    (path,) = store.glob("tool/rows/*.json")
    return path


def test_it_is_said_kept_changed_and_taken_back_and_changes_no_name(tmp_path: Path) -> None:
    store = tmp_path / "runs"
    plain = add(store)
    assert plain.trained_on == ""
    assert "trained_on" not in json.loads(file_of(store).read_text())
    said = add(store, trained_on="test")
    assert (said.trained_on, said.primary_key, said.key) == ("test", plain.primary_key, plain.key)
    assert said.records.keys() == plain.records.keys()
    assert TRAINED_ON["test"] in said.note
    assert add(store).trained_on == "test", "whoever adds a seed says nothing of it"
    for word, text in TRAINED_ON.items():
        done(["runs", "edit", "tool", "--trained-on", word, "--output", str(store)], tmp_path)
        row = resolve("tool", store)
        assert (row.trained_on, row.primary_key) == (word, plain.primary_key)
        assert [one for one in TRAINED_ON.values() if one and one in row.note] == [text][
            : bool(text)
        ]
    assert row.note == plain.note


@pytest.mark.extensions
def test_tables_page_and_row_files_show_it(tmp_path: Path) -> None:
    add(tmp_path / "runs", trained_on="train")
    text = done(["leaderboard", "show", "--format", "json"], tmp_path)
    assert TRAINED_ON["train"] in json.loads(text)[0]["note"]
    done(["leaderboard", "html", "--out", "page.html"], tmp_path)
    assert TRAINED_ON["train"] in (tmp_path / "page.html").read_text(encoding="utf-8")
    done(["export", "row", "tool", "--out", "as-stored"], tmp_path)
    done(["export", "row", "tool", "--out", "said", "--trained-on", "texts"], tmp_path)
    for name, word in (("as-stored", "train"), ("said", "texts")):
        assert reading.read_row_files(tmp_path / name).about["trained_on"] == word
        assert TRAINED_ON[word] in resolve(str(tmp_path / name), tmp_path).note


def test_row_files_of_before_are_unknown_and_strange_words_are_refused(tmp_path: Path) -> None:
    row, folder = add(tmp_path / "runs"), tmp_path / "row"
    files = writing.files(row)
    about = json.loads(files[writing.ABOUT])
    assert about.pop("trained_on") == "unknown"

    def write(**more: object) -> None:
        folder.mkdir(exist_ok=True)
        contents = files | {writing.ABOUT: json.dumps({**about, **more}).encode()}
        hashes = {
            name: reading.hashlib.sha256(content).hexdigest()
            for name, content in contents.items()
            if name != writing.MANIFEST
        }
        contents[writing.MANIFEST] = writing.manifest_bytes(hashes)
        for name, content in contents.items():
            (folder / name).write_bytes(content)

    write()
    assert reading.read_row_files(folder).about["trained_on"] == "unknown"
    assert resolve(str(folder), tmp_path).note == row.note
    for strange in ("gold", "", ["test"]):
        write(trained_on=strange)
        with pytest.raises(BlurbError, match=r"row\.json.*trained_on") as caught:
            reading.read_row_files(folder)
        assert isinstance(caught.value, DataError) or not isinstance(strange, str)


def test_a_store_with_a_strange_word_says_so(tmp_path: Path) -> None:
    add(tmp_path / "runs", trained_on="test")
    path = file_of(tmp_path / "runs")
    path.write_text(path.read_text().replace('"trained_on": "test"', '"trained_on": "gold"'))
    told: list[str] = []
    assert from_store.read(Store(tmp_path / "runs"), lambda error: told.append(str(error))) == []
    assert "trained_on must be one of none, texts, train, test, unknown" in told[0]
    assert path.name in told[0]


def test_baselines_had_met_nothing_and_words_are_those_of_the_list(tmp_path: Path) -> None:
    (row,) = blurb.run(
        "baseline:majority", "gad", suite="demo", output=tmp_path / "runs", progress=False
    ).rows
    assert row.trained_on == "none"
    assert [each.trained_on for each in row_trials.read(Store(tmp_path / "runs"))] == ["none"]
    done(["runs", "edit", "baseline:majority", "--trained-on", "texts"], tmp_path)
    again = blurb.run(
        "baseline:majority", "gad", suite="demo", output=tmp_path / "runs", progress=False
    )
    assert again.rows[0].trained_on == "texts", "a run takes back nothing that was said"
    with pytest.raises(BlurbError, match="trained_on"):
        add(tmp_path / "runs", trained_on="gold")
    assert "--add" in refused(
        ["score", "--task", "gad", "--predictions", "x", "--trained-on", "test"], tmp_path
    )
