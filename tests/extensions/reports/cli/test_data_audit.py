"""`blurb data audit` as a user calls it, on the demo suite and on files made wrong by hand."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from blurb.cli import cli
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.data.schema import input_texts
from blurb.extensions.reports import errors
from blurb.results import published
from blurb.store.store import Store
from blurb.tasks import SPLITS, select_tasks
from tests.cli.in_process import ran
from tests.conftest import Builder
from tests.data import samples
from tests.extensions.reports.html import reading
from tests.results.played import play
from tests.rewriting import csv_lines


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["data", "audit", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def test_a_leak_that_was_put_in_is_found_in_every_format(tmp_path: Path) -> None:
    shutil.copytree(demo.prepare(), tmp_path / "data")
    test, train = (tmp_path / "data" / "GAD" / f"{split}.tsv" for split in ("test", "train"))
    sentence = test.read_text(encoding="utf-8").split("\n")[1].split("\t")[1]
    train.write_text(
        train.read_text(encoding="utf-8") + f"99999\t{sentence}\t1\n", encoding="utf-8"
    )
    arguments = ("--data", tmp_path / "data", "--tasks", "gad")
    _, output, _ = run(*arguments, "--format", "json")
    (found,) = (
        one
        for one in json.loads(output)
        if one["check"] == "between splits" and one["where"] == "test in train"
    )
    assert "test.0" in found["ids"]
    assert "train.99999" in found["others"] or found["count"] > 1
    out = tmp_path / "new" / "all.csv"
    code, table, _ = run(*arguments, "--out", out)
    assert code == 0
    assert "test in train" in table
    lines = [line for line in csv_lines(out) if line["where"] == "test in train"]
    assert lines[0]["ids"].split("|") == found["ids"]
    assert [line["count"] for line in lines] == [str(found["count"])]


@pytest.mark.costly
def test_the_whole_suite_with_a_model_and_originals_without_its_text(
    checkpoint: Builder, tmp_path: Path
) -> None:
    folder = demo.prepare()
    out = tmp_path / "all.json"
    code, table, notes = run(
        *("--data", folder, "--raw", folder, "--model", checkpoint("bert_uncased"), "--out", out)
    )
    assert code == 0
    assert "8528200" in notes
    assert max(map(len, table.splitlines())) <= 120
    written = " ".join((table + notes + out.read_text(encoding="utf-8")).split())
    for task in select_tasks("all"):
        for split in SPLITS:
            for row in read_split(task, folder, split):
                for text in input_texts(row):
                    assert len(text.split()) < 4 or " ".join(text.split()[:4]) not in written


def test_a_file_that_cannot_be_read_is_a_finding_and_code_2(tmp_path: Path) -> None:
    samples.put(tmp_path, "bc5-chem", "kalo\tO\nmi\tI\n")
    samples.put(tmp_path, "gad", samples.SAMPLES["gad"])
    code, output, notes = run("--data", tmp_path, "--tasks", "bc5-chem,gad", "--format", "json")
    assert code == 2
    (found,) = json.loads(output)
    assert (found["check"], found["task"], found["kind"]) == ("unreadable", "bc5-chem", "line 2")
    assert "train.tsv:2: tag I" in notes
    assert "bc5-chem: dev is missing" in notes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data", "nowhere"), "the folder does not exist; check the path given with --data"),
        (("--out", "all.txt"), "--out must end in .csv or .json"),
        ((), "Give the folder of the datasets with --data"),
        (("--data", ".", "--raw", "nowhere"), "check the path given with --raw"),
    ],
)
def test_refusals(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(Exception, match=message):
        run(*arguments)


def test_a_task_from_a_file_is_audited_and_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a fresh process, and nothing is left for other tests
    monkeypatch.setattr("blurb.tasks._files", {})
    (tmp_path / "own.toml").write_text(
        'name = "own"\ntype = "relation"\nlabels = ["no", "yes"]\npositive = "yes"\n'
        '[files]\ntrain = "train.jsonl"\ndev = "dev.jsonl"\ntest = "test.jsonl"\n[format]\nkind = "jsonl"\n',
        encoding="utf-8",
    )
    row = {
        "text": "kalo mi tra",
        "head": {"start": 0, "end": 4, "type": "X"},
        "tail": {"start": 5, "end": 7, "type": "X"},
    }
    for split, label in (("train", "yes"), ("dev", "no"), ("test", "no")):
        (tmp_path / f"{split}.jsonl").write_text(
            json.dumps({**row, "label": label}) + "\n", encoding="utf-8"
        )
    _, output, _ = run("--tasks", tmp_path / "own.toml", "--format", "json")
    found = {(one["check"], one["where"]): one["ids"] for one in json.loads(output)}
    assert found["between splits", "test in train"] == ["test.0"]
    assert found["conflicting labels", "test"] == ["test.0"]
    result = CliRunner().invoke(
        cli, ["data", "stats", "--tasks", str(tmp_path / "own.toml"), "--format", "json"]
    )
    records = json.loads(result.stdout)
    assert [(one["units"], one["labels"], one["majority"]) for one in records] == [
        (1, {"no": 0, "yes": 1}, 100.0),
        (1, {"no": 1, "yes": 0}, 0.0),
        (1, {"no": 1, "yes": 0}, 0.0),
    ]


# `blurb diff`: what it prints and writes from the golden stores, text only where it is asked for, and bad input.


GOLDEN = Path(__file__).parents[3] / "golden"
MINE = "golden-encoder standard batch_size=16 epochs=40 lr=0.01"
DATA = ("--data", str(GOLDEN / "data"))
WORD = {"ebm-pico": "walking", "chemprot": "outpatients", "hoc": "apoptosis", "biosses": "BUMBROL2"}
"""A word of each dataset's text."""


