"""What the doctor finds in data, task files, protocols, rules and the environment, and how the command tells it."""

import copy
import shutil
from collections import namedtuple
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from blurb import doctor, heads, registry, tasks
from blurb.corpora import demo
from blurb.doctor import examine
from blurb.messages.errors import DataError, SettingsError

TASK = """
name = "mine"
type = "relation"
labels = ["yes", "no"]
positive = "yes"
files = { train = "train.tsv", dev = "dev.tsv", test = "test.tsv" }
format = { kind = "tsv", dummies = ["@A$", "@B$"] }
"""
ROWS = [
    "id\ttext\tlabel",
    "{0}1\t{0} one @A$ meets @B$ here\tyes",
    "{0}2\t{0} two @A$ and @B$ apart\tno",
]


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    tasks._files.clear()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return Path(shutil.copytree(demo.prepare(), tmp_path / "data"))


@pytest.fixture
def task_file(tmp_path: Path) -> Path:
    for split in tasks.SPLITS:
        (tmp_path / f"{split}.tsv").write_text("\n".join(ROWS).format(split) + "\n")
    (tmp_path / "mine.toml").write_text(TASK)
    return tmp_path / "mine.toml"


def told(path: Path) -> list[str]:
    return [
        f"{problem.where}: {problem.what} -> {problem.fix}" for problem in examine(path).problems
    ]


def test_data_with_everything_wrong_at_once(data: Path) -> None:
    gad, hoc, ner = (Path(tasks.get(name).files["test"]) for name in ("gad", "hoc", "bc2gm"))
    (data / gad).unlink()
    (data / hoc).write_text("no\theader\n")
    (data / ner).write_bytes(b"caf\xe9\tO\n")
    (data / "manifest.json").write_text("{")
    found = told(data)
    assert any(
        one.startswith(f"{data}: gad: Missing: {gad}.") and "blurb data prepare" in one
        for one in found
    )
    assert any(one.startswith(f"{data / hoc}:1: ") for one in found)
    assert any(one.startswith(f"{data / ner}:1: ") and "UTF-8" in one for one in found)
    assert any(one.startswith(f"{data / 'manifest.json'}: ") for one in found)
    # Ten differ, two cannot be read, one is missing in part and differs
    assert len(found) == 10 + 2 + 2 + 1


def test_the_folder_of_one_dataset(data: Path) -> None:
    (problem,) = examine(data / "GAD").problems
    assert "none of the data files is here" in problem.what
    assert str(data) in problem.what


def test_a_task_file_that_is_right(task_file: Path) -> None:
    report = examine(task_file)
    assert (report.kind, report.problems) == ("task file", [])
    counts = {"train_examples": 2, "dev_examples": 2, "test_examples": 2}
    assert report.facts == {"leaks_and_copies": f"blurb data audit --tasks {task_file}", **counts}


def test_a_task_file_with_all_faults_at_once(task_file: Path) -> None:
    text = TASK.replace('"yes"\n', '"maybe"\nseeds = 0\ncolour = "red"\n').replace(
        "dev.tsv", "valid.tsv"
    )
    task_file.write_text(text.replace('kind = "tsv"', 'kind = "xml"'))
    found = told(task_file)
    for message in ("'colour'", "one of the labels", "seeds must", "no format"):
        assert sum(message in one for one in found) == 1, message
    assert len(found) == 4


def test_every_example_that_cannot_be_read(task_file: Path) -> None:
    train, dev = (task_file.with_name(f"{split}.tsv") for split in ("train", "dev"))
    with train.open("a") as file:
        file.write("a\tno dummies\tyes\nb\t@A$ x @B$\tperhaps\ntrain1\t@A$ y @B$\tyes\n")
    dev.unlink()
    test = task_file.with_name("test.tsv")
    test.write_text(test.read_text() + "z\ttrain one @A$ meets @B$ here\tno\n")
    found = told(task_file)
    for line, message in (
        (4, "two of the dummies"),
        (5, "perhaps"),
        (6, "already occurs in line 2"),
    ):
        assert any(one.startswith(f"{train}:{line}: ") and message in one for one in found), message
    assert any(one.startswith(f"{dev}: the file is missing") for one in found)
    assert any("a leak" in one and "such as z" in one for one in found)
    with train.open("a") as file:
        file.writelines(f"x{number}\tnone\tyes\n" for number in range(30))
    assert any("And 13 more of this file." in one for one in told(task_file))


