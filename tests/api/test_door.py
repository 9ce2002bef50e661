"""Python calls: values are checked as options are, unknown splits with them; messages have keywords, no options."""

import ast
import inspect
import re
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import blurb
from blurb.corpora import demo
from blurb.fields import hints
from blurb.messages.errors import BlurbError, SettingsError, system_message
from blurb.options import option_parameters
from tests.cli.in_process import run

FUNCTIONS = [name for name in blurb.__all__ if inspect.isfunction(getattr(blurb, name))]
WRONG: list[Any] = [5, float("nan"), None, b"x", [5], {"a": 1}, "a\0b", "\ud800"]
FIRST: dict[str, dict[str, Any]] = {
    "run": {"model": "baseline:majority", "tasks": "biosses", "suite": "demo", "progress": False},
    "check": {"candidate": "a", "baseline": "b"},
    "compare": {"first": "a", "other": "b"},
    "load_dataset": {"task": "gad", "suite": "demo"},
    "load_model": {"trial": "runs"},
    "predict": {"trial": "runs", "inputs": "a"},
    "load_results": {},
    "errors": {"row": "a"},
    "confusion": {"row": "a"},
    "diff": {"a": "a", "b": "b"},
    "score": {"task": "gad", "predictions": "a", "suite": "demo"},
    "attention": {"models": "a", "text": "A text."},
    "pretrain": {"out": "encoder", "text": "missing.txt"},
    "series": {"runs": "gone", "tasks": "gad"},
    "watch": {"runs": "gone", "tasks": "gad"},
    "bisect": {"run": "gone", "task": "gad", "drop": 1.0},
    "plan": {"against": "gone"},
    "study": {"file": "vocabulary", "suite": "demo", "run": False},
}


def calls() -> Iterator[tuple[str, str, Any]]:
    for name in FUNCTIONS:
        for parameter, about in option_parameters(inspect.unwrap(getattr(blurb, name))).items():
            for value in WRONG:
                try:
                    about.about.checked(parameter, value)
                except BlurbError:
                    yield name, parameter, value


def test_there_are_calls() -> None:
    assert {name for name, _, _ in calls()} >= {"check", "compare", "score", "plan"}


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        *calls(),
        ("run", "tasks", 5),
        ("run", "tasks", [5]),
        ("run", "output", None),
        ("run", "casing", "CASED"),
        ("score", "names", {"1": 1}),
        *((name, "tasks", value) for name in ("run", "check") for value in ([], ())),
    ],
)
def test_a_value_that_no_option_may_have(name: str, parameter: str, value: Any, here: Path) -> None:
    if value is inspect.signature(getattr(blurb, name)).parameters[parameter].default:
        assert (name, parameter, value) in [*calls()]
        return
    with pytest.raises(BlurbError, match=f"{parameter} (must be|called) "):
        getattr(blurb, name)(**{**FIRST[name], parameter: value})
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("name", [name for name in FIRST if hasattr(blurb, name)])
def test_a_flag_is_true_or_false(name: str, here: Path) -> None:
    """`trust_remote_code="no"` is true to Python."""
    for parameter, hint in hints(inspect.unwrap(getattr(blurb, name))).items():
        for value in ("no", 5, None) if hint is bool else ():
            with pytest.raises(SettingsError, match=f"{parameter} must be true or false"):
                getattr(blurb, name)(**{**FIRST[name], parameter: value})
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("name", [name for name in FIRST if hasattr(blurb, name)])
def test_no_value_is_an_empty_text_unless_that_is_its_default(name: str, here: Path) -> None:
    """`data=""` was this folder, or as good as not given; `task=""` was none."""
    for parameter, about in inspect.signature(getattr(blurb, name)).parameters.items():
        if about.kind != about.VAR_KEYWORD and about.default != "":
            with pytest.raises(BlurbError, match=f"{parameter} must be "):
                getattr(blurb, name)(**{**FIRST[name], parameter: ""})
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("function", [blurb.compare, blurb.check])
@pytest.mark.parametrize("split", ["tset", 5, "", float("nan")])
def test_an_unknown_split(function: Any, split: Any) -> None:
    with pytest.raises(SettingsError, match=r"split must be .*one of dev, test \(got .*\)\.$"):
        function("a", "b", split=split)


SPELLED = [
    (name, parameter, about.about.choices)
    for name in FUNCTIONS
    for parameter, about in option_parameters(inspect.unwrap(getattr(blurb, name))).items()
    if about.about.choices and not callable(about.about.choices)
]


