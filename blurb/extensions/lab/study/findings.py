"""What the parts of a study show: a table, a picture and sentences, made from the parts alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.extensions.lab.study import examples, parts, tables
from blurb.extensions.lab.study.reading import VariantDifference, compared, reading
from blurb.extensions.lab.study.spec import Study
from blurb.extensions.reports.plots import _style, scores
from blurb.messages.errors import DataError
from blurb.records import Tabular
from blurb.results import schema
from blurb.results.decomposition import Decomposition, decompose
from blurb.results.row import Row
from blurb.system.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

TABLE, PAGE, PICTURE = "study.csv", "README.md", "study.png"


@dataclass(frozen=True, repr=False)
class Findings(Tabular):
    """The rows of the variants that have parts; in a notebook the table.

    :param rows: protocol -> variant -> its row, whose runs are its pretrainings
    :param floors: baseline -> its row
    :param facts: variant -> what is known of each of its pretrainings (`pretraining.json`)
    :param data: data folder with the gold answers; None leaves the choice of test examples out of the sentences
    """

    study: Study
    path: Path
    rows: Mapping[str, Mapping[str, Row]]
    floors: Mapping[str, Row]
    facts: Mapping[str, Sequence[Mapping[str, Any]]]
    data: Path | None = None

    @property
    def first(self) -> Mapping[str, Row]:
        """The rows by the protocol that decides."""
        return self.rows[self.study.protocols[0]]

    def reading(self) -> list[str]:
        """A sentence for each variant and dataset; empty while the reference has no part."""
        return list(reading(self.study.reference, self.differences))

    @cached_property
    def differences(self) -> Mapping[str, Sequence[VariantDifference]]:
        """Variant -> its scores minus those of the reference; empty while the reference has no part."""
        if self.study.reference not in self.first:
            return {}
        units = None if self.data is None else examples.units(self.path, self.study, self.data)
        return compared(self.first, self.study.reference, units)

    def decompositions(self) -> Mapping[str, Decomposition]:
        """Variant -> how much each dataset adds to the difference of its mean and that of the reference.

        Variants that lack a dataset of the study are left out.
        """
        weights = dict.fromkeys((task.name for task in self.study.tasks), 1 / len(self.study.tasks))
        there = {name: decompose([each.line for each in own], weights) for name, own in self.differences.items()}
        return {name: parts for name, parts in there.items() if parts is not None}

    def lines(self) -> list[tables.StudyCell]:
        """A cell for each protocol, dataset and variant."""
        return tables.cells(self.study, self.rows, self.floors)

    def to_pandas(self) -> DataFrame:
        """The cells as a table with the columns of `study.csv`."""
        from pandas import DataFrame

        return DataFrame([vars(cell) for cell in self.lines()], columns=list(tables.COLUMNS))

    def markdown(self) -> str:
        """The page of the study."""
        return tables.page(
            self.study, self.lines(), self.facts, self.differences, self.decompositions(), self.data is not None
        )

    def plot(self, path: Path | str | None = None) -> Figure | None:
        """The scores of all variants by dataset; returns the figure if there is no file to write.

        :raises SettingsError: without Matplotlib, or for another kind of file than .png, .svg and .pdf
        """
        scores.check(Path(path or PICTURE))
        shown = [*self.first.values(), *self.floors.values()]
        if path is None:
            return _style.drawn(lambda: scores.draw(shown))
        scores.write(shown, Path(path))
        return None

    def write(self, picture: bool = True) -> list[Path]:
        """Writes table, page and picture beside the parts; returns what was written.

        :raises DataError: if there are no parts
        """
        if not self.first:
            raise DataError("has no finished part.", self.path, fix="run the study first.")
        schema.write(self.path / TABLE, tables.COLUMNS, [cell.written() for cell in self.lines()])
        write_whole(self.path / PAGE, self.markdown().encode())
        if picture:
            self.plot(self.path / PICTURE)
        return [self.path / name for name in (PAGE, TABLE, *([PICTURE] if picture else []))]

    def __repr__(self) -> str:
        done = ", ".join(f"{name}: {len(self.facts[name])}" for name in self.facts)
        return f"<Findings of {self.path}: {done} of {self.study.runs} pretrainings>"


def read(out: Path, study: Study, data: Path | None = None) -> Findings:
    """What is there of a study.

    :raises DataError: if a part cannot be read
    """
    rows = {protocol: parts.rows(out, study, protocol) for protocol in study.protocols}
    return Findings(study, out, rows, parts.floors(out, study), parts.facts(out, study), data)
