"""What identifies weights: the files that transformers reads, whatever an index or a link says.

Oracle: transformers itself, whose loaded parameters differ wherever the hash must, and the hash that a folder without
an index has always had, written out once more.
"""

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel

from blurb.checkpoints import Checkpoint
from blurb.checkpoints.weights import ORDER, check_header
from blurb.learners.building import resolve_model
from blurb.messages.errors import ModelError
from tests import checkpoints
from tests.checkpoints import refused, reweigh
from tests.conftest import Builder
from tests.rewriting import rewrite

INDEX = "model.safetensors.index.json"


def _shard(folder: Path, name: str = "part.safetensors") -> dict[str, str]:
    """Moves the weights of a checkpoint to another file; the weight map of an index that names it."""
    (folder / "model.safetensors").rename(folder / name)
    return dict.fromkeys(load_file(folder / name), name)


def _index(folder: Path, weight_map: Any, **others: Any) -> None:
    content = {"metadata": {"total_size": 1}, "weight_map": weight_map, **others}
    (folder / INDEX).write_text(json.dumps(content), encoding="utf-8")


def _sum(folder: Path) -> float:
    return sum(
        float(parameter.detach().sum())
        for parameter in Checkpoint(folder).load_encoder()[0].parameters()
    )


def test_a_folder_without_an_index_keeps_the_hash_it_always_had(copy: Path) -> None:
    (copy / "other.safetensors").write_bytes(b"x")  # not read by transformers, but always hashed
    digest = hashlib.sha256()
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    for volatile in (
        "_name_or_path",
        "transformers_version",
        "torch_dtype",
        "dtype",
        "architectures",
    ):
        config.pop(volatile, None)
    digest.update(json.dumps(config, sort_keys=True).encode())
    for name in ("model.safetensors", "other.safetensors"):
        digest.update(hashlib.sha256((copy / name).read_bytes()).digest())
    assert Checkpoint(copy).weights_hash == digest.hexdigest()


def test_an_index_beside_a_whole_file_is_not_read(copy: Path) -> None:
    before = Checkpoint(copy).weights_hash
    _index(copy, {"x": "nowhere.safetensors"})
    assert Checkpoint(copy).weights_hash == before
    Checkpoint(copy).load_encoder()  # transformers sees it the same way


def test_an_index_that_chooses_other_weights_gives_another_hash(copy: Path) -> None:
    """The folder is the same but for the one word that decides what is loaded."""
    one = _shard(copy)
    reweigh(
        copy / "part.safetensors",
        lambda state: {key: value * 2 for key, value in state.items()},
        to=copy / "two.safetensors",
    )
    _index(copy, one)
    first, total = Checkpoint(copy).weights_hash, _sum(copy)
    assert [path.name for path in Checkpoint(copy).weights.files] == ["part.safetensors"]
    _index(copy, dict.fromkeys(one, "two.safetensors"))
    assert _sum(copy) != pytest.approx(total)
    assert Checkpoint(copy).weights_hash != first


def test_weights_of_a_subfolder_that_change_change_the_hash(copy: Path) -> None:
    (copy / "deep").mkdir()
    _index(copy, _shard(copy, "deep/part.safetensors"))
    first, total = resolve_model(str(copy)).weights, _sum(copy)
    reweigh(
        copy / "deep/part.safetensors",
        lambda state: {key: value + 1 for key, value in state.items()},
    )
    assert _sum(copy) != pytest.approx(total)
    assert resolve_model(str(copy)).weights != first


def test_weights_that_the_configuration_names(copy: Path) -> None:
    (copy / "deep").mkdir()
    _shard(copy, "deep/x.safetensors")
    rewrite(copy / "config.json", transformers_weights="deep/x.safetensors")
    before, total = Checkpoint(copy).weights_hash, _sum(copy)
    reweigh(
        copy / "deep/x.safetensors", lambda state: {key: value + 1 for key, value in state.items()}
    )
    assert _sum(copy) != pytest.approx(total)
    assert Checkpoint(copy).weights_hash != before


