"""The parts of a session on a card, in the order of their worth: thirty minutes may end before the last of them."""

from __future__ import annotations

from functools import partial

from benchmarks.device import (
    measure_estimates,
    measure_jobs,
    measure_launches,
    measure_loop,
    measure_memory,
    measure_prediction,
    measure_recorded,
    measure_resume,
    measure_rows,
    measure_steps,
    measure_tests,
    measure_throughput,
    measure_workers,
)
from benchmarks.device.cells import Part
from blurb.messages.errors import UnknownName

SPEED, ROWS = measure_throughput, measure_rows
PARTS = {
    part.name: part
    for part in (
        Part(
            "steps",
            4,
            "A step alone",
            measure_steps.cells,
            measure_steps.COLUMNS,
            measure_steps.rows,
            measure_steps.NOTE,
        ),
        Part(
            "loop",
            6,
            "The loop beside recorded steps",
            measure_loop.cells,
            measure_loop.COLUMNS,
            measure_loop.rows,
            measure_loop.NOTE,
        ),
        Part(
            "recorded",
            6,
            "Whole trials in recorded steps",
            measure_recorded.cells,
            measure_recorded.COLUMNS,
            measure_recorded.rows,
            measure_recorded.NOTE,
        ),
        Part(
            "workers",
            5,
            "Processes on one card",
            measure_workers.cells,
            measure_workers.COLUMNS,
            measure_workers.rows,
            measure_workers.NOTE,
        ),
        Part(
            "tests",
            4,
            "Tests on the card",
            measure_tests.cells,
            measure_tests.COLUMNS,
            measure_tests.rows,
        ),
        Part(
            "launches",
            3,
            "Operators of a step",
            measure_launches.cells,
            measure_launches.COLUMNS,
            measure_launches.rows,
            measure_launches.NOTE,
        ),
        Part(
            "throughput",
            9,
            "The loop",
            partial(SPEED.cells, models=["MiniLM"]),
            SPEED.COLUMNS,
            SPEED.rows,
            SPEED.NOTE,
        ),
        Part(
            "jobs",
            9,
            "Several trials on one card",
            measure_jobs.cells,
            measure_jobs.COLUMNS,
            measure_jobs.rows,
            measure_jobs.NOTE,
        ),
        Part(
            "quick",
            9,
            "All datasets under `quick`",
            partial(ROWS.cells, model="MiniLM", protocol="quick"),
            ROWS.COLUMNS,
            ROWS.rows,
            ROWS.NOTE,
        ),
        Part(
            "estimates",
            9,
            "Predicted and true time and memory",
            measure_estimates.cells,
            measure_estimates.COLUMNS,
            measure_estimates.rows,
            measure_estimates.NOTE,
        ),
        Part(
            "memory",
            3,
            "Too little memory",
            measure_memory.cells,
            measure_memory.COLUMNS,
            measure_memory.rows,
        ),
        Part(
            "resume",
            4,
            "Killed and resumed",
            measure_resume.cells,
            measure_resume.COLUMNS,
            measure_resume.rows,
        ),
        Part(
            "standard",
            9,
            "All datasets under `standard`",
            partial(ROWS.cells, model="MiniLM", protocol="standard"),
            ROWS.COLUMNS,
            ROWS.rows,
        ),
        Part(
            "throughput-large",
            9,
            "The loop, larger encoders",
            partial(SPEED.cells, models=["BERT-base", "BERT-large"]),
            SPEED.COLUMNS,
            SPEED.rows,
        ),
        Part(
            "prediction",
            5,
            "Prediction of test sets",
            measure_prediction.cells,
            measure_prediction.COLUMNS,
            measure_prediction.rows,
        ),
        Part(
            "base",
            9,
            "A random BERT-base under `quick`, for its time",
            partial(ROWS.cells, model="BERT-base", protocol="quick", scores=False),
            ROWS.COLUMNS,
            ROWS.rows,
        ),
    )
}


def get(name: str) -> Part:
    """A part by its name.

    :raises UnknownName: if there is none
    """
    if name not in PARTS:
        raise UnknownName("part", name, PARTS)
    return PARTS[name]
