"""Checkpoints of the Hub, which is a folder here: what is fetched, and what is said when it does not answer."""

import json
import shutil
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from huggingface_hub import errors
from safetensors.torch import load_file

from blurb.checkpoints.hub import RECORD, repository_of
from blurb.learners.building import resolve_model
from tests.checkpoints import refused
from tests.conftest import Builder
from tests.rewriting import edit

HEAD, TAGGED = "a" * 40, "b" * 40


class Hub:
    """Repositories that are folders, each with one commit by default and one by the tag `v1`.

    `breaks` is raised in the place of a download.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.breaks: Exception | None = None

    def add(self, repository: str, checkpoint: Path) -> Path:
        folder = Path(shutil.copytree(checkpoint, self.root / repository))
        for name in ("tf_model.h5", "pytorch_model.bin", "modeling.py"):
            (folder / name).write_bytes(b"x" * 1000)
        return folder

    def snapshot_download(
        self, repository: str, revision: str | None, allow_patterns: Sequence[str]
    ) -> str:
        if self.breaks:
            raise self.breaks
        here = self.root / "cache" / repository / (TAGGED if revision in ("v1", TAGGED) else HEAD)
        here.mkdir(parents=True, exist_ok=True)
        for path in (self.root / repository).iterdir():
            if any(fnmatch(path.name, pattern) for pattern in allow_patterns):
                shutil.copyfile(path, here / path.name)
        return str(here)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    made = Hub(tmp_path / "hub")
    monkeypatch.setattr("huggingface_hub.snapshot_download", made.snapshot_download)
    return made


def test_it_is_the_checkpoint_of_its_folder(hub: Hub, checkpoint: Builder) -> None:
    hub.add("org/model", checkpoint("bert_uncased"))
    online, here = resolve_model("org/model@v1"), resolve_model(str(checkpoint("bert_uncased")))
    assert (online.name, online.revision) == ("model", TAGGED)
    assert (online.weights, online.tokenizer) == (here.weights, here.tokenizer)
    names = {path.name for path in Path(online.location).iterdir()}
    # No other weights, no code
    assert not names & {"tf_model.h5", "pytorch_model.bin", "modeling.py"}


def test_pickled_weights_are_fetched_where_there_are_no_others(
    hub: Hub, checkpoint: Builder
) -> None:
    source = hub.add("org/old", checkpoint("bert_uncased"))
    torch.save(load_file(source / "model.safetensors"), source / "pytorch_model.bin")
    (source / "model.safetensors").unlink()
    assert (Path(resolve_model("org/old").location) / "pytorch_model.bin").is_file()


def test_what_presets_state_holds(hub: Hub, checkpoint: Builder) -> None:
    """A cased vocabulary whose files would lower-case it, as BioBERT's."""
    source = hub.add("dmis-lab/biobert-base-cased-v1.1", checkpoint("bert_cased"))
    edit(source / "tokenizer_config.json", lambda content: content.pop("do_lower_case"))
    assert (
        resolve_model("biobert").tokenizer == resolve_model(str(checkpoint("bert_cased"))).tokenizer
    )


def test_a_folder_of_an_earlier_download_says_its_revision(copy: Path) -> None:
    record = {
        "repository": "org/model",
        "revision": TAGGED,
        "asked": "v1",
        "remote_code": False,
        "sizes": {},
    }
    (copy / RECORD).write_text(json.dumps(record), encoding="utf-8")
    assert resolve_model(str(copy)).revision == TAGGED
    (copy / RECORD).write_text('{"repository": 1}', encoding="utf-8")
    refused(copy, f"{RECORD} is no record of a download; remove that file")


def test_what_the_hub_says_is_one_sentence(hub: Hub) -> None:
    response: Any = SimpleNamespace(headers={}, request=None)
    for problem, message in (
        (
            errors.RepositoryNotFoundError("404", response=response),
            "the Hub has no such model, or a private one",
        ),
        (
            errors.GatedRepoError("403", response=response),
            "its makers ask for consent; give it on its page",
        ),
        (errors.RevisionNotFoundError("404", response=response), "it has no such revision"),
        (
            errors.OfflineModeIsEnabled("offline"),
            "HF_HUB_OFFLINE is set; unset it, or fetch .* with hf download",
        ),
        (
            RuntimeError("[Errno -2] Name or service not known"),
            "Name or service not known; check the connection",
        ),
        (OSError(28, "No space left on device"), "No space left on device"),
    ):
        hub.breaks = problem
        refused("org/model", f"^org/model is neither a local folder nor in the local .*: {message}")


def test_the_id_of_a_folder_in_the_cache_of_the_hub_is_known(tmp_path: Path) -> None:
    folder = tmp_path / "models--some-org--a-model" / "snapshots" / ("0" * 40)
    folder.mkdir(parents=True)
    assert repository_of(folder) == "some-org/a-model"
    assert repository_of(tmp_path) == ""
