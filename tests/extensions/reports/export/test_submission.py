"""`blurb export submission`: what is written is what was scored, and nothing else is ever written.

Oracles: seqeval, scikit-learn and scipy on the files that were written, and independent counts.
"""

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from blurb import tasks
from blurb.data.schema import Example
from blurb.extensions.reports.export.formats.submission import (
    LONGEST,
    _known_units,
    check,
    fingerprint,
    schema_of,
    violations,
)
from blurb.messages.errors import StoreError
from blurb.store.store import Store, read_json
from blurb.tasks import Split
from tests.extensions.reports.export.stores import bioasq, export, finish, gad, refused

NAMES = [task.name for task in tasks.all() if task.paper_order]


def whole(folder: Path) -> Store:
    store = Store(folder / "runs")
    finish(store, "gad", gad())
    finish(store, "bioasq", bioasq(), verdict="counts only")
    return store


def test_two_datasets_round_trip(tmp_path: Path) -> None:
    store = whole(tmp_path)
    out = tmp_path / "out"
    export("submission", "--allow-partial", "--out", str(out), folder=tmp_path)
    assert sorted(path.name for path in out.iterdir()) == [
        "bioasq.json",
        "gad.json",
        "submission.zip",
    ]
    with zipfile.ZipFile(out / "submission.zip") as archive:
        assert archive.namelist() == ["gad.json", "bioasq.json"]
        assert all(archive.read(name) == (out / name).read_bytes() for name in archive.namelist())
    for name, title in {"gad": "GAD", "bioasq": "BioASQ"}.items():
        written = json.loads((out / f"{name}.json").read_text())
        assert list(written) == ["dataset_name", "model_name", "predictions"]
        assert (written["dataset_name"], written["model_name"]) == (title, "m")
        (path,) = (store.root / "m" / name).glob("[0-9a-f]*")
        gold = {
            unit["id"].removeprefix("test."): unit["label"]
            for unit in (gad() if name == "gad" else bioasq())
        }
        assert written["predictions"].keys() == gold.keys()
        assert score(name, written["predictions"], gold) == pytest.approx(headline(path))


def headline(path: Path) -> float:
    metrics = read_json(path / "metrics.json")
    return float(metrics["test"][metrics["metric"]])


def score(name: str, answers: dict[str, Any], gold: dict[str, Any]) -> float:
    """The figure of a dataset by the libraries of others, from the files of a submission."""
    from scipy.stats import pearsonr
    from seqeval.metrics import f1_score as entity_f1
    from sklearn.metrics import accuracy_score, f1_score

    kind = tasks.get(name).type
    right, said = [gold[key] for key in answers], list(answers.values())
    if kind == "ner":
        return float(entity_f1(right, said))
    if kind == "pico":
        flat = [[tag for tags in side for tag in tags] for side in (right, said)]
        return float(f1_score(*flat, labels=["I-PAR", "I-INT", "I-OUT"], average="macro"))
    if kind == "similarity":
        return float(pearsonr(right, said)[0])
    if kind == "document":
        labels = ("IM", "ID", "CE", "RI", "GS", "GI", "A", "CD", "PS", "TPI")
        union: dict[str, tuple[set[str], set[str]]] = {}
        for key, one, other in zip(answers, right, said, strict=True):
            sides = union.setdefault(key.split("_s")[0], (set(), set()))
            sides[0].update(one)
            sides[1].update(other)
        cells = [
            [[label in side[i] for label in labels] for side in union.values()] for i in (0, 1)
        ]
        return float(f1_score(*cells, average="micro"))
    if kind == "qa":
        return float(accuracy_score(right, said))
    positive = [
        label for label in tasks.get(name).labels if label not in ("0", "false", "DDI-false")
    ]
    return float(f1_score(right, said, labels=positive, average="micro"))


