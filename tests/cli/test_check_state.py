"""`blurb check --state` and `blurb.check(state=)`. Oracle: docs/extensions/series-gate.md."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

import blurb
from blurb.cli.check import command
from blurb.messages.errors import BlurbError, SettingsError
from blurb.regression.rules import RULES
from blurb.store.store import Store
from tests.cli import in_process
from tests.results.played import CONFIGURATION, play


class Printed(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


PROBE = replace(CONFIGURATION, protocol="probe")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("state")
    store = Store(folder / "runs")
    for name, share in (("old", 0.85), ("equal", 0.85), ("fell", 0.4), ("other", 0.85)):
        play(store, name, {"gad": share, "hoc": 0.85}, row_weights=f"{name:w<64}")
        play(store, f"{name}-once", {"gad": share}, (1,))
        play(store, f"{name}-frozen", {"gad": share}, (1,), configuration=PROBE, learner="probe")
    return folder


@pytest.fixture
def check(folder: Path, monkeypatch: pytest.MonkeyPatch, here: Path) -> Callable[..., Printed]:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)

    def checked(typed: str) -> Printed:
        return Printed(
            *in_process.blurb(["check", *typed.split(), "--output", str(folder / "runs")], here)
        )

    return checked


def test_probes_are_looked_at_by_their_examples(check: Callable[..., Printed]) -> None:
    assert check("equal-frozen --baseline old-frozen --state looks.json --looks 40").exit_code == 0
    fell = check("fell-frozen --baseline old-frozen --state looks.json")
    assert (fell.exit_code, "more than chance explains in a paired test" in fell.output) == (
        1,
        True,
    )
    assert "Both are about these two checkpoints" in fell.output
    assert "pooled" not in fell.output


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("equal --baseline old --looks 40", "name it with --state"),
        ("equal --baseline old --state looks.json --looks 0", "looks must be"),
        ("equal --baseline old --state looks.json --sd 0", "sd must be above 0"),
        ("equal --baseline old --state looks.json --sd -1", "sd must be above 0"),
        ("equal --baseline old --state looks.json --sd nan", "must be a number"),
        ("equal --baseline old --state none/looks.json", "its folder does not exist"),
        ("equal --baseline old --state .", "is a folder"),
        ("equal --baseline none --state looks.json", "none"),
        ("equal --baseline old --state looks.json --rule xor", "--rule"),
        ("equal --baseline old --state looks.json --rules level0.toml", "level 0"),
        ("equal --baseline old --rule and --rules level0.toml", "level 0"),
        ("equal --baseline old --rules looks.toml", "name it with --state"),
        ("equal --baseline old --rules newer.toml", "version must be 1"),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_written(
    check: Callable[..., Printed], tmp_path: Path, typed: str, message: str
) -> None:
    for name, text in (("level0", "level = 0"), ("looks", "looks = 40"), ("newer", "version = 2")):
        (tmp_path / f"{name}.toml").write_text(text)
    before = sorted(tmp_path.iterdir())
    result = check(typed)
    assert result.exit_code == 2
    assert message in result.output
    assert sorted(tmp_path.iterdir()) == before


def test_a_run_with_a_check_says_before_training_that_it_counts_no_looks(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("looks = 40")
    with pytest.raises(BlurbError, match="40 looks, as the rules say, need a file"):
        blurb.run(
            "baseline:majority",
            "gad",
            suite="demo",
            check="old",
            rules=rules,
            output=tmp_path / "runs",
        )


def test_the_call_is_the_command(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "looks.json"
    decisions = [
        blurb.check(name, "old", output=folder / "runs", state=state, looks=40)
        for name in ("equal", "other", "fell")
    ]
    assert [one.turn.number for one in decisions if one.turn] == [1, 2, 3]
    assert [one.exit_code for one in decisions] == [0, 0, 1]
    assert decisions[0].checked_at is not None
    assert (decisions[0].seconds or 0) > 0
    with pytest.raises(SettingsError, match="looks must be a whole number"):
        blurb.check("equal", "old", output=folder / "runs", state=state, looks="40")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="name it with state="):
        blurb.check("equal", "old", output=folder / "runs", looks=40)


def test_the_command_knows_the_rules() -> None:
    """Written twice, as reading the package takes a second that `--help` has not."""
    (rule,) = (one for one in command.params if one.name == "rule")
    assert tuple(rule.type.choices) == RULES  # type: ignore[attr-defined]
