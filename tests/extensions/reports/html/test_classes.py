"""Classes of the page: one that is renamed in one place of two loses its style, or the script loses it."""

from __future__ import annotations

import re
from pathlib import Path

import blurb.extensions.reports.html

TEMPLATES = Path(blurb.extensions.reports.html.__file__).parent / "templates"


def text(*names: str) -> str:
    return "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)


def test_every_class_of_the_templates_is_known_to_style_or_script() -> None:
    pages, known = text("page.html", "parts.html"), text("style.css", "script.js")
    plain = re.sub(r"\{[%{].*?[%}]\}", " ", pages)
    used = {word for found in re.findall(r'class="([^"]*)"', plain) for word in found.split()}
    assert len(used) > 20
    assert {word for word in used if not re.search(rf"[.\"' ]{re.escape(word)}\b", known)} == set()


def test_every_class_of_the_style_is_used() -> None:
    rules = re.sub(r"\{[^}]*\}", " ", text("style.css"))
    styled = set(re.findall(r"\.([a-zA-Z][\w-]*)", rules))
    python = "\n".join(path.read_text(encoding="utf-8") for path in TEMPLATES.parent.glob("*.py"))
    used = text("page.html", "parts.html", "script.js") + python
    assert {word for word in styled if not re.search(rf"\b{re.escape(word)}\b", used)} == set()
