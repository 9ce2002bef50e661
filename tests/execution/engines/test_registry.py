"""An engine is one file: these run a demo by files outside the package, and no other room names an engine."""

import ast
import re
import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import blurb
from blurb.execution import engines
from blurb.execution.engine import Engine, Launch, Sweep
from blurb.execution.engines.local import LocalEngine
from blurb.execution.environment import describe_environment
from blurb.execution.job import JobQueue
from blurb.messages.errors import BlurbError, SettingsError, UnknownName
from tests.cli.in_process import ran

PACKAGE = Path(blurb.__file__).parent
DEMO = shlex.split(
    "run baseline:majority baseline:constant --suite demo --tasks gad,biosses --precision fp32 --device cpu"
)
BACKWARDS = """
from pathlib import Path

from blurb.execution.engine import Engine
from blurb.execution.worker import execute_job


class Backwards(Engine):
    summary = "one at a time, the last first"

    def __init__(self, launch, count: int = 1, note: str = ""):
        super().__init__(launch)
        self.count, self.note = count, note

    def order(self, jobs):
        return range(len(jobs))[::-1]

    def work(self, sweep, turns):
        while (index := turns.next()) is not None:
            turns.end(index, execute_job(sweep.jobs[index], turns.reporter_of(index)))
            with Path(self.note).open("a") as file:
                file.write(f"{index + self.count} {(sweep.folder / 'jobs.json').exists()}\\n")


ENGINE = Backwards
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with an engine in a file."""
    (tmp_path / "backwards.py").write_text(BACKWARDS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*more: str) -> str:
    return ran([*DEMO, *more]).output


@pytest.mark.costly
@pytest.mark.parametrize("how", ["./backwards.py:Backwards", "backwards"])
def test_an_engine_in_one_file_makes_the_tables_of_any_other(
    how: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("--output", "local")
    if how == "backwards":  # as an installed package brings it
        point = EntryPoint("backwards", "backwards:ENGINE", "blurb.engines")
        monkeypatch.setattr(
            "blurb.registry.entry_points", lambda group: [point] if group == "blurb.engines" else []
        )
        monkeypatch.syspath_prepend(str(here))
        for cached in ("entries", "_sorted_out"):
            monkeypatch.delitem(engines.engines.__dict__, cached, raising=False)
    run("--engine", f"{how},count=2,note=order.txt")
    assert Path("order.txt").read_text() == "5 True\n4 True\n3 True\n2 True\n"
    for name in ("leaderboard.csv", "results.csv"):
        assert Path("runs", name).read_bytes() == Path("local", name).read_bytes()
    run("--engine", f"{how},note=again.txt")
    assert len(Path("again.txt").read_text().splitlines()) == 4  # all were done
    assert not list(Path("runs/.sweeps").glob("*/jobs.json"))
    for cached in ("entries", "_sorted_out"):
        engines.engines.__dict__.pop(cached, None)
    engines.engines.typed.clear()
    sys.modules.pop("backwards", None)


@pytest.mark.costly
def test_the_engine_of_the_guide(here: Path) -> None:
    guide = (PACKAGE.parent / "docs" / "extend.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n# pool.py\n(.*?)```", guide, re.DOTALL)
    Path("guide.py").write_text(code)
    run("--engine", "./guide.py:Pool,count=3")
    assert len(list(Path("runs").glob("*/*/[!.]*/DONE.json"))) == 4
    engines.engines.typed.clear()


@pytest.mark.extensions
@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        (
            "slrum",
            UnknownName,
            "no engine called 'slrum'. Did you mean 'slurm'? Available: local, ray, slurm",
        ),
        ("local,jobs=2", UnknownName, "no option of the engine 'local' called 'jobs'"),
        ("ray,gpu=1", UnknownName, "Did you mean 'gpus'?"),
        ("ray,cpus=0", SettingsError, "cpus must be above 0 (got 0)"),
        ("ray,gpus=-1", SettingsError, "gpus must be a number from 0 (got -1)"),
        ("ray,gpus=all", SettingsError, "gpus must be a number from 0 (got all)"),
        ("ray,cpus=inf", SettingsError, "cpus must be above 0 (got inf)"),
        ("ray,retries=many", SettingsError, "retries must be a whole number (got 'many')"),
        ("slurm,minutes=0", SettingsError, "minutes must be a whole number from 1 (got 0)"),
        ("slurm,trials=1,trials=2", SettingsError, "given once, as key=value (got 'trials=2')"),
        ("slurm,output=x", SettingsError, "cannot be passed on to sbatch"),
        ("none.py:Engine", SettingsError, "none.py does not exist"),
    ],
)
def test_what_cannot_be_an_engine(text: str, kind: type[BlurbError], told: str) -> None:
    with pytest.raises(kind) as error:
        engines.parse(text, Launch())
    assert told in str(error.value)


