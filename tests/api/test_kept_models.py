"""`keep_model="best"`: what is kept predicts what the trial stored, and is refused where it could not."""

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from click.testing import CliRunner
from safetensors import safe_open
from transformers import AutoConfig, AutoModel, AutoModelForTokenClassification, AutoTokenizer

import blurb
from blurb.checkpoints import staged_checkpoint
from blurb.cli import cli
from blurb.execution import worker
from blurb.learners import saved_models
from blurb.learners.building import resolve_model
from blurb.learners.finetuning import saved_models as finetuned
from blurb.messages.errors import BlurbError, DataError, ModelError, SettingsError
from blurb.store.record import read_predictions, write_predictions
from blurb.store.store import Store
from tests.checkpoints import KINDS
from tests.conftest import Builder
from tests.kept_models import FEW, fine_tuned, predicted, stored

TYPES = ("ncbi-disease", "ebm-pico", "chemprot", "biosses", "hoc", "pubmedqa")


@pytest.fixture(scope="module")
def played(checkpoint: Builder, tmp_path_factory: pytest.TempPathFactory) -> blurb.Results:
    """A trial of every task type, with its model."""
    return fine_tuned(checkpoint("bert_uncased"), ",".join(TYPES), tmp_path_factory.mktemp("kept"))


@pytest.mark.costly
@pytest.mark.parametrize("task", TYPES)
def test_the_kept_model_predicts_what_the_trial_stored(
    played: blurb.Results, task: str, tmp_path: Path
) -> None:
    trial = played.trial("m", task)
    assert predicted(blurb.load_model(trial)) == stored(trial)
    moved = shutil.copytree(trial / "model", tmp_path / "elsewhere")
    assert predicted(blurb.load_model(moved)) == stored(trial)
    assert not [
        path for path in moved.rglob("*") if path.suffix in (".bin", ".pt", ".pkl", ".pickle")
    ]


FAST = ("roberta", "modernbert")


@pytest.mark.costly
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind in FAST else pytest.mark.slow) for kind in KINDS]
)
def test_taggers_of_every_architecture(kind: str, checkpoint: Builder, tmp_path: Path) -> None:
    """Kept as AutoModelForTokenClassification, transformers gives our scores; else our own format does."""
    trial = fine_tuned(checkpoint(kind), "ncbi-disease", tmp_path).trial("m", "ncbi-disease")
    model = blurb.load_model(trial)
    assert predicted(model) == stored(trial)
    assert model.about["format"] == (finetuned.PLAIN if kind == "modernbert" else finetuned.TAGGER)
    if model.about["format"] == finetuned.PLAIN:
        return
    tagger = AutoModelForTokenClassification.from_pretrained(trial / "model").eval()
    tokenizer = AutoTokenizer.from_pretrained(trial / "model")
    assert list(tagger.config.id2label.values()) == list(model._learner.formulation.labels)
    network = model._learner.trainer.network.eval()
    ids = torch.tensor([tokenizer("a cat of cystic fibrosis")["input_ids"]])
    with torch.no_grad():
        ours = network.head(network.encoder(input_ids=ids).last_hidden_state)
        assert torch.allclose(tagger(ids).logits, ours, atol=1e-5)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("task", "settings"),
    [
        ("ncbi-disease", {"head": "bilstm-crf,hidden=16", "tagging": "bioul"}),
        ("ncbi-disease", {"head": "crf", "word_pooling": "mean"}),
        ("chemprot", {"relation_input": "markers", "pooling": "mention"}),
        ("gad", {"head": "bilstm,hidden=16"}),
        ("hoc", {"document_unit": "abstract", "head_init": "linear"}),
        ("biosses", {"reinit_layers": 1, "layer_decay": 0.9, "weight_decay": 0.01}),
    ],
)
def test_heads_and_inputs(
    task: str, settings: dict[str, Any], checkpoint: Builder, tmp_path: Path
) -> None:
    trial = fine_tuned(checkpoint("bert_uncased"), task, tmp_path, **settings).trial("m", task)
    assert predicted(blurb.load_model(trial)) == stored(trial)


def test_rows_of_the_embedding_that_training_left_out_are_there(
    played: blurb.Results, checkpoint: Builder
) -> None:
    """Training changes the rows of the words it saw; the others are those of the checkpoint."""
    before = AutoModel.from_pretrained(checkpoint("bert_uncased")).get_input_embeddings().weight
    after = (
        AutoModel.from_pretrained(played.trial("m", "ncbi-disease") / "model")
        .get_input_embeddings()
        .weight
    )
    changed = (before != after).any(1)
    assert before.shape == after.shape
    assert 0 < int(changed.sum()) < len(before)


