"""What the parts of a study show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from blurb.lab.study import parts
from blurb.lab.study.spec import Study
from blurb.results.row_scores import RowScores


@dataclass(frozen=True)
class Findings:
    """The rows of the variants that have parts, by protocol."""

    study: Study
    path: Path
    rows: Mapping[str, Mapping[str, RowScores]]


def read(out: Path, study: Study) -> Findings:
    """What is there of a study."""
    return Findings(study, out, {protocol: parts.rows(out, study, protocol) for protocol in study.protocols})
