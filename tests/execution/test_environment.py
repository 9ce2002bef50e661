"""What a trial ran on. Oracle: `platform`, the metadata of the packages, and a repository that git makes here."""

import os
import platform
import subprocess
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
import torch

import blurb
from blurb.execution import environment as module
from blurb.execution.environment import PACKAGES, describe_environment
from blurb.messages.errors import SettingsError


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """The commit is looked up once a process; every test sees a new one, and leaves none behind."""
    module._commit_of_blurb.cache_clear()
    yield
    module._commit_of_blurb.cache_clear()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """blurb as it were in a repository of its own, with one commit."""
    (tmp_path / "blurb").mkdir()
    for name in ("blurb/__init__.py", "README.md"):
        (tmp_path / name).write_text("one\n")
    monkeypatch.setattr(blurb, "__file__", str(tmp_path / "blurb" / "__init__.py"))
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    settings = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(folder), *settings, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def committed(folder: Path) -> str:
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return git(folder, "rev-parse", "HEAD")


def test_versions_and_machine_are_those_of_this_process() -> None:
    found = describe_environment("cpu")
    assert {name: found[name] for name in PACKAGES} == {
        name: metadata.version(name) for name in PACKAGES
    }
    assert (found["blurb"], found["python"]) == (blurb.__version__, platform.python_version())
    assert found["platform"] == f"{platform.system()} {platform.machine()}"
    assert (found["device"], found["cpus"], found["threads"]) == (
        "cpu",
        os.cpu_count(),
        torch.get_num_threads(),
    )
    assert list(found)[-1] == "commit"


def test_threads_are_those_of_now() -> None:
    """A notebook may set them between two trials, which are told apart by them."""
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            assert describe_environment("cpu")["threads"] == threads
    finally:
        torch.set_num_threads(before)


def test_it_tells_no_name_of_a_folder_a_user_or_a_machine() -> None:
    text = str(describe_environment("cpu"))
    for private in {str(Path.home()), str(Path(blurb.__file__).parents[1]), platform.node()} - {
        "",
        "/",
    }:
        assert private not in text


def test_a_gpu_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blurb.training.hardware.choose_device", torch.device)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"GPU {device.index}")
    assert describe_environment("cuda:1")["device"] == "GPU 1"
    assert describe_environment("mps")["device"] == "mps"


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(SettingsError, match="tpu"):
        describe_environment("tpu")


def test_a_package_that_is_not_installed_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PACKAGES", ("torch", "no-such-distribution-of-anybody"))
    found = describe_environment("cpu")
    assert found["torch"] == metadata.version("torch")
    assert found["no-such-distribution-of-anybody"] is None


def test_the_commit_has_a_plus_once_the_package_was_changed(checkout: Path) -> None:
    assert describe_environment("cpu")["commit"] is None  # installed, and not a checkout
    module._commit_of_blurb.cache_clear()
    commit = committed(checkout)
    assert describe_environment("cpu")["commit"] == commit
    (checkout / "README.md").write_text("two\n")  # decides no result
    (checkout / "blurb" / "notes.txt").write_text("x\n")  # nor does a file that git does not know
    module._commit_of_blurb.cache_clear()
    assert describe_environment("cpu")["commit"] == commit
    (checkout / "blurb" / "__init__.py").write_text("two\n")
    module._commit_of_blurb.cache_clear()
    assert describe_environment("cpu")["commit"] == f"{commit}+"


def test_without_git_there_is_none(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(checkout)
    monkeypatch.setenv("PATH", "")
    assert describe_environment("cpu")["commit"] is None


def test_a_repository_without_a_commit_has_none(checkout: Path) -> None:
    git(checkout, "init", "-q")
    assert describe_environment("cpu")["commit"] is None
    git(checkout, "add", ".")
    module._commit_of_blurb.cache_clear()
    assert describe_environment("cpu")["commit"] is None


def test_the_commit_is_looked_up_once_a_process(checkout: Path) -> None:
    committed(checkout)
    first = describe_environment("cpu")
    (checkout / "blurb" / "__init__.py").write_text("two\n")
    assert describe_environment("cpu") == first
