"""What a study compares, from its TOML file."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from blurb import tasks
from blurb.extensions.lab.pretraining import request
from blurb.extensions.lab.pretraining.recipe import Recipe
from blurb.learners import PREFIX
from blurb.messages.errors import SettingsError, UnknownName
from blurb.protocols import protocol
from blurb.system import toml
from blurb.tasks import Task

READY = Path(__file__).parent / "ready"
KEYS = (
    "title",
    "text",
    "mix",
    "words",
    "runs",
    "tasks",
    "protocols",
    "reference",
    "published",
    "floors",
    "recipe",
    "variants",
)
OF_RECIPE = tuple(sorted({field.name for field in fields(Recipe)} - {"seed", "version"}))
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")
"""It names folders and rows."""
OF_VARIANT = (*OF_RECIPE, "text", "mix", "published")


@dataclass(frozen=True)
class Variant:
    """One way to pretrain.

    :param recipe: its settings, with the seed 1; `words` 0 leaves the weights as they are drawn
    :param text: what is read (`blurb pretrain --text`); `mix` a second corpus
    :param published: name of the published row that asks the same of a large encoder, or ""
    """

    name: str
    recipe: Recipe
    text: Sequence[str]
    mix: Sequence[str] = ()
    published: str = ""

    def run(self, seed: int) -> Recipe:
        """The recipe of one of its pretrainings."""
        return replace(self.recipe, seed=seed)


@dataclass(frozen=True)
class Study:
    """A study.

    :param reference: the variant with which the others are compared
    :param runs: pretrainings of each variant, with the seeds 1 to this number
    :param protocols: by which every encoder is scored; the first decides
    :param published: what the published rows of the variants are, for the heading of their columns
    :param floors: baselines that every encoder should be above, scored once by the first protocol
    """

    title: str
    variants: Sequence[Variant]
    reference: str
    runs: int
    tasks: Sequence[Task]
    protocols: Sequence[str]
    published: str = ""
    floors: Sequence[str] = ()


def ready() -> list[str]:
    """Names of the studies that are shipped."""
    return sorted(path.stem for path in READY.glob("*.toml"))


def read(file: Path | str) -> Study:
    """The study of a file, or one that is shipped, by its name.

    :raises SettingsError: (file and key) for a study that cannot be made
    """
    path = READY / f"{file}.toml" if str(file) in ready() else Path(file)
    if not path.is_file() and path.suffix != ".toml":
        raise UnknownName("study", str(file), ready())
    content = toml.read(path)
    try:
        return _study(content)
    except SettingsError as error:
        raise SettingsError(str(error), where=path) from None


def _study(content: Mapping[str, Any]) -> Study:
    _check_keys(content, KEYS, "")
    common = _table(content, "recipe")
    _check_keys(common, OF_RECIPE, "[recipe] ")
    common = {**common, "words": content.get("words", common.get("words", "20M"))}
    text, mix = _texts(content, "text", ["train"]), _texts(content, "mix", [])
    tables = _table(content, "variants")
    shared = {**common, "text": text, "mix": mix}
    variants = [_variant(name, _own(shared, _table(tables, name))) for name in tables]
    if len(variants) < 2:
        raise SettingsError("a study has at least two [variants.NAME].")
    names = [variant.name for variant in variants]
    reference = str(content.get("reference", names[0]))
    if reference not in names:
        raise UnknownName("variant", reference, names)
    runs = content.get("runs", 3)
    if not isinstance(runs, int) or isinstance(runs, bool) or not 1 <= runs <= 100:
        raise SettingsError(f"runs must be 1 to 100 (got {runs!r}).")
    chosen = tasks.load_selection(",".join(_texts(content, "tasks", ["blurb-12"])))
    named = _texts(content, "protocols", ["quick"])
    if not named:
        raise SettingsError("protocols must name at least one protocol.")
    for name in named:
        if name not in protocol.names():
            raise UnknownName("protocol", name, protocol.names())
        seeds = max(len(protocol.load(name).seeds(task)) for task in chosen)
        if seeds > 1:
            raise SettingsError(f"An encoder is fine-tuned once, and {name} has {seeds} seeds", fix="take quick.")
    floors = _texts(content, "floors", [])
    for name in floors:
        if not name.startswith(PREFIX):
            raise SettingsError(f"floors are baselines, such as {PREFIX}NAME (got {name!r}).")
    return Study(
        title=str(content.get("title", "Study")),
        variants=variants,
        reference=reference,
        runs=runs,
        tasks=chosen,
        protocols=named,
        published=str(content.get("published", "")),
        floors=floors,
    )


def _own(shared: Mapping[str, Any], own: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings of a variant; of the shared ones those that a checkpoint to continue from decides fall away."""
    left_out = request.OF_START if own.get("start", shared.get("start")) else ()
    return {**{key: value for key, value in shared.items() if key not in left_out}, **own}


def _variant(name: str, values: Mapping[str, Any]) -> Variant:
    if not NAME.fullmatch(name):
        raise SettingsError(f"[variants.{name[:40]}]: a name has letters, digits, '.', '_' and '-'.")
    _check_keys(values, OF_VARIANT, f"[variants.{name}] ")
    settings = {key: value for key, value in values.items() if key in OF_RECIPE}
    words = settings["words"]
    settings["words"] = words if words == 0 else request.words(str(words))
    for field in fields(Recipe):
        kinds = (int, float) if field.type == "float" else {"int": int, "bool": bool}.get(str(field.type), str)
        if field.name in settings and (
            not isinstance(settings[field.name], kinds)
            or (isinstance(settings[field.name], bool) and field.type != "bool")
        ):
            raise SettingsError(f"[variants.{name}] {field.name} is of a wrong type (got {settings[field.name]!r}).")
    try:
        recipe = request.recipe(settings)
    except SettingsError as error:
        raise SettingsError(f"[variants.{name}] {error}") from None
    published = str(values.get("published", ""))
    return Variant(name, recipe, _texts(values, "text", []), _texts(values, "mix", []), published)


def _table(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = content.get(key, {})
    if not isinstance(value, dict):
        raise SettingsError(f"{key} must be a table.")
    return value


def _texts(content: Mapping[str, Any], key: str, default: list[str]) -> list[str]:
    value = content.get(key, default)
    value = [value] if isinstance(value, str) else value
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise SettingsError(f"{key} must be a list of texts.")
    return value


def _check_keys(content: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in content:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}."
            raise SettingsError(f"{where}{key} is unknown", fix=hint)
