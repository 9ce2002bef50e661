"""Plug-ins are part of a trial's identity by code and resolved options; blurb's own are not, and keep their hashes."""

import dataclasses
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from blurb import tasks
from blurb.cost.estimator import Estimator
from blurb.execution.worker import execute_job
from blurb.heads import heads
from blurb.learners import building
from blurb.messages.errors import DataError, SettingsError
from blurb.planning import trials
from blurb.planning.steps import load_protocol, typed_settings
from blurb.protocols import settings
from blurb.store.record import read_predictions
from blurb.store.trial import Trial
from tests.conftest import Builder
from tests.planning.requests import request

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
def trial(checkpoint: Builder, tmp_path: Path) -> Callable[..., Trial]:
    source = building.resolve_model(str(checkpoint("bert_uncased")))

    def found(task: str = "gad", **typed: object) -> Trial:
        asked = request(tmp_path, source, tasks_=task, data=DATA, overrides=typed_settings(typed))
        return trials.job(asked, source, tasks.get(task), 1).trial

    return found


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test sees its files as a new process would."""
    monkeypatch.setattr(heads, "typed", {})
    for name in [name for name in sys.modules if name.startswith("blurb_plugin_")]:
        monkeypatch.delitem(sys.modules, name)


def _again() -> None:
    for name in [name for name in sys.modules if name.startswith("blurb_plugin_")]:
        del sys.modules[name]


def test_edited_code_and_defaults_are_another_trial(
    trial: Callable[..., Trial], tmp_path: Path
) -> None:
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


def test_the_same_file_elsewhere_is_the_same_trial(
    trial: Callable[..., Trial], tmp_path: Path
) -> None:
    found = set()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "my_head.py").write_text(HEAD)
        heads.typed.clear()
        found.add(trial(head=f"{tmp_path / folder / 'my_head.py'}:MyHead").hash)
    assert len(found) == 1
    with pytest.raises(SettingsError, match=r"Two heads have the name 'my_head.py:MyHead'"):
        trial(head=f"{tmp_path / 'a' / 'my_head.py'}:MyHead")


def test_blurbs_own_are_not_hashed_however_they_are_named(trial: Callable[..., Trial]) -> None:
    assert trial(head="bilstm").plugins == {}
    assert trial(head="blurb.heads.linear:Linear").plugins == {}
    assert "plugins" not in trial(head="crf", task="bc2gm").content


def declare(monkeypatch: pytest.MonkeyPatch, name: str, formulation: str) -> None:
    """A task type of another distribution: one of blurb's with another formulation."""
    module = importlib.import_module(f"blurb.tasks.types.{name}")
    monkeypatch.setattr(module, "TYPE", replace(module.TYPE, formulation=formulation))


