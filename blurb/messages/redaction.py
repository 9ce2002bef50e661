"""Secrets in what is shown and stored: logins in addresses, tokens, the values of variables that hold some."""

from __future__ import annotations

import os
import re

HIDDEN = "***"
LOGIN = re.compile(r"(?<=://)(?:[^/\s'\"]+|[^/\s@:'\"]*:[^\s'\"]*)(?=@)")
"""Up to the last `@`; a password may have a slash in it, although it ought to be written as %2F there."""
QUERY = re.compile(
    r"([?&][\w-]*(?:token|secret|password|passwd|signature|credential|api_?key|access_?key|sig)=)[^&\s'\"]+",
    re.IGNORECASE,
)
TOKEN = re.compile(r"\b(?:hf_[A-Za-z0-9]{16,}|gh[a-z]_[A-Za-z0-9]{16,}|Bearer\s+[\w.~+/=-]{8,})")
NAMED = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|CREDENTIAL", re.IGNORECASE)
SHORTEST = 8
"""Characters of a variable's value from which it is hidden: `true` and `1` are no secrets."""


def redacted(text: str) -> str:
    """The text with `***` in place of every secret that can be told from its form, or that a variable holds.

    >>> redacted("https://me:word@example.org/x?token=abc&page=2")
    'https://***@example.org/x?token=***&page=2'
    """
    for name, value in os.environ.items():
        if len(value) >= SHORTEST and NAMED.search(name) and value in text:
            text = text.replace(value, HIDDEN)
    if "://" in text:
        text = QUERY.sub(rf"\g<1>{HIDDEN}", LOGIN.sub(HIDDEN, text))
    return TOKEN.sub(HIDDEN, text)
