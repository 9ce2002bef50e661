"""A row as files that others can verify: figures and predictions, without text and gold answers."""

from __future__ import annotations

from blurb.export import row_files
from blurb.export.formats._base import ExportRequest, Files, Format, one_row


def _render(wanted: ExportRequest) -> Files:
    return row_files.files(one_row(wanted), wanted.measured_by, wanted.party)


ADVISED = ("measured_by", "party")
EXPORT = Format(
    "a row as files that others can verify", _render, frozenset(ADVISED), folder="row", alone=True, advised=ADVISED
)
