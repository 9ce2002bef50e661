"""What is no table is named with its cure by every command that reads tables, and never as anything else."""

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.system.text_files import refuse_binary
from tests.cli.in_process import blurb, done, refused
from tests.corpora.originals import zipped


@pytest.fixture(autouse=True)
def _no_task_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_files", {})


TABLE = "id,prediction\ntest.0,1\n"
BIOC_XML = b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n<collection><source>'
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"

FILES: Mapping[str, tuple[bytes, str]] = {
    "gzip": (gzip.compress(TABLE.encode()), "this is a gzip archive; unpack it"),
    "utf-16 of Excel": (TABLE.encode("utf-16"), "this is text in UTF-16; save it as UTF-8"),
    "utf-16 without a mark": (
        TABLE.encode("utf-16-be"),
        "this is text in UTF-16; save it as UTF-8",
    ),
    "pointer": (
        POINTER,
        "this is a Git LFS pointer and not the file that it stands for; run git lfs pull",
    ),
    "page": (b"\n<!DOCTYPE HTML>\n<html><body>Sign in</body></html>", "this is a web page (HTML)"),
    "page in small letters": (b"<html lang='en'>\n<head>", "this is a web page (HTML)"),
    "brat": (
        b"T1\tDrug 0 7\taspirin\nT2\tGene 17 22\tCOX-1\n",
        "this is BRAT's annotation by characters",
    ),
    "brat in parts": (b"T1\tDrug 0 3;5 7\taspirin\n", "this is BRAT's annotation by characters"),
    "brat relation": (b"R1\tCauses Arg1:T1 Arg2:T2\n", "this is BRAT's annotation by characters"),
    "brat event": (b"E1\tBinding:T3 Theme:T1\n", "this is BRAT's annotation by characters"),
    "bioc": (BIOC_XML, "this is BioC; make words with tags of it"),
    "bioc without a head": (b"<collection>\n<source>x</source>", "this is BioC"),
    "bioc in json": (
        b'{"source": "x", "documents": [{"id": "1", "infons": {}, "passages": [{"infons": {}, "offset": 0}]}]}',
        "this is BioC",
    ),
    "xml": (b'<?xml version="1.0"?>\n<corpus>', "this is XML"),
    "pubtator": (
        b"1234|t|Kalo and mi\n1234|a|Tra nex.\n1234\t0\t4\tKalo\tDrug\tD1\n",
        "this is PubTator's annotation",
    ),
    "parquet": (b"PAR1\x15\x04", "this is a Parquet file"),
}


