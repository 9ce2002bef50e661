"""The demo suite, in which the tests of the baselines learn."""

from __future__ import annotations

from pathlib import Path

import pytest

from blurb.corpora import demo


@pytest.fixture(scope="session")
def data() -> Path:
    return demo.prepare()
