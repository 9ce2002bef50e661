"""`blurb tasks new` for a corpus in CSV or in one file: what is written is read back, equal to the rows of the file."""

import csv
import io
import json
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from blurb import tasks
from blurb.data.loading import read_split
from tests.cli.in_process import blurb as command

ODD = ('a, b "quoted"', "two\nlines", "a;b", "tab\tin it", "plain", "né €", '"', "x,y,z")


@pytest.fixture(autouse=True)
def forgotten() -> Any:
    known = dict(tasks._files)
    yield
    tasks._files.clear()
    tasks._files.update(known)


def table(
    rows: list[dict[str, Any]], form: str = "csv", ending: str = "\n", mark: str = ""
) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(
        text, rows[0], lineterminator=ending, delimiter="," if form == "csv" else "\t"
    )
    writer.writeheader()
    writer.writerows(rows)
    return (mark + text.getvalue()).encode()


def new(
    folder: Path, *more: str, kind: str = "classification", name: str = "notes"
) -> tuple[int, str, str]:
    code, out, err = command(["tasks", "new", name, "--type", kind, *more], folder)
    return code, out, " ".join(err.split())


def read(folder: Path, name: str = "notes") -> dict[str, list[dict[str, Any]]]:
    tasks._files.clear()
    task = tasks.load(str(folder / f"{name}.toml"))
    return {split: list(read_split(task, folder, split)) for split in tasks.SPLITS}


