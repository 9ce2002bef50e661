"""Original releases: finds their files anywhere under a folder, unpacked or in tar and zip archives."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from blurb.corpora.releases.archives import MAX_FILE, SUFFIXES, archive_members
from blurb.grouping import by_key
from blurb.messages import DataError, opt
from blurb.system.files import file_hash
from blurb.system.text_files import decode_text
from blurb.table_files import FileLine, Record, cells_of, json_object, numbered_lines

BLANKS = str.maketrans("\r\n\t", "   ")
"""What would end a line or a cell of BLURB's files, as blanks."""


@cache
def load_split_lists(name: str) -> Mapping[str, list[str]]:
    """Split -> which documents, pairs or files belong to it, in BLURB's order, as `lists/NAME.tsv` has them.

    The lists contain no text. EBM PICO, HoC and DDI: those of BLURB's kit. BIOSSES: the order of the released files.
    BioASQ: the 75 questions of dev, as BigBIO publishes them.
    """
    text = (Path(__file__).parents[1] / "lists" / f"{name}.tsv").read_text(encoding="utf-8")
    lines = (line.split("\t") for line in text.splitlines())
    return by_key((split, each) for split, each in lines)


def parse_xml(content: bytes, path: Path) -> Any:
    """The root of an XML document; DataError if it is not well-formed, or not safe."""
    try:
        return fromstring(content)
    except (ParseError, DefusedXmlException, LookupError, ValueError) as error:
        # LookupError is for an unknown encoding.
        raise DataError(f"not well-formed or not safe XML: {error}.", path) from None


class MissingRelease(DataError):
    """Files of a release are missing; existing files may be valid."""


@dataclass(frozen=True)
class SourceFile:
    """A file of a release.

    :param path: its path for messages; `archive/member` if it is in an archive
    """

    path: Path
    content: bytes

    def text(self) -> str:
        """The content as UTF-8 text without byte order mark; DataError (file, line) for invalid bytes."""
        return decode_text(self.content, self.path)

    def lines(self) -> Iterator[tuple[FileLine, str]]:
        """The lines; LF and CR LF end a line."""
        return numbered_lines(self.text(), self.path)

    def rows(self, columns: int) -> Iterator[tuple[FileLine, list[str]]]:
        """The TAB-separated cells of every line; DataError if their number is wrong."""
        return cells_of(self.lines(), columns)

    def json(self) -> Record:
        """The content as a JSON object; DataError (file, line) if it is none."""
        return json_object(self.text(), FileLine(self.path, 1))


