"""A row for the store of results Every Eval Ever: its aggregate form, version 0.3.0 of `eval.schema.json`.

Its form for single examples requires their text, which the licences of the corpora do not allow to pass on.
https://github.com/evaleval/every_eval_ever
"""

from __future__ import annotations

import json
import math
import statistics
from datetime import datetime
from typing import Any

from blurb import __version__, metrics
from blurb.extensions.reports.export.formats import ExportFormat, ExportRequest, Files
from blurb.extensions.reports.export.formats._grid import ExportFigure, figures, whole_score
from blurb.messages import SettingsError, StoreError, opt
from blurb.results.row import Row
from blurb.statistics.welch import half_width
from blurb.store.record import Record, clip_interval

VERSION = "0.3.0"
RELATIONS = {"first": "first_party", "third": "third_party", "": "other"}


def _render(requested: ExportRequest) -> Files:
    if not requested.measured_by:
        raise SettingsError(
            "Every Eval Ever wants to know who ran it", fix=f"add {opt('measured-by', 'NAME')}."
        )
    row, means = figures(requested)
    # Of the runs and not of now, so that an export made again is the same entry.
    latest = str(max(_seconds(record) for each in row.records.values() for record in each.values()))
    making = {"deployment_type": "unknown", "model_availability": "unknown"}
    if not row.kind.claimed:
        making |= {
            "deployment_type": "self_deployed",
            "weights_sha256": row.weights,
            "fine_tuning": row.configuration.text,
            "precision": row.configuration.precision,
        }
    results = [_result(row, figure) for figure in means]
    if (score := whole_score(row, requested)) is not None:
        level = "overall: mean of the means of six task types"
        results.append(
            _entry(
                "BLURB",
                {"split": "test", "data_verdict": row.data},
                {"metric_id": "blurb.score", "metric_name": "BLURB score", "min_score": -100 / 6},
                {"score": score, "details": {"level": level}},
            )
        )
    content = {
        "schema_version": VERSION,
        "evaluation_id": f"blurb/{row.name}/{latest}",
        "evaluation_timestamp": latest,
        "retrieved_timestamp": latest,
        "source_metadata": {
            "source_name": "blurb",
            "source_type": "evaluation_run",
            "source_organization_name": requested.measured_by,
            "evaluator_relationship": RELATIONS[requested.party],
        },
        "eval_library": {"name": "blurb", "version": __version__},
        "model_info": {"name": row.model, "id": row.model, "additional_details": making},
        "evaluation_results": results,
    }
    return {"": (json.dumps(content, indent=2, allow_nan=False) + "\n").encode()}


def _seconds(record: Record) -> int:
    """When a trial began, in seconds since 1970; StoreError if it does not say so, with a time zone."""
    try:
        return int(datetime.strptime(record.provenance.started, "%Y-%m-%dT%H:%M:%S%z").timestamp())
    except ValueError:
        raise StoreError("does not say when the trial began.", where=record.path) from None


def _result(row: Row, figure: ExportFigure) -> dict[str, Any]:
    metric = metrics.get(figure.task.metric)
    runs = str(len(figure.seeds)) if row.kind.claimed else " ".join(map(str, figure.seeds))
    score: dict[str, Any] = {
        "score": figure.value,
        "details": {row.kind.runs: runs, "level": "dataset"},
    }
    values = row.values(figure.task.name)
    if (half := half_width(values)) is not None:  # over runs; nothing is said for one run
        mean, error = statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values))
        low, high = clip_interval(mean - half, mean + half, figure.task.name)
        score["uncertainty"] = {
            "standard_error": {"value": error, "method": "analytic, over runs"},
            "confidence_interval": {
                "lower": low,
                "upper": high,
                "confidence_level": 0.95,
                "method": "Student's t over runs",
            },
            "num_samples": len(values),
        }
    hashes = sorted({record.trial.data for record in row.records_of(figure.task.name).values()})
    return _entry(
        f"BLURB {figure.task.title}",
        {"split": "test", "data_verdict": figure.verdict, "data_hash": " ".join(hashes)},
        {"metric_id": metric.hub, "metric_name": figure.metric, "min_score": 100 * metric.low},
        score,
    )


def _entry(
    name: str, data: dict[str, str], metric: dict[str, Any], score: dict[str, Any]
) -> dict[str, Any]:
    return {
        "evaluation_name": name,
        "source_data": {"dataset_name": name, "source_type": "other", "additional_details": data},
        "metric_config": {
            **metric,
            "metric_unit": "percent",
            "lower_is_better": False,
            "score_type": "continuous",
            "max_score": 100.0,
        },
        "score_details": score,
    }


EXPORT = ExportFormat(
    "a row for the store Every Eval Ever", _render, frozenset({"measured_by", "party"})
)