@pytest.mark.costly
@pytest.mark.real
def test_every_dataset_round_trips_on_the_real_ids(
    store: Store, tmp_path: Path, real_rows: Callable[[str, Split], list[Example]]
) -> None:
    """Gold is taken from BLURB's files as they are written, by other code than the exporter's."""
    rows = {name: bioasq() if name == "bioasq" else real_rows(name, "test") for name in NAMES}
    for name in NAMES:
        finish(
            store,
            name,
            rows[name],
            verdict="counts only" if name in ("bioasq", "ebm-pico") else "identical",
        )
    out = tmp_path / "out"
    export("submission", "--out", str(out), folder=tmp_path)
    short = dict(
        zip(
            tasks.get("hoc").labels,
            ["IM", "ID", "CE", "RI", "GS", "GI", "A", "CD", "PS", "TPI"],
            strict=True,
        )
    )
    for name in NAMES:
        answers = json.loads((out / f"{name}.json").read_text())["predictions"]
        kind = tasks.get(name).type
        gold: dict[str, Any] = {}
        for number, unit in enumerate(rows[name]):
            if kind == "ner":
                gold[str(number)] = [tag[0] for tag in unit["tags"]]
            elif kind == "pico":
                gold.setdefault(unit["doc_id"], []).extend(unit["tags"])
            elif kind == "document":
                gold[unit["id"]] = [short[label] for label in unit["labels"]]
            else:
                key = str(number) if name == "gad" else unit["id"]
                gold[key] = unit["score"] if kind == "similarity" else unit["label"]
        assert answers.keys() == gold.keys()
        (path,) = (store.root / "m" / name).glob("[0-9a-f]*")
        assert score(name, answers, gold) == pytest.approx(headline(path)), name
        if kind == "ner":  # an orphan I would be read in two ways
            assert all(
                tag != "I" or before != "O"
                for tags in answers.values()
                for before, tag in zip(["O", *tags], tags, strict=False)
            )
    texts = {
        value
        for name in NAMES
        for unit in rows[name]
        for value in unit.values()
        if isinstance(value, str)
    }
    written = "".join((out / f"{name}.json").read_text() for name in NAMES)
    # No text of a corpus
    assert not [text for text in texts if len(text) > 40 and text[:40] in written]


@pytest.mark.real
def test_the_known_units_are_those_of_the_files(
    real_rows: Callable[[str, Split], list[Example]],
) -> None:
    """Keys and lengths by a reading of the examples that shares nothing with the exporter but the hash."""
    for name, known in _known_units().items():
        if name == "bioasq":
            continue
        lengths: dict[str, int] = {}
        for unit in real_rows(name, "test"):
            key = unit["doc_id"] if name == "ebm-pico" else unit["id"].removeprefix("test.")
            lengths[key] = lengths.get(key, 0) + len(unit.get("tokens", ()))
        assert known["keys"] == fingerprint(lengths), name
        assert int(known["units"]) == len(lengths)
        if known["words"]:
            assert int(known["words"]) == sum(lengths.values())
            assert known["lengths"] == fingerprint(
                f"{key} {length}" for key, length in lengths.items()
            )


def test_the_counts_are_those_of_the_protocol() -> None:
    known = _known_units()
    words = {
        "bc5-chem": 124_750,
        "bc5-disease": 124_750,
        "ncbi-disease": 24_497,
        "bc2gm": 143_465,
        "jnlpba": 101_039,
    }
    # Docs/benchmark.md, "File counts"
    assert {name: int(known[name]["words"]) for name in words} == words
    for name in NAMES:
        bounds = schema_of(tasks.get(name))["properties"]["predictions"]
        assert bounds["minProperties"] == bounds["maxProperties"] == int(known[name]["units"])
    # Table 3 counts these units
    for name in ("chemprot", "ddi", "gad", "biosses", "pubmedqa", "bioasq"):
        assert int(known[name]["units"]) == tasks.get(name).sizes["test"]


@pytest.mark.parametrize("name", NAMES)
def test_the_labels_are_those_of_the_task(name: str) -> None:
    task = tasks.get(name)
    (value,) = schema_of(task)["properties"]["predictions"]["patternProperties"].values()
    if task.type == "relation" or task.type == "qa":
        assert set(value["enum"]) == set(task.labels)
    if task.type == "pico":
        assert set(value["items"]["enum"]) == {"O", *(f"I-{label}" for label in task.labels)}


def changed(column: str, index: int, value: Any) -> dict[str, Any]:
    """The columns of a whole GAD with one cell replaced."""
    columns: dict[str, Any] = {
        "id": [unit["id"] for unit in gad()],
        "prediction": [unit["label"] for unit in gad()],
    }
    columns[column][index] = value
    return columns


