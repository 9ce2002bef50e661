"""What users see is what `rendered/` says, letter by letter; `render.py` tells how it is renewed."""

import difflib
import re
from pathlib import Path
from typing import Any

import click
import pytest

from blurb.cli._group import added
from blurb.execution.engines import engines
from tests.golden import render
from tests.golden._changes import some_row
from tests.golden.cases import CASES, LEFT_OUT, Case
from tests.golden.interface import REFERENCE, commands, interface, reference

LONG = 160
"""Characters of a line that is cut for a diff, as of a page."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    render.prepare(folder)
    return folder


def lines(text: str) -> list[str]:
    """Lines that can be read: those of a page are cut between its elements."""
    return [
        part
        for line in text.splitlines()
        for part in (line.replace("><", ">\n<").split("\n") if len(line) > LONG else [line])
    ]


def difference(before: dict[str, str], now: dict[str, str]) -> str:
    """What was and what is, as a diff of each file."""
    found = []
    for path in sorted({*before, *now}):
        if before.get(path) != now.get(path):
            old, new = (lines(texts.get(path, "")) for texts in (before, now))
            found += difflib.unified_diff(
                old, new, f"committed/{path}", f"now/{path}", lineterm="", n=1
            )
    return "\n".join(found)


def needs_extensions(case: Case) -> bool:
    """Whether one of its commands or options, or what prepares it, is part of an extension."""
    brought = {
        entry.name
        for registry in (added, engines)
        for entry in registry._discover()
        if entry.extension
    }
    return any(map(brought.intersection, map(_paths, case.commands))) or case.prepare is some_row


def _paths(command: str) -> set[str]:
    """The names by which a registry would know a command, its options and its engine."""
    words = command.split()
    group = ".".join(words[:2])
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    engine = (
        words[words.index("--engine") + 1].partition(",")[0] if "--engine" in words[:-1] else ""
    )
    return {
        words[0],
        group,
        engine,
        *(f"{path}.{option}" for path in (words[0], group) for option in options),
    }


def marked(case: Case) -> Any:
    """The case as a parameter; one that needs an extension says so."""
    return pytest.param(
        case, id=case.name, marks=[pytest.mark.extensions] if needs_extensions(case) else []
    )


@pytest.mark.parametrize("case", map(marked, CASES))
def test_it_is_what_it_was(case: Case, inputs: Path, tmp_path: Path) -> None:
    committed, found = render.committed(case), render.render(case, inputs, tmp_path / "case")
    if found != committed:
        pytest.fail(
            f"{difference(committed, found)}\n\nIf this is meant: python -m tests.golden.render {case.name}",
            pytrace=False,
        )


@pytest.mark.extensions
def test_the_interface_is_what_it_was() -> None:
    committed = render.INTERFACE.read_text(encoding="utf-8")
    assert interface() == committed, difference(
        {"interface": committed}, {"interface": interface()}
    )


def test_the_table_of_options_is_what_the_list_says() -> None:
    """Oracle: the table's first column against the parameters of the command."""
    text = REFERENCE.read_text(encoding="utf-8")
    assert reference() == text
    options = {
        word
        for each in next(command for name, command in commands() if name == "run").params
        if isinstance(each, click.Option)
        for word in each.opts
        if word != "-h"
    }
    assert set(re.findall(r"^\| `(--[a-z-]+)", text, re.MULTILINE)) == options - {
        "--help",
        "--format",
    }


def test_nothing_is_left_of_cases_that_are_gone() -> None:
    names = {case.name for case in CASES}
    assert len(names) == len(CASES)
    for path in render.RENDERED.rglob("*"):
        if path.is_file() and path != render.INTERFACE:
            inside = path.relative_to(render.RENDERED)
            assert {
                inside.with_suffix("").as_posix(),
                *(parent.as_posix() for parent in inside.parents),
            } & names, path


def test_the_inputs_stay_as_they_were(inputs: Path, tmp_path: Path) -> None:
    """After all cases: what one command changes must not be another's input."""
    render.prepare(tmp_path)
    fresh, used = (
        {p.relative_to(at): p.read_bytes() for p in at.rglob("*") if p.is_file()}
        for at in (tmp_path, inputs)
    )
    assert {path for path in {*fresh, *used} if fresh.get(path) != used.get(path)} == set()


@pytest.mark.extensions
def test_every_command_and_option_has_a_case() -> None:
    """Oracle: the commands as click knows them."""
    typed = [command for case in CASES for command in case.commands]
    missing = []
    for name, command in commands():
        mine = [line for line in typed if re.match(rf"{name}( |$)", line)]
        wanted = [] if mine else [name]
        for parameter in command.params:
            option = max(parameter.opts, key=len)
            values = (
                parameter.type.choices
                if isinstance(parameter.type, click.Choice) and option == "--format"
                else [""]
            )
            wanted += [
                f"{name} {option} {value}".strip()
                for value in values
                if option.startswith("--")
                and value != "table"
                and not any(f" {option} {value}" in f"{line} " for line in mine)
            ]
        missing += wanted
    assert (set(missing) - set(LEFT_OUT), set(LEFT_OUT) - set(missing)) == (set(), set())


def test_the_difference_is_told() -> None:
    assert difference({"a": "1\n2\n", "b": "x"}, {"a": "1\n3\n", "b": "x"}).splitlines() == [
        "--- committed/a",
        "+++ now/a",
        "@@ -1,2 +1,2 @@",
        " 1",
        "-2",
        "+3",
    ]
    page = "<p>" + "".join(f"<b>{number}</b>" for number in range(40)) + "</p>"
    assert difference({"page": page}, {"page": page.replace(">7<", ">8<")}).splitlines()[3:] == [
        " <b>6</b>",
        "-<b>7</b>",
        "+<b>8</b>",
        " <b>8</b>",
    ]


def test_a_machines_own_is_left_out(tmp_path: Path) -> None:
    text = (
        f"{tmp_path}/x blurb/heads/crf.py:12 0.12345678912345 1.5e-05 {tmp_path / 'in'}/y 12.3456"
    )
    found = render.normal(text, tmp_path, tmp_path / "in")
    assert found == "WORK/x blurb/heads/crf.py:LINE 0.12345679 1.5e-05 INPUTS/y 12.3456"
