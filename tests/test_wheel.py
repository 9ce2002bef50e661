"""The wheel and the sdist hold every file of the package, and every module can be imported from the wheel alone.

A package that git ignored by accident was once missing from both, while every test in the checkout passed.
"""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import blurb
import blurb_bench
from blurb import doctor
from tests.conftest import ROOT

IMPORT_ALL = """
import importlib, pkgutil, blurb
names = [module.name for module in pkgutil.walk_packages(blurb.__path__, "blurb.")]
for name in names:
    if name != "blurb.__main__":
        importlib.import_module(name)
from blurb import tasks
from blurb.corpora.build import builder
for task in tasks.all():
    builder(task)
print(len(names), blurb.__file__)
"""


@pytest.fixture(scope="module")
def tracked() -> set[str]:
    """The files below `blurb/` that git knows, changes that are not committed included."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout: git ls-files has nothing to say")
    command = ["git", "ls-files", "--cached", "--others", "--exclude=__pycache__", "blurb"]
    listed = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return {name for name in listed if (ROOT / name).is_file()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of this checkout."""
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", folder]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return folder


@pytest.mark.costly
def test_the_wheel_has_every_file_of_the_package(built: Path, tracked: set[str]) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = {name for name in wheel.namelist() if name.startswith("blurb/")}
    assert names == tracked
    assert "blurb/corpora/build/qa.py" in names


def test_the_sdist_has_every_file_of_the_package(built: Path, tracked: set[str]) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {name for name in names if name.startswith("blurb/")} == tracked


@pytest.mark.costly
def test_every_module_is_imported_from_the_wheel(built: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-P", "-c", IMPORT_ALL],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    count, file = done.stdout.split()
    assert int(count) > 300
    assert Path(file).is_relative_to(tmp_path)


# `blurb` is also CPython's news tool: a mix of the two is noticed and said.


@pytest.mark.parametrize("content", ['__version__ = "2.3.0"\n', None])
def test_a_package_of_the_same_name_in_the_place_of_ours_is_named(
    tmp_path: Path, content: str | None
) -> None:
    """Replaced when the other one is installed later, and removed when it is uninstalled."""
    (tmp_path / "blurb").mkdir()
    if content:
        (tmp_path / "blurb" / "__init__.py").write_text(content)
    (tmp_path / "blurb_bench.py").write_text(
        Path(blurb_bench.__file__).read_text(encoding="utf-8"), encoding="utf-8"
    )
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import blurb_bench; blurb_bench.main()"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2
    assert "CPython's news tool" in done.stderr
    assert "pip install --force-reinstall --no-deps blurb-bench" in done.stderr


def test_the_second_command_is_the_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["blurb-bench", "--version"])
    with pytest.raises(SystemExit) as ended:
        blurb_bench.main()
    assert (ended.value.code, capsys.readouterr().out) == (
        0,
        f"blurb, version {blurb.__version__}\n",
    )


def test_doctor_warns_while_both_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = doctor.metadata.distributions
    other = [SimpleNamespace()]
    monkeypatch.setattr(
        doctor.metadata,
        "distributions",
        lambda **asked: other if asked == {"name": "blurb"} else before(**asked),
    )
    (problem,) = [problem for problem in doctor.examine().problems if problem.where == "blurb"]
    assert "pip uninstall blurb, then" in problem.fix
