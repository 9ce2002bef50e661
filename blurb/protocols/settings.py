"""The settings of one trial, each with its default, bounds, group and meaning, and overrides from the command line."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields as dataclass_fields
from functools import partial
from typing import Any

from blurb import fields
from blurb.grouping import by_key
from blurb.messages import UnknownName, opt, place_of_setting
from blurb.registry import load_object

MOST_SEEDS = 10_000
"""Of a task: a larger number is a typo."""
CHECKPOINTS_OWN = -1.0
"""Value of `encoder_dropout` that keeps the checkpoint's own dropout."""


@dataclass(frozen=True)
class Setting(fields.Field):
    """Declare a setting: default, bounds and help.

    :param later: whether it came after the first stores: it is left out of trials while it has its default, so that
        old trials stay done
    """

    later: bool = False


def setting(default: Any, group: str, help: str, **facts: Any) -> Any:
    """A field of `Settings`.

    :param default: `dataclasses.MISSING` if each task has its own
    :param group: subject; a kind of learner names the groups that concern it (`blurb.learners.kind`)
    :param facts: of `Field`
    """
    return fields.declare_field(default, Setting(group=group, help=help, **facts))


def _names_when_asked(target: str) -> Callable[[], Any]:
    """Finds names whose module takes time to import, when they are asked for."""
    return partial(load_object, target, "setting")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a trial: the protocol's, over these defaults. To add one, add a field here."""

    lr: float = setting(5e-5, "training", "peak learning rate", low=0, most=1)
    batch_size: int = setting(
        32,
        "training",
        "inputs per optimizer step; if memory runs out, only the micro-batches get smaller",
        low=1,
        most=1_000_000,
    )
    epochs: int = setting(
        10, "training", "passes over the training examples", low=1, most=1_000_000
    )
    warmup: float = setting(
        0.1,
        "training",
        "steps until the peak: below 1 a fraction of all steps, else their number",
        low=0,
    )
    weight_decay: float = setting(0.0, "training", "weight decay of AdamW", low=0)
    beta1: float = setting(
        0.9, "training", "AdamW's rate of the mean of the gradients", low=0, below=1
    )
    beta2: float = setting(
        0.999, "training", "AdamW's rate of the mean of their squares", low=0, below=1
    )
    epsilon: float = setting(
        1e-8, "training", "AdamW's constant against divisions by zero", above=0
    )
    clip_norm: float = setting(
        1.0, "training", "maximum global norm of the gradients; 0 means no clipping", low=0
    )
    head_dropout: float = setting(0.1, "model", "dropout before the head", low=0, below=1)
    layer_decay: float = setting(
        1.0,
        "model",
        "factor of the learning rate from each layer to the one below it; 1 means none",
        above=0,
        most=1,
    )
    freeze_layers: int = setting(
        0, "model", "number of lowest layers to freeze, together with the embeddings", low=0
    )
    reinit_layers: int = setting(0, "model", "number of highest layers to reinitialise", low=0)
    select: str = setting(
        "best",
        "training",
        "best: the epoch with the highest dev metric (the first if tied); last: the last epoch",
        choices=("best", "last"),
    )
    max_length: int = setting(
        MISSING,
        "inputs",
        "maximum number of sub-tokens of an input; each task has its own default",
        low=1,
    )
    max_train: int = setting(
        0,
        "examples",
        "maximum number of training examples, sampled with the trial's seed; 0 means all",
        low=0,
    )
    max_eval: int = setting(
        0, "examples", "maximum number of dev and of test examples; 0 means all", low=0
    )
    head: str = setting("linear", "model", "how features become predictions (blurb heads)")
    pooling: str = setting("cls", "model", "sequence tasks: how sub-tokens become one vector")
    word_pooling: str = setting(
        "first",
        "model",
        "NER and PICO: the sub-tokens that represent a word: first, mean or last",
        noun="word pooling",
        choices=_names_when_asked("blurb.inputs.words:POOLINGS"),
    )
    tagging: str = setting(
        "bio",
        "inputs",
        "NER and PICO: io, bio or bioul (also called bilou, iobes); gold tags are not changed",
        noun="tagging scheme",
        choices=_names_when_asked("blurb.inputs.tagging:NAMES"),
        parse=lambda name: _names_when_asked("blurb.inputs.tagging:scheme_name")()(name),
    )
    relation_input: str = setting(
        "dummify",
        "inputs",
        "relation tasks: dummify, dummy-tokens, original, markers or typed-markers",
        noun="relation input",
        choices=_names_when_asked("blurb.inputs.relations:STRATEGIES"),
    )
    document_unit: str = setting(
        "sentence",
        "inputs",
        "HoC: sentence or abstract; the score is by abstract in both cases",
        choices=("sentence", "abstract"),
    )
    head_lr: float = setting(
        0.0,
        "training",
        "peak learning rate of head and pooling; 0 means lr",
        low=0,
        most=1,
        later=True,
    )
    head_init: str = setting(
        "random",
        "model",
        "linear: initialise the head `linear` with a fit on the features of the pretrained encoder",
        choices=("random", "linear"),
        later=True,
    )
    max_updates: int = setting(
        0,
        "training",
        "maximum number of optimizer steps, in addition to `epochs`; 0 means no limit",
        low=0,
        later=True,
    )
    dev_sample: int = setting(
        0,
        "training",
        "number of dev examples to choose the epoch on, sampled with the seed; 0 means all. Final scores use all",
        low=0,
        later=True,
    )
    encoder_dropout: float = setting(
        CHECKPOINTS_OWN,
        "model",
        "dropout inside the encoder; -1 keeps the checkpoint's own",
        low=0,
        below=1,
        but=(CHECKPOINTS_OWN, "the checkpoint's own"),
        later=True,
    )
    eval_seed: int = setting(
        0,
        "examples",
        "seed to sample `max_eval` examples; 0 means the trial's seed",
        low=0,
        later=True,
    )
    ngrams: int = setting(
        2,
        "n-grams",
        "baseline:bigrams: the longest sequences of words, which are features",
        low=1,
        later=True,
    )
    min_count: int = setting(
        2,
        "n-grams",
        "baseline:bigrams: training examples that a feature must occur in; bilstm, transformer: a word",
        low=1,
        later=True,
    )
    window: int = setting(
        2,
        "n-grams",
        "baseline:bigrams, NER and PICO: words before and after a word that are features",
        low=0,
        later=True,
    )
    word_borders: str = setting(
        "blanks",
        "inputs",
        "NER and PICO: blanks between words (blanks), before the first as well (prefix), or none, each word by itself",
        noun="word border",
        choices=_names_when_asked("blurb.inputs.words:BORDERS"),
        later=True,
    )
    attention: str = setting(
        "as-is",
        "large models",
        "bidirectional: every sub-token of a decoder attends to the whole text",
        choices=("as-is", "bidirectional"),
        later=True,
    )
    adapter: str = setting(
        "off",
        "large models",
        "lora: matrices of low rank beside the encoder's linear layers learn, the encoder does not",
        choices=("off", "lora"),
        later=True,
    )
    lora_rank: int = setting(16, "large models", "rank of these matrices", low=1, later=True)
    lora_alpha: float = setting(
        32.0,
        "large models",
        "their product is multiplied by lora_alpha / lora_rank",
        above=0,
        later=True,
    )
    lora_dropout: float = setting(
        0.05, "large models", "dropout before these matrices", low=0, below=1, later=True
    )
    lora_targets: str = setting(
        "all-linear",
        "large models",
        "the layers that get them: all linear ones but the pooler's, or names such as q_proj,v_proj",
        later=True,
    )

    def __post_init__(self) -> None:
        fields.check_fields(self)


