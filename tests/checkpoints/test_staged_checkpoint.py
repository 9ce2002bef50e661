"""Folders of the cache hold what their names say, whatever happens to the files that they were made of."""

import json
import os
import shutil
from pathlib import Path

import peft
import pytest
import torch
from safetensors.torch import load_file, save
from transformers import AutoModel

from blurb.checkpoints import Checkpoint, resolve_checkpoint
from tests.conftest import Builder


@pytest.fixture(scope="module")
def plain(checkpoint: Builder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter of BERT."""
    model = AutoModel.from_pretrained(checkpoint("bert_uncased"))
    config = peft.LoraConfig(r=4, target_modules=["query"], init_lora_weights=False)
    folder = tmp_path_factory.mktemp("adapters") / "plain"
    peft.get_peft_model(model, config).save_pretrained(folder)
    return folder


def _overwrite(path: Path) -> None:
    """Writes other weights into a file in place, as `cp` and `torch.save` do."""
    content = save({name: value + 1 for name, value in load_file(path).items()}, {"format": "pt"})
    with open(path, "r+b") as file:  # not shorter in between: a mapping of it would end the process
        file.write(content)


@pytest.mark.parametrize("damage", ["original", "overwritten", "linked", "removed", "cut"])
@pytest.mark.parametrize("adapted", [False, True])
def test_a_kept_folder_has_the_weights_of_its_name(
    copy: Path,
    plain: Path,
    tmp_path: Path,
    damage: str,
    adapted: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BLURB_HOME", str(tmp_path / "home"))
    other = Path(shutil.copytree(copy, tmp_path / "other" / "bert_uncased"))
    mine = copy.rename(copy.with_name("bert_uncased"))

    def resolve(folder: Path) -> tuple[str, float]:
        source = (
            resolve_checkpoint(str(plain), base=str(folder))
            if adapted
            else resolve_checkpoint(str(folder), tokenizer=str(folder))
        )
        encoder = source.checkpoint.load_encoder()[0]
        return source.weights, sum(float(one.detach().sum()) for one in encoder.parameters())

    before = resolve(mine)
    (kept,) = {
        path
        for path in Path(os.environ["BLURB_HOME"]).glob("models/*")
        if before[0].startswith(path.name[:16])
    }
    weights = kept / "model.safetensors"
    if damage == "original":
        _overwrite(mine / weights.name)
    elif damage == "overwritten":
        _overwrite(weights)
    elif damage == "linked":  # as earlier versions made it
        weights.unlink()
        os.link(mine / weights.name, weights)
        _overwrite(mine / weights.name)
    elif damage == "removed":
        weights.unlink()
    else:
        (kept / "config.json").write_bytes(b"{")
    assert resolve(other) == before
    assert (resolve(mine) == before) == (damage not in ("original", "linked"))


@pytest.mark.parametrize("place", ["index", "configuration", "pickled"])
@pytest.mark.parametrize("adapted", [False, True])
def test_weights_are_copied_from_wherever_they_lie(
    copy: Path, plain: Path, checkpoint: Builder, place: str, adapted: bool
) -> None:
    base = str(checkpoint("bert_uncased"))
    mine = copy.rename(copy.with_name("bert_uncased"))
    weights = load_file(mine / "model.safetensors")
    name = {"pickled": "weights-1.bin"}.get(place, "deep/part.safetensors")
    (mine / "deep").mkdir()
    (mine / "model.safetensors").rename(mine / name)
    if place == "pickled":
        content = {key: value.clone() for key, value in weights.items()}  # no mapping of that file
        torch.save(content, mine / name)
    if place == "configuration":
        config = json.loads((mine / "config.json").read_text(encoding="utf-8"))
        config["transformers_weights"] = name
        (mine / "config.json").write_text(json.dumps(config), encoding="utf-8")
    else:
        kind = "pytorch_model.bin" if place == "pickled" else "model.safetensors"
        index = {"metadata": {}, "weight_map": dict.fromkeys(weights, name)}
        (mine / f"{kind}.index.json").write_text(json.dumps(index), encoding="utf-8")
    if adapted:
        source = resolve_checkpoint(str(plain), base=str(mine))
        expected = resolve_checkpoint(str(plain), base=base).checkpoint
    else:
        source = resolve_checkpoint(str(mine), tokenizer=base)
        expected = Checkpoint(mine)
        assert source.weights == expected.weights_hash
    ours, theirs = (one.load_encoder()[0].state_dict() for one in (source.checkpoint, expected))
    assert all((value == theirs[key]).all() for key, value in ours.items())
