"""From what a user types to a model: what is missing is named, and what identifies a model is stable."""

import json
import re
import shutil
from pathlib import Path

import pytest
import torch
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel, T5ForConditionalGeneration

from blurb.checkpoints import Checkpoint, hub, references, source as sources
from blurb.checkpoints.references import default_name, load_presets, preset_facts
from blurb.learners.building import resolve_model
from blurb.messages.errors import ModelError, UnknownName
from blurb.results import published
from tests import checkpoints
from tests.checkpoints import refused
from tests.conftest import Builder


@pytest.mark.parametrize("kind", checkpoints.KINDS)
def test_a_folder_is_resolved(checkpoint: Builder, kind: str) -> None:
    source = resolve_model(str(checkpoint(kind)))
    assert (source.name, source.kind, source.location) == (
        kind,
        "checkpoint",
        str(checkpoint(kind)),
    )
    assert len(source.weights) == len(source.tokenizer) == 64
    assert 20_000 < source.parameters < 60_000
    assert source.revision is None


def test_a_name_may_be_given(checkpoint: Builder) -> None:
    assert resolve_model(str(checkpoint("roberta")), name="mine").name == "mine"


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("a/b", "b"),
        ("a/b@main", "b"),
        ("/x/checkpoint-100/", "checkpoint-100"),
        ("bert-cased", "bert-cased"),
    ],
)
def test_the_default_name_is_the_last_part(reference: str, name: str) -> None:
    assert default_name(reference) == name


def test_a_link_has_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "step-1000" / "model").mkdir(parents=True)
    (tmp_path / "minilm").symlink_to(tmp_path / "step-1000" / "model")
    assert default_name(str(tmp_path / "minilm")) == "minilm"
    monkeypatch.chdir(tmp_path / "step-1000")
    assert default_name(".") == "step-1000"
    assert default_name("model/..") == "step-1000"


def test_parameters_are_those_of_the_encoder_alone(checkpoint: Builder) -> None:
    whole = T5ForConditionalGeneration.from_pretrained(checkpoint("t5"))
    encoder = sum(parameter.numel() for parameter in whole.encoder.parameters())
    assert (
        resolve_model(str(checkpoint("t5"))).parameters
        == encoder
        < sum(p.numel() for p in whole.parameters())
    )


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        (
            ["config.json"],
            "no config.json; a checkpoint must be a folder written by save_pretrained",
        ),
        (["model.safetensors"], "no weights; expected model.safetensors or pytorch_model.bin"),
        (
            ["tokenizer.json"],
            "no tokenizer .*Save it to this folder with tokenizer.save_pretrained",
        ),
    ],
)
def test_what_is_missing_is_named(copy: Path, lost: list[str], message: str) -> None:
    for name in lost:
        (copy / name).unlink()
    refused(copy, f"{copy}: {message}")


def test_an_empty_folder_lacks_its_configuration(tmp_path: Path) -> None:
    refused(tmp_path, r"no config.json")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        *(
            (folder, f"The model folder {folder} does not exist")
            for folder in ("./nowhere", "/no/where", "~/no/where", "a/b/c")
        ),
        *(
            (name, r"is neither a local folder nor (a Hub id \(org/model|in the local)")
            for name in (
                "a b/c",
                "org/model name",
                "org/--x..y",
                "ü/x",
                f"org/{'x' * 120}",
                "a:b/c",
            )
        ),
        *((name, ".") for name in (f"{'x' * 300}/y", "~nobody-of-that-name/x", "a\x00b/c")),
        ("majority", r"no model called 'majority'\. Write baseline:majority"),
    ],
)
def test_a_reference_that_names_no_model(reference: str, said: str) -> None:
    """Nor can the Hub have a model of that name."""
    refused(reference, said)


def test_a_pattern_in_quotes_tells_what_it_fits(here: Path) -> None:
    for name in ("checkpoint-1", "checkpoint-2"):
        (here / "pretrain" / name).mkdir(parents=True)
    fits = "pretrain/checkpoint-1, pretrain/checkpoint-2: remove the quotes"
    refused(
        "pretrain/checkpoint-*",
        rf"is no model folder 'pretrain/checkpoint-\*'; as a pattern it matches {fits}",
    )
    refused("nowhere/checkpoint-?", "as a pattern it matches none")


def test_a_folder_whose_name_looks_like_a_pattern_is_a_folder(copy: Path) -> None:
    assert resolve_model(str(copy.rename(copy.with_name("run[1]*")))).name == "run[1]*"


@pytest.mark.parametrize(
    "reference",
    [
        "https://user:hunter2@example.org/org/model",
        "https://hunter2@example.org/m",
        "https://h.org/m?token=hunter2",
        "user:hunter2@host/model",
        "s3://key:hunter2/with/slash@bucket/model",
        "https://h.org/m#hunter2",
    ],
)
def test_a_url_is_refused_and_its_password_is_not_shown(reference: str) -> None:
    with pytest.raises(ModelError, match="not a URL") as caught:
        resolve_model(reference)
    assert "hunter2" not in str(caught.value)


