"""Writes docs/where-the-score-comes-from.md from the published rows that come with blurb.

python -m benchmarks.where_the_score_comes_from
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import Template

from blurb import tasks
from blurb.messages.text import format_signed
from blurb.results import published
from blurb.results.comparison import compare_rows
from blurb.results.decomposition import Decomposition, binomial_error, decompose_difference
from blurb.results.row import Row
from blurb.results.score import dataset_weights
from blurb.row_files.references import row_of

TEMPLATE = Path(__file__).with_suffix(".md.jinja")
PAGE = Path(__file__).parent.parent / "docs" / "where-the-score-comes-from.md"
COLUMNS = ("ner", "pico", "relation", "similarity", "document", "qa")
BESIDE = ("BioBERT", "PubMedBERT PubMed+PMC", "PubMedBERT adversarial")
"""Rows that are compared as well, and are no variant in one choice alone."""


def pubmedbert() -> Row:
    """The row of the paper's Table 6."""
    return row_of("published:PubMedBERT (gu2021)", "runs")


def decompositions() -> dict[str, Decomposition]:
    """PubMedBERT minus each of the rows, by their names."""
    others = {row.model: row for row in published.ablations()}
    others["BioBERT"] = row_of("published:BioBERT (gu2021)", "runs")
    ordered = [*(name for name in others if name not in BESIDE), *BESIDE]
    parts = {
        name: decompose_difference(compare_rows(pubmedbert(), others[name], "test", False))
        for name in ordered
    }
    return {name: part for name, part in parts.items() if part is not None}


def line(name: str, found: Decomposition) -> str:
    """A line of the table."""
    types = {part.name: part for part in found.types}
    bioasq = next(part for part in found.datasets if part.name == "bioasq")
    share = "" if types["qa"].share is None else f"{types['qa'].share:.0%}"
    alone = "" if bioasq.share is None else f"{bioasq.share:.0%}"
    points = " | ".join(format_signed(types[kind].points) for kind in COLUMNS)
    return f"| {name} | {format_signed(found.total)} | {points} | {format_signed(bioasq.points)} | {share} | {alone} |"


def page() -> str:
    """The page."""
    found = decompositions()
    variants = {name: each for name, each in found.items() if name not in BESIDE}
    shares = [
        part.share or 0.0 for each in variants.values() for part in each.types if part.name == "qa"
    ]
    alone = [
        part.share or 0.0
        for each in variants.values()
        for part in each.datasets
        if part.name == "bioasq"
    ]
    ner = max(
        part.points for each in variants.values() for part in each.types if part.name == "ner"
    )
    scores = [
        pubmedbert().means()["bioasq"],
        *(each.scores["bioasq"][1] for each in variants.values()),
    ]
    errors = sorted(
        error for score in scores if (error := binomial_error("bioasq", score)) is not None
    )
    weight = dataset_weights()["bioasq"]
    what = "\n".join(f"| {name} | {text} |" for name, text in published.ABLATIONS.items())
    return Template(TEMPLATE.read_text(encoding="utf-8"), keep_trailing_newline=True).render(
        table="\n".join(line(name, each) for name, each in found.items()),
        variants=what,
        qa=[f"{end(shares):.0%}" for end in (min, max)],
        bioasq=[f"{end(alone):.0%}" for end in (min, max)],
        ner=f"{ner:.2f}",
        errors=[f"{error:.1f}" for error in (errors[0], errors[-1])],
        of_score=[f"{weight * error:.2f}" for error in (errors[0], errors[-1])],
        question=f"{weight * 100 / tasks.get('bioasq').sizes['test']:.2f}",
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
