"""Every file of a checkpoint is opened once. Oracle: the interpreter's own audit events.

Not seen by audit events, as they happen in Rust: safetensors map a file of weights three times, for the check of its
header, for the names and sizes that transformers compares with the configuration, and for the weights themselves.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import transformers

from blurb.checkpoints import Checkpoint, resolve_checkpoint, source as sources
from tests import checkpoints
from tests.conftest import Builder
from tests.rewriting import rewrite

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
    weights = Counter({("model.safetensors", "blurb"): 1})  # for its hash
    return once + others + weights


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
    "kind",
    [*checkpoints.KINDS, *(kind for kind in checkpoints.FAMILIES if kind != "embedding_gemma2")],
)  # of which pictures and sound are left out
def test_the_configuration_is_the_one_that_transformers_reads(
    checkpoint: Builder, kind: str
) -> None:
    from transformers import AutoConfig

    folder = checkpoint(kind)
    ours, theirs = Checkpoint(folder).config, AutoConfig.from_pretrained(str(folder))
    assert type(ours) is type(theirs)
    assert ours.to_dict() == theirs.to_dict()
    assert ours.name_or_path == theirs.name_or_path
