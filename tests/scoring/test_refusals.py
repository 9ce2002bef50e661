"""What is no prediction is refused with its file and line or id, exit code 2, and nothing is written."""

import json
from itertools import cycle
from pathlib import Path

import pytest

from blurb import score, tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.messages.errors import BlurbError
from tests.cli.in_process import blurb, done, refused as refused_by_command
from tests.scoring import filed

NER, GAD = "ncbi-disease", "gad"
NER_ROW = read_split(tasks.get(NER), demo.prepare(), "test")[0]


def gold(name: str) -> list[tuple[str, str]]:
    """Id and label of the test examples."""
    return [
        (row["id"], row["label"]) for row in read_split(tasks.get(name), demo.prepare(), "test")
    ]


def conll(name: str = NER) -> list[str]:
    """The gold tags of test as lines."""
    lines: list[str] = []
    for row in read_split(tasks.get(name), demo.prepare(), "test"):
        lines += [
            f"{word}\t{tag}" for word, tag in zip(row["tokens"], row["tags"], strict=True)
        ] + [""]
    return lines


def tsv(name: str = GAD) -> list[str]:
    """The gold answers of test but the first, which is another label."""
    answers = gold(name)
    other = next(label for _, label in answers if label != answers[0][1])
    return [f"{key}\t{label}" for key, label in [(answers[0][0], other), *answers[1:]]]


def refused(
    folder: Path, lines: list[str], *more: str, name: str = "a.tsv", task: str = GAD
) -> str:
    """The message; nothing but the file is in the folder afterwards."""
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    added = () if "--add" in more else ("--add", "m")
    arguments = ["score", "--suite", "demo", "--task", task, "--predictions", name, *added, *more]
    err = refused_by_command(arguments, folder)
    assert [path.name for path in folder.iterdir()] == [name]
    return err


def test_an_id_that_is_missing_doubled_or_unknown(tmp_path: Path) -> None:
    lines = tsv()
    key = lines[4].partition("\t")[0]
    assert f"a.tsv: 1 example of test without an answer: {key}." in refused(
        tmp_path, lines[:4] + lines[5:]
    )
    assert f"a.tsv:6: the id '{key}' occurs twice; the first is at line 5." in refused(
        tmp_path, [*lines[:5], lines[4], *lines[6:]]
    )
    assert "a.tsv:1: there is no example 'x.1' in test" in refused(tmp_path, ["x.1\t0", *lines[1:]])
    assert "a.tsv:1: an answer without an id" in refused(tmp_path, ["\t0", *lines[1:]])


def test_a_label_that_there_is_not(tmp_path: Path) -> None:
    lines = tsv()
    key = lines[2].partition("\t")[0]
    text = refused(tmp_path, [*lines[:2], f"{key}\tyes", *lines[3:]])
    assert (
        "a.tsv:3: 'yes' is no label of gad, which are 1, 0. If the file has other names" in text
        or ("a.tsv:3: 'yes' is no label of gad" in text and "--map yes=" in text)
    )
    assert "--map leads to maybe, but the labels of gad are" in refused(
        tmp_path, lines, "--map", "x=maybe"
    )


def test_a_file_of_another_task(tmp_path: Path) -> None:
    assert "there is no example" in refused(tmp_path, tsv("chemprot"))
    (tmp_path / "a.tsv").unlink()
    other = json.dumps({"dataset_name": "DDI", "predictions": dict(gold(GAD))})
    assert "a.json: these are predictions of DDI, not of gad." in refused(
        tmp_path, [other], name="a.json"
    )


def test_one_line_too_few_and_words_that_do_not_align(tmp_path: Path) -> None:
    lines = conll()
    text = refused(tmp_path, lines[1:], name="a.conll", task=NER)
    assert "a.conll:1: the word " in text
    shifted = lines.index("")
    text = refused(tmp_path, lines[: shifted - 1] + lines[shifted:], name="a.conll", task=NER)
    assert "a.conll:1: " in text
    assert "words." in text
    text = refused(tmp_path, lines[: -shifted - 2], name="a.conll", task=NER)
    assert "but test has" in text


@pytest.mark.parametrize("words", [[], NER_ROW["tokens"][:-1], [*NER_ROW["tokens"], "x"]])
@pytest.mark.parametrize("key", ["id", "line"])
def test_another_number_of_words_is_a_difference(
    key: str, words: list[str], tmp_path: Path
) -> None:
    rows = read_split(tasks.get(NER), demo.prepare(), "test")
    told = [{key: row["id"], "tokens": row["tokens"], "prediction": row["tags"]} for row in rows]
    told[0]["tokens"] = words
    text = refused(tmp_path, [*map(json.dumps, told)], name="a.jsonl", task=NER)
    assert f"a.jsonl:1: {len(words)} words, but test.0 has {len(NER_ROW['tokens'])} words." in text


