"""The files of a new board: an empty ledger, rules, and workflows that look at what strangers send."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from blurb import __version__
from blurb.extensions.board import ledger
from blurb.messages.errors import SettingsError
from blurb.results.row_scores import DEMO
from blurb.row_files.reading import ROWS

WORKFLOWS = Path(".github") / "workflows"
TITLE = re.compile(r"[\w .,:()+-]{1,100}")
"""What a board may be called: it stands in YAML and in shell lines."""
REQUIREMENT = re.compile(r"[\w.,:/@=<>~!+-]{1,300}")
"""What pip may be asked for, with a version or an address."""


def found(folder: Path, title: str, suite: str = "blurb", requirement: str = "") -> list[Path]:
    """Writes the files of a board; returns their paths.

    :param folder: new, or empty but for hidden files, such as those of a repository
    :param requirement: what its workflows install; by default this version of blurb
    :raises SettingsError: if the folder has files, or a text is none that workflows can have
    """
    requirement = requirement or f"blurb-bench=={__version__}"
    if not TITLE.fullmatch(title) or not REQUIREMENT.fullmatch(requirement):
        raise SettingsError("the title and the requirement must be plain words without quotes, $ or line breaks.")
    if folder.exists() and any(not path.name.startswith(".") for path in folder.iterdir()):
        raise SettingsError("the folder is not empty", where=folder, fix="give a new one.")
    if (folder / WORKFLOWS).exists():
        raise SettingsError("there are workflows already", where=folder / WORKFLOWS, fix="give a new folder.")
    demo = suite == DEMO
    values = {
        "@DATA@\n": "" if demo else _template("data.yml"),
        "@VERSION@": __version__,
        "@BLURB@": requirement,
        "@TITLE@": title,
    }
    contents = {
        folder / "README.md": _filled("README.md", {**values, "@SUITE@": "--suite demo" if demo else "--data DATA"}),
        folder / WORKFLOWS / "verify.yml": _filled(
            "verify.yml", {**values, "@SUITE@": "--suite demo" if demo else "--data data"}
        ),
        folder / WORKFLOWS / "publish.yml": _filled("publish.yml", values),
        folder / ".gitattributes": "* -text\n",  # line endings are part of the hashes
        folder / ROWS / ledger.KEEP: "",
        folder / ledger.FILE: "",
    }
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return list(contents)


def _template(name: str) -> str:
    return (files("blurb.extensions.board") / "templates" / name).read_text(encoding="utf-8")


def _filled(name: str, values: dict[str, str]) -> str:
    text = _template(name)
    for place, value in values.items():
        text = text.replace(place, value)
    return text
