"""`.eval_results/blurb.yaml` of a model on the Hub: the newer format for results, written by `huggingface_hub`.

The Hub compares an entry with others if the dataset's repository is registered as a benchmark.
"""

from __future__ import annotations

import yaml  # type: ignore[import-untyped]
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

from blurb.extensions.reports.export.formats import ExportFormat, ExportRequest, Files
from blurb.extensions.reports.export.formats._grid import figures
from blurb.messages import SettingsError, opt


def _render(requested: ExportRequest) -> Files:
    if requested.source_url is None and (requested.source_name or requested.source_org):
        raise SettingsError(
            "A source has a name or an organisation only with an address",
            fix=f"add {opt('source-url')}.",
        )
    row, found = figures(requested)
    entries = []
    for figure in found:
        facts = [f"{name} {value}" for name, value in figure.facts(row).items()]
        if figure.verdict != "identical":
            facts.append(f"data {figure.verdict}")
        records = row.records_of(figure.task.name).values()
        entries.append(
            EvalResultEntry(
                dataset_id=requested.dataset_id,
                task_id=figure.task.name,
                value=figure.value,
                dataset_revision=requested.dataset_revision,
                source_url=requested.source_url,
                source_name=requested.source_name,
                source_org=requested.source_org,
                date=max(filter(None, (each.provenance.started for each in records)), default=None),
                notes=", ".join([f"blurb-bench: {figure.metric}", *facts]),
            )
        )
    return {
        "blurb.yaml": yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False).encode()
    }


OPTIONS = frozenset({"dataset_id", "dataset_revision", "source_url", "source_name", "source_org"})
EXPORT = ExportFormat("`.eval_results` of a model on the Hub", _render, OPTIONS, ".eval_results")
