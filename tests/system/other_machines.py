"""In the place of other machines that have leases, and of the minutes that one waits for them."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from blurb.system.lease_records import LeaseRecord


@dataclass
class Clock:
    """Stands for `time` in `blurb.system.leases`: it stands still unless somebody sleeps or waits."""

    now: float = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Elsewhere:
    """A process of another machine that has a lease."""

    path: Path
    holder: LeaseRecord = field(
        default_factory=lambda: replace(LeaseRecord.me(), host="elsewhere", boot="other")
    )

    def beat(self) -> None:
        self.holder = replace(self.holder, beats=self.holder.beats + 1)
        self.path.write_bytes(self.holder.content())
