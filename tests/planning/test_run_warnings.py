"""Warnings before a run: what is predicted not to fit, and data that is not BLURB's; none of them stops it."""

import os
import shlex
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from blurb.corpora import demo
from blurb.cost import work as memory
from blurb.execution import engines
from blurb.execution.engine import Launch
from blurb.execution.estimate import LIBRARIES, Estimate, TrialEstimate
from blurb.planning import trials
from blurb.planning.checks import warnings_of
from tests.cli.in_process import ran
from tests.conftest import Builder
from tests.planning.test_trials import CONSTANT, FIRST, MAJORITY, request

pytestmark = pytest.mark.extensions  # warnings about clusters among them


def predicted(jobs: int = 1, learner: Any = FIRST, **cost: float) -> Estimate:
    """An estimate of two trials of a model, the second of which takes half."""
    final = trials.prepare(
        request(Path("runs"), learner, tasks_="gad", seeds=2, overrides={})
    ).final
    if len(final) == 1:
        final = [final[0], replace(final[0], data=replace(final[0].data, task="hoc"))]
    first = TrialEstimate(final[0], basis="history", **cost)
    second = {name: value / 2 for name, value in cost.items()}
    return Estimate([first, replace(first, job=final[1], **second)], jobs)


def warnings(found: Estimate, engine: str = "local") -> list[str]:
    return warnings_of([], found, engines.parse(engine, Launch()))


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    """16 GB of memory, and no site to ask."""

    pages, real = {"SC_PHYS_PAGES": 4_000_000, "SC_PAGE_SIZE": 4_000}, os.sysconf
    # Libraries that are imported meanwhile ask for more.
    monkeypatch.setattr(memory.os, "sysconf", lambda name: pages.get(name) or real(name))
    from blurb.extensions.clusters import _slurm_limits

    monkeypatch.setattr(_slurm_limits, "limit_of_site", lambda name: None)


def test_nothing_is_said_where_all_fits_or_is_done() -> None:
    assert warnings(predicted(jobs=2, memory=8e9)) == []
    found = predicted(jobs=2, memory=80e9)
    done = replace(found, trials=[replace(one, done=True) for one in found.trials])
    planned = trials.prepare(request(Path("runs"), MAJORITY))  # of data that is not BLURB's
    assert warnings_of([planned], done, engines.here()) == []
    assert len(warnings_of([planned], found, engines.here())) == 2


def test_memory_of_the_largest_trials_that_run_at_a_time() -> None:
    (told,) = warnings(predicted(jobs=2, memory=12e9))
    assert told == "This machine has only 16.0 GB of memory; reduce --jobs or the batch size."
    assert warnings(predicted(jobs=1, memory=12e9)) == []
    # It is not this machine's
    assert warnings(predicted(jobs=1, memory=12e9), engine="ray,address=auto") == []


def test_memory_of_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", "nowhere")
    monkeypatch.setattr(
        "blurb.training.hardware.choose_device", lambda wanted: torch.device("cuda")
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda gpu: SimpleNamespace(total_memory=10e9)
    )

    def on_gpu(jobs: int, memory: float) -> list[str]:
        found = predicted(jobs, memory=memory)
        trials = [replace(one, job=replace(one.job, device="auto")) for one in found.trials]
        return warnings(replace(found, trials=trials))

    assert on_gpu(2, 9e9) == []  # one each
    turns, told = on_gpu(4, 9e9)  # two on a GPU: 9 and 4.5
    assert "take turns" in turns
    assert told.startswith("The largest trials need 13.5 GB of a GPU at a time, which has 10.0 GB;")


def test_time_of_slurm_for_what_goes_on_and_what_begins_anew() -> None:
    found = predicted(seconds=7_200.0)
    (told,) = warnings(found, "slurm,time=1:00:00")
    assert told.startswith(
        "time=1:00:00 is less than the 2 h 00 min that first on gad is predicted to take (and 1 more)"
    )
    assert "goes on" in told
    (told,) = warnings(predicted(learner=MAJORITY, seconds=7_200.0), "slurm,time=100")
    assert "would begin anew each time" in told
    assert "more)" not in told
    assert warnings(found, "slurm,time=3:00:00") == warnings(found, "slurm") == []


