"""What will surprise with a checkpoint: each kind of checkpoint with what is odd about it, and a try that fails."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from blurb.api.model_check import TRIES, check_model
from blurb.cli import cli
from blurb.messages.errors import SettingsError
from tests.conftest import Builder


@pytest.mark.parametrize(
    ("kind", "surprises"),
    [
        ("roberta", []),
        ("t5", ["no classification token", "Unknown tokens in"]),
        ("deberta", ["Unknown tokens in", "attention is 'eager'"]),
        ("bertweet", ["no fast version", "Unknown tokens in", "are cut to 128 sub-tokens"]),
    ],
)
def test_every_kind_of_task_runs_and_what_is_odd_is_told(
    kind: str, surprises: list[str], checkpoint: Builder
) -> None:
    found = check_model(str(checkpoint(kind)))
    assert [one.error for one in found.tries] == [""] * len(TRIES)
    assert len(found.surprises) == len(surprises)
    for said, expected in zip(found.surprises, surprises, strict=True):
        assert expected in said
    pooling = {"pooling": "mean"} if kind == "t5" else {}
    assert [one.settings for one in found.tries if one.task == "hoc"] == [pooling]


def test_a_try_that_fails_is_told_with_its_reason(checkpoint: Builder, tmp_path: Path) -> None:
    """An encoder with one segment under a tokenizer with two, which loads, and fails on pairs."""
    folder = Path(shutil.copytree(checkpoint("bert_uncased"), tmp_path / "one-segment"))
    import torch
    from transformers import AutoModel

    model = AutoModel.from_pretrained(folder)
    model.config.type_vocab_size = 1
    table = model.embeddings.token_type_embeddings
    table.weight = torch.nn.Parameter(table.weight[:1].clone())
    table.num_embeddings = 1
    model.save_pretrained(folder)
    result = CliRunner().invoke(cli, ["models", "check", str(folder), "--format", "json"])
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    failed = {one["task"] for one in found["tries"] if one["error"]}
    assert failed == {"biosses", "pubmedqa"}
    assert all(
        "table of segments (type_vocab_size) has 1" in one["error"]
        for one in found["tries"]
        if one["error"]
    )
    assert any("segments of a pair" in said for said in found["surprises"])


def test_what_has_no_encoder_is_refused() -> None:
    with pytest.raises(SettingsError, match="no encoder"):
        check_model("baseline:majority")
