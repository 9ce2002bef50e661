"""Adapters of PEFT as checkpoints: read by what is understood, complete, and the same in every call.

Oracles: PEFT's own expansion of the targets, its loading, and its list of fields.
"""

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
from transformers import (
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    BartModel,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    T5ForConditionalGeneration,
)

from blurb.checkpoints import Checkpoint, adapter, resolve_checkpoint
from blurb.messages import ModelError
from tests.checkpoints import DECODERS, FAMILIES, KINDS, refused, reweigh
from tests.conftest import Builder

State = dict[str, torch.Tensor]
Save = Callable[..., Path]


def _trained(model: Any, folder: Path, **fields: Any) -> Path:
    """An adapter as PEFT saves it after a training, of which random matrices are the result."""
    given = {"r": 4, "lora_alpha": 8, "target_modules": ["query", "value"], **fields}
    wrapped = peft.get_peft_model(model, peft.LoraConfig(**given))
    torch.manual_seed(0)
    for name, parameter in wrapped.named_parameters():
        if "lora_" in name:
            parameter.data += 0.05 * torch.randn_like(parameter)
    wrapped.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def plain(checkpoint: Builder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain adapter of BERT without a head."""
    folder = tmp_path_factory.mktemp("adapters") / "plain"
    return _trained(AutoModel.from_pretrained(checkpoint("bert_uncased")), folder)


def _edited(folder: Path, to: Path, **fields: Any) -> Path:
    shutil.copytree(folder, to)
    path = to / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}), encoding="utf-8")
    return to


def _vectors(encoder: Any) -> torch.Tensor:
    ids = torch.arange(5, 17).view(2, 6)
    with torch.no_grad():
        hidden: torch.Tensor = encoder.eval()(
            input_ids=ids, attention_mask=torch.ones_like(ids)
        ).last_hidden_state
    return hidden


def _ours(folder: Path, base: Path) -> torch.Tensor:
    return _vectors(resolve_checkpoint(str(folder), base=str(base)).checkpoint.load_encoder()[0])


# What the file says


FIELDS = sorted({field.name for field in dataclasses.fields(peft.LoraConfig)} - {"runtime_config"})


@pytest.mark.parametrize("name", [*FIELDS, "field_of_next_year"])
def test_every_field_is_understood_or_refused_by_its_name(
    checkpoint: Builder, plain: Path, tmp_path: Path, name: str
) -> None:
    """A value that nobody knows, in each field that the installed PEFT has, and in one that it has not."""
    folder = _edited(plain, tmp_path / "adapter", **{name: {"strange": 1}})
    if name in adapter.OF_NO_WEIGHT.split() and name != "peft_type":
        assert adapter.read_config(folder)
        return
    refused(
        folder,
        "only adapters of the type LORA" if name == "peft_type" else name,
        base=checkpoint("bert_uncased"),
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(
            ("init_lora_weights", one)
            for one in ("pissa", "pissa_niter_4", "olora", "corda", "loftq", "lora_ga", 1, "x")
        ),
        *(("lora_alpha", one) for one in (float("nan"), float("inf"), 1e300, 0, -8, True, "8")),
        *(("r", one) for one in (0, 4.0, True, None, "4")),
        *(("bias", one) for one in ("all", "lora_only", True)),
        ("use_rslora", "true"),
        ("use_rslora", 1),
        ("target_modules", None),
        ("target_modules", []),
        ("target_modules", [1]),
        ("target_modules", "(query"),
        ("layers_to_transform", "0"),
        ("layers_to_transform", [0, True]),
        ("modules_to_save", "classifier"),
        ("modules_to_save", [3]),
        ("alora_invocation_tokens", [1, 2]),
        ("use_qalora", True),
        ("use_dora", True),
        ("rank_pattern", {"query": 2}),
        ("alpha_pattern", {"query": 2}),
        ("target_parameters", ["query.weight"]),
        ("layer_replication", [[0, 1]]),
        ("trainable_token_indices", [0]),
        ("lora_bias", True),
        ("loftq_config", {"loftq_bits": 4}),
        ("scale_of_tomorrow", 0),
    ],
)
def test_a_value_that_is_not_understood_is_refused(
    checkpoint: Builder, plain: Path, tmp_path: Path, field: str, value: Any
) -> None:
    folder = _edited(plain, tmp_path / "adapter", **{field: value})
    refused(
        folder,
        rf"adapter_config.json.*{'which layers' if value == '(query' else field}",
        base=checkpoint("bert_uncased"),
    )


def test_a_base_of_the_hub_has_a_revision_if_the_adapter_names_one(
    plain: Path, tmp_path: Path
) -> None:
    folder = _edited(plain, tmp_path / "a", revision="v7", base_model_name_or_path="org/base")
    with pytest.raises(ModelError, match=r"of the revision v7, but .*org/base@v7"):
        adapter.check(folder, "org/base")
    (tmp_path / "base").mkdir()
    for base in ("org/base@v7", "org/base@abc", str(tmp_path / "base")):
        adapter.check(folder, base)


@pytest.mark.parametrize("init", [True, False, "gaussian", "orthogonal", "eva"])
def test_beginnings_that_leave_the_base_alone_are_merged_as_peft_does(
    checkpoint: Builder, plain: Path, tmp_path: Path, init: Any
) -> None:
    base = checkpoint("bert_uncased")
    folder = _edited(plain, tmp_path / "adapter", init_lora_weights=init)
    theirs = peft.PeftModel.from_pretrained(AutoModel.from_pretrained(base), plain)
    assert torch.allclose(_ours(folder, base), _vectors(theirs), atol=1e-5)
    assert not torch.allclose(
        _ours(folder, base), _vectors(AutoModel.from_pretrained(base)), atol=1e-3
    )


# Which matrices there should be


def _linear_names(model: Any) -> list[str]:
    kinds = (torch.nn.Linear,)
    names = [
        name
        for name, one in model.named_modules()
        if isinstance(one, kinds) or type(one).__name__ == "Conv1D"
    ]
    return sorted({name.rpartition(".")[2] for name in names if "pooler" not in name})


TARGETS: dict[str, Callable[[list[str]], dict[str, Any]]] = {
    "all-linear": lambda names: {"target_modules": "all-linear"},
    "names": lambda names: {"target_modules": names[:2]},
    "expression": lambda names: {"target_modules": rf".*\.(0|1)\..*\.({names[0]}|{names[-1]})"},
    "layers": lambda names: {"target_modules": names, "layers_to_transform": [1]},
    "one layer": lambda names: {
        "target_modules": names,
        "layers_to_transform": 0,
        "layers_pattern": "layers?",
    },
    "patterns": lambda names: {
        "target_modules": names,
        "layers_to_transform": [0],
        "layers_pattern": ["h", "layer"],
    },
    "excluded": lambda names: {"target_modules": names, "exclude_modules": names[:1]},
    "excluded by expression": lambda names: {
        "target_modules": "all-linear",
        "exclude_modules": r".*\.0\..*",
    },
}


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize("kind", [*KINDS, *FAMILIES, *DECODERS])
def test_the_layers_are_those_of_peft(checkpoint: Builder, kind: str, targets: str) -> None:
    """Oracle: the modules into which PEFT itself injects matrices, on every family of encoders and decoders."""
    encoder = Checkpoint(checkpoint(kind)).outline
    fields = TARGETS[targets](_linear_names(encoder))
    linear = {
        name for name, one in encoder.named_modules() if type(one).__name__ in ("Linear", "Conv1D")
    }
    ours = {
        name
        for name, _ in encoder.named_modules()
        if name
        and adapter.is_target(fields, name)
        and (name in linear or fields["target_modules"] != "all-linear")
    }
    fresh = Checkpoint(checkpoint(kind)).outline
    config = peft.LoraConfig(**fields)
    if not ours:
        with pytest.raises(
            ValueError, match=r"not found in the base model|No modules were targeted"
        ):
            peft.inject_adapter_in_model(config, fresh)
        return
    with torch.device("meta"):
        peft.inject_adapter_in_model(config, fresh)
    theirs = {
        name.removesuffix(".lora_A")
        for name, _ in fresh.named_modules()
        if name.endswith(".lora_A")
    }
    assert ours == theirs


@pytest.mark.parametrize("kind", ["bert_uncased", "roberta", "modernbert", "deberta", "qwen3"])
@pytest.mark.parametrize("targets", ["all-linear", "names", "expression", "one layer"])
def test_an_adapter_that_lacks_or_has_one_more_is_refused(
    checkpoint: Builder, tmp_path: Path, kind: str, targets: str
) -> None:
    base = checkpoint(kind)
    model, _ = Checkpoint(base).load_encoder()
    folder = _trained(model, tmp_path / "whole", **TARGETS[targets](_linear_names(model)))
    untouched = next(
        name for name, one in model.named_modules() if type(one).__name__.endswith("Norm")
    )
    layers = sorted(
        name for name, _ in model.named_modules() if hasattr(model.get_submodule(name), "lora_A")
    )
    resolve_checkpoint(str(folder), base=str(base))

    def without(state: State) -> State:
        return {name: value for name, value in state.items() if f".{layers[0]}." not in name}

    def beside(state: State) -> State:
        value = next(iter(state.values())).clone()
        return {**state, f"base_model.model.{untouched}.lora_A.weight": value}

    for change, said in ((without, r"lacks a matrix of"), (beside, "has no place|does not name")):
        changed = Path(shutil.copytree(folder, tmp_path / change.__name__))
        reweigh(changed / "adapter_model.safetensors", change)
        refused(changed, said, base=base)


def test_a_layer_that_is_no_target_is_refused(
    checkpoint: Builder, plain: Path, tmp_path: Path
) -> None:
    for fields in (
        {"target_modules": ["query"]},
        {"exclude_modules": ["value"]},
        {"layers_to_transform": [0]},
        {"target_modules": r".*\.query"},
    ):
        folder = _edited(plain, tmp_path / str(len(list(tmp_path.iterdir()))), **fields)
        refused(folder, r"which adapter_config.json does not name", base=checkpoint("bert_uncased"))


def test_an_expression_without_end_is_left(
    checkpoint: Builder, plain: Path, tmp_path: Path
) -> None:
    folder = _edited(plain, tmp_path / "slow", target_modules="(e|n|c|[a-z.0-9]+)+x")
    refused(folder, r"cannot tell which layers|names no layer", base=checkpoint("bert_uncased"))


@pytest.mark.parametrize("half", ["encoder", "decoder", "both"])
def test_of_an_encoder_decoder_only_an_adapter_of_its_encoder_is_taken(
    checkpoint: Builder, tmp_path: Path, half: str
) -> None:
    base = checkpoint("t5")
    targets = {
        "encoder": r"encoder\..*\.(q|v)",
        "decoder": r"decoder\..*\.(q|v)",
        "both": ["q", "v"],
    }[half]
    folder = _trained(
        T5ForConditionalGeneration.from_pretrained(base), tmp_path / half, target_modules=targets
    )
    if half == "encoder":
        theirs = peft.PeftModel.from_pretrained(
            T5ForConditionalGeneration.from_pretrained(base), folder
        )
        assert torch.allclose(
            _ours(folder, base), _vectors(theirs.get_base_model().encoder), atol=1e-5
        )
    else:
        refused(folder, r"names no layer|has no place", base=base)


def _under_the_tokenizer_of_bert(checkpoint: Builder, model: Any, folder: Path) -> Path:
    shutil.copytree(checkpoint("bert_uncased"), folder)
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("targets", [["c_attn", "c_proj"], "all-linear", r".*h\.0\.mlp.*c_fc"])
@pytest.mark.parametrize("head", [False, True])
def test_layers_in_the_form_of_gpt2_are_merged_as_peft_does(
    checkpoint: Builder, tmp_path: Path, targets: Any, head: bool
) -> None:
    config = GPT2Config(vocab_size=350, n_embd=32, n_layer=2, n_head=2)
    base = _under_the_tokenizer_of_bert(checkpoint, GPT2Model(config), tmp_path / "gpt2")
    model = GPT2LMHeadModel if head else GPT2Model
    task = "CAUSAL_LM" if head else None
    folder = _trained(
        model.from_pretrained(base), tmp_path / "a", target_modules=targets, task_type=task
    )
    theirs = peft.PeftModel.from_pretrained(model.from_pretrained(base), folder).get_base_model()
    assert torch.allclose(
        _ours(folder, base), _vectors(theirs.transformer if head else theirs), atol=1e-5
    )


@pytest.mark.parametrize("half", ["encoder", "decoder", "both"])
@pytest.mark.parametrize("whole", [False, True])
def test_of_bart_only_an_adapter_of_its_encoder_is_taken(
    checkpoint: Builder, tmp_path: Path, half: str, whole: bool
) -> None:
    """The layers of both halves have the same names behind `encoder` and `decoder`."""
    sizes = {"d_model": 32, "max_position_embeddings": 64, "vocab_size": 350}
    for part in ("encoder", "decoder"):
        sizes |= {f"{part}_layers": 2, f"{part}_attention_heads": 2, f"{part}_ffn_dim": 64}
    base = _under_the_tokenizer_of_bert(
        checkpoint, BartModel(BartConfig(**sizes)), tmp_path / "bart"
    )
    model = BartForConditionalGeneration if whole else BartModel
    part = {"encoder": "encoder", "decoder": "decoder", "both": "(en|de)coder"}[half]
    targets = rf".*{part}\.layers\.\d\.self_attn\.q_proj"
    folder = _trained(model.from_pretrained(base), tmp_path / "a", target_modules=targets)
    if half == "encoder":
        theirs = peft.PeftModel.from_pretrained(
            model.from_pretrained(base), folder
        ).get_base_model()
        encoder = theirs.model.encoder if whole else theirs.encoder
        assert torch.allclose(_ours(folder, base), _vectors(encoder), atol=1e-5)
    else:
        refused(folder, r"names no layer|has no place", base=base)


# Heads, poolers, embeddings


def _classifier(base: Path) -> Any:
    return AutoModelForSequenceClassification.from_pretrained(base, num_labels=3)


@pytest.mark.parametrize("targets", [["query", "value"], ["dense"], "all-linear"])
@pytest.mark.parametrize("kind", ["bert_uncased", "roberta", "deberta", "modernbert"])
def test_the_head_of_a_classifier_is_ignored(
    checkpoint: Builder, tmp_path: Path, kind: str, targets: Any
) -> None:
    """`task_type` alone makes PEFT save a head; its matrices and weights are outside of the encoder."""
    base = checkpoint(kind)
    names = _linear_names(AutoModel.from_pretrained(base))
    chosen = (
        targets
        if isinstance(targets, str)
        else [name for name in targets if name in names] or names[:1]
    )
    folder = _trained(
        _classifier(base), tmp_path / "head", task_type="SEQ_CLS", target_modules=chosen
    )
    assert json.loads((folder / "adapter_config.json").read_text())["modules_to_save"]
    theirs = peft.PeftModel.from_pretrained(_classifier(base), folder).merge_and_unload()
    assert torch.allclose(_ours(folder, base), _vectors(theirs.base_model), atol=1e-5)


def test_matrices_of_a_head_are_ignored(checkpoint: Builder, tmp_path: Path) -> None:
    base = checkpoint("bert_uncased")
    model = AutoModelForMaskedLM.from_pretrained(base)
    folder = _trained(model, tmp_path / "lm", target_modules=["query", "cls.predictions.decoder"])
    theirs = peft.PeftModel.from_pretrained(AutoModelForMaskedLM.from_pretrained(base), folder)
    assert torch.allclose(_ours(folder, base), _vectors(theirs.get_base_model().bert), atol=1e-5)


@pytest.mark.parametrize("name", ["word_embeddings", "dense", "pooler", "bert", "encoder", ""])
def test_a_module_of_the_encoder_that_was_saved_whole_is_refused(
    checkpoint: Builder, tmp_path: Path, name: str
) -> None:
    base = checkpoint("bert_uncased")
    folder = _trained(_classifier(base), tmp_path / "a")
    refused(
        _edited(folder, tmp_path / "b", modules_to_save=["classifier", name]),
        "modules_to_save names what is no head",
        base=base,
    )


def test_a_pooler_that_was_drawn_at_random_is_in_no_hash_and_not_used(
    checkpoint: Builder, tmp_path: Path
) -> None:
    base = checkpoint("bert_cased")  # without a pooler in its file
    for number, targets in enumerate((["query"], ["dense"], "all-linear")):
        folder = _trained(
            AutoModel.from_pretrained(base), tmp_path / str(number), target_modules=targets
        )
        sources = [resolve_checkpoint(str(folder), base=str(base)) for _ in range(3)]
        assert len({(one.weights, one.location) for one in sources}) == 1
        assert [one.checkpoint.load_encoder()[1] for one in sources] == [False] * 3
        files = list(Path(sources[0].location).glob("**/*.safetensors"))
        assert not [
            path
            for path in files
            if "pooler" in path.read_bytes()[:9_000].decode("latin-1")
            and "adapter" not in str(path)
        ]


def test_a_pooler_of_the_file_is_merged(checkpoint: Builder, tmp_path: Path) -> None:
    base = checkpoint("bert_uncased")
    folder = _trained(AutoModel.from_pretrained(base), tmp_path / "a", target_modules=["dense"])
    ours, trained = resolve_checkpoint(str(folder), base=str(base)).checkpoint.load_encoder()
    theirs: Any = peft.PeftModel.from_pretrained(
        AutoModel.from_pretrained(base), folder
    ).merge_and_unload()
    assert trained
    assert torch.allclose(ours.pooler.dense.weight, theirs.pooler.dense.weight, atol=1e-6)


def test_a_table_that_was_resized_and_one_with_matrices_have_their_own_sentences(
    checkpoint: Builder, tmp_path: Path
) -> None:
    base, here = checkpoint("bert_uncased"), str(tmp_path)
    model = AutoModel.from_pretrained(base)
    model.resize_token_embeddings(model.config.vocab_size + 2)
    tokenizer = AutoTokenizer.from_pretrained(base)
    tokenizer.add_tokens(["<a>", "<b>"])
    whole = _trained(model, tmp_path / "whole")
    tokenizer.save_pretrained(whole)
    state = {
        "base_model.model.embeddings.word_embeddings.weight": model.get_input_embeddings().weight.data.clone()
    }
    reweigh(whole / "adapter_model.safetensors", lambda filed: {**filed, **state})
    alone = Path(shutil.copytree(whole, tmp_path / "alone"))
    reweigh(
        alone / "adapter_model.safetensors",
        lambda filed: {n: v for n, v in filed.items() if "lora_" in n},
    )
    beside = _trained(
        AutoModel.from_pretrained(base),
        tmp_path / "beside",
        target_modules=["query", "word_embeddings"],
    )
    nothing = Path(shutil.copytree(alone, tmp_path / "nothing"))
    reweigh(nothing / "adapter_model.safetensors", lambda filed: {})
    for folder, said in (
        (whole, r"whole table of embeddings.*give .* a table of this size"),
        (alone, r"tokenizer has \d+ entries, but the encoder has only \d+.*--tokenizer"),
        (beside, r"target_modules names .*word_embeddings \(Embedding\), but only linear layers"),
        (nothing, "is empty, so the adapter has no matrices"),
    ):
        refused(folder, rf"^{here}/\w+ on {base}: .*{said}", base=base)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e38])
def test_matrices_that_are_not_finite_are_told_with_the_name_of_the_adapter(
    checkpoint: Builder, plain: Path, tmp_path: Path, value: float
) -> None:
    folder = Path(shutil.copytree(plain, tmp_path / "diverged"))
    reweigh(
        folder / "adapter_model.safetensors",
        lambda state: {n: v.fill_(value) for n, v in state.items()},
    )
    refused(folder, r"diverged on .*not finite, or huge", base=checkpoint("bert_uncased"))


# Identity


def test_the_hash_is_of_base_matrices_and_scale(
    checkpoint: Builder, plain: Path, tmp_path: Path
) -> None:
    base = str(checkpoint("bert_uncased"))
    first = resolve_checkpoint(str(plain), base=base).weights
    moved = Path(shutil.copytree(plain, tmp_path / "moved"))
    reweigh(moved / "adapter_model.safetensors", lambda state: dict(reversed(state.items())))
    about = json.loads((moved / "adapter_config.json").read_text())
    about |= {
        "peft_version": "0.1",
        "target_modules": sorted(about["target_modules"], reverse=True),
        "lora_alpha": 8.0,
    }
    (moved / "adapter_config.json").write_text(json.dumps(about, indent=7))
    assert resolve_checkpoint(str(moved), base=base).weights == first
    others = [
        resolve_checkpoint(
            str(_edited(plain, tmp_path / "alpha", lora_alpha=9)), base=base
        ).weights,
        resolve_checkpoint(
            str(_edited(plain, tmp_path / "root", use_rslora=True)), base=base
        ).weights,
        resolve_checkpoint(base).weights,
    ]
    changed = Path(shutil.copytree(plain, tmp_path / "changed"))
    reweigh(
        changed / "adapter_model.safetensors",
        lambda state: {name: value + 1e-6 for name, value in state.items()},
    )
    others.append(resolve_checkpoint(str(changed), base=base).weights)
    base_of_others = Path(shutil.copytree(base, tmp_path / "bert_uncased"))
    reweigh(
        base_of_others / "model.safetensors",
        lambda state: {name: value + 1e-6 for name, value in state.items()},
    )
    others.append(resolve_checkpoint(str(plain), base=str(base_of_others)).weights)
    assert len({first, *others}) == 6


def test_a_change_of_the_merged_adapter_is_noticed_before_a_trial(
    checkpoint: Builder, plain: Path
) -> None:
    from blurb.checkpoints.source import check_unchanged

    source = resolve_checkpoint(str(plain), base=str(checkpoint("bert_uncased")))
    place = Path(source.location) / adapter.FOLDER / adapter.WEIGHTS
    before = place.read_bytes()
    try:
        reweigh(place, lambda state: {name: value * 2 for name, value in state.items()})
        with pytest.raises(ModelError, match="have changed since its trials were planned"):
            check_unchanged(source)
    finally:
        place.write_bytes(before)


@pytest.mark.parametrize("number", [torch.int8, torch.bool])
def test_matrices_that_are_no_floating_point_numbers_are_refused(
    checkpoint: Builder, plain: Path, tmp_path: Path, number: torch.dtype
) -> None:
    folder = Path(shutil.copytree(plain, tmp_path / "adapter"))
    reweigh(
        folder / "adapter_model.safetensors",
        lambda state: {name: value.to(number) for name, value in state.items()},
    )
    refused(
        folder,
        r"adapter_model.safetensors has weights that are no float",
        base=checkpoint("bert_uncased"),
    )


@pytest.mark.parametrize("factor", [1, 3])
@pytest.mark.parametrize(
    "prefix", ["", "base_model.model._orig_mod.", "_orig_mod.base_model.model."]
)
def test_a_matrix_under_two_names_has_one_value(
    checkpoint: Builder, plain: Path, tmp_path: Path, prefix: str, factor: int
) -> None:
    base = str(checkpoint("bert_uncased"))
    folder = Path(shutil.copytree(plain, tmp_path / "adapter"))
    reweigh(
        folder / "adapter_model.safetensors",
        lambda state: (
            state
            | {
                name.replace("base_model.model.", prefix): value * factor
                for name, value in state.items()
            }
        ),
    )
    if factor == 1:
        resolve_checkpoint(str(folder), base=base)
    else:
        refused(folder, r"different values: .* in adapter_model", base=base)
