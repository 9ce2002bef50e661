"""What strangers may put into a checkpoint: one sentence that names the file, before anything is built or written.

Every case was a traceback, an abort of the process, or an hour.
"""

import argparse
import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from blurb.api.model_check import check_model
from blurb.checkpoints import Checkpoint
from blurb.checkpoints.reading import blame_folder
from blurb.checkpoints.tokenizer_files import JSON_FILES
from blurb.learners.building import resolve_model
from blurb.messages.errors import ModelError
from blurb.planning import trials
from blurb.planning.options import RunOptions
from blurb.planning.request import make_request
from tests import checkpoints
from tests.checkpoints import refused
from tests.cli.in_process import run
from tests.conftest import Builder
from tests.rewriting import edit, rewrite

CONFIGS: list[tuple[dict[str, Any], str]] = [
    (
        {"hidden_size": "x"},
        r"hidden_size must be a whole number, at least 1 and at most 1,000,000 .got 'x'.",
    ),
    ({"hidden_size": 128.5}, r"hidden_size must be a whole number, .* .got 128.5."),
    ({"hidden_size": True}, r"hidden_size must be a whole number, .* .got True."),
    ({"hidden_size": None}, "its config.json does not describe a text encoder: .*hidden_size"),
    ({"hidden_size": 0}, r"hidden_size must be at least 1 and at most 1,000,000 .got 0."),
    ({"num_hidden_layers": "2"}, r"num_hidden_layers must be a whole number, .* .got '2'."),
    (
        {"num_hidden_layers": 20_000},
        r"num_hidden_layers must be at least 1 and at most 500 .got 20000.",
    ),
    (
        {"num_attention_heads": 0},
        r"num_attention_heads must be at least 1 and at most 10,000 .got 0.",
    ),
    (
        {"num_attention_heads": -2},
        r"num_attention_heads must be at least 1 and at most 10,000 .got -2.",
    ),
    (
        {"vocab_size": 4_000_000_000},
        r"vocab_size must be at least 1 and at most 10,000,000 .got 4000000000.",
    ),
    ({"vocab_size": [1] * 99}, r"vocab_size must be a whole number, .* .got \[1, [1, ]*\)"),
    ({"attention_probs_dropout_prob": float("nan")}, "_prob must be a number, .* below 1 .got nan"),
    ({"hidden_dropout_prob": 1}, "hidden_dropout_prob must be at least 0 and below 1 .got 1"),
    ({"hidden_dropout_prob": -0.1}, "hidden_dropout_prob must be at least 0 and below 1"),
    ({"hidden_dropout_prob": "0.1"}, "hidden_dropout_prob must be a number, at least 0 and"),
    ({"layer_norm_eps": float("inf")}, "layer_norm_eps must be a number, above 0 .got inf"),
    ({"layer_norm_eps": {"__float__": "Infinity"}}, "layer_norm_eps must be a number, above 0"),
    ({"layer_norm_eps": 0}, "layer_norm_eps must be above 0 .got 0"),
    ({"hidden_act": None}, "its config.json does not describe a text encoder: .*hidden_act"),
    ({"hidden_act": "evil"}, "its config.json does not describe a text encoder: .*evil"),
    ({"dtype": "evil"}, r"dtype must be one of float32, .* .got 'evil'."),
    ({"torch_dtype": 3}, r"torch_dtype must be one of float32, .* .got 3."),
    (
        {"attn_implementation": "evil/kernel"},
        r"attn_implementation must be one of eager, .* .got 'evil/kernel'.",
    ),
    (
        {"_attn_implementation": ["x"]},
        r"_attn_implementation must be one of eager, .* .got \['x'\].",
    ),
    (
        {"_attn_implementation_internal": "evil/kernel"},
        r"_attn_implementation_internal must be one of eager",
    ),
    (
        {"_experts_implementation_internal": "evil/kernel"},
        r"_experts_implementation_internal must be one of eager",
    ),
    (
        {"experts_implementation": {"": "evil/kernel"}},
        r"experts_implementation must be one of eager",
    ),
    (
        {"text_config": {"_attn_implementation": "evil/kernel"}},
        r"_attn_implementation must be one of eager",
    ),
    (
        {"deep": [{"x": {"attn_implementation": "evil/kernel"}}]},
        r"attn_implementation must be one of eager",
    ),
    ({"trust_remote_code": True}, "it asks for trust_remote_code itself; that is for you to say"),
    (
        {"model_type": "lightglue", "trust_remote_code": True},
        "it asks for trust_remote_code itself",
    ),
    ({"deep": {"trust_remote_code": "yes"}}, "it asks for trust_remote_code itself"),
    ({"model_type": "lightglue"}, "'lightglue' is not a text-only model"),
    ({"model_type": "vision-text-dual-encoder"}, "is not a text-only model"),
    ({"quantization_config": "x"}, "the weights are quantised .*dequantise them"),
    (
        {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}},
        "the weights are quantised",
    ),
    (
        {"hidden_size": 4_000, "vocab_size": 1_000_000},
        r"an encoder of [\d,]+ parameters, but the weights are [\d,]+ by",
    ),
    ({"transformers_weights": "x.bin"}, "transformers_weights must name a safetensors file"),
    (
        {"transformers_weights": "../x.safetensors"},
        "config.json names '../x.safetensors', which is outside",
    ),
    ({"model_type": "encodec"}, "'encodec' is not a text-only model"),
    (
        {"encoder": {"model_type": "bert", "num_hidden_layers": 10**9}},
        "num_hidden_layers must be at least 1 and at most 500",
    ),
]


