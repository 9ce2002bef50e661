"""A run file names data and never code, by however many hops: nothing that it leads to runs, of whatever key."""

import json
from pathlib import Path

import pytest

from blurb.messages import BlurbError, SettingsError
from blurb.planning import run_file
from blurb.protocols.settings import FIELDS
from blurb.regression import rules
from blurb.tasks._file import KEYS as OF_TASKS
from tests.cli.in_process import run
from tests.strangers.evil import Evil

HEAD = '\nmodel = "scratch:tiny"\nsuite = "demo"\ntasks = ["gad"]\nprecision = "fp32"\ndevice = "cpu"\n'


def _run(text: str, *more: str) -> str:
    Path("run.toml").write_text(text, encoding="utf-8")
    done = run("run", "--config", "run.toml", *more)
    assert isinstance(done.exception, BlurbError), (done.exception, done.output)
    return str(done.exception)


@pytest.mark.parametrize("key", sorted({*run_file.KEY.values(), "model", "tasks"}))
def test_no_key_of_a_run_file_leads_to_code(key: str, evil: Evil) -> None:
    for reference in (*evil.references, "local,x=evil.py:T", "evil.py"):
        lines = [line for line in HEAD.splitlines() if not line.startswith(f"{key} ")]
        for value in (
            json.dumps(reference),
            json.dumps([reference]),
            f"{{head = {json.dumps(reference)}}}",
        ):
            Path("run.toml").write_text(
                "\n".join([f"{key} = {value}", 'protocol = "smoke"' * (key != "protocol"), *lines])
            )
            run("run", "--config", "run.toml", "--dry-run")
            assert not evil.has_run(), (key, value)


TABLES = ("all", "tasks.gad", "adapter", "search", "baselines.bilstm", "baselines.bilstm.tasks.gad")


@pytest.mark.parametrize("table", TABLES)
def test_no_key_of_a_protocol_that_it_names_leads_to_code(table: str, evil: Evil) -> None:
    Path("sub").mkdir()
    for setting in FIELDS:
        reference = "evil:T" if table == "all" else "./evil.py:T"
        value = [reference] if table == "search" else reference
        Path("sub/p.toml").write_text(
            f"[{table}]\n{setting} = {json.dumps(value)}\n", encoding="utf-8"
        )
        Path("run.toml").write_text(f'protocol = "sub/p.toml"{HEAD}', encoding="utf-8")
        done = run("run", "--config", "run.toml", "--dry-run")
        assert not evil.has_run()
        if setting in ("head", "pooling"):
            said = f"a file runs no code, and protocol = sub/p.toml with {reference} would; type --protocol instead."
            assert said in str(done.exception)
    for key in ("learner", "extends", "description", "family"):
        Path("sub/p.toml").write_text(f'{key} = "./evil.py:T"\n', encoding="utf-8")
        run("run", "--config", "run.toml", "--dry-run")
        assert not evil.has_run()


def test_what_a_person_types_over_it_runs(evil: Evil) -> None:
    """The same protocol, typed."""
    Path("p.toml").write_text('[all]\nhead = "./evil.py:T"\n', encoding="utf-8")
    run(
        "run",
        "scratch:tiny",
        "--suite",
        "demo",
        "--tasks",
        "gad",
        "--protocol",
        "./p.toml",
        "--dry-run",
    )
    assert evil.has_run()


def test_no_key_of_a_task_file_or_of_rules_that_it_names_leads_to_code(evil: Evil) -> None:
    for number, key in enumerate([*OF_TASKS, "reader", "builder", "original"]):
        Path(f"own{number}.toml").write_text(
            f'{key} = "./evil.py:T"\nformat.kind = "evil:T"\n', encoding="utf-8"
        )
        lines = HEAD.replace('["gad"]', f'"./own{number}.toml"').replace('suite = "demo"', "")
        _run(f'protocol = "smoke"{lines}', "--dry-run")
        assert not evil.has_run()
    for key in rules._file_keys():
        Path("r.toml").write_text(f'version = 1\n{key} = "./evil.py:T"\n', encoding="utf-8")
        Path("run.toml").write_text(f'rules = "r.toml"\nprotocol = "smoke"{HEAD}', encoding="utf-8")
        run("run", "--config", "run.toml", "--dry-run", "--check", "evil.py:T")
        assert not evil.has_run()


ENGINES = [
    "slurm,setup=./evil.sh",
    "slurm,minutes=5,setup=./evil.sh",
    "slurm, setup = ./evil.sh",
    "slurm,wrap=./evil.sh",
    "slurm,export=ALL",
    "slurm,prolog=./evil.sh",
    "slurm,Setup=./evil.sh",
    "ray,address=auto",
    "ray,address=ray://HOST:10001",
    "ray,gpus=0.5",
    "local,gpus=1",
    "evil:T",
    "./evil.py:T,minutes=5",
    "evil:T,minutes=5",
]


