"""The options of `blurb run` and `blurb ablate`, by the same names in Python and on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from blurb.errors import SettingsError
from blurb.inputs.relations import DUMMIES
from blurb.names import checkpoints_by_number
from blurb.protocols.protocol import MOST_SEEDS
from blurb.runs.engines import DEFAULT

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from blurb.api.results import Results
    from blurb.regression import Rules
    from blurb.results.row_scores import RowScores

    Model: TypeAlias = str | Path | PreTrainedModel
    Row: TypeAlias = str | Path | RowScores | Results
    Tokenizer: TypeAlias = str | Path | PreTrainedTokenizerBase

Keep: TypeAlias = Literal["none", "best", "replace"]
KEEP: tuple[Keep, ...] = ("none", "best", "replace")
SHORTHANDS = ("lr", "batch_size", "epochs", "head", "pooling", "tagging", "relation_input")
"""Options that are settings; the others are given with `--set`, or by name in Python."""
MOST_JOBS = 4_096
"""Trials at a time on one machine: a larger number is a typo."""
LIMITED = ("max_train", "max_eval")
"""The settings that `--limit` gives."""


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """Options of both; `blurb run --help` explains them.

    :param model: one model or several: references, or loaded models (with `tokenizer`)
    :param tasks: names, types or task files, as a list or separated by commas
    :param settings: setting -> value, over the protocol's
    :param limit: for `max_train` and `max_eval`
    :param progress: whether estimates, progress and failures are printed to stderr
    """

    model: Model | Sequence[Model]
    tasks: str | Sequence[str] | None = "all"
    data: Path | str | None = None
    suite: str = "blurb"
    raw: Path | str | None = None
    protocol: str | Path | None = None
    seeds: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    lr: float | None = None
    batch_size: int | None = None
    epochs: int | None = None
    limit: int | None = None
    output: Path | str = "runs"
    name: str | None = None
    tokenizer: Tokenizer | None = None
    revision: str | None = None
    trust_remote_code: bool = False
    casing: str | None = None
    device: str = "auto"
    precision: str = "auto"
    jobs: int = 1
    dry_run: bool = False
    progress: bool = True

    def __post_init__(self) -> None:
        for name in ("data", "raw", "output", "leaderboard", "out", "plot"):
            if isinstance(getattr(self, name, None), str):
                object.__setattr__(self, name, Path(getattr(self, name)))
        if not 1 <= self.jobs <= MOST_JOBS:
            raise SettingsError(f"jobs must be a whole number from 1 to {MOST_JOBS:,} (got {self.jobs}).")
        if self.seeds is not None and not 1 <= self.seeds <= MOST_SEEDS:
            raise SettingsError(f"seeds must be a whole number from 1 to {MOST_SEEDS:,} (got {self.seeds}).")

    @property
    def models(self) -> list[Model]:
        """The models, also if there is one; checkpoints of one run by their numbers."""
        if isinstance(self.model, str) or not isinstance(self.model, Sequence):
            return [self.model]
        named = all(isinstance(one, str | Path) for one in self.model)
        return checkpoints_by_number(self.model) if named else list(self.model)

    @property
    def shorthands(self) -> dict[str, str]:
        """The settings that are given by an option of their own: setting -> option."""
        given = {name: f"--{name.replace('_', '-')}" for name in SHORTHANDS if getattr(self, name, None) is not None}
        return given if self.limit is None else {**given, **dict.fromkeys(LIMITED, "--limit")}

    @property
    def overrides(self) -> dict[str, Any]:
        """All settings that are given; SettingsError if one is given twice."""
        shorthands = self.shorthands
        for setting in shorthands.keys() & self.settings.keys():
            raise SettingsError(f"{setting} is given twice, by {shorthands[setting]} and by --set", fix="remove one.")
        own = {name: self.limit if option == "--limit" else getattr(self, name) for name, option in shorthands.items()}
        return {**self.settings, **own}


@dataclass(frozen=True, kw_only=True)
class RunOptions(TrainOptions):
    """The options of `blurb run`.

    :param leaderboard: None to write no tables
    :param check: the baseline of a regression check
    :param across: what may differ between a row and that baseline
    :param keep_model: "best" to keep the trained models (docs/models.md)
    :param engine: `local`, or another with its options: `ray,gpus=0.5`, `slurm,partition=gpu` (docs/cluster.md)
    :param print_script: whether Slurm's script is printed and not submitted
    :param resume_trials: unfinished trials go on from checkpoints (docs/long-runs.md)
    :param keep_sweep: workers may join also after the command was ended before any trial finished (docs/cluster.md)
    """

    budget: str | None = None
    head: str | None = None
    pooling: str | None = None
    tagging: str | None = None
    relation_input: str | None = None
    dummy_tokens: bool = False
    leaderboard: Path | str | None = "leaderboard.csv"
    engine: str = DEFAULT
    print_script: bool = False
    track: str | None = None
    check: Row | None = None
    rules: Rules | Path | str | None = None
    across: Sequence[str] = ()
    keep_model: Keep = "none"
    resume_trials: bool = False
    keep_sweep: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dummy_tokens and self.relation_input in (None, *DUMMIES):
            object.__setattr__(self, "relation_input", "dummy-tokens")

    @property
    def contradictions(self) -> list[SettingsError]:
        """What cannot be, whatever there is on the machine."""
        found = []
        if self.keep_model not in KEEP:
            found.append(f"keep_model must be one of {', '.join(KEEP)} (got '{self.keep_model}').")
        if self.dummy_tokens and self.relation_input not in (None, *DUMMIES):
            found.append(f"--dummy-tokens cannot be combined with --relation-input {self.relation_input}; remove one.")
        return [SettingsError(text) for text in found]

    @property
    def shorthands(self) -> dict[str, str]:
        """The settings that are given by an option of their own: setting -> option."""
        return {**super().shorthands, **({"relation_input": "--dummy-tokens"} if self.dummy_tokens else {})}


@dataclass(frozen=True, kw_only=True)
class AblateOptions(TrainOptions):
    """The options of `blurb ablate`.

    :param tasks: None for those of the paper's table
    """

    axis: str
    tasks: str | Sequence[str] | None = None
    out: Path | str = "ablations"
    plot: Path | str | None = None