@pytest.mark.parametrize(("values", "message"), CONFIGS)
def test_a_configuration_that_cannot_be_built(
    copy: Path, values: dict[str, Any], message: str
) -> None:
    rewrite(copy / "config.json", **values)
    start = time.process_time()
    refused(copy, rf"mine(/config.json)?: .*{message}")
    assert time.process_time() - start < 20


def _set(token: str, index: Any) -> Callable[[dict[str, Any]], None]:
    return lambda content: content["model"]["vocab"].update({token: index})


IDS: list[tuple[Callable[[dict[str, Any]], None], str]] = [
    (
        _set("kalo", 4_000_000_000),
        "tokenizer.json: the id of 'kalo' must be a whole number from 0 to 9,999,999 .got 40",
    ),
    (_set("kalo", -1), "the id of 'kalo' must be a whole number .*got -1"),
    (_set("kalo", "7"), "the id of 'kalo' must be a whole number .*got '7'"),
    (_set("kalo", 5_000), "the tokenizer has 351 entries, but the encoder has only 350 embeddings"),
    (
        _set("wos", 5_000),
        "the tokenizer has an entry with id 5000, but the encoder has only 350 embeddings",
    ),
    (
        lambda content: content["added_tokens"][0].update(id=10**12),
        "the id of '.PAD.' must be a whole number .*got 1000",
    ),
    (lambda content: content.update(model=[]), "cannot load the tokenizer"),
    (lambda content: content.update(normalizer={"type": "Evil"}), "cannot load the tokenizer"),
]


@pytest.mark.parametrize(("change", "message"), IDS)
def test_token_ids_that_no_tokenizer_can_hold(copy: Path, change: Any, message: str) -> None:
    edit(copy / "tokenizer.json", change)
    refused(copy, f"mine(/config.json)?: .*{message}")


CONTENTS = [
    *(
        (name, content, f"mine: cannot load the tokenizer: {name} .*{message}")
        for name in JSON_FILES
        for content, message in (
            ("[1]", r"must contain a JSON object \(got list"),
            ("[" * 100_000, "nested too deeply"),
            ("\udcff", "cannot|codec"),
        )
    ),
    *(
        (
            "config.json",
            content,
            r"mine: config.json (must contain a JSON object|is not a valid JSON file)",
        )
        for content in ("[]", '"x"', "[" * 100_000, '{"a":' * 100_000, "9" * 5_000, "")
    ),
    ("config.json", "{", "mine: .*not a valid JSON"),
    ("config.json", "{}", "model_type"),
    ("config.json", '{"model_type": "nonsense"}', "does not describe a text encoder: .*nonsense"),
    (
        "config.json",
        '{"model_type": "bert", "hidden_size": 30, "num_attention_heads": 7}',
        "not a multiple",
    ),
    ("config.json", '{"model_type": "encodec"}', "'encodec' is not a text-only model"),
    ("tokenizer.json", "", "cannot load the tokenizer"),
    ("tokenizer.json", "{", "cannot load the tokenizer"),
    *(
        (
            name,
            "version https://git-lfs.github.com/spec/v1\nsize 9\n",
            f"{name} is a Git LFS pointer .*git lfs pull",
        )
        for name in ("config.json", "model.safetensors", "tokenizer.json")
    ),
]


