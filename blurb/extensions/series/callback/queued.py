"""Scores one checkpoint in a process of its own: the training beside it keeps its random numbers and its memory.

`python -m blurb.extensions.series.callback.queued` reads a request from its input and writes the
scores as its last line.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Mapping
from typing import Any

import blurb
from blurb.extensions.series.api.checkpoint_rows import names_of
from blurb.extensions.series.curves import losses
from blurb.messages import BlurbError, DataError
from blurb.system.signals import end_with_parent


def score(request: Mapping[str, Any]) -> tuple[dict[str, float], str]:
    """The scores of a checkpoint: each dataset, its loss, and the mean over the datasets; and what failed.

    :param request: reference, name, tasks, protocol, output, split and the process that asks; trials has options of
        `blurb.run`
    :raises BlurbError: if the trials cannot be planned, or none of them ends
    """
    results = blurb.run(
        blurb.NamedModel(request["reference"], request["name"]),
        request["tasks"],
        protocol=request["protocol"],
        output=request["output"],
        progress=False,
        **request["trials"],
    )
    failed = "; ".join(f"{outcome.job.trial.task}: {outcome.message}" for outcome in results.failed)
    if not results.rows:
        raise DataError(f"{request['name']}: {failed or 'no trial ended'}")
    (row,) = results.rows
    # The row has whatever was scored under its name.
    names = names_of(request["tasks"], request["trials"].get("suite"))
    means = {name: mean for name, mean in row.means(request["split"]).items() if name in names}
    scores = means | {
        f"{name}-loss": statistics.fmean(values) for name in names if (values := losses(row, name))
    }
    if len(means) == len(names):
        scores["mean"] = statistics.fmean(means.values())
    return scores, failed


def main() -> None:
    """Reads a request, writes scores or an error."""
    request = json.load(sys.stdin)
    end_with_parent(request["parent"])
    try:
        scores, failed = score(request)
        answer: dict[str, Any] = {"scores": scores, "failed": failed}
    except BlurbError as error:
        answer = {"error": str(error)}
    print(f"\n{json.dumps(answer)}")


if __name__ == "__main__":
    main()