@pytest.mark.extensions
@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_of_a_file_has_harmless_options_alone(engine: str, evil: Evil) -> None:
    Path("evil.sh").write_text("touch ran\n", encoding="utf-8")
    said = _run(f'engine = "{engine}"\nprotocol = "smoke"{HEAD}', "--dry-run")
    assert (
        f"a file runs no code, and engine = {engine} would; type --engine instead"
        in said.replace("\n", " ")
    )
    assert not evil.has_run()


@pytest.mark.extensions
@pytest.mark.parametrize(
    "engine",
    [
        "local",
        "ray",
        "slurm",
        "slurm,minutes=5,trials=2,at_once=3,start_within=1,failures=2",
        "slurm,partition=gpu,account=a,qos=q,constraint=c,time=10,mem=4G,cpus_per_task=2,cpus-per-task=2,gres=gpu:1,gpus=1",
    ],
)
def test_harmless_options_are_read(engine: str, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(f'engine = "{engine}"{HEAD}', encoding="utf-8")
    assert run_file.read(tmp_path / "run.toml")["engine"] == engine


@pytest.mark.parametrize("key", ["protocol", "models", "rules", "tasks"])
def test_files_are_found_beside_it_and_nowhere_else(key: str, tmp_path: Path) -> None:
    """Another folder is asked for: by its absolute path, by `..`, by a link."""
    folder = tmp_path / "there"
    (folder / "sub").mkdir(parents=True)
    for place in (tmp_path / "x.toml", folder / "x.toml", folder / "sub" / "x.toml"):
        place.write_text('extends = "smoke"\n')
    (folder / "link.toml").symlink_to(tmp_path / "x.toml")
    for name in ("../x.toml", f"{tmp_path}/x.toml", "sub/../../x.toml", "link.toml"):
        (folder / "run.toml").write_text(f'{key} = "{name}"\nmodel = "a"\n')
        with pytest.raises(
            SettingsError, match=rf"run.toml.*{key}: .*not below the folder.*type --{key} instead"
        ):
            run_file.read(folder / "run.toml")
    for name in ("x.toml", "./x.toml", "sub/x.toml", f"{folder}/x.toml"):
        (folder / "run.toml").write_text(f'{key} = "{name}"\nmodel = "a"\n')
        assert Path(run_file.read(folder / "run.toml")[key]).resolve() == (folder / name).resolve()
    if key == "tasks":
        (folder / "run.toml").write_text('tasks = "gad, ./x.toml,hoc"\nmodel = "a"\n')
        assert run_file.read(folder / "run.toml")["tasks"] == f"gad,{folder}/x.toml,hoc"
        (folder / "run.toml").write_text('tasks = ["ner", "../x.toml"]\nmodel = "a"\n')
        with pytest.raises(BlurbError, match="type --tasks instead"):
            run_file.read(folder / "run.toml")


def test_the_folder_of_a_suite_is_below_it(tmp_path: Path) -> None:
    """A name is one of blurb's own; whatever else it says is a folder, whose faults are told with those of the file."""
    run = tmp_path / "there" / "run.toml"
    for folder in (tmp_path / "else", tmp_path / "there" / "sub"):
        folder.mkdir(parents=True)
        (folder / "suite.toml").write_text('name = "Mine"\nprotocol = "./p.toml"\n')
    (tmp_path / "there" / "link").symlink_to(tmp_path / "else")
    for name in ("../else", str(tmp_path / "else"), "sub/../../else", "link"):
        run.write_text(f'suite = "{name}"\nmodel = "a"\n')
        with pytest.raises(SettingsError, match=r"suite: .*not below the folder.*type --suite"):
            run_file.read(run)
    for name, said in (("sub", "protocol must have only"), ("demos", "no suite called .*demos'")):
        run.write_text(f'suite = "{name}"\nmodel = "a"\n')
        with pytest.raises(BlurbError, match=said):
            run_file.read(run)
    run.write_text('suite = "demo"\nmodel = "a"\n')
    assert run_file.read(run)["suite"] == "demo"


@pytest.mark.parametrize("key", ["protocol", "models", "rules", "tasks"])
def test_names_of_no_file_are_refused_in_a_sentence(key: str, here: Path) -> None:
    """A character that no name of a file has, in whatever key, and a link to itself."""
    for text, said in (
        (f'{key} = "a\\u0000.toml"\n', f"{key} must be without the character U+0000"),
        *[(f'{key} = ["a\\u0000.toml"]\n', f"{key} must be without")] * (key == "tasks"),
        (f'check = "x.csv"\n{key} = "loop.toml"\n', "loop.toml"),
    ):
        (here / "loop.toml").unlink(missing_ok=True)
        (here / "loop.toml").symlink_to("loop.toml")
        assert said in _run(f'{text}model = "baseline:majority"\nsuite = "demo"\ndevice = "cpu"\n')
