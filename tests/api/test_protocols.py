"""What `blurb protocols` and `blurb models` say is what a trial gets."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from blurb import tasks
from blurb.api import protocols
from blurb.cli import cli
from blurb.protocols.protocol import load_protocol_file, protocol_names
from blurb.protocols.settings import DEFAULTS


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
                assert isinstance(line.value, protocols.BySize)
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
    result = CliRunner().invoke(
        cli, ["protocols", "show", str(file), "--tasks", "gad,hoc", "--format", "json"]
    )
    told = {(line["task"], line["setting"]): line for line in json.loads(result.output)}
    assert told["gad", "lr"]["value"] == 0.001
    assert told["gad", "lr"]["origin"].startswith("protocol mine@")
    assert told["gad", "lr"]["origin"].endswith(", task gad")
    rate = {
        "parameters": 60_000_000,
        "below": 1e-4,
        "above": 5e-5,
        "small_parameters": 10_000_000,
        "small": 1e-3,
    }
    assert told["hoc", "lr"]["value"] == rate
    assert "Did you mean 'standard'" in str(
        CliRunner().invoke(cli, ["protocols", "show", "standrad"]).exception
    )
