"""Files are found wherever they lie; archives that are cut, hostile or too large are refused by name."""

import bz2
import gzip
import io
import os
import struct
import tarfile
import time
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any, cast

import pytest

from blurb.corpora.releases import MissingRelease, Release, archives
from blurb.corpora.releases.archives import archive_members
from blurb.messages.errors import DataError
from tests.corpora.originals import tarred, zipped


def put(folder: Path, path: str, content: bytes) -> Path:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(content)
    return folder / path


def all_of(archive: Path) -> dict[str, bytes]:
    return dict(archive_members(archive, lambda name: True, lambda name: False))


def refused(archive: Path, said: str) -> None:
    with pytest.raises(DataError, match=said):
        all_of(archive)


def test_a_file_is_named_by_the_end_of_its_path(tmp_path: Path) -> None:
    put(tmp_path, "a/text/1.txt", b"right")
    put(tmp_path, "a/context/1.txt", b"wrong")
    release = Release(tmp_path)
    assert release.file("text/1.txt").content == b"right"
    assert list(release.read) == ["a/text/1.txt"]
    with pytest.raises(MissingRelease, match=r"not found under this folder: ext/1.txt"):
        release.file("ext/1.txt")


@pytest.mark.parametrize(
    ("names", "found"),
    [(["x.txt"], b"z/x.txt"), (["old", "new"], b"old"), (["gone", "new"], b"new")],
)
def test_the_one_nearest_to_the_top_counts_and_the_first_of_two_names(
    names: list[str], found: bytes, tmp_path: Path
) -> None:
    for path in ("a/b/x.txt", "z/x.txt", ".hidden/x.txt", "__MACOSX/x.txt", "new", "old"):
        put(tmp_path, path, path.encode())
    assert Release(tmp_path).file(*names).content == found


def test_the_disk_comes_before_archives_and_other_archives_are_left_alone(tmp_path: Path) -> None:
    put(tmp_path, "set.zip", b"PK no archive at all")
    put(tmp_path, "other.zip", b"PK neither")
    put(tmp_path, "x.txt", b"disk")
    assert Release(tmp_path).file("x.txt", archives=["set*"]).content == b"disk"
    with pytest.raises(MissingRelease):
        Release(tmp_path).file("y.txt", archives=["third*"])
    with pytest.raises(DataError, match=r"set.zip: the archive is truncated or damaged"):
        Release(tmp_path).file("y.txt", archives=["set*"])


def test_files_keep_the_order_in_which_they_are_named(tmp_path: Path) -> None:
    put(tmp_path, "set.tar.gz", tarred({"b": b"2", "a": b"1"}))
    assert list(Release(tmp_path).files(["a", "b"], ["set"])) == ["a", "b"]


def test_how_many_are_missing_is_told(tmp_path: Path) -> None:
    put(tmp_path, "1", b"")
    with pytest.raises(MissingRelease, match="2 and 1 more of 3 files"):
        Release(tmp_path).files(["1", "2", "3"])


def test_links_that_lead_back_are_followed_once(tmp_path: Path) -> None:
    put(tmp_path, "a/x.txt", b"x")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    assert Release(tmp_path).file("x.txt").content == b"x"


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "file", "archive", "dangling"])
def test_pipes_devices_and_links_out_of_the_folder_are_refused(kind: str, tmp_path: Path) -> None:
    """At once: a pipe waits for ever, /dev/zero has no end, and a link to / is the whole disk."""
    raw, elsewhere = tmp_path / "raw", tmp_path / "elsewhere"
    raw.mkdir()
    put(elsewhere, "x.txt", b"theirs")
    put(elsewhere, "set.zip", zipped({"x.txt": b"theirs"}))
    if kind == "pipe":
        os.mkfifo(raw / "x.txt")
    else:
        target = {
            "device": Path("/dev/zero"),
            "folder": Path("/"),
            "archive": elsewhere / "set.zip",
        }
        (raw / {"folder": "more", "archive": "set.zip"}.get(kind, "x.txt")).symlink_to(
            target.get(kind, elsewhere / ("x.txt" if kind == "file" else "gone.txt"))
        )
    begun = time.monotonic()
    with pytest.raises(DataError) as caught:
        Release(raw).file("x.txt", archives=["set"])
    assert time.monotonic() - begun < 5
    message = str(caught.value)
    if kind == "pipe":
        assert f"{raw / 'x.txt'}: this is no ordinary file (but a pipe" in message
    elif kind == "folder":
        assert "Links out of this folder are not followed: more." in message
    else:
        assert "this is a link out of the folder of the originals" in message


def test_a_file_larger_than_any_corpus_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "x.txt", b"12345")
    monkeypatch.setattr("blurb.corpora.releases.MAX_FILE", 4)
    with pytest.raises(DataError, match=r"x.txt: the file is larger than"):
        Release(tmp_path).file("x.txt")


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("s.zip", zipped),
        ("s.tar.gz", tarred),
        ("s.tgz", tarred),
        (
            "s.tar.gz",
            lambda files: gzip.decompress(tarred(files)),
        ),  # a browser unpacked it and kept the name
        ("s.tar", lambda files: bz2.compress(gzip.decompress(tarred(files)))),
    ],
)
def test_archives_of_all_kinds(name: str, pack: object, tmp_path: Path) -> None:
    files = {"./a.txt": b"1", "d/b.txt": b"2" * 5000, "c.txt": b""}
    found = all_of(put(tmp_path, name, pack(files)))  # type: ignore[operator]
    assert found == {
        "a.txt" if path == "./a.txt" else path: content for path, content in files.items()
    }


