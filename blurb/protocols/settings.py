"""The settings of one trial, and overrides from the command line. The defaults are in `protocols/defaults.toml`."""

from __future__ import annotations

import contextlib
import dataclasses
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from blurb.errors import SettingsError, UnknownName
from blurb.inputs import relations, tagging, words


@dataclass(frozen=True)
class Settings:
    """The settings of a protocol for one task, described in `protocols/defaults.toml`."""

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
    ngrams: int
    min_count: int
    window: int

    def __post_init__(self) -> None:
        for name in ("batch_size", "epochs", "max_length", "ngrams", "min_count"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} must be at least 1 (got {getattr(self, name)}).")
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
            "window",
        ):
            if not 0 <= getattr(self, name) < float("inf"):
                raise SettingsError(f"{name} must be at least 0 (got {getattr(self, name)}).")
        for name in ("beta1", "beta2", "head_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise SettingsError(f"{name} must be at least 0 and below 1 (got {getattr(self, name)}).")
        if self.encoder_dropout != OWN and not 0 <= self.encoder_dropout < 1:
            raise SettingsError(
                f"encoder_dropout must be at least 0 and below 1, or {OWN:g} for the checkpoint's own "
                f"(got {self.encoder_dropout})."
            )
        if not 0 < self.layer_decay <= 1:
            raise SettingsError(f"layer_decay must be above 0 and at most 1 (got {self.layer_decay}).")
        if not 0 < self.epsilon < float("inf"):
            raise SettingsError(f"epsilon must be above 0 (got {self.epsilon}).")
        for name, choices in (
            ("select", ("best", "last")),
            ("document_unit", ("sentence", "abstract")),
            ("head_init", ("random", "linear")),
        ):
            if getattr(self, name) not in choices:
                raise SettingsError(f"{name} must be one of {', '.join(choices)} (got '{getattr(self, name)}').")
        if self.word_pooling not in words.POOLINGS:
            raise UnknownName("word pooling", self.word_pooling, words.POOLINGS)
        if self.relation_input not in relations.STRATEGIES:
            raise UnknownName("relation input", self.relation_input, relations.STRATEGIES)
        if self.tagging not in tagging.SCHEMES:  # `typed` has replaced other names of a scheme
            raise UnknownName("tagging scheme", self.tagging, tagging.SCHEMES)


LATER: tuple[str, ...] = (
    "head_lr", "head_init", "max_updates", "dev_sample", "encoder_dropout", "eval_seed", "ngrams", "min_count",
    "window",
)  # fmt: skip
"""Settings added after the first stores. They are left out of trials while they have their default, so that old trials
stay done."""
PROBE_FIELDS = (
    "max_length", "max_train", "max_eval", "eval_seed", "head", "word_pooling", "tagging", "relation_input",
    "document_unit",
)  # fmt: skip
"""The settings that apply to a probe (`blurb.models.probe`)."""
BIGRAM_FIELDS = ("ngrams", "min_count", "window")
"""The settings that apply to `baseline:bigrams` alone, but for `min_count`, which concerns `FROM_NOTHING`, too."""
FROM_NOTHING = ("baseline:bilstm", "baseline:transformer")
"""The baselines that start from random weights; their training settings are those of `[baselines]`."""
FOLLOWED = (
    "max_length", "max_train", "max_eval", "eval_seed", "document_unit", "tagging", "relation_input",
)  # fmt: skip
"""The settings of a protocol that they follow: which examples, and how they are read."""
Where = Callable[[str], str]
"""A function from a setting to the origin of its value (an option or a protocol); "" if unknown."""
SET = "--set"
"""The option for settings without their own option."""
OWN = -1.0
"""Value of `encoder_dropout` that keeps the checkpoint's own dropout."""
MOST = 1e300
"""Maximum of any setting; rules out infinity, NaN and integers too large for a float."""
ELSEWHERE = {
    "learning_rate": "lr", "num_train_epochs": "epochs", "num_epochs": "epochs", "max_seq_length": "max_length",
    "per_device_train_batch_size": "batch_size", "train_batch_size": "batch_size", "warmup_ratio": "warmup",
    "max_grad_norm": "clip_norm", "max_steps": "max_updates", "dropout": "head_dropout",
}  # fmt: skip
"""What transformers and its scripts call the settings, for suggestions."""
FIELDS = {field.name: field.type for field in dataclasses.fields(Settings)}


def limits(settings: Settings, split: str, seed: int) -> tuple[int, int]:
    """The maximum number of examples of a split (0: all), and the seed that samples them."""
    if split == "train":
        return settings.max_train, seed
    return settings.max_eval, settings.eval_seed or seed


def unsaid(name: str) -> str:
    """A `Where` for unknown origins."""
    return ""


def shown(settings: Settings, name: str, where: Where) -> str:
    """The value of a setting for messages, such as `'crf' (--head)`."""
    place = where(name)
    return f"'{getattr(settings, name)}'" + (f" ({place})" if place else "")


def typed(name: str, value: Any, where: str) -> Any:
    """Converts a value to the type of its setting.

    :param where: origin of the value, for the message
    :raises UnknownName: if there is no such setting
    :raises SettingsError: if the value has the wrong type
    """
    if name not in FIELDS:
        raise UnknownName(f"setting (in {where})", name, FIELDS, ELSEWHERE)
    kind = FIELDS[name]
    if kind == "float" and isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST:
        return float(value)
    if kind == "int" and isinstance(value, int) and not isinstance(value, bool):
        return value
    if kind == "str" and isinstance(value, str):
        return tagging.scheme_name(value) if name == "tagging" else value
    expected = {"int": "a whole number", "float": "a number", "str": "a word"}[str(kind)]
    raise SettingsError(f"{name} must be {expected} (got {repr(value)[:60]}).", where=where)


def parse_overrides(given: Mapping[str, Any], options: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Settings of their types; text, as after `--set`, is TOML, bare words are strings.

    :param options: setting -> option that it was given with, if that is not `--set`
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, str):
            with contextlib.suppress(ValueError, RecursionError):  # no TOML; or thousands of digits, of brackets
                value = tomllib.loads(f"value = {value}")["value"]
        found[name] = typed(name, value, (options or {}).get(name, SET))
    return found
