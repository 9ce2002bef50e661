"""What `blurb protocols` and `blurb models` say is what a trial gets."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from blurb import tasks
from blurb.api import protocols
from blurb.checkpoints.references import presets
from blurb.cli import cli
from blurb.learners.model_names import named_models
from blurb.protocols.protocol import load, names
from blurb.protocols.settings import DEFAULTS


@pytest.mark.parametrize("name", names())
def test_values_are_those_of_the_trials(name: str) -> None:
    """Oracle: the settings of the protocol, and its TOML file for what is searched or depends on the size."""
    protocol, every = load(name), tasks.select("all")
    told = {(line.task, line.setting): line for line in protocols.values(protocol, every)}
    for task in every:
        least, small, large = (asdict(protocol.settings(task, {}, size)) for size in (10**6, 2 * 10**7, 10**9))
        for setting, value in small.items():
            line = told.get((task.name, setting))
            if line is None or setting in protocol.search:
                continue
            if value != large[setting]:
                assert isinstance(line.value, protocols.BySize)
                assert (line.value.below, line.value.above) == (value, large[setting])
                assert least[setting] == (line.value.small if line.value.small_parameters else value)
                continue
            assert line.value == value
            if line.origin == protocols.DEFAULT:
                assert value == DEFAULTS[setting]
            elif line.origin == protocols.OF_TASK:
                assert value == task.max_length
            else:
                assert line.origin.startswith("protocol ")
    assert {setting for _, setting in told} >= {"seeds", "max_length"}


def test_a_search_is_told_with_its_values() -> None:
    lines = protocols.values(load("paper"), tasks.select("gad"))
    searched = {line.setting: line for line in lines if line.origin == "search of protocol paper"}
    assert searched["lr"].value == (1e-5, 3e-5, 5e-5)
    assert searched["batch_size"].value == (16, 32)
    assert ("lr", "1e-05 or 3e-05 or 5e-05") in [line[:2] for line in protocols.grouped(lines)]


def test_settings_that_do_not_concern_a_task_are_left_out() -> None:
    told = {
        name: {line.setting for line in protocols.values(load("standard"), tasks.select(name))}
        for name in ("ner", "gad", "biosses")
    }
    assert {"tagging", "word_pooling"} <= told["ner"]
    assert not {"pooling", "relation_input", "document_unit"} & told["ner"]
    assert {"pooling", "relation_input"} <= told["gad"]
    assert not {"tagging", "word_pooling", "relation_input"} & told["biosses"]
    probe = {line.setting for line in protocols.values(load("probe"), tasks.select("all"))}
    assert "lr" not in probe
    assert "max_train" in probe


def test_tasks_share_a_line_and_are_named_in_few_words() -> None:
    lines = protocols.grouped(protocols.values(load("linkbert"), tasks.select("all")))
    assert ("select", "last", "protocol", "all") in lines
    assert ("seeds", "42", "protocol", "all but biosses") in lines
    assert ("seeds", "5", "protocol, by task", "biosses") in lines
    lengths = [line for line in lines if line[0] == "max_length"]
    assert ("max_length", "256", "task", "chemprot, ddi") in [
        (one[0], one[1], one[2].split()[-1], one[3]) for one in lengths
    ]


def test_a_file_of_ones_own_and_a_typo(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('description = "mine"\nextends = "quick"\n[tasks.gad]\nlr = 1e-3\n')
    result = CliRunner().invoke(cli, ["protocols", "show", str(file), "--tasks", "gad,hoc", "--format", "json"])
    told = {(line["task"], line["setting"]): line for line in json.loads(result.output)}
    assert told["gad", "lr"]["value"] == 0.001
    assert told["gad", "lr"]["origin"].startswith("protocol mine@")
    assert told["gad", "lr"]["origin"].endswith(", task gad")
    rate = {"parameters": 60_000_000, "below": 1e-4, "above": 5e-5, "small_parameters": 10_000_000, "small": 1e-3}
    assert told["hoc", "lr"]["value"] == rate
    assert "Did you mean 'standard'" in str(CliRunner().invoke(cli, ["protocols", "show", "standrad"]).exception)


def test_every_named_model_is_listed_with_what_it_needs() -> None:
    listed = {model.name: model for model in named_models()}
    assert presets().keys() <= listed.keys()
    assert listed["biobert"].casing == "cased"
    assert listed["pubmedbert"].model == presets()["pubmedbert"]
    assert listed["scratch:tiny"].needs == "data"
    assert {"baseline:majority", "baseline:constant"} <= listed.keys()
    assert all(model.needs and model.model for model in listed.values())
