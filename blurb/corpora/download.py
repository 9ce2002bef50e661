"""Downloads files of releases: resumes, retries, and verifies hashes.

The only module that uses the network for data. It respects the proxies of the environment (`https_proxy`,
`http_proxy`, `no_proxy`); `$BLURB_MIRROR` is a base URL under which the files are found by their `path`.
"""

from __future__ import annotations

import base64
import http.client
import os
import re
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import IO, Any

from blurb import __version__
from blurb.corpora.build import MissingRelease, build_task
from blurb.data.loading import examine_task
from blurb.messages import DataError
from blurb.system import leases
from blurb.system.files import file_hash
from blurb.tasks import Download, Task

TRIES = 5
PAUSE = 1.0
"""Seconds before the second try; doubles with each further try."""
TIMEOUT = 30.0
"""Seconds without data before a connection counts as broken."""
MOST_BYTES = 500_000_000
"""Maximum bytes of a file of unknown size, so that an endless response cannot fill the disk."""
CHUNK = 1 << 16
PAGES = ("text/html", "application/xhtml+xml")
RETRIED_STATUS = (408, 425, 429, 500, 502, 503, 504)
"""HTTP status codes after which to retry."""
Progress = Callable[[int, int | None], None]


class _Broken(Exception):
    """A failure after which to retry."""


def fetch(
    download: Download,
    folder: Path,
    progress: Progress = lambda done, total: None,
    again: bool = False,
) -> bool:
    """Downloads a file to `folder`; returns False if it was already there and valid.

    Resumes an interrupted download (`.part`), and renames the file when it is complete. A file without a known hash
    cannot be verified and counts as valid.

    :param progress: called with the number of bytes so far and the total, None if unknown
    :param again: download files without a known hash again; the old file stays until the new one is complete
    :raises DataError: if the file cannot be downloaded or is not the expected one
    """
    target = folder / download.path
    target.parent.mkdir(parents=True, exist_ok=True)
    with leases.held(target.with_name(f".{target.name}.lease")) as lease:
        if target.is_file() and _is_right(target, download) and (download.sha256 or not again):
            return False
        transfer = _Transfer(download, target.with_name(f"{target.name}.part"), progress)
        for number in range(1, TRIES + 1):
            try:
                transfer.run()
                break
            except (_Broken, OSError, http.client.HTTPException) as error:
                inner = error.reason if isinstance(error, urllib.error.URLError) else error
                if isinstance(inner, socket.gaierror):  # retrying after seconds does not help
                    problem, first = "no network, or no such server", "Check the connection"
                elif number == TRIES:
                    problem, first = f"{TRIES} tries failed", "Run the same command again to resume"
                else:
                    time.sleep(PAUSE * 2 ** (number - 1))
                    continue
                text = inner.strerror if isinstance(inner, OSError) else ""
                raise DataError(
                    f"cannot download {transfer.address}: {problem} ({text or str(inner) or type(inner).__name__}).",
                    target,
                    fix=f"{first}, or set BLURB_MIRROR or https_proxy.",
                ) from error
        if not _is_right(transfer.part, download):
            digest = file_hash(transfer.part)
            transfer.part.unlink()
            raise DataError(
                f"{transfer.address} is not the expected file (SHA-256 {digest[:16]}..., expected "
                f"{download.sha256[:16]}...): it was changed on the server or in transit. It was deleted.",
                target,
            )
        lease.check()
        transfer.part.replace(target)
    return True


def _is_right(path: Path, download: Download) -> bool:
    if download.size is not None and path.stat().st_size != download.size:
        return False
    return not download.sha256 or file_hash(path) == download.sha256


def _without_login(address: str) -> tuple[str, str]:
    """Splits a URL into one without credentials, safe to show, and the credentials encoded for basic authentication.

    >>> _without_login("https://me:secret@example.org/x")
    ('https://example.org/x', 'bWU6c2VjcmV0')
    """
    scheme, separator, rest = address.partition("://")
    if not separator:
        raise DataError("BLURB_MIRROR must start with https:// or http://.")
    host, slash, path = rest.partition("/")
    _, colon, port = host.partition(":")
    if colon and "@" in path and "@" not in host and not port.isdecimal():
        raise DataError("BLURB_MIRROR has a slash in its password; write it as %2F.")
    login, _, host = host.rpartition("@")
    return f"{scheme}://{host}{slash}{path}", base64.b64encode(
        urllib.parse.unquote(login).encode()
    ).decode()