@pytest.mark.parametrize(("name", "content", "message"), CONTENTS)
def test_a_file_that_is_none_of_its_kind(copy: Path, name: str, content: str, message: str) -> None:
    (copy / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    refused(copy, message)


def test_a_key_with_two_values_has_none(copy: Path) -> None:
    """Twice the same is one value."""
    path = copy / "config.json"
    text = path.read_text(encoding="utf-8")
    hidden = json.loads(text)["hidden_size"]
    path.write_text(text.replace("{", f'{{"hidden_size": {hidden}, ', 1), encoding="utf-8")
    resolve_model(str(copy))
    path.write_text(text.replace("{", '{"hidden_size": 7, ', 1), encoding="utf-8")
    refused(copy, "the key 'hidden_size' has two values in one object")


def test_an_error_that_begins_with_a_printed_module_says_its_end(copy: Path) -> None:
    rewrite(copy / "config.json", add_cross_attention=True)
    refused(copy, r"BertLayer\(\.\.\.\) should be used as a decoder")


def test_a_vocabulary_without_its_unknown_token(copy: Path) -> None:
    """It works until the first word that is not in the vocabulary, which would be in the middle of a trial."""
    (copy / "tokenizer.json").unlink()
    subtokens = [
        "[PAD]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
        *"ad",
    ]
    (copy / "vocab.txt").write_text("\n".join(subtokens) + "\n", encoding="utf-8")
    rewrite(copy / "tokenizer_config.json", unk_token=None)
    refused(copy, r"mine: cannot load the tokenizer: .*UNK")


def test_weights_that_were_cut_are_found_while_planning(copy: Path) -> None:
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:10_000])
    refused(copy, r"mine: cannot load the weights: model.safetensors: ")


def test_new_tokens_never_share_the_id_of_another(copy: Path) -> None:
    """Where ids have a gap, tokenizers may give a token that is added the id of one that is there."""
    edit(copy / "tokenizer.json", _set("kalo", 355))
    tokenizer = Checkpoint(copy).tokenizer
    with pytest.raises(
        ModelError,
        match=r"mine have gaps, so a new token such as @DRUG\$ would get the id of another",
    ):
        tokenizer.extended(["@DRUG$", "@GENE$", *(f"[{number}]" for number in range(9))])


@pytest.mark.parametrize("kind", checkpoints.KINDS)
def test_no_healthy_checkpoint_is_refused(checkpoint: Builder, kind: str) -> None:
    resolve_model(str(checkpoint(kind)))


def test_the_command_ends_with_2_and_writes_nothing(copy: Path, here: Path) -> None:
    rewrite(copy / "config.json", hidden_act=None)
    before = sorted(here.rglob("*"))
    done = run("run", str(copy), "--suite", "demo", "--protocol", "smoke", "--tasks", "gad")
    assert isinstance(done.exception, ModelError)  # `blurb.cli.main` prints these and exits with 2
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize(
    ("architectures", "kind"),
    [(["BertForMaskedLM"], "bert"), (["DebertaV2Model"], "deberta-v2"), (None, "bert ")],
)
def test_no_model_type_says_which_to_add(
    copy: Path, architectures: list[str] | None, kind: str
) -> None:
    edit(copy / "config.json", lambda content: content.pop("model_type"))
    rewrite(copy / "config.json", architectures=architectures)
    refused(copy, f'has no model_type.*; add "model_type": "{kind}')


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bert_model.ckpt.index", "TensorFlow"),
        ("tf_model.h5", "TensorFlow"),
        ("flax_model.msgpack", "Flax"),
        ("model.fp16.safetensors", "rename the file"),
        ("last.ckpt", "Lightning"),
        ("model.pt", "torch.save"),
        ("x.gguf", "llama.cpp"),
    ],
)
@pytest.mark.parametrize("with_config", [True, False])
def test_the_release_of_another_library_is_named(
    copy: Path, name: str, said: str, with_config: bool
) -> None:
    (copy / "model.safetensors").rename(copy / name)
    if not with_config:
        (copy / "config.json").unlink()
    refused(copy, f"no {'weights' if with_config else 'config.json'};.*{said}")


