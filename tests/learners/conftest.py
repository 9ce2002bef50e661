"""What the tests of the baselines ask for: trials on the demo suite."""

from pathlib import Path
from typing import Any

import pytest

from blurb.corpora import demo
from blurb.planning.request import Request
from tests.planning.requests import request as requested

TASKS = ("ncbi-disease", "ebm-pico", "ddi", "gad", "biosses", "hoc", "pubmedqa")


@pytest.fixture(scope="session")
def data() -> Path:
    return demo.prepare()


def request(data: Path, store: Path, name: str, protocol: str = "quick", **given: Any) -> Request:
    chosen = {"tasks_": "all", "protocol_": protocol, "precision": "bf16", "device": "auto"}
    return requested(store, f"baseline:{name}", data=data, suite="demo", **chosen, **given)