FAULTS: dict[str, tuple[str, tuple[str, ...], str, tuple[str, ...]]] = {
    "protocol": (
        "mine.toml",
        (
            'description = "mine"\nextends = "quick"\n[all]\nlr = 1e-4\n',
            "seeds = 3\n",
            "[tasks.gad]\nlr = 1e-4\n",
            "[all]\nlr = 1e-4\n",
            'note = "mine"\n',
        ),
        'description = "mine"\nseeds = 0\ncolour = 1\n[all]\nlr = "high"\nepoch = 3\nepochs = 0\n'
        "[tasks.gadd]\nlr = 1\n[tasks.gad]\nlr = -1\nbatch_size = 1.5\n[search]\nlr = 3\n",
        (
            "seeds must be",
            "'colour'",
            "lr must be a number",
            "'epoch'",
            "epochs must be at least 1",
            "'gadd'",
            "lr must be at least 0",
            "batch_size must be a whole",
            "lr must be a list",
        ),
    ),
    "run file": (
        "mine.toml",
        (
            'model = "org/a"\nprotocol = "quick"\ntasks = ["gad"]\n[set]\nepochs = 3\n',
            'protocol = "quick"\nseeds = 3\n',
        ),
        'model = "org/a"\nprotocoll = "quick"\njobs = 0\nhead = "mine.py:Head"\ntrust_remote_code = true\n',
        (
            "'protocoll'",
            "jobs must be",
            "head = mine.py:Head would",
            "trust_remote_code = true would",
        ),
    ),
    "rules": (
        "blurb-check.toml",
        ("max_drop = 1.0\n",),
        'split = "train"\nlevel = 2\nmaxdrop = 1\nmax_drop = -1\ntasks = ["gadd"]\n'
        '[overall]\nmax_drop = "much"\nmin = 3\n[datasets.gadd]\nmax_drop = 1\n'
        "[datasets.gad]\nmin_score = true\nmax_drop = 2\n[datasets.hoc]\nmax_drop = -2\n",
        (
            "split must be one of dev, test",
            "level must be",
            "'maxdrop'",
            "blurb-check.toml: max_drop must be at least 0",
            "tasks: ",
            "overall: max_drop must be a number",
            "'min'",
            "There is no dataset",
            "datasets.gad: min_score must be a number",
            "datasets.hoc: max_drop must be at least 0",
        ),
    ),
}
"""Kind -> name of the file, texts without a fault, one with many, and what is told of each."""


@pytest.mark.parametrize("kind", FAULTS)
def test_a_file_of_settings_with_all_faults_at_once(kind: str, tmp_path: Path) -> None:
    name, right, wrong, messages = FAULTS[kind]
    path = tmp_path / name
    for text in right:
        path.write_text(text)
        assert (examine(path).kind, examine(path).problems) == (kind, [])
    path.write_text(wrong)
    report = examine(path)
    told = "\n".join(f"{problem.where}: {problem.what}" for problem in report.problems)
    assert [message for message in messages if message not in told] == []
    assert (report.kind, len(report.problems)) == (kind, len(messages))


