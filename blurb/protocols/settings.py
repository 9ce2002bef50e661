"""The settings of one trial, and overrides of them from text. No default stands here: see `protocols/defaults.toml`."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from blurb.errors import SettingsError, UnknownName
from blurb.inputs import relations, tagging, words


@dataclass(frozen=True)
class Settings:
    """Everything that a protocol decides for one task; `protocols/defaults.toml` says what each means."""

    lr: float
    batch_size: int
    epochs: int
    warmup: float
    weight_decay: float
    beta1: float
    beta2: float
    epsilon: float
    clip_norm: float
    head_dropout: float
    layer_decay: float
    freeze_layers: int
    reinit_layers: int
    select: str
    max_length: int
    max_train: int
    max_eval: int
    head: str
    pooling: str
    word_pooling: str
    tagging: str
    relation_input: str
    document_unit: str
    head_lr: float
    head_init: str
    max_updates: int
    dev_sample: int
    encoder_dropout: float
    eval_seed: int

    def __post_init__(self) -> None:
        for name in ("batch_size", "epochs", "max_length"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} must be at least 1, not {getattr(self, name)}.")
        for name in (
            "lr",
            "warmup",
            "weight_decay",
            "clip_norm",
            "max_train",
            "max_eval",
            "freeze_layers",
            "reinit_layers",
            "head_lr",
            "max_updates",
            "dev_sample",
            "eval_seed",
        ):
            if not 0 <= getattr(self, name) < float("inf"):
                raise SettingsError(f"{name} must be 0 or more, not {getattr(self, name)}.")
        for name in ("beta1", "beta2", "head_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise SettingsError(f"{name} must be from 0 to below 1, not {getattr(self, name)}.")
        if self.encoder_dropout != OWN and not 0 <= self.encoder_dropout < 1:
            raise SettingsError(
                f"encoder_dropout must be from 0 to below 1, or {OWN:g} for the checkpoint's own, "
                f"not {self.encoder_dropout}."
            )
        if not 0 < self.layer_decay <= 1:
            raise SettingsError(f"layer_decay must be above 0 and at most 1, not {self.layer_decay}.")
        if not 0 < self.epsilon < float("inf"):
            raise SettingsError(f"epsilon must be above 0, not {self.epsilon}.")
        for name, choices in (
            ("select", ("best", "last")),
            ("document_unit", ("sentence", "abstract")),
            ("head_init", ("random", "linear")),
        ):
            if getattr(self, name) not in choices:
                raise SettingsError(f"{name} is one of {', '.join(choices)}, not '{getattr(self, name)}'.")
        if self.word_pooling not in words.POOLINGS:
            raise UnknownName("word pooling", self.word_pooling, words.POOLINGS)
        if self.relation_input not in relations.STRATEGIES:
            raise UnknownName("relation input", self.relation_input, relations.STRATEGIES)
        if self.tagging not in tagging.SCHEMES:  # `typed` has replaced other names of a scheme
            raise UnknownName("tagging scheme", self.tagging, tagging.SCHEMES)


LATER: tuple[str, ...] = ("head_lr", "head_init", "max_updates", "dev_sample", "encoder_dropout", "eval_seed")
"""Settings that came after the first stores: no part of a trial while they have their default, so that what was done
stays done."""
PROBE_FIELDS = (
    "max_length", "max_train", "max_eval", "eval_seed", "head", "word_pooling", "tagging", "relation_input",
    "document_unit",
)  # fmt: skip
"""The settings that concern a probe (`blurb.models.probe`)."""
Where = Callable[[str], str]
"""Setting -> where its value comes from: an option, a protocol; "" where that is not known."""
SET = "--set"
"""The option of a setting that has none of its own."""
OWN = -1.0
"""An `encoder_dropout` that leaves the checkpoint's own."""
MOST = 1e300
"""No setting is larger; a whole number of hundreds of digits is no float, and neither is infinity or NaN."""
FIELDS = {field.name: field.type for field in dataclasses.fields(Settings)}


def limits(settings: Settings, split: str, seed: int) -> tuple[int, int]:
    """The most units of a split (0: all), and what draws them in a trial of that seed and those settings."""
    if split == "train":
        return settings.max_train, seed
    return settings.max_eval, settings.eval_seed or seed


def unsaid(name: str) -> str:
    """A `Where` that knows nothing."""
    return ""


def shown(settings: Settings, name: str, where: Where) -> str:
    """The value of a setting as a message shows it, `'crf' (--head)`."""
    place = where(name)
    return f"'{getattr(settings, name)}'" + (f" ({place})" if place else "")


def typed(name: str, value: Any, where: str) -> Any:
    """A value as the type of its setting; UnknownName or SettingsError, naming `where` it stands, otherwise."""
    if name not in FIELDS:
        raise UnknownName(f"setting (in {where})", name, FIELDS)
    kind = FIELDS[name]
    if kind == "float" and isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST:
        return float(value)
    if kind == "int" and isinstance(value, int) and not isinstance(value, bool):
        return value
    if kind == "str" and isinstance(value, str):
        return tagging.scheme_name(value) if name == "tagging" else value
    expected = {"int": "a whole number", "float": "a number", "str": "a word"}[str(kind)]
    raise SettingsError(f"{where}: {name} must be {expected}, not {repr(value)[:60]}.")


def parse_overrides(pairs: Mapping[str, str], options: Mapping[str, str] | None = None) -> dict[str, Any]:
    """`--set key=value` as typed settings; the value is read as TOML, a bare word as text.

    :param options: setting -> the option that it was given with, where that is not `--set`
    """
    found: dict[str, Any] = {}
    for name, text in pairs.items():
        try:
            value: Any = tomllib.loads(f"value = {text}")["value"]
        except (ValueError, RecursionError):  # no TOML; or thousands of digits, thousands of brackets
            value = text
        found[name] = typed(name, value, (options or {}).get(name, SET))
    return found
