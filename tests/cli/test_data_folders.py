"""A --data that is not given, or one folder too deep or too high, is told by every command that wants one."""

from pathlib import Path

import pytest

from blurb import tasks
from blurb.corpora import demo
from blurb.messages.errors import DataError, SettingsError
from blurb.planning.steps import check_files
from tests.cli.in_process import run

ROW = Path(__file__).parents[2] / "docs" / "results" / "baselines" / "bigrams" / "row"


@pytest.fixture(params=["too deep", "too high"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """A folder that is near, and the one that is meant."""
    (tmp_path / "a").mkdir()
    (tmp_path / "data").symlink_to(demo.prepare())
    if request.param == "too high":
        return tmp_path, tmp_path / "data"
    return demo.prepare() / "GAD", demo.prepare()


@pytest.mark.extensions
def test_a_folder_near_the_data_is_told(places: tuple[Path, Path]) -> None:
    near, meant = places
    hint = f"Did you mean --data {meant}?"
    result = run("data", "verify", "--data", str(near), "--tasks", "gad,hoc")
    assert result.exit_code == 1
    assert hint in result.stderr
    with pytest.raises(DataError) as caught:
        check_files(tasks.select_tasks("gad,hoc"), near)
    assert str(caught.value).endswith(hint)
    stats = run("data", "stats", "--data", str(near), "--tasks", "gad,hoc")
    assert str(stats.exception).endswith(hint)


def test_nothing_is_guessed_where_nothing_is_near(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(DataError) as caught:
        check_files(tasks.select_tasks("gad"), tmp_path / "a")
    assert "Did you mean" not in str(caught.value)


@pytest.mark.extensions
@pytest.mark.parametrize("command", ["stats", "audit"])
def test_no_option_is_named_that_is_not_there(command: str) -> None:
    error = run("data", command).exception
    assert isinstance(error, SettingsError)
    assert "--data" in str(error)
    assert "--suite" not in str(error)


@pytest.mark.extensions
@pytest.mark.parametrize(
    "command",
    [
        "run baseline:majority --tasks gad",
        "data verify",
        "data stats",
        f"compare {ROW} {ROW} --unseen",
        f"generalisation {ROW}",
        "vocab baseline",
    ],
)
def test_a_folder_that_is_not_there_and_a_file_are_two_answers(
    command: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for name, what in (("none", "does not exist"), ("file", "is a file")):
        result = run(*command.split(), "--data", str(tmp_path / name))
        told = f"{result.exception}{result.stderr}"
        assert str(tmp_path / name) in told
        assert what in told
