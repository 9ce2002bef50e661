"""Task files: what they declare, what is refused, and that a trial on one needs no file later on."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from blurb import data, tasks
from blurb.cli import cli
from blurb.messages.errors import BlurbError, ErrorGroup, SettingsError
from blurb.store import rescore
from blurb.store.store import Store
from blurb.tasks import _file
from tests.cli.in_process import ran

NER = """
name = "my-genes"
type = "ner"
labels = ["Gene"]
files = { train = "train.tsv", dev = "dev.tsv", test = "test.tsv" }
format = { kind = "conll" }
"""


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    tasks._files.clear()


def write(folder: Path, text: str = NER, name: str = "my-genes.toml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_a_task_file_is_a_task_with_the_metric_of_its_type(tmp_path: Path) -> None:
    task = tasks.load(write(tmp_path))
    assert (task.name, task.type, task.metric, task.seeds, task.paper_order) == (
        "my-genes",
        "ner",
        "entity_f1",
        5,
        None,
    )
    assert task.files["dev"] == str(tmp_path / "dev.tsv")
    assert tasks.get("my-genes") is task
    assert tasks.load_selection(f"{task.file},gad")[-1] == task
    assert task not in tasks.select_tasks("all")


@pytest.mark.parametrize(
    ("kind", "extra", "metric", "options"),
    [
        ("relation", 'negative = "no"', "micro_f1_without", {"negative": "no"}),
        ("relation", 'positive = "yes"', "binary_f1", {"positive": "yes"}),
        ("relation", "", "accuracy", {}),
        ("qa", "", "accuracy", {}),
        ("document", "", "multilabel_f1", {"labels": ("yes", "no")}),
        ("pico", "", "token_macro_f1", {"labels": ("yes", "no")}),
        ("similarity", "scale = [1, 5]", "pearson", {"low": 1.0, "high": 5.0}),
    ],
)
def test_metrics(
    tmp_path: Path, kind: str, extra: str, metric: str, options: dict[str, object]
) -> None:
    labels = "" if kind == "similarity" else 'labels = ["yes", "no"]'
    text = NER.replace('"ner"', f'"{kind}"').replace('labels = ["Gene"]', f"{labels}\n{extra}")
    task = tasks.load(write(tmp_path, text.replace("conll", "jsonl")))
    assert (task.metric, task.metric_options) == (metric, options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('name = "my-genes"', ""), "'name' is missing"),
        (("my-genes", "My genes"), "lower-case letters"),
        (('"ner"', '"nerd"'), "Did you mean 'ner'"),
        (('["Gene"]', "[]"), "'labels' is missing"),
        (('["Gene"]', '["Gene", "Gene"]'), "distinct, non-empty strings"),
        (('["Gene"]', '"Gene"'), r"labels must be a list \(got 'Gene'\)"),
        (("files", "file"), "Did you mean 'files'"),
        (('dev = "dev.tsv", ', ""), "train, dev, test"),
        (('kind = "conll"', 'kind = "connl"'), "Did you mean 'conll'"),
        (
            ('kind = "conll"', 'kind = "tsv"'),
            "tsv cannot hold a task of type ner; possible: conll, jsonl",
        ),
        (('kind = "conll"', 'kind = "conll", tags = 1'), "Did you mean 'tag'"),
        (("[", "[["), "invalid TOML"),
        (("name =", "seeds = 0\nname ="), "seeds must be at least 1"),
        (("name =", 'negative = "Gene"\nname ='), "'negative' does not apply to tasks of type ner"),
        (('"my-genes"', '"gad"'), "there is already a task gad"),
        *(
            (
                ('"ner"', '"classification"', '"conll"', f'"jsonl", columns = {{ {columns} }}'),
                message,
            )
            for columns, message in (
                (
                    'lable = "gold"',
                    "format.columns: There is no column called 'lable'. Did you mean 'label'",
                ),
                ('docid = "pmid"', "Did you mean 'doc_id'"),
                ('tokens = "words"', "There is no column called 'tokens'"),
                ("label = true", "label must be the name of a column or its number from 0"),
                ("label = 1.0", "label must be the name of a column or its number from 0"),
            )
        ),
    ],
)
def test_what_is_wrong_is_named_with_the_file(
    tmp_path: Path, change: tuple[str, ...], message: str
) -> None:
    text = NER
    for old, new in zip(change[::2], change[1::2], strict=True):
        text = text.replace(old, new)
    with pytest.raises(BlurbError, match=message) as error:
        tasks.load(write(tmp_path, text))
    assert "my-genes.toml" in str(error.value)


def test_all_faults_are_told_at_once_and_each_once(tmp_path: Path) -> None:
    text = NER.replace('["Gene"]', '"Gene"').replace('{ kind = "conll" }', '{ kind = "connl" }')
    with pytest.raises(ErrorGroup) as error:
        tasks.load(
            write(tmp_path, f"{text}seeds = 0\ncolour = 1\n".replace("type", "seed = 1\ntype"))
        )
    told = [fault.what for fault in error.value.errors]
    assert len(told) == 5
    for message in (
        "labels must be a list",
        "called 'seed'",
        "called 'connl'",
        "seeds must",
        "'colour'",
    ):
        assert sum(message in one for one in told) == 1, message


@pytest.mark.parametrize(
    "key", ['reader = "ner"', 'builder = "mtl"', "paper_order = 1", "sizes = { train = 1 }"]
)
def test_what_only_shipped_files_may_say(tmp_path: Path, key: str) -> None:
    with pytest.raises(BlurbError, match=f"called '{key.split()[0]}'"):
        tasks.load(write(tmp_path, f"{key}\n{NER}"))


def test_two_files_of_one_name_and_no_file(tmp_path: Path) -> None:
    tasks.load(write(tmp_path))
    with pytest.raises(SettingsError, match="already declares a task"):
        tasks.load(write(tmp_path, name="other.toml"))
    with pytest.raises(SettingsError, match="the task file does not exist"):
        tasks.load(str(tmp_path / "none.toml"))


def test_run_and_score_again_when_the_file_is_gone(tmp_path: Path) -> None:
    for split in tasks.SPLITS:
        (tmp_path / f"{split}.tsv").write_text("kalo\tB-Gene\nmi\tI-Gene\n\ntra\tO\n" * 3)
    path = write(tmp_path)
    out = tmp_path / "out"
    arguments = ["--output", str(out / "runs"), "--leaderboard", str(out / "leaderboard.csv")]
    ran(["run", "baseline:majority", "--tasks", path, *arguments])
    assert "my-genes" in (out / "results.csv").read_text()
    tasks._files.clear()
    Path(path).unlink()
    store = Store(out / "runs")
    (trial,) = store.trial_folders()
    metrics = json.loads((trial / "metrics.json").read_text())
    (trial / "metrics.json").write_text(json.dumps({**metrics, "metrics_version": 0}))
    store.seal(trial)
    assert rescore.rescore_store(store) == (1, 1)
    assert json.loads((trial / "metrics.json").read_text()) == metrics


def test_other_labels_are_other_data(tmp_path: Path) -> None:
    for split in tasks.SPLITS:
        (tmp_path / f"{split}.tsv").write_text("kalo\tB-Gene\n\ntra\tO\n")
    one = data.load_task(tasks.load(write(tmp_path)), tmp_path)
    tasks._files.clear()
    other = data.load_task(
        tasks.load(write(tmp_path, NER.replace('["Gene"]', '["Gene", "Cell"]'))), tmp_path
    )
    assert one.hash != other.hash
    tasks._files.clear()
    task = tasks.load(write(tmp_path))
    assert (
        data.load_task(dataclasses.replace(task, metric_options={"strict": True}), tmp_path).hash
        != one.hash
    )
    assert data.load_task(task, tmp_path).hash == one.hash
    assert (one.verdict, len(one.splits["train"])) == ("not known", 2)


def test_new_writes_a_file_that_works_and_never_replaces_one(tmp_path: Path) -> None:
    files = []
    for split in tasks.SPLITS:
        (tmp_path / f"{split}.jsonl").write_text(
            json.dumps(
                {
                    "question": "kalo ?",
                    "context": "mi .",
                    "label": "yes" if split == "train" else "no",
                }
            )
            + "\n"
            + json.dumps({"question": "tra ?", "context": "mi .", "label": "no"})
            + "\n"
        )
        files += [f"--{split}", str(tmp_path / f"{split}.jsonl")]
    target = tmp_path / "deep.toml"
    arguments = ["tasks", "new", "my-qa", "--type", "qa", *files, "--out", str(target)]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert "Labels: no, yes. Examples: train 2, dev 2, test 2." in result.output
    tasks._files.clear()
    assert tasks.load(str(target)).labels == ("no", "yes")
    assert isinstance(CliRunner().invoke(cli, arguments).exception, SettingsError)
    wrong = [*arguments[:4], "nre", *arguments[5:-1], str(tmp_path / "x.toml")]
    assert "Did you mean 'ner'" in str(CliRunner().invoke(cli, wrong).exception)
    assert not (tmp_path / "x.toml").exists()


def test_new_refuses_files_that_are_not_there_and_says_what_it_made_up(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("kalo\tB\nmi\tO\n")
    target = tmp_path / "x.toml"
    start = [
        "tasks",
        "new",
        "x",
        "--type",
        "ner",
        "--out",
        str(target),
        "--train",
        str(tmp_path / "a.txt"),
    ]
    result = CliRunner().invoke(
        cli, [*start, "--dev", str(tmp_path / "none"), "--test", str(tmp_path)]
    )
    assert isinstance(result.exception, SettingsError)
    assert f"File not found: --dev {tmp_path / 'none'}, --test {tmp_path}" in str(result.exception)
    assert not target.exists()
    result = ran([*start, "--dev", str(tmp_path / "a.txt"), "--test", str(tmp_path / "a.txt")])
    assert "name no entity type, so it is called Entity" in result.output


@pytest.mark.parametrize(
    ("kind", "form"), [(k, f) for k in tasks.TYPES for f in tasks.types.get(k).formats]
)
def test_every_template_is_a_task_file(tmp_path: Path, kind: str, form: str) -> None:

    text = _file.template("mine", kind, form, dict.fromkeys(tasks.SPLITS, "a"))
    assert tasks.load(write(tmp_path, text)).type == kind
    tasks._files.clear()
    uncommented = "\n".join(
        line.removeprefix("# ") if " = " in line else line for line in text.splitlines()
    )
    if kind == "relation":
        uncommented = uncommented.replace('positive = "yes"', "")
    if kind != "similarity":
        assert tasks.load(write(tmp_path, uncommented)).title == "My corpus"


def test_an_empty_separator_is_refused(tmp_path: Path) -> None:
    text = NER.replace('"ner"', '"document"').replace(
        '{ kind = "conll" }', '{ kind = "tsv", separator = "" }'
    )
    with pytest.raises(
        SettingsError, match="separator must be the text between two labels of a row, so not empty"
    ):
        tasks.load(write(tmp_path, text))
