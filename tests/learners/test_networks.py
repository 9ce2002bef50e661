"""Baselines that start from random weights. Oracles: the paper's formula, torch's LSTM on one text, and counting."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from blurb import tasks
from blurb.checkpoints import Checkpoint
from blurb.data import read_split
from blurb.doctor import examine
from blurb.execution.worker import execute_job
from blurb.formulations import bind
from blurb.inputs.tokenizer import Tokenizer
from blurb.learners import building, protocol_learner
from blurb.learners.base import Subset
from blurb.learners.baselines.networks import VOCABULARIES, FromScratch, RecurrentEncoder, sinusoids
from blurb.learners.building import resolve_model
from blurb.messages.errors import SettingsError, UnknownName
from blurb.planning import trials
from blurb.protocols import protocol
from blurb.protocols.settings import in_groups
from blurb.results.row import Origin, Row
from blurb.store.trial import short_weights
from blurb.training.dropout import CpuDropout, set_dropout, use_cpu_dropout
from blurb.training.network import UsedRows, train_used_rows
from tests import checkpoints
from tests.conftest import Builder
from tests.learners.conftest import TASKS, request

BOTH = ("bilstm", "transformer")
SMALL = {
    "bilstm": "bilstm,hidden=16,width=16",
    "transformer": "transformer,heads=2,layers=1,width=16",
}
TEXTS = ["The Kinase binds.", "the kinase (p53) moves", "A receptor binds."]


def learned(
    name: str, task: str, data: Path, most: int = 48, seed: int = 1, **settings: Any
) -> tuple[FromScratch, Subset, Any]:
    """A learner that was fitted on the first examples of a task, the first ones of dev, and its predictions there."""
    values = {
        "epochs": 1,
        "batch_size": 8,
        "lr": 1e-3,
        "pooling": "attention",
        "max_length": 64,
        **settings,
    }
    formulation = bind(tasks.get(task), values)
    train, dev = (
        Subset(formulation.units(read_split(tasks.get(task), data, split))[:most], "")
        for split in ("train", "dev")
    )
    learner = building.learner(resolve_model(f"baseline:{SMALL[name]}"), formulation, "cpu", "fp32")
    learner.fit(train, dev, seed, lambda done, total: None)
    return learner, dev, learner.predict(dev)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", BOTH)
def test_every_task_is_trained_and_predicted(name: str, task: str, data: Path) -> None:
    learner, dev, (predicted, *_) = learned(name, task, data)
    assert math.isfinite(learner.formulation.score_of(dev.used, predicted))
    assert len(predicted) == len(dev.used)
    assert learner.facts["parameters"] > 0


@pytest.mark.parametrize("name", BOTH)
def test_a_seed_decides_everything(name: str, data: Path) -> None:
    _, _, (first, scores, *_) = learned(name, "gad", data)
    _, _, (again, same, *_) = learned(name, "gad", data)
    _, _, (_, other, *_) = learned(name, "gad", data, seed=2)
    assert (first, scores) == (again, same)
    assert scores != other


@pytest.mark.costly
@pytest.mark.parametrize("name", BOTH)
def test_it_learns_what_a_word_decides(name: str, data: Path) -> None:
    """Examples whose answer is one word of theirs; the same words in dev."""
    formulation = bind(
        tasks.get("gad"), {"epochs": 12, "batch_size": 8, "lr": 5e-3, "pooling": "attention"}
    )
    rng = np.random.default_rng(0)
    rows = []
    for number in range(160):
        words = list(rng.choice(["kinase", "of", "the", "cell", "binds"], 6))
        label = int(rng.integers(2))
        words[int(rng.integers(6))] = ("never", "always")[label]
        rows.append(
            {
                **read_split(tasks.get("gad"), data, "train")[0],
                "id": str(number),
                "label": str(label),
            }
        )
        rows[-1]["text"] = " ".join(words)
        rows[-1]["head"] = rows[-1]["tail"] = {"start": 0, "end": len(words[0]), "type": ""}
    learner = building.learner(resolve_model(f"baseline:{SMALL[name]}"), formulation, "cpu", "fp32")
    train, dev = Subset(rows[:120], ""), Subset(rows[120:], "")
    learner.fit(train, dev, 1, lambda done, total: None)
    assert formulation.score_of(dev.used, learner.predict(dev)[0]) > 0.9


def test_any_head_and_pooling_stands_on_them(data: Path) -> None:
    for head in ("crf", "bilstm-crf,hidden=8"):
        learner, dev, (predicted, *_) = learned("bilstm", "ncbi-disease", data, most=16, head=head)
        assert [len(tags) for tags in predicted] == [len(unit["tokens"]) for unit in dev.used]
        assert learner.facts["vocabulary"] > 5
    learned(
        "transformer", "chemprot", data, most=16, pooling="entity-start", relation_input="markers"
    )


def test_the_lstm_reads_no_padding() -> None:
    torch.manual_seed(0)
    encoder = RecurrentEncoder(20, 0, width=6, hidden=5, layers=2).eval()
    ids = torch.tensor([[3, 4, 5, 0, 0], [6, 7, 8, 9, 10]])
    states = encoder(ids, (ids != 0).long()).last_hidden_state
    for row, length in enumerate((3, 5)):
        alone, _ = encoder.lstm.lstm(encoder.table(ids[row : row + 1, :length]))
        assert torch.allclose(states[row, :length], alone[0], atol=1e-6)
    assert not states[0, 3:].any()


def test_positions_are_those_of_the_paper(data: Path) -> None:
    table = sinusoids(50, 8)
    for position in (0, 1, 17, 49):
        for i in range(4):
            angle = position / 10_000 ** (2 * i / 8)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-5)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-5)
    formulation = bind(tasks.get("gad"), {"epochs": 1, "max_train": 8})
    rows = Subset(read_split(tasks.get("gad"), data, "train")[:8], "")
    for kind, trained in (("sinusoidal", False), ("learned", True)):
        learner = building.learner(
            resolve_model(f"baseline:transformer,heads=2,layers=1,width=16,positions={kind}"),
            formulation,
            "cpu",
            "fp32",
        )
        learner.fit(rows, rows, 1, lambda done, total: None)
        weight = learner.trainer.network.encoder.embeddings.position_embeddings.weight
        assert weight.requires_grad == trained
        if not trained:
            assert torch.allclose(weight, 0.02 * sinusoids(512, 16))


def words_of(tokenizer: Tokenizer, text: str) -> list[str]:
    return list(tokenizer.inner.convert_ids_to_tokens(tokenizer.subtokens([text])[0].ids))


def test_words_of_enough_texts_are_known() -> None:
    found = VOCABULARIES["words"](TEXTS, 100, 2)
    assert words_of(found, "THE kinase binds p53.") == ["the", "kinase", "binds", "[UNK]", "."]
    assert (found.size, found.special_tokens.cls) == (5 + 4, 0)
    assert found.special_tokens.pair([7], [8]) == [2, 7, 3, 8, 3]
    assert [VOCABULARIES["words"](TEXTS, most, 1).size for most in (2, 100)] == [7, 5 + 10]


def test_pieces_have_no_unknown_words() -> None:
    found = VOCABULARIES["wordpiece"](TEXTS * 3, 40, 2)
    assert "[UNK]" not in words_of(found, "the rebinder")
    assert "".join(words_of(found, "kinases")).replace("##", "") == "kinases"


@pytest.mark.parametrize(
    ("reference", "error", "words"),
    [
        ("bilstm,hiden=3", UnknownName, "hidden"),
        ("bilstm,hidden=0", SettingsError, "hidden must be at least 1"),
        ("bilstm,hidden=x", SettingsError, "hidden must be a whole number"),
        ("bilstm,vocabulary=letters", UnknownName, "letters"),
        ("transformer,width=30,heads=4", SettingsError, "multiple of 2 \\* heads"),
        ("transformer,positions=rotary", UnknownName, "rotary"),
        ("majority,width=3", UnknownName, "width"),
    ],
)
def test_options_are_checked_before_anything_runs(
    reference: str, error: type[Exception], words: str, data: Path, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        trials.prepare(request(data, tmp_path, reference))


def test_two_sizes_under_one_name_are_two_rows(data: Path, tmp_path: Path) -> None:
    sources = [resolve_model(f"baseline:bilstm,hidden={size}", name="lstm") for size in (4, 8)]
    found = []
    for source in sources:
        row = dataclasses.replace(request(data, tmp_path, "bilstm"), sources=[source]).row(source)
        found.append(Row("lstm", row.configuration, {}, Origin.STORE, row.weights))
    assert found[0].primary_key != found[1].primary_key
    short = [short_weights(source.weights) for source in sources]
    assert len(set(short)) == 2
    assert [short_weights(one) for one in short] == short
    assert short_weights("baseline:bilstm") == "baseline:bil"


def test_dummies_are_in_the_vocabulary(data: Path) -> None:
    """A text with the names of its entities is read with dummies in their place."""
    row = {
        "id": "1",
        "text": "aspirin blocks kinase",
        "label": "CPR:4",
        "head": {"start": 0, "end": 7, "type": "CHEMICAL"},
        "tail": {"start": 15, "end": 21, "type": "GENE"},
    }
    learner = building.learner(
        resolve_model(f"baseline:{SMALL['bilstm']}"), bind(tasks.get("chemprot"), {}), "cpu", "fp32"
    )
    found = learner.plain_tokenizer(Subset([row, row], "")).inner.get_vocab()
    assert {"chemical", "gene", "blocks"} < set(found)
    assert not {"aspirin", "kinase"} & set(found)


def test_options_have_one_spelling() -> None:
    one, other = (
        resolve_model(f"baseline:bilstm,{text}")
        for text in ("layers=2,hidden=64", "hidden=64, layers=2,width=200")
    )
    assert one == other
    assert one.name == one.weights == "baseline:bilstm,hidden=64,layers=2"
    assert resolve_model("baseline:bilstm,width=200") == resolve_model("baseline:bilstm")


def test_training_settings_are_their_own_and_examples_those_of_the_protocol() -> None:
    gad = tasks.get("gad")
    quick, smoke = protocol.load_protocol_file("quick"), protocol.load_protocol_file("smoke")
    own = quick.settings(gad, {}, 0, "bilstm")
    assert (own.lr, own.head_lr, own.select) == (2e-3, 0.0, "best")
    assert own.pooling == "attention"
    small = smoke.settings(gad, {"lr": 0.5}, 0, "bilstm")
    assert (small.max_train, small.max_eval, small.lr) == (64, 64, 0.5)
    for name in in_groups("examples", "inputs"):
        assert getattr(own, name) == getattr(quick.settings(gad, {}, 0), name)


def test_a_protocol_may_train_them_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'extends = "standard"\n[baselines.bilstm]\nlr = 0.1\n[baselines.bilstm.tasks.hoc]\nepochs = 3\n'
    )
    mine = protocol.load_protocol_file(str(file))
    values = [mine.settings(tasks.get(name), {}, 0, "bilstm") for name in ("gad", "hoc")]
    assert [(one.lr, one.epochs) for one in values] == [(0.1, 10), (0.1, 3)]
    assert mine.settings(tasks.get("gad"), {}, 0).lr == 3e-5
    assert mine.hash != protocol.load_protocol_file("standard").hash
    for text, words in (
        ("[baselines.bigrams]\nlr = 1", "bigrams"),
        ("[baselines.bilstm.tasks.x]\nlr = 1", "task"),
    ):
        file.write_text(text)
        with pytest.raises(UnknownName, match=words):
            protocol_learner.load(str(file))
    file.write_text(
        "[baselines.bilstm]\nlr = -1.0\nepochs = 0\n[baselines.transformer.tasks.ner]\nwarmup = -1.0\n"
    )
    assert [problem.what.split(" ")[0] for problem in examine(file).problems] == [
        "lr",
        "epochs",
        "warmup",
    ]
    file.write_text(
        "[baselines.bilstm.tasks.relation]\nlr = 0.1\n[baselines.bilstm.tasks.ddi]\nlr = 0.2\n"
    )
    mine = protocol.load_protocol_file(str(file))
    values = [mine.settings(tasks.get(name), {}, 0, "bilstm").lr for name in ("gad", "ddi", "hoc")]
    assert values == [0.1, 0.2, 2e-3]
    assert (
        mine.where(tasks.get("gad"), "lr", "bilstm") == f"protocol {mine.name}, [baselines.bilstm]"
    )
    assert mine.where(tasks.get("hoc"), "lr", "bilstm") == "[baselines.bilstm] of baselines.toml"
    assert mine.where(tasks.get("hoc"), "weight_decay", "bilstm") == "by default"
    file.write_text("baselines = 3")
    with pytest.raises(SettingsError, match="must be a table"):
        protocol.load_protocol_file(str(file))


def test_a_row_has_all_seeds_no_precision_and_its_own_overrides(data: Path, tmp_path: Path) -> None:
    asked = request(data, tmp_path, "bilstm", overrides={"lr": 1.0, "min_count": 3}, seeds=3)
    trial = trials.job(asked, asked.sources[0], tasks.get("gad"), 2).trial
    assert (trial.weights, trial.tokenizer, trial.precision, trial.kind.rows.name) == (
        "baseline:bilstm",
        "",
        "fp32",
        "baseline",
    )
    assert (trial.settings["lr"], trial.settings["min_count"], trial.seed) == (1.0, 3, 2)
    assert asked.configuration(asked.sources[0]).overrides == {"lr": 1.0, "min_count": 3}
    assert trials.seeds_of(asked, asked.sources[0], tasks.get("gad")) == (1, 2, 3)
    with pytest.raises(SettingsError, match="for pretrained layers, which baseline:bilstm has not"):
        trials.prepare(request(data, tmp_path, "bilstm", overrides={"freeze_layers": 1}))


def test_a_trial_runs_as_any_other(data: Path, tmp_path: Path) -> None:
    asked = request(data, tmp_path, SMALL["bilstm"], protocol="smoke", overrides={"epochs": 2})
    job = trials.job(asked, asked.sources[0], tasks.get("hoc"), 1)
    outcome = execute_job(job)
    assert outcome.status == "done", outcome.message
    assert len((job.path / "history.csv").read_text().splitlines()) == 3
    assert execute_job(job).status == "already done"


# What training on a CPU replaces (dropout, attention, embeddings) must be the encoder's own, whatever its kind.


class _Holder(nn.Module):
    """The least that a network is to `use_cpu_dropout`."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder


