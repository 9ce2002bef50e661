"""The `model-index` of a model card, written by `huggingface_hub`; an existing README keeps everything else."""

from __future__ import annotations

import yaml  # type: ignore[import-untyped]
from huggingface_hub import EvalResult, ModelCard, ModelCardData

from blurb import metrics, names
from blurb.extensions.reports.export.formats import ExportFormat, ExportRequest, Files
from blurb.extensions.reports.export.formats._grid import figures, whole_score
from blurb.messages import DataError


def _render(requested: ExportRequest) -> Files:
    row, measured = figures(requested)
    # All checkpoints of a run share a card
    model = (names.run_and_step(row.model) or (row.model, 0))[0]
    results = [
        EvalResult(
            task_type=figure.task.task_type.hub,
            dataset_type=requested.dataset_id,
            dataset_name=f"BLURB {figure.task.title}",
            dataset_config=figure.task.name,
            dataset_split="test",
            # The card must not hide that the data was another than BLURB's.
            dataset_args=None if figure.verdict == "identical" else {"data": figure.verdict},
            metric_type=metrics.get(figure.task.metric).hub,
            metric_name=figure.metric,
            metric_value=figure.value,
            metric_args=figure.facts(row),
        )
        for figure in measured
    ]
    if (score := whole_score(row, requested)) is not None:
        results.append(
            EvalResult(
                task_type="other",
                dataset_type=requested.dataset_id,
                dataset_name="BLURB",
                dataset_config="all",
                dataset_split="test",
                dataset_args=None if row.data == "verified" else {"data": row.data},
                metric_type="blurb_score",
                metric_name="BLURB score",
                metric_value=round(score, 2),
                metric_args={"note": row.note} if row.note else None,
            )
        )
    if requested.out is None or not requested.out.exists():
        data = ModelCardData(model_name=model, eval_results=results)
        return {"": f"---\n{data.to_yaml()}\n---\n".encode()}
    try:
        card = ModelCard.load(requested.out)
    except (ValueError, TypeError, KeyError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise DataError(
            f"huggingface_hub cannot read this model card: {error}", requested.out
        ) from error
    ours = {_identity(result) for result in results}
    kept = [result for result in card.data.eval_results or [] if _identity(result) not in ours]
    card.data.eval_results = kept + results
    card.data.model_name = card.data.model_name or model
    return {"": str(card).encode()}


def _identity(result: EvalResult) -> tuple[object, ...]:
    """The key by which a new result replaces an old one; that of huggingface_hub ignores the metric."""
    return (result.unique_identifier, result.metric_type, result.metric_name)


EXPORT = ExportFormat(
    "results for the README of a model on the Hub", _render, frozenset({"dataset_id"})
)
