"""`.eval_results/blurb.yaml` of a model on the Hub: the newer place for results, by `huggingface_hub`'s own class.

The Hub shows an entry beside others if the repository of the dataset says that it is a benchmark.
"""

from __future__ import annotations

import yaml  # type: ignore[import-untyped]

from blurb.errors import SettingsError
from blurb.export.formats._base import Files, Format, Wanted
from blurb.export.formats._hub import figures


def _render(wanted: Wanted) -> Files:
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError as error:
        raise SettingsError(
            "This huggingface_hub knows no .eval_results yet: pip install --upgrade huggingface_hub."
        ) from error
    row, found = figures(wanted)
    entries = []
    for figure in found:
        facts = [f"{name} {value}" for name, value in figure.facts(row).items()]
        if figure.verdict != "identical":
            facts.append(f"data {figure.verdict}")
        started = [record.provenance.started for record in row.records_of(figure.task.name).values()]
        entries.append(
            EvalResultEntry(
                dataset_id=wanted.dataset_id,
                task_id=figure.task.name,
                value=figure.value,
                date=max((date for date in started if date), default=None),
                notes=", ".join([f"blurb-bench: {figure.metric}", *facts]),
            )
        )
    return {"blurb.yaml": yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False).encode()}


EXPORT = Format("`.eval_results` of a model on the Hub", _render, frozenset({"dataset_id"}), ".eval_results")
