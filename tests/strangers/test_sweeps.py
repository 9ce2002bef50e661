"""A sweep of somebody else is asked for before anything that it names is opened (SECURITY.md)."""

import dataclasses
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blurb.checkpoints import source
from blurb.execution import sweeps
from blurb.execution.sweeps import NotAllowed
from blurb.heads import heads
from blurb.learners.kinds import majority
from blurb.messages.errors import StoreError
from blurb.store.row_contents import failure_of
from blurb.system import cache
from tests.cli.in_process import ran, run
from tests.conftest import Builder
from tests.strangers.evil import Evil

pytestmark = pytest.mark.extensions  # a sweep that nobody runs is planned by an engine of clusters


HEAD = "from blurb.heads.linear import Linear\n\n\nclass Mine(Linear):\n    pass\n"


def plan(*more: str) -> Path:
    """A sweep that nobody has run."""
    asked = [
        "--suite",
        "demo",
        "--tasks",
        "gad",
        "--protocol",
        "smoke",
        "--precision",
        "fp32",
        "--device",
        "cpu",
    ]
    ran(["run", *more, *asked, "--engine", "slurm", "--print"])
    (folder,) = sweeps.folders(Path("runs"))
    return folder


def stranger(monkeypatch: pytest.MonkeyPatch, home: str = "other-home") -> None:
    """From here on this is another user: nothing is remembered or loaded."""
    target = Path(home).absolute()
    target.mkdir(exist_ok=True)
    if not (target / "demo").exists():
        (target / "demo").symlink_to(cache.cache_home() / "demo")
    monkeypatch.setenv("BLURB_HOME", str(target))
    heads.typed.clear()


