"""Who holds a lease: the content of its file (`blurb.system.leases`)."""

from __future__ import annotations

import functools
import json
import os
import platform
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SIZE = 1024
"""Bytes of every lease file, so that one write replaces its content in place."""
PROC = Path("/proc")


@dataclass(frozen=True)
class LeaseRecord:
    """A process that holds a lease, as its file tells.

    :param token: random, of this lease alone
    :param boot: id of the start of the machine; "" where there is none, so that its processes are not looked up
    :param namespace: in which `pid` counts: containers of one machine have their own
    :param started: when the process began, in ticks of the machine's own clock, as process numbers are used again
    :param since: when the lease was taken, by the clock of that machine: to be shown, never to be compared
    :param beats: number of beats since then
    :param news: progress of its trial: epoch, epochs, done, total and dev (`blurb.execution.job.TrialProgress`)
    """

    token: str
    host: str
    boot: str
    namespace: str
    pid: int
    started: int
    since: str
    beats: int = 0
    news: Mapping[str, float | None] = field(default_factory=dict)

    @classmethod
    def me(cls) -> LeaseRecord:
        """This process, with a new token."""
        pid = os.getpid()
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return cls(secrets.token_hex(16), *_this_machine(), pid, _start_of_process(pid) or 0, since)

    @classmethod
    def parse(cls, content: bytes) -> LeaseRecord | None:
        """Reads the content of a lease file; None if it is empty, torn, or no lease."""
        try:
            values: dict[str, Any] = json.loads(content)
            holder = cls(**values)
            texts = (holder.token, holder.host, holder.boot, holder.namespace, holder.since)
            numbers = (holder.pid, holder.started, holder.beats)
        except (ValueError, TypeError, RecursionError):
            return None
        fair = (
            all(isinstance(text, str) and text.isprintable() for text in texts)
            and isinstance(holder.news, dict)
            and all(isinstance(number, int) and 0 <= number < 1 << 62 for number in numbers)
        )
        return holder if fair and 0 < holder.pid < 1 << 31 else None

    def content(self) -> bytes:
        """The content of its file."""
        values = asdict(self)
        text = json.dumps(values).encode()
        if len(text) >= SIZE:
            text = json.dumps({**values, "host": self.host[:100], "news": {}}).encode()
        return text.ljust(SIZE - 1) + b"\n"

    @property
    def is_here(self) -> bool:
        """Whether its process is of this start of this machine, and in the same process namespace."""
        return bool(self.boot) and (self.host, self.boot, self.namespace) == _this_machine()

    @property
    def is_gone(self) -> bool:
        """Whether its process is known to have ended; nothing is known of other machines."""
        if not self.is_here:
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:  # of another user
            pass
        return self.started > 0 and _start_of_process(self.pid) not in (None, self.started)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


@functools.cache
def _this_machine() -> tuple[str, str, str]:
    """Host, boot id and process namespace; the last two on Linux only."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = os.readlink(PROC / "self/ns/pid")
    except OSError:
        boot = namespace = ""
    return platform.node(), boot, namespace


def _start_of_process(pid: int) -> int | None:
    """When a process began, in ticks since the start of the machine; 0 if it has ended and is a zombie, None if that
    cannot be read."""
    try:
        values = (
            (PROC / str(pid) / "stat")
            .read_text(encoding="utf-8", errors="replace")
            .rpartition(")")[2]
            .split()
        )
    except OSError:
        return None
    return 0 if values[0] in "ZX" else int(values[19])
