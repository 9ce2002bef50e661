"""Pages in a real browser, where playwright and a Chromium are on the machine."""

import importlib
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.page import browser


@contextmanager
def launched() -> Iterator[Any]:
    """A Chromium. Without it, or without playwright, the test is skipped, and where a browser is required it fails."""
    lacks = pytest.fail if os.environ.get("BLURB_TEST_BROWSER") == "required" else pytest.skip
    if importlib.util.find_spec("playwright") is None:
        lacks("playwright is not installed: make install")
    if (executable := browser()) is None:
        lacks("there is no Chromium on this machine: make browser")
    with importlib.import_module("playwright.sync_api").sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@contextmanager
def on_a_phone(chromium: Any, file: Path, title: str, width: int, height: int) -> Iterator[Any]:
    """A page in light colours; no message on the console, no error and no request by the end, and still its title."""
    context = chromium.new_context(
        viewport={"width": width, "height": height}, color_scheme="light"
    )
    page, said, asked = context.new_page(), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    yield page
    assert said == []
    assert set(asked) == {file.as_uri()}
    assert page.title() == title
    context.close()
