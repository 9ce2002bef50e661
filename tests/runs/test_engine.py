"""Lanes: a worker that dies takes one trial with it, not the sweep."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from blurb.runs import engine
from blurb.runs.corpora import Origin
from blurb.runs.news import News
from blurb.runs.worker import Job, Outcome


def dies(job: Job, tell: Callable[[News], None]) -> Outcome:
    """Stands for `execute`: the job called 2 kills its process."""
    if job.trial == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome(job, "done")


def test_a_dead_worker_fails_its_trial_only(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    jobs = [Job(number, None, None, Origin("gad", Path()), Path(), "cpu") for number in range(5)]  # type: ignore[arg-type]
    monkeypatch.setattr(engine, "execute", dies)
    seen: list[Outcome] = []
    outcomes = engine.LocalEngine(2).run(jobs, seen.append, lambda job, news: None)
    assert [outcome.status for outcome in outcomes] == ["done", "done", "failed", "done", "done"]
    assert "worker process died" in outcomes[2].message
    assert len(seen) == 5


def test_workers_do_not_outlive_a_killed_command(tmp_path: Path) -> None:
    code = (
        "import os, time\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from blurb.runs.engine import LocalEngine\n"
        "if __name__ == '__main__':\n"
        "    pool = LocalEngine(2)._pool()\n"
        "    print(pool.submit(os.getpid).result(), flush=True)\n"
        "    time.sleep(60)\n"
    )
    script = tmp_path / "command.py"
    script.write_text(code)
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    process.kill()
    process.wait()
    limit = time.time() + 20
    while Path(f"/proc/{worker}").exists() and time.time() < limit:
        time.sleep(0.2)
    assert not Path(f"/proc/{worker}").exists()