def _encoder(folder: Path) -> tuple[Any, Tensor, Tensor]:
    """An encoder with padded ids and their mask, both (batch, pieces)."""
    encoder, _ = Checkpoint(folder).load_encoder()
    tokenizer = Checkpoint(folder).tokenizer
    rows = [
        tokenizer.special_tokens.single(subtokens.ids)
        for subtokens in tokenizer.subtokens(("kalo mi tra nex vorpil " * 6, "kalo dun", "mi"))
    ]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [tokenizer.pad_id] * (longest - len(row)) for row in rows])
    return encoder, ids, torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])


def _hidden(encoder: Any, ids: Tensor, mask: Tensor) -> Tensor:
    return encoder(input_ids=ids, attention_mask=mask).last_hidden_state[mask.bool()]


@pytest.mark.parametrize("kind", checkpoints.KINDS)
@pytest.mark.parametrize("cpu", [False, True])
def test_without_dropout_training_sees_what_prediction_sees(
    checkpoint: Builder, kind: str, cpu: bool
) -> None:
    """`encoder_dropout = 0`: of the modules, of the attention, and of whatever an architecture keeps as a number."""
    encoder, ids, mask = _encoder(checkpoint(kind))
    expected = _hidden(encoder.eval(), ids, mask)
    set_dropout(encoder, 0.5)
    assert not torch.allclose(_hidden(encoder.train(), ids, mask), expected, atol=1e-2)
    set_dropout(encoder, 0.0)
    if cpu:
        use_cpu_dropout(_Holder(encoder))
    assert torch.allclose(_hidden(encoder.train(), ids, mask), expected, atol=1e-5)


