"""`blurb.generalisation`: what the golden transcripts of the command do not show."""

from __future__ import annotations

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
    with pytest.raises(SettingsError, match="of several suites"):
        generalisation([mine, f"{GOLDEN / 'store'}:{ROW}"], data=GOLDEN / "data")
    figures = generalisation([mine])  # the demo suite brings its data
    assert {line.task for line in figures.lines} == {"bc2gm", "ebm-pico"}
    unseen = [line for line in figures.lines if line.strings == "unseen" and line.task == "bc2gm"]
    assert [line.recall for line in unseen] == [0.0]
    assert [line.precision for line in unseen] == [None]