def diff(*arguments: str, rows: tuple[str, str] = (MINE, "baseline:majority")) -> str:
    result = CliRunner().invoke(cli, ["diff", *rows, "--output", str(GOLDEN / "store"), *arguments])
    return result.output + str(result.exception or "")


@pytest.mark.parametrize("name", WORD)
def test_text_only_where_it_is_asked_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    common = ("--task", name, "--limit", "100")
    assert WORD[name] not in diff(*common)
    piped = diff(*common, *DATA)
    assert WORD[name] not in piped
    assert "The text is left out" in piped
    assert WORD[name] in diff(*common, *DATA, "--with-text")
    assert "reads the text from the data; add --data" in diff(*common, "--with-text")
    for form in ("csv", "json"):
        assert WORD[name] not in diff(*common, *DATA, "--format", form)
        assert WORD[name] in diff(*common, *DATA, "--format", form, "--with-text")
    monkeypatch.setattr(errors, "sys", SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True)))
    assert WORD[name] in diff(*common, *DATA)


@pytest.mark.costly
def test_a_trial_that_is_run_again_gives_the_same_answers(here: Path) -> None:
    """As docs/long-runs.md says to check one; a network, as nothing else here depends on its seed."""
    model = "baseline:bilstm,hidden=8,width=8"
    asked = (
        "run",
        model,
        "--suite",
        "demo",
        "--protocol",
        "smoke",
        "--tasks",
        "gad",
        "--seeds",
        "1",
    )
    for more in ((), ("--output", "again", "--leaderboard", "again/leaderboard.csv")):
        ran([*asked, *more])
    before, now = (
        next(Path(store).glob("*/gad/*/predictions.parquet")) for store in ("runs", "again")
    )
    assert before.read_bytes() == now.read_bytes()
    found = CliRunner().invoke(cli, ["diff", model, f"again:{model}", "--task", "gad"])
    assert "No differences: A and B give the same answers." in found.output


# `blurb leaderboard html`: one file, whole or not at all.


def page(*arguments: str) -> tuple[int, str, BaseException | None]:
    result = CliRunner().invoke(cli, ["leaderboard", "html", "--out", *arguments])
    return result.exit_code, result.output, result.exception


def test_a_file_that_cannot_be_written_is_named_as_it_was_asked_for(tmp_path: Path) -> None:
    play(Store(tmp_path / "runs"), "mine", {"gad": 0.9}, seeds=(1,))
    code, _, error = page("/proc/x.html", "--output", str(tmp_path / "runs"), "--no-published")
    assert code == 1
    assert str(error).startswith("/proc/x.html: cannot be written: ")
    assert ".x.html" not in str(error)
    assert page(str(tmp_path / "x.html"), "--output", str(tmp_path / "runs"), "--no-published")[
        1
    ].endswith("x.html: 1 own row.\n")


def test_the_page_of_the_repository_is_sound() -> None:
    path = Path(__file__).parents[4] / "docs" / "results" / "leaderboard.html"
    text = path.read_text(encoding="utf-8")
    ranked, probes = (
        [one.text for one in table.children if one.attributes.get("scope") == "row"]
        for table in reading.Page(text).all("table", class_="main")
    )
    own = [
        one
        for one in ranked
        if one.startswith(("all-mpnet-base-v2", "all-MiniLM-L6-v2", "baseline:"))
    ]
    assert {f"all-MiniLM-L6-v2{name}" for name in ("quick@2", "sketch", "standard")} <= set(own)
    assert own[0] == "all-mpnet-base-v2quick@2"
    assert len(ranked) == len(own) + len(published.shipped())
    assert probes == ["all-MiniLM-L6-v2probe"]
    for place in ("/home/", "/root/", "/tmp/", "/Users/", f"/{Path(__file__).resolve().parts[1]}/"):
        assert place not in text
