"""`blurb models download`, with a Hub that is a folder: what is fetched, what is left on the disk, what is said.

Oracle: the same reference resolved from that Hub, as `blurb run` does with a network.
"""

from __future__ import annotations

import errno
import json
import shutil
from collections import namedtuple
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file

from blurb.api.downloading import download_models
from blurb.checkpoints.downloads import RECORD
from blurb.cli import cli
from blurb.learners.building import resolve
from blurb.messages.errors import BlurbError, ModelError, SettingsError, UnknownName

Checkpoint = Callable[[str], Path]
HEAD, TAGGED = "a" * 40, "b" * 40


class Hub:
    """Repositories that are folders, each with one commit by default and one by the tag `v1`.

    `asked` has the repositories whose files were listed; `breaks` is raised behind the first file of a download, and
    when a repository is listed that is not there.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.asked: list[str] = []
        self.breaks: Exception | None = None

    def add(self, repository: str, checkpoint: Path) -> Path:
        folder = Path(shutil.copytree(checkpoint, self.root / repository))
        (folder / "onnx").mkdir()
        (folder / "onnx" / "model.onnx").write_bytes(b"x" * 1000)
        (folder / "tf_model.h5").write_bytes(b"x" * 1000)
        (folder / "modeling.py").write_text("pass\n", encoding="utf-8")
        (folder / "pytorch_model.bin").write_bytes(b"x" * 1000)
        return folder

    def _files(self, repository: str, patterns: Sequence[str] = ("*",)) -> dict[str, Path]:
        folder = self.root / repository
        paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
        return {name: path for name, path in paths.items() if any(fnmatch(name, one) for one in patterns)}

    def model_info(self, repository: str, revision: str | None = None, files_metadata: bool = False) -> Any:
        self.asked.append(repository)
        assert files_metadata
        if self.breaks and not (self.root / repository).is_dir():
            raise self.breaks
        files = self._files(repository).items()
        siblings = [SimpleNamespace(rfilename=name, size=path.stat().st_size) for name, path in files]
        return SimpleNamespace(sha=TAGGED if revision in ("v1", TAGGED) else HEAD, siblings=siblings)

    def snapshot_download(
        self, repository: str, revision: str | None, allow_patterns: list[str], local_dir: Path | None
    ) -> str:
        if local_dir is None:
            local_dir = self.root / "cache" / repository / (TAGGED if revision in ("v1", TAGGED) else HEAD)
        for name, path in self._files(repository, allow_patterns).items():
            (local_dir / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, local_dir / name)
            (local_dir / ".cache" / "huggingface").mkdir(parents=True, exist_ok=True)
            if self.breaks:
                raise self.breaks
        return str(local_dir)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    found = Hub(tmp_path / "hub")
    monkeypatch.setattr("huggingface_hub.HfApi", lambda: found)
    monkeypatch.setattr("huggingface_hub.snapshot_download", found.snapshot_download)
    return found


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_downloaded_folder_is_the_model_as_from_the_hub(
    hub: Hub, checkpoint: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add("org/model", checkpoint("bert_uncased"))
    online = resolve("org/model@v1")
    told: list[str] = []
    (one,) = download_models(["org/model@v1"], tmp_path / "deep" / "kept", tell=told.append)
    folder = tmp_path / "deep" / "kept" / "model"
    assert (one.run, one.repository, one.revision, one.status) == (str(folder), "org/model", TAGGED, "downloaded")
    fetched = names(folder) - {RECORD}
    assert fetched == names(checkpoint("bert_uncased"))  # no other weights, no code, no notes of huggingface_hub
    assert one.size == sum((folder / name).stat().st_size for name in fetched)
    assert TAGGED in told[-1]
    for name in ("HfApi", "snapshot_download"):
        monkeypatch.setattr(f"huggingface_hub.{name}", None)  # as on a machine without network
    offline = resolve(str(folder))
    assert (offline.name, offline.revision) == (online.name, online.revision) == ("model", TAGGED)
    assert (offline.weights, offline.tokenizer) == (online.weights, online.tokenizer)


def test_a_checkpoint_with_pickled_weights_alone(hub: Hub, checkpoint: Checkpoint, tmp_path: Path) -> None:
    source = hub.add("org/old", checkpoint("bert_uncased"))
    torch.save(load_file(source / "model.safetensors"), source / "pytorch_model.bin")
    (source / "model.safetensors").unlink()
    (one,) = download_models(["org/old"], tmp_path)
    assert "pytorch_model.bin" in names(tmp_path / "old")
    assert resolve(one.run).weights == resolve("org/old").weights


def test_what_presets_state_holds_for_their_folder(hub: Hub, checkpoint: Checkpoint, tmp_path: Path) -> None:
    """A cased vocabulary whose files would lower-case it, as BioBERT's."""
    source = hub.add("dmis-lab/biobert-base-cased-v1.1", checkpoint("bert_cased"))
    config = json.loads((source / "tokenizer_config.json").read_text(encoding="utf-8"))
    del config["do_lower_case"]
    (source / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    (one,) = download_models(["biobert"], tmp_path)
    assert one.run == str(tmp_path / "biobert")
    assert (
        resolve(one.run).tokenizer == resolve("biobert").tokenizer == resolve(str(checkpoint("bert_cased"))).tokenizer
    )


def test_code_is_fetched_if_it_is_asked_for(hub: Hub, checkpoint: Checkpoint, tmp_path: Path) -> None:
    hub.add("org/model", checkpoint("bert_uncased"))
    download_models(["org/model"], tmp_path)
    with pytest.raises(ModelError, match="was downloaded without the checkpoint's own code; remove it and run"):
        download_models(["org/model"], tmp_path, remote_code=True)
    shutil.rmtree(tmp_path / "model")
    download_models(["org/model"], tmp_path, remote_code=True)
    assert "modeling.py" in names(tmp_path / "model")
    assert [one.status for one in download_models(["org/model"], tmp_path)] == ["there already"]


def test_a_second_run_asks_the_hub_for_nothing(hub: Hub, checkpoint: Checkpoint, tmp_path: Path) -> None:
    hub.add("org/model", checkpoint("bert_uncased"))
    hub.add("org/other", checkpoint("roberta"))
    (first,) = download_models(["org/model@v1"], tmp_path)
    hub.asked.clear()
    for reference in ("org/model", "org/model@v1", f"org/model@{TAGGED}"):
        (again,) = download_models([reference], tmp_path)
        assert (again.status, again.revision, again.size) == ("there already", first.revision, first.size)
    assert hub.asked == []
    assert [one.status for one in download_models(["org/model", "org/other"], tmp_path)] == [
        "there already",
        "downloaded",
    ]
    assert hub.asked == ["org/other"]


def test_what_is_in_the_place_of_a_model_is_told(hub: Hub, checkpoint: Checkpoint, tmp_path: Path) -> None:
    for repository in ("org/model", "our/model"):
        hub.add(repository, checkpoint("bert_uncased"))
    with pytest.raises(SettingsError, match=r"org/model and our/model would both be .*model; download them to two"):
        download_models(["org/model", "our/model"], tmp_path)
    assert not (tmp_path / "model").exists()
    download_models(["org/model"], tmp_path)
    with pytest.raises(ModelError, match="exists and is not a download of our/model; name another folder"):
        download_models(["our/model"], tmp_path)
    with pytest.raises(ModelError, match=f"has revision {HEAD} of org/model, not v1; name another folder"):
        download_models(["org/model@v1"], tmp_path)
    with (tmp_path / "model" / "model.safetensors").open("ab") as file:
        file.write(b"x")
    (tmp_path / "model" / "config.json").unlink()
    with pytest.raises(
        ModelError, match=r"has changed since it was downloaded \(config.json, model.safetensors\); remove it"
    ):
        download_models(["org/model"], tmp_path)
    (tmp_path / "model" / RECORD).write_text('{"repository": 1}', encoding="utf-8")
    with pytest.raises(ModelError, match=f"{RECORD} is not as blurb models download writes it; remove that file"):
        resolve(str(tmp_path / "model"))


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "Downloading org/model failed: No space left on device"),
        (RuntimeError("connection lost"), "Downloading org/model failed: connection lost; check the connection"),
        (KeyboardInterrupt(), None),
    ],
)
def test_nothing_half_is_left(
    hub: Hub, checkpoint: Checkpoint, tmp_path: Path, problem: Exception, message: str | None
) -> None:
    hub.add("org/model", checkpoint("bert_uncased"))
    hub.breaks = problem
    with pytest.raises(ModelError if message else KeyboardInterrupt, match=message):
        download_models(["org/model"], tmp_path / "kept")
    assert list((tmp_path / "kept").iterdir()) == []
    hub.breaks = None
    assert download_models(["org/model"], tmp_path / "kept")[0].status == "downloaded"


