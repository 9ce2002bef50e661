"""The fields of `Settings`: bounds, groups, and the keys of `--set` in the helps."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from blurb.cli import cli
from blurb.messages.errors import SettingsError, UnknownName
from blurb.protocols.settings import DEFAULTS, FIELDS, Settings, settings_by_subject
from tests.cli.in_process import blurb as command


def test_every_setting_is_in_one_group_and_says_what_it_does() -> None:
    listed = [key for keys in settings_by_subject().values() for key in keys]
    assert sorted(listed) == sorted(FIELDS)
    assert all(facts.help for facts in FIELDS.values())


@pytest.mark.parametrize(
    "name", [name for name, facts in FIELDS.items() if facts.kind in (int, float)]
)
def test_a_number_is_held_within_its_bounds_and_never_without_end(name: str) -> None:
    facts, values = FIELDS[name], {"max_length": 128}
    step = 1 if facts.kind is int else 1e-9
    least = facts.low if facts.low is not None else facts.above
    assert least is not None, "no number is without a bound"
    inside, outside = (least, least - step) if facts.low is not None else (least + step, least)
    Settings(**{**values, name: inside})
    above = math.inf if facts.most is None else facts.most + step
    for value in (
        outside,
        -math.inf,
        math.nan,
        math.inf if facts.below is None else facts.below,
        above,
    ):
        with pytest.raises(
            SettingsError, match=f"^{name} must be (a number, |a whole number, |)(at least|above)"
        ):
            Settings(**{**values, name: value})


@pytest.mark.parametrize("name", [name for name, facts in FIELDS.items() if facts.choices])
def test_a_word_is_one_of_those_that_are_known(name: str) -> None:
    Settings(**{"max_length": 128, name: DEFAULTS[name]})
    choices = FIELDS[name].choices
    for choice in choices() if callable(choices) else choices:
        Settings(**{"max_length": 128, name: choice})
    with pytest.raises((SettingsError, UnknownName), match=DEFAULTS[name]):
        Settings(**{"max_length": 128, name: "x"})


def test_a_value_out_of_bounds_may_have_a_meaning() -> None:
    assert Settings(max_length=128, encoder_dropout=-1.0).encoder_dropout == -1.0
    with pytest.raises(
        SettingsError, match=r"at least 0 and below 1, or -1 for the checkpoint's own \(got -0.5\)"
    ):
        Settings(max_length=128, encoder_dropout=-0.5)


@pytest.mark.parametrize("command", ["run", "ablate"])
def test_the_helps_list_all_keys_and_stay_narrow(command: str) -> None:
    text = CliRunner().invoke(cli, [command, "--help"]).output
    listed = " ".join(text.partition("Keys of --set")[2].split())
    for keys in settings_by_subject().values():
        assert ", ".join(keys) in listed
    assert max(map(len, text.splitlines())) <= 80


def test_a_help_loads_no_numpy() -> None:
    call = "try:\n    cli(['run', '--help'])\nfinally:\n    assert 'numpy' not in sys.modules"
    code = f"import sys\nfrom blurb.cli import cli\n{call}"
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    "typed", ["--lr 3e5", "--lr 1.5", "--lr -1", "--lr nan", "--set head_lr=3e3", "--set lr=inf"]
)
def test_an_impossible_rate_stops_before_the_first_trial(typed: str, tmp_path: Path) -> None:
    words = f"run scratch:tiny --suite demo --tasks gad --output {tmp_path}/runs {typed}".split()
    code, out, said = command(words, tmp_path)
    assert (code, out) == (2, "")
    assert "lr must be" in said or "lr: " in said or "'--lr'" in said, said
    assert not (tmp_path / "runs").exists()
