"""`blurb data export`: what is written is read again as the same examples, and its ids match predictions."""

import json
from pathlib import Path

import pytest
from pyarrow.parquet import read_table

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.export import export_tasks
from blurb.data.loading import read_split
from blurb.messages.errors import DataError
from blurb.table_files import read_conll
from tests.cli.in_process import blurb as command, done, refused

TASKS = [task for task in tasks.all() if task.paper_order]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    for form, chosen in (("jsonl", "all"), ("parquet", "all"), ("conll", "ner,pico")):
        asked = [
            "data",
            "export",
            "--suite",
            "demo",
            "--tasks",
            chosen,
            "--format",
            form,
            "--out",
            str(folder),
        ]
        assert command(asked, folder)[0] == 0
    return folder


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_examples_are_those_of_the_data(task: tasks.Task, exported: Path) -> None:
    for split in tasks.SPLITS:
        rows = read_split(task, demo.prepare(), split)
        lines = (exported / task.name / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line) for line in lines] == rows
        assert read_table(exported / task.name / f"{split}.parquet").to_pylist() == rows


@pytest.mark.parametrize(
    "task", [task for task in TASKS if "tokens" in task.task_type.columns], ids=lambda t: t.name
)
def test_gold_tags_in_conll_score_a_hundred_by_id(task: tasks.Task, exported: Path) -> None:
    scored = blurb.score(task.name, exported / task.name / "test.conll", suite="demo")[0]
    assert (scored.score, scored.matched) == (100.0, "by id")


@pytest.mark.parametrize("form", ["jsonl", "parquet", "conll"])
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_what_is_exported_is_read_back_as_gold(
    task: tasks.Task, form: str, exported: Path, tmp_path: Path
) -> None:
    path = exported / task.name / f"test.{form}"
    if not path.exists():
        return
    asked = [
        "score",
        "--suite",
        "demo",
        "--task",
        task.name,
        "--predictions",
        str(path),
        "--add",
        "gold",
    ]
    assert "are equal to the gold answers of test" in " ".join(refused(asked, tmp_path).split())
    (line,) = json.loads(done([*asked, "--gold-as-predictions", "--format", "json"], tmp_path))
    assert (round(line["score"], 9), line["matched"].startswith("by id")) == (100.0, True)


@pytest.fixture
def partial(tmp_path: Path) -> Path:
    """The demo without the train split of EBM PICO and without BioASQ."""
    demo.write(tmp_path / "data")
    (tmp_path / "data" / tasks.get("ebm-pico").files["train"]).unlink()
    for split in tasks.SPLITS:
        (tmp_path / "data" / tasks.get("bioasq").files[split]).unlink()
    return tmp_path


@pytest.mark.parametrize(
    "named", ["ebm-pico", "bioasq", "ebm-pico,biosses,bioasq", "qa", "gad,bioasq"]
)
def test_what_is_named_and_missing_is_an_error_and_nothing_is_written(
    named: str, partial: Path
) -> None:
    assert "missing files: " in refused(
        ["data", "export", "--data", "data", "--out", "x", "--tasks", named], partial
    )
    assert not (partial / "x").exists()


@pytest.mark.parametrize(
    ("chosen", "lost"), [("all", ["ebm-pico (", "bioasq ("]), ("blurb-12", ["ebm-pico ("])]
)
def test_with_all_what_is_missing_is_told_with_exit_code_1(
    chosen: str, lost: list[str], partial: Path
) -> None:
    code, out, err = command(
        ["data", "export", "--data", "data", "--out", "x", "--tasks", chosen], partial
    )
    assert code == 1
    assert all(name in err for name in ["Left out: data: missing files", *lost])
    assert sorted(path.name for path in (partial / "x" / "ebm-pico").iterdir()) == [
        "dev.jsonl",
        "test.jsonl",
    ]
    assert not (partial / "x" / "bioasq").exists()
    assert "x/gad/train.jsonl" in out


@pytest.mark.parametrize(
    "word", ["# id = 9", "-DOCSTART-", "-DOCSTART-x", "a\tb", "a\nb", "a\n\nb", "# id ="]
)
def test_a_word_that_conll_cannot_hold_is_refused_at_the_export(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "_files", {})
    task = _corpus(tmp_path, ["kalo", word, "mi"])
    with pytest.raises(DataError, match="CoNLL cannot hold the sentence 'x"):
        export_tasks([task], tmp_path, tmp_path / "out", "conll")
    export_tasks([task], tmp_path, tmp_path / "out", "jsonl")
    assert read_split(task, tmp_path, "test")[0]["tokens"][1] == word


ODD = [
    "#",
    "#5",
    "# 1",
    "a b",
    "a\u00a0b",
    "\u2028",
    "\ufeff",
    '"',
    "O",
    "B-X",
    "#a=b",
    "# text = x",
    "#end document",
    "\r",
    "\x0b",
    "a\rb",
]


@pytest.mark.parametrize("word", ODD)
def test_odd_words_come_back_from_conll(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "_files", {})
    for words in ([word], [word, "mi"], ["kalo", word]):
        if not word.strip():
            continue
        task = _corpus(tmp_path, words)
        export_tasks([task], tmp_path, tmp_path / "out", "conll")
        ((_, sentence),) = read_conll(tmp_path / "out" / task.name / "test.conll")
        assert [row[0] for row in sentence.rows] == words


def _corpus(folder: Path, words: list[str]) -> tasks.Task:
    """A corpus of one sentence."""
    (folder / "x.jsonl").write_text(
        json.dumps({"id": "x.0", "tokens": words, "tags": ["O"] * len(words)}) + "\n"
    )
    files = "".join(f'{split} = "x.jsonl"\n' for split in tasks.SPLITS)
    (folder / "odd.toml").write_text(
        f'name = "odd"\ntype = "ner"\nlabels = ["X"]\n[files]\n{files}[format]\nkind = "jsonl"\n'
    )
    return tasks.load(str(folder / "odd.toml"))