def test_what_is_no_checkpoint_is_not_kept(hub: Hub, checkpoint: Checkpoint, tmp_path: Path) -> None:
    source = hub.add("org/flax", checkpoint("bert_uncased"))
    for name in ("model.safetensors", "pytorch_model.bin"):
        (source / name).unlink()
    with pytest.raises(ModelError, match=r"^org/flax: no weights; expected model\.safetensors"):
        download_models(["org/flax"], tmp_path / "kept")
    assert list((tmp_path / "kept").iterdir()) == []


def test_nothing_is_fetched_before_all_is_known_and_there_is_room(
    hub: Hub, checkpoint: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add("org/model", checkpoint("bert_uncased"))
    to = tmp_path / "kept"
    with pytest.raises(ModelError, match=r"no model called 'pubmedbrt'\. Write ORG/NAME"):
        download_models(["org/model", "pubmedbrt"], to)
    with pytest.raises(UnknownName, match=r"no model called 'baseline:majorty'\. Did you mean 'baseline:majority'"):
        download_models(["org/model", "baseline:majorty"], to)
    with pytest.raises(SettingsError, match=r"--to: cannot write to .*hub/org/model/config.json: Not a directory"):
        download_models(["org/model"], tmp_path / "hub" / "org" / "model" / "config.json")
    assert hub.asked == []
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage(10**9, 10**9 - 1000, 1000))
    with pytest.raises(SettingsError, match=r"--to: the models need 0.\d MB, but .*kept has 0.0 MB free; nothing was"):
        download_models(["org/model"], to)
    assert not to.exists()


