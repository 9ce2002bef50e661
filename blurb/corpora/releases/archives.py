"""Reads files from untrusted tar and zip archives, without unpacking to disk.

Rejects archives, naming the member, with absolute paths or `..`, with links or devices (harmless here, but then the
archive is not the published one), and with sizes above the limits below. Both the declared sizes and the bytes that are
actually decompressed count.
"""

from __future__ import annotations

import bz2
import copy
import gzip
import io
import lzma
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from blurb.messages import DataError

SUFFIXES = (".tar.gz", ".tgz", ".tar", ".zip")
MIB = 2**20
MAX_FILE = 256 * MIB
"""Maximum bytes of one file that is read; the largest original has about 100 MiB."""
MAX_HELD = 512 * MIB
"""Maximum bytes of all files read from one archive, which are in memory together."""
MAX_TOTAL = 4096 * MIB
"""Maximum bytes decompressed from one archive; EBM-NLP with all its annotators has well under 1 GiB."""
DEPTH = 2
"""Maximum nesting of archives: BioCreative's `ChemProt_Corpus.zip` contains one per split."""

BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    struct.error,
    ValueError,
    IndexError,
    KeyError,
    OverflowError,
    RuntimeError,
)
"""Exceptions of the standard library for truncated, damaged, encrypted or unsupported archives."""

Chosen = Callable[[str], bool]
Members = Iterator[tuple[str, bytes]]
"""Names and contents."""


class _Budget:
    """Counts the bytes read from one archive, including inner archives."""

    def __init__(self, archive: Path) -> None:
        self.archive = archive
        self.held = 0
        self.total = 0

    def hold(self, name: str, size: int) -> None:
        """Counts a file before it is read."""
        self.held += size
        if size > MAX_FILE or self.held > MAX_HELD:
            raise self.refusal(f"{name} is too large when unpacked ({size:,} bytes)")

    def passed(self, size: int) -> None:
        """Counts decompressed bytes."""
        self.total += size
        if self.total > MAX_TOTAL:
            raise self.refusal(f"it unpacks to more than {MAX_TOTAL // MIB:,} MiB")

    def refusal(self, problem: str) -> DataError:
        return DataError(
            f"the archive was rejected: {problem}.",
            self.archive,
            fix="Download it again from its official page.",
        )


def archive_members(archive: Path, wanted: Chosen, inner: Chosen) -> Members:
    """Yields name and content of the `wanted` files of an archive; `inner` selects the nested archives to open.

    Raises DataError (archive, member) if the archive is truncated, damaged or rejected.
    """
    try:
        with archive.open("rb") as stream:
            yield from _members_of_stream(stream, _Budget(archive), wanted, inner, DEPTH)
    except BROKEN as error:
        raise DataError(
            f"the archive is truncated or damaged: {str(error) or type(error).__name__}.",
            archive,
            fix="Download it again.",
        ) from error


def content_of(packed: bytes, name: str, path: Path) -> bytes:
    """Returns one file of an archive in memory, such as a Word document; DataError as in `archive_members`."""
    try:
        for _, content in _members_of_stream(
            io.BytesIO(packed), _Budget(path), lambda member: member == name, lambda _: False, 1
        ):
            return content
    except BROKEN as error:
        raise DataError(
            f"truncated or damaged: {str(error) or type(error).__name__}.",
            path,
            fix="Download it again.",
        ) from error
    raise DataError(f"the file does not contain {name}.", path)


def _members_of_stream(
    stream: IO[bytes], budget: _Budget, requested: Chosen, inner: Chosen, depth: int
) -> Members:
    def taken(name: str) -> bool:
        return requested(name) or (depth > 1 and name.lower().endswith(SUFFIXES) and inner(name))

    for name, content in _open_archive(stream, budget, taken):
        if requested(name):
            yield name, content
        else:
            for below, text in _members_of_stream(
                io.BytesIO(content), budget, requested, inner, depth - 1
            ):
                yield f"{name}/{below}", text


