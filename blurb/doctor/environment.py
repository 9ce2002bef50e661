"""The environment: packages, device, cache, plug-ins."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from blurb import DISTRIBUTION, __version__, heads, metrics, tasks
from blurb.doctor._base import Diagnosis, Fact, Fault, as_fault
from blurb.execution.engines import engines
from blurb.learners import kinds
from blurb.messages import SettingsError, safe_message
from blurb.registry import Registry
from blurb.system import cache
from blurb.system.files import nearest_existing

OTHER = "blurb"
"""CPython's news tool, whose package and command have the same names."""
ENOUGH = 1e9
"""Bytes that the cache should have left: a probe's vectors alone take up to that."""
OF_EXTENSIONS = ("blurb.commands", "blurb.exports", "blurb.names")
"""Groups of plug-ins that the core adds to by extensions alone."""
DRIVER = Path("/proc/driver/nvidia")


def examine() -> Diagnosis:
    """The faults of the environment."""
    facts: dict[str, Fact] = {"blurb": __version__, "python": platform.python_version()}
    return Diagnosis(
        "environment",
        "",
        [*_packages(facts), *_hardware(facts), *_disk(facts), *_plugins(facts)],
        facts,
    )


def _packages(facts: dict[str, Fact]) -> Iterator[Fault]:
    try:
        installed = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        yield Fault(
            DISTRIBUTION,
            "It is not installed as a package, so nothing says which versions it needs.",
            "Install it: pip install . in its checkout, or pip install blurb-bench.",
        )
        return
    if any(metadata.distributions(name=OTHER)):
        yield Fault(
            OTHER,
            f"The distribution {OTHER} (CPython's news tool) is installed beside {DISTRIBUTION}. Both have a package "
            "and a command of this name: the one that was installed later has replaced files of the other.",
            f"pip uninstall {OTHER}, then pip install --force-reinstall --no-deps {DISTRIBUTION}",
        )
    wanted = str(installed.metadata["Requires-Python"] or "")
    if not SpecifierSet(wanted).contains(platform.python_version(), prereleases=True):
        yield Fault(
            "python",
            f"It is {platform.python_version()}; blurb needs {wanted}.",
            "Use another Python.",
        )
    for text in installed.requires or ():
        requested = Requirement(text)
        if requested.marker is not None and not requested.marker.evaluate({"extra": ""}):
            continue
        try:
            present = metadata.version(requested.name)
        except metadata.PackageNotFoundError:
            yield Fault(
                requested.name, f"It is not installed; blurb needs {text}.", f"pip install '{text}'"
            )
            continue
        if requested.name in ("torch", "transformers", "datasets"):
            facts[requested.name] = present
        if not requested.specifier.contains(present, prereleases=True):
            yield Fault(
                requested.name, f"It is {present}; blurb needs {text}.", f"pip install '{text}'"
            )


def _hardware(facts: dict[str, Fact]) -> Iterator[Fault]:
    try:
        import torch

        from blurb.training import hardware
    except (ImportError, OSError) as error:
        yield Fault("torch", f"It cannot be imported: {error}.", "Install torch again.")
        return
    device = hardware.choose_device("auto")
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    facts |= {
        "device": name,
        "bf16_in_hardware": hardware.has_bf16(device),
        "threads": torch.get_num_threads(),
    }
    if device.type != "cuda" and DRIVER.exists():
        built = torch.version.cuda or "no CUDA"
        yield Fault(
            "torch",
            f"There is an NVIDIA driver, but torch (built for {built}) sees no GPU.",
            "Install the torch of the driver's CUDA version (pytorch.org), and check CUDA_VISIBLE_DEVICES.",
        )
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        yield Fault(
            name,
            f"It cannot be used: {str(error).splitlines()[0]}.",
            "Free its memory, or run with --device cpu.",
        )


def _disk(facts: dict[str, Fact]) -> Iterator[Fault]:
    home = cache.cache_home()
    try:
        used = sum(one.size for one in cache.usage())
    except OSError as error:
        yield Fault(
            str(home),
            f"The cache cannot be read: {error.strerror}.",
            "Set BLURB_HOME to another folder.",
        )
        return
    parent = nearest_existing(home)
    facts |= {"cache": str(home), "cache_used_bytes": used}
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        yield Fault(
            str(home),
            f"The cache cannot be written in {parent}.",
            "Set BLURB_HOME to another folder.",
        )
        return
    for name, place in (("cache", parent), ("working_folder", Path.cwd())):
        free = facts[f"{name}_free_bytes"] = shutil.disk_usage(place).free
        if free < ENOUGH:
            yield Fault(
                str(place),
                f"Only {free / 1e6:,.0f} MB of the disk are free.",
                "Free some: blurb cache clear, or set BLURB_HOME to a folder on another disk.",
            )


def _plugins(facts: dict[str, Fact]) -> Iterator[Fault]:
    """Entry points that cannot be loaded, or have a name that is taken."""
    count = 0
    try:
        registries = _registries()
        every = [
            (each, point)
            for each in registries
            for point in metadata.entry_points(group=each.group)
        ]
        points = [
            (each, point)
            for each, point in every
            if not point.dist or point.dist.name != DISTRIBUTION
        ]
    except ValueError as error:
        registries, points = [], []
        yield Fault(
            "plug-ins",
            f"The entry_points.txt of an installed package cannot be read: {safe_message(error)}.",
            "Find it in the folders of the packages, and install that one again.",
        )
    for registry, point in points:
        count += 1
        try:
            point.load()
            _as_what_it_is(registry, point.name)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the code of others
            package = point.dist.name if point.dist else "its package"
            yield Fault(
                f"{registry.group}: {point.name}",
                f"The plug-in {point.value} cannot be loaded: {safe_message(error)}.",
                f"Update or uninstall {package}.",
            )
    for registry in registries:
        for fault in registry.faults.values():
            yield as_fault(SettingsError(fault), "plug-ins", "Rename or uninstall one of them.")
    facts["plugins"] = count


def _as_what_it_is(registry: Registry[Any], name: str) -> None:
    """Raises a BlurbError for a task, type or metric that is something else; two of one name are told elsewhere."""
    known: dict[str, Callable[[str], object]]
    known = {
        "blurb.tasks": tasks.get,
        "blurb.task_types": tasks.types.get,
        "blurb.metrics": metrics.get,
    }
    if registry.group in known and name not in registry.faults:
        known[registry.group](name)


def _registries() -> list[Registry[Any]]:
    """All that take plug-ins."""
    known: list[Registry[Any]]
    known = [
        tasks._registry,
        tasks.types._registry,
        metrics._registry,
        heads.heads,
        heads.poolings,
        engines,
        kinds,
    ]
    return [
        *known,
        *(Registry[Any](group.partition(".")[2], "", "", group) for group in OF_EXTENSIONS),
    ]
