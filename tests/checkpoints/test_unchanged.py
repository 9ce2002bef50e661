"""Weights that are overwritten while trials wait are never counted as the old ones. Oracle: trials of each alone."""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace as other
from pathlib import Path
from typing import Any

import pytest
import transformers

import blurb
from blurb.checkpoints import Checkpoint, resolve_checkpoint, source as sources, weights
from blurb.checkpoints.source import check_unchanged
from blurb.execution import sweeps
from blurb.execution.job import Job
from blurb.execution.worker import execute_job
from blurb.learners import building
from blurb.messages.errors import ModelError
from blurb.planning import trials
from blurb.planning.options import RunOptions
from blurb.planning.request import make_request
from blurb.store.store import Store
from tests.checkpoints import FAMILIES, KINDS, State, build, reweigh
from tests.conftest import Builder
from tests.rewriting import rewrite

SMOKE: dict[str, Any] = {
    "suite": "demo",
    "protocol": "smoke",
    "tasks": "biosses",
    "device": "cpu",
    "progress": False,
}


@pytest.fixture
def moving(tmp_path: Path, checkpoint: Builder, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint to overwrite, and `other`, one of the same sizes."""
    import torch

    monkeypatch.setattr(sources, "_read_again", {})
    sources._encoders.clear()
    folder = shutil.copytree(checkpoint("bert_uncased"), tmp_path / "ck")
    torch.manual_seed(3)

    def moved(state: State) -> State:
        return {
            name: value + 0.1 * torch.randn_like(value) if value.is_floating_point() else value
            for name, value in state.items()
        }

    reweigh(folder / "model.safetensors", moved, to=tmp_path / "other.safetensors")
    return folder


def replace(folder: Path, how: str = "rename") -> None:
    """The other weights, in the place of those that are there."""
    target, other = folder / "model.safetensors", folder.parent / "other.safetensors"
    times = target.stat()
    if how == "rename":
        shutil.copy(other, folder / "new")
        (folder / "new").replace(target)
    else:
        target.write_bytes(other.read_bytes())
    if how == "same time":
        os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))


def planned(folder: Path, store: Path, seeds: int) -> Sequence[Job]:
    """The trials of a checkpoint, which nobody has run."""
    request, *_ = make_request(
        RunOptions(model=str(folder), output=store, name="a", seeds=seeds, **SMOKE)
    )
    return trials.prepare(request).final


@pytest.mark.parametrize("how", ["rename", "in place", "same time"])
def test_other_weights_are_seen(how: str, moving: Path) -> None:
    """The file has the same size each time."""
    source = building.resolve_model(str(moving))
    check_unchanged(source)
    check_unchanged(source)
    replace(moving, how)
    with pytest.raises(ModelError, match="have changed since"):
        check_unchanged(source)


def test_other_weights_are_seen_whatever_the_clock_of_the_disk_says(
    moving: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file server may be hours behind: what has just changed then looks old."""
    monkeypatch.setattr(sources, "YOUNG", -1e9)
    source = building.resolve_model(str(moving))
    check_unchanged(source)
    replace(moving)
    with pytest.raises(ModelError, match="have changed since"):
        check_unchanged(source)


def test_files_are_hashed_once_while_nothing_changes(
    moving: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = building.resolve_model(str(moving))
    monkeypatch.setattr(sources, "YOUNG", 0.0)
    check_unchanged(source)
    monkeypatch.setattr(weights, "file_hash", lambda *given: pytest.fail("hashed again"))
    check_unchanged(source)
    replace(moving)
    with pytest.raises(BaseException, match="hashed again"):
        check_unchanged(source)


@pytest.mark.costly
def test_trials_that_wait_stop_when_their_weights_are_overwritten(
    moving: Path, tmp_path: Path
) -> None:
    """The first trial is done with the old ones, the second is not run with the new ones; both models stand alone."""
    asked = {**SMOKE, "seeds": 2, "leaderboard": None}
    alone = (
        blurb.run(str(moving), output=tmp_path / "alone", name="a", **asked)
        .rows[0]
        .values("biosses")
    )
    jobs = planned(moving, tmp_path / "runs", seeds=2)
    folder = sweeps.write(tmp_path / "runs", jobs)[0]
    Store(tmp_path / "runs").claim("a")
    assert execute_job(jobs[0]).status == "done"
    replace(moving)
    outcome = execute_job(jobs[1])
    assert outcome.status == "failed"
    assert "have changed since its trials were planned" in outcome.message
    assert "Run the command again for the new ones, or put the old ones back." in outcome.message
    for job in sweeps.read(folder, ()):  # a worker that comes hours later
        assert execute_job(job).status in ("already done", "failed")
    first = Store(tmp_path / "runs").read(jobs[0].path).score("test")
    assert 100 * first == pytest.approx(alone[0], abs=1e-9)
    assert not jobs[1].path.exists()


def test_weights_that_change_while_they_are_loaded(
    moving: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, load = building.resolve_model(str(moving)), Checkpoint.load_encoder

    def slow(self: Checkpoint) -> object:
        replace(moving)
        return load(self)

    monkeypatch.setattr(Checkpoint, "load_encoder", slow)
    with pytest.raises(ModelError, match="have changed since"):
        sources.encoder_of(source)
    assert not sources._encoders


def test_a_sweep_under_another_hash_is_not_run(moving: Path, tmp_path: Path) -> None:
    """What a worker took without a look: trials of weights `fff...`."""
    (job,) = planned(moving, tmp_path / "runs", seeds=1)
    Store(tmp_path / "runs").claim("a")
    strange = other(job, trial=other(job.trial, weights="f" * 64))
    assert "The trial is of the weights ffffffffffff" in execute_job(strange).message
    both = other(strange, source=other(job.source, weights="f" * 64))
    assert "have changed since its trials were planned" in execute_job(both).message
    token = other(
        job,
        trial=other(job.trial, tokenizer="f" * 64),
        source=other(job.source, tokenizer="f" * 64),
    )
    assert "the tokenizer of a has changed" in execute_job(token).message


def test_another_configuration_or_tokenizer_is_seen(tmp_path: Path) -> None:
    folder = build("bert_uncased", tmp_path / "ck")
    source = building.resolve_model(str(folder))
    rewrite(folder / "config.json", hidden_act="relu")
    with pytest.raises(ModelError, match="the weights or the configuration"):
        check_unchanged(source)


def test_an_adapter_that_comes_into_the_folder_is_noticed(moving: Path) -> None:
    """transformers loads it, and the base model that it names, instead of the weights that are hashed."""
    source = building.resolve_model(str(moving))
    check_unchanged(source)
    (moving / "adapter_config.json").write_text(
        '{"base_model_name_or_path": "other", "peft_type": "LORA"}'
    )
    with pytest.raises(
        ModelError, match=r"adapter_config.json appeared after the trials of ck were planned"
    ):
        check_unchanged(source)


# Every file of a checkpoint is opened once. Oracle: the interpreter's own audit events.


BLURB, TRANSFORMERS = (
    str(Path(package.__file__).parent) for package in (sys.modules["blurb"], transformers)
)
BY_TRANSFORMERS = {
    "tokenizer_config.json": 3,  # for the class, for the name of the fast file, for the options
    "tokenizer.json": 2,  # for the added tokens, for the tokenizer
    "special_tokens_map.json": 1,
}
"""The exception: `AutoTokenizer` takes a folder and no content. It decides class, options and conversions in ways that
differ between versions and families, so that a tokenizer built around it would not be provably the same."""
Opens = Counter[tuple[str, str]]


class Watch:
    """Counts opened files of a folder, by who opens them; audit hooks stay until the process ends."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.opens: Opens = Counter()
        sys.addaudithook(self._heard)

    def _heard(self, event: str, arguments: tuple[object, ...]) -> None:
        # `os.open` has no mode: it is the opener of an `open` that is counted.
        if (
            event != "open"
            or self.folder is None
            or arguments[1] is None
            or isinstance(arguments[0], int)
        ):
            return
        path = Path(os.fsdecode(arguments[0]))  # type: ignore[arg-type]
        if path.resolve().parent == self.folder:
            self.opens[path.name, self._opener()] += 1

    @staticmethod
    def _opener() -> str:
        frame = sys._getframe(2)
        while frame is not None:
            for name, package in (("blurb", BLURB), ("transformers", TRANSFORMERS)):
                if frame.f_code.co_filename.startswith(package):
                    return name
            frame = frame.f_back  # type: ignore[assignment]
        return "others"


WATCH = Watch()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], Opens]]:
    """Starts to count the opened files of a folder; the files count as old, of which none is hashed again."""
    monkeypatch.setattr(sources, "YOUNG", 0.0)
    sources._encoders.clear()

    def watch(folder: Path) -> Opens:
        WATCH.folder, WATCH.opens = folder.resolve(), Counter()
        return WATCH.opens

    yield watch
    WATCH.folder = None


def expected(folder: Path) -> Opens:
    """Each JSON file once by us, and the tokenizer's by transformers as often as it likes."""
    files = {path.name for path in folder.glob("*.json")} & {"config.json", *BY_TRANSFORMERS}
    once = Counter({(name, "blurb"): 1 for name in files})
    others = Counter(
        {(name, "transformers"): count for name, count in BY_TRANSFORMERS.items() if name in files}
    )
    return once + others + Counter({("model.safetensors", "blurb"): 1})


@pytest.mark.costly
def test_a_real_encoder(minilm: Path, tmp_path: Path, opened: Callable[[Path], Opens]) -> None:
    """Resolved as for a run, and loaded as for two trials, with the looks at its weights before and after each."""
    folder = Path(shutil.copytree(minilm, tmp_path / "minilm"))
    opens = opened(folder)
    source = resolve_checkpoint(str(folder))
    for _ in range(2):
        sources.check_trial(source, source.weights, source.tokenizer)
        sources.encoder_of(source)
        assert source.checkpoint.size.layers == 6
    assert opens == expected(folder)


@pytest.mark.parametrize("kind", ["roberta", "t5", "modernbert"])
def test_other_families(
    kind: str, checkpoint: Builder, tmp_path: Path, opened: Callable[[Path], Opens]
) -> None:
    folder = Path(shutil.copytree(checkpoint(kind), tmp_path / kind))
    opens = opened(folder)
    sources.encoder_of(resolve_checkpoint(str(folder)))
    ours = {name: count for (name, who), count in opens.items() if who == "blurb"}
    assert set(ours.values()) == {1}
    assert ours.keys() >= {
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "model.safetensors",
    }
    assert ("config.json", "transformers") not in opens


def test_a_worker_reads_anew_what_another_process_resolved(
    copy: Path, opened: Callable[[Path], Opens]
) -> None:
    source = resolve_checkpoint(str(copy))
    sources._read.clear()
    opens = opened(copy)
    for _ in range(2):
        sources.check_trial(source, source.weights, source.tokenizer)
        sources.encoder_of(source)
    assert opens == expected(copy)


def test_a_reference_that_is_resolved_again_is_read_again(copy: Path) -> None:
    """A pretraining may have gone on in the folder."""
    before = resolve_checkpoint(str(copy))
    rewrite(copy / "config.json", hidden_act="relu")
    after = resolve_checkpoint(str(copy))
    assert before.weights != after.weights
    assert [source.checkpoint.config.hidden_act for source in (before, after)] == ["gelu", "relu"]


@pytest.mark.parametrize(
    "kind", [*KINDS, *(kind for kind in FAMILIES if kind != "embedding_gemma2")]
)  # of which pictures and sound are left out
def test_the_configuration_is_the_one_that_transformers_reads(
    checkpoint: Builder, kind: str
) -> None:
    folder = checkpoint(kind)
    ours, theirs = Checkpoint(folder).config, transformers.AutoConfig.from_pretrained(str(folder))
    assert type(ours) is type(theirs)
    assert ours.to_dict() == theirs.to_dict()
    assert ours.name_or_path == theirs.name_or_path