def test_every_line_of_a_table_and_of_data_that_is_wrong(tmp_path: Path, data: Path) -> None:
    table = tmp_path / "external.csv"
    head = "source,version,model,dataset,score,runs,certainty"
    lines = [
        "s,1,m,gad,80,,",
        "s,1,m,hoc,high,,",
        "s,1,m,gad,81,,",
        "s,1,m,gda,80,,",
        "s,1,m,ddi,80,,,",
        ",1,m,ddi,80,,",
    ]
    table.write_text(
        "\n".join([head, *lines, *(f"s,1,n,gad,x{number},," for number in range(30))]) + "\n"
    )
    report = examine(table)
    assert report.facts == {"lines": 36, "rows": 1}
    places = [problem.where.removeprefix(f"{table}:") for problem in report.problems]
    assert places[:5] == ["6", "3", "4", "5", "7"]
    assert report.problems[-1].what == "And 15 more of this file."
    gad = data / tasks.get("gad").files["dev"]
    rows = gad.read_text().splitlines()
    gad.write_text(
        "\n".join([*rows[:3], "x", "100\tno dummies\t1", *rows[3:], f"{rows[1]}"]) + "\n"
    )
    of_gad = [problem for problem in examine(data).problems if problem.where.startswith(f"{gad}:")]
    assert [problem.where for problem in of_gad] == [
        f"{gad}:{line}" for line in (4, 5, len(rows) + 3)
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("level = 2\n", ["level must be at least 0 and below 1"]),
        ('[datasets]\ngad = 1\n"" = 2\n', ["", ""]),
        ("datasets = 3\n", ["datasets must be a table"]),
        ("split = [\n", ["invalid TOML"]),
    ],
)
def test_rules_of_another_shape(text: str, told: list[str], tmp_path: Path) -> None:
    """Also by another name, as rules have keys that no other file has."""
    path = tmp_path / ("other.toml" if text.startswith("level") else "blurb-check.toml")
    path.write_text(text)
    for what, problem in zip(told, examine(path).problems, strict=True):
        assert what in problem.what


def test_the_environment_of_the_tests_is_whole() -> None:
    report = examine()
    assert report.kind == "environment"
    assert {
        "python",
        "torch",
        "device",
        "bf16_in_hardware",
        "cache",
        "cache_free_bytes",
    } <= report.facts.keys()
    assert all("plug-in" not in problem.what for problem in report.problems)


def test_an_environment_with_everything_wrong_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "rich":
            raise metadata.PackageNotFoundError(name)
        return "1.0" if name == "transformers" else real(name)

    point = metadata.EntryPoint("lost-head", "no.such.module:Head", "blurb.heads")
    monkeypatch.setattr(doctor.metadata, "version", version)
    monkeypatch.setattr(
        registry, "entry_points", lambda group: [point] if group == "blurb.heads" else []
    )
    monkeypatch.setattr(heads, "heads", copy.copy(heads.heads))
    for cached in ("entries", "_sorted_out"):  # of what is installed
        heads.heads.__dict__.pop(cached, None)
    monkeypatch.setattr(doctor, "DRIVER", tmp_path)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr(
        doctor.shutil, "disk_usage", lambda place: namedtuple("Disk", "free")(5_000_000)
    )
    found = {problem.where: problem for problem in examine().problems}
    assert found["rich"].what == "It is not installed; blurb needs rich>=13.7."
    assert found["rich"].fix == "pip install 'rich>=13.7'"
    assert found["transformers"].what.startswith("It is 1.0; blurb needs transformers")
    assert "sees no GPU" in found["torch"].what
    assert "No module named 'no'" in found["plug-ins"].what
    assert any("Only 5 MB" in problem.what for problem in found.values())


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BLURB_HOME", str(tmp_path / "file" / "cache"))
    assert any("cannot be written" in problem.what for problem in examine().problems)


@pytest.mark.parametrize(
    ("name", "error"), [("none", DataError), ("x.txt", SettingsError), ("empty", SettingsError)]
)
def test_what_is_none_of_these(tmp_path: Path, name: str, error: type[Exception]) -> None:
    (tmp_path / "x.txt").write_text("")
    (tmp_path / "empty").mkdir()
    with pytest.raises(error, match="a store, a trial, a checkpoint"):
        examine(tmp_path / name)