@pytest.mark.parametrize(
    ("rows", "changes", "verdict", "message"),
    [
        (gad(533), {}, "identical", "expected 534 predictions, found 533"),
        (
            [*gad(), {**gad()[0], "id": "test.534"}],
            {},
            "identical",
            "expected 534 predictions, found 535",
        ),
        (gad(), changed("id", 5, "test.777"), "identical", "ids are not those of BLURB's test set"),
        (
            gad(),
            changed("id", 5, "train.5"),
            "identical",
            "'train.5' does not match any of the regexes",
        ),
        (gad(), changed("id", 5, "test.6"), "identical", "id 6 occurs twice"),
        (
            gad(),
            changed("prediction", 5, "2"),
            "identical",
            r"id 5: '2' is not one of \['0', '1'\]",
        ),
        (
            gad(),
            changed("prediction", 5, None),
            "identical",
            r"id 5: None is not one of \['0', '1'\]",
        ),
        (gad(), {}, "counts only", r"the trial's data is not BLURB's \(counts only\)"),
        (gad(), {}, "differs", r"the trial's data is not BLURB's \(differs\)"),
    ],
)
def test_what_is_not_whole_is_refused_and_nothing_is_written(
    tmp_path: Path, rows: list[Example], changes: dict[str, Any], verdict: str, message: str
) -> None:
    import re

    finish(Store(tmp_path / "runs"), "gad", rows, verdict=verdict, **changes)
    text = refused("submission", "--allow-partial", "--out", str(tmp_path / "out"), folder=tmp_path)
    assert re.search(message, text), text
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def sentences(lengths: list[int], name: str = "ncbi-disease") -> list[Example]:
    label = tasks.get(name).labels[0]
    return [
        {
            "id": f"test.{i}",
            "doc_id": "1",
            "tokens": ["w"] * size,
            "tags": [f"B-{label}", *["O"] * (size - 1)],
        }
        for i, size in enumerate(lengths)
    ]


def test_tag_sequences_of_a_wrong_length_are_refused(store: Store, tmp_path: Path) -> None:
    rows = sentences([25] * 939 + [26])
    short = [unit["tags"][:-1] if i == 17 else unit["tags"] for i, unit in enumerate(rows)]
    finish(store, "ncbi-disease", rows, prediction=short)
    assert "id test.17: 24 tags for 25 words" in refused(
        "submission", "--tasks", "ncbi-disease", "--out", str(tmp_path / "out"), folder=tmp_path
    )
    finish(store, "ncbi-disease", rows)  # in itself consistent, but not the words of NCBI-disease
    assert "one tag per word of BLURB's test set" in refused(
        "submission", "--tasks", "ncbi-disease", "--out", str(tmp_path / "out"), folder=tmp_path
    )
    assert not (tmp_path / "out").exists()


def test_hoc_by_abstract_cannot_be_submitted(tmp_path: Path) -> None:
    rows = [{"id": str(i), "doc_id": str(i), "text": "", "labels": []} for i in range(3)]
    finish(Store(tmp_path / "runs"), "hoc", rows)
    assert "--set document_unit=sentence" in refused(
        "submission", "--tasks", "hoc", "--out", str(tmp_path / "out"), folder=tmp_path
    )


def test_the_seed_is_the_first_or_the_one_that_is_named(store: Store, tmp_path: Path) -> None:
    for seed in (2, 3):
        finish(store, "gad", gad(), seed=seed)
    found = []
    for options in ([], ["--seed", "2"], ["--seed", "3"]):
        out = tmp_path / f"out{len(found)}"
        export("submission", "--tasks", "gad", *options, "--out", str(out), folder=tmp_path)
        found.append((out / "submission.zip").read_bytes())
    assert found[0] == found[1] != found[2]
    assert "seed 4 is not finished; finished seeds: 2, 3" in refused(
        "submission", "--tasks", "gad", "--seed", "4", "--out", str(tmp_path / "x"), folder=tmp_path
    )


def test_seed_zero_is_a_seed(tmp_path: Path) -> None:
    whole(tmp_path)
    assert "--seed does not apply to latex" in refused("latex", "--seed", "0", folder=tmp_path)
    assert "seed 0 is not finished" in refused(
        "submission", "--seed", "0", "--out", str(tmp_path / "x"), folder=tmp_path
    )


def test_the_empty_folder_one_stands_in_is_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.chdir(out)
    export("submission", "--allow-partial", "--out", ".", folder=tmp_path)
    assert (Path.cwd() / "submission.zip").is_file()
    assert Path("submission.zip").is_file()  # the folder itself, not one of the same name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "runs"]