def test_what_the_hub_says_is_one_sentence(hub: Hub, tmp_path: Path) -> None:
    from huggingface_hub import errors

    response: Any = SimpleNamespace(headers={}, request=None)
    for problem, message in (
        (errors.RepositoryNotFoundError("404", response=response), "the Hub has no such model, or a private one"),
        (errors.GatedRepoError("403", response=response), "its makers ask for consent; give it on its page"),
        (errors.RevisionNotFoundError("404", response=response), "it has no such revision"),
        (errors.OfflineModeIsEnabled("offline"), "HF_HUB_OFFLINE is set; unset it"),
        (RuntimeError("[Errno -2] Name or service not known"), "Name or service not known; check the connection"),
    ):
        hub.breaks = problem
        with pytest.raises(BlurbError, match=f"^The Hub does not list the files of org/model: .*{message}"):
            download_models(["org/model"], tmp_path)


def test_models_of_ones_own_have_nothing_to_fetch(hub: Hub, checkpoint: Checkpoint, tmp_path: Path) -> None:
    references = ["baseline:majority", "scratch:tiny", str(checkpoint("roberta"))]
    done = download_models([*references, references[0]], tmp_path / "kept")
    assert [(one.model, one.run, one.status) for one in done] == [
        (reference, reference, "nothing to fetch") for reference in references
    ]
    assert hub.asked == []
    assert not (tmp_path / "kept").exists()


def test_the_command_says_what_it_fetches(hub: Hub, checkpoint: Checkpoint, tmp_path: Path) -> None:
    hub.add("org/model", checkpoint("bert_uncased"))
    typed = ["models", "download", "org/model", "baseline:majority", "--to", str(tmp_path / "kept")]
    done = CliRunner().invoke(cli, typed)
    assert done.exit_code == 0, done.output
    assert done.stderr.splitlines()[0].endswith(f"MB to download to {tmp_path / 'kept'}")
    assert HEAD in done.stderr
    assert "downloaded" in done.stdout
    again = json.loads(CliRunner().invoke(cli, [*typed, "--format", "json"]).stdout)
    assert [(one["model"], one["revision"], one["status"]) for one in again] == [
        ("org/model", HEAD, "there already"),
        ("baseline:majority", "", "nothing to fetch"),
    ]
    assert again[0]["size"] > 1000
