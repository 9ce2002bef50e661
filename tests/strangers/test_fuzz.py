"""A marker behind every text of every file that is read: no command runs it, and none ends in a traceback."""

import copy
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import blurb
from blurb import tasks
from blurb.execution import sweeps
from blurb.learners import saved_models
from blurb.store.store import Store
from blurb.system.files import seal_folder
from tests.cli.in_process import ran, run
from tests.strangers.evil import Evil

LOOKS = (
    ["leaderboard", "show", "--output", "runs"],
    ["rescore", "--output", "runs"],
    ["errors", "baseline:majority", "--task", "gad", "--output", "runs"],
    ["doctor", "runs"],
)
MOST = 40
"""Texts of one table that are changed, as a vocabulary has thousands that are alike."""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every text in a JSON value, and that of every empty list or null, which may become one."""
    if isinstance(value, dict):
        for name, content in list(value.items())[:MOST]:
            yield from places(content, (*path, name))
    elif isinstance(value, list) and value:
        for number, content in enumerate(value[:MOST]):
            yield from places(content, (*path, number))
    elif isinstance(value, str) or value in (None, []):
        yield path


def changed(value: Any, path: tuple[Any, ...], text: str) -> Any:
    """A copy with a text at a place."""
    value = copy.deepcopy(value)
    inner = value
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = text
    return value


ODD: tuple[Any, ...] = (None, True, 3, -1, 1e308, 10**30, "x", "", [], {}, [[1]], {"x": {"y": 1}})
"""What somebody, or a program of another version, may have written in place of a value."""


def values(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value in a JSON value."""
    if path:
        yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, content in list(inner)[:MOST]:
        yield from values(content, (*path, name))


def look(evil: Evil, where: object, *commands: list[str]) -> None:
    """Runs commands, which may refuse, and neither run the marker nor end in a traceback."""
    for command in commands:
        found = run(*command)
        assert not evil.has_run(), (where, command)
        assert "Traceback" not in found.output, (where, command, found.output)


def each_text(file: Path, evil: Evil, before: Any = None, *more: str) -> Iterator[tuple[Any, ...]]:
    """The place of each text of a file while a name of code stands there; in the end the file is as it was.

    :param before: what the file is to have, if that is more than it has
    :param more: other names of code
    """
    before = before or json.loads(file.read_text(encoding="utf-8"))
    for number, place in enumerate(places(before)):
        names = [*evil.references, *more]
        text = json.dumps(changed(before, place, names[number % len(names)]))
        file.write_text(text, encoding="utf-8")
        yield place
    file.write_text(json.dumps(before), encoding="utf-8")


@pytest.mark.costly
@pytest.mark.parametrize("file", ["spec.json", "provenance.json", "metrics.json"])
def test_no_text_of_any_file_is_loaded(file: str, runs: Path, evil: Evil) -> None:
    """Of a trial, whose declaration has all fields."""
    (trial,) = runs.glob("baseline-majority/gad/*/")
    before = json.loads((trial / file).read_text(encoding="utf-8"))
    if file == "provenance.json":
        fields = {**asdict(tasks.get("gad")), "file": "own.toml", "source": None, "original": ""}
        before["declaration"] = json.loads(json.dumps(fields))  # lists, as in the file
    for place in each_text(trial / file, evil, before):
        Store(runs).seal(trial)
        look(evil, (file, place), *LOOKS)


def test_no_text_of_a_row_is_loaded(runs: Path, evil: Evil) -> None:
    for file in (
        next(runs.glob("baseline-majority/rows/*.json")),
        runs / "baseline-majority" / "models.json",
    ):
        for place in each_text(file, evil):
            look(evil, (file.name, place), LOOKS[0], LOOKS[1])


