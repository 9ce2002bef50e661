"""Prompts: TOML files with the words in which examples are put to a language model, one a task type.

Those of this folder are used by default. The wording of a row is told by the hash of all files of its folder.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blurb import tasks
from blurb.data.schema import Example
from blurb.fields import Field, read_table
from blurb.messages import FIRST, SettingsError, UnknownName, opt
from blurb.system.text_files import read_toml
from blurb.tasks import Task, types

FOLDER = Path(__file__).parent
PLACE = re.compile(r"\{\s*([\w-]+)\s*\}")
"""A placeholder; other braces are text, such as those of JSON."""
OURS = ("messages", "model", "response_format", "stream", "n")
"""Keys of a request that no prompt file sets."""
ANSWER_LIMITS = ("max_tokens", "max_completion_tokens")
"""What services call the maximum of tokens of an answer."""
TEXTS = ("text", "text_a", "text_b", "question", "context")
"""Columns of an example that a prompt has to show; words are joined to one text."""
LABEL = Field(dict, keys={"name": Field(str), "about": Field(str)})
FILE = Field(
    dict,
    keys={
        "type": Field(str, choices=types.names, noun="task type", required=True),
        "description": Field(str),
        "system": Field(str),
        "user": Field(str, required=True),
        "request": Field(
            dict,
            must=f"be what JSON can hold, with a positive max_tokens, and without {', '.join(OURS)}",
            rule=lambda keys: _may_be_sent(keys),
        ),
        "labels": Field(dict, keys=Field(dict, keys=LABEL)),
    },
)


def _may_be_sent(request: Mapping[str, Any]) -> bool:
    try:
        json.dumps(request, allow_nan=False)
    except (TypeError, ValueError):
        return False
    limits = [request[name] for name in ANSWER_LIMITS if name in request]
    return set(OURS).isdisjoint(request) and all(
        type(limit) is int and limit > 0 for limit in limits
    )


@dataclass(frozen=True)
class Prompts:
    """The wording of requests for tasks of a type.

    :param name: of the set that the file belongs to, with eight digits of the hash
    :param hash: SHA-256 of all files of the set
    :param user: a message, with placeholders for texts and labels
    :param request: other fields of the body of each request, such as the temperature
    :param labels: task -> label -> `name` and `about`, if a model gets another name, or a description
    """

    path: Path
    name: str
    hash: str
    type: str
    user: str
    system: str = ""
    description: str = ""
    request: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)

    def names(self, task: Task) -> dict[str, str]:
        """The name that a model gets -> label of the task, of all labels."""
        given = self.labels.get(task.name, {})
        if unknown := given.keys() - {*task.labels}:
            raise UnknownName(f"label of {task.name}", min(unknown), task.labels, where=self.path)
        labels = {given.get(label, {}).get("name", label): label for label in task.labels}
        if len(labels) < len(task.labels):
            raise SettingsError(f"two labels of {task.name} have the same name.", where=self.path)
        return labels

    def system_message(self, task: Task) -> str:
        """The first message of every request of a task; "" for none."""
        return self._filled(self.system, task, {})

    def user_message(self, task: Task, example: Example) -> str:
        """The message of an example."""
        return self._filled(self.user, task, example)

    def _filled(self, template: str, task: Task, example: Example) -> str:
        def value(match: re.Match[str]) -> str:
            name = match[1]
            if name == "labels":
                return self._listed(task)
            if name in task.metric_options:
                return f"{task.metric_options[name]:g}"
            if name == "title":
                return task.title
            return (
                " ".join(example["tokens"])
                if name == "text" and "tokens" in example
                else str(example[name])
            )

        return PLACE.sub(value, template)

    def _listed(self, task: Task) -> str:
        given = self.labels.get(task.name, {})
        about = {
            name: given.get(label, {}).get("about", "") for name, label in self.names(task).items()
        }
        return "\n".join(
            f"- {name}: {text}" if text else f"- {name}" for name, text in about.items()
        )


def load(path: Path | None, task: Task) -> Prompts:
    """The prompts for a task.

    :param path: a file, or a folder with a file a task type, named after it; None for those that come with blurb
    :raises SettingsError: if they are for another type, or lack a text or the labels
    """
    given, kind = path or FOLDER, task.type
    path = given / f"{kind}.toml" if given.is_dir() else given
    content = read_table(read_toml(path), FILE, path, FIRST)
    for name in content.get("labels", {}).keys() - {task.name}:
        if tasks.known_task(name) is None:
            raise UnknownName("dataset", name, [each.name for each in tasks.all()], where=path)
    if content["type"] != kind:
        raise SettingsError(
            f"these prompts are for the type {content['type']}, not for {kind}",
            where=path,
            fix=f"choose such tasks with {opt('tasks')}, or give a folder with a file a type.",
        )
    digest = hashlib.sha256()
    for each in sorted(given.glob("*.toml")) if given.is_dir() else [path]:
        said = {key: value for key, value in read_toml(each).items() if key != "description"}
        digest.update(json.dumps([each.name, said], sort_keys=True, default=str).encode())
    name = "prompts" if given == FOLDER else given.resolve().stem
    prompts = Prompts(path, f"{name}@{digest.hexdigest()[:8]}", digest.hexdigest(), **content)
    _check_placeholders(prompts, types.get(kind))
    return prompts


def _check_placeholders(prompts: Prompts, kind: types.TaskType) -> None:
    """Raises a SettingsError for placeholders that are unknown or missing."""
    texts = (
        {"text"} if "tokens" in kind.columns else {name for name in TEXTS if name in kind.columns}
    )
    requested, always = {*PLACE.findall(prompts.user)}, {*PLACE.findall(prompts.system)}
    general = {
        "title",
        *(["labels"] if kind.has_labels else ["low", "high"] if "score" in kind.columns else []),
    }
    if unknown := sorted((requested - texts - general) | (always - general)):
        known = ", ".join(f"{{{name}}}" for name in sorted(texts | general))
        raise SettingsError(
            f"there is no {{{unknown[0]}}} here; known are {known}, and in `system` those without a text.",
            where=prompts.path,
        )
    if missing := sorted((texts - requested) | ({"labels"} & general - requested - always)):
        raise SettingsError(
            f"{{{missing[0]}}} is missing: a model has to see all texts and all labels",
            where=prompts.path,
            fix="add it to `user`.",
        )