def alter(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads((folder / sweeps.JOBS).read_text(encoding="utf-8"))
    change(content)
    (folder / sweeps.JOBS).write_text(json.dumps(content), encoding="utf-8")


def _plugin(content: dict[str, Any]) -> None:
    content["plugins"] = {"head": {"evil.py:T": str(Path("evil.py").absolute())}}
    content["jobs"][0]["trial"]["settings"]["head"] = "evil.py:T"


def _module(content: dict[str, Any]) -> None:
    content["plugins"] = {"head": {"evil:T": None}}
    content["jobs"][0]["trial"]["settings"]["head"] = "evil:T"


def _head(content: dict[str, Any]) -> None:
    content["jobs"][0]["trial"]["settings"]["head"] = "evil.py:T"


def _task(content: dict[str, Any]) -> None:
    content["data"][0]["task"] = "evil.py:T"


def _file(content: dict[str, Any]) -> None:
    content["data"][0]["task"] = str(Path("runs/own.toml").absolute())


def _data(content: dict[str, Any]) -> None:
    content["data"][0]["folder"] = "/proc/self"


def _remote(content: dict[str, Any]) -> None:
    content["source"][0]["remote_code"] = True


@pytest.mark.extensions
@pytest.mark.parametrize(
    "change", [_plugin, _module, _task, _file, _data, _remote], ids=lambda one: one.__name__
)
def test_a_sweep_of_a_stranger_runs_nothing(
    change: Callable[[dict[str, Any]], None],
    evil: Evil,
    checkpoint: Builder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By worker, a part of it, retry, doctor, status and a task of Ray."""
    from blurb.extensions.clusters.ray import run_one

    folder = plan(str(checkpoint("bert_uncased")))
    (job,) = sweeps.read(folder)
    alter(folder, change)
    for doors in ([], ["--sweep", str(folder)], ["--sweep", str(folder), "--part", "0"]):
        found = run("worker", *doors)
        assert "To run it, and not to be asked again: --allow-code " in str(found.exception), (
            found.output
        )
    job.path.parent.mkdir(parents=True)
    failure_of(job.path).write_text("{}", encoding="utf-8")
    assert "--allow-code " in str(run("retry").exception)
    assert "--allow-code " in run("doctor", "runs").output
    assert run("status").exit_code in (0, 1)
    with pytest.raises(NotAllowed):
        run_one(str(folder.absolute()), 0, 1, "0" * 32)
    assert not evil.has_run()
    assert not list(Path("runs").rglob("DONE.json"))


@pytest.mark.costly
def test_trials_of_a_sweep_of_ones_own_name_no_code(evil: Evil, checkpoint: Builder) -> None:
    """Whoever writes to the store may alter the trials of a sweep that may run: names are all that they have."""
    alter(plan(str(checkpoint("bert_uncased"))), _head)
    assert "There is no head called 'evil.py:T'." in run("worker").output
    assert not evil.has_run()


@pytest.mark.costly
def test_who_planned_it_is_not_asked_and_others_once(
    here: Path, checkpoint: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mine.py").write_text(HEAD, encoding="utf-8")
    folder = plan(str(checkpoint("bert_uncased")), "--seeds", "3", "--head", "./mine.py:Mine")
    heads.typed.clear()
    assert "--allow-code" in (folder / "slurm.sh").read_text(encoding="utf-8")
    digest = sweeps.hash_of(json.loads((folder / sweeps.JOBS).read_text(encoding="utf-8")))
    assert f"--allow-code {digest} " in (folder / "slurm.sh").read_text(encoding="utf-8")
    stranger(monkeypatch)
    asked = str(run("worker").exception)
    for part in (
        "code of a head: ",
        "mine.py",
        "a checkpoint: ",
        "data: ",
        f"--allow-code {digest}",
    ):
        assert part in asked
    assert "--allow-code" in str(run("worker", "--allow-code", "0" * 32).exception)
    assert len(sweeps.read(folder, [digest])) == 3  # now it is remembered
    assert "3 trials done here" in ran(["worker"]).output
    ran(["leaderboard", "show"])


def test_code_that_changed_since_it_was_allowed_does_not_run(
    evil: Evil, checkpoint: Builder
) -> None:
    Path("mine.py").write_text(HEAD, encoding="utf-8")
    plan(str(checkpoint("bert_uncased")), "--head", "./mine.py:Mine")
    heads.typed.clear()
    Path("mine.py").write_text(evil.text + "Mine = T\n", encoding="utf-8")
    assert "mine.py has changed since the trials were planned" in str(run("worker").exception)
    assert not evil.has_run()


@pytest.mark.parametrize(
    "reference", ["sub/strange.Tokens", "{place}--strange.Tokens", "./sub--strange.Tokens"]
)
def test_code_of_a_checkpoint_that_no_hash_has_does_not_run(
    reference: str, evil: Evil, checkpoint: Builder, tmp_path: Path
) -> None:
    """A person trusted the checkpoint; its hash has the Python files of its folder, and no others."""
    model = shutil.copytree(checkpoint("bert_uncased"), tmp_path / "ck")
    plan("./ck", "--trust-remote-code")
    for place in (model / "sub", tmp_path / "sub"):
        place.mkdir()
        (place / "strange.py").write_text(evil.text + "Tokens = T\n", encoding="utf-8")
    config = json.loads((model / "tokenizer_config.json").read_text(encoding="utf-8"))
    named = reference.format(place=tmp_path / "sub")
    config |= {"auto_map": {"AutoTokenizer": [None, named]}, "tokenizer_class": "Tokens"}
    (model / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    source._read.clear()  # as in another process
    assert "code must lie in the folder of the checkpoint itself" in run("worker").output
    assert not evil.has_run()
    assert "code must lie in the folder" in str(
        run("run", "./ck", "--trust-remote-code", "--suite", "demo").exception
    )
    assert not evil.has_run()


def test_a_sweep_that_stays_in_its_store_asks_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Baselines on data in the store: there is nothing to trust."""
    folder = plan("baseline:majority")
    data, demo = Path("runs/data").absolute(), sweeps.read(folder)[0].data.folder
    data.symlink_to(demo, target_is_directory=True)
    alter(folder, lambda content: content["data"][0].update(folder=str(data)))
    stranger(monkeypatch)
    assert "data: " in str(run("worker").exception)  # a link leads out
    data.unlink()
    shutil.copytree(demo, data)
    assert "1 trial done here" in ran(["worker"]).output


@pytest.mark.parametrize(
    "task", ["../../../victim/x", "/VICTIM/x", "..", ".", "", "gad/../..", "biosses", "GAD", "a\nb"]
)
def test_a_trial_is_put_nowhere_but_under_the_task_of_its_data(
    here: Path, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    folder = plan("baseline:majority")
    shutil.copytree(
        cache.cache_home() / "demo", here / "runs" / "data", symlinks=False, dirs_exist_ok=True
    )
    data = next(path.parent for path in (here / "runs" / "data").rglob("GAD") if path.is_dir())

    def change(content: dict[str, Any]) -> None:
        content["data"][0]["folder"] = str(data)
        content["jobs"][0]["trial"]["task"] = task.replace("/VICTIM", str(here / "victim"))

    alter(folder, change)
    stranger(monkeypatch)
    before = {path for path in here.rglob("*") if "other-home" not in path.parts}
    with pytest.raises(StoreError):
        sweeps.read(folder, allow=())
    run("worker")
    run("worker", "--sweep", str(folder))
    after = {path for path in here.rglob("*") if "other-home" not in path.parts}
    assert not {
        path
        for path in after - before
        if path.suffix in (".json", ".parquet") and ".sweeps" not in path.parts
    }
    assert not (here / "victim").exists()


def _in_store(folder: Path, model: Path | None = None) -> None:
    """Moves the data and the checkpoint of a sweep into its store, where nobody is asked for them."""
    data = shutil.copytree(
        sweeps.read(folder, allow=None)[0].data.folder, Path("runs/data").absolute()
    )
    alter(folder, lambda content: content["data"][0].update(folder=str(data)))
    if model is not None:
        copy = shutil.copytree(model, Path("runs/model").absolute())
        alter(folder, lambda content: content["source"][0].update(location=str(copy)))


def from_elsewhere(checkpoint: Builder, here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a sweep of somebody else, with its checkpoint in the store, where nothing is asked for."""
    monkeypatch.chdir(here)
    model = checkpoint("bert_uncased")
    folder = plan(str(model))
    _in_store(folder, model)
    stranger(monkeypatch)
    return folder


ODD: list[tuple[str, dict[str, Any]]] = [
    ("source", {"kind": "Encoder"}),
    ("source", {"kind": None}),
    ("source", {"kind": "learner", "location": "majority"}),
    ("source", {"remote_code": []}),
    ("source", {"name": 5}),
    ("source", {"name": ""}),
    ("configuration", {"overrides": ["evil:T"]}),
    ("data", {"original": "yes"}),
    ("jobs", {"device": "evil:T"}),
    ("jobs", {"device": None}),
    ("jobs", {"track": "all"}),
    ("jobs", {"keep": "evil"}),
    ("jobs", {"resume": "../x"}),
    ("trial", {"learner": "evil:T"}),
    ("trial", {"seed": -1}),
]


def test_what_no_command_has_written_is_no_sweep(
    tmp_path: Path, checkpoint: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kind that nobody knows was neither asked for nor compared with its hash, and ran."""
    folder = from_elsewhere(checkpoint, tmp_path, monkeypatch)
    whole = (folder / sweeps.JOBS).read_text(encoding="utf-8")
    assert sweeps.read(folder, allow=())
    for place, values in ODD:
        content = json.loads(whole)
        (content["jobs"][0]["trial"] if place == "trial" else content[place][0]).update(values)
        (folder / sweeps.JOBS).write_text(json.dumps(content), encoding="utf-8")
        for allow in ((), None):
            with pytest.raises(StoreError):
                sweeps.read(folder, allow)
    assert isinstance(run("worker").exception, StoreError)
    assert "is not a valid list of trials (there is no seed -1)" in run("doctor", "runs").output
    assert not list(Path("runs").rglob("DONE.json"))


@pytest.mark.parametrize("what", ["weights", "data", "by a folder"])
def test_links_in_the_store_that_lead_out_are_asked_for(
    what: str, tmp_path: Path, checkpoint: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = from_elsewhere(checkpoint, tmp_path, monkeypatch)
    assert sweeps.read(folder, allow=())
    outside = tmp_path / "outside"
    if what == "weights":
        Path("runs/model/model.safetensors").rename(outside)
        Path("runs/model/model.safetensors").symlink_to(outside)
    elif what == "data":
        Path("runs/data/GAD").rename(outside)
        Path("runs/data/GAD").symlink_to(outside)
    else:  # the links are in another folder of the store
        Path("runs/data/GAD").rename(outside)
        Path("runs/more").mkdir()
        for file in outside.iterdir():
            Path("runs/more", file.name).symlink_to(file)
        Path("runs/data/GAD").symlink_to(Path("../more"))
    with pytest.raises(NotAllowed, match="a checkpoint: " if what == "weights" else "data: "):
        sweeps.read(folder, allow=())


def test_a_trial_of_before_an_update_that_gives_other_results_does_not_run(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be counted as one of the old recipe."""
    plan("baseline:majority")
    monkeypatch.setattr(majority, "LEARNER", dataclasses.replace(majority.LEARNER, recipe=2))
    assert (
        "planned with recipe 1 of its learner, but this version of blurb has 2"
        in run("worker").output
    )
    assert not list(Path("runs").rglob("DONE.json"))


@pytest.mark.parametrize("what", ["another user", "nobody"])
def test_a_note_of_somebody_else_allows_nothing(
    what: str, here: Path, monkeypatch: pytest.MonkeyPatch, checkpoint: Builder
) -> None:
    """In a cache that several users share, only files of this user count."""
    folder = plan(str(checkpoint("bert_uncased")))
    if what == "another user":
        monkeypatch.setattr(os, "getuid", lambda: 12_345)
    else:
        for note in (cache.cache_home() / sweeps.ALLOWED).iterdir():
            note.unlink()
    with pytest.raises(NotAllowed):
        sweeps.read(folder, ())


@pytest.mark.costly
def test_workers_of_a_command_load_what_it_was_given(tmp_path: Path, checkpoint: Builder) -> None:
    """`--jobs 2`: processes of its own, and a table afterwards, in a home where nothing was allowed before."""
    (tmp_path / "mine.py").write_text(HEAD, encoding="utf-8")
    run = "--suite demo --tasks gad,biosses --protocol smoke --head ./mine.py:Mine --jobs 2 --device cpu"
    command = [
        sys.executable,
        "-P",
        "-m",
        "blurb",
        "run",
        str(checkpoint("bert_uncased")),
        *shlex.split(run),
    ]
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert "mine.py:Mine" in (tmp_path / "runs" / "leaderboard.csv").read_text(encoding="utf-8")
