"""`blurb data prepare`: table, exit codes, what to get where; and the table of the guide is the registry's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result

from blurb import tasks
from tests.cli.in_process import run
from tests.conftest import ROOT
from tests.corpora.originals import NAMES, put, small_lists


@pytest.fixture(autouse=True)
def _small() -> Iterator[None]:
    with small_lists():
        yield


def prepare(*arguments: object) -> Result:
    return run("data", "prepare", *map(str, arguments))


def test_all_thirteen(tmp_path: Path) -> None:
    for name in NAMES:
        put(tmp_path / "raw", name)
    done = prepare("--raw", tmp_path / "raw", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    lines = [
        line.split()
        for line in done.stdout.splitlines()
        if line.split()[:1] and line.split()[0] in NAMES
    ]
    assert [line[0] for line in lines] == list(NAMES)
    assert all(float(line[-1]) < 60 for line in lines)
    assert "ChemProt: prepared, but this is not BLURB's data" in done.stderr
    assert "GAD: prepared, but this is not BLURB's data" in done.stderr


def test_what_is_broken_ends_with_2_and_the_rest_is_prepared(tmp_path: Path) -> None:
    raw = put(tmp_path / "raw", "hoc")
    put(raw, "gad", {"GAD/1/train.tsv": b"no columns\n"})
    done = prepare("--raw", raw, "--out", tmp_path / "out", "--tasks", "gad,hoc,bioasq")
    assert done.exit_code == 2
    assert "train.tsv:1: expected 2 TAB-separated columns" in done.stderr.replace("\n", "")
    assert [path.name for path in (tmp_path / "out").iterdir() if path.is_dir()] == ["HoC"]


def test_the_table_of_the_guide_is_the_registrys() -> None:
    guide = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    rows = [
        f"| {task.title} | {task.source.files} | <{task.source.page}> | {task.licence} | {task.source.note} |"
        for task in tasks.all()
        if task.source and task.paper_order
    ]
    assert len(rows) == 13
    table = "\n".join(
        ["| dataset | put below `--raw` | page | licence | note |", "|---|---|---|---|---|", *rows]
    )
    assert table in guide, f"docs/data.md: replace the table by\n\n{table}"
