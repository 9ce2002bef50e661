"""Downloads from a server on this machine that stalls, cuts, lies about lengths, redirects and answers with pages."""

import base64
import hashlib
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from blurb.corpora import download
from blurb.corpora.download import fetch
from blurb.messages.errors import DataError
from blurb.tasks import Download, load_suite, select_tasks
from tests.cli.in_process import ran, run
from tests.corpora.originals import FILES, small_lists, tarred

CONTENT = bytes(range(256)) * 2_000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class Server:
    """What it was asked, and how it misbehaves at each request (the last way from then on)."""

    base: str = ""
    ways: list[str] = field(default_factory=lambda: ["well"])
    ranges: list[str | None] = field(default_factory=list)
    logins: list[str | None] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    state = Server()
    stop = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            state.ranges.append(asked)
            state.logins.append(self.headers.get("Authorization"))
            way = state.ways.pop(0) if len(state.ways) > 1 else state.ways[0]
            content = state.files.get(self.path, CONTENT)
            if way == "redirect":
                self.send_response(302)
                self.send_header("Location", f"{state.base}/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if way.startswith("bytes ") or way == "no range":  # a part, whatever was asked
                begin, end = (
                    (5, 10) if way == "no range" else map(int, way.split("/")[0][6:].split("-"))
                )
                self.send_response(206)
                if way != "no range":
                    self.send_header("Content-Range", way)
                self.send_header("Content-Length", str(end + 1 - begin))
                self.end_headers()
                self.wfile.write(content[begin : end + 1])
                return
            if way in ("202", "203", "204"):
                self.send_response(int(way))
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if way.isdigit():
                self.send_error(int(way))
                return
            start = int(asked[6:-1]) if asked and way != "no ranges" else 0
            body = b"<html>please log in</html>" if way == "page" else content[start:]
            self.send_response(206 if start else 200)
            self.send_header(
                "Content-Type", "text/html" if way == "page" else "application/octet-stream"
            )
            self.send_header("ETag", '"other"' if way == "changed" else '"one"')
            if start:
                self.send_header(
                    "Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"
                )
            if way != "endless":
                self.send_header(
                    "Content-Length", str(len(body) + (7 if way == "shorter than it says" else 0))
                )
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            if way in ("cut", "stall"):
                body = body[: len(body) // 2]
            if way == "endless":
                body += b"x" * 10_000
            self.wfile.write(body)
            self.wfile.flush()
            if way == "stall":
                stop.wait(5)

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.base = f"http://127.0.0.1:{httpd.server_address[1]}"
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    monkeypatch.setattr(download, "PAUSE", 0.01)
    monkeypatch.setattr(download, "TIMEOUT", 0.3)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield state
    stop.set()
    httpd.shutdown()


def wanted(server: Server, pinned: bool = True) -> Download:
    return Download(
        f"{server.base}/file", "deep/file.bin", *((len(CONTENT), DIGEST) if pinned else ())
    )


def refused(one: Download, folder: Path, said: str, **more: Any) -> None:
    with pytest.raises(DataError, match=said):
        fetch(one, folder, **more)


@pytest.mark.costly
@pytest.mark.parametrize("pinned", [True, False])
@pytest.mark.parametrize(
    "ways",
    [
        ["well"],
        ["redirect", "well"],
        ["503", "429", "well"],
        ["cut", "well"],
        ["stall", "cut", "well"],
        ["cut", "no ranges"],
        ["cut", "cut", "cut", "cut", "well"],
    ],
)
def test_what_another_try_heals(
    server: Server, tmp_path: Path, ways: list[str], pinned: bool
) -> None:
    server.ways = list(ways)
    seen: list[int] = []
    assert fetch(wanted(server, pinned), tmp_path, lambda done, total: seen.append(done))
    assert (tmp_path / "deep" / "file.bin").read_bytes() == CONTENT
    assert seen[-1] == len(CONTENT)
    assert not list(tmp_path.rglob("*.part"))
    if ways == ["cut", "well"]:
        assert server.ranges == [None, f"bytes={len(CONTENT) // 2}-"]


@pytest.mark.parametrize("pinned", [True, False])
@pytest.mark.parametrize(
    "ways",
    [
        ["bytes 5-10/20"],
        ["bytes 0-10/20"],
        [f"bytes 0-{len(CONTENT) - 1}/{len(CONTENT)}"],
        ["no range"],
        ["202"],
        ["203"],
        ["204"],
        ["cut", "bytes 0-10/20"],
        ["cut", "bytes 7-10/20"],
        ["cut", "no range"],
        ["cut", "204"],
    ],
)
def test_an_answer_that_was_not_asked_for_is_an_error(
    server: Server, tmp_path: Path, ways: list[str], pinned: bool
) -> None:
    server.ways = list(ways)
    refused(
        wanted(server, pinned),
        tmp_path,
        r"/file sent what was not asked for \(HTTP status 20\d, part .*\)",
    )
    assert not (tmp_path / "deep" / "file.bin").exists()
    assert not list(tmp_path.rglob("*.part"))  # the next try begins anew


@pytest.mark.parametrize("pinned", [True, False])
def test_a_part_with_another_total_is_no_whole(
    server: Server, tmp_path: Path, pinned: bool
) -> None:
    half = len(CONTENT) // 2
    server.ways = ["cut", f"bytes {half}-{half + 9}/{len(CONTENT) + 40}", "500"]
    with pytest.raises(DataError):
        fetch(wanted(server, pinned), tmp_path)
    assert not (tmp_path / "deep" / "file.bin").exists()


def test_nothing_is_asked_for_what_is_there(server: Server, tmp_path: Path) -> None:
    assert fetch(wanted(server), tmp_path)
    assert not fetch(wanted(server), tmp_path)
    assert len(server.ranges) == 1
    (tmp_path / "deep" / "file.bin").write_bytes(b"damaged")
    assert fetch(wanted(server), tmp_path)


def test_a_file_without_a_known_hash_is_there_already_unless_it_is_asked_for_again(
    server: Server, tmp_path: Path
) -> None:
    unpinned, target = wanted(server, pinned=False), tmp_path / "deep" / "file.bin"
    target.parent.mkdir()
    target.write_bytes(b"old")
    assert not fetch(unpinned, tmp_path)
    server.ways = ["404"]
    refused(unpinned, tmp_path, "status 404", again=True)
    assert target.read_bytes() == b"old"  # until the new one is whole
    server.ways = ["cut", "well"]
    assert fetch(unpinned, tmp_path, again=True)
    assert target.read_bytes() == CONTENT
    asked = len(server.ranges)
    assert not fetch(wanted(server), tmp_path, again=True)  # a known hash says all
    assert len(server.ranges) == asked


def test_an_interrupted_fetch_is_continued_by_the_next(server: Server, tmp_path: Path) -> None:
    server.ways = ["cut", "404"]
    refused(wanted(server), tmp_path, "status 404")
    assert not (tmp_path / "deep" / "file.bin").exists()
    server.ways = ["well"]
    assert fetch(wanted(server), tmp_path)
    assert server.ranges[-1] == f"bytes={len(CONTENT) // 2}-"


@pytest.mark.costly
@pytest.mark.parametrize(
    ("ways", "pinned", "message", "tries"),
    [
        (["page"], True, "web page", 1),
        (["page"], False, "web page", 1),
        (["404"], True, "status 404", 1),
        (["503"], True, "cannot download .*: 5 tries failed", 5),
        (["stall"], False, "5 tries failed", 5),
        (["shorter than it says"], True, "instead of the expected 512,000", 1),
        (["shorter than it says"], False, "5 tries failed", 5),
        (["endless"], True, "more than the expected 512,000 bytes", 1),
    ],
)
def test_what_no_try_heals(
    server: Server, tmp_path: Path, ways: list[str], pinned: bool, message: str, tries: int
) -> None:
    server.ways = ways
    refused(wanted(server, pinned), tmp_path, message)
    assert not (tmp_path / "deep" / "file.bin").exists()
    assert len(server.ranges) == tries


def test_a_server_that_never_ends_is_left(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "MOST_BYTES", 1_000)
    server.ways = ["endless"]
    refused(wanted(server, pinned=False), tmp_path, "more than the expected 1,000 bytes")


def test_another_file_of_the_same_size_is_not_taken(server: Server, tmp_path: Path) -> None:
    server.files["/file"] = CONTENT[::-1]
    refused(wanted(server), tmp_path, "not the expected file")
    assert not list(tmp_path.rglob("*.bin*.part"))


def test_no_server_and_an_unencrypted_redirect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "PAUSE", 0.01)
    refused(
        Download("http://127.0.0.1:9/file", "file"), tmp_path, "set BLURB_MIRROR or https_proxy"
    )
    request = download.urllib.request.Request("https://example.org/file")
    with pytest.raises(DataError, match="not encrypted"):
        download._NoDowngrade().redirect_request(
            request, None, 302, "", None, "http://example.org/file"
        )  # type: ignore[arg-type]


def test_a_mirror_holds_the_files_by_their_paths(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLURB_MIRROR", f"{server.base}/mirror/")
    server.files["/mirror/a%20b/c.tsv"] = b"mirrored"
    assert fetch(Download("http://127.0.0.1:9/x", "a b/c.tsv"), tmp_path)
    assert (tmp_path / "a b" / "c.tsv").read_bytes() == b"mirrored"


def test_the_login_of_a_mirror_reaches_the_mirror_and_no_message(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLURB_MIRROR", server.base.replace("://", "://me:se%40cret@"))
    assert fetch(Download("http://127.0.0.1:9/x", "a.tsv"), tmp_path)
    assert server.logins == ["Basic " + base64.b64encode(b"me:se@cret").decode()]
    server.ways = ["404"]
    with pytest.raises(DataError, match=f"{server.base}/b.tsv returned HTTP status 404") as caught:
        fetch(Download("http://127.0.0.1:9/x", "b.tsv"), tmp_path)
    assert "cret" not in str(caught.value)
    monkeypatch.setenv("BLURB_MIRROR", "mirror.example")
    refused(Download("http://127.0.0.1:9/x", "b.tsv"), tmp_path, "BLURB_MIRROR must start with")


def test_a_server_without_an_address_is_asked_for_once_and_nothing_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def resolve(host: object, *rest: object, **more: object) -> None:
        asked.append(host)
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(download.time, "sleep", lambda seconds: pytest.fail("waited"))
    for name in (
        "https_proxy",
        "http_proxy",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BLURB_MIRROR", "http://nowhere.example")
    arguments = ["data", "download", "--out", str(tmp_path), "--tasks", "hoc", "--accept-licences"]
    result = run(*arguments)
    assert result.exit_code == 2
    assert len(asked) == 1
    assert "hoc/Hallmarks-of-Cancer.tar.gz: not downloaded" in result.stderr
    assert "no network, or no such server (Name or service not known)" in result.stderr
    assert "not known" in result.stdout
    assert "Next:" not in result.stdout


def test_a_folder_that_cannot_be_written(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deep" / "file.bin.part").mkdir(parents=True)
    refused(wanted(server), tmp_path, "cannot be written")


def test_many_at_once_fetch_once(server: Server, tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(lambda _: fetch(wanted(server), tmp_path), range(8))) == 1
    assert len(server.ranges) == 1


@pytest.mark.parametrize(
    ("damage", "verdict"),
    [
        (lambda content: content[:-200], "broken"),
        (lambda content: tarred({"README": b"moved"}), "incomplete"),
    ],
)
def test_the_command_says_what_can_be_fetched_again(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[bytes], bytes],
    verdict: str,
) -> None:
    monkeypatch.setenv("BLURB_MIRROR", server.base)
    path = "hoc/Hallmarks-of-Cancer.tar.gz"
    whole = tarred({path.removeprefix("hoc/"): content for path, content in FILES["hoc"].items()})
    arguments = ["data", "download", "--out", str(tmp_path), "--tasks", "hoc", "--accept-licences"]
    with small_lists():
        server.files[f"/{path}"] = damage(whole)
        result = run(*arguments)
        assert (result.exit_code, f"HoC: {verdict}" in result.stderr) == (1, True)
        assert f"No hash is pinned for {path}" in result.stderr
        server.files[f"/{path}"] = whole
        result = run(*arguments)
        assert f"{path}: already present" in result.stderr
        assert "--again" in result.stderr
        result = run(*arguments, "--again")
        assert f"{path}: downloaded" in result.stderr
        assert "HoC: differs" in result.stderr  # three abstracts; but whole
        assert "--again" not in result.stderr  # once more would not help
    assert (tmp_path / path).read_bytes() == whole


@pytest.mark.costly
@pytest.mark.real
def test_the_command_fetches_checks_and_says_what_is_left(
    server: Server, tmp_path: Path, test_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLURB_MIRROR", server.base)
    for task in select_tasks("ncbi-disease,gad"):
        for one in task.source.downloads:
            server.files[f"/{one.path}"] = (test_data / "raw_data" / one.path).read_bytes()
    arguments = ["data", "download", "--out", str(tmp_path), "--tasks"]
    result = run(*arguments, "ncbi-disease,gad")
    assert isinstance(result.exception, DataError)
    assert "--accept-licences" in str(result.exception)
    assert server.ranges == []
    result = ran([*arguments, "ncbi-disease,gad", "--accept-licences"])
    assert result.output.count("identical") == 2
    result = run(*arguments, "gad,bioasq", "--accept-licences")
    assert result.exit_code == 1
    assert "already present" in result.output
    assert "register" in result.output
    server.files["/GAD/1/test.tsv"] += b"\n"
    (tmp_path / "GAD" / "1" / "test.tsv").unlink()
    result = run(*arguments, "gad", "--accept-licences")
    assert result.exit_code == 2
    assert "--again" not in result.output  # its files are pinned


@pytest.mark.real
def test_the_pinned_facts_are_those_of_the_files(test_data: Path) -> None:
    every = [*select_tasks("all"), *load_suite("mtl-ner").tasks]
    pinned = [one for task in every if task.source for one in task.source.downloads if one.sha256]
    assert len(pinned) == 17 + 30
    for one in pinned:
        content = (test_data / "raw_data" / one.path).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (one.size, one.sha256), (
            one.path
        )
