"""What config.json and the headers of weights declare, and what is loaded: types of numbers, classes of its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from blurb.api.model_check import check_model
from blurb.checkpoints import Checkpoint
from blurb.learners.building import resolve_model
from blurb.messages import ModelError
from blurb.planning import trials
from blurb.planning.options import RunOptions
from blurb.planning.request import make_request
from tests.checkpoints import reweigh
from tests.conftest import Builder
from tests.rewriting import rewrite

OWN = {"AutoConfig": "configuration_bi.Bi", "AutoModel": "modeling_bi.Bi"}
SAID = "config.json names code of its own, which was not allowed"


def _copy(checkpoint: Builder, kind: str, to: Path, **fields: Any) -> Path:
    folder = Path(shutil.copytree(checkpoint(kind), to))
    if fields:
        rewrite(folder / "config.json", **fields)
    return folder


@pytest.mark.parametrize("number", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("kind", ["bert_uncased", "qwen3"])
def test_whole_numbers_for_weights_are_refused(
    checkpoint: Builder, tmp_path: Path, kind: str, number: torch.dtype
) -> None:
    """Half of a quantised checkpoint; buffers that are whole numbers stay."""
    folder = _copy(checkpoint, kind, tmp_path / "whole")
    reweigh(
        folder / "model.safetensors",
        lambda state: state | {"embeddings.position_ids": torch.arange(9)},
    )
    resolve_model(str(folder))
    part = "query" if kind == "bert_uncased" else "q_proj"
    reweigh(
        folder / "model.safetensors",
        lambda state: {
            name: (value * 127).to(number) if f"{part}.weight" in name else value
            for name, value in state.items()
        },
    )
    binary = _copy(checkpoint, kind, tmp_path / "binary")
    torch.save(load_file(folder / "model.safetensors"), binary / "pytorch_model.bin")
    (binary / "model.safetensors").unlink()
    with pytest.raises(
        ModelError,
        match=rf"pytorch_model.bin has weights that are whole .*{part}.weight.*dequantise",
    ):
        resolve_model(str(binary))
    with pytest.raises(
        ModelError, match=rf"weights that are whole numbers \(.*{part}.weight.*dequantise them"
    ):
        resolve_model(str(folder))


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
