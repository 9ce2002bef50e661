"""A page taken apart by the parser of the standard library."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "wbr", "br", "img", "hr"}


@dataclass
class Element:
    """A tag with its attributes, its text (that of all within) and its parents."""

    tag: str
    attributes: dict[str, str]
    parents: tuple[str, ...]
    text: str = ""
    children: list[Element] = field(default_factory=list)


class Page(HTMLParser):
    """All elements in their order; a tag that is closed out of turn fails."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(text)
        self.close()
        assert not self._open, [one.tag for one in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        element = Element(
            tag, {name: value or "" for name, value in attrs}, tuple(one.tag for one in self._open)
        )
        self.elements.append(element)
        for one in self._open:
            one.children.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].tag == tag, (tag, [one.tag for one in self._open], self.getpos())
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, tag: str, **attributes: str) -> list[Element]:
        """Elements of a tag with these attributes (`class_` for one of its classes)."""
        return [one for one in self.elements if one.tag == tag and _fits(one, attributes)]


def _fits(element: Element, attributes: dict[str, str]) -> bool:
    for name, value in attributes.items():
        if name == "class_":
            if value not in element.attributes.get("class", "").split():
                return False
        elif element.attributes.get(name) != value:
            return False
    return True
