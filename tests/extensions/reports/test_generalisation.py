"""`blurb.generalisation`: what the golden transcripts of the command do not show."""

from pathlib import Path

import pytest

import blurb
from blurb.extensions.reports.generalisation import SeenRecord, generalisation
from blurb.messages import SettingsError
from blurb.records import record_columns

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
ROW = "golden-encoder standard batch_size=16 epochs=40 lr=0.01"


def test_from_python_there_is_a_table() -> None:
    table = blurb.generalisation(
        ROW, data=GOLDEN / "data", tasks="ner", split="dev", output=GOLDEN / "store"
    ).to_pandas()
    assert list(table.columns) == list(record_columns(SeenRecord))
    assert set(table.task) == {"bc5-chem", "bc5-disease", "ncbi-disease", "bc2gm", "jnlpba"}
    assert table.groupby("task").share.sum().round(6).eq(100).all()


def test_rows_of_two_suites_have_no_common_data(here: Path) -> None:
    (mine,) = blurb.run(
        "baseline:dictionary", tasks="bc2gm,ebm-pico", suite="demo", output="runs"
    ).rows
    with pytest.raises(SettingsError, match="must be of one suite"):
        generalisation([mine, f"{GOLDEN / 'store'}:{ROW}"], data=GOLDEN / "data")
    figures = generalisation([mine])  # the demo suite brings its data
    assert {line.task for line in figures.lines} == {"bc2gm", "ebm-pico"}
    unseen = [line for line in figures.lines if line.strings == "unseen" and line.task == "bc2gm"]
    assert [line.recall for line in unseen] == [0.0]
    assert [line.precision for line in unseen] == [None]


def test_what_needs_data_says_so(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(here))
    monkeypatch.setenv("XDG_DATA_HOME", str(here))
    monkeypatch.delenv("BLURB_DATA", raising=False)
    row = GOLDEN.parents[1] / "docs" / "results" / "minilm" / "quick" / "row"
    for ask in (
        lambda: generalisation([row]),
        lambda: generalisation(["published:PubMedBERT-fulltext"]),
        lambda: blurb.compare(row, row, unseen=True),
    ):
        with pytest.raises(SettingsError, match="Give the folder of the datasets with"):
            ask()
    with pytest.raises(SettingsError, match="must be of one suite"):
        generalisation([])


def test_predictions_on_test_alone_have_no_dev(here: Path) -> None:
    rows = blurb.load_dataset("bc2gm", GOLDEN / "data")["test"].to_list()
    answers = {row["id"]: ["O"] * len(row["tokens"]) for row in rows}
    blurb.score("bc2gm", answers, GOLDEN / "data", add="mine", output="runs")
    assert generalisation("mine", data=GOLDEN / "data").lines[0].task == "bc2gm"
    with pytest.raises(SettingsError, match="bc2gm: has no predictions on dev"):
        generalisation("mine", data=GOLDEN / "data", split="dev")