def test_memory_of_slurm() -> None:
    found = predicted(memory=3e9)
    (told,) = warnings(found, "slurm,mem=3G")  # 3.2e9, and the libraries take more
    assert (
        told
        == "mem=3G is less than the 3.6 GB that first on gad is predicted to need: ask for more."
    )
    assert LIBRARIES == 0.6e9
    (told,) = warnings(found, "slurm,mem_per_cpu=1G,cpus_per_task=3")
    assert told.startswith("mem_per_cpu=1G is less than")
    for engine in ("slurm,mem=4G", "slurm,mem_per_cpu=1G,cpus_per_task=4", "slurm,mem=0", "slurm"):
        assert warnings(found, engine) == [], engine


@pytest.mark.extensions
def test_more_jobs_than_a_site_takes(monkeypatch: pytest.MonkeyPatch) -> None:

    from blurb.extensions.clusters import _slurm_limits

    monkeypatch.setattr(_slurm_limits, "limit_of_site", {"MaxJobCount": 1}.get)
    assert warnings(predicted(seconds=100.0), "slurm") == []
    (told,) = warnings(predicted(seconds=100.0), "slurm,trials=1")
    assert (
        told == "There are 2 jobs, and this site takes 1 at a time; a larger minutes=N makes fewer."
    )


def test_data_that_is_not_blurbs_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = request(Path("runs"), MAJORITY, CONSTANT, tasks_="gad,hoc")
    (told,) = warnings_of([trials.prepare(asked)], None, engines.here())
    assert told == (
        "Not verified as BLURB's, as the rows will say: 2 of 2 datasets (differs: gad, hoc). "
        f"To see where: blurb data verify --data {asked.data}"
    )
    assert warnings_of([trials.prepare(replace(asked, suite="demo"))], None, engines.here()) == []


@pytest.mark.parametrize("dry", [True, False])
def test_the_command_says_them_before_it_trains(
    dry: bool, checkpoint: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 100 MB, less than the libraries take
    monkeypatch.setattr(memory.os, "sysconf", lambda name: 10_000)
    found = ran(
        [
            *shlex.split(
                f"run baseline:majority --data {demo.prepare()} --protocol smoke --tasks gad --precision fp32"
            ),
            *(["--dry-run"] if dry else []),
        ]
    )
    assert found.stderr.count("Not verified as BLURB's") == 1
    assert found.stderr.count("has only 100 MB of memory") == 1
    if not dry:
        assert found.stderr.index("has only") < found.stderr.index("[1/1]")


@pytest.mark.parametrize(
    ("rate", "told"), [(0.5, True), (0.02, True), (0.01, False), (3e-5, False)]
)
def test_a_learning_rate_that_nothing_learns_with(rate: float, told: bool) -> None:
    planned = trials.prepare(request(Path("runs"), FIRST, tasks_="gad", overrides={"lr": rate}))
    found = warnings_of([planned], None, engines.here())
    assert [text for text in found if text.startswith("lr=")] == (
        [f"lr={rate:g} is above 0.01; pretrained encoders are fine-tuned with rates such as 3e-5."]
        if told
        else []
    )


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        ({"pooling": "cosine", "head_init": "linear"}, True),
        ({"pooling": "cosine", "head_dropout": 0.0}, True),
        ({"pooling": "cosine", "head_init": "linear", "head_dropout": 0.0}, False),
        ({"pooling": "mean"}, False),
    ],
)
def test_a_head_on_one_number_that_cannot_find_its_scale(
    overrides: dict[str, Any], told: bool
) -> None:
    """Under `standard` all-mpnet-base-v2 needed both on BIOSSES (docs/results/mpnet)."""
    planned = trials.prepare(request(Path("runs"), FIRST, tasks_="biosses", overrides=overrides))
    found = warnings_of([planned], None, engines.here())
    assert any("--set head_dropout=0" in text for text in found) == told
