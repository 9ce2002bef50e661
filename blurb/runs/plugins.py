"""Code that is not blurb's own and decides the result of a trial: it is part of the trial's identity.

A head, pooling or formulation of another distribution, module or file is known by its name alone in the settings;
edited, it would be "already done" with the score of what it was. So the hash of its module's source enters, with its
options as they are resolved. What that module imports does not enter: after a change of a helper, touch the plug-in.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blurb import formulations
from blurb.errors import SettingsError
from blurb.heads import heads, poolings
from blurb.heads._spec import resolved
from blurb.registry import Registry
from blurb.tasks import Task

KINDS: dict[str, Registry[Any]] = {"head": heads, "pooling": poolings}


def identity(task: Task, settings: Mapping[str, Any]) -> dict[str, str]:
    """Setting -> hash of the plug-in that it names, and `formulation TYPE` where that of the task is one.

    :param settings: those that concern the trial
    """
    found = {}
    for setting, registry in KINDS.items():
        text = str(settings.get(setting, ""))
        name = text.split(",")[0].strip()
        if text and registry.is_plugin(name):
            found[setting] = _hash(registry.get(name), resolved(registry, text))
    found[f"formulation {task.type}"] = of_formulation(task)
    return {setting: digest for setting, digest in found.items() if digest}


def of_formulation(task: Task) -> str:
    """Hash of the formulation of a task; "" for one of blurb's own."""
    return _hash(formulations.of(task), {})


def files() -> dict[str, dict[str, Path]]:
    """By setting, the plug-ins that this process knows from files; a worker process has to be told."""
    return {setting: dict(registry.files) for setting, registry in KINDS.items()}


def remember(known: Mapping[str, Mapping[str, Path]]) -> None:
    """Makes plug-ins from files known in this process."""
    for setting, paths in known.items():
        KINDS[setting].files.update(paths)


def _hash(plugin: type, options: Mapping[str, Any]) -> str:
    """ "" for a class of blurb's own, however it was named."""
    if plugin.__module__.partition(".")[0] == "blurb":
        return ""
    try:
        source = Path(inspect.getsourcefile(plugin) or "").read_bytes()
    except (OSError, TypeError) as error:
        raise SettingsError(
            f"The source of {plugin.__module__}.{plugin.__qualname__} cannot be read, so trials with it could not be "
            f"told from those with another version of it: {error}."
        ) from error
    text = json.dumps([hashlib.sha256(source).hexdigest(), dict(options)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
