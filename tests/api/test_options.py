"""Shorthands of settings: the same trials as with `--set`, by either door."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import blurb
from blurb.api.options import LIMITED, SHORTHANDS, AblateOptions, RunOptions
from blurb.cli import cli
from blurb.errors import SettingsError
from blurb.protocols.settings import FIELDS

RUN = ["run", "scratch:tiny", "--suite", "demo", "--protocol", "smoke", "--tasks", "gad", "--precision", "fp32"]
ABLATE = ["ablate", "scratch:tiny", "--axis", "tagging", "--suite", "demo", "--protocol", "smoke", "--tasks", "bc2gm"]


def trials(command: list[str], *given: str) -> list[str]:
    """The trials of a dry run, by name and hash."""
    result = CliRunner().invoke(cli, [*command, *given, "--device", "cpu", "--dry-run"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return [line for line in result.output.splitlines() if line.startswith((" run", "run"))]


def test_shorthands_are_settings() -> None:
    assert {*SHORTHANDS, *LIMITED} <= set(FIELDS)


@pytest.mark.parametrize("command", [RUN, ABLATE], ids=["run", "ablate"])
def test_a_shorthand_is_the_setting(command: list[str]) -> None:
    short = trials(command, "--lr", "3e-5", "--batch-size", "8", "--epochs", "2", "--limit", "20")
    keys = ("lr=3e-5", "batch_size=8", "epochs=2", "max_train=20", "max_eval=20")
    assert short == trials(command, *(word for key in keys for word in ("--set", key)))
    assert short
    assert short != trials(command)


def test_a_limit_is_for_train_dev_and_test_and_such_a_row_has_no_rank(tmp_path: Path) -> None:
    made = blurb.run(
        "baseline:majority", "gad", suite="demo", protocol="smoke", limit=20, output=tmp_path, leaderboard=None,
        progress=False,
    )  # fmt: skip
    (row,) = made.rows
    assert row.name == "baseline:majority smoke max_eval=20 max_train=20 demo"
    assert row.capped
    assert made.predictions("baseline:majority", "gad")["split"].value_counts().to_dict() == {"dev": 20, "test": 20}
    (record,) = row.records_of("gad").values()
    assert record.provenance.train_units == 20


def test_a_setting_is_given_once() -> None:
    for given in ({"lr": 0.1}, {"max_eval": 3}):
        options = AblateOptions(model="m", axis="head", lr=0.2, limit=4, settings=given)
        with pytest.raises(SettingsError, match=r"given twice, by --(lr|limit) and by --set"):
            _ = options.overrides
    assert RunOptions(model="m", lr=0.2, dummy_tokens=True, settings={"warmup": 0}).overrides == {
        "warmup": 0, "lr": 0.2, "relation_input": "dummy-tokens",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--epochs", "0"], "epochs must be at least 1 (got 0)"),
        (["--protocol", "probe", "--lr", "0.1"], "--lr: lr does not apply to a probe"),
        (["--limit", "0"], "x>=1"),
        (["--head", "crf", "--set", "head=linear"], "head is given twice, by --head and by --set"),
    ],
)
def test_what_is_wrong_is_said_of_the_option(given: list[str], told: str) -> None:
    result = CliRunner().invoke(cli, [*RUN, *given, "--dry-run"])
    assert result.exit_code
    assert told in f"{result.output} {result.exception}"
