"""Every process that blurb starts: a stranger's `torch.py` in the working folder is not imported."""

import contextlib
import os
import re
import shlex
import subprocess
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from blurb.execution.environment import SAFE, clean_start

ROOT = Path(__file__).parents[2]
MODULES = (
    "torch",
    "numpy",
    "blurb",
    "transformers",
    "multiprocessing",
    "pickle",
    "random",
    "pyarrow",
    "click",
    "json",
)
ASKED = ["baseline:majority", "--suite", "demo", "--tasks", "gad,biosses", "--precision", "fp32"]


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    """A working folder with modules of a stranger, which leave a marker; and a script as pip installs it, elsewhere."""
    folder, scripts = tmp_path / "work", tmp_path / "bin"
    folder.mkdir()
    scripts.mkdir()
    for name in MODULES:
        (folder / f"{name}.py").write_text(
            f"open({str(tmp_path / 'ran')!r}, 'w').close()\n", encoding="utf-8"
        )
    (scripts / "blurb").write_text(
        "import sys\nfrom blurb.cli import cli\nif __name__ == '__main__':\n    sys.exit(cli())\n",
        encoding="utf-8",
    )
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The installed command in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop(SAFE, None)
    command = [sys.executable, str(folder.parent / "bin" / "blurb"), *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.costly
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_workers_of_a_command(strange: Path, jobs: str) -> None:
    done = run(strange, "run", *ASKED, "--jobs", jobs)
    assert done.returncode == 0, done.stderr
    assert not (strange.parent / "ran").exists()


@pytest.mark.costly
def test_the_job_of_slurm(strange: Path) -> None:
    """The line of the script that starts a worker, in the working folder, which is where sbatch was called."""
    done = run(strange, "run", *ASKED, "--engine", "slurm", "--print")
    assert done.returncode == 0, done.stderr
    (line,) = re.findall(r"^(\S*python\S* .*) --part \"\$part\" &$", done.stdout, re.MULTILINE)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop(SAFE, None)
    worker = subprocess.run(
        [*shlex.split(line), "--part", "0"],
        cwd=strange,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert worker.returncode == 0, worker.stderr
    assert "2 trials done here" in worker.stdout
    assert not (strange.parent / "ran").exists()


@pytest.mark.extensions
def test_ray_starts_elsewhere(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    """Ray gives its workers the working folder of the moment when it is connected, before all others."""
    from blurb.extensions.clusters import ray

    seen: list[tuple[str, str | None]] = []

    def init(**given: Any) -> None:
        seen.append((os.getcwd(), os.environ.get(SAFE)))

    fake = types.SimpleNamespace(is_initialized=lambda: False, init=init, shutdown=lambda: None)
    monkeypatch.setitem(sys.modules, "ray", fake)
    with ray._cluster(""):
        pass
    assert seen == [(os.sep, "1")]
    assert Path.cwd() == here
    assert SAFE not in os.environ


@contextmanager
def _both() -> Iterator[None]:
    with clean_start(), contextlib.chdir(os.path.abspath(os.sep)):
        yield


def test_all_is_as_before_afterwards(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    for value in (None, "", "1"):
        monkeypatch.delenv(SAFE, raising=False) if value is None else monkeypatch.setenv(
            SAFE, value
        )
        with pytest.raises(ZeroDivisionError), _both():
            raise ZeroDivisionError
        assert os.environ.get(SAFE) == value
        assert Path.cwd() == here


@pytest.mark.extensions
def test_no_other_process_is_started() -> None:
    """A new one belongs into this file. Those that are there run programs of the system, or Python with -P."""
    assert {
        path.relative_to(ROOT / "blurb").as_posix(): path.read_text(encoding="utf-8").count(
            "subprocess.run("
        )
        for path in (ROOT / "blurb").rglob("*.py")
        if "subprocess" in path.read_text(encoding="utf-8")
    } == {
        "extensions/clusters/slurm.py": 3, "execution/environment.py": 2, "extensions/series/callback/trainer.py": 0,
    }  # fmt: skip
    texts = {
        f"{path.parent.name}/{path.name}": path.read_text(encoding="utf-8")
        for path in (ROOT / "blurb" / "extensions").rglob("*.py")
    }
    assert {name: text.count("sys.executable") for name, text in texts.items() if "sys.executable" in text} == {
        "clusters/_slurm_script.py": 1, "callback/trainer.py": 1,
    }  # fmt: skip
    assert re.search(r'sys\.executable,\s+"-P"', texts["callback/trainer.py"])
    assert re.search(r'sys\.executable,\s+"-P"', texts["clusters/_slurm_script.py"])


SCRIPT = """
import blurb
print("once")
print(blurb.run("baseline:majority", "gad,biosses", suite="demo", protocol="smoke", jobs=2, progress=False).failed)
"""


@pytest.mark.costly
@pytest.mark.parametrize("by", ["file", "input"])
def test_a_script_without_a_guard_is_not_run_by_its_workers(tmp_path: Path, by: str) -> None:
    """The workers ran the script once more, and were told to be out of memory."""
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py" if by == "file" else "-"],
        input=SCRIPT,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        timeout=120,
    )
    assert done.stdout.split() == ["once", "()"], done.stderr