FIELDS: Mapping[str, Setting] = fields.of(Settings)
DEFAULTS: Mapping[str, Any] = {
    field.name: field.default
    for field in dataclass_fields(Settings)
    if field.default is not MISSING
}
Where = Callable[[str], str]
"""A function from a setting to the origin of its value (an option or a protocol); "" if unknown."""
ELSEWHERE = {
    "learning_rate": "lr",
    "num_train_epochs": "epochs",
    "num_epochs": "epochs",
    "max_seq_length": "max_length",
    "per_device_train_batch_size": "batch_size",
    "train_batch_size": "batch_size",
    "warmup_ratio": "warmup",
    "max_grad_norm": "clip_norm",
    "max_steps": "max_updates",
    "dropout": "head_dropout",
}
"""Names of the settings in transformers and its scripts, for suggestions."""
TABLE = fields.Field(dict, keys=FIELDS, noun="setting", aliases=ELSEWHERE)
"""A table of settings."""


def settings_by_subject() -> dict[str, list[str]]:
    """The settings by subject, for help texts."""
    return by_key((facts.group, name) for name, facts in FIELDS.items())


def in_groups(*names: str) -> tuple[str, ...]:
    """The settings of some groups."""
    return tuple(name for name, facts in FIELDS.items() if facts.group in names)


def example_limits(settings: Settings, split: str, seed: int) -> tuple[int, int]:
    """The maximum number of examples of a split (0: all), and the seed that samples them."""
    if split == "train":
        return settings.max_train, seed
    return settings.max_eval, settings.eval_seed or seed


def unknown_origin(name: str) -> str:
    """A `Where` for unknown origins."""
    return ""


def show_setting(settings: Settings, name: str, where: Where) -> str:
    """The value of a setting for messages, such as `'crf' (--head)`."""
    place = where(name)
    return f"'{getattr(settings, name)}'" + (f" ({place})" if place else "")


def typed_value(name: str, value: Any, where: str) -> Any:
    """Converts a value to the type of its setting.

    :param where: origin of the value, for the message
    :raises UnknownName: if there is no such setting
    :raises SettingsError: if it may not have the value
    """
    if name not in FIELDS:
        raise UnknownName("setting", name, FIELDS, ELSEWHERE, where=where)
    return FIELDS[name].value(name, value, where)


def parse_overrides(
    given: Mapping[str, Any], options: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Settings of their types; text, as after `--set`, is TOML, bare words are strings.

    :param options: setting -> option that it was given with, if that is not `--set`
    """
    values: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, str):
            # No TOML, or thousands of digits or brackets.
            with contextlib.suppress(ValueError, RecursionError):
                value = tomllib.loads(f"value = {value}")["value"]
        values[name] = typed_value(
            name, value, place_of_setting((options or {}).get(name, opt("set")))
        )
    return values
