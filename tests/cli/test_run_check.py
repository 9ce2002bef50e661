"""`blurb run --check`: the same answers as `blurb check`, also across what the user names."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import blurb
from blurb.cli import cli
from blurb.messages.errors import BlurbError

RUN = ["run", "baseline:majority", "--suite", "demo", "--protocol", "smoke", "--tasks", "gad"]


def ended(*arguments: str) -> tuple[int, str]:
    """Exit code, and all that is said."""
    result = CliRunner(env={"COLUMNS": "200"}).invoke(cli, arguments)
    if isinstance(result.exception, BlurbError):
        return 2, str(result.exception)
    return result.exit_code, result.output


@pytest.fixture
def there(here: Path) -> str:
    """The name of a row that was made with another setting."""
    Path("blurb-check.toml").write_text("max_drop = 50.0\n", encoding="utf-8")
    made = blurb.run(
        "baseline:majority",
        "gad",
        suite="demo",
        protocol="smoke",
        max_eval=20,
        output="first",
        progress=False,
    )
    return f"first:{made.rows[0].name}"


def test_across_is_that_of_check(there: str) -> None:
    code, told = ended(*RUN, "--set", "max_eval=20", "--set", "max_train=50", "--check", there)
    assert code == 2
    assert "--across overrides judges all the same" in told
    again = [*RUN, "--set", "max_eval=20", "--set", "max_train=50", "--check", there]
    code, told = ended(*again, "--across", "overrides")
    assert (code, "Judged across overrides, as asked for." in told) == (0, True), told
    code, told = ended(*again, "--across", "protocol")
    assert (code, "Judged across protocol, as asked for." in told) == (2, True), told


def test_across_in_python(there: str) -> None:
    made = blurb.run(
        "baseline:majority",
        "gad",
        suite="demo",
        protocol="smoke",
        max_eval=20,
        max_train=50,
        progress=False,
        check=there,
        across=["overrides"],
    )
    (decision,) = made.decisions
    assert (decision.passed, decision.rules.across) == (True, ("overrides",))


def test_across_needs_a_check_and_a_value_that_there_is(there: str) -> None:
    assert ended(*RUN, "--across", "protocol") == (
        2,
        "--across needs --check with the row to compare with.",
    )
    with pytest.raises(BlurbError, match="across must be a list, each a text"):
        blurb.run("baseline:majority", suite="demo", check=there, across="protocol")
    with pytest.raises(BlurbError, match="no value of across called 'protcol'"):
        blurb.run(
            "baseline:majority",
            "gad",
            suite="demo",
            protocol="smoke",
            check=there,
            across=["protcol"],
        )
    assert not Path("runs").exists()


def test_a_baseline_may_be_checked_against_a_baseline(there: str) -> None:
    code, told = ended(*RUN, "--set", "max_eval=20", "--check", there)
    assert (code, "pass" in told.split()) == (0, True), told
