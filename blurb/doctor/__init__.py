"""`blurb doctor`: calls the readers of something, and lists what they collected. Nothing is run or written."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal

from packaging.requirements import Requirement

from blurb import DISTRIBUTION, __version__, heads, metrics, tasks
from blurb.data import manifest
from blurb.data.loading import hint_at_folder, path_of
from blurb.execution.engines import engines
from blurb.execution.sweeps import FOLDER, JOBS
from blurb.grouping import by_key
from blurb.learners import kinds
from blurb.messages import (
    BlurbError,
    DataError,
    ErrorCollector,
    SettingsError,
    opt,
    safe_message,
    with_full_stop,
)
from blurb.planning import run_file
from blurb.records import Rule
from blurb.registry import Registry
from blurb.regression import rules
from blurb.store.store import OWNERS, SCHEMA_FILE
from blurb.system import cache, text_files
from blurb.system.files import NO_FILE, nearest_existing

Subject = Literal[
    "environment",
    "store",
    "trial",
    "checkpoint",
    "data",
    "task file",
    "protocol",
    "run file",
    "rules",
    "table",
]
Fact = str | int | bool | None
"""A number where it is one, `None` where there is none; sizes are in bytes."""
SHOWN = 20
"""Problems of one file that are listed; more of them have one cause."""


@dataclass(frozen=True)
class Fault:
    """Something that is wrong.

    :param where: file (and line), folder, package or setting
    :param what: what is wrong with it
    :param fix: what to do about it
    """

    where: str
    what: str
    fix: str


@dataclass(frozen=True)
class Diagnosis:
    """All that is wrong with one thing.

    :param kind: what it was taken for
    :param subject: its path; "" for the environment
    :param problems: all that is wrong
    :param facts: what is known of it, by name; the names of sizes end in `bytes`
    """

    kind: Subject
    subject: str
    problems: Sequence[Fault]
    facts: Mapping[Annotated[str, Rule("pattern", "^[a-z0-9_]+$")], Fact] = field(
        default_factory=dict
    )


def list_faults(errors: Iterable[BlurbError], where: Path | str, fix: str) -> list[Fault]:
    """Errors as problems: of each file the first `SHOWN`, and how many more there are.

    :param where: of an error that names no place
    :param fix: if an error does not say what to do
    """
    faults = []
    of_file = by_key((getattr(error, "path", None) or error.where, error) for error in errors)
    for file, alike in of_file.items():
        for error in alike[:SHOWN]:
            advice = error.fix or fix
            first = advice.split(" ")[0]
            # A sentence begins with a capital; a command or a path stays as it is typed.
            if first.isalpha() and first not in ("blurb", "pip", "rm"):
                advice = advice[:1].upper() + advice[1:]
            if not advice.endswith("'"):  # of pip install 'NAME>=1', which is pasted
                advice = with_full_stop(advice)
            faults.append(Fault(error.where or str(where), with_full_stop(error.what), advice))
        if (more := len(alike) - SHOWN) > 0:
            faults.append(
                Fault(str(file), f"And {more:,} more of this file.", "Fix those above first.")
            )
    return faults


KINDS = (
    "a store, a trial, a checkpoint, a data folder, a task file, a protocol, a run file, blurb-check.toml, or a table "
    "of results"
)
FILES: Mapping[Subject, Sequence[str]] = {
    "trial": ("spec.json",),
    "store": (SCHEMA_FILE, "*/rows/*.json", "*/*/*/spec.json", f"*/{OWNERS}", f"{FOLDER}/*/{JOBS}"),
    "checkpoint": (
        "config.json",
        "adapter_config.json",
        "*.safetensors",
        "pytorch_model*",
        "tokenizer*.json",
        "*/config.json",
    ),
}
"""Patterns of files by which a folder is known."""
PROTOCOL = {"all", "search", "extends", "learner", "lr_by_size", "baselines", "description", "note"}
RULES = {"split", "level", "max_drop", "min_score", "overall", "datasets"}
"""Keys by which a file is known."""
FIXES: Mapping[Subject, str] = {
    "store": "Run its blurb run command again.",
    "trial": "Run its blurb run command again.",
    "checkpoint": "Save it again with save_pretrained, or download it again.",
    "data": "Make it with blurb data prepare from the original release, or correct the file.",
    "table": "Correct the line, or remove it; of a store of yours, blurb rescore writes the tables again.",
    "task file": "docs/extend.md has all keys; blurb tasks new writes a template.",
    "protocol": "docs/protocols.md has the keys; blurb run --help lists the settings.",
    "run file": "docs/reference.md has the options.",
    "rules": "docs/ci.md has the keys.",
    "environment": "Update or uninstall the package.",
}
"""What to do where an error does not say it."""


def examine(path: Path | None = None) -> Diagnosis:
    """Examines what is at a path, or the environment without one.

    :raises DataError: if there is nothing
    :raises SettingsError: if it is none of the things that blurb knows
    """
    errors, facts = ErrorCollector(), dict[str, Fact]()
    kind: Subject = "environment"
    if path is None:
        facts |= {"blurb": __version__, "python": platform.python_version()}
        _check_packages(errors, facts)
        _check_machine(errors, facts)
        _check_plugins(errors, facts)
    elif not (path.is_file() or path.is_dir()):
        raise DataError(
            NO_FILE if path.exists() else "no such file or folder", path, fix=f"give {KINDS}."
        )
    else:
        from blurb.doctor.readers import READERS  # torch: without it the environment is told

        kind = _kind_of_folder(path) if path.is_dir() else _kind_of_file(path)
        with errors:
            READERS[kind](path, errors, facts)
    return Diagnosis(
        kind, str(path or ""), list_faults(errors.errors, path or "plug-ins", FIXES[kind]), facts
    )


def _kind_of_file(path: Path) -> Subject:
    if path.suffix == ".csv":
        return "table"
    if path.suffix != ".toml":
        raise SettingsError("cannot tell what this is", where=path, fix=f"give {KINDS}.")
    if path.name == rules.NAME:
        return "rules"
    try:
        content = text_files.read_toml(path)
    except BlurbError:  # whatever it is to be, it is told as a task file
        return "task file"
    keys = {*content}
    if keys & PROTOCOL or isinstance(content.get("tasks"), dict) or keys == {"seeds"}:
        return "protocol"
    if "model" in keys or (keys and keys <= {*run_file.KEY.values()}):
        return "run file"
    return "rules" if keys & RULES else "task file"


def _kind_of_folder(path: Path) -> Subject:
    for kind, patterns in FILES.items():
        if any(next(path.glob(pattern), None) for pattern in patterns):
            return kind
    every = tasks.select_tasks("all")
    known = any(path_of(task, path, split).is_file() for task in every for split in tasks.SPLITS)
    if known or manifest.path_of(path).is_file() or hint_at_folder(every, path):
        return "data"
    if (path / "row.json").is_file():
        raise SettingsError(
            "is a row as files", where=path, fix="check it with blurb leaderboard verify."
        )
    raise SettingsError("cannot tell what this folder is", where=path, fix=f"give {KINDS}.")


OTHER = "blurb"
"""CPython's news tool, whose package and command have the same names."""
ENOUGH = 1e9
"""Bytes that the cache should have left: a probe's vectors alone take up to that."""
OF_EXTENSIONS = ("blurb.commands", "blurb.exports", "blurb.names")
"""Groups of plug-ins that the core adds to by extensions alone."""
DRIVER = Path("/proc/driver/nvidia")


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
    python = f"python{installed.metadata['Requires-Python']}"
    for requested in map(Requirement, (python, *(installed.requires or ()))):
        if requested.marker is not None and not requested.marker.evaluate({"extra": ""}):
            continue
        name = requested.name
        try:
            present = facts["python"] if name == "python" else metadata.version(name)
        except metadata.PackageNotFoundError:
            errors.add(
                SettingsError(
                    f"It is not installed; blurb needs {requested}.",
                    where=name,
                    fix=f"pip install '{requested}'",
                )
            )
            continue
        if name in ("torch", "transformers", "datasets"):
            facts[name] = present
        if not requested.specifier.contains(str(present), prereleases=True):
            errors.add(
                SettingsError(
                    f"It is {present}; blurb needs {requested}.",
                    where=name,
                    fix="Use it." if name == "python" else f"pip install '{requested}'",
                )
            )