def test_a_file_is_refused(copy: Path) -> None:
    refused(copy / "model.safetensors", f"is a file; use the folder of the checkpoint, {copy}")


def test_a_folder_of_checkpoints_names_them(copy: Path) -> None:
    parent = copy.parent / "pretrain"
    for step in (1000, 500):
        shutil.copytree(copy, parent / f"checkpoint-{step}")
    refused(parent, r"checkpoints in subfolders: checkpoint-500, checkpoint-1000. Choose one")


@pytest.mark.parametrize("merged", [False, True])
def test_an_adapter_asks_for_its_base(copy: Path, merged: bool) -> None:
    """With `peft` installed transformers would load another model than the folder's weights."""
    if not merged:
        (copy / "config.json").unlink()
    expected = {
        True: r"beside whole weights.*; if the weights are merged, remove adapter_config.json",
        False: r"adapter of PEFT .*, not a whole model.*--base \(it says 'org/base'\)",
    }
    content = {"peft_type": "LORA", "base_model_name_or_path": "org/base"}
    (copy / "adapter_config.json").write_text(json.dumps(content), encoding="utf-8")
    refused(copy, expected[merged])


@pytest.mark.parametrize("name", ["pubmedbrt", "distilbert-base", "bioelectra-large", "resnet"])
def test_a_name_without_organisation_is_refused_and_no_other_model_proposed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "fetch", lambda *_: pytest.fail("asked the Hub"))
    with pytest.raises(
        ModelError, match=f"no model called '{name}'. Write ORG/NAME for a model"
    ) as caught:
        resolve_model(name)
    assert "Did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("bert-base-uncased", "google-bert/bert-base-uncased"),
        ("roberta-base", "FacebookAI/roberta-base"),
        ("distilbert-base-uncased", "distilbert/distilbert-base-uncased"),
        ("albert-base-v2", "albert/albert-base-v2"),
        ("gpt2@main", "openai-community/gpt2"),
        ("t5-small", "google-t5/t5-small"),
        ("PubMedBERT", "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract"),
    ],
)
def test_the_names_of_tutorials_are_those_of_their_organisation(name: str, meant: str) -> None:
    """The Hub redirects these in the same way."""
    assert references.folder_or_id(name)[0] == meant


def test_presets_are_hub_ids() -> None:
    assert {"bert-uncased", "pubmedbert", "biolinkbert", "roberta"} <= set(load_presets())
    assert all(value.count("/") == 1 for value in load_presets().values())
    assert len({*load_presets().values()}) == len(load_presets())


def test_presets_name_published_rows_and_what_they_are() -> None:
    rows = {row.name for row in published.shipped()}
    may = {"id", "revision", "casing", "size", "text", "vocabulary", "published", "licence"}
    for name, facts in preset_facts().items():
        assert {"id", "size", "text"} <= facts.keys() <= may, name
        assert facts.get("published", next(iter(rows))) in rows, name
        assert re.fullmatch("[0-9a-f]{40}", facts.get("revision", "0" * 40)), name
        assert facts.get("licence", "mit") in ("apache-2.0", "mit", "cc0-1.0", "public-domain"), (
            name
        )


def test_presets_pin_no_revision() -> None:
    assert preset_facts()["pubmedbert"]["revision"] not in load_presets()["pubmedbert"]


def test_without_network_or_cache_the_hub_cannot_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    refused(
        "no-such-org/no-such-model",
        "no-such-org/no-such-model is neither a local folder nor in the local Hub cache",
    )


def test_baselines() -> None:
    source = resolve_model("baseline:majority")
    assert (source.kind, source.name, source.weights) == (
        "learner",
        "baseline:majority",
        "baseline:majority",
    )
    with pytest.raises(UnknownName, match=r"no baseline called 'majorty'. Did you mean 'majority'"):
        resolve_model("baseline:majorty")