@pytest.mark.parametrize("name", FILES)
def test_score_and_task_files_and_baselines_name_what_a_file_is(name: str, tmp_path: Path) -> None:
    content, told = FILES[name]
    for ending in ("csv", "tsv", "jsonl", "txt", "json", "conll"):
        (tmp_path / f"x.{ending}").write_bytes(content)
    files = "".join(f'{split} = "x.txt"\n' for split in tasks.SPLITS)
    for kind, form in (("ner", "conll"), ("qa", "tsv"), ("document", "jsonl")):
        toml = f'name = "mine-{kind}"\ntype = "{kind}"\nlabels = ["A"]\n[files]\n{files}[format]\nkind = "{form}"\n'
        (tmp_path / f"{kind}.toml").write_text(toml)
    commands: Sequence[Sequence[str]] = (
        *(
            ["score", "--suite", "demo", "--task", "gad", "--predictions", f"x.{e}"]
            for e in ("csv", "tsv", "jsonl", "json")
        ),
        *(
            ["score", "--suite", "demo", "--task", "ncbi-disease", "--predictions", f"x.{e}"]
            for e in ("txt", "conll")
        ),
        ["doctor", "ner.toml"],
        ["doctor", "qa.toml"],
        ["doctor", "document.toml"],
        ["check", "x.csv", "--baseline", "x.csv"],
        ["compare", "x.csv", "x.csv"],
        ["leaderboard", "validate", "x.csv"],
        ["doctor", "x.csv"],
        ["run", "--models", "x.csv", "--suite", "demo", "--tasks", "gad"],
    )
    for asked in commands:
        code, out, err = blurb(asked, tmp_path)
        assert code in (1, 2)
        what, _, fix = told.partition("; ")
        told_here = " ".join((out + err).split())
        assert what in told_here, asked
        assert fix.lower() in told_here.lower(), asked  # the doctor's fix stands apart


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (
            "x.csv",
            zipped({"xl/workbook.xml": b"<workbook/>"}),
            "Excel workbook; unpack it, or save its sheet as CSV UTF-8",
        ),
        ("x.parquet", POINTER, "run git lfs pull"),
    ],
)
def test_a_workbook_of_excel_and_a_parquet_file_that_is_a_pointer(
    name: str, content: bytes, told: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    asked = ["score", "--suite", "demo", "--task", "gad", "--predictions", name]
    assert told in " ".join(refused(asked, tmp_path).split())


SEMICOLONS = "the cells are separated by ';'"


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize(
    ("task", "lines"),
    [
        ("gad", "id;prediction\r\n{0};1\r\n"),
        ("gad", '"id";"prediction"\n"{0}";"1"\n'),
        ("gad", "sep=;\nid;prediction\n{0};1\n"),
        ("gad", "{0};1\n{0};0\n"),
        ("biosses", "id;score\n{0};2,5\n"),
        ("hoc", "id;prediction\n{0};a\n"),
        ("hoc", "id;text;label\n{0};x, y;a\n"),
    ],
)
def test_semicolons_in_predictions(task: str, lines: str, ending: str, tmp_path: Path) -> None:
    (tmp_path / f"x.{ending}").write_text(lines.format("test.0"))
    assert SEMICOLONS in " ".join(
        refused(
            ["score", "--suite", "demo", "--task", task, "--predictions", f"x.{ending}"], tmp_path
        ).split()
    )


@pytest.mark.parametrize("header", ["schema;model;task;value", '"schema";"model"', "sep=;"])
def test_semicolons_in_tables_of_results_and_models(header: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(f"{header}\n1;a;gad;2,5\n")
    for asked in (
        ["check", "x.csv", "--baseline", "x.csv"],
        ["compare", "x.csv", "x.csv"],
        ["leaderboard", "validate", "x.csv"],
        ["doctor", "x.csv"],
        ["run", "--models", "x.csv", "--suite", "demo", "--tasks", "gad"],
    ):
        code, out, err = blurb(asked, tmp_path)
        assert (code > 0, SEMICOLONS in " ".join((out + err).split())) == (True, True), (
            asked,
            out,
            err,
        )


def test_semicolons_in_a_corpus(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("text;label\nkalo;a\n")
    asked = [
        "tasks",
        "new",
        "mine",
        "--type",
        "classification",
        *(w for s in tasks.SPLITS for w in (f"--{s}", "x.tsv")),
    ]
    assert SEMICOLONS in " ".join(refused(asked, tmp_path).split())
    (tmp_path / "x.tsv").write_text("text,label\nkalo; mi,a\n")
    assert not (tmp_path / "mine.toml").exists()
    tasks._files.clear()
    assert "the cells are separated by ','; save the file as UTF-8 with TABs" in " ".join(
        refused(asked, tmp_path).split()
    )


def test_labels_of_documents_may_have_semicolons_between_them(tmp_path: Path) -> None:
    rows = read_split(tasks.get("hoc"), demo.prepare(), "test")
    (tmp_path / "x.tsv").write_text(
        "".join(f"{row['id']}\t{';'.join(row['labels'])}\n" for row in rows)
    )
    (tmp_path / "y.tsv").write_text(
        "".join(f"{';'.join(row['labels'] * 2)}\n" for row in rows if row["labels"])
    )
    done(["score", "--suite", "demo", "--task", "hoc", "--predictions", "x.tsv"], tmp_path)
    assert "answers, but test has" in refused(
        ["score", "--suite", "demo", "--task", "hoc", "--predictions", "y.tsv"], tmp_path
    )


def test_no_real_file_is_taken_for_something_else() -> None:
    """All files of the demo, and texts that begin nearly so."""
    for path in demo.prepare().rglob("*"):
        if path.is_file():
            refuse_binary(path.read_bytes(), path)
    for text in (
        "T1\tO\n",
        "T1 B-Gene\n",
        "<html-like> a\tO\n",
        "123|a b\tO\n",
        '{"passages": ["a"], "label": "x"}\n',
        "PAR2\tO\n",
        "R1\tB-Gene\n",
        "version 2\tO\n",
    ):
        refuse_binary(text.encode(), Path("a"))
