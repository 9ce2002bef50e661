"""What a trial tells while it runs."""

from pathlib import Path

import pytest

from blurb.execution import job
from blurb.execution.job import Reporter, TrialProgress
from blurb.execution.worker import execute_job
from blurb.learners import building
from blurb.planning import trials
from tests.conftest import Builder
from tests.planning.requests import request


def test_steps_are_told_seldom_and_epochs_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(job.time, "monotonic", lambda: clock[0])
    told: list[TrialProgress] = []
    reporter = Reporter(told.append, epochs=2, every=1.0)
    for step in range(1, 101):
        clock[0] += 0.1
        reporter.step(step, 100)
    assert told[:2] == [TrialProgress(epochs=2), TrialProgress(1, 100, 0, 2)]
    assert told[-1] == TrialProgress(100, 100, 0, 2)
    assert 10 <= len(told) <= 14
    reporter.epoch({"loss": 0.5, "learning_rate": 0.1, "dev": 0.7}, 1)
    assert told[-1] == TrialProgress(100, 100, 1, 2, 0.5, 0.7)
    reporter.epoch({"test/f1": 0.9}, 2)
    assert told[-1].epoch == 1


@pytest.mark.costly
def test_a_trial_tells_its_steps_and_what_its_history_has(
    checkpoint: Builder, tmp_path: Path
) -> None:
    source = building.resolve_model(str(checkpoint("bert_uncased")), name="m")
    (job,) = trials.prepare(
        request(tmp_path, source, tasks_="gad", overrides={"epochs": 2}, suite="demo")
    ).final
    told: list[TrialProgress] = []
    assert execute_job(job, told.append).status == "done"
    assert told[0] == TrialProgress(epochs=2)
    assert (told[-1].done, told[-1].total, told[-1].epoch) == (8, 8, 2)
    lines = (job.path / "history.csv").read_text().splitlines()[1:]
    epochs = {(each.epoch, each.loss, each.dev) for each in told if each.epoch}
    assert epochs == {
        (int(line.split(",")[0]), float(line.split(",")[1]), float(line.split(",")[3]))
        for line in lines
    }
