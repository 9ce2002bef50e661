"""A cased checkpoint whose files lost `do_lower_case`: refused until somebody says what is meant, or a preset knows.

Oracle: the same checkpoint with its files as they should be, whose tokenizer hash the override must give.
"""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from blurb import tasks
from blurb.checkpoints import ModelSource, source as sources
from blurb.checkpoints.lengths import reader
from blurb.cli import cli
from blurb.formulations import bind
from blurb.learners.building import resolve_model
from blurb.learners.finetuning.network import EncoderLearner
from blurb.messages.errors import ModelError
from tests import checkpoints
from tests.conftest import Builder
from tests.rewriting import edit

REFUSED = r"spoilt: the tokenizer lower-cases all text, but \d+ of the \d+ entries .* --casing cased to keep upper case"


@pytest.fixture
def healthy(checkpoint: Builder) -> ModelSource:
    return resolve_model(str(checkpoint("bert_cased")))


@pytest.fixture(params=["tokenizer.json", "vocab.txt"])
def spoilt(checkpoint: Builder, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A cased checkpoint whose files lower-case, or that has, as BioBERT, a vocabulary and nothing else."""
    folder = Path(shutil.copytree(checkpoint("bert_cased"), tmp_path / "spoilt"))
    edit(folder / "tokenizer_config.json", lambda content: content.pop("do_lower_case"))
    file = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    file["normalizer"]["lowercase"] = True
    (folder / "tokenizer.json").write_text(json.dumps(file), encoding="utf-8")
    if request.param == "vocab.txt":
        (folder / "tokenizer_config.json").unlink()
        vocabulary = file["model"]["vocab"]
        (folder / "tokenizer.json").unlink()
        (folder / "vocab.txt").write_text(
            "\n".join(sorted(vocabulary, key=vocabulary.__getitem__)) + "\n", "utf-8"
        )
    return folder


def test_it_is_refused_until_somebody_says_what_is_meant(spoilt: Path) -> None:
    with pytest.raises(ModelError, match=REFUSED):
        resolve_model(str(spoilt))


def test_cased_gives_the_tokenizer_that_was_meant(spoilt: Path, healthy: ModelSource) -> None:
    source = resolve_model(str(spoilt), casing="cased")
    assert (source.tokenizer, source.weights, source.casing) == (
        healthy.tokenizer,
        healthy.weights,
        "cased",
    )
    subtokens = source.checkpoint.tokenizer.inner.tokenize("Kalo KALO")
    assert subtokens != source.checkpoint.tokenizer.inner.tokenize("kalo kalo")


def test_uncased_leaves_it_as_its_files_say(spoilt: Path, healthy: ModelSource) -> None:
    source = resolve_model(str(spoilt), casing="uncased")
    assert source.tokenizer != healthy.tokenizer
    assert source.checkpoint.tokenizer.lower_cases


@pytest.mark.parametrize("casing", ["cased", "uncased"])
def test_wherever_the_tokenizer_is_loaded_again_it_is_the_same(spoilt: Path, casing: str) -> None:
    source = resolve_model(str(spoilt), casing=casing)
    sources._read.clear()
    sent = pickle.loads(pickle.dumps(source))  # as to a worker process
    learner = EncoderLearner(sent, bind(tasks.get("gad")), "cpu", "fp32")
    assert learner.tokenizer.hash == source.tokenizer
    read = reader(sent)(tasks.get("biosses"), [{"text_a": "Kalo", "text_b": "KALO", "score": 1.0}])
    a, b = (source.checkpoint.tokenizer.subtokens([text])[0].ids for text in ("Kalo", "KALO"))
    assert len(read.whole.ids[0]) == 3 + len(a) + len(b)
    assert (a == b) == (casing == "uncased")


@pytest.mark.parametrize("kind", checkpoints.KINDS)
def test_a_healthy_checkpoint_needs_no_word_and_keeps_its_hash(
    checkpoint: Builder, kind: str
) -> None:
    folder = str(checkpoint(kind))
    source = resolve_model(folder)
    lower = kind == "bert_uncased"
    assert (
        resolve_model(folder, casing="uncased" if lower else "cased").tokenizer == source.tokenizer
    )
    with pytest.raises(
        ModelError,
        match="--casing cased is not possible" if lower else "--casing uncased is not possible",
    ):
        resolve_model(folder, casing="cased" if lower else "uncased")


@pytest.mark.parametrize(
    "reference",
    [
        "biobert",
        "biobert-v1.2",
        "clinicalbert",
        "dmis-lab/biobert-base-cased-v1.1",
        "dmis-lab/biobert-base-cased-v1.2",
        "dmis-lab/biobert-base-cased-v1.2@main",
        "emilyalsentzer/Bio_ClinicalBERT",
        "emilyalsentzer/bio_clinicalbert",
    ],
)
def test_presets_know_it_by_short_name_and_by_id(
    spoilt: Path, healthy: ModelSource, reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(spoilt))
    assert resolve_model(reference).tokenizer == healthy.tokenizer
    assert resolve_model(reference, casing="uncased").tokenizer != healthy.tokenizer


def test_other_checkpoints_of_the_hub_are_refused(
    spoilt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(spoilt))
    with pytest.raises(ModelError, match=REFUSED):
        resolve_model("some-org/cased-model")


def _command(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.mark.parametrize("command", [["run"], ["ablate", "--axis", "tagging"]])
def test_the_commands_that_train_take_the_word(
    spoilt: Path, command: list[str], tmp_path: Path
) -> None:
    plan = [
        *command,
        str(spoilt),
        "--suite",
        "demo",
        "--protocol",
        "smoke",
        "--tasks",
        "bc2gm",
        "--dry-run",
    ]
    plan += ["--output", str(tmp_path / "runs")]
    assert isinstance(_command(*plan).exception, ModelError)
    done = _command(*plan, "--casing", "cased")
    assert done.exit_code == 0, done.output


@pytest.mark.extensions
@pytest.mark.parametrize("command", ["stats", "audit"])
def test_the_commands_that_look_take_the_word(spoilt: Path, command: str) -> None:
    from blurb.corpora import demo

    look = [
        "data",
        command,
        "--data",
        str(demo.prepare()),
        "--tasks",
        "biosses",
        "--model",
        str(spoilt),
    ]
    assert isinstance(_command(*look).exception, ModelError)
    done = _command(*look, "--casing", "uncased")
    assert done.exit_code == 0, done.output