@pytest.mark.parametrize("other", ["another", "the first"])
def test_every_text_of_a_pair_is_compared(other: str, tmp_path: Path) -> None:
    rows = read_split(tasks.get("biosses"), demo.prepare(), "test")
    told = [
        {name: row[name] for name in ("text_a", "text_b")} | {"prediction": 1.0} for row in rows
    ]
    told[2]["text_b"] = told[3]["text_b"] if other == "another" else told[2]["text_a"]
    text = refused(tmp_path, [*map(json.dumps, told)], name="a.jsonl", task="biosses")
    assert f"a.jsonl:3: the text is not that of {rows[2]['id']} (column 'text_b')." in text


def test_a_submission_with_a_key_that_it_does_not_have(tmp_path: Path) -> None:
    other = {"dataset_name": "GAD", "split": "dev", "predictions": dict(gold(GAD))}
    text = refused(tmp_path, [json.dumps(other)], name="a.json")
    assert "a.json: a submission of BLURB has no 'split'; it has dataset_name," in text


def test_predictions_without_an_order_are_refused() -> None:
    with pytest.raises(BlurbError, match="have no order"):
        score(GAD, {"0", "1"}, suite="demo")


def test_examples_in_another_order(tmp_path: Path) -> None:
    blocks = "\n".join(conll()).strip("\n").split("\n\n")
    shuffled = "\n\n".join([*blocks[1:], blocks[0]]).split("\n")
    assert "a.conll:1: the word" in refused(tmp_path, shuffled, name="a.conll", task=NER)


def test_tags_of_another_scheme_or_type(tmp_path: Path) -> None:
    lines = conll()
    place = next(number for number, line in enumerate(lines, 1) if "\tB-" in line)
    text = refused(
        tmp_path,
        [line.replace("\tB-", "\tU-") for line in lines],
        "--scheme",
        "bio",
        name="a.conll",
        task=NER,
    )
    assert f"a.conll:{place}: 'U-Disease' is no BIO tag of ncbi-disease" in text
    text = refused(
        tmp_path, [line.replace("-Disease", "-Gene") for line in lines], name="a.conll", task=NER
    )
    assert f"a.conll:{place}: 'B-Gene'" in text
    assert "--map Gene=Disease" in text


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("nan", "is no number"),
        ("much", "is no number"),
        ("85", "far from the scale of biosses, 0 to 4"),
        ("6.01", "far from the scale of biosses, 0 to 4"),
        ("-2.01", "far from the scale of biosses, 0 to 4"),
    ],
)
def test_numbers_that_are_none_or_of_another_scale(value: str, told: str, tmp_path: Path) -> None:
    rows = read_split(tasks.get("biosses"), demo.prepare(), "test")
    lines = [f"{row['id']}\t{row['score']}" for row in rows]
    lines[1] = f"{rows[1]['id']}\t{value}"
    text = refused(tmp_path, lines, task="biosses")
    assert "a.tsv:2: " in text
    assert told in text


def test_a_number_may_leave_the_scale_by_half_of_it(tmp_path: Path) -> None:
    rows = read_split(tasks.get("biosses"), demo.prepare(), "test")
    lines = [f"{row['id']}\t{value}" for row, value in zip(rows, cycle([6, -2, 1]))]
    filed(tmp_path / "a.tsv", lines)
    done(["score", "--suite", "demo", "--task", "biosses", "--predictions", "a.tsv"], tmp_path)


@pytest.mark.parametrize(
    ("name", "lines", "told"),
    [
        ("a.tsv", [""], "the file is empty"),
        ("a.csv", ["id,prediction", '"open'], "not valid CSV"),
        ("a.csv", ["id,prediction", "1,2,3"], "a.csv:2: expected 2 columns, found 3"),
        ("a.tsv", ["a\tb\tc"], "3 columns without a header"),
        ("a.csv", ["id,prediction,,", "x,1,,"], "there is no example 'x'"),
        (
            "a.csv",
            ["id,prediction,prediction", "1,2,3"],
            "a.csv: two columns have the name 'prediction'",
        ),
        ("a.jsonl", ["{"], "a.jsonl:1: not valid JSON"),
        ("a.jsonl", ['{"id": "x"}'], "no column is surely that of the predictions; present: id."),
        ("a.json", ["[]"], "expected a JSON object"),
        ("a.json", ['{"predictions": []}'], "expected an object of id and prediction"),
        ("a.parquet", ["PAR1"], "cannot be read as Parquet"),
        ("a.conll", ["word"], "a.conll:1: expected a word and its tag"),
    ],
)
def test_a_file_that_cannot_be_read(name: str, lines: list[str], told: str, tmp_path: Path) -> None:
    assert told in refused(tmp_path, lines, name=name)