@pytest.mark.parametrize("pack", [tarred, zipped])
@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "C:/x", "..\\x"])
def test_paths_that_lead_out_are_refused(pack: object, name: str, tmp_path: Path) -> None:
    if pack is tarred and "\\" in name:
        pytest.skip("a backslash is part of a name in a tar archive")
    archive = put(tmp_path, "s", pack({"good": b"1", name: b"2"}))  # type: ignore[operator]
    refused(archive, r"/s: the archive was rejected: the path .*leads out of the archive")


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_are_refused(kind: bytes, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as file:
        member = tarfile.TarInfo("innocent.txt")
        member.type, member.linkname = kind, "/etc/passwd"
        file.addfile(member)
    refused(
        put(tmp_path, "s.tar.gz", packed.getvalue()),
        r"rejected: innocent.txt is a link, a device or a sparse file",
    )


def test_links_in_zip_archives_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as file:
        info = zipfile.ZipInfo("innocent.txt")
        info.external_attr = 0o120777 << 16
        file.writestr(info, "/etc/passwd")
    refused(tmp_path / "s.zip", r"rejected: innocent.txt is a link")


@pytest.mark.parametrize("pack", [tarred, zipped])
@pytest.mark.parametrize("part", [0.05, 0.5, 0.9, 0.999])
def test_cut_archives_are_named(pack: object, part: float, tmp_path: Path) -> None:
    whole = pack({f"{n}.txt": bytes(range(256)) * n for n in range(1, 40)})  # type: ignore[operator]
    refused(
        put(tmp_path, "s", whole[: int(len(whole) * part)]),
        r"/s: the archive is truncated or damaged.*Download it again",
    )


@pytest.mark.parametrize("pack", [tarred, zipped])
def test_a_bomb_by_what_it_declares(
    pack: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = put(tmp_path, "s", pack({"a": bytes(3000), "b": bytes(3000)}))  # type: ignore[operator]
    monkeypatch.setattr(archives, "MAX_FILE", 2999)
    with pytest.raises(DataError, match="a is too large when unpacked"):
        dict(archive_members(archive, lambda name: name == "a", lambda name: False))
    monkeypatch.setattr(archives, "MAX_FILE", 3000)
    monkeypatch.setattr(archives, "MAX_HELD", 5999)
    refused(archive, "b is too large when unpacked")


def test_a_bomb_by_what_comes_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = put(tmp_path, "s", tarred({"huge": bytes(2_000_000), "wanted": b"1"}))
    assert archive.stat().st_size < 5000
    monkeypatch.setattr(archives, "MAX_TOTAL", 1_000_000)
    # Though nobody asked for the huge one
    with pytest.raises(DataError, match="unpacks to more than"):
        dict(archive_members(archive, lambda name: name == "wanted", lambda name: False))


def lying(count: int, declared: int, kind: int) -> bytes:
    """A zip of one member `a` of zeros, which declares another number of them and the checksum of those."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", kind) as file, file.open("a", "w") as member:
        for _ in range(count // 1_000_000):
            member.write(bytes(1_000_000))
        checksum = cast(Any, member)._crc
    changed = packed.getvalue().replace(struct.pack("<I", count), struct.pack("<I", declared))
    return changed.replace(
        struct.pack("<I", checksum), struct.pack("<I", zlib.crc32(bytes(declared)))
    )


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (zipfile.ZIP_DEFLATED, "Bad CRC-32"),  # of eleven bytes
        (zipfile.ZIP_BZIP2, "a uses a compression method other than"),
        (zipfile.ZIP_LZMA, "a uses a compression method other than"),
    ],
)
def test_a_zip_that_declares_less_than_it_holds_is_refused_without_unpacking_it(
    kind: int, message: str, tmp_path: Path
) -> None:
    archive = put(tmp_path, "s.zip", lying(60_000_000, 10, kind))
    tracemalloc.start()
    try:
        refused(archive, message)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8_000_000  # the stream has 60 million
    with pytest.raises(DataError, match=message):
        archives.content_of(archive.read_bytes(), "a", archive)


def test_a_zip_that_declares_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    packed = zipped({"a": bytes(1_000_000)})
    size = struct.pack("<I", 1_000_000)
    assert packed.count(size) == 2
    refused(
        put(tmp_path, "s.zip", packed.replace(size, struct.pack("<I", 2_000_000))),
        "does not unpack to its declared size",
    )


def test_a_header_that_asks_for_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", format=tarfile.PAX_FORMAT) as file:
        member = tarfile.TarInfo("x")
        member.pax_headers = {"comment": "x" * 100_000}
        file.addfile(member)
    monkeypatch.setattr(archives, "MAX_FILE", 50_000)
    refused(put(tmp_path, "s.tar.gz", packed.getvalue()), "a header asks for")


def test_archives_in_archives_count_together_and_end_somewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = zipped({"x.txt": bytes(4000)})
    twice = zipped({"in.zip": inner})
    archive = put(tmp_path, "s.zip", zipped({"in.zip": inner, "deep.zip": twice}))

    def found() -> dict[str, bytes]:
        return dict(
            archive_members(archive, lambda name: name.endswith("x.txt"), lambda name: True)
        )

    assert found() == {"in.zip/x.txt": bytes(4000)}  # the one two floors down stays closed
    monkeypatch.setattr(archives, "MAX_HELD", 4100)
    with pytest.raises(DataError, match=r"x.txt is too large"):
        found()


def test_an_encrypted_member_is_named(tmp_path: Path) -> None:
    packed = bytearray(zipped({"a": b"1"}))
    packed[6] |= 1  # the flag, in the local header and in the directory
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    refused(put(tmp_path, "s.zip", bytes(packed)), r"truncated or damaged: .*encrypted")