@pytest.mark.extensions
@pytest.mark.costly
def test_no_text_of_a_sweep_is_loaded(evil: Evil, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner joins it: what is hashed is asked for then, and of the trials nothing is loaded."""
    asked = ["run", "baseline:majority", "--suite", "demo", "--tasks", "gad", "--precision", "fp32"]
    ran([*asked, "--engine", "slurm", "--print"])
    (folder,) = sweeps.folders(Path("runs"))
    for file in (folder / sweeps.JOBS, folder / "slurm.json"):
        for place in each_text(file, evil):
            look(evil, (file.name, place), ["worker"], ["retry"], ["status"], ["doctor", "runs"])
            for left in Path("runs").glob("*/*/*.failed.json"):
                left.unlink()
            folder.mkdir(exist_ok=True)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a kept model."""
    results = blurb.run(
        "scratch:tiny",
        suite="demo",
        protocol="smoke",
        tasks="biosses",
        keep_model="best",
        device="cpu",
        output=tmp_path_factory.mktemp("fuzz") / "runs",
        progress=False,
    )
    return results.trial(results.rows[0].model, "biosses") / saved_models.FOLDER


@pytest.mark.costly
@pytest.mark.parametrize(
    "file", [saved_models.ABOUT, "config.json", "tokenizer_config.json", "tokenizer.json"]
)
def test_no_text_of_a_kept_model_is_loaded(
    file: str, trained: Path, evil: Evil, tmp_path: Path
) -> None:
    folder = shutil.copytree(trained, tmp_path / "model")
    evil.lay(folder)
    before = json.loads((folder / file).read_text(encoding="utf-8"))
    if file == "config.json":
        before |= {"auto_map": {"AutoModel": "x"}, "_name_or_path": "x", "architectures": ["x"]}
    for place in each_text(folder / file, evil, before, "evil.T"):
        seal_folder(folder)
        look(evil, (file, place), ["predict", "model", "--text", "a\tb"])


@pytest.mark.parametrize("name", ["results.csv", "leaderboard.csv"])
def test_no_cell_of_a_table_is_loaded(name: str, made: Path, evil: Evil) -> None:
    lines = (made / name).read_text(encoding="utf-8").splitlines()
    for number, column in enumerate(lines[0].split(",")):
        cells = lines[1].split(",")
        cells[number] = evil.references[number % len(evil.references)]
        Path(name).write_text(
            "\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n", encoding="utf-8"
        )
        look(
            evil,
            column,
            ["leaderboard", "show", "--results", name],
            ["leaderboard", "validate", name],
            ["doctor", name],
        )


@pytest.mark.parametrize("kind", ["task", "rules", "protocol"])
def test_no_text_of_a_file_of_settings_is_loaded(kind: str, evil: Evil, runs: Path) -> None:
    """By commands that look at it."""
    texts = {
        "task": 'name = "{0}"\ntype = "{1}"\nlabels = ["{2}", "b"]\nformat = {{kind = "{3}"}}\n'
        'files = {{train = "{4}", dev = "{5}", test = "x"}}\nnegative = "{6}"\n',
        "rules": 'split = "{0}"\ntasks = ["{1}"]\n[datasets."{2}"]\nmin_score = 3.0\n',
        "protocol": 'extends = "{0}"\nlearner = "{1}"\n[all]\nhead = "{2}"\npooling = "{3}"\nword_pooling = "{4}"\n'
        '[tasks."{5}"]\nhead = "{6}"\n',
    }
    fine = {
        "task": ["mine", "document", "a", "jsonl", "x", "x", "a"],
        "rules": ["dev", "gad", "gad"],
        "protocol": ["smoke", "encoder", "linear", "cls", "first", "gad", "linear"],
    }[kind]
    file = "blurb-check.toml" if kind == "rules" else "mine.toml"
    commands = {
        "task": [["doctor", file], ["tasks", "show", file]],
        "rules": [
            ["doctor", file],
            ["check", "baseline:majority", "--baseline", "baseline:constant"],
        ],
        "protocol": [["doctor", file], ["protocols", "show", file]],
    }[kind]
    for number in range(len(fine)):
        for reference in evil.references:
            Path(file).write_text(
                texts[kind].format(*fine[:number], reference, *fine[number + 1 :]), encoding="utf-8"
            )
            look(evil, (kind, number), *commands)


@pytest.mark.costly
@pytest.mark.parametrize("file", ["spec.json", "provenance.json", "metrics.json", "DONE.json"])
def test_odd_values_in_a_store_are_told(file: str, runs: Path, evil: Evil) -> None:
    """Each value in turn, and each odd one somewhere; with a declaration, as it has most of the fields."""
    (trial,) = runs.glob("baseline-majority/gad/*/")
    store = Store(runs)
    before = json.loads((trial / file).read_text(encoding="utf-8"))
    if file == "provenance.json":
        before["declaration"] = {**asdict(tasks.get("gad")), "file": "own.toml", "source": None}
    more = [
        ["runs", "show", "baseline:majority"],
        ["export", "model-index", "baseline:majority", "--out", "out"],
        ["compare", "baseline:majority", "baseline:constant"],
        ["leaderboard", "html", "--out", "page.html"],
        ["check", "baseline:majority", "--baseline", "baseline:constant"],
        ["status"],
        ["runs", "verify"],
    ]
    for number, place in enumerate(values(before)):
        for odd in (
            ODD[number % len(ODD)],
            ODD[(number * 5 + 1) % len(ODD)],
            ODD[(number * 7 + 2) % len(ODD)],
        ):
            (trial / file).write_text(json.dumps(changed(before, place, odd)), encoding="utf-8")
            if file != "DONE.json":
                store.seal(trial)
            look(
                evil,
                (file, place, odd),
                LOOKS[number % 4],
                more[number % len(more)],
                more[(number + 3) % len(more)],
            )
