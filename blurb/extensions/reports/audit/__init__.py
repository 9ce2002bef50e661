"""Checks corpora for defects that even a correct copy has: one function per check, each yields findings.

To add a check, add a function of an `AuditedTask` to `CHECKS`; `shared` compares all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from blurb.extensions.reports.audit.audited import AuditedTask, AuditFinding
from blurb.extensions.reports.audit.duplicates import (
    between,
    conflicts,
    documents,
    repeated,
    shared,
)
from blurb.extensions.reports.audit.encoding import characters, entities, illegal, windows

CHECKS = (between, repeated, conflicts, documents, illegal, characters, entities, windows)
"""Checks of a single corpus, in display order."""


def audit(corpora: Sequence[AuditedTask]) -> list[AuditFinding]:
    """All findings, ordered by check, then by task."""
    return [
        *(finding for check in CHECKS for corpus in corpora for finding in check(corpus)),
        *shared(corpora),
    ]