def test_a_tokenizer_larger_than_the_embeddings_is_refused(copy: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(copy)
    tokenizer.add_tokens(["@DRUG$", "@GENE$"])
    tokenizer.save_pretrained(copy)
    refused(copy, "the tokenizer has 352 entries, but the encoder has only 350 embeddings")


def test_a_tokenizer_smaller_than_the_embeddings_is_common(copy: Path, tmp_path: Path) -> None:
    BertModel(BertConfig(vocab_size=384, **checkpoints.SIZES)).save_pretrained(copy)
    assert resolve_model(str(copy)).parameters > 0


# What identifies weights


def _resaved(folder: Path, target: Path, **options: object) -> Path:
    shutil.copytree(folder, target)
    model = AutoModel.from_pretrained(folder)
    with torch.no_grad():
        if "add" in options:
            model.embeddings.word_embeddings.weight[7, 3] += 1e-3
    model.config.update({key: value for key, value in options.items() if key != "add"})
    model.save_pretrained(target)
    return target


def test_the_same_weights_saved_again_have_the_same_hash(copy: Path, tmp_path: Path) -> None:
    first = _resaved(copy, tmp_path / "first")
    second = _resaved(first, tmp_path / "second")
    config = json.loads((second / "config.json").read_text(encoding="utf-8"))
    config.update(
        dtype="bfloat16",
        torch_dtype="bfloat16",
        transformers_version="0.0",
        _name_or_path="elsewhere",
        architectures=["X"],
    )
    (second / "config.json").write_text(json.dumps(config, indent=7), encoding="utf-8")
    assert Checkpoint(first).weights_hash == Checkpoint(second).weights_hash


def test_other_weights_or_another_configuration_have_another_hash(
    copy: Path, tmp_path: Path
) -> None:
    hashes = [
        Checkpoint(_resaved(copy, tmp_path / "same")).weights_hash,
        Checkpoint(_resaved(copy, tmp_path / "weights", add=True)).weights_hash,
        Checkpoint(_resaved(copy, tmp_path / "dropout", hidden_dropout_prob=0.2)).weights_hash,
    ]
    assert len(set(hashes)) == 3


def test_the_tokenizer_does_not_count_among_the_weights(copy: Path) -> None:
    before = Checkpoint(copy).weights_hash
    (copy / "tokenizer.json").write_text("changed", encoding="utf-8")
    assert Checkpoint(copy).weights_hash == before


def test_safetensors_come_before_pickles(copy: Path) -> None:
    (copy / "pytorch_model.bin").write_bytes(b"x")
    assert [path.name for path in Checkpoint(copy).weights.files] == ["model.safetensors"]
    (copy / "model.safetensors").unlink()
    assert [path.name for path in Checkpoint(copy).weights.files] == ["pytorch_model.bin"]


def test_a_link_to_nowhere_is_no_id_of_the_hub(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "fetch", lambda *_: pytest.fail("asked the Hub"))
    Path("org").mkdir()
    Path("org/model").symlink_to("nowhere")
    refused("org/model", "org/model is a link to nowhere, which is not there")


def test_two_readings_of_a_name_are_both_said(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copy.parent)
    monkeypatch.setattr(hub, "fetch", lambda *_: pytest.fail("asked the Hub"))
    copy.rename(copy.parent / "org")
    (copy.parent / "org" / "model").mkdir()
    refused(
        "org/model@main",
        r"may be the folder org/model, or org/model of the Hub at the revision main",
    )


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    sources._encoders.clear()


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    load = Checkpoint.load_encoder

    def counted(self: Checkpoint) -> tuple[torch.nn.Module, bool]:
        found.append(str(self.folder))
        return load(self)

    monkeypatch.setattr(Checkpoint, "load_encoder", counted)
    return found


def test_what_one_trial_does_to_it_no_other_sees(checkpoint: Builder, loads: list[str]) -> None:
    source = resolve_model(str(checkpoint("bert_uncased")))
    torch.manual_seed(1)
    first, pooler = sources.encoder_of(source)
    drawn = torch.rand(3)
    with torch.no_grad():
        for parameter in first.parameters():
            parameter.zero_()
    first.set_input_embeddings(torch.nn.Embedding(7, 8))
    torch.manual_seed(1)
    second, again = sources.encoder_of(source)
    # The next draw of a trial does not tell whether the encoder was kept
    assert torch.equal(drawn, torch.rand(3))
    fresh, _ = Checkpoint(Path(source.location)).load_encoder()
    assert pooler == again
    assert {name: value.tolist() for name, value in second.state_dict().items()} == {
        name: value.tolist() for name, value in fresh.state_dict().items()
    }
    assert len(loads) == 2  # the first and the fresh one


def test_one_is_kept_and_by_what_it_holds(checkpoint: Builder, loads: list[str]) -> None:
    one, other = (resolve_model(str(checkpoint(kind))) for kind in ("bert_uncased", "roberta"))
    for source in (one, one, other, one):
        encoder, _ = sources.encoder_of(source)
        assert encoder.config.model_type == {one: "bert", other: "roberta"}[source]
    assert len(sources._encoders) <= 1


def test_weights_drawn_while_loading_are_drawn_for_every_trial(
    checkpoint: Builder, loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a checkpoint without its pooler: seeds must not share what the first of them drew."""
    source = resolve_model(str(checkpoint("bert_uncased")))
    counted = Checkpoint.load_encoder

    def drawing(self: Checkpoint) -> tuple[torch.nn.Module, bool]:
        torch.rand(1)
        return counted(self)

    monkeypatch.setattr(Checkpoint, "load_encoder", drawing)
    for _ in range(3):
        sources.encoder_of(source)
    assert len(loads) == 3
    assert not sources._encoders