def test_pickled_weights_beside_safetensors_that_nobody_reads(copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    (copy / "model.safetensors").rename(copy / "adapter.safetensors")
    torch.save(weights, copy / "pytorch_model.bin")
    before = Checkpoint(copy).weights_hash
    torch.save({key: value + 1 for key, value in weights.items()}, copy / "pytorch_model.bin")
    assert Checkpoint(copy).weights_hash != before


def test_pickled_shards(copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    (copy / "model.safetensors").unlink()
    torch.save(weights, copy / "pytorch_model-1.bin")
    index = {"metadata": {}, "weight_map": dict.fromkeys(weights, "pytorch_model-1.bin")}
    (copy / ORDER[3]).write_text(json.dumps(index), encoding="utf-8")
    Checkpoint(copy).load_encoder()
    assert [path.name for path in Checkpoint(copy).weights.files] == ["pytorch_model-1.bin"]


@pytest.mark.parametrize(
    "name", ["../out.safetensors", "/out.safetensors", "deep/../../out.safetensors"]
)
def test_an_index_that_names_a_file_outside_is_refused(copy: Path, name: str) -> None:
    weight_map = _shard(copy)
    (copy / "part.safetensors").rename(copy.parent / "out.safetensors")
    _index(copy, dict.fromkeys(weight_map, name))
    refused(copy, r"mine: model.safetensors.index.json names '.*out.safetensors', which is out")


def test_an_index_that_names_a_link_to_the_outside_is_refused(copy: Path) -> None:
    _index(copy, _shard(copy))
    (copy / "part.safetensors").rename(copy.parent / "out.safetensors")
    (copy / "part.safetensors").symlink_to(copy.parent / "out.safetensors")
    refused(copy, r"names .part.safetensors., which is outside of the folder")


@pytest.mark.parametrize("shared", [False, True])
def test_the_links_of_the_hub_s_cache_are_followed(
    copy: Path, tmp_path: Path, shared: bool
) -> None:
    """`snapshots/REVISION/FILE -> ../../blobs/HASH`, which may be a link to a store of all repositories."""
    _index(copy, _shard(copy))
    plain = Checkpoint(copy).weights_hash
    repository = tmp_path / "hub" / "models--org--name"
    snapshot = repository / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    for number, path in enumerate(sorted(copy.iterdir())):
        blob = repository / "blobs" / f"blob{number}"
        if shared:
            store = tmp_path / "hub" / "blobs" / "ab"
            store.mkdir(parents=True, exist_ok=True)
            path.rename(store / f"blob{number}")
            blob.symlink_to(store / f"blob{number}")
        else:
            path.rename(blob)
        (snapshot / path.name).symlink_to(Path("..", "..", "blobs", blob.name))
    assert resolve_model(str(snapshot)).weights == plain
    (snapshot / "part.safetensors").unlink()
    (snapshot / "part.safetensors").symlink_to(tmp_path / "hub" / "out.safetensors")
    (tmp_path / "hub" / "out.safetensors").write_bytes(b"x")
    refused(snapshot, "outside of the folder")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "must contain a JSON object \\(got list"),
        ("{", "is not a valid JSON file: line 1"),
        ("{}", "has no weight_map"),
        ('{"metadata": {}, "weight_map": {}}', "has no weight_map"),
        ('{"metadata": {}, "weight_map": ["a"]}', "has no weight_map"),
        ('{"metadata": {}, "weight_map": {"a": 3}}', "has no weight_map"),
        ('{"weight_map": {"a": "part.safetensors"}}', "has no metadata"),
        (
            '{"metadata": {}, "weight_map": {"a": "lost.safetensors"}}',
            "names 'lost.safetensors', which is missing",
        ),
        ("[" * 100_000, "is not a valid JSON file: it is nested too deeply"),
    ],
)
def test_an_index_that_is_none_is_one_error(copy: Path, content: str, message: str) -> None:
    _shard(copy)
    (copy / INDEX).write_text(content, encoding="utf-8")
    refused(copy, f"mine: {INDEX} {message}")


@pytest.mark.parametrize("kind", ["folder", "dangling", "loop"])
@pytest.mark.parametrize("name", ["model.safetensors", "extra.safetensors"])
def test_weights_that_are_no_file(copy: Path, kind: str, name: str) -> None:
    path = copy / name
    path.unlink(missing_ok=True)
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(path if kind == "loop" else copy / "nowhere")
    refused(copy, f"{name} is not a file .it is a folder or a broken link")


def test_safetensors_that_transformers_would_not_find_are_no_weights(copy: Path) -> None:
    _shard(copy)
    refused(copy, r"no weights; expected model.safetensors")


