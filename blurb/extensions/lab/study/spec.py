"""The declaration of a study, from its TOML file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from blurb import fields, tasks
from blurb.extensions.lab.pretraining import request
from blurb.extensions.lab.pretraining.recipe import Recipe
from blurb.fields import Field
from blurb.learners import PREFIX
from blurb.messages import ErrorCollector, SettingsError, UnknownName
from blurb.protocols import protocol
from blurb.results import published
from blurb.system import text_files
from blurb.tasks import Task

READY = Path(__file__).parent / "ready"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")
"""It names folders and rows."""


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

    @property
    def pretrainings(self) -> list[tuple[Variant, int]]:
        """Variant and seed of each, variant by variant."""
        return [(variant, seed) for variant in self.variants for seed in range(1, self.runs + 1)]


def _listed(given: str | list[str]) -> list[str]:
    return [given] if isinstance(given, str) else given


_TEXTS = replace(fields.TEXTS, parse=_listed)
_FILLED = replace(_TEXTS, filled=True)
_WORDS = Field(object, parse=lambda given: given and request.words(str(given)))
_RECIPE = {name: about for name, about in fields.of(Recipe).items() if name != "seed"} | {
    "words": _WORDS
}
_PRINTED = Field(
    str,
    choices=lambda: {row.model for row in (*published.shipped(), *published.ablations())},
    noun="published row",
)
KEYS = Field(
    dict,
    keys={
        **dict.fromkeys(("title", "reference", "published"), Field(str)),
        **dict.fromkeys(("mix", "floors"), _TEXTS),
        **dict.fromkeys(("text", "protocols"), _FILLED),
        "words": _WORDS,
        "runs": Field(int, low=1, most=100),
        "tasks": replace(
            _TEXTS, parse=lambda given: tasks.load_selection(",".join(_listed(given)))
        ),
        "recipe": Field(dict, keys=_RECIPE),
        "variants": Field(
            dict,
            keys=Field(
                dict, keys={**_RECIPE, "text": _FILLED, "mix": _TEXTS, "published": _PRINTED}
            ),
            must="be at least two [variants.NAME]",
            rule=lambda tables: len(tables) > 1,
            required=True,
        ),
    },
)
"""The keys of a study's file."""


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
    errors = ErrorCollector()
    values = fields.read_table(text_files.read_toml(path), KEYS, path, errors)
    errors.stop()
    try:
        return _study(values)
    except SettingsError as error:
        raise SettingsError(str(error), where=path) from None


def _study(content: Mapping[str, Any]) -> Study:
    """The study of the values of a file."""
    shared = {
        "text": ["train"],
        "mix": [],
        "words": request.words("20M"),
        **content.get("recipe", {}),
    }
    shared |= {key: content[key] for key in ("text", "mix", "words") if key in content}
    variants = []
    for name, own in content["variants"].items():
        # A checkpoint to continue from decides some of the shared settings, which fall away.
        left_out = request.OF_START if own.get("start", shared.get("start")) else ()
        values = {**{key: shared[key] for key in shared if key not in left_out}, **own}
        if not NAME.fullmatch(name):
            raise SettingsError(
                f"[variants.{name[:40]}]: a name has letters, digits, '.', '_' and '-'."
            )
        try:
            recipe = request.recipe({key: values[key] for key in values if key in _RECIPE})
        except SettingsError as error:
            raise SettingsError(f"[variants.{name}] {error}") from None
        variants.append(
            Variant(name, recipe, values["text"], values["mix"], values.get("published", ""))
        )
    for first, other in combinations(variants, 2):  # their difference would be 0, and a finding
        if replace(first, name=other.name, published=other.published) == other:
            raise SettingsError(
                f"[variants.{other.name}] is pretrained as [variants.{first.name}] is",
                fix="change a setting of one of them, or remove it.",
            )
    names = list(content["variants"])
    reference = content.get("reference", names[0])
    if reference not in names:
        raise UnknownName("variant", reference, names)
    chosen = content["tasks"] if "tasks" in content else tasks.load_selection("blurb-12")
    named = content.get("protocols", ["quick"])
    for name in named:
        seeds = max(len(protocol.load_protocol_file(name).seeds(task)) for task in chosen)
        if seeds > 1:
            raise SettingsError(
                f"An encoder is fine-tuned once, and {name} has {seeds} seeds", fix="take quick."
            )
    floors = content.get("floors", [])
    for name in floors:
        if not name.startswith(PREFIX):
            raise SettingsError(f"floors are baselines, such as {PREFIX}NAME (got {name!r}).")
    return Study(
        title=content.get("title", "Study"),
        variants=variants,
        reference=reference,
        runs=content.get("runs", 3),
        tasks=chosen,
        protocols=named,
        published=content.get("published", ""),
        floors=floors,
    )
