"""The environment: packages, device, cache, plug-ins."""

from __future__ import annotations

import os
import platform
import shutil
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from blurb import DISTRIBUTION, __version__, heads, metrics, tasks
from blurb.doctor._base import Fact
from blurb.execution.engines import engines
from blurb.learners import kinds
from blurb.messages import BlurbError, ErrorCollector, SettingsError, opt, safe_message
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


def check_environment(errors: ErrorCollector, facts: dict[str, Fact]) -> None:
    """Everything that would stop a run on this machine, whatever it is of."""
    facts |= {"blurb": __version__, "python": platform.python_version()}
    _check_packages(errors, facts)
    _check_hardware(errors, facts)
    with errors:
        _check_disk(errors, facts)
    _check_plugins(errors, facts)


def _check_packages(errors: ErrorCollector, facts: dict[str, Fact]) -> None:
    try:
        installed = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        errors.add(
            SettingsError(
                "It is not installed as a package, so nothing says which versions it needs.",
                where=DISTRIBUTION,
                fix="Install it in its checkout: pip install -c constraints.txt .",
            )
        )
        return
    if any(metadata.distributions(name=OTHER)):
        errors.add(
            SettingsError(
                f"The distribution {OTHER} (CPython's news tool) is installed beside {DISTRIBUTION}. Both have a "
                "package and a command of this name: the one that was installed later has replaced files of the other.",
                where=OTHER,
                fix=f"pip uninstall {OTHER}, then pip install --force-reinstall --no-deps . in the checkout.",
            )
        )
    versions: list[tuple[Requirement, Fact]]
    versions = [(Requirement(f"python{installed.metadata['Requires-Python']}"), facts["python"])]
    for text in installed.requires or ():
        requested = Requirement(text)
        if requested.marker is None or requested.marker.evaluate({"extra": ""}):
            try:
                versions.append((requested, metadata.version(requested.name)))
            except metadata.PackageNotFoundError:
                errors.add(
                    SettingsError(
                        f"It is not installed; blurb needs {text}.",
                        where=requested.name,
                        fix=f"pip install '{text}'",
                    )
                )
    for requested, present in versions:
        if requested.name in ("torch", "transformers", "datasets"):
            facts[requested.name] = present
        if not requested.specifier.contains(str(present), prereleases=True):
            errors.add(
                SettingsError(
                    f"It is {present}; blurb needs {requested}.",
                    where=requested.name,
                    fix="Use it." if requested.name == "python" else f"pip install '{requested}'",
                )
            )


def _check_hardware(errors: ErrorCollector, facts: dict[str, Fact]) -> None:
    try:
        import torch

        from blurb.training import hardware, precision as precisions

        device = hardware.choose_device("auto")
        torch.empty(1, device=device)
    except (ImportError, OSError, RuntimeError, AssertionError) as error:
        errors.add(
            SettingsError(
                f"It cannot be used: {safe_message(error)}.",
                where="torch",
                fix=f"Install torch again, free the device's memory, or run with {opt('device', 'cpu')}.",
            )
        )
        return
    facts["device"] = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    facts |= {"bf16_in_hardware": precisions.has_bf16(device), "threads": torch.get_num_threads()}
    if device.type != "cuda" and DRIVER.exists():
        built = torch.version.cuda or "no CUDA"
        errors.add(
            SettingsError(
                f"There is an NVIDIA driver, but torch (built for {built}) sees no GPU.",
                where="torch",
                fix="Install the torch of the driver's CUDA version (pytorch.org), and check CUDA_VISIBLE_DEVICES.",
            )
        )


def _check_disk(errors: ErrorCollector, facts: dict[str, Fact]) -> None:
    """The cache and the working folder; BlurbError if there is no place for a cache."""
    home = cache.cache_home()
    parent = nearest_existing(home)
    if not parent.is_dir() or not os.access(parent, os.R_OK | os.W_OK | os.X_OK):
        raise SettingsError(
            f"The cache cannot be written in {parent}.",
            where=home,
            fix="Set BLURB_HOME to another folder.",
        )
    facts |= {"cache": str(home), "cache_used_bytes": sum(one.size for one in cache.usage())}
    for name, place in (("cache", parent), ("working_folder", Path.cwd())):
        free = facts[f"{name}_free_bytes"] = shutil.disk_usage(place).free
        if free < ENOUGH:
            errors.add(
                BlurbError(
                    f"Only {free / 1e6:,.0f} MB of the disk are free.",
                    where=place,
                    fix="Free some: blurb cache clear, or set BLURB_HOME to a folder on another disk.",
                )
            )


def _check_plugins(errors: ErrorCollector, facts: dict[str, Fact]) -> None:
    """Loads every plug-in of other packages, as a run loads those that it names."""
    own: list[Registry[Any]] = [
        tasks._registry,
        tasks.types._registry,
        metrics._registry,
        heads.heads,
        heads.poolings,
        engines,
        kinds,
    ]
    others = [Registry[Any](group.partition(".")[2], "", "", group) for group in OF_EXTENSIONS]
    count = 0
    try:
        metadata.entry_points()
    except ValueError as error:
        errors.add(
            SettingsError(
                f"The entry_points.txt of an installed package cannot be read: {safe_message(error)}.",
                where="plug-ins",
                fix="Find it in the folders of the packages, and install that one again.",
            )
        )
    for registry in (*own, *others):
        for fault in registry.faults.values():
            errors.add(SettingsError(fault, fix="Rename or uninstall one of them."))
        for name in filter(registry.is_plugin, registry.names()):
            count += 1
            with errors:
                registry.get(name)
    facts["plugins"] = count
