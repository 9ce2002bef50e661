"""Decoders and adapters: attention by behaviour, what learns and what does not, PEFT's own format as the oracle."""

import json
import math
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
from transformers import AutoModel, AutoModelForCausalLM, MambaConfig, MambaModel

from blurb import tasks
from blurb.checkpoints import Checkpoint
from blurb.formulations import bind
from blurb.learners import building, saved_models as kept
from blurb.learners.base import Subset
from blurb.learners.building import resolve_model
from blurb.learners.finetuning import saved_models
from blurb.learners.finetuning.network import EncoderLearner, check
from blurb.messages.errors import SettingsError
from blurb.protocols.settings import Settings
from blurb.results import from_store
from blurb.store.store import Store
from blurb.training.resuming import learning_parameters, weights_of
from tests.checkpoints import DECODERS, refused, reweigh
from tests.cli.in_process import done
from tests.conftest import ROOT, Builder
from tests.learners.test_encoder import ROWS

LORA = {"adapter": "lora", "lora_rank": 4, "lora_alpha": 8.0, "lora_dropout": 0.0}


def _learner(folder: Path, task: str, precision: str = "fp32", **values: Any) -> EncoderLearner:
    usual = {
        "max_length": 48,
        "epochs": 2,
        "batch_size": 6,
        "lr": 1e-2,
        "warmup": 0.0,
        "pooling": "mean",
    }
    formulation = bind(tasks.get(task), Settings(**{**usual, **values}))
    made = building.learner(resolve_model(str(folder)), formulation, "cpu", precision)
    assert isinstance(made, EncoderLearner)
    return made


def _fit(
    folder: Path, task: str = "gad", precision: str = "fp32", **values: Any
) -> tuple[EncoderLearner, Subset]:
    learner = _learner(folder, task, precision, **values)
    units = Subset(learner.formulation.units(ROWS[task]()), key="", name="train")
    learner.fit(units, units, 1, lambda done, total: None)
    return learner, units


# Attention