@pytest.mark.parametrize("kind", checkpoints.KINDS)
def test_training_without_a_dropped_element_gives_what_prediction_gives(
    checkpoint: Builder, kind: str
) -> None:
    """Padding, local attention, relative positions: all of it has to be in the attention that training uses."""
    encoder, ids, mask = _encoder(checkpoint(kind))
    expected = _hidden(encoder.eval(), ids, mask)
    use_cpu_dropout(_Holder(encoder))
    assert torch.allclose(_hidden(encoder.eval(), ids, mask), expected, atol=1e-5)
    # Not 0, which would leave the attention to torch; too little to drop anything
    set_dropout(encoder, 1e-9)
    assert torch.allclose(_hidden(encoder.train(), ids, mask), expected, atol=1e-5)
    set_dropout(encoder, 0.5)
    assert not torch.allclose(_hidden(encoder, ids, mask), expected, atol=1e-2)
    assert not [name for name, module in encoder.named_modules() if type(module) is nn.Dropout]
    assert kind == "modernbert" or [
        module for module in encoder.modules() if isinstance(module, CpuDropout)
    ]


@pytest.mark.parametrize("kind", checkpoints.KINDS)
def test_the_rows_of_the_embedding_that_are_used_learn_and_no_others(
    checkpoint: Builder, kind: str
) -> None:
    encoder, ids, mask = _encoder(checkpoint(kind))
    before = encoder.get_input_embeddings().weight.detach().clone()
    expected = _hidden(encoder.eval(), ids, mask)
    used = ids.unique()
    train_used_rows(encoder, used)
    assert type(encoder.get_input_embeddings()) is UsedRows
    assert not [
        name for name, parameter in encoder.named_parameters() if parameter.shape == before.shape
    ]
    assert torch.equal(_hidden(encoder.eval(), ids, mask), expected)
    optimizer = torch.optim.SGD(encoder.parameters(), lr=1.0)
    _hidden(encoder.train(), ids, mask).pow(3).sum().backward()
    optimizer.step()
    encoder.eval()
    moved = (encoder.get_input_embeddings().weight != before).any(1).nonzero().flatten().tolist()
    assert set(moved) <= set(used.tolist())
    assert len(moved) >= len(used) - 1  # padding may get no gradient


@pytest.mark.parametrize("kind", checkpoints.KINDS)
def test_a_step_under_bf16_is_finite_and_keeps_float32_weights(
    checkpoint: Builder, kind: str
) -> None:
    encoder, ids, mask = _encoder(checkpoint(kind))
    use_cpu_dropout(_Holder(encoder))
    set_dropout(encoder, 0.1)
    encoder.train()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = _hidden(encoder, ids, mask)
    hidden.float().pow(2).sum().backward()
    gradients = [parameter.grad for parameter in encoder.parameters() if parameter.grad is not None]
    assert len(gradients) > 10
    assert all(torch.isfinite(gradient).all() for gradient in gradients)
    assert {parameter.dtype for parameter in encoder.parameters()} == {torch.float32}
