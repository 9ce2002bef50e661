"""Several trials at a time: what is known before the clock starts, and what their memory is. The command is made up."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from benchmarks.device import measure_jobs
from benchmarks.device.cells import Context


def test_rates_of_every_number_of_workers_are_known_before_it_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They depend on the threads of a worker: else one trial at a time is measured warm and four are measured cold."""
    commands: list[Sequence[str]] = []
    used = iter([(70, 80), (69, 80), *[(50, 80)] * 100])
    monkeypatch.setattr(
        measure_jobs, "ended", lambda context, command: not commands.append(command)
    )
    monkeypatch.setattr(
        measure_jobs, "trials", lambda store: iter(range(8)) if store.name == "jobs" else iter([1])
    )
    found = measure_jobs.measure(Context(tmp_path, False, False, time.monotonic() + 60), 4)
    rates, measured = commands
    assert "--dry-run" in rates
    assert "--dry-run" not in measured
    for command in commands:
        assert command[command.index("--jobs") + 1] == "4"
        assert command[command.index("--seeds") + 1] == "8"
    assert found["trials"] == 8

    def sleeps(context: Context, command: Sequence[str]) -> bool:
        time.sleep(1.2)
        return True

    monkeypatch.setattr(measure_jobs, "ended", sleeps)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: [2**30 * each for each in next(used)])
    found = measure_jobs.measure(Context(tmp_path, False, False, time.monotonic() + 60), 4)
    assert found["memory"] == pytest.approx(20)  # 10 GiB were taken before


def test_a_service_that_a_killed_part_left_is_ended_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the control program would refuse to start a second one; afterwards nothing of ours runs on."""
    control, log = tmp_path / measure_jobs.CONTROL, tmp_path / "log"
    control.write_text(f'#!/bin/sh\necho "$CUDA_MPS_PIPE_DIRECTORY ${{1:-$(cat)}}" >> {log}\n')
    control.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    pipe = tmp_path / "scratch" / "mps"
    context = Context(tmp_path, False, True, time.monotonic() + 60)
    found = measure_jobs.with_service(
        context, lambda: {"pipe": os.environ["CUDA_MPS_PIPE_DIRECTORY"]}
    )
    assert found == {"pipe": str(pipe)}
    assert log.read_text().splitlines() == [f"{pipe} quit", f"{pipe} -d", f"{pipe} quit"]
    assert "CUDA_MPS_PIPE_DIRECTORY" not in os.environ
