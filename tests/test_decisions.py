"""What the pages of decisions quote of the code is in the code."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from blurb.cli import cli
from blurb.protocols.settings import Settings

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "decisions").glob("*.md"))
QUOTED = re.compile(r"`([^`\n]+)`")


def commands(group: click.Command, name: str = "") -> dict[str, click.Command]:
    """All commands by their full name."""
    found = {name: group} if name else {}
    if isinstance(group, click.Group):
        context = click.Context(group)
        for each in group.list_commands(context):
            command = group.get_command(context, each)
            assert command is not None
            found |= commands(command, f"{name} {each}".strip())
    return found


ALL = commands(cli)
OPTIONS = {
    option
    for command in ALL.values()
    for each in command.params
    for option in (*each.opts, *each.secondary_opts)
}


@pytest.mark.extensions
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_quoted_files_exist(page: Path) -> None:
    quoted = QUOTED.findall(page.read_text(encoding="utf-8"))
    paths = [
        text for text in quoted if re.fullmatch(r"[\w/-]+/[\w.-]+\.(py|toml|md|csv|json)", text)
    ]
    roots = (ROOT, ROOT / "blurb", ROOT / "tests")
    assert [text for text in paths if not any((root / text).exists() for root in roots)] == []


@pytest.mark.extensions
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_quoted_options_and_commands_exist(page: Path) -> None:
    quoted = QUOTED.findall(page.read_text(encoding="utf-8"))
    options = {option for text in quoted for option in re.findall(r"(?<![\w-])--[a-z][\w-]+", text)}
    names = {match[1] for text in quoted if (match := re.match(r"blurb ((?:[a-z]+ ?)+)", text))}
    known = {name.split()[0] for name in ALL}
    assert options - OPTIONS - {"--help"} == set()
    assert {name.split()[0] for name in names} - known == set()


def test_quoted_settings_exist() -> None:
    """`name = "value"` in a decision is a setting, or the learner of a protocol."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r'`([a-z_]+) = "', text)) <= {*Settings.__dataclass_fields__, "learner"}