def _check_machine(errors: ErrorCollector, facts: dict[str, Fact]) -> None:
    """The disks of the cache and of the working folder, then the device."""
    home = cache.cache_home()
    parent = nearest_existing(home)
    if not parent.is_dir() or not os.access(parent, os.R_OK | os.W_OK | os.X_OK):
        errors.add(
            SettingsError(
                f"The cache cannot be written in {parent}.",
                where=home,
                fix="Set BLURB_HOME to another folder.",
            )
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
    try:
        import torch

        from blurb.training import hardware

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
    facts |= {"bf16_in_hardware": hardware.has_bf16(device), "threads": torch.get_num_threads()}
    if device.type != "cuda" and DRIVER.exists():
        built = torch.version.cuda or "no CUDA"
        errors.add(
            SettingsError(
                f"There is an NVIDIA driver, but torch (built for {built}) sees no GPU.",
                where="torch",
                fix="Install the torch of the driver's CUDA version (pytorch.org), and check CUDA_VISIBLE_DEVICES.",
            )
        )


def _check_plugins(errors: ErrorCollector, facts: dict[str, Fact]) -> None:
    """Loads every plug-in of other packages, as a run loads those that it names."""
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
    registries: list[Registry[Any]] = [
        tasks._registry,
        tasks.types._registry,
        metrics._registry,
        heads.heads,
        heads.poolings,
        engines,
        kinds,
        *(Registry(group.partition(".")[2], "", "", group) for group in OF_EXTENSIONS),
    ]
    facts["plugins"] = sum(
        registry.is_plugin(name) for registry in registries for name in registry.names()
    )
    for registry in registries:
        for fault in registry.faults.values():
            errors.add(SettingsError(fault, fix="Rename or uninstall one of them."))
        for name in filter(registry.is_plugin, registry.names()):
            with errors:
                registry.get(name)