def _vectors(encoder: Any, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    hidden: torch.Tensor = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    return hidden


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("kind", DECODERS)
def test_bidirectional_means_that_a_later_word_changes_an_earlier_vector(
    checkpoint: Builder, kind: str, padded: bool
) -> None:
    """In training, with the trainer's own masks and dropout, and in prediction."""
    learner, _ = _fit(
        checkpoint(kind), attention="bidirectional", encoder_dropout=0.1, weight_decay=0.01
    )
    encoder = learner.trainer.network.encoder
    ids = torch.arange(5, 11).repeat(2, 1)
    other = ids.clone()
    other[:, 4] = 40
    mask = torch.ones_like(ids)
    if padded:
        mask[1, 5] = 0
    for training in (False, True):
        encoder.train(training)
        seen = []
        for given in (ids, other):
            torch.manual_seed(0)
            seen.append(_vectors(encoder, given, mask)[:, :4])
        assert (seen[0] - seen[1]).abs().amax((1, 2)).min() > 1e-5
    causal = Checkpoint(checkpoint(kind)).load_encoder()[0].eval()
    same = [_vectors(causal, given, mask)[:, :4] for given in (ids, other)]
    assert torch.allclose(*same, atol=1e-6)


def test_bidirectional_is_refused_where_it_changes_nothing(
    checkpoint: Builder, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(checkpoint("bert_uncased"), tmp_path / "mamba"))
    MambaModel(MambaConfig(hidden_size=32, num_hidden_layers=2, vocab_size=350)).save_pretrained(
        folder
    )
    bound = bind(tasks.get("bc2gm"), Settings(max_length=48, attention="bidirectional"))
    with pytest.raises(SettingsError, match=r"'bidirectional'.* has no effect on mamba"):
        check(resolve_model(str(folder)), bound)


@pytest.mark.parametrize("task", ["bc2gm", "gad", "pubmedqa", "biosses", "hoc"])
@pytest.mark.parametrize("values", [{"pooling": "last"}, {"attention": "bidirectional"}])
def test_a_decoder_of_two_layers_runs_all_types(
    checkpoint: Builder, task: str, values: dict[str, str]
) -> None:
    learner, units = _fit(checkpoint("qwen3"), task, **LORA, **values)
    predicted, *_ = learner.predict(units)
    assert len(predicted) == len(units.used)


# Adapters


@pytest.mark.parametrize(
    "kind", ["bert_uncased", "roberta", "modernbert", "deberta", "t5", "qwen3"]
)
def test_only_the_adapter_and_the_head_learn(checkpoint: Builder, kind: str) -> None:
    learner, _ = _fit(checkpoint(kind), **LORA)
    network = learner.trainer.network
    assert all(
        "lora_" in name or not name.startswith("encoder.") for name in learning_parameters(network)
    )
    assert any(name.startswith("head.") for name in learning_parameters(network))
    assert "pooler" not in " ".join(name for name in learning_parameters(network))
    before = Checkpoint(checkpoint(kind)).load_encoder()[0].state_dict()
    after = {
        name.replace(".base_layer", ""): value
        for name, value in network.encoder.state_dict().items()
    }
    assert all(torch.equal(value, after[name]) for name, value in before.items() if name in after)
    ups = [value for name, value in learning_parameters(network).items() if "lora_B" in name]
    assert all(value.abs().max() > 0 for value in ups)
    assert weights_of(network).keys() == learning_parameters(network).keys()


@pytest.mark.parametrize("kind", ["bert_uncased", "modernbert", "qwen3"])
def test_a_kept_adapter_is_pefts_own_format(checkpoint: Builder, kind: str, tmp_path: Path) -> None:
    """Oracle: PEFT, which reads the folder beside the base and gives the same vectors; and so does the merged model."""
    learner, units = _fit(checkpoint(kind), **LORA)
    saved_models.save(
        learner, tmp_path / "model", {"settings": _stored(learner), "precision": "fp32"}
    )
    again, about = kept.load(tmp_path / "model", "cpu", False)
    assert about["format"] == "adapter"
    assert list(map(str, again.predict(units)[:2])) == list(map(str, learner._predict(units)[:2]))
    ids = torch.arange(5, 17).view(2, 6)
    mask = torch.ones_like(ids)
    ours = _vectors(learner.trainer.network.encoder.eval(), ids, mask)
    base = AutoModel.from_pretrained(checkpoint(kind)).eval()
    plain = _vectors(base, ids, mask)
    theirs = _vectors(peft.PeftModel.from_pretrained(base, tmp_path / "model").eval(), ids, mask)
    assert json.loads((tmp_path / "model" / "adapter_config.json").read_text())[
        "base_model_name_or_path"
    ] == str(checkpoint(kind))  # and not the name of the row
    merged = resolve_model(str(tmp_path / "model"), base=str(checkpoint(kind)))
    ours_merged = _vectors(merged.checkpoint.load_encoder()[0].eval(), ids, mask)
    assert torch.allclose(ours, theirs, atol=1e-5)
    assert torch.allclose(ours, ours_merged, atol=1e-5)
    assert not torch.allclose(ours, plain, atol=1e-2)


def _stored(learner: EncoderLearner) -> dict[str, Any]:
    import dataclasses

    return dataclasses.asdict(learner.formulation.settings)


def test_frozen_weights_stay_in_the_dtype_of_their_file(
    checkpoint: Builder, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(checkpoint("qwen3"), tmp_path / "half"))
    reweigh(
        folder / "model.safetensors",
        lambda state: {name: value.bfloat16() for name, value in state.items()},
    )
    for precision, frozen in (("bf16", torch.bfloat16), ("fp32", torch.float32)):
        network = _fit(folder, "gad", precision, **LORA)[0].trainer.network
        kinds = {each.dtype for each in network.encoder.parameters() if not each.requires_grad}
        assert kinds == {frozen}
        assert {each.dtype for each in learning_parameters(network).values()} == {torch.float32}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"lora_rank": 64}, "lora_rank 64 is above"),
        ({"lora_targets": "q_prj"}, r"names no linear layer of BertModel.*query"),
        ({"freeze_layers": 1}, "no effect beside an adapter"),
        ({"relation_input": "markers"}, "adds tokens"),
        ({"adapter": "off", "lora_rank": 8}, "only with --adapter lora"),
    ],
)
def test_what_does_not_go_with_an_adapter(
    checkpoint: Builder, values: dict[str, Any], said: str
) -> None:
    learner = _learner(
        checkpoint("bert_uncased"),
        "gad",
        **{
            **LORA,
            **(
                {"lora_rank": 16, "lora_alpha": 32.0, "lora_dropout": 0.05}
                if values.get("adapter") == "off"
                else {}
            ),
            **values,
        },
    )
    with pytest.raises(SettingsError, match=said):
        check(learner.source, learner.formulation)


def test_without_peft_one_sentence_says_so(
    checkpoint: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "peft", None)
    learner = _learner(checkpoint("bert_uncased"), "gad", **LORA)
    with pytest.raises(SettingsError, match="needs PEFT: pip install peft"):
        check(learner.source, learner.formulation)


# Adapters of others