@pytest.mark.parametrize(
    ("name", "value"),
    [("return_dict", False), ("chunk_size_feed_forward", 2), ("use_return_dict", False)],
)
def test_switches_that_change_the_form_of_a_pass_are_reset(
    copy: Path, name: str, value: object
) -> None:
    """transformers obeys them, and every trial would fail."""
    rewrite(copy / "config.json", **{name: value})
    encoder, _ = resolve_model(str(copy)).checkpoint.load_encoder()
    assert encoder(torch.ones(1, 7, dtype=torch.long)).last_hidden_state.shape == (1, 7, 32)


def test_no_advice_and_no_colours_of_a_library(copy: Path) -> None:
    (copy / "model.safetensors").unlink()
    torch.save(argparse.Namespace(a=1), copy / "pytorch_model.bin")
    with pytest.raises(ModelError) as caught:
        Checkpoint(copy).load_encoder()
    assert "two options" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


# What config.json and the headers of weights declare, and what is loaded: types of numbers, classes of its own.


OWN = {"AutoConfig": "configuration_bi.Bi", "AutoModel": "modeling_bi.Bi"}
SAID = "config.json names code of its own, which was not allowed"


def _copy(checkpoint: Builder, kind: str, to: Path, **fields: Any) -> Path:
    folder = Path(shutil.copytree(checkpoint(kind), to))
    if fields:
        rewrite(folder / "config.json", **fields)
    return folder


FORMS: dict[str, Callable[[dict[str, torch.Tensor], Path], None]] = {
    "model.safetensors": save_file,
    "pytorch_model.bin": torch.save,
    "pytorch_model.bin of old": partial(torch.save, _use_new_zipfile_serialization=False),
}
"""How weights are saved; before release 1.6 of torch a file was no archive."""


