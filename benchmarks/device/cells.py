"""A cell is one measurement, and a part is a table of them: what is measured, how, and what is said of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
Figures = Mapping[str, Any]


@dataclass(frozen=True)
class Context:
    """Where and how a part measures.

    :param bundle: the folder that was unpacked
    :param small: a rehearsal: few inputs, the demo suite, a tiny encoder, and the CPU where there is no GPU
    :param mps: NVIDIA's multi-process service may be started
    :param deadline: on `time.monotonic`, after which nothing new begins
    """

    bundle: Path
    small: bool
    mps: bool
    deadline: float

    @property
    def work(self) -> Path:
        """The folder of what is made on the way, kept so that the next call goes on from it."""
        return self.bundle / "scratch"

    @property
    def left(self) -> float:
        """Seconds until the deadline, at least one."""
        return max(1.0, self.deadline - time.monotonic())

    @property
    def data(self) -> Path:
        """The folder with the datasets."""
        if self.small:
            from blurb.corpora import demo

            return demo.prepare()
        return self.bundle / "data"

    @property
    def device(self) -> str:
        """The device of all measurements."""
        import torch

        return "cuda" if torch.cuda.is_available() else "cpu"

    @property
    def precisions(self) -> tuple[str, ...]:
        """Those that the device knows, the most used first."""
        import torch

        from blurb.training.hardware import has_bf16

        bf16 = ("bf16",) if has_bf16(torch.device(self.device)) else ()
        return (*bf16, "fp32", *(("fp16",) if self.device == "cuda" else ()))

    def pick(self, full: T, small: T) -> T:
        """The value for a measurement, or for its rehearsal."""
        return small if self.small else full

    def model(self, name: str) -> Path:
        """The folder of MiniLM, or of a random encoder by its name in `encoders.SIZES`."""
        from benchmarks.device import encoders

        own = self.bundle / "model"
        if name == "MiniLM":
            return own
        return encoders.random_encoder(self.work / "models" / name, name, own, self.small)


@dataclass(frozen=True)
class Cell:
    """One measurement.

    :param name: unique within its part
    :param measure: gives its figures, which JSON can hold
    :param memory: GiB of the card below which it is not tried
    """

    name: str
    measure: Callable[[], Figures]
    memory: float = 0.0


class Unfinished(Exception):
    """A measurement reached its deadline; the next call goes on from what it left.

    :ivar figures: so far
    """

    def __init__(self, figures: Figures) -> None:
        super().__init__("the time was up")
        self.figures = figures


@dataclass(frozen=True)
class Part:
    """A part of a session on a card.

    :param minutes: after which it is ended
    :param title: of its table on the page
    :param cells: its measurements, in the order of their worth
    :param columns: of its table, after the card
    :param rows: the table, from name of cell to figures
    :param note: what stands below the table
    """

    name: str
    minutes: float
    title: str
    cells: Callable[[Context], Iterable[Cell]]
    columns: Sequence[str]
    rows: Callable[[Mapping[str, Figures]], Sequence[Sequence[str]]]
    note: str = ""
