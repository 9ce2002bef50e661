"""The keys of `--set` in the helps."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from blurb.cli import cli
from blurb.protocols.keys import GROUPS
from blurb.protocols.settings import FIELDS


def test_every_setting_is_in_one_group() -> None:
    listed = [key for keys in GROUPS.values() for key in keys]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(FIELDS)


@pytest.mark.parametrize("command", ["run", "ablate"])
def test_the_helps_list_all_keys_and_stay_narrow(command: str) -> None:
    text = CliRunner().invoke(cli, [command, "--help"]).output
    listed = " ".join(text.partition("Keys of --set")[2].split())
    for keys in GROUPS.values():
        assert ", ".join(keys) in listed
    assert max(map(len, text.splitlines())) <= 80


def test_a_help_loads_no_numpy() -> None:
    call = "try:\n    cli(['run', '--help'])\nfinally:\n    assert 'numpy' not in sys.modules"
    code = f"import sys\nfrom blurb.cli import cli\n{call}"
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
