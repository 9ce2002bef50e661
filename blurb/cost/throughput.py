"""Speed of an encoder on this machine, measured in a few real training steps at the lengths of a run."""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from blurb.checkpoints.architecture import EncoderSize
from blurb.messages import BlurbError
from blurb.protocols.settings import Settings
from blurb.system.cache import cache_home
from blurb.system.files import write_whole

GRID = (32, 128, 512)
"""Lengths at which the rate is measured; interpolated between them, constant beyond them."""


@dataclass(frozen=True)
class Rates:
    """The measured rates of an encoder.

    :param load: seconds to load the encoder
    :param fixed: seconds of an optimizer step that do not depend on the batch: the optimizer, reading the weights
    :param train: length -> floating-point operations per second of forward, backward and update
    :param predict: length -> floating-point operations per second of a pass without gradients
    :param kept: length -> bytes that the backward pass of one input needs
    """

    shape: EncoderSize
    load: float
    fixed: float
    train: Mapping[int, float] = field(default_factory=dict)
    predict: Mapping[int, float] = field(default_factory=dict)
    kept: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def unmeasured(cls, shape: EncoderSize) -> Rates:
        """Those of an encoder that was not run: no time is known, and of the memory nothing that batches take."""
        never = dict.fromkeys(GRID, 1.0)
        return cls(shape, 0.0, 0.0, never, never, dict.fromkeys(GRID, 0.0))

    def step(self, inputs: Any, length: Any) -> Any:
        """Seconds of an optimizer step; numbers, or arrays with one item per batch."""
        return self.fixed + 3 * self.shape.forward(inputs, length) / _between(self.train, length)

    def forward(self, inputs: Any, length: Any) -> Any:
        """Seconds of a pass without gradients."""
        return self.shape.forward(inputs, length) / _between(self.predict, length)

    def activations(self, inputs: Any, length: Any) -> Any:
        """Bytes that a training batch keeps for its backward pass: linear and quadratic in the length."""
        (short, low), (long, high) = min(self.kept.items()), max(self.kept.items())
        square = (
            (high / long - low / short) / (long - short) if long > short else 0.0
        )  # one length if the encoder takes no longer ones
        return inputs * length * (low / short + square * (length - short))


def _between(rates: Mapping[int, float], length: Any) -> Any:
    lengths = sorted(rates)
    return np.interp(np.log(length), np.log(lengths), [rates[at] for at in lengths])


def needed(lengths: Iterable[int]) -> tuple[int, ...]:
    """The lengths of the grid to measure at: those around the given lengths, at least two.

    >>> needed([20, 60]), needed([100]), needed([300, 500]), needed([8, 12])
    ((32, 128), (32, 128), (128, 512), (32, 128))
    """
    found = list(lengths) or [GRID[0]]
    first = max((place for place, at in enumerate(GRID) if at <= min(found)), default=0)
    last = min((place for place, at in enumerate(GRID) if at >= max(found)), default=len(GRID) - 1)
    first = min(first, len(GRID) - 2)
    return GRID[first : max(last, first + 1) + 1]


def key(
    location: str,
    shape: EncoderSize,
    device: str,
    precision: str,
    threads: int,
    adapter: Settings | None = None,
) -> str:
    """Cache key of a measurement: machine, shape of the weights, precision, threads, and training code."""
    import torch

    training = Path(__file__).parents[1] / "training"
    code = hashlib.sha256(
        b"".join(path.read_bytes() for path in sorted(training.glob("*.py")))
    ).hexdigest()
    known = {
        "machine": [platform.node(), *hardware(device)],
        "device": device,
        "precision": precision,
        "threads": threads,
        "torch": torch.__version__,
        "code": code,
        "kind": json.loads((Path(location) / "config.json").read_text(encoding="utf-8")).get(
            "model_type", ""
        ),
        "shape": asdict(shape),
    }
    if adapter is not None:
        known["adapter"] = [adapter.lora_rank, adapter.lora_targets]
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:32]


def hardware(device: str) -> list[str]:
    """Names that decide speed: architecture, processor, and the GPU if it is the device."""
    import torch

    on_gpu = device.startswith("cuda") and torch.cuda.is_available()
    return [
        platform.machine(),
        _processor(),
        *([torch.cuda.get_device_name(device)] if on_gpu else []),
    ]


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def read(name: str, shape: EncoderSize) -> Rates | None:
    """Reads cached rates; None if there are none or the file is damaged."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        stored = json.loads((cache_home() / "rates" / f"{name}.json").read_text(encoding="utf-8"))
        tables = (
            {int(at): float(rate) for at, rate in stored[part].items()}
            for part in ("train", "predict", "kept")
        )
        return Rates(shape, float(stored["load"]), float(stored["fixed"]), *tables)
    return None


def write(name: str, rates: Rates) -> None:
    """Caches rates; if the cache cannot be written, the next run measures again."""
    content = {part: getattr(rates, part) for part in ("load", "fixed", "train", "predict", "kept")}
    with contextlib.suppress(OSError, BlurbError):
        write_whole(cache_home() / "rates" / f"{name}.json", json.dumps(content).encode())
