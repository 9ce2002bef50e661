"""The table of a study: a line a dataset, a column a variant, the published column beside."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from blurb.extensions.lab.pretraining.pretrain import version_of
from blurb.extensions.lab.pretraining.recipe import FIRST
from blurb.extensions.lab.study.reading import VariantDifference
from blurb.extensions.lab.study.spec import Study
from blurb.extensions.reports.html import templating
from blurb.messages.text import probability, signed
from blurb.results import published
from blurb.results.decomposition import Decomposition
from blurb.results.row import Row
from blurb.statistics.welch import half_width


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
        """The cell as a line of the file; unknown figures are empty."""
        values = {name: getattr(self, name) for name in COLUMNS}
        return {
            name: "" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)
            for name, value in values.items()
        }

    def __str__(self) -> str:
        return f"{self.mean:.2f}" + ("" if self.half is None else f" ± {self.half:.2f}")


COLUMNS = tuple(field.name for field in fields(StudyCell))
MEAN = "mean"


def cells(study: Study, rows: Mapping[str, Mapping[str, Row]], floors: Mapping[str, Row]) -> list[StudyCell]:
    """All cells: protocol by protocol, dataset by dataset, the variants in the order of the study.

    The mean is over the datasets of the study, of pretrainings that have all of them; it is no BLURB score.
    """
    printed = {variant.name: _printed(variant.published) for variant in study.variants}
    names = [task.name for task in study.tasks]
    there: list[StudyCell] = []
    for protocol, own in rows.items():
        shown = {**own, **(floors if protocol == study.protocols[0] else {})}
        for dataset in (*names, MEAN):
            for variant, row in shown.items():
                values = _means(row, names) if dataset == MEAN else row.values(dataset)
                if values:
                    sd = statistics.stdev(values) if len(values) > 1 else None
                    known = printed.get(variant, {}).get(dataset)
                    cell = StudyCell(
                        protocol, dataset, variant, statistics.fmean(values), sd, half_width(values), len(values), known
                    )
                    there.append(cell)
    return there


def _means(row: Row, names: Sequence[str]) -> list[float]:
    if not all(name in row.datasets for name in names):
        return []
    seeds = set.intersection(*(set(row.seeds(name)) for name in names))
    by_name = [row.datasets[name].scores() for name in names]
    return [statistics.fmean(scores[seed] for scores in by_name) for seed in sorted(seeds)]


def _printed(name: str) -> Mapping[str, float]:
    """Dataset -> printed score of a published row; empty without a name."""
    found = [row for row in (*published.shipped(), *published.ablations()) if row.model == name]
    return found[0].means("test") if name and found else {}


def page(
    study: Study,
    lines: Sequence[StudyCell],
    facts: Mapping[str, Sequence[Mapping[str, Any]]],
    differences: Mapping[str, Sequence[VariantDifference]],
    parts_of: Mapping[str, Decomposition],
    crossed: bool = False,
) -> str:
    """The page of a study, in Markdown.

    :param parts_of: variant -> the parts of the difference of its mean from that of the reference
    :param crossed: whether the intervals of differences take test examples into account
    """
    scores: dict[str, dict[str, dict[str, StudyCell]]] = {}
    for cell in lines:
        scores.setdefault(cell.protocol, {}).setdefault(cell.dataset, {})[cell.variant] = cell
    every = [each for known in facts.values() for each in known]
    words = {each["seen"]["words"] for each in every} - {0}
    low, high = min(words, default=0), max(words, default=0)
    limits = (low,) if high < 1.01 * low else (low, high)  # a budget of words ends with a whole update
    pretrained = [(name, each) for name, known in facts.items() for each in known if each["seen"]["words"]]
    template = templating.environment(__package__, escape=False).get_template("page.md.jinja")
    return template.render(
        signed=signed,
        probability=probability,
        study=study,
        facts=facts,
        every=every,
        counts=", ".join(f"{name} {len(known)}" for name, known in facts.items()),
        words=" to ".join(f"{count:,}" for count in limits) if words else "",
        texts=sorted(set(map(_text, every))),
        scores=scores,
        with_published={cell.variant for cell in lines if cell.published is not None},
        mean=statistics.fmean,
        are_first={version_of(each) for each in every} == {FIRST},
        in_fp32=", ".join(
            f"{name} {each['recipe']['seed']}" for name, each in pretrained if each["precision"] == "fp32"
        ),
        differences=differences,
        noise="pretrainings and test examples" if crossed else "pretrainings alone",
        parts_of=parts_of,
        all=MEAN,
    )


def _text(facts: Mapping[str, Any]) -> tuple[str, int, str]:
    text = facts["text"]
    return text["source"], text["words"], " and ".join(text["datasets without original text"])
