"""The page of a series, in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blurb.extensions.reports.html import templating
from blurb.extensions.series import curves
from blurb.extensions.series.reading import ratio
from blurb.messages.text import plural
from blurb.results.dataset_scores import Measure

if TYPE_CHECKING:
    from blurb.extensions.series.series import Series


def text(series: Series, picture: bool = True) -> str:
    """Picture, sentences, how well each set sees the runs change, the scores, and what is left out."""
    template = templating.environment(__package__, escape=False).get_template("page.md.jinja")
    return template.render(
        plural=plural,
        series=series,
        picture=picture,
        done=sum(one.row is not None and not one.lacks(series.datasets) for one in series.scored),
        signal=[
            (dataset, (series.family(dataset), series.family(dataset, Measure.LOSS)))
            for dataset in (curves.MEAN, *series.datasets)
        ],
        shown=[each for kind in (Measure.SCORE, Measure.FIGURE) for each in series.families if each.measure is kind],
        ratio=ratio,
    )