@pytest.fixture(scope="module")
def others(checkpoint: Builder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter as PEFT writes it for a model with a head, on a decoder; its matrices are random."""
    folder = tmp_path_factory.mktemp("adapters") / "someone"
    model = peft.get_peft_model(
        AutoModelForCausalLM.from_pretrained(checkpoint("llama")),
        peft.LoraConfig(
            r=3,
            lora_alpha=7,
            target_modules=["q_proj", "down_proj"],
            task_type="CAUSAL_LM",
            use_rslora=True,
        ),
    )
    torch.manual_seed(0)
    for parameter in model.parameters():
        if parameter.requires_grad:
            torch.nn.init.normal_(parameter)
    model.save_pretrained(folder)
    return folder


def test_an_adapter_of_a_model_with_a_head_is_merged_as_peft_does(
    checkpoint: Builder, others: Path
) -> None:
    model = peft.PeftModel.from_pretrained(
        AutoModelForCausalLM.from_pretrained(checkpoint("llama")), others
    )
    theirs = model.merge_and_unload().model.state_dict()
    source = resolve_model(str(others), base=str(checkpoint("llama")))
    ours = source.checkpoint.load_encoder()[0].state_dict()
    assert all(torch.allclose(value, theirs[name], atol=1e-5) for name, value in ours.items())
    assert source.weights == resolve_model(str(others), base=str(checkpoint("llama"))).weights
    assert source.weights != resolve_model(str(checkpoint("llama"))).weights
    assert source.name == "someone"


def _edit(folder: Path, to: Path, **fields: Any) -> Path:
    shutil.copytree(folder, to)
    path = to / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}), encoding="utf-8")
    return to


def _first(change: Any) -> Any:
    def apply(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        name = sorted(state)[0]
        return {
            **{key: value for key, value in state.items() if key != name},
            **change(name, state[name]),
        }

    return apply


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda name, value: {}, "lacks a matrix of"),
        (
            lambda name, value: {name.replace("layers.0", "layers.9"): value},
            "has no place in the encoder",
        ),
        (lambda name, value: {name: value[:, :-1].contiguous()}, "an adapter of another base"),
        (
            lambda name, value: {name: value, "base_model.model.score.weight": value.clone()},
            "has no place in the encoder",
        ),
    ],
)
def test_keys_that_are_missing_or_too_many_are_errors(
    checkpoint: Builder, others: Path, tmp_path: Path, change: Any, said: str
) -> None:
    folder = Path(shutil.copytree(others, tmp_path / "adapter"))
    reweigh(folder / "adapter_model.safetensors", _first(change))
    refused(folder, said, base=checkpoint("llama"))


def test_what_is_no_adapter_of_this_base_is_refused(
    checkpoint: Builder, others: Path, tmp_path: Path
) -> None:
    base = str(checkpoint("llama"))
    for fields, said in (
        (
            {"base_model_name_or_path": "meta-llama/Llama-3.2-1B"},
            r"says that its base is meta-llama/Llama-3.2-1B, but",
        ),
        ({"peft_type": "IA3"}, "only adapters of the type LORA"),
        ({"use_dora": True}, "use_dora are not supported; merge it"),
        ({"modules_to_save": ["q_proj"]}, "what is no head but part of the encoder"),
        ({"r": "3"}, "r must be a whole number"),
        ({"r": 5}, "with rank 5; it is an adapter of another base"),
    ):
        refused(
            _edit(others, tmp_path / str(len(list(tmp_path.iterdir()))), **fields), said, base=base
        )
    refused(
        _edit(others, tmp_path / "x", base_model_name_or_path=""),
        r"names no layer of .*; it is an adapter of another base",
        base=checkpoint("bert_uncased"),
    )
    refused(base, r"no adapter_config.json", base=base)
    refused(others, r"an adapter of PEFT.*\n?.*--base")
    pickled = _edit(others, tmp_path / "pickled")
    (pickled / "adapter_model.safetensors").unlink()
    torch.save({}, pickled / "adapter_model.bin")
    refused(pickled, "can hold code", base=base)


def test_lora_reaches_what_full_tuning_reaches(checkpoint: Builder) -> None:
    """A loss that falls: matrices that are not used, or not trained, would leave it where it was."""
    learner = _learner(checkpoint("bert_uncased"), "gad", **LORA, epochs=30)
    units = Subset(learner.formulation.units(ROWS["gad"]()), key="", name="train")
    history = learner.fit(units, units, 1, lambda done, total: None)
    assert history[0]["loss"] > 0.6 > 0.3 > history[-1]["loss"]
    assert math.isfinite(history[-1]["loss"])


# The commands of docs/large-models.md run, with a tiny decoder and the demo suite.


PAGE = ROOT / "docs" / "large-models.md"
RUN = ["--suite", "demo", "--tasks", "ncbi-disease,gad,biosses", "--protocol", "smoke"]


@pytest.mark.costly
def test_its_commands_run(checkpoint: Builder, others: Path, tmp_path: Path) -> None:
    decoder = str(checkpoint("llama"))
    named = {"Qwen/Qwen3-Embedding-0.6B": decoder, "ORG/BASE": decoder, "./adapter": str(others)}
    lines = re.findall(r"^    (blurb .*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(lines) == 5
    for line in lines:
        words = [named.get(word, word) for word in shlex.split(line)[1:]]
        if words[0] == "run":
            words = [word for word in words if word not in ("--data", "DATA")] + RUN
        if "--base" in words and words[0] == "run":
            words += ["--pooling", "last"]
        done(words, tmp_path)
    rows = from_store.read(Store(tmp_path / "runs"))
    assert {tuple(sorted(row.configuration.overrides.items())) for row in rows} == {
        (("adapter", "lora"), ("pooling", "last")),
        (("adapter", "lora"), ("attention", "bidirectional"), ("pooling", "mean")),
        (("pooling", "last"),),
    }
    assert len({row.weights for row in rows}) == 2
