"""What will surprise with a checkpoint: each kind of checkpoint with what is odd about it, and a try that fails."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from blurb import tasks
from blurb.api import protocols
from blurb.api.model_check import TRIES, check_model
from blurb.messages.errors import SettingsError
from blurb.protocols.protocol import load_protocol_file, protocol_names
from blurb.protocols.settings import DEFAULTS
from tests.cli.in_process import run
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
    result = run("models", "check", str(folder), "--format", "json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert {one["task"] for one in found["tries"] if one["error"]} == {"biosses", "pubmedqa"}
    assert all(
        "table of segments (type_vocab_size) has 1" in one["error"]
        for one in found["tries"]
        if one["error"]
    )
    assert any("segments of a pair" in said for said in found["surprises"])


def test_what_has_no_encoder_is_refused() -> None:
    with pytest.raises(SettingsError, match="no encoder"):
        check_model("baseline:majority")
    with pytest.raises(SettingsError, match="scratch:tiny has no use for"):
        check_model("scratch:tiny", base="org/base")


# What `blurb protocols` and `blurb models` say is what a trial gets.


@pytest.mark.parametrize("name", protocol_names())
def test_values_are_those_of_the_trials(name: str) -> None:
    """Oracle: the settings of the protocol, and its TOML file for what is searched or depends on the size."""
    protocol, every = load_protocol_file(name), tasks.select_tasks("all")
    told = {(line.task, line.setting): line for line in protocols.values(protocol, every)}
    for task in every:
        least, small, large = (
            asdict(protocol.settings(task, {}, size)) for size in (10**6, 2 * 10**7, 10**9)
        )
        for setting, value in small.items():
            line = told.get((task.name, setting))
            if line is None or setting in protocol.search:
                continue
            if value != large[setting]:
                assert (line.value.below, line.value.above) == (value, large[setting])
                assert least[setting] == (
                    line.value.small if line.value.small_parameters else value
                )
                continue
            assert line.value == value
            if line.origin == protocols.DEFAULT:
                assert value == DEFAULTS[setting]
            elif line.origin == protocols.OF_TASK:
                assert value == task.max_length
            else:
                assert line.origin.startswith("protocol ")
    assert {setting for _, setting in told} >= {"seeds", "max_length"}


def test_a_file_of_ones_own_and_a_typo(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('description = "mine"\nextends = "quick"\n[tasks.gad]\nlr = 1e-3\n')
    result = run("protocols", "show", str(file), "--tasks", "gad,hoc", "--format", "json")
    told = {(line["task"], line["setting"]): line for line in json.loads(result.output)}
    assert told["gad", "lr"]["value"] == 0.001
    assert told["gad", "lr"]["origin"].startswith("protocol mine@")
    assert told["gad", "lr"]["origin"].endswith(", task gad")
    assert told["hoc", "lr"]["value"] == {
        "parameters": 60_000_000,
        "below": 1e-4,
        "above": 5e-5,
        "small_parameters": 10_000_000,
        "small": 1e-3,
    }
    assert "Did you mean 'standard'" in str(run("protocols", "show", "standrad").exception)
