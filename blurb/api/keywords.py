"""`blurb.run`: every option of the command `blurb run` (`blurb.planning.options`) as a keyword of the same name."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

from blurb.api.running import execute
from blurb.messages.errors import UnknownName
from blurb.planning.named_models import NamedModel
from blurb.planning.options import Given, Keep, RunOptions, Tokenizer
from blurb.planning.run_file import with_file
from blurb.protocols.settings import ELSEWHERE, FIELDS
from blurb.regression.rules import Rules
from blurb.results.references import Row

if TYPE_CHECKING:
    from blurb.api.results import Results

__all__ = ["NamedModel", "given_as_options", "run"]
P = ParamSpec("P")


def given_as_options(call: Callable[P, Results]) -> Callable[P, Results]:
    """What is given to a call, by the names of its signature, as `RunOptions`: these have the defaults, too.

    A test holds names, order, types and defaults of the signature to the list; people, editors and mypy read it.
    """
    signature = inspect.signature(call)

    @functools.wraps(call)
    def run_with(*arguments: P.args, **keywords: P.kwargs) -> Results:
        given = signature.bind(*arguments, **keywords).arguments
        _refuse_unknown(given.get("settings", {}))
        return execute(RunOptions(**with_file(given)))

    return run_with


@given_as_options
def run(
    model: Given | Sequence[Given] = (),
    tasks: str | Sequence[str] | None = None,
    *,
    suite: str = "blurb",
    data: Path | str | None = None,
    raw: Path | str | None = None,
    protocol: str | Path | None = None,
    lr: float | None = None,
    batch_size: int | None = None,
    epochs: int | None = None,
    limit: int | None = None,
    config: Path | str | None = None,
    budget: str | None = None,
    head: str | None = None,
    pooling: str | None = None,
    tagging: str | None = None,
    relation_input: str | None = None,
    dummy_tokens: bool = False,
    name: str | None = None,
    tokenizer: Tokenizer | None = None,
    revision: str | None = None,
    trust_remote_code: bool = False,
    casing: str | None = None,
    models_file: Path | str | None = None,
    seeds: int | None = None,
    track: str | None = None,
    keep_model: Keep = "none",
    resume_trials: bool = False,
    dry_run: bool = False,
    keep_sweep: bool = False,
    device: str = "auto",
    jobs: int = 1,
    precision: str = "auto",
    engine: str = "local",
    print_script: bool = False,
    output: Path | str = "runs",
    leaderboard: Path | str | None = None,
    check: Row | None = None,
    rules: Path | str | Rules | None = None,
    across: Sequence[str] = (),
    progress: bool = True,
    **settings: Any,
) -> Results:
    """Fine-tunes a model on BLURB, or several, and returns their rows; finished trials are not repeated.

    Trials that fail do not raise: `Results.failed` has them, with the reason. Calls from several threads of one process
    run one after another; `jobs` runs trials in parallel.

    :param model: a checkpoint folder, a Hub id, a preset, `scratch:tiny`, `baseline:majority`; a loaded
        `PreTrainedModel` (with `tokenizer`), of which a copy is saved to the cache; a `blurb.NamedModel`, which has a
        name and tags beside; or a list of these
    :param models_file: a table of more of them, as of `blurb run --models`
    :param tasks: names, types or task files, as a list or separated by commas; None: those that the data folder has
    :param data: data folder in BLURB's layout
    :param suite: "demo" for synthetic data, generated as needed
    :param raw: folder of the original releases, which some relation inputs need
    :param protocol: name or TOML file; None for `standard`, with `suite="demo"` for `demo`
    :param config: a TOML file of a run, whose keys are these parameters (docs/long-runs.md); what is given wins over it
    :param budget: such as "10m": the largest protocol predicted to fit, instead of `protocol`
    :param seeds: seeds 1 to N instead of the protocol's
    :param limit: examples of train, dev and test each, for a try (`max_train` and `max_eval`)
    :param output: store of the trials
    :param leaderboard: table to write, with `results.csv` in the same folder; None for no tables
    :param name: of the row, if there is one model
    :param tokenizer: of the model, if its checkpoint has none
    :param casing: "cased" or "uncased" if the tokenizer's files are wrong
    :param precision: "fp32", "bf16" or "fp16"; "auto" is bf16 where the hardware supports it
    :param jobs: number of trials in parallel
    :param track: "tensorboard", "wandb", "mlflow" or "trackio"
    :param check: a baseline, to which each row is compared as by `blurb.check`: `Results.decisions`
    :param rules: of that check
    :param across: what may differ all the same between a row and that baseline, as of `blurb.check`
    :param keep_model: "best" keeps the trained models for `blurb.load_model`; "replace" also replaces a finished trial
        whose model cannot be made again as it was
    :param resume_trials: save a checkpoint of each trial after every epoch, from which the same call goes on
    :param keep_sweep: leave the trials to `blurb worker` also if the call is ended before any of them is finished
    :param dry_run: print the trials and their cost, and run nothing
    :param progress: print estimates and progress to stderr
    :param settings: of the protocol, over its own, such as `warmup=0` (the help of `blurb run` lists them)
    :raises BlurbError: before anything is trained, if options, data or models are invalid
    """
    raise NotImplementedError("what is given becomes `RunOptions`, by name")


def _refuse_unknown(settings: Mapping[str, Any]) -> None:
    """Raises an UnknownName for a keyword that is neither an option nor a setting, with the nearest of both."""
    options = [field.name for field in dataclasses.fields(RunOptions) if field.name != "settings"]
    for name in settings:
        if name not in FIELDS:
            raise UnknownName("option or setting", name, dict.fromkeys([*options, *FIELDS]), ELSEWHERE)
