"""The findings of a study: a table, a picture and sentences, made from the parts alone.

Sentences say what was separated from the noise of pretrainings, and what it would take. Pretrainings and test examples
are crossed, as in the Multi-Bootstrap (Sellam et al. 2022, MultiBERTs), which resamples both. Here examples are
resampled, and the part of the pretrainings has the variance between them, as three drawn with replacement vary too
little (`blurb.statistics.bootstrap`).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property, partial
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from blurb.extensions.lab.pretraining.recipe import FIRST, version_of
from blurb.extensions.lab.study import parts
from blurb.extensions.lab.study.spec import Study
from blurb.extensions.reports.html import environment
from blurb.extensions.reports.plots import scores
from blurb.messages import DataError, format_p, format_signed
from blurb.records import Tabular, make_frame
from blurb.results import published, schema
from blurb.results.comparison import ScoreComparison, compare_rows
from blurb.results.decomposition import Decomposition, decompose_difference
from blurb.results.predictions import shared_clusters
from blurb.results.row import Row
from blurb.row_files.scores import examples_of
from blurb.statistics.bootstrap import Clusters, difference_variance
from blurb.statistics.pooled import MOST, POWER, runs_needed
from blurb.statistics.welch import LEVEL, half_width, holm, welch_test
from blurb.system.files import write_whole
from blurb.tasks import known_task

Units = Callable[[str, str, str], tuple[float, int]]
"""A variant, another and a dataset -> variance of the difference over test examples, and their number."""


def unit_variances(out: Path, study: Study, data: Path) -> Units:
    """The variance of a difference from the choice of test examples, by the predictions of the parts.

    :param data: data folder with the gold answers
    :raises DataError: (when called) if the predictions are not those of the examples
    """

    clusters = cache(partial(_clusters, out, study, data))

    def variance(first: str, other: str, dataset: str) -> tuple[float, int]:
        own, others = clusters(first, dataset), clusters(other, dataset)
        if own is None or others is None or own.names != others.names:
            return 0.0, 0
        return difference_variance(own, others, dataset), len(own.names)

    return variance


def _clusters(out: Path, study: Study, data: Path, name: str, dataset: str) -> Clusters | None:
    """The examples of all pretrainings of a variant; None if these scored different ones."""
    alone = replace(study, variants=[one for one in study.variants if one.name == name])
    runs = [
        examples_of(row, run, "test", data)
        for *_, row in parts.filed_rows(out, alone, study.protocols[0])
        for run in row.about["runs"]
        if run["task"] == dataset
    ]
    return shared_clusters(runs) if runs else None


@dataclass(frozen=True)
class VariantDifference:
    """A variant minus the reference on a dataset.

    :param values: scores of the variant and of the reference, a pretraining each
    :param of_examples: variance of the difference over test examples, which no number of pretrainings makes smaller
    :param tests: datasets over which p is corrected
    """

    line: ScoreComparison
    values: tuple[Sequence[float], Sequence[float]]
    of_examples: float = 0.0
    tests: int = 1

    @property
    def half(self) -> float | None:
        """Half of the 95 % interval; None without a test."""
        if self.line.p is None or self.line.interval is None:
            return None
        low, high = self.line.interval
        return (high - low) / 2

    @property
    def verdict(self) -> str:
        """Whether it is separated from noise, and what it would take."""
        if self.line.p is None or self.half is None:
            return f"of these checkpoints alone ({self.line.reason or 'one pretraining says nothing of others'})"
        if self.line.p < LEVEL:
            return "separated"
        deviation = (
            statistics.fmean(statistics.variance(own) for own in self.values if len(own) > 1) ** 0.5
        )
        count = needed(
            self.line.difference or 0.0,
            deviation,
            self.of_examples,
            self.tests,
            there=min(map(len, self.values)),
        )
        return f"not separated; {count}"

    def __str__(self) -> str:
        text = f"{self.line.difference:+.2f}"
        if self.half is None:
            return f"{text}; {self.verdict}."
        return f"{text} ± {self.half:.2f}, p {format_p(self.line.p)} (corrected over the datasets): {self.verdict}."


def compared(
    rows: Mapping[str, Row], reference: str, units: Units | None = None
) -> dict[str, list[VariantDifference]]:
    """Each variant minus the reference, dataset by dataset.

    :param units: what the choice of test examples adds to the variance; None leaves it out
    """
    present: dict[str, list[VariantDifference]] = {}
    for name, row in rows.items():
        if name == reference:
            continue
        own: list[VariantDifference] = []
        for line in compare_rows(row, rows[reference], "test", with_units=False):
            if known_task(line.name) is None or line.difference is None:
                continue
            values, added = (row.values(line.name), rows[reference].values(line.name)), (0.0, 0)
            if min(map(len, values)) == 1:
                # One pretraining does not say how much its recipe varies, and variants need not vary alike: random
                # weights that were never trained have no variation of pretraining at all.
                means = [[statistics.fmean(side)] for side in values]
                line = replace(line, p=None, comparison=welch_test(means[0], means[1]))
            elif units is not None and line.p is not None:
                added = units(name, reference, line.name)
                line = replace(line, comparison=welch_test(*values, *added))
            own.append(VariantDifference(line, values, added[0]))
        # With the variance over test examples p is corrected anew.
        corrected = holm([None if each.line.p is None else each.line.comparison.p for each in own])
        tests = sum(p is not None for p in corrected)
        present[name] = [
            replace(each, line=replace(each.line, p=p), tests=tests)
            for each, p in zip(own, corrected, strict=True)
        ]
    return present


def reading(reference: str, differences: Mapping[str, Sequence[VariantDifference]]) -> list[str]:
    """A sentence for each variant and dataset: its scores minus those of the reference.

    With one pretraining on a side there is no test: the sentence is on these checkpoints.

    :param differences: of `compared`
    """
    return [
        f"{each.line.name}: {name} minus {reference}: {each}"
        for name, own in differences.items()
        for each in own
    ]


def needed(
    difference: float, deviation: float, of_examples: float = 0.0, tests: int = 1, there: int = 1
) -> str:
    """The seeds that separate a difference as large as the one seen, four times in five.

    The level is divided by the number of tests, which is a little stricter than Holm's rule.

    :param deviation: of scores between pretrainings
    :param of_examples: variance of the difference over test examples, which no number of pretrainings makes smaller
    :param there: pretrainings a side that did not separate it
    """
    level = LEVEL / tests
    count = runs_needed(difference, deviation, level)
    if of_examples:
        # So many standard errors are seen four times in five; error^2 = 2 deviation^2 / runs + that of the examples.
        seen = NormalDist().inv_cdf(1 - level / 2) + NormalDist().inv_cdf(POWER)
        left = (difference / seen) ** 2 - of_examples
        if left <= 0:
            return "no number of pretrainings would separate them: too few test examples"
        more = math.ceil(2 * deviation**2 / left)
        count = None if count is None or more > MOST else max(count, more)
    if count is None:
        return f"more than {MOST} pretrainings a side would separate them"
    return f"about {max(count, there + 1)} pretrainings a side would separate them"


if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


@dataclass(frozen=True)
class StudyCell:
    """A variant on a dataset.

    :param dataset: name of the dataset, or `mean` over all of the study
    :param mean: over pretrainings, times 100
    :param sd: between pretrainings, each fine-tuned once; None for fewer than two
    :param half: half of the 95 % interval of the mean (Student's t), likewise
    :param published: score of the published row that asks the same of a large encoder
    """

    protocol: str
    dataset: str
    variant: str
    mean: float
    sd: float | None
    half: float | None
    pretrainings: int
    published: float | None = None

    def written(self) -> dict[str, str]:
        """The cell as a line of the file, without figures that are unknown."""
        return {
            name: f"{value:.2f}" if isinstance(value, float) else str(value)
            for name, value in vars(self).items()
            if value is not None
        }

    def __str__(self) -> str:
        return f"{self.mean:.2f}" + ("" if self.half is None else f" ± {self.half:.2f}")


COLUMNS = tuple(field.name for field in fields(StudyCell))
MEAN = "mean"


def cells(
    study: Study, rows: Mapping[str, Mapping[str, Row]], floors: Mapping[str, Row]
) -> list[StudyCell]:
    """All cells: protocol by protocol, dataset by dataset, the variants in the order of the study.

    The mean is over the datasets of the study, of pretrainings that have all of them; it is no BLURB score.
    """
    theirs = {
        row.model: row.means("test")
        for row in reversed((*published.shipped(), *published.ablations()))
    }
    printed = {variant.name: theirs.get(variant.published, {}) for variant in study.variants}
    names = [task.name for task in study.tasks]
    present: list[StudyCell] = []
    for protocol, own in rows.items():
        shown = {**own, **(floors if protocol == study.protocols[0] else {})}
        for dataset in (*names, MEAN):
            for variant, row in shown.items():
                values = row.mean_values(names) if dataset == MEAN else row.values(dataset)
                if values:
                    present.append(
                        StudyCell(
                            protocol,
                            dataset,
                            variant,
                            mean=statistics.fmean(values),
                            sd=statistics.stdev(values) if len(values) > 1 else None,
                            half=half_width(values),
                            pretrainings=len(values),
                            published=printed.get(variant, {}).get(dataset),
                        )
                    )
    return present


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
        return reading(self.study.reference, self.differences)

    @cached_property
    def differences(self) -> Mapping[str, Sequence[VariantDifference]]:
        """Variant -> its scores minus those of the reference; empty while the reference has no part."""
        if self.study.reference not in self.first:
            return {}
        units = None if self.data is None else unit_variances(self.path, self.study, self.data)
        return compared(self.first, self.study.reference, units)

    def decompositions(self) -> Mapping[str, Decomposition]:
        """Variant -> how much each dataset adds to the difference of its mean and that of the reference.

        Variants that lack a dataset of the study are left out.
        """
        weights = dict.fromkeys((task.name for task in self.study.tasks), 1 / len(self.study.tasks))
        return {
            name: parts
            for name, own in self.differences.items()
            if (parts := decompose_difference([each.line for each in own], weights)) is not None
        }

    def lines(self) -> list[StudyCell]:
        """A cell for each protocol, dataset and variant."""
        return cells(self.study, self.rows, self.floors)

    def to_pandas(self) -> DataFrame:
        """The cells as a table with the columns of `study.csv`."""
        return make_frame([vars(cell) for cell in self.lines()], COLUMNS)

    def markdown(self) -> str:
        """The page of the study."""
        lines = self.lines()
        scores: dict[str, dict[str, dict[str, StudyCell]]] = {}
        for cell in lines:
            scores.setdefault(cell.protocol, {}).setdefault(cell.dataset, {})[cell.variant] = cell
        every = [(name, each) for name, known in self.facts.items() for each in known]
        pretrained = [(name, each) for name, each in every if each["seen"]["words"]]
        words = sorted(each["seen"]["words"] for _, each in pretrained)
        # A budget of words ends with a whole update
        limits = [words[0], words[-1]] if words and words[-1] >= 1.01 * words[0] else words[:1]
        page = environment(__package__, html=False).get_template("page.md.jinja")
        return page.render(
            signed=format_signed,
            probability=format_p,
            study=self.study,
            facts=self.facts,
            every=[each for _, each in every],
            counts=", ".join(f"{name} {len(known)}" for name, known in self.facts.items()),
            words=" to ".join(f"{count:,}" for count in limits),
            texts=sorted(
                {
                    (
                        text["source"],
                        text["words"],
                        " and ".join(text["datasets without original text"]),
                    )
                    for text in (each["text"] for _, each in every)
                }
            ),
            scores=scores,
            with_published={cell.variant for cell in lines if cell.published is not None},
            mean=statistics.fmean,
            are_first={version_of(each) for _, each in every} == {FIRST},
            in_fp32=", ".join(
                f"{name} {each['recipe']['seed']}"
                for name, each in pretrained
                if each["precision"] == "fp32"
            ),
            differences=self.differences,
            noise="pretrainings alone" if self.data is None else "pretrainings and test examples",
            parts_of=self.decompositions(),
            all=MEAN,
        )

    def plot(self, path: Path | str | None = None) -> Figure | None:
        """The scores of all variants by dataset; returns the figure if there is no file to write.

        :raises SettingsError: without Matplotlib, or for another kind of file than .png, .svg and .pdf
        """
        return scores.plot([*self.first.values(), *self.floors.values()], path)

    def write(self, picture: bool = True) -> list[Path]:
        """Writes table, page and picture beside the parts; returns what was written.

        :raises DataError: if there are no parts
        """
        if not self.first:
            raise DataError("has no finished part.", self.path, fix="run the study first.")
        schema.write(self.path / TABLE, COLUMNS, [cell.written() for cell in self.lines()])
        write_whole(self.path / PAGE, self.markdown().encode())
        if picture:
            self.plot(self.path / PICTURE)
        return [self.path / name for name in (PAGE, TABLE, *([PICTURE] if picture else []))]

    def __repr__(self) -> str:
        done = ", ".join(f"{name}: {len(self.facts[name])}" for name in self.facts)
        return f"<Findings of {self.path}: {done} of {self.study.runs} pretrainings>"


def read(out: Path, study: Study, data: Path | None = None) -> Findings:
    """The parts of a study that are done.

    :raises DataError: if a part cannot be read
    """
    rows = {protocol: parts.rows(out, study, protocol) for protocol in study.protocols}
    return Findings(study, out, rows, parts.floors(out, study), parts.facts(out, study), data)
