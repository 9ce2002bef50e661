"""The options of `blurb run` and those shared with `blurb ablate`, for Python and the command line alike."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from blurb.execution.engines import DEFAULT
from blurb.execution.options import Checkpointing, Keep, TrialOptions
from blurb.inputs.relations import DUMMIES
from blurb.messages import DataError, ErrorCollector, SettingsError, opt
from blurb.names import checkpoints_by_number
from blurb.options import Option, option, option_parameters
from blurb.protocols.settings import MOST_SEEDS
from blurb.results.across import ACROSS
from blurb.table_files import head_of, table_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from blurb.regression import Rules
    from blurb.row_files.references import RowReference
else:
    PreTrainedModel = PreTrainedTokenizerBase = Any
Model: TypeAlias = str | Path | PreTrainedModel
Tokenizer: TypeAlias = str | Path | PreTrainedTokenizerBase
MODEL_COLUMNS = ("model", "name", "tags")


@dataclass(frozen=True)
class NamedModel:
    """A model with the name of its row.

    :param name: None for the last part of the reference
    :param tags: words to find the row by; no part of any identity
    """

    model: Model
    name: str | None = None
    tags: tuple[str, ...] = ()

    def with_absolute_folder(self) -> NamedModel:
        """An existing folder as an absolute path: once deleted, `runs/mine` would look like an id of the Hub."""
        typed = self.model
        if isinstance(typed, str | Path) and os.sep in str(typed) and Path(typed).is_dir():
            return replace(self, model=os.path.abspath(typed))
        return self


def read_models(path: Path) -> list[NamedModel]:
    """The models of a CSV file with the columns `model`, and if need be `name` and `tags` (separated by blanks).

    A folder is looked up beside the file if it is not found from here.

    :raises DataError: with file and line; all that is wrong is one error
    """
    errors, (header, _) = ErrorCollector(), head_of(path)
    if "model" not in header or not set(header) <= set(MODEL_COLUMNS):
        raise DataError(
            f"needs the columns {', '.join(MODEL_COLUMNS)}, the last two if wanted (it has {header}).",
            path,
            1,
        )
    models = []
    for at, line in table_of(path, errors).rows:
        with errors:
            model, name, tags = (line.get(column, "").strip() for column in MODEL_COLUMNS)
            if not model:
                raise at.error("names no model.")
            if "," in tags:
                raise at.error(
                    f"tags are separated by blanks, and have no commas in them (got '{tags}')."
                )
            beside = path.parent / model
            reference = str(beside) if not Path(model).exists() and beside.is_dir() else model
            models.append(NamedModel(reference, name or None, tuple(dict.fromkeys(tags.split()))))
    errors.stop()
    if not models:
        raise DataError("names no model.", path)
    return models


__all__ = [
    "Checkpointing",
    "Given",
    "Keep",
    "Model",
    "RowReference",
    "RunOptions",
    "Tokenizer",
    "TrainOptions",
]
Given: TypeAlias = Model | NamedModel
SHORTHANDS = (
    "lr",
    "batch_size",
    "epochs",
    "head",
    "pooling",
    "adapter",
    "tagging",
    "relation_input",
)
"""Settings with an option of their own; others are given with `--set`, or by name in Python."""
LIMITED = ("max_train", "max_eval")
"""The settings that `--limit` gives."""


@dataclass(frozen=True, kw_only=True)
class TrainOptions(TrialOptions):
    """Options of both, in the words of `--help`; of fields without words, for Python:

    :param model: one model or several: references, loaded models (with `tokenizer`), or either with a name and tags
    """

    model: Given | Sequence[Given] = ()
    tasks: str | Sequence[str] | None = option(
        None,
        "Tasks and data",
        "Task names, types or files, comma-separated; blurb-12: all but BioASQ. By default all in the data folder.",
        complete="tasks",
    )
    data: Path | str | None = option(
        None,
        "Tasks and data",
        "Data folder in BLURB's layout (not with --suite demo). By default that of `blurb data get`.",
        page="data.md",
    )
    raw: Path | str | None = option(
        None,
        "Tasks and data",
        "Folder with the original ChemProt and DDI, for relation inputs with entity names (not with --suite demo).",
        page="data.md#relations-without-dummies",
    )
    protocol: str | Path | None = option(
        None,
        "Protocol",
        "Protocol name or TOML file.  [default: that of the suite, standard for BLURB]",
        complete="protocols",
        page="protocols.md",
    )
    settings: Mapping[str, Any] = option(
        {},
        "Protocol",
        "Override a setting of the protocol, such as warmup=0 (keys are listed below); repeatable.",
        flag="--set",
        metavar="KEY=VALUE",
    )
    lr: float | None = option(None, "Protocol", "Peak learning rate; short for --set lr=...")
    batch_size: int | None = option(
        None, "Protocol", "Inputs per step; short for --set batch_size=..."
    )
    epochs: int | None = option(None, "Protocol", "Epochs; short for --set epochs=...")
    limit: int | None = option(
        None,
        "Protocol",
        "Use at most this many examples of train, dev and test each, for a try: such a row is "
        "ranked apart. Short for --set max_train=N --set max_eval=N.",
        low=1,
    )
    name: str | None = option(
        None, "Model", "Name of the row, if there is one MODEL.  [default: last part of MODEL]"
    )
    tokenizer: Tokenizer | None = option(
        None,
        "Model",
        "Folder or Hub id of the tokenizer, if it is not that of the checkpoint.",
        metavar="REF",
        page="python.md",
    )
    base: str | None = option(
        None,
        "Model",
        "If MODEL is a PEFT adapter: the model that it was trained on, into which it is merged.",
        metavar="REF",
        complete="models",
        page="large-models.md",
    )
    revision: str | None = option(None, "Model", "Revision of the model on the Hub.")
    trust_remote_code: bool = option(False, "Model", "Allow the checkpoint to run its own code.")
    casing: str | None = option(
        None,
        "Model",
        "Overrides whether the tokenizer keeps upper case, if the checkpoint's files are wrong.",
        choices=("cased", "uncased"),
        page="encoders-that-surprise.md",
    )
    output: Path | str = option("runs", "Results", "Store: the folder of the trials.")
    precision: str = option(
        "auto",
        "Machine",
        "Precision of the encoder; auto is bf16 where the hardware supports it.",
        choices=("auto", "fp32", "bf16", "fp16"),
    )

    def __post_init__(self) -> None:
        for name in ("data", "raw", "output", "leaderboard", "out", "plot"):
            if isinstance(typed := getattr(self, name, None), str) and typed:
                object.__setattr__(self, name, Path(typed))

    @cached_property
    def named_models(self) -> list[NamedModel]:
        """The models with their names and tags, as a list also for one model; checkpoints of a run in numerical order.

        :raises DataError: for a table of models that cannot be read
        """
        models = (
            [self.model]
            if isinstance(self.model, str) or not isinstance(self.model, Sequence)
            else self.model
        )
        if all(isinstance(one, str | Path) for one in models):
            models = checkpoints_by_number(models)
        table = getattr(self, "models_file", None)
        named = [
            one if isinstance(one, NamedModel) else NamedModel(one, self.name) for one in models
        ]
        return [
            model.with_absolute_folder()
            for model in named + ([] if table is None else read_models(Path(table)))
        ]

    @property
    def shorthands(self) -> dict[str, str]:
        """The settings given by an option of their own: setting -> option."""
        given = {
            name: opt(name.replace("_", "-"))
            for name in SHORTHANDS
            if getattr(self, name, None) is not None
        }
        return given if self.limit is None else {**given, **dict.fromkeys(LIMITED, opt("limit"))}

    @property
    def overrides(self) -> dict[str, Any]:
        """All given settings; SettingsError if one is given twice."""
        shorthands = self.shorthands
        for setting in shorthands.keys() & self.settings.keys():
            raise SettingsError(
                f"{setting} is given twice, by {shorthands[setting]} and by {opt('set')}",
                fix="remove one.",
            )
        own = {name: self.limit if name in LIMITED else getattr(self, name) for name in shorthands}
        return {**self.settings, **own}


@dataclass(frozen=True, kw_only=True)
class RunOptions(TrainOptions):
    """The options of `blurb run`."""

    config: Path | str | None = option(
        None,
        "Protocol",
        "TOML file of a run: its keys are these options, [set] is a table of settings; the command line overrides it.",
        metavar="FILE",
        path="file",
        page="long-runs.md#a-run-as-a-file",
    )
    models_file: Path | str | None = option(
        None,
        "Model",
        "Table of more models: a CSV file with the columns model, name and tags, a checkpoint a line.",
        flag="--models",
        metavar="FILE",
        path="file",
        page="models.md#many-at-once",
    )
    seeds: int | None = option(
        None,
        "Trials",
        "Run seeds 1 to N instead of the protocol's; blurb plan says how many.",
        low=1,
        most=MOST_SEEDS,
        page="seeds.md",
    )
    budget: str | None = option(
        None,
        "Protocol",
        "Time limit such as 10m or 2h: run the largest protocol predicted to fit, instead of --protocol.",
        metavar="TIME",
        page="protocols.md#cost",
    )
    head: str | None = option(
        None,
        "Protocol",
        "Head, such as crf or bilstm,hidden=128 (see blurb heads); short for --set head=...",
    )
    pooling: str | None = option(
        None, "Protocol", "Pooling of sequence tasks (see blurb heads); short for --set pooling=..."
    )
    adapter: str | None = option(
        None,
        "Protocol",
        "lora: train an adapter instead of the encoder itself; short for --set adapter=lora.",
        choices=("off", "lora"),
        page="large-models.md",
    )
    tagging: str | None = option(
        None, "Protocol", "Tagging scheme of NER and PICO; short for --set tagging=NAME."
    )
    relation_input: str | None = option(
        None,
        "Protocol",
        "How relation inputs show an entity: dummify (@GENE$ in place of its name), dummy-tokens (the same, as one "
        "token), original (its name), markers ([E1] around it) or typed-markers ([GENE] around it).",
        metavar="NAME",
        page="data.md#relations-without-dummies",
    )
    dummy_tokens: bool = option(False, "Protocol", "Short for --relation-input dummy-tokens.")
    leaderboard: Path | str | None = option(
        None,
        "Results",
        "Table to write instead of leaderboard.csv in the store, with a table of the scores by seed beside it.",
        page="csv.md",
    )
    check: RowReference | None = option(
        None,
        "Results",
        "Then compare the row with this baseline, as blurb check does.",
        metavar="ROW",
        complete="rows_anywhere",
        page="ci.md",
    )
    rules: Path | str | Rules | None = option(
        None, "Results", "Rules for --check.  [default: blurb-check.toml]", page="ci.md"
    )
    across: Sequence[str] = option(
        (),
        "Results",
        "Check the rows even if they differ in this or, with unknown, lack information; repeatable.",
        choices=ACROSS,
        noun="value of across",
        page="ci.md",
    )
    engine: str = option(
        DEFAULT,
        "Machine",
        "Where to run the trials: local, ray or slurm, with options such as slurm,partition=gpu (docs/long-runs.md).",
        metavar="NAME[,KEY=VALUE...]",
        page="long-runs.md#many-machines",
    )
    print_script: bool = option(
        False,
        "Machine",
        "With --engine slurm: print the script instead of submitting it.",
        flag="--print",
        page="extensions/clusters.md#slurm",
    )
    keep_sweep: bool = option(
        False,
        "Trials",
        "Keep the list of trials (the sweep) for blurb worker, even if interrupted before any trial has finished.",
        page="long-runs.md#join-a-sweep",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dummy_tokens and self.relation_input in (None, *DUMMIES):
            object.__setattr__(self, "relation_input", "dummy-tokens")

    @property
    def shorthands(self) -> dict[str, str]:
        """The settings given by an option of their own: setting -> option."""
        return {
            **super().shorthands,
            **({"relation_input": opt("dummy-tokens")} if self.dummy_tokens else {}),
        }


@dataclass(frozen=True, kw_only=True)
class AblateOptions(TrainOptions):
    """The options of `blurb ablate`."""

    axis: str = option(
        MISSING,
        "Tasks and data",
        "Setting to vary: head (Table 12), tagging (13), relation (14: input x pooling), "
        "pooling (cells of Table 14 with entity markers); rate, warmup, word-borders (with --tasks).",
        choices=("head", "tagging", "relation", "pooling", "rate", "warmup", "word-borders"),
    )
    tasks: str | Sequence[str] | None = option(
        None,
        "Tasks and data",
        "Task names or types, comma-separated.  [default: those of the table]",
        complete="tasks",
    )
    name: str | None = option(
        None, "Model", "Model name in the tables.  [default: last part of MODEL]"
    )
    out: Path | str = option("ablations", "Results", "Folder for the tables.", path="dir")
    dry_run: bool = option(False, "Trials", "List the trials of all cells and stop.")


TRAIN, RUN = option_parameters(TrainOptions), option_parameters(RunOptions)
OUTPUT, JOBS, DEVICE, SUITE = (TRAIN[name].about for name in ("output", "jobs", "device", "suite"))
CASING, TRUST = TRAIN["casing"].about, TRAIN["trust_remote_code"].about
ACROSS_OPTION = RUN["across"].about
TRIALS = {
    name: TRAIN[name]
    for name in (
        "data",
        "raw",
        "suite",
        "seeds",
        "tokenizer",
        "device",
        "precision",
        "jobs",
        "output",
    )
}
"""Options of the trials of commands that fine-tune many checkpoints."""
ALLOW = Option(
    help="Run the sweep of this hash, which another user planned, with the code and files that it names; repeatable.",
    flag="--allow-code",
    metavar="HASH",
)