ROWS = [
    {"id": str(n), "text": f"{ODD[n % len(ODD)]} {n}", "label": "abc"[n % 3 % 2]} for n in range(60)
]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_csv_with_quotes_is_read(ending: str, mark: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(table(ROWS, ending=ending, mark=mark))
    files = [word for split in tasks.SPLITS for word in (f"--{split}", "a.csv")]
    code, out, err = new(tmp_path, *files)
    assert code == 0, err
    assert "Labels: a, b. Examples: train 60, dev 60, test 60." in out
    assert [(row["id"], row["text"], row["label"]) for row in read(tmp_path)["dev"]] == [
        tuple(r.values()) for r in ROWS
    ]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_one_file_is_cut(form: str, ending: str, tmp_path: Path) -> None:
    """Every row is in one split as it stands, classes are spread evenly, and equal texts stay together."""
    rows = (
        [{**row, "text": row["text"].replace("\n", " ").replace("\t", " ")} for row in ROWS]
        if form == "tsv"
        else ROWS
    )
    if form == "tsv":
        rows = [{**row, "text": str(row["text"]).replace('"', "'")} for row in rows]
    rows = [*rows, *({**row, "id": f"{row['id']} again"} for row in rows[:9])]
    content = table(rows, form, ending)
    if form == "jsonl":
        content = "".join(json.dumps(row) + ending for row in rows).encode()
    (tmp_path / f"all.{form}").write_bytes(content)
    code, out, err = new(tmp_path, "--from", f"all.{form}", "--shares", "70,15,15")
    assert code == 0, err
    assert {path.name for path in (tmp_path / "notes").iterdir()} == {
        f"{split}.{form}" for split in tasks.SPLITS
    }
    splits = read(tmp_path)
    sizes = {split: len(there) for split, there in splits.items()}
    assert f"train {sizes['train']}, dev {sizes['dev']}, test {sizes['test']}" in out
    found = sorted(
        (row["id"], row["text"], row["label"]) for there in splits.values() for row in there
    )
    assert found == sorted(tuple(row.values()) for row in rows)
    texts = [{row["text"] for row in there} for there in splits.values()]
    assert sum(map(len, texts)) == len({*texts[0], *texts[1], *texts[2]})
    for split, share in zip(tasks.SPLITS, (0.7, 0.15, 0.15), strict=True):
        for label, count in Counter(row["label"] for row in rows).items():
            assert abs(sum(row["label"] == label for row in splits[split]) - share * count) <= 2
    again = {path: path.read_bytes() for path in (tmp_path / "notes").iterdir()}
    code, _, err = new(tmp_path, "--from", f"all.{form}")
    assert (code, "exists already" in err) == (2, True)
    assert {path: path.read_bytes() for path in again} == again


def test_the_seed_draws_and_documents_stay_together(tmp_path: Path) -> None:
    rows = [{"doc_id": f"d{n // 4}", "text": f"text {n}", "label": "ab"[n % 2]} for n in range(80)]
    rows[5]["text"] = rows[77]["text"]  # which binds two documents
    (tmp_path / "a.csv").write_bytes(table(rows))
    drawn = []
    for name, seed in (("one", "1"), ("same", "1"), ("other", "2")):
        assert (
            new(tmp_path, "--from", "a.csv", "--shares", "50,25,25", "--seed", seed, name=name)[0]
            == 0
        )
        splits = read(tmp_path, name)
        documents = [{row["doc_id"] for row in there} for there in splits.values()]
        assert sum(map(len, documents)) == 20
        assert any({"d1", "d19"} <= each for each in documents)
        assert [len(each) for each in documents][1] in range(3, 8)
        drawn.append({split: [row["text"] for row in there] for split, there in splits.items()})
    assert drawn[0] == drawn[1] != drawn[2]


def test_conll_is_cut_between_sentences(tmp_path: Path) -> None:
    blocks = [
        f"# id = s{n}\nword{n}\tB-Drug\n.\tO" if n % 2 else f"word{n}\tO\n.\tO" for n in range(40)
    ]
    (tmp_path / "a.conll").write_text("\n\n".join(blocks) + "\n\n")
    code, _, err = new(tmp_path, "--from", "a.conll", kind="ner")
    assert code == 0, err
    splits = read(tmp_path)
    assert sorted(row["tokens"][0] for there in splits.values() for row in there) == sorted(
        f"word{n}" for n in range(40)
    )
    for there in splits.values():
        assert all(
            len(row["tokens"]) == 2 and ("B-Drug" in row["tags"]) == (int(row["tokens"][0][4:]) % 2)
            for row in there
        )
        assert {row["id"] for row in there if row["tags"][0] != "O"} == {
            f"s{row['tokens'][0][4:]}" for row in there if row["tags"][0] != "O"
        }


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--train", "a.csv", "--dev", "a.csv"], "--test missing; give --train, --dev and --test"),
        ([], "--train, --dev, --test missing"),
        (["--from", "a.csv", "--dev", "a.csv"], "--dev beside --from"),
        (["--from", "a.csv", "--shares", "80,10"], "--shares must be three percentages"),
        (["--from", "a.csv", "--shares", "80,20,0"], "--shares must be three percentages"),
        (["--from", "a.csv", "--shares", "0.8,0.1,0.1"], "--shares must be three percentages"),
        (["--from", "a.csv", "--shares", "80,ten,10,10"], "--shares must be three percentages"),
        (["--from", "b.csv"], "File not found: --from b.csv"),
        (["--from", "few.csv"], "2 documents and texts are too few for three splits"),
        (["--from", "cut.csv"], "cut.csv:3: expected 3 columns, found 2"),
        (["--from", "quote.csv"], "quote.csv:2: the row that begins here is not valid CSV"),
        (["--from", "open.csv"], "open.csv:3: the row that begins here is not valid CSV"),
        (
            ["--from", "semicolons.csv"],
            "the cells are separated by ';'; save the file as UTF-8 with commas",
        ),
        (["--from", "nameless.csv"], "missing: label; present: text, class"),
        (["--from", "a.csv", "--negative", "no"], "called 'no'. Available: a, b"),
        (
            ["--from", "a.csv", "--negative", "a", "--no-negative"],
            "--negative and --no-negative are both given",
        ),
        (["--from", "none.csv"], "add --negative 'No Relation' for micro F1"),
    ],
)
def test_a_command_that_fails_leaves_no_file(more: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(table(ROWS))
    (tmp_path / "few.csv").write_bytes(table(ROWS[:2]))
    (tmp_path / "cut.csv").write_text("id,text,label\n1,a,x\n2,b\n")
    (tmp_path / "open.csv").write_text('id,text,label\n1,"a",x\n2,"b,x\n3,c,x\n')
    (tmp_path / "quote.csv").write_text('id,text,label\n1,"a"b,x\n')
    (tmp_path / "semicolons.csv").write_text("id;text;label\n1;a;x\n")
    (tmp_path / "nameless.csv").write_text("text,class\na,x\n")
    (tmp_path / "none.csv").write_bytes(table([{**row, "label": "No Relation"} for row in ROWS]))
    before = {*tmp_path.iterdir()}
    code, out, err = new(tmp_path, *more)
    assert (code, out, {*tmp_path.iterdir()}) == (2, "", before)
    assert said in err


def test_a_file_in_the_way_of_the_folder_stays_alone(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(table(ROWS))
    (tmp_path / "notes").write_text("mine")
    assert new(tmp_path, "--from", "a.csv")[0] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "notes"]


@pytest.mark.parametrize("label", ["none", "false", "No_Relation", "no relation", "other", "O"])
@pytest.mark.parametrize("kind", ["relation", "classification"])
def test_a_class_of_no_answer_is_asked_for(kind: str, label: str, tmp_path: Path) -> None:
    text = "@GENE$ and @DISEASE$"
    rows = [{"text": f"{text} {n}", "label": label if n % 2 else "binds"} for n in range(30)]
    (tmp_path / "a.csv").write_bytes(table(rows))
    code, out, err = new(tmp_path, "--from", "a.csv", kind=kind)
    assert (code, out, [path.name for path in tmp_path.iterdir()]) == (2, "", ["a.csv"])
    assert f"--negative {shlex.quote(label)}" in err
    assert "--no-negative" in err
    for more, metric in (
        ([f"--negative={label}"], "micro_f1_without"),
        (["--no-negative"], "accuracy"),
    ):
        name = metric.replace("_", "-")
        assert new(tmp_path, "--from", "a.csv", *more, kind=kind, name=name)[0] == 0
        tasks._files.clear()
        assert tasks.load(str(tmp_path / f"{name}.toml")).metric == metric