class Release:
    """The files under a folder, and a record of those that were read.

    Files are requested by the end of their path (`documents/123.tokens`). Of several matches the one nearest to the top
    is used; unpacked files come before archives, which are opened only if their name matches a given pattern.

    :param folder: folder with the releases
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise DataError(
                "the folder of the original releases does not exist",
                folder,
                fix=f"check the path given with {opt('raw')}.",
            )
        self.folder = folder
        self._root = folder.resolve()
        self.read: dict[str, str] = {}
        """SHA-256 of every file read (an archive as a whole), by its path under the folder."""
        self.outside: list[str] = []
        """Links to folders elsewhere, which are not followed: one to `/` would be the whole disk."""

    def file(self, *names: str, archives: Sequence[str] = ()) -> SourceFile:
        """Returns the first of these files that exists; MissingRelease if none does."""
        found = self._on_disk(names) or self._in_archives(names, archives)
        for name in names:
            if name in found:
                return found[name]
        raise self._missing(" or ".join(names), archives)

    def files(self, names: Iterable[str], archives: Sequence[str] = ()) -> dict[str, SourceFile]:
        """Returns all these files; MissingRelease if one is missing."""
        names = list(dict.fromkeys(names))
        by_name = self._on_disk(names)
        if left := [name for name in names if name not in by_name]:
            by_name |= self._in_archives(left, archives)
        if left := [name for name in names if name not in by_name]:
            more = f" and {len(left) - 1:,} more of {len(names):,} files" if len(left) > 1 else ""
            raise self._missing(left[0] + more, archives)
        # In the requested order, not that of the archive.
        return {name: by_name[name] for name in names}

    @cached_property
    def _paths(self) -> dict[str, list[str]]:
        """Name of a file -> its paths under the folder, those nearest to the top first."""
        by_name: dict[str, list[str]] = {}
        seen: set[tuple[int, int]] = set()
        for top, folders, names in os.walk(self.folder, followlinks=True):
            if not Path(top).resolve().is_relative_to(self._root):
                self.outside.append(Path(top).relative_to(self.folder).as_posix())
                folders.clear()
                continue
            status = os.stat(top)
            if (status.st_dev, status.st_ino) in seen:  # a link to a folder already visited
                folders.clear()
                continue
            seen.add((status.st_dev, status.st_ino))
            folders[:] = [
                name for name in folders if not name.startswith(".") and name != "__MACOSX"
            ]
            for name in names:
                by_name.setdefault(name, []).append(
                    Path(top, name).relative_to(self.folder).as_posix()
                )
        return {
            name: sorted(paths, key=lambda path: (path.count("/"), path))
            for name, paths in by_name.items()
        }

    def _on_disk(self, names: Iterable[str]) -> dict[str, SourceFile]:
        files = {}
        for name in names:
            for path in self._paths.get(PurePosixPath(name).name, []):
                if f"/{path}".endswith(f"/{name}"):
                    files[name] = self._load(path)
                    break
        return files

    def _load(self, path: str) -> SourceFile:
        place = self.folder / path
        self._check(place)
        try:
            if place.stat().st_size > MAX_FILE:
                raise DataError(
                    f"the file is larger than any file of a corpus (limit: {MAX_FILE:,} bytes).",
                    place,
                )
            content = place.read_bytes()
        except OSError as error:
            raise DataError(f"the file cannot be read: {error.strerror}.", place) from error
        self.read[path] = hashlib.sha256(content).hexdigest()
        return SourceFile(place, content)

    def _check(self, place: Path) -> None:
        """Raises a DataError for what is no file of this folder: a pipe waits for ever, a device has no end."""
        try:
            where = place.resolve()
        except (OSError, RuntimeError):
            raise DataError(
                "this is a link that leads to itself", place, fix="remove it."
            ) from None
        if not where.is_relative_to(self._root):
            raise DataError(
                "this is a link out of the folder of the originals",
                place,
                fix="put the file itself here.",
            )
        if not place.is_file():
            raise DataError(
                "this is no ordinary file (but a pipe, a device or a broken link)",
                place,
                fix="remove it.",
            )

    def _in_archives(self, names: Iterable[str], archives: Sequence[str]) -> dict[str, SourceFile]:
        left = by_key((PurePosixPath(name).name, name) for name in names)

        def fitting(member: str) -> list[str]:
            return [
                name
                for name in left.get(PurePosixPath(member).name, [])
                if f"/{member}".endswith(f"/{name}")
            ]

        files: dict[str, SourceFile] = {}
        for path in self._named(archives, SUFFIXES):
            archive = self.folder / path
            self._check(archive)
            before = len(files)
            for member, content in archive_members(
                archive,
                lambda name: bool(fitting(name)),
                lambda name: _matches_pattern(name, archives),
            ):
                for name in fitting(member):
                    files.setdefault(name, SourceFile(archive / member, content))
            if len(files) > before:
                self.read[path] = file_hash(archive)
            if len(files) == sum(map(len, left.values())):
                break
        return files

    def _named(self, archives: Sequence[str], suffixes: tuple[str, ...]) -> list[str]:
        """Paths of the files with one of these suffixes that match a pattern, in the order of the patterns."""
        paths = [
            path
            for name in sorted(self._paths)
            if name.lower().endswith(suffixes)
            for path in self._paths[name]
        ]
        return [path for pattern in archives for path in paths if _matches_pattern(path, [pattern])]

    def _missing(self, what: str, archives: Sequence[str]) -> MissingRelease:
        message = f"not found under this folder: {what}."
        if packed := self._named(archives, (".rar", ".7z")):
            message += f" Unpack {packed[0]} first; archives of this type cannot be read."
        if self.outside:
            message += f" Links out of this folder are not followed: {', '.join(self.outside)}."
        return MissingRelease(message, self.folder)


def _matches_pattern(path: str, patterns: Iterable[str]) -> bool:
    """Whether the name of an archive matches one of the patterns (`chemprot_*`), ignoring case."""
    name = PurePosixPath(path).name.lower()
    return any(
        fnmatch(name, pattern.lower() + ending) for pattern in patterns for ending in ("", ".*")
    )