def test_a_model_that_is_something_else_and_a_folder_without_names(tmp_path: Path) -> None:
    assert "is no name for predictions" in refused(tmp_path, tsv(), "--add", "baseline:majority")
    assert "no file is named after a dataset" in refused_by_command(
        ["score", "--suite", "demo", "--predictions", str(tmp_path)], tmp_path
    )
    assert "give --task" in refused_by_command(
        ["score", "--suite", "demo", "--predictions", "a.tsv"], tmp_path
    )


def test_data_that_lacks_a_split_cannot_be_stored(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "GAD"
    folder.mkdir(parents=True)
    (folder / "test.tsv").write_bytes((demo.prepare() / "GAD" / "test.tsv").read_bytes())
    (tmp_path / "a.tsv").write_text("\n".join(tsv()) + "\n")
    asked = ["score", "--data", "data", "--task", GAD, "--predictions", "a.tsv"]
    assert "gad: the data lacks train and dev; the verdict is on the rest" in done(asked, tmp_path)
    assert "lacks train and dev" in refused_by_command([*asked, "--add", "m"], tmp_path)
    assert not (tmp_path / "runs").exists()


def test_a_file_that_no_dataset_has_the_name_of_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("gad.tsv", "hocc.tsv", "README"):
        (folder / name).write_text("\n".join(tsv()) + "\n")
    code, _, err = blurb(["score", "--suite", "demo", "--predictions", "mine"], tmp_path)
    assert code == 0
    assert "mine: left out, as no dataset has these names: hocc.tsv." in " ".join(err.split())


def test_answers_without_ids_are_matched_in_a_time_that_grows_with_their_number() -> None:
    """Ids that only count the lines: the keys of the examples were made anew for each of them."""
    from blurb.scoring import matching
    from blurb.scoring.files import Answer, AnswerFile

    units = [{"id": f"x{place}"} for place in range(20_000)]
    file = AnswerFile(Path("a"), [Answer(place, str(place), "1") for place in range(20_000)])
    places, how = matching.match(file, units, "test")  # an hour, if it were quadratic
    assert (places, how) == ([*range(20_000)], "by order")


def test_no_name_is_proposed_for_an_answer_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        "".join(f'{{"prediction": {value}}}\n' for value in ["null"] * len(tsv()))
    )
    code, _, err = blurb(
        ["score", "--suite", "demo", "--task", GAD, "--predictions", "a.jsonl"], tmp_path
    )
    assert (code, "--map" in err) == (2, False)
    assert "is no label of gad" in err


def test_a_file_of_too_many_lines(tmp_path: Path) -> None:
    assert "a.tsv:1000001: more than 1,000,000 lines" in refused(tmp_path, ["1"] * 1_000_001)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_list_of_objects_is_told_what_to_be(name: str, tmp_path: Path) -> None:
    err = refused(tmp_path, ['[{"id": "test.0", "prediction": "1"}]'], name=name)
    assert f"{name}:1: expected a JSON object. Write one object a line" in " ".join(err.split())


@pytest.mark.parametrize(
    ("name", "mark", "told"),
    [
        ("a.csv", "\t", r"separated by '\t'; save the file as UTF-8 with commas"),
        ("a.csv", ";", "separated by ';'; save the file as UTF-8 with commas"),
        ("a.tsv", ",", "separated by ','; save the file as UTF-8 with TABs"),
    ],
)
def test_other_separators_than_the_ending_says(
    name: str, mark: str, told: str, tmp_path: Path
) -> None:
    lines = [line.replace("\t", mark) for line in ("id\tprediction", *tsv())]
    assert f"{name}:1: the cells are {told}" in refused(tmp_path, lines, name=name)


def test_probabilities_of_names_of_one_label_are_added(tmp_path: Path) -> None:
    told = [
        {
            "id": key,
            "prediction": {"a": 0.3, "b": 0.3, "0": 0.4} if label == "1" else {"b": 0.4, "0": 0.6},
        }
        for key, label in gold(GAD)
    ]
    path = filed(tmp_path / "a.jsonl", map(json.dumps, told))
    assert score(GAD, path, suite="demo", names={"a": "1", "b": "1"})[0].score == 100
