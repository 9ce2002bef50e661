"""Predictions of another tool: blurb scored them, and knows of what made them only what is claimed."""

from blurb.learners.kind import LearnerKind, RowKind

LEARNER = LearnerKind(
    name="external",
    summary="predictions of another tool, scored by blurb",
    rows=RowKind(
        "external",
        "a row of predictions from elsewhere",
        "predictions from elsewhere",
        place=4,
        measures="",
        mark="external",
        heading="Predictions from elsewhere",
        about="Another tool made these predictions; blurb computed the scores from them (blurb score). What trained "
        "the model, on which data and with which search, is claimed and not known. Therefore these rows are ranked "
        "separately, unless somebody asks for one ranking.",
        joins=True,
        claimed=True,
    ),
    learner="",
    settings=(),
    runs=False,
)