@pytest.mark.parametrize(("name", "parameter", "choices"), SPELLED)
def test_a_choice_in_other_letters_is_refused_as_the_command_line_does(
    name: str, parameter: str, choices: Any, here: Path
) -> None:
    """What was checked was not what the function got: `split="Test"` passed, and gave no examples."""
    given: Any = next(iter(choices)).upper()
    about = option_parameters(inspect.unwrap(getattr(blurb, name)))[parameter].about
    with pytest.raises(BlurbError, match=f"{parameter} must be one of|called '{given}'"):
        getattr(blurb, name)(**{**FIRST[name], parameter: [given] if about.many else given})


def test_a_model_that_is_given_as_nothing_is_not_this_folder(here: Path) -> None:
    with pytest.raises(BlurbError, match="MODEL is an empty text"):
        blurb.run(**{**FIRST["run"], "model": ["baseline:majority", ""]})


def test_defaults_may_be_empty(here: Path) -> None:
    assert blurb.run(**FIRST["run"], across=(), dry_run=True).rows == ()


def test_messages_have_keywords() -> None:
    with pytest.raises(SettingsError) as caught:
        blurb.load_dataset("ncbi-disease")
    assert str(caught.value) == (
        'Give the folder of the datasets with data= (or use suite="demo", which needs no data). '
        "To get them: blurb data get"
    )
    with pytest.raises(BlurbError, match=r'keep_model="best"\.$'):
        blurb.load_model("tour")


def test_values_of_options_are_texts_of_python(tmp_path: Path) -> None:
    """A plain word such as the name of a task was taken for prose."""
    shutil.copytree(demo.prepare() / "GAD", tmp_path / "GAD")
    with pytest.raises(BlurbError, match=r'To run the others: tasks="gad"$'):
        blurb.run("baseline:majority", "gad,biosses", data=tmp_path, output=tmp_path / "runs")


def test_no_message_spells_an_option_by_itself() -> None:
    """`opt` spells it for who reads the message; commands to paste and a command's own words have `--`."""
    bare = []
    for file in Path(blurb.__file__).parent.rglob("*.py"):
        for raised in (
            node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if is_error(node)
        ):
            texts = [each.value for each in ast.walk(raised) if isinstance(each, ast.Constant)]
            words = [
                re.sub(r"\b(blurb|pip) [a-z]+[^\n;`]*", "", text)
                for text in texts
                if isinstance(text, str)
            ]
            bare += [
                f"{file.name}: {text}"
                for text in words
                if "cli" not in file.parts and re.search("--[a-z]", text)
            ]
    assert bare == []


def is_error(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id.endswith("Error")
    )


SEEDS = {"suite": "demo", "protocol": "smoke", "seeds": 2, "progress": False, "leaderboard": None}


@pytest.mark.costly
@pytest.mark.parametrize("model", ["scratch:tiny", "baseline:bigrams"])
def test_threads_give_the_figures_of_one_thread(model: str, tmp_path: Path) -> None:
    def figures(name: str) -> tuple[Any, Any]:
        found = blurb.run(model, "biosses,gad", output=tmp_path / name, **SEEDS)
        return found.failed, found.to_pandas().to_dict("records")

    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(figures, "abc")) == [figures("alone")] * 3


@pytest.mark.costly
def test_a_model_that_is_loaded_beside_a_run_changes_no_figure(tmp_path: Path) -> None:
    folder = blurb.run(
        "scratch:tiny",
        "biosses",
        suite="demo",
        protocol="smoke",
        progress=False,
        keep_model="best",
        output=tmp_path / "kept",
        device="cpu",
        precision="fp32",
    ).trial("scratch:tiny", "biosses")

    def figures(name: str) -> list[dict[str, Any]]:
        found = blurb.run(
            "scratch:tiny",
            "biosses",
            output=tmp_path / name,
            device="cpu",
            precision="fp32",
            **SEEDS,
        )
        return found.to_pandas().to_dict("records")

    alone, stop = figures("alone"), threading.Event()

    def load() -> None:
        while not stop.is_set():
            blurb.load_model(folder, "cpu")

    thread = threading.Thread(target=load)
    thread.start()
    try:
        assert figures("beside") == alone
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("name", ["model", "output"])
def test_a_name_of_thousands_of_letters_is_one_short_error(name: str, tmp_path: Path) -> None:
    given = {"model": "baseline:majority", "output": str(tmp_path / "runs"), name: "a" * 5_000}
    done = run("run", given["model"], "--suite", "demo", "--output", given["output"])
    error = done.exception  # of an OSError the command line says what `system_message` does
    assert len(system_message(error) if isinstance(error, OSError) else str(error)) < 300
    assert not [*tmp_path.iterdir()]
