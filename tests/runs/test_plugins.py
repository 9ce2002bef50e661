"""Plug-ins are part of a trial's identity by code and resolved options; blurb's own are not, and keep their hashes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from blurb import formulations, models, tasks
from blurb.errors import SettingsError
from blurb.heads import heads
from blurb.protocols import protocol, settings
from blurb.registry import Entry
from blurb.runs import plan
from blurb.runs.spec import Trial

DATA = Path(__file__).parents[1] / "golden" / "data"
HEAD = '''"""A head of one's own."""
from dataclasses import dataclass

from blurb.heads.linear import Linear


@dataclass
class Nothing:
    x: int = 0


class MyHead(Linear):
    def __init__(self, size, problem, dropout, width: int = 3):
        super().__init__(size, problem, dropout)
'''


@pytest.fixture
def trial(checkpoint: Callable[[str], Path], tmp_path: Path) -> Callable[..., Trial]:
    source = models.resolve(str(checkpoint("bert_uncased")))

    def found(task: str = "gad", **overrides: object) -> Trial:
        request = plan.Request(
            sources=[source], tasks=[tasks.get(task)], protocol=protocol.load("smoke"), data=DATA, store=tmp_path,
            precision="fp32", device="cpu", overrides=overrides,
        )  # fmt: skip
        return plan.job(request, source, tasks.get(task), 1).trial

    return found


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test sees its files as a new process would."""
    monkeypatch.setattr(heads, "files", {})
    for name in [name for name in sys.modules if name.startswith("blurb_plugin_")]:
        monkeypatch.delitem(sys.modules, name)


def _again() -> None:
    for name in [name for name in sys.modules if name.startswith("blurb_plugin_")]:
        del sys.modules[name]


def test_edited_code_and_defaults_are_another_trial(trial: Callable[..., Trial], tmp_path: Path) -> None:
    file = tmp_path / "my_head.py"
    file.write_text(HEAD)
    head = f"{file}:MyHead"
    first = trial(head=head)
    assert first.settings["head"] == "my_head.py:MyHead"  # no folder of this machine
    assert trial(head=head).hash == first.hash
    assert trial(head=f"{head},width=4").hash != first.hash
    assert trial(head=f"{head},width=3").hash == first.hash
    hashes = {first.hash}
    for old, new in (("of one's own", "of nobody's"), ("width: int = 3", "width: int = 4")):
        _again()
        file.write_text(HEAD.replace(old, new))
        hashes.add(trial(head=head).hash)
    assert len(hashes) == 3


def test_the_same_file_elsewhere_is_the_same_trial(trial: Callable[..., Trial], tmp_path: Path) -> None:
    found = set()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "my_head.py").write_text(HEAD)
        heads.files.clear()
        found.add(trial(head=f"{tmp_path / folder / 'my_head.py'}:MyHead").hash)
    assert len(found) == 1
    with pytest.raises(SettingsError, match=r"Two heads are called 'my_head.py:MyHead'"):
        trial(head=f"{tmp_path / 'a' / 'my_head.py'}:MyHead")


def test_blurbs_own_are_not_hashed_however_they_are_named(trial: Callable[..., Trial]) -> None:
    assert trial(head="bilstm").plugins == {}
    assert trial(head="blurb.heads.linear:Linear").plugins == {}
    assert "plugins" not in trial(head="crf", task="bc2gm").content


def test_a_formulation_of_another_distribution_is_hashed(
    trial: Callable[..., Trial], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "theirs.py").write_text(
        "from blurb.formulations.relation import Relation\n\n\nclass Mine(Relation):\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    before = trial()
    entry = Entry("relation", "theirs:Mine", "theirs")
    monkeypatch.setitem(formulations._registry.entries, "relation", entry)
    assert set(trial().plugins) == {"formulation relation"}
    assert trial().hash != before.hash


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x = (", r"my_head\.py:1: SyntaxError"),
        ("\nimport nothing_of_this_name\n", r"my_head\.py:2: ModuleNotFoundError"),
        ("1 / 0\n", r"my_head\.py:1: ZeroDivisionError"),
        ("x = 1\n", "defines no MyHead"),
        (None, "there is no file"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_told_with_its_line(
    content: str | None, message: str, trial: Callable[..., Trial], tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "my_head.py").write_text(content)
    with pytest.raises(SettingsError, match=message):
        trial(head=f"{tmp_path / 'my_head.py'}:MyHead")


def test_a_module_that_is_not_installed_says_how_to_name_its_file(trial: Callable[..., Trial]) -> None:
    with pytest.raises(SettingsError, match=r"name its file: \./my_package/my_head\.py:MyHead"):
        trial(head="my_package.my_head:MyHead")


def test_workers_load_it_and_an_edit_runs_again(tmp_path: Path, checkpoint: Callable[[str], Path]) -> None:
    (tmp_path / "heads").mkdir()
    file = tmp_path / "heads" / "my_head.py"
    file.write_text(HEAD)
    command = [
        sys.executable, "-m", "blurb", "run", str(checkpoint("bert_uncased")), "--data", str(DATA), "--protocol",
        "smoke", "--tasks", "gad,biosses", "--head", "./heads/my_head.py:MyHead,width=5", "--jobs", "2", "--device",
        "cpu",
    ]  # fmt: skip

    def run() -> str:
        done = subprocess.run(command, cwd=tmp_path, env=os.environ, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stderr

    assert run().count(": done") == 2
    file.write_text(HEAD + "\n\nCHANGED = True\n")
    assert run().count(": done") == 2
    assert str(tmp_path) not in (tmp_path / "results.csv").read_text() + (tmp_path / "leaderboard.csv").read_text()


def test_a_setting_that_came_later_counts_only_where_it_was_changed(
    trial: Callable[..., Trial], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, changed = trial(), trial(clip_norm=2.0)
    monkeypatch.setattr(settings, "LATER", (*settings.LATER, "clip_norm"))
    assert "clip_norm" not in trial().settings
    assert trial().hash != before.hash  # as if it had never been there
    assert trial(clip_norm=2.0).hash == changed.hash