@pytest.mark.extensions
@pytest.mark.parametrize("text", ["ray,cpus=2", "slurm"])
@pytest.mark.parametrize("jobs", [2, "auto"])
def test_a_number_of_trials_at_a_time_that_an_engine_does_not_ask_is_refused(
    text: str, jobs: int | str
) -> None:
    with pytest.raises(
        SettingsError, match=rf"--jobs .* says nothing to --engine {text}; leave it out; "
    ):
        engines.parse(text, Launch(jobs))
    assert {engines.parse(text, Launch(given)).launch.workers for given in (None, 1)} == {1}


@pytest.mark.extensions
def test_texts_and_their_options() -> None:
    from blurb.extensions.clusters.ray import RayEngine
    from blurb.extensions.clusters.slurm import SlurmEngine

    ray = engines.parse("ray,address=auto,gpus=0.5,retries=1", Launch())
    assert isinstance(ray, RayEngine)
    assert (ray.address, ray.gpus, ray.cpus, ray.retries, ray.elsewhere) == (
        "auto",
        0.5,
        1.0,
        1,
        True,
    )
    slurm = engines.parse("slurm,minutes=5,mem_per_cpu=2G,gres=gpu:1", Launch(shown=True))
    assert isinstance(slurm, SlurmEngine)
    assert (slurm.minutes, slurm.sbatch) == (5, {"mem-per-cpu": "2G", "gres": "gpu:1"})
    assert slurm.hands_over
    assert slurm.elsewhere
    local = engines.here(3)
    assert isinstance(local, LocalEngine)
    assert (local.launch.workers, local.elsewhere, local.hands_over) == (3, False, False)


def test_every_engine_says_what_it_is() -> None:
    for name in engines.engines.names():
        assert engines.engines.get(name).summary


def test_an_engine_without_a_way_to_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="Engine has neither `work` nor `run`"):
        Engine(Launch()).work(
            Sweep(tmp_path, []), JobQueue([], [], lambda outcome: None, lambda job, news: None)
        )


@pytest.mark.extensions
def test_a_process_of_slurm_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert describe_environment("cpu")["engine"] == "local"
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert describe_environment("cpu")["engine"] == "slurm"


SIGNATURE = "api/running.py"
"""Its default is for people to read; tests/planning/test_options.py holds it to the list."""


def _documentation(tree: ast.Module) -> set[int]:
    """Ids of the strings that stand alone, and of the words of options (`help=`, and the third of `option(...)`)."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    helps = {
        id(each)
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "help"
        for each in ast.walk(node.value)
    }
    words = {
        id(node.args[2])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "option"
        and len(node.args) > 2
    }
    return alone | helps | words


def _names_an_engine(path: Path, names: Sequence[str]) -> list[str]:
    """Lines that name an engine: as a text (`slurm`, `ray,gpus=1`, `--engine slurm`), a class or a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    said = re.compile(rf"({'|'.join(names)})(,\w+=.*)?|.*--engine ({'|'.join(names)}).*", re.DOTALL)
    classes = {engines.engines.get(name).__name__ for name in names}
    modules = {f"blurb.execution.engines.{name}" for name in names}
    found, quiet = [], _documentation(tree)
    for node in ast.walk(tree):
        texts = (
            [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
        )
        named = (
            {node.id}
            if isinstance(node, ast.Name)
            else {node.attr}
            if isinstance(node, ast.Attribute)
            else set()
        )
        if isinstance(node, ast.ImportFrom):
            named |= {f"{node.module}.{each.name}" for each in node.names} | {str(node.module)}
        if isinstance(node, ast.Import):
            named |= {each.name for each in node.names}
        if (named & (classes | modules)) or (
            id(node) not in quiet and any(map(said.fullmatch, texts))
        ):
            found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")  # type: ignore[attr-defined]
    return found


@pytest.mark.costly
def test_no_engine_is_named_outside_their_folder() -> None:
    names = engines.engines.names()
    assert names == ["local", "ray", "slurm"]
    folders = (PACKAGE / "execution" / "engines", PACKAGE / "extensions" / "clusters")
    assert [
        line
        for path in [path for path in PACKAGE.rglob("*.py") if path.parent not in folders]
        for line in _names_an_engine(path, names)
        if not line.startswith(SIGNATURE)
    ] == []
    # It finds them where they are
    assert _names_an_engine(PACKAGE / "execution" / "engines" / "__init__.py", names)


def test_nothing_is_printed_below_the_commands() -> None:
    files = [path for room in ("execution", "planning") for path in (PACKAGE / room).rglob("*.py")]
    assert files
    for path in files:
        calls = [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call)
        ]
        assert not [
            call.lineno
            for call in calls
            if isinstance(call.func, ast.Name) and call.func.id == "print"
        ], path