@pytest.mark.costly
def test_raw_text(played: blurb.Results, tmp_path: Path) -> None:
    text = "Naïve α-patients   had cystic fibrosis, too."
    (found,) = blurb.predict(played.trial("m", "ncbi-disease"), text)
    assert found["spans"]
    for span in found["spans"]:
        assert span["text"] == text[span["start"] : span["end"]]
        assert 0 < span["score"] <= 1
    model = blurb.load_model(played.trial("m", "chemprot"))
    (relation,) = model.predict(
        [
            {
                "text": "aspirin inhibits COX-1",
                "head": {"start": 0, "end": 7, "type": "CHEMICAL"},
                "tail": {"start": 17, "end": 22, "type": "GENE"},
            }
        ]
    )
    assert list(relation["scores"]) == list(model.task.labels)
    assert sum(relation["scores"].values()) == pytest.approx(1)
    assert relation["prediction"] == max(relation["scores"], key=relation["scores"].__getitem__)
    (similar,) = blurb.predict(played.trial("m", "biosses"), "one text\tanother text")
    assert isinstance(similar["prediction"], float)
    assert blurb.load_model(played.trial("m", "hoc")).predict([]) == []


@pytest.mark.parametrize(
    ("task", "given", "told"),
    [
        ("ncbi-disease", "  ", "input 1: the text is empty"),
        ("ncbi-disease", {"tokens": ["a", ""]}, "list of words"),
        ("ncbi-disease", {"words": ["a"]}, "'tokens' is missing"),
        ("biosses", "one text alone", "separated by a tab"),
        ("chemprot", "text alone", "JSON with text, head"),
        (
            "chemprot",
            {
                "text": "ab",
                "head": {"start": 0, "end": 1, "type": "x"},
                "tail": {"start": 1, "end": 9},
            },
            "'tail' must be an object with",
        ),
        (
            "chemprot",
            {"text": "ab", "head": {"start": 0, "end": 3, "type": "x"}},
            "text has 2 code points",
        ),
        ("pubmedqa", {"question": "why?", "context": 3}, "'context' must be text"),
    ],
)
def test_inputs_that_lack_something(
    played: blurb.Results, task: str, given: Any, told: str
) -> None:
    with pytest.raises(DataError, match=told):
        blurb.predict(played.trial("m", task), [given])