def test_a_formulation_of_another_distribution_is_hashed(
    trial: Callable[..., Trial], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "theirs.py").write_text(
        "from blurb.formulations.relation import Relation\n\n\nclass Mine(Relation):\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    before = trial()
    declare(monkeypatch, "relation", "theirs:Mine")
    assert set(trial().plugins) == {"formulation relation"}
    assert trial().hash != before.hash


@pytest.fixture
def formulation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Replaces the formulation of documents by `theirs.Mine`, with this body."""
    monkeypatch.syspath_prepend(tmp_path)
    declare(monkeypatch, "document", "theirs:Mine")

    def write(body: str) -> None:
        lines = [
            "from blurb.formulations.document import Document",
            "from blurb.inputs.texts import encode_texts",
            "class Mine(Document):",
            *(f"    {line}" for line in body.splitlines()),
        ]
        (tmp_path / "theirs.py").write_text("\n".join(lines) + "\n")
        sys.modules.pop("theirs", None)
        importlib.invalidate_caches()
        # It tells two of the same second apart by length
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)

    return write


READS = """def {name}(self, units, tokenizer, max_length):
    found = encode_texts([unit["text"][:{most}] for unit in units], tokenizer, max_length)
    return {found}
"""


@pytest.mark.costly
@pytest.mark.parametrize("learner", ["smoke", "probe"])
def test_versions_of_a_formulation_share_no_features(
    learner: str,
    formulation: Callable[[str], None],
    checkpoint: Builder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each gives what it gives with a cache of its own (the oracle), whatever ran before it."""
    source = building.resolve_model(str(checkpoint("bert_uncased")))

    def scores(home: str, store: str, learner: str = learner) -> list[object]:
        monkeypatch.setenv("BLURB_HOME", str(tmp_path / home))
        asked = request(tmp_path / store, source, tasks_="hoc", protocol_=learner, data=DATA)
        (job,) = trials.prepare(asked).final
        assert execute_job(job).status == "done"
        return list(read_predictions(job.path / "predictions.parquet")["scores"])

    whole, short = (READS.format(name="features", most=most, found="found") for most in (1000, 12))
    formulation(whole)
    first = scores("shared", "first")
    formulation(short)
    second = scores("shared", "second")
    assert first != second == scores("own", "third")
    if learner == "probe":  # one input of its own, that a fine-tuned encoder does not read
        formulation(whole + READS.format(name="frozen_features", most=12, found="[found]"))
        tuned = scores("shared", "fourth", "smoke")
        assert scores("shared", "fifth") == second
        assert scores("shared", "sixth", "smoke") == tuned


def test_a_formulation_without_units_is_named(
    formulation: Callable[[str], None], checkpoint: Builder, tmp_path: Path
) -> None:
    """By the trial and by the estimate, which divided by their number."""
    formulation("def units(self, examples):\n    return []\n")
    source = building.resolve_model(str(checkpoint("bert_uncased")))
    planned = trials.prepare(request(tmp_path, source, tasks_="hoc", data=DATA))
    message = r"units\(\) of .*theirs\.Mine returned nothing for hoc, train \(\d+ rows\); it must return at least .*"
    with pytest.raises(DataError, match=message):
        Estimator(timed=True).estimate([planned], 1)
    assert re.fullmatch(message, execute_job(planned.final[0]).message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x = (", r"my_head\.py:1: SyntaxError"),
        ("\nimport nothing_of_this_name\n", r"my_head\.py:2: ModuleNotFoundError"),
        ("1 / 0\n", r"my_head\.py:1: ZeroDivisionError"),
        ("x = 1\n", "does not define MyHead"),
        (None, "does not exist"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_told_with_its_line(
    content: str | None, message: str, trial: Callable[..., Trial], tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "my_head.py").write_text(content)
    with pytest.raises(SettingsError, match=message):
        trial(head=f"{tmp_path / 'my_head.py'}:MyHead")


def test_a_module_that_is_not_installed_says_how_to_name_its_file(
    trial: Callable[..., Trial],
) -> None:
    with pytest.raises(SettingsError, match=r"use its file: \./my_package/my_head\.py:MyHead"):
        trial(head="my_package.my_head:MyHead")


@pytest.mark.costly
def test_workers_load_it_and_an_edit_runs_again(tmp_path: Path, checkpoint: Builder) -> None:
    (tmp_path / "heads").mkdir()
    file = tmp_path / "heads" / "my_head.py"
    file.write_text(HEAD)
    run = "--protocol smoke --tasks gad,biosses --head ./heads/my_head.py:MyHead,width=5 --jobs 2 --device cpu"
    model = str(checkpoint("bert_uncased"))
    command = [sys.executable, "-m", "blurb", "run", model, "--data", str(DATA), *shlex.split(run)]

    def run() -> str:
        done = subprocess.run(command, cwd=tmp_path, env=os.environ, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stderr

    assert run().count(": done") == 2
    file.write_text(HEAD + "\n\nCHANGED = True\n")
    assert run().count(": done") == 2
    tables = [(tmp_path / "runs" / name).read_text() for name in ("results.csv", "leaderboard.csv")]
    assert str(tmp_path) not in "".join(tables)


def test_a_setting_that_came_later_counts_only_where_it_was_changed(
    trial: Callable[..., Trial], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, changed = trial(), trial(clip_norm=2.0)
    later = dataclasses.replace(settings.FIELDS["clip_norm"], later=True)
    monkeypatch.setitem(settings.FIELDS, "clip_norm", later)
    assert "clip_norm" not in trial().settings
    assert trial().hash != before.hash  # as if it had never been there
    assert trial(clip_norm=2.0).hash == changed.hash


def test_a_search_loads_the_heads_of_its_longest_axis(tmp_path: Path) -> None:
    """Beside a shorter axis only the first values were loaded."""
    (tmp_path / "searched_head.py").write_text(HEAD)
    file = tmp_path / "searched.toml"
    head = f"{tmp_path / 'searched_head.py'}:MyHead"
    file.write_text(f'extends = "smoke"\n[search]\nlr = [1e-4]\nhead = ["linear", "{head}"]\n')
    assert load_protocol(file, "demo").search["head"] == ("linear", head)
    assert heads.get("searched_head.py:MyHead") is not None
