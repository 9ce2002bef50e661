"""What a person types may name code; the same words in a file that was found may not (SECURITY.md)."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import blurb
from blurb import tasks
from blurb.heads import heads, poolings
from blurb.messages.errors import UnknownName
from blurb.regression import rules
from blurb.store.store import Store
from tests.cli.in_process import ran, run

HEAD = "from blurb.heads.linear import Linear\n\n\nclass Mine(Linear):\n    pass\n"
POOLING = "from blurb.heads.pooling.mean import Mean\n\n\nclass Mine(Mean):\n    pass\n"
TASK = """
name = "my-claims"
type = "document"
labels = ["a", "b"]
format = {kind = "jsonl"}
files = {train = "train.jsonl", dev = "train.jsonl", test = "train.jsonl"}
"""
SMOKE: dict[str, Any] = {
    "suite": "demo",
    "protocol": "smoke",
    "tasks": "gad",
    "device": "cpu",
    "progress": False,
}


@pytest.fixture
def folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a head, a pooling and a task of one's own."""
    Path("mine.py").write_text(HEAD, encoding="utf-8")
    Path("pool.py").write_text(POOLING, encoding="utf-8")
    Path("my.toml").write_text(TASK, encoding="utf-8")
    lines = [
        json.dumps({"text": f"word{n % 2} and more", "labels": ["a" if n % 2 else "b"]})
        for n in range(8)
    ]
    Path("train.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setattr(tasks, "_files", {})
    return here


WAYS = {
    "option": ["--protocol", "smoke", "--head", "./mine.py:Mine"],
    "set": ["--protocol", "smoke", "--set", "head=./mine.py:Mine"],
    "protocol": ["--protocol", "./mine.toml"],
    "module": ["--protocol", "smoke", "--head", "mine:Mine"],
    "python": ["--protocol", "smoke", "--head", "./mine.py:Mine", "--pooling", "./pool.py:Mine"],
}


@pytest.mark.costly
@pytest.mark.parametrize("how", WAYS)
def test_what_a_person_names_may_name_code(
    how: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It trains, and the figures are shown afterwards by a process that knows nothing of it."""
    asked = ["run", "scratch:tiny", "--suite", "demo", "--tasks", "gad", "--device", "cpu"]
    Path("mine.toml").write_text(
        'extends = "smoke"\n[all]\nhead = "./mine.py:Mine"\npooling = "./pool.py:Mine"\n'
    )
    if how == "python":
        blurb.run("scratch:tiny", **SMOKE, head="./mine.py:Mine", pooling="./pool.py:Mine")
    if how == "module":
        monkeypatch.syspath_prepend(str(folder))
    assert ("already done" in ran([*asked, *WAYS[how]]).output) == (how == "python")
    heads.typed.clear()
    poolings.typed.clear()
    for command in (["leaderboard", "show"], ["rescore"], ["doctor", "runs"], ["runs", "verify"]):
        ran(command)


@pytest.mark.extensions
def test_a_task_file_runs_and_is_typed_where_its_data_is_read(folder: Path) -> None:
    ran(["run", "baseline:majority", "--tasks", "./my.toml"])
    (trial,) = Store(Path("runs")).trial_folders()
    tasks._files.clear()
    for command in (["leaderboard", "show"], ["rescore"], ["errors", str(trial)]):
        ran(command)
    wanted = ["errors", str(trial), "--data", "."]
    assert "type it: --task " in str(run(*wanted).exception)
    assert "and more" in ran([*wanted, "--with-text", "--task", "./my.toml"]).output


@pytest.mark.extensions
def test_a_path_that_a_store_names_is_not_opened(folder: Path) -> None:
    """A declaration whose files lie elsewhere, and are named as those of its task file."""
    ran(["run", "baseline:majority", "--tasks", "./my.toml"])
    (trial,) = Store(Path("runs")).trial_folders()
    made = json.loads((trial / "provenance.json").read_text(encoding="utf-8"))
    secret = folder / "secret.jsonl"
    secret.write_text(json.dumps({"text": "SECRET", "labels": ["a"]}) + "\n", encoding="utf-8")
    made["declaration"]["files"] = dict.fromkeys(("train", "dev", "test"), str(secret))
    made["declaration"]["file"] = str(folder / "theirs.toml")
    (folder / "theirs.toml").write_text(TASK.replace("train.jsonl", str(secret)), encoding="utf-8")
    (trial / "provenance.json").write_text(json.dumps(made), encoding="utf-8")
    Store(Path("runs")).seal(trial)
    tasks._files.clear()
    for command in (
        ["errors", str(trial), "--with-text"],
        ["diff", str(trial), str(trial), "--with-text"],
    ):
        found = run(*command, "--data", ".")
        assert "A file that a store or model names is not opened" in str(found.exception)
        assert "SECRET" not in found.output


def test_the_rules_of_a_folder_open_no_file(folder: Path) -> None:
    Path(rules.NAME).write_text('tasks = "./my.toml"\n', encoding="utf-8")
    with pytest.raises(UnknownName, match=r"no task called './my.toml'"):
        rules.load_rules(Path(rules.NAME))
    assert not tasks._files
    tasks.load("./my.toml")  # typed
    Path(rules.NAME).write_text('tasks = "my-claims"\n', encoding="utf-8")
    assert rules.load_rules(Path(rules.NAME)).required == ("my-claims",)


def test_a_declaration_takes_its_code_from_what_is_registered() -> None:
    gad = tasks.get("gad")
    evil = {
        **asdict(gad),
        "reader": "os:system",
        "builder": "os:system",
        "original": "os:system",
        "source": None,
    }
    assert tasks.of_declaration(evil, "x").reader == gad.reader
    assert tasks.of_declaration(evil, "x").builder == gad.builder
    own = tasks.of_declaration({**evil, "name": "mine"}, "x")
    assert (own.reader, own.builder, own.original) == ("blurb.data.readers.task_file:read", "", "")


def test_tasks_are_made_of_data_in_two_places() -> None:
    """Task files, and the declarations of stores: `Task(**...)` of what a file says stands nowhere else."""
    root = Path(blurb.__file__).parent
    found = {
        path.name for path in root.rglob("*.py") if "Task(**" in path.read_text(encoding="utf-8")
    }
    assert found == {"_file.py"}


@pytest.mark.extensions
def test_modules_are_imported_by_name_in_one_place() -> None:
    """Whoever adds a second one says here what it imports."""
    root = Path(blurb.__file__).parent
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if "import_module(" in path.read_text(encoding="utf-8")
        or "exec_module(" in path.read_text(encoding="utf-8")
    }
    # Lazy imports of their own rooms
    own = {"__init__.py", "heads/__init__.py", "cli/__init__.py", "extensions/reports/options.py"}
    assert found == {"registry.py", *own}