def test_a_folder_with_files_is_left_as_it_is(tmp_path: Path) -> None:
    whole(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    (out / "gad.json").write_text("old")
    assert "exists already" in refused(
        "submission", "--allow-partial", "--out", str(out), folder=tmp_path
    )
    assert [path.read_text() for path in out.iterdir()] == ["old"]
    (out / "gad.json").unlink()
    export("submission", "--allow-partial", "--out", str(out), folder=tmp_path)


def document() -> dict[str, Any]:
    answers = {str(i): "1" for i in range(534)}
    return {"dataset_name": "GAD", "model_name": "m", "predictions": answers}


def answered(name: str, predictions: object) -> list[str]:
    """The violations of a file of a dataset with these predictions, whatever their number."""
    schema = schema_of(tasks.get(name))
    schema["properties"]["predictions"].update(minProperties=0)
    title = schema["properties"]["dataset_name"]["const"]
    return violations(
        {"dataset_name": title, "model_name": "m", "predictions": predictions}, schema
    )


@pytest.mark.parametrize(
    ("name", "predictions", "expected"),
    [
        ("biosses", {"1": 0, "2": 4.0, "3": 2.5}, []),
        ("biosses", {"1": 4.5}, ["id 1: 4.5 is greater than the maximum of 4."]),
        ("biosses", {"1": True}, ["id 1: True is not of type 'number'."]),
        ("biosses", {"1": "2"}, ["id 1: '2' is not of type 'number'."]),
        (
            "biosses",
            {"x": 2},
            ["the file, predictions: 'x' does not match any of the regexes: '^[0-9]+$'."],
        ),
        ("hoc", {"1_s1": [], "1_s2": ["A", "PS"]}, []),
        ("hoc", {"1_s1": ["A", "A"]}, ["id 1_s1: ['A', 'A'] has non-unique elements."]),
        ("ncbi-disease", {"0": ["B", "I", "O"]}, []),
        ("ncbi-disease", {"0": ["O", "X"]}, ["id 0, item 1: 'X' is not one of ['O', 'B', 'I']."]),
        ("gad", {"1": "0", "2": 1}, ["id 2: 1 is not one of ['0', '1']."]),
        ("gad", ["0"], ["the file, predictions: ['0'] is not of type 'object'."]),
    ],
)
def test_what_does_not_fit_is_said_with_its_place(
    name: str, predictions: object, expected: list[str]
) -> None:
    assert answered(name, predictions) == expected


def test_a_value_of_any_size_is_said_in_a_line() -> None:
    (found,) = answered("gad", ["0"] * 5000)
    assert len(found) < LONGEST + 40
    assert found.startswith("the file, predictions: ['0', ")
    assert found.endswith("is not of type 'object'.")


def test_of_many_violations_some_are_shown() -> None:
    task = tasks.get("gad")
    with pytest.raises(StoreError) as error:
        check(
            task, {**document(), "predictions": {str(i): "2" for i in range(534)}}, schema_of(task)
        )
    lines = str(error.value).split("\n")
    assert lines[0] == "id 0: '2' is not one of ['0', '1']."
    assert (len(lines), lines[-1]) == (6, "... and 529 more.")


def test_a_whole_document_fits_and_a_key_more_does_not() -> None:
    task = tasks.get("gad")
    check(task, document(), schema_of(task))
    assert violations({**document(), "team": "x"}, schema_of(task)) == [
        "the file: Additional properties are not allowed ('team' was unexpected)."
    ]


def test_the_schemas_are_schemas_of_their_draft() -> None:
    """An unknown keyword would be a check that is promised and not made."""
    known = {
        "$schema",
        "title",
        "type",
        "required",
        "additionalProperties",
        "properties",
        "patternProperties",
        "const",
    }
    known |= {"enum", "items", "minimum", "maximum", "minLength", "minItems", "uniqueItems"}
    known |= {"minProperties", "maxProperties"}

    def keywords(schema: dict[str, Any]) -> Iterator[str]:
        yield from schema
        for part in (
            *schema.get("properties", {}).values(),
            *schema.get("patternProperties", {}).values(),
        ):
            yield from keywords(part)
        if "items" in schema:
            yield from keywords(schema["items"])

    for name in NAMES:
        schema = schema_of(tasks.get(name))
        Draft202012Validator.check_schema(schema)
        assert set(keywords(schema)) <= known