@pytest.mark.parametrize(
    "number", [torch.int8, torch.uint8, torch.int64, torch.bool, torch.complex64]
)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("bert_uncased", "query.weight"),
        ("bert_uncased", "query.bias"),
        ("qwen3", "q_proj.weight"),
        ("xlnet", "rel_attn.q"),
    ],
)
def test_weights_that_are_no_floating_point_numbers_are_refused(
    checkpoint: Builder, tmp_path: Path, kind: str, part: str, form: str, number: torch.dtype
) -> None:
    """Half of a quantised checkpoint; buffers that are whole numbers stay."""
    folder = _copy(checkpoint, kind, tmp_path / "whole")
    path = folder / form.partition(" ")[0]
    weights = load_file(folder / "model.safetensors") | {"embeddings.position_ids": torch.arange(9)}
    (folder / "model.safetensors").rename(tmp_path / "mapped")
    FORMS[form](weights, path)
    Checkpoint(folder).check_files()
    FORMS[form](
        {
            name: (value * 127).to(number) if name.endswith(part) else value.clone()
            for name, value in weights.items()
        },
        path,
    )
    refused(
        folder, rf"{path.name} has weights that are no floating.* \(.*{part}: .*dequantise them"
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2"])
def test_all_floating_point_numbers_are_weights(copy: Path, form: str, kind: str) -> None:
    if form.endswith("old") and "8" in kind:
        pytest.skip("torch itself does not read these numbers in a file of old")
    weights = load_file(copy / "model.safetensors")
    (copy / "model.safetensors").unlink()
    own = {name: value.to(getattr(torch, kind)) for name, value in weights.items()}
    FORMS[form](own, copy / form.partition(" ")[0])
    assert Checkpoint(copy).load_encoder()[0].dtype == torch.float32
    assert (Checkpoint(copy).weights.dtype == "bfloat16") == (
        kind + form == "bfloat16model.safetensors"
    )


@pytest.mark.parametrize("form", FORMS)
def test_unused_weights_are_seen_in_every_form(copy: Path, form: str) -> None:
    weights = load_file(copy / "model.safetensors")
    (copy / "model.safetensors").unlink()
    bare = {name.removeprefix("bert."): value.clone() for name, value in weights.items()}
    FORMS[form](bare | {"entity_embeddings.weight": torch.ones(3)}, copy / form.partition(" ")[0])
    with pytest.raises(ModelError, match=r"1 of the weights inside .*entity_embeddings"):
        Checkpoint(copy).load_encoder()


@pytest.mark.parametrize("field", ["dtype", "torch_dtype"])
@pytest.mark.parametrize("value", ["torch.bfloat16", "bfloat16", "torch.float32", None])
def test_a_type_may_have_the_name_of_its_library(
    checkpoint: Builder, tmp_path: Path, field: str, value: str | None
) -> None:
    folder = _copy(checkpoint, "bert_uncased", tmp_path / "typed")
    content = {
        name: one
        for name, one in json.loads((folder / "config.json").read_text()).items()
        if "dtype" not in name
    }
    (folder / "config.json").write_text(json.dumps({**content, field: value}))
    assert resolve_model(str(folder)).checkpoint.load_encoder()[0].dtype == torch.float32


@pytest.mark.parametrize("kind", ["qwen3", "bert_uncased"])
def test_a_class_of_its_own_that_was_not_allowed_is_told(
    checkpoint: Builder, tmp_path: Path, kind: str
) -> None:
    folder = _copy(checkpoint, kind, tmp_path / "own", auto_map=OWN)
    (surprise,) = [one for one in check_model(str(folder)).surprises if SAID in one]
    assert "attention=bidirectional" in surprise
    assert not [one for one in check_model(str(checkpoint(kind))).surprises if SAID in one]
    pooling = {"pooling": "mean"} if kind == "bert_uncased" else {"pooling": "last"}
    for lr in (None, 1e-4):
        options = RunOptions(
            model=str(folder),
            suite="demo",
            tasks="gad",
            protocol="smoke",
            output=tmp_path / "runs",
            lr=lr,
            **pooling,
        )
        request, *_ = make_request(options)
        planned = [job.trial for job in trials.prepare(request).final]
        assert SAID in trials.remarks_on_rates(request, request.sources[0], planned)["gad"]


@pytest.mark.parametrize(
    "named", [{"AutoConfig": "a.B"}, {"AutoTokenizer": ["a.B", None]}, {}, None]
)
def test_code_for_other_parts_is_no_class_of_the_model(
    checkpoint: Builder, tmp_path: Path, named: Any
) -> None:
    folder = _copy(checkpoint, "bert_uncased", tmp_path / "other", auto_map=named)
    assert Checkpoint(folder).ignored_code == ""
    assert Checkpoint(folder, remote_code=True).ignored_code == ""


class PanicException(BaseException):
    """Named as that of libraries in Rust, which is no Exception either."""


@contextmanager
def failing_clean_up() -> Iterator[None]:
    """As torch's, where an interrupt comes between the push and the pop of a mode."""
    try:
        yield
    finally:
        raise RuntimeError("trying to pop from empty mode stack")


def test_what_a_library_raises_is_told_and_what_a_person_does_is_not() -> None:
    for error in (ValueError("odd"), PanicException("odd")):
        with (
            pytest.raises(ModelError, match=r"no tokenizer.*odd"),
            blame_folder("here", "no tokenizer"),
        ):
            raise error
    with pytest.raises(KeyboardInterrupt), blame_folder("here", "no tokenizer"):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt), blame_folder("here", "no tokenizer"), failing_clean_up():
        raise KeyboardInterrupt
