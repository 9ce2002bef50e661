"""A task of a file through `blurb run`: its type in the tables, and the names that it cannot have."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from blurb import tasks
from blurb.messages.errors import BlurbError, SettingsError
from blurb.results import from_store
from blurb.results.results_csv import read_lines
from blurb.store.store import Store
from tests.cli.in_process import ran, run

WORDS = "Kalo\tB\nmi\tI\ntra\tO\n\nnex\tO\nVor\tB\n\n"


@pytest.fixture
def folder(here: Path) -> Iterator[Path]:
    known = dict(tasks._files)
    for split in tasks.SPLITS:
        (here / f"{split}.tsv").write_text(WORDS)
    yield here
    tasks._files.clear()
    tasks._files.update(known)


def declare(folder: Path, name: str) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(
        f'name = "{name}"\ntype = "ner"\nlabels = ["GENE"]\n[files]\ntrain = "train.tsv"\ndev = "dev.tsv"\n'
        'test = "test.tsv"\n[format]\nkind = "conll"\ntoken = 0\ntag = 1\n'
    )
    return path


def test_its_type_is_in_the_table(folder: Path) -> None:
    declare(folder, "my-genes")
    ran(["run", "baseline:majority", "--tasks", "./my-genes.toml"])
    table = folder / "runs" / "results.csv"
    assert {(line["task"], line["type"]) for _, line in read_lines(table)} == {("my-genes", "ner")}
    tasks._files.clear()  # another process, which was never asked for the file
    ran(["rescore"])
    assert {line["type"] for _, line in read_lines(table)} == {"ner"}


def test_rules_protocols_and_options_name_its_dataset(folder: Path) -> None:
    """Also in another process, which was never asked for the file."""
    file = f"./{declare(folder, 'my-genes').name}"
    (folder / "rules.toml").write_text("version = 1\n[datasets.my-genes]\nmax_drop = 5\n")
    (folder / "mine.toml").write_text('extends = "smoke"\n[seeds]\nmy-genes = 2\n')
    ran(["run", "baseline:bilstm", "--tasks", file, "--protocol", "mine.toml"])
    check = ["check", "baseline:bilstm", "--baseline", "baseline:bilstm"]
    for more in (["--tasks", "my-genes"], ["--rules", "rules.toml"], ["--tasks", file]):
        tasks._files.clear()
        assert "my-genes" in ran([*check, *more]).output
    tasks._files.clear()
    plan = ["plan", "--against", "baseline:bilstm", "--seeds", "3", "--sd", "1"]
    assert "my-genes" in ran([*plan, "--tasks", "my-genes"]).output
    (folder / "rules.toml").write_text("version = 1\n[datasets.my-gene]\nmax_drop = 5\n")
    with pytest.raises(BlurbError, match="no dataset called 'my-gene'"):
        raise run(*check, "--rules", "rules.toml").exception  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rows", "is reserved"),
        ("all", "is a word for several"),
        ("ner", "is a word for several"),
        ("My_genes", "lower-case letters"),
    ],
)
def test_a_name_of_the_stores_own_is_refused(name: str, message: str, folder: Path) -> None:
    declare(folder, name)
    result = run("run", "baseline:majority", "--tasks", f"./{name}.toml")
    assert isinstance(result.exception, SettingsError)
    assert message in str(result.exception)
    assert f"{name}.toml" in str(result.exception)
    assert not (folder / "runs").exists()
    assert from_store.read(Store(folder / "runs")) == []
