"""The files for BLURB's website: one JSON file per dataset, and a zip archive of them."""

from __future__ import annotations

import io
import json
import zipfile

from blurb.extensions.reports.export.formats._base import ExportFormat, ExportRequest, Files, real_row
from blurb.extensions.reports.export.submission import documents

ARCHIVE = "submission.zip"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The oldest date of zip archives, so that equal predictions give identical archives."""


def _render(wanted: ExportRequest) -> Files:
    found = documents(real_row(wanted), wanted.datasets, wanted.seed, wanted.allow_partial)
    contents = {
        f"{name}.json": (json.dumps(document, allow_nan=False) + "\n").encode() for name, document in found.items()
    }
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        for name, content in contents.items():
            packed.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
    return {**contents, ARCHIVE: archive.getvalue()}


EXPORT = ExportFormat(
    "BLURB's JSON files and their zip archive", _render, frozenset({"seed", "allow_partial"}), "submission", alone=True
)
