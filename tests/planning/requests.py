"""What a run asks for, as the tests of trials need it: in fp32, on the processor."""

from pathlib import Path
from typing import Any

from blurb import tasks
from blurb.checkpoints import ModelSource
from blurb.corpora import demo
from blurb.learners import building
from blurb.planning.request import Request
from blurb.protocols import protocol


def request(
    store: Path,
    *models: str | Path | ModelSource,
    tasks_: str = "gad",
    protocol_: str = "smoke",
    **more: Any,
) -> Request:
    """A request of models that are resolved already, or of their names, on the data of the demo suite."""
    sources = [
        one if isinstance(one, ModelSource) else building.resolve_model(str(one)) for one in models
    ]
    given = {"data": demo.prepare(), "precision": "fp32", "device": "cpu", **more}
    return Request(
        sources=sources,
        tasks=tasks.select_tasks(tasks_),
        protocol=protocol.load_protocol_file(protocol_),
        store=store,
        **given,
    )