def _open_archive(stream: IO[bytes], budget: _Budget, taken: Chosen) -> Members:
    # By its first bytes, as browsers may unpack `.gz` files but keep their name.
    magic = stream.read(4)
    stream.seek(0)
    if magic[:2] == b"PK":
        return _zip_members(stream, budget, taken)
    if magic[:2] == b"\x1f\x8b":
        return _tar_members(gzip.GzipFile(fileobj=stream), budget, taken)
    if magic[:3] == b"BZh":
        return _tar_members(bz2.BZ2File(stream), budget, taken)
    return _tar_members(stream, budget, taken)


def _zip_members(stream: IO[bytes], budget: _Budget, taken: Chosen) -> Members:
    with zipfile.ZipFile(stream) as file:
        for info in file.infolist():
            name = _checked_name(info.filename.replace("\\", "/"), budget)
            if stat.S_ISLNK(info.external_attr >> 16):
                raise budget.refusal(f"{name} is a link")
            if info.is_dir() or not taken(name):
                continue
            budget.hold(name, info.file_size)
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise budget.refusal(
                    f"{name} uses a compression method other than stored and deflated"
                )
            content = _unpack_member(file, info)
            if len(content) != info.file_size:
                raise budget.refusal(
                    f"{name} does not unpack to its declared size ({info.file_size:,} bytes)"
                )
            budget.passed(len(content))
            yield name, content


def _unpack_member(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Reads a member, at most one byte more than its declared size.

    `read()` without a size decompresses everything before it truncates; with a size, deflate yields no more than that
    (but not bz2 and LZMA, which `zipfile` never bounds).
    """
    longer = copy.copy(info)
    longer.file_size += 1  # zipfile truncates silently; one more byte shows that there is more
    content = bytearray()
    with file.open(longer) as member:  # verifies the checksum at the end
        while len(content) <= info.file_size and (piece := member.read(MIB)):
            content += piece
    return bytes(content)


def _tar_members(
    stream: IO[bytes] | gzip.GzipFile | bz2.BZ2File, budget: _Budget, taken: Chosen
) -> Members:
    counted = cast(IO[bytes], _Counted(stream, budget))
    with tarfile.open(fileobj=counted, mode="r:") as file:
        while (member := file.next()) is not None:
            cast(Any, file).members.clear()  # otherwise a record of every member stays in memory
            name = _checked_name(member.name, budget)
            if not (member.isfile() or member.isdir()) or member.issparse():
                raise budget.refusal(f"{name} is a link, a device or a sparse file")
            if member.isdir() or not taken(name):
                continue
            budget.hold(name, member.size)
            content = file.extractfile(member)
            assert content is not None
            yield name, content.read()
    while counted.read(MIB):  # to the end, which has the checksum
        pass


def _checked_name(name: str, budget: _Budget) -> str:
    if name.startswith("/") or re.match("[A-Za-z]:", name) or ".." in name.split("/"):
        raise budget.refusal(f"the path {name[:80]!r} leads out of the archive")
    return name.removeprefix("./")


class _Counted:
    """Counts the bytes of a decompressed stream: `tarfile` skips members by seeking, which decompresses them."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile | bz2.BZ2File, budget: _Budget) -> None:
        self.stream = stream
        self.budget = budget
        self.furthest = 0

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= MAX_FILE:  # also for header sizes, which tarfile trusts
            raise self.budget.refusal(f"a header asks for {size:,} bytes")
        content = self.stream.read(size)
        self._count()
        return content

    def seek(self, place: int, whence: int = 0) -> int:
        if place > MAX_TOTAL:
            raise self.budget.refusal(f"it unpacks to more than {MAX_TOTAL // MIB:,} MiB")
        place = self.stream.seek(place, whence)
        self._count()
        return place

    def tell(self) -> int:
        return self.stream.tell()

    def _count(self) -> None:
        place = self.stream.tell()
        if place > self.furthest:
            self.budget.passed(place - self.furthest)
            self.furthest = place