@pytest.mark.costly
def test_the_command(played: blurb.Results, tmp_path: Path) -> None:
    trial = played.trial("m", "ncbi-disease")
    asked = CliRunner().invoke(
        cli, ["predict", str(trial), "--text", "cystic fibrosis"], catch_exceptions=False
    )
    exact, shown = blurb.predict(trial, "cystic fibrosis")[0], json.loads(asked.stdout)
    assert shown == {
        **exact,
        "spans": [{**span, "score": round(span["score"], 4)} for span in exact["spans"]],
    }
    assert asked.stderr == "The model was trained under smoke: smoke test: scores mean nothing.\n"
    texts = CliRunner().invoke(
        cli, ["predict", str(played.trial("m", "hoc")), "--text", "a", "--text", "b"]
    )
    scores = [
        score for line in texts.stdout.splitlines() for score in json.loads(line)["scores"].values()
    ]
    assert scores
    assert all(score == round(score, 4) for score in scores)
    assert texts.stderr.count("scores mean nothing") == 1
    (tmp_path / "texts.jsonl").write_text(
        '{"id": "x", "tokens": ["cystic", "fibrosis"]}\n', encoding="utf-8"
    )
    (tmp_path / "texts.txt").write_text("a text\n\nanother text\n", encoding="utf-8")
    row = ["predict", f"{played.path}:m", "--task", "ncbi-disease"]
    assert (
        CliRunner()
        .invoke(cli, [*row, str(tmp_path / "texts.txt")], catch_exceptions=False)
        .stdout.count("\n")
        == 2
    )
    out = tmp_path / "out.jsonl"
    CliRunner().invoke(
        cli, [*row, str(tmp_path / "texts.jsonl"), "--out", str(out)], catch_exceptions=False
    )
    assert json.loads(out.read_text())["id"] == "x"
    (tmp_path / "bad.jsonl").write_text('{"tokens": ["a"]}\n{"tokens": []}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"bad\.jsonl:2: 'tokens' must be"):
        CliRunner().invoke(cli, [*row, str(tmp_path / "bad.jsonl")], catch_exceptions=False)
    with pytest.raises(SettingsError, match="either FILE"):
        CliRunner().invoke(cli, row, catch_exceptions=False)


def test_a_model_that_is_damaged_or_missing(played: blurb.Results, tmp_path: Path) -> None:
    folder = shutil.copytree(played.trial("m", "biosses") / "model", tmp_path / "model")
    with (folder / "head.safetensors").open("r+b") as file:
        file.seek(-4, 2)
        file.write(b"\xff\xff\xff\xff")
    with pytest.raises(ModelError, match=r"head\.safetensors missing or damaged"):
        blurb.load_model(folder)
    (folder / "SEAL.json").unlink()
    with pytest.raises(ModelError, match=r"SEAL\.json missing"):
        blurb.load_model(folder)
    with pytest.raises(ModelError, match="keep_model="):
        blurb.load_model(tmp_path)


@pytest.fixture(scope="module")
def bare(checkpoint: Builder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished trial of a run that kept no model."""
    folder = tmp_path_factory.mktemp("bare") / "runs"
    kept_none = fine_tuned(checkpoint("bert_uncased"), "biosses", folder, keep_model="none")
    return kept_none.trial("m", "biosses")


@pytest.fixture
def trial(bare: Path, tmp_path: Path) -> Path:
    """This trial in a store of the test's own."""
    store = bare.parents[2]
    return shutil.copytree(store, tmp_path / "runs") / bare.relative_to(store)


@pytest.mark.costly
def test_a_finished_trial_gets_its_model_later(
    trial: Path, checkpoint: Builder, tmp_path: Path
) -> None:
    folder = checkpoint("bert_uncased")
    assert not (trial / "model").exists()
    before = {path.name: path.read_bytes() for path in trial.iterdir()}
    fine_tuned(folder, "biosses", tmp_path / "runs")
    assert {path.name: path.read_bytes() for path in trial.iterdir() if path.is_file()} == before
    assert predicted(blurb.load_model(trial)) == stored(trial)
    made = (trial / "model" / "SEAL.json").stat().st_mtime_ns
    fine_tuned(folder, "biosses", tmp_path / "runs")
    assert (trial / "model" / "SEAL.json").stat().st_mtime_ns == made


@pytest.mark.costly
def test_in_another_environment_a_finished_trial_keeps_its_word(
    trial: Path, checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkpoint("bert_uncased")
    before = (trial / "DONE.json").read_bytes()
    real = worker.describe_environment
    monkeypatch.setattr(
        worker, "describe_environment", lambda device: {**real(device), "torch": "1.0"}
    )
    options = {**FEW, "output": tmp_path / "runs", "name": "m"}
    (failed,) = blurb.run(folder, "biosses", **options, keep_model="best").failed
    assert "torch" in failed.message
    assert 'keep_model="replace"' in failed.message
    assert (trial / "DONE.json").read_bytes() == before
    assert not (trial / "model").exists()
    assert not blurb.run(folder, "biosses", **options, keep_model="replace").failed
    assert saved_models.is_kept(trial)


@pytest.mark.costly
def test_other_predictions_do_not_replace_the_stored_ones(
    trial: Path, checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkpoint("bert_uncased")
    columns = read_predictions(trial / "predictions.parquet")
    write_predictions(
        trial / "predictions.parquet", {**columns, "prediction": [0.5] * len(columns["id"])}
    )
    Store(tmp_path / "runs").seal(trial)
    options = {**FEW, "output": tmp_path / "runs", "name": "m"}
    (failed,) = blurb.run(folder, "biosses", **options, keep_model="best").failed
    assert "other predictions" in failed.message
    assert stored(trial)[0][1] == 0.5
    assert not blurb.run(folder, "biosses", **options, keep_model="replace").failed
    assert stored(trial)[0][1] != 0.5
    assert predicted(blurb.load_model(trial)) == stored(trial)


def test_what_trains_no_encoder_keeps_none(checkpoint: Builder, tmp_path: Path) -> None:
    with pytest.raises(BlurbError, match="has no effect on a baseline"):
        fine_tuned("baseline:majority", "biosses", tmp_path / "runs")
    with pytest.raises(BlurbError, match="probe"):
        fine_tuned(checkpoint("bert_uncased"), "biosses", tmp_path / "runs", protocol="probe")


# Models that the caller has loaded, and tokenizers from elsewhere.


BRIEFLY = {
    "suite": "demo",
    "protocol": "smoke",
    "tasks": "biosses",
    "leaderboard": None,
    "progress": False,
    "device": "cpu",
}


def loaded(folder: Path, kind: str = "AutoModel", **options: Any) -> tuple[Any, Any]:
    model = getattr(transformers, kind).from_pretrained(folder, **options)
    return model, transformers.AutoTokenizer.from_pretrained(folder)


@pytest.mark.costly
def test_a_loaded_model_scores_what_its_folder_does(checkpoint: Builder, tmp_path: Path) -> None:
    folder = checkpoint("bert_uncased")
    model, tokenizer = loaded(folder)
    model.train()
    before = (
        copy.deepcopy(model.state_dict()),
        copy.deepcopy(model.config.to_dict()),
        model.training,
    )
    ours = blurb.run(model, tokenizer=tokenizer, name="mine", output=tmp_path / "a", **BRIEFLY)
    theirs = blurb.run(folder, name="mine", output=tmp_path / "b", **BRIEFLY)
    assert ours.rows[0].values("biosses") == theirs.rows[0].values("biosses")
    assert not ours.failed
    (record,) = ours.rows[0].records_of("biosses").values()
    assert record.provenance.revision == "in memory"
    after = model.state_dict(), model.config.to_dict(), model.training
    assert after[1:] == before[1:]
    assert all((after[0][name] == value).all() for name, value in before[0].items())


def test_a_loaded_model_is_saved_once(checkpoint: Builder) -> None:
    model, tokenizer = loaded(checkpoint("bert_uncased"))
    first = staged_checkpoint.of_loaded(model, tokenizer)
    made = (first / "model.safetensors").stat().st_mtime_ns
    assert staged_checkpoint.of_loaded(model, tokenizer) == first
    assert (first / "model.safetensors").stat().st_mtime_ns == made
    assert not [path for path in first.parent.iterdir() if path.name.startswith(".")]
    with_head, _ = loaded(checkpoint("bert_uncased"), "AutoModelForSequenceClassification")
    with_head.base_model.load_state_dict(model.state_dict(), strict=False)
    assert (staged_checkpoint.of_loaded(with_head, tokenizer) / "config.json").is_file()


def test_half_precision_stays_what_it_is(checkpoint: Builder) -> None:
    model, tokenizer = loaded(checkpoint("bert_uncased"), dtype=torch.bfloat16)
    folder = staged_checkpoint.of_loaded(model, tokenizer)
    with safe_open(folder / "model.safetensors", "pt") as file:
        names = file.keys()
        assert {file.get_tensor(name).dtype for name in names} == {torch.bfloat16}


def test_models_that_cannot_be_used_are_named(checkpoint: Builder, tmp_path: Path) -> None:
    folder = checkpoint("bert_uncased")
    model, tokenizer = loaded(folder)
    with pytest.raises(ModelError, match="tokenizer="):
        blurb.run(model, output=tmp_path / "runs", **BRIEFLY)
    with pytest.raises(ModelError, match="got Linear"):
        blurb.run(torch.nn.Linear(2, 2), tokenizer=tokenizer, output=tmp_path / "runs", **BRIEFLY)
    with torch.device("meta"):
        empty = AutoModel.from_config(AutoConfig.from_pretrained(folder))
    with pytest.raises(ModelError, match="meta"):
        blurb.run(empty, tokenizer=tokenizer, output=tmp_path / "runs", **BRIEFLY)
    model.config.quantization_config = {"load_in_8bit": True}
    with pytest.raises(ModelError, match="quantised"):
        blurb.run(model, tokenizer=tokenizer, output=tmp_path / "runs", **BRIEFLY)
    del model.config.quantization_config
    tokenizer.add_tokens([f"[more{number}]" for number in range(9)])
    with pytest.raises(ModelError, match="tokenizer has"):
        blurb.run(model, tokenizer=tokenizer, output=tmp_path / "runs", **BRIEFLY)
    assert not (tmp_path / "runs").exists()


def test_the_tokenizer_of_another_folder(checkpoint: Builder, tmp_path: Path) -> None:
    """A checkpoint without its tokenizer, given that of its twin, is the twin."""
    twin = checkpoint("bert_uncased")
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", "model.safetensors"):
        (bare / name).write_bytes((twin / name).read_bytes())
    with pytest.raises(ModelError, match="--tokenizer"):
        resolve_model(str(bare))
    ours, theirs = resolve_model(str(bare), tokenizer=str(twin)), resolve_model(str(twin))
    assert (ours.weights, ours.tokenizer, ours.name) == (theirs.weights, theirs.tokenizer, "bare")
    with pytest.raises(ModelError, match="does not exist"):
        resolve_model(str(bare), tokenizer=str(tmp_path / "nowhere"))
    with pytest.raises(SettingsError, match="tokenizer="):
        blurb.run("baseline:majority", tokenizer=str(twin), output=tmp_path / "runs", **BRIEFLY)
