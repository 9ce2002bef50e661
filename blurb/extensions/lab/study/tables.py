"""The table of a study: a line a dataset, a column a variant, the published column beside."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from blurb.extensions.lab.pretraining.pretrain import version_of
from blurb.extensions.lab.pretraining.recipe import FIRST
from blurb.extensions.lab.study.reading import Difference
from blurb.extensions.lab.study.spec import Study
from blurb.messages.text import probability, signed
from blurb.results import published
from blurb.results.decomposition import Decomposition, Part
from blurb.results.row_scores import RowScores
from blurb.statistics.welch import half_width


@dataclass(frozen=True)
class Cell:
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


COLUMNS = tuple(field.name for field in fields(Cell))
MEAN = "mean"


def cells(study: Study, rows: Mapping[str, Mapping[str, RowScores]], floors: Mapping[str, RowScores]) -> list[Cell]:
    """All cells: protocol by protocol, dataset by dataset, the variants in the order of the study.

    The mean is over the datasets of the study, of pretrainings that have all of them; it is no BLURB score.
    """
    printed = {variant.name: _printed(variant.published) for variant in study.variants}
    names = [task.name for task in study.tasks]
    there: list[Cell] = []
    for protocol, own in rows.items():
        shown = {**own, **(floors if protocol == study.protocols[0] else {})}
        for dataset in (*names, MEAN):
            for variant, row in shown.items():
                values = _means(row, names) if dataset == MEAN else row.values(dataset)
                if values:
                    sd = statistics.stdev(values) if len(values) > 1 else None
                    known = printed.get(variant, {}).get(dataset)
                    cell = Cell(protocol, dataset, variant, statistics.fmean(values), sd, half_width(values),
                                len(values), known)  # fmt: skip
                    there.append(cell)
    return there


def _means(row: RowScores, names: Sequence[str]) -> list[float]:
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
    lines: Sequence[Cell],
    facts: Mapping[str, Sequence[Mapping[str, Any]]],
    differences: Mapping[str, Sequence[Difference]],
    parts_of: Mapping[str, Decomposition],
    crossed: bool = False,
) -> str:
    """The page of a study, in Markdown.

    :param parts_of: variant -> the parts of the difference of its mean from that of the reference
    :param crossed: whether the intervals of differences take test examples into account
    """
    parts = [f"# {study.title}", "", *_head(study, facts), ""]
    for protocol in study.protocols:
        own = [cell for cell in lines if cell.protocol == protocol]
        if own:
            parts += [f"## Scores by `{protocol}`", "", *_table(own, study), ""]
    parts += ["## Bits per byte of held-out text", "", *_bits(facts), ""]
    if differences:
        noise = "pretrainings and test examples" if crossed else "pretrainings alone"
        parts += [f"## Beside `{study.reference}`", "", *_beside(differences, noise), ""]
    if parts_of:
        parts += ["## Where the differences come from", "", *_origins(study, parts_of), ""]
    return "\n".join(parts)


def _head(study: Study, facts: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    count = ", ".join(f"{name} {len(known)}" for name, known in facts.items())
    words = {each["seen"]["words"] for known in facts.values() for each in known} - {0}
    low, high = min(words, default=0), max(words, default=0)
    limits = (low,) if high < 1.01 * low else (low, high)  # a budget of words ends with a whole update
    seen = f"{' to '.join(f'{count:,}' for count in limits)} words of text seen by each; " if words else ""
    yield (
        f"Pretrainings of each variant: {count} (of {study.runs}); {seen}each is fine-tuned once. Figures are test "
        "scores times 100: the mean over pretrainings ± half of its 95 % interval (Student's t), which knows no other "
        "noise than that between pretrainings."
    )
    for source, total, without in sorted({_text(each) for known in facts.values() for each in known}):
        yield ""
        lacks = f", without {without}, whose text has dummies in the place of entities" if without else ""
        yield f"Text: {source}, {total:,} words{lacks}."


def _text(facts: Mapping[str, Any]) -> tuple[str, int, str]:
    text = facts["text"]
    return text["source"], text["words"], " and ".join(text["datasets without original text"])


def _table(cells: Sequence[Cell], study: Study) -> Iterator[str]:
    variants = list(dict.fromkeys(cell.variant for cell in cells))
    printed = [name for name in variants if any(cell.published is not None for cell in cells if cell.variant == name)]
    yield f"| dataset | {' | '.join((*variants, *(f'{name}, {study.published}' for name in printed)))} |"
    yield f"|---|{'---:|' * (len(variants) + len(printed))}"
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        own = {cell.variant: cell for cell in cells if cell.dataset == dataset}
        figures = [str(own[name]) if name in own else "" for name in variants]
        large = [own[name].published if name in own else None for name in printed]
        yield f"| {dataset} | {' | '.join((*figures, *('' if each is None else f'{each:.2f}' for each in large)))} |"


def _beside(differences: Mapping[str, Sequence[Difference]], noise: str) -> Iterator[str]:
    """A line for each variant and dataset."""
    yield (
        f"Each variant minus it, ± half of the 95 % interval over {noise}; p is corrected over the datasets of a "
        "variant (Holm)."
    )
    yield ""
    yield "| variant | dataset | difference | p | |"
    yield "|---|---|---:|---:|---|"
    for name, own in differences.items():
        for each in own:
            half = "" if each.half is None else f" ± {each.half:.2f}"
            p = "" if each.line.p is None else probability(each.line.p)
            yield f"| {name} | {each.line.name} | {each.line.difference:+.2f}{half} | {p} | {each.verdict} |"


def _origins(study: Study, parts_of: Mapping[str, Decomposition]) -> Iterator[str]:
    """A line a dataset: what it adds to the difference of the means, and its share of it."""
    yield (
        f"Points of the mean over the {len(study.tasks)} datasets that each adds to a variant minus "
        f"`{study.reference}`, ± half of their 95 % interval, and its share of the difference."
    )
    yield ""
    yield f"| dataset | {' | '.join(parts_of)} |"
    yield f"|---|{'---:|' * len(parts_of)}"
    for task in study.tasks:
        own = [next(part for part in each.datasets if part.name == task.name) for each in parts_of.values()]
        yield f"| {task.name} | {' | '.join(map(_origin, own))} |"
    yield f"| {MEAN} | {' | '.join(signed(each.total) for each in parts_of.values())} |"
    sentences = [f"- {name}: {text}" for name, each in parts_of.items() for text in each.sentences]
    yield from ["", *sentences] if sentences else []


def _origin(part: Part) -> str:
    half = "" if part.interval is None else f" ± {(part.interval[1] - part.interval[0]) / 2:.2f}"
    return f"{signed(part.points)}{half}" + ("" if part.share is None else f" ({part.share:.0%})")


def _bits(facts: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    yield (
        "| variant | encoder | frequencies of sub-tokens | the sub-token before | sub-tokens seen | operations, 10^12 "
        "| seconds |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name, known in facts.items():
        if known:
            bits = [statistics.fmean(each["bits per byte"][key] for each in known) for key in
                    ("model", "frequencies", "pairs")]  # fmt: skip
            tokens, seconds, flops = (
                statistics.fmean(each["seen"][key] for each in known) for key in ("tokens", "seconds", "flops")
            )
            measured = " | ".join(f"{value:.3f}" for value in bits)
            yield f"| {name} | {measured} | {tokens:,.0f} | {flops / 1e12:,.0f} | {seconds:,.0f} |"
    every = [each for known in facts.values() for each in known]
    if len({each["recipe"]["whole_word"] for each in every if each["seen"]["words"]}) > 1:
        yield ""
        yield (
            "The measurement masks whole words, as one of the objectives does and the other does not: that is part of "
            "what lies between their encoders."
        )
        if {version_of(each) for each in every} == {FIRST}:
            yield ""
            yield (
                "They were made by version 1 of pretraining, which masked 15.6 % of the sub-tokens where whole words "
                "are masked and 14.7 % elsewhere, for a rate of 15 %; later ones mask 15.0 % of both."
            )
    pretrained = [(name, each) for name, known in facts.items() for each in known if each["seen"]["words"]]
    if len({each["precision"] for _, each in pretrained}) > 1:
        full = ", ".join(f"{name} {each['recipe']['seed']}" for name, each in pretrained if each["precision"] == "fp32")
        yield ""
        yield f"Pretrained with products in fp32: {full}. All others: in bf16."
    epochs = {round(each["seen"]["epochs"]) for each in every if each["seen"]["words"]}
    if max(epochs, default=0) > 1:
        yield ""
        times = " or ".join(map(str, sorted(epochs)))
        yield f"The text was read {times} times: the words seen are not different words."