class _Transfer:
    """Downloads one file to its `.part` file, over several tries.

    A partial file without a known hash is only resumed within the same process, and only if the server says that the
    file has not changed; otherwise the download starts from the beginning.
    """

    def __init__(self, download: Download, part: Path, progress: Progress) -> None:
        mirror = os.environ.get("BLURB_MIRROR", "").rstrip("/")
        address = f"{mirror}/{urllib.parse.quote(download.path)}" if mirror else download.url
        self.address, self.login = _without_login(address)
        self.download = download
        self.part = part
        self.progress = progress
        self.version = ""
        if not download.sha256:
            part.unlink(missing_ok=True)

    def run(self) -> None:
        """One try: downloads the missing bytes.

        :raises _Broken: or a connection error, if a retry may help
        :raises DataError: if no retry will help
        """
        have = self._continued()
        if have == self.download.size:
            return
        request = urllib.request.Request(
            self.address, headers={"User-Agent": f"blurb/{__version__}"}
        )
        request.add_header("Accept-Encoding", "identity")
        if self.login:
            request.add_unredirected_header("Authorization", f"Basic {self.login}")
        if have:
            request.add_header("Range", f"bytes={have}-")
        if have and self.version:
            request.add_header("If-Range", self.version)
        with self._open(request, have) as response:
            if response.headers.get_content_type() in PAGES:
                raise DataError(
                    f"{self.address} returned a web page instead of the file; open it in a browser to see why."
                )
            part = response.headers.get("Content-Range", "none")
            if response.status == 200:
                have = 0  # the server sends the whole file, maybe again
            elif not (have and response.status == 206 and part.startswith(f"bytes {have}-")):
                self.part.unlink(missing_ok=True)
                raise DataError(
                    f"{self.address} sent what was not asked for (HTTP status {response.status}, part {part})."
                )
            self.version = (
                response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
            )
            self._store(response, have, self._total(response, have))

    def _continued(self) -> int:
        """Number of bytes that can be resumed."""
        have = self.part.stat().st_size if self.part.is_file() else 0
        if (self.download.size is not None and have > self.download.size) or not (
            self.download.sha256 or self.version
        ):
            self.part.unlink(missing_ok=True)
            return 0
        return have

    def _open(self, request: urllib.request.Request, have: int) -> Any:
        try:
            return urllib.request.build_opener(_NoDowngrade).open(request, timeout=TIMEOUT)
        except urllib.error.HTTPError as error:
            if error.code == 416 and have:
                self.part.unlink()
                raise _Broken("the partial file did not match") from error
            if error.code in RETRIED_STATUS:
                raise _Broken(f"HTTP status {error.code}") from error
            raise DataError(
                f"{self.address} returned HTTP status {error.code} ({error.reason})."
            ) from error

    def _total(self, response: Any, have: int) -> int | None:
        length, part = (
            response.headers.get(name, "") for name in ("Content-Length", "Content-Range")
        )
        # The whole is said behind the slash of a part, which need not reach to its end.
        said = [
            *([int(length) + have] if length.isdigit() else []),
            *map(int, re.findall(r"/(\d+)$", part)),
        ]
        total = max(said, default=None)
        if self.download.size is not None and total not in (None, self.download.size):
            raise DataError(
                f"{self.address} has {total:,} bytes instead of the expected {self.download.size:,}."
            )
        return self.download.size or total

    def _store(self, response: Any, have: int, total: int | None) -> None:
        try:
            file = self.part.open("ab" if have else "wb")
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}.", self.part) from error
        with file:
            while chunk := response.read1(CHUNK):
                have += len(chunk)
                if have > (total or MOST_BYTES):
                    raise DataError(
                        f"{self.address} sends more than the expected {total or MOST_BYTES:,} bytes."
                    )
                try:
                    file.write(chunk)
                    file.flush()
                except OSError as error:
                    raise DataError(f"cannot be written: {error.strerror}.", self.part) from error
                self.progress(have, total)
        if total is not None and have < total:
            raise _Broken(f"the connection ended after {have:,} of {total:,} bytes")


class _NoDowngrade(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but not from https to an unencrypted address."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Message,
        newurl: str,
    ) -> urllib.request.Request | None:
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            shown, _ = _without_login(newurl)
            raise DataError(
                f"{req.full_url} redirects to {shown}, which is not encrypted; the redirect was not followed."
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


RIGHT = ("identical", "counts only")


@dataclass(frozen=True)
class Got:
    """The outcome for a dataset.

    :param verdict: on the files in the data folder, or "missing", "broken"
    :param needs: what is still to be done, and where; "" if it is complete
    """

    task: Task
    verdict: str
    needs: str = ""


def get(
    task: Task, raw: Path, data: Path, download: Callable[[Download], object] | None = None
) -> Got:
    """Brings a dataset into the data folder, unless it is there.

    :param raw: folder of the original releases, where one may put by hand what needs a registration
    :param download: fetches a file to `raw`; by default without showing progress
    """
    if (
        data.is_dir()
        and str((verification := examine_task(task, data)).verdict) in RIGHT
        and not verification.missing
    ):
        return Got(task, str(verification.verdict))
    raw.mkdir(parents=True, exist_ok=True)
    try:
        verdict = _verdict_if_prepared(task, raw, data)
        if verdict is None:
            for file in task.source.downloads if task.source else ():
                (download or (lambda one: fetch(one, raw)))(file)
            verdict = _verdict_if_prepared(task, raw, data)
    except DataError as error:
        return Got(task, "broken", str(error))
    if verdict is None:
        return Got(task, "missing", by_hand(task, raw))
    return Got(
        task,
        verdict,
        "" if verdict in RIGHT else f"these are not BLURB's examples: {by_hand(task, raw)}",
    )


def _verdict_if_prepared(task: Task, raw: Path, data: Path) -> str | None:
    """The verdict on what was made of the original; None if that is not there."""
    try:
        return str(build_task(task, raw, data)[0].verdict)
    except MissingRelease:
        return None


def by_hand(task: Task, raw: Path) -> str:
    """Where a release is to be had, and where its files belong."""
    if task.source is None:
        return "its task names no source"
    note = f" ({task.source.note})" if task.source.note else ""
    return f"from {task.source.page}{note}, below {raw}: {task.source.files}"
