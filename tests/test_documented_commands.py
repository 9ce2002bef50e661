"""What the guides tell people to type is understood: every command line is parsed, every block of Python runs."""

import contextlib
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import click
import pytest

import blurb
from blurb.checkpoints import scratch
from blurb.cli import cli
from blurb.corpora import demo
from blurb.messages.errors import SettingsError
from tests.conftest import ROOT

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
OPERATORS = {"|", "||", "&&", ";", ">", ">>", "<", "&"}
NOTATION = re.compile(r"\s\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\s\.\.\.")
"""`[--tasks ner,gad]` and `...` of a synopsis."""


def lines(page: Path) -> list[str]:
    """The lines of indented and fenced blocks that begin with `blurb`, each whole."""
    text = re.sub(r"\\\n\s*", " ", page.read_text(encoding="utf-8"))
    fenced = re.findall(
        r"^```(?:sh|console|text)?\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL
    )
    return [
        *re.findall(r"^ {4,}(?:\$ )?(blurb .*)", text, flags=re.MULTILINE),
        *(
            line
            for block in fenced
            for line in re.findall(r"^(?:\$ )?(blurb .*)", block, re.MULTILINE)
        ),
    ]


def inline(page: Path) -> list[str]:
    """Commands within sentences, which often leave out what the sentence is not about."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return [re.sub(r"\bN\b", "2", line) for line in re.findall(r"`(blurb (?!COMMAND)[^`]+)`", text)]


def parse(line: str) -> None:
    """Raises a UsageError if the command line does not understand a line; nothing runs."""
    lexer = shlex.shlex(NOTATION.sub("", line), posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words = list(lexer)[1:]
    words = words[: next((place for place, word in enumerate(words) if word in OPERATORS), None)]
    command: click.Command = cli
    context = click.Context(cli, info_name="blurb")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, command, words = command.resolve_command(context, words)  # type: ignore[assignment]
        context = click.Context(command, parent=context, info_name=name)
    # --help, a group alone
    with contextlib.suppress(click.exceptions.Exit, click.exceptions.NoArgsIsHelpError):
        command.make_context(context.info_name, words, parent=context.parent)


def refused(line: str, but: tuple[type[click.UsageError], ...] = ()) -> str:
    """What is wrong with a line; "" if it is understood."""
    try:
        parse(line)
    except click.UsageError as error:
        return "" if isinstance(error, but) else f"{line}: {error.message}"
    except SettingsError as error:
        return "" if "is part of the extension" in str(error) else f"{line}: {error}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_line_is_understood(page: Path, here: Path) -> None:
    wrong = [refused(line) for line in lines(page)]
    wrong += [
        refused(line, (click.MissingParameter, click.BadOptionUsage)) for line in inline(page)
    ]
    assert [text for text in wrong if text] == []


def test_the_lines_are_found_and_wrong_ones_refused() -> None:
    assert sum(len(lines(page)) for page in PAGES) >= 150
    assert sum(len(inline(page)) for page in PAGES) >= 150
    for line in (
        "blurb rnu x",
        "blurb run x --nosuch",
        "blurb data get extra",
        "blurb data nosuch",
        "blurb run x -o y",
    ):
        assert refused(line), line


BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
A_FILE = re.compile(r"# [\w./]+\.py\n|import (?:sys|json)\n")
"""Of a package, or a program: `test_guides.py` and the tests of the rooms run those."""
LEFT_OUT = {"score.md": 1, "series.md": 1}
"""Blocks with `...` by page, which nobody can run."""
STAND_INS = {
    'protocol="quick", seeds=3': 'tasks="gad", protocol="smoke"',
    'data="data/", tokenizer': 'data="data/", tasks="gad", protocol="smoke", tokenizer',
    '"bc5-disease", data="data/"': '"bc5-disease", protocol="smoke", data="data/"',
    '"my-model quick"': '"my-model"',
}
"""Smaller runs; paths and rows are those of `there`."""


def blocks(page: Path) -> list[str]:
    """The blocks of Python that are no files and no doctests, which `test_python_guide.py` runs."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [block for block in found if not A_FILE.match(block) and not block.startswith(">>>")]


WITH_BLOCKS = [page for page in PAGES if blocks(page)]


@pytest.fixture
def there(here: Path) -> Any:
    """A folder with the checkpoint, data, rows and baseline that the guides name, and the results of a run."""
    shutil.copytree(demo.prepare(), "data")
    shutil.copytree(scratch.build("scratch:tiny", Path("data")), "path/to/checkpoint")
    given = {"data": "data", "protocol": "smoke", "progress": False}
    for name in ("candidate", "run@1000"):
        blurb.run("baseline:majority", "gad", name=name, **given)  # type: ignore[arg-type]
    shutil.copy("runs/results.csv", "results.csv")
    table = Path("results.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("baseline.csv").write_text(
        "".join(line for line in table if "run@1000" not in line), encoding="utf-8"
    )
    for name in ("my-model", "my-tagger", "pubmedbert"):
        blurb.run("path/to/checkpoint", "ncbi-disease", name=name, **given)  # type: ignore[arg-type]
    return blurb.run("path/to/checkpoint", "bc5-disease", keep_model="best", **given)  # type: ignore[arg-type]


@pytest.mark.costly
@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: page.name)
def test_every_block_of_python_runs(page: Path, there: Any) -> None:
    names: dict[str, Any] = {"blurb": blurb, "results": there}
    for block in blocks(page):
        if "..." in block:
            continue
        for written, small in STAND_INS.items():
            block = block.replace(written, small)
        exec(compile(block, str(page), "exec"), names)


def test_blocks_that_nobody_can_run_are_counted() -> None:
    counts = {page.name: sum("..." in block for block in blocks(page)) for page in WITH_BLOCKS}
    assert {name: count for name, count in counts.items() if count} == LEFT_OUT
    assert sum(len(blocks(page)) for page in WITH_BLOCKS) >= 9
