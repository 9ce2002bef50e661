"""`blurb data get`: download, prepare and verify in one command, with made-up originals."""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import Result

from blurb import tasks
from blurb.corpora import download
from blurb.corpora.download import Got, get
from blurb.data import loading
from blurb.messages.errors import DataError
from blurb.planning.steps import available_tasks
from blurb.tasks import Download
from tests.cli.in_process import ran, run
from tests.corpora.originals import FILES, NAMES, put, small_lists


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Made-up originals are not BLURB's, and count as if they were."""
    monkeypatch.setattr(download, "RIGHT", ("identical", "counts only", "differs", "not known"))
    with small_lists():
        yield


def _serve(raw: Path, name: str, asked: list[str]) -> object:
    def download(file: Download) -> None:
        asked.append(file.path)
        put(raw, name)

    return download


def test_what_can_be_downloaded_is_prepared_and_fetched_once(tmp_path: Path) -> None:
    raw, data, asked = tmp_path / "raw", tmp_path / "data", list[str]()
    task = tasks.get("gad")
    first = get(task, raw, data, _serve(raw, "gad", asked))  # type: ignore[arg-type]
    assert (first.verdict, first.needs, len(asked)) == (
        "differs",
        "",
        len(task.source.downloads if task.source else ()),
    )
    assert (data / "GAD" / "train.tsv").is_file()
    assert get(task, raw, data, lambda file: pytest.fail("fetched again")) == first


def test_what_lies_there_already_is_not_fetched(tmp_path: Path) -> None:
    raw = put(tmp_path / "raw", "hoc")
    assert (
        get(tasks.get("hoc"), raw, tmp_path / "data", lambda file: pytest.fail("fetched")).needs
        == ""
    )


def test_what_needs_a_registration_says_from_where_and_into_which_folder(tmp_path: Path) -> None:
    raw, task = tmp_path / "raw", tasks.get("bioasq")
    got = get(task, raw, tmp_path / "data")
    assert got.verdict == "missing"
    assert task.source
    for part in (task.source.page, task.source.files, task.source.note, str(raw)):
        assert part in got.needs
    put(raw, "bioasq")
    assert get(task, raw, tmp_path / "data").needs == ""


def test_a_download_that_fails_is_said_and_the_next_call_goes_on(tmp_path: Path) -> None:

    raw, data = tmp_path / "raw", tmp_path / "data"
    assert get(tasks.get("gad"), raw, data, Mock(side_effect=DataError("no network"))) == Got(
        tasks.get("gad"), "broken", "no network"
    )
    assert not (data / "GAD").exists()
    assert get(tasks.get("gad"), raw, data, _serve(raw, "gad", [])).needs == ""  # type: ignore[arg-type]


def _command(*arguments: str) -> Result:
    return run("data", "get", *arguments)


def test_one_table_at_the_end_and_the_folder_is_the_default_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(loading.VARIABLE, str(tmp_path / "data"))
    for name in NAMES[:-1]:
        put(tmp_path / "originals", name)
    done = _command("--accept-licences")
    assert done.exit_code == 1  # BioASQ
    assert f"{tmp_path / 'data'} has 12 of 13. Next: blurb run MODEL" in done.stdout
    assert "participants-area.bioasq.org" in done.stdout
    assert [task.name for task in available_tasks(tasks.select_tasks("all"), None)] == [
        t.name for t in tasks.select_tasks("blurb-12")
    ]
    assert (
        "Without bioasq, which the data folder lacks: `blurb data get` says what they need."
        in ran(["run", "baseline:majority", "--protocol", "smoke", "--dry-run"]).stderr
    )
    # Not BLURB's
    assert run("data", "verify", "--tasks", "gad").exit_code == 1


def test_nothing_is_fetched_before_the_licences_are_accepted(tmp_path: Path) -> None:
    done = _command("--data", str(tmp_path / "data"))
    assert isinstance(done.exception, DataError)
    assert "add --accept-licences" in str(done.exception)
    assert not list(tmp_path.iterdir())


def test_all_originals_are_made_up() -> None:
    assert set(FILES) == set(NAMES)
