"""Secrets are in no message, no log and no reason of a failure."""

import pytest

from blurb.messages.errors import DataError, safe_message
from blurb.messages.text import redact_secrets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://me:word@example.org/x: gone", "https://***@example.org/x: gone"),
        ("https://me:pa/ss@example.org/x", "https://***@example.org/x"),
        ("https://me:p@ss@example.org/x", "https://***@example.org/x"),
        ("https://example.org:8080/x", "https://example.org:8080/x"),
        ("https://example.org/a@b", "https://example.org/a@b"),
        ("https://hf_token@example.org", "https://***@example.org"),
        (
            "GET /x?access_token=abc&page=2",
            "GET /x?access_token=abc&page=2",
        ),  # no address: nothing tells it from data
        ("http://x.org/y?access_token=abc&page=2'", "http://x.org/y?access_token=***&page=2'"),
        (
            "s3://b/f?X-Amz-Signature=12ab&X-Amz-Credential=me",
            "s3://b/f?X-Amz-Signature=***&X-Amz-Credential=***",
        ),
        ("Authorization: Bearer abc.def-ghi12", "Authorization: ***"),
        (f"token hf_{'a' * 34}.", "token ***."),
        ("blurb run org/model@main --tasks gad", "blurb run org/model@main --tasks gad"),
        (
            "mail me@example.org about https://example.org/a",
            "mail me@example.org about https://example.org/a",
        ),
        ("", ""),
    ],
)
def test_what_can_be_told_from_its_form(text: str, shown: str) -> None:
    assert redact_secrets(text) == shown


def test_values_of_variables_that_are_named_as_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("WANDB_API_KEY", "k" * 12),
        ("MY_PASSWORD", "open sesame"),
        ("HF_TOKEN", "true"),
        ("HOME", "/h"),
    ):
        monkeypatch.setenv(name, value)
    assert redact_secrets(f"{'k' * 12} open sesame true /h") == "*** *** true /h"


def test_messages_of_errors_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "a-secret-token")
    assert safe_message(DataError("a-secret-token is refused")) == "*** is refused"
    assert safe_message(ValueError("http://a:b@c/")) == "ValueError: http://***@c/"