def test_compressed_weights_are_refused(copy: Path) -> None:
    """torch unpacks them, however large they become; it never writes them."""
    path = copy / "pytorch_model.bin"
    torch.save(load_file(copy / "model.safetensors"), path)
    (copy / "model.safetensors").unlink()
    Checkpoint(copy).check_files(with_tokenizer=False)
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, part in content.items():
            packed.writestr(name, part)
    with pytest.raises(
        ModelError, match=r"mine: pytorch_model.bin is compressed \(.*\), as torch.save never does"
    ):
        Checkpoint(copy).check_files(with_tokenizer=False)


def test_compressed_weights_are_refused_whatever_they_look_like(copy: Path) -> None:
    """What torch takes for an archive counts, and what it would read in all."""
    path = copy / "pytorch_model.bin"
    for other in copy.glob("*.safetensors"):
        other.unlink()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data/0", bytes(1_000_000))
        archive.comment = b"PK\x05\x06" + bytes(10)  # which is_zipfile takes for a damaged end
    with pytest.raises(ModelError, match=r"pytorch_model.bin"):
        check_header(copy, path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/0", bytes(1_000))
        archive.filelist += archive.filelist * 20  # one part under many names
    with pytest.raises(ModelError, match=r"its parts are larger than it is"):
        check_header(copy, path)


# Two values for one weight: of two names or two files, one of which would be loaded.


TWICE = {
    "prefix": (
        "bert_uncased",
        "bert.encoder.layer.0.output.dense.weight",
        "encoder.layer.0.output.dense.weight",
    ),
    "old name": (
        "bert_uncased",
        "bert.embeddings.LayerNorm.weight",
        "bert.embeddings.LayerNorm.gamma",
    ),
    "tied": ("t5", "shared.weight", "encoder.embed_tokens.weight"),
}


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("case", TWICE)
def test_a_weight_under_two_names_has_one_value(
    checkpoint: Builder, tmp_path: Path, case: str, binary: bool
) -> None:
    kind, name, other = TWICE[case]
    folder = Path(shutil.copytree(checkpoint(kind), tmp_path / "mine"))
    path = folder / "model.safetensors"
    state = {key: value.clone() for key, value in load_file(path).items()}
    path.rename(tmp_path / "mapped")
    for factor in (1, 3):
        content = state | {other: state[name] * factor}
        if binary:
            torch.save(content, folder / "pytorch_model.bin")
        else:
            save_file(content, path, {"format": "pt"})
        if factor == 1:
            Checkpoint(folder).load_encoder()
    with pytest.raises(
        ModelError, match=rf"mine: the weight .* has different values: .*{other} in .*model"
    ):
        Checkpoint(folder).load_encoder()


@pytest.mark.parametrize("factor", [1, 3])
def test_a_weight_in_two_shards_has_one_value(copy: Path, factor: int) -> None:
    weight_map = _shard(copy)
    name = "bert.encoder.layer.0.output.dense.weight"
    value = load_file(copy / "part.safetensors")[name]
    save_file({name: value * factor}, copy / "two.safetensors", {"format": "pt"})
    _index(copy, weight_map | {"cls.extra": "two.safetensors"})
    if factor == 1:
        Checkpoint(copy).check_filled()
    else:
        with pytest.raises(
            ModelError, match=rf"{name} in part.safetensors, and {name} in two.safetensors"
        ):
            Checkpoint(copy).check_filled()


def test_files_that_are_not_read_may_have_other_values(copy: Path) -> None:
    reweigh(
        copy / "model.safetensors",
        lambda state: {key: value * 3 for key, value in state.items()},
        to=copy / "model.old.safetensors",
    )
    Checkpoint(copy).load_encoder()


# Weights that nothing uses: those of heads, poolers and old buffers may be there, those inside the encoder may not.


KINDS = [*checkpoints.KINDS, *checkpoints.FAMILIES]
OLD = (
    "position_ids",
    "token_type_ids",
    "inv_freq",
    "rotary_emb.inv_freq",
    "attn.bias",
    "attn.masked_bias",
)
"""Buffers of older releases."""
HEADS = (
    "cls.predictions.bias",
    "lm_head.weight",
    "classifier.dense.weight",
    "pooler.dense.extra",
    "qa_outputs.weight",
)


@pytest.fixture
def with_weights(checkpoint: Builder, tmp_path: Path) -> Callable[..., Path]:
    """Copies a kind of checkpoint with more weights, named below a module of the encoder or at the top."""

    def build(kind: str, *names: str, binary: bool = False) -> Path:
        folder = Path(shutil.copytree(checkpoint(kind), tmp_path / kind))
        reweigh(
            folder / "model.safetensors",
            lambda state: state | {name: torch.ones(3) for name in names},
        )
        if binary:
            torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
            (folder / "model.safetensors").unlink()
        return folder

    return build


def _module(folder: Path) -> str:
    """The name of a module within the layers, as the file of the checkpoint has it."""
    model = AutoModel.from_pretrained(folder)
    named = [
        name for name in load_file(folder / "model.safetensors") if ".0." in name or ".1." in name
    ]
    inside = [
        name
        for name in named
        if name.removeprefix(f"{model.base_model_prefix}.").split(".")[0] != "decoder"
    ]
    return inside[0].rpartition(".")[0]


@pytest.mark.parametrize("kind", KINDS)
def test_heads_and_old_buffers_may_be_there(
    checkpoint: Builder, with_weights: Callable[..., Path], kind: str
) -> None:
    inside = _module(checkpoint(kind))
    folder = with_weights(kind, *HEADS, *(f"{inside}.{name}" for name in OLD))
    Checkpoint(folder).check_filled()
    Checkpoint(folder).load_encoder()


@pytest.mark.parametrize(
    "name", ["distance_embedding.weight", "self.extra", "attn.bias.weight", "lora_A.default.weight"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_others_inside_the_encoder_are_refused(
    checkpoint: Builder, with_weights: Callable[..., Path], kind: str, name: str
) -> None:
    folder = with_weights(kind, f"{_module(checkpoint(kind))}.{name}")
    refused(folder, rf"of the weights inside the encoder's own modules are not used .*\.{name}")


def test_relative_positions_of_bert(with_weights: Callable[..., Path]) -> None:
    """transformers 5 has no relative positions for BERT, and loaded such a checkpoint as one of absolute positions."""
    names = [f"bert.encoder.layer.{n}.attention.self.distance_embedding.weight" for n in (0, 1)]
    folder = with_weights("bert_uncased", *names)
    rewrite(folder / "config.json", position_embedding_type="relative_key")
    refused(folder, r"2 of the weights inside .*distance_embedding")


def test_of_pickled_weights_when_they_are_loaded(with_weights: Callable[..., Path]) -> None:
    folder = with_weights("bert_uncased", "bert.encoder.layer.0.attention.self.extra", binary=True)
    with pytest.raises(ModelError, match="1 of the weights inside"):
        Checkpoint(folder).load_encoder()


@pytest.mark.parametrize(
    ("prefix", "by"),
    [
        ("module.", ", as DataParallel writes them"),
        ("_orig_mod.", ", as torch.compile writes them"),
        ("model.", ", as Lightning writes them"),
        ("student.", ""),
    ],
)
def test_a_prefix_is_named(copy: Path, prefix: str, by: str) -> None:
    reweigh(
        copy / "model.safetensors",
        lambda state: {f"{prefix}{name}": one for name, one in state.items()},
    )
    refused(copy, rf"the names in the file begin with '{prefix}bert\.'{by}; save it again")


@pytest.mark.parametrize(
    "name", ["bert.entity_embeddings.weight", "bert.encoder.layer.0.pooler_gate.weight"]
)
def test_of_modules_that_the_encoder_does_not_have(
    with_weights: Callable[..., Path], name: str
) -> None:
    refused(with_weights("bert_uncased", name), rf"1 of the weights inside .*{name}")


def _bare(folder: Path) -> set[str]:
    """The names in a file that the encoder has as they stand."""
    return set(load_file(folder / "model.safetensors")) & set(
        AutoModel.from_pretrained(folder).state_dict()
    )


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_beside_an_encoder_without_a_prefix_nothing_but_heads(
    checkpoint: Builder, with_weights: Callable[..., Path], kind: str, binary: bool
) -> None:
    """Oracle: transformers' own names. What is beside a prefix, as of a model with a head, is none of the encoder's."""
    folder = with_weights(kind, "entity_embeddings.weight", binary=binary)
    if not _bare(checkpoint(kind)):
        Checkpoint(folder).load_encoder()
    else:
        with pytest.raises(ModelError, match=r"1 of the weights inside .*entity_embeddings"):
            Checkpoint(folder).load_encoder()
