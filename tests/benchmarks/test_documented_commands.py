"""Every `python -m benchmarks.X` that a page names starts: after a traceback its table could not be made again."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.device import code, encoders
from blurb.corpora import demo

NAMED = re.compile(r"python (?:-m benchmarks\.|benchmarks/)([\w./]+)")
MODEL, DATA = "--model MODEL", "--data DATA"
COMMANDS = {
    "answers": f"decoders {DATA}",
    "bench": "--report",
    "bisecting": "--searches 2",
    "calibration": "--worlds 2",
    "checkpointing": "--layers 1 --inputs 1 --length 8 --steps 1",
    "faulty_run": f"OUT {DATA} --words 3000",
    "gate": "--worlds 100",
    "long_series": "--help",  # it trains in processes of `blurb series`, which has tests of its own
    "pretraining": "--seconds 1",
    "step_profile": f"{MODEL} {DATA} --batches 2",
    "rows": f"{MODEL} {DATA} --work OUT --tasks gad",
    "scale": "100",
    "study": f"{MODEL} {DATA} --work OUT",
    "study.bar": "",
    "study.report": "",
    "study.settings": f"{MODEL} {DATA} --work OUT",
    "throughput": f"{MODEL} {DATA} --batches 2",
    "waiting": f"{MODEL} --steps 1 --rounds 1 --others 0",
    "where_the_score_comes_from": "",
}
"""Each with as little work as it can do."""
TRIED_ELSEWHERE = {
    "device": "test_device_rehearsal",
    "mutants": "make mutants",
    "to_schema_1": "test_to_schema_1",
}
SECONDS = 12
"""Of processor time, start-up included: a command that is still at work then has started."""
STOPPED = {0, -signal.SIGXCPU, -signal.SIGKILL, 256 - signal.SIGXCPU}
"""Its end, the limit, or the limit of a command that it had started."""
STARTED = ("blurb.messages.errors.", "SIGXCPU", "worker process died")
"""Said on stderr: synthetic data that is too small for it, or the limit of a process that it had started."""


def pages() -> list[Path]:
    named = (
        "*.md",
        "docs/**/*.md",
        "benchmarks/**/*.jinja",
        "Makefile",
        "action.yml",
        "blurb/**/*.py",
    )
    return [page for pattern in named for page in code.ROOT.glob(pattern)]


def test_every_command_of_a_page_is_tried() -> None:
    found = {
        name.removesuffix(".py").strip("./").replace("/", ".")
        for text in [page.read_text(encoding="utf-8") for page in pages()]
        for name in NAMED.findall(text)
    }
    assert {"calibration", "throughput"} <= found
    assert found <= COMMANDS.keys() | TRIED_ELSEWHERE.keys() | {"X"}


def test_no_benchmark_hides_a_module_of_python() -> None:
    """`python benchmarks/X.py` searches its own folder first: torch imported our `profile` in place of Python's."""
    named = {path.stem for path in (code.ROOT / "benchmarks").glob("*.py")}
    assert not named & sys.stdlib_module_names


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository, so that what a command writes into docs is thrown away."""
    root = tmp_path_factory.mktemp("commands") / "blurb"
    for name in code.git(code.ROOT, "ls-files", "-co", "--exclude-standard").splitlines():
        if (code.ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(code.ROOT / name, root / name)
    encoders.tiny(root / "MODEL", demo.prepare())
    shutil.copytree(demo.prepare(), root / "DATA")
    return root


@pytest.mark.costly
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_of_a_page_starts(name: str, copy: Path) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))

    ended = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", *COMMANDS[name].split()],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"},
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode in STOPPED or any(each in ended.stderr for each in STARTED), (
        ended.stderr[-2000:]
    )
