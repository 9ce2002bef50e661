"""The declaration of a kind of learner, made once, in a file of `kinds/` or a plug-in."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from blurb.registry import load_object

if TYPE_CHECKING:
    from blurb.formulations._base import Formulation

FINE_TUNING = "fine-tuning"
"""The learner that the published numbers measure."""


@dataclass(frozen=True)
class RowKind:
    """How the rows of some kinds of learners are called, and with which rows they meet.

    Rows are only *ranked* and *checked* among rows of the same `name`.

    :param name: in the column `learner` of the tables
    :param noun: for messages: "a probe"
    :param title: of their groups in a ranking; "" where protocol and overrides say enough
    :param place: of these groups among the others
    :param measures: what a score says something about. A difference between scores that measure two things is shown
        and gets no verdict; "" compares with everything, as a lower bound of all scores does
    :param paired: whether a row is one deterministic fit, whose only variance is that of the test examples: two such
        rows are compared by a paired test
    :param mark: stands before their ranks; rows with a mark have a board of their own on the page, with `heading` and
        `about`, a paragraph on what their scores say
    :param lower_bound: whether they show what a score is worth, rather than compete
    :param beside_papers: whether they may be ranked with published rows
    :param joins: whether they may be so where somebody asks for it
    :param claimed: whether what made them is only claimed, so that nothing is said of weights, precision and seeds
    """

    name: str
    noun: str
    title: str
    place: int
    measures: str
    paired: bool = False
    mark: str = ""
    heading: str = ""
    about: str = ""
    lower_bound: bool = False
    beside_papers: bool = False
    joins: bool = False
    claimed: bool = False

    def measures_like(self, other: RowKind) -> bool:
        """Whether the difference to a row of the other kind can get a verdict."""
        return self.measures == other.measures or "" in (self.measures, other.measures)

    @property
    def runs(self) -> str:
        """The noun that exports count: seeds, or runs where the seeds are unknown."""
        return "runs" if self.claimed else "seeds"

    @property
    def is_fine_tuning(self) -> bool:
        """Whether the rows compare with published numbers, which are of fine-tuned encoders."""
        return self.measures in ("", FINE_TUNING)


@dataclass(frozen=True)
class LearnerKind:
    """A kind of learner. Its code is named as `module:object`, and imported when it is used.

    A kind is asked for by the protocol (`learner = "probe"`) if it reads a checkpoint, else in the place of a model
    (`baseline:bilstm`), with the constructor's parameters with defaults as options (`baseline:bilstm,hidden=256`).

    :param name: name of its module or entry point
    :param summary: what it does, for `blurb models`
    :param rows: how its rows are called
    :param learner: the subclass of `blurb.learners.base.Learner`. It is called with the model's source, if the kind
        reads a checkpoint, then formulation, device (`auto` or a device of torch) and precision (fp32, bf16 or fp16)
    :param backward: whether every epoch is a forward and a backward pass over train; else each split is read once
    :param seconds: about what a trial takes where none is finished; 0 if a step tells it, or nobody knows
    :param settings: the settings that can change its answers, which are part of a trial's identity
    :param unused: those of them that have no effect on a task
    :param check: function of (source, formulation, where) that raises a SettingsError if they do not work together
    :param save: function of (learner, folder, about) that writes a trained model; "" if models cannot be kept
    :param restore: function of (folder, device, remote_code) that reads it again, and returns learner and `about`
    :param recipe: version number, raised by hand when a change of its code changes results: its trials run again then
    :param reads_checkpoint: whether it needs a pretrained encoder
    :param refuses: whether settings of no effect are refused; else they are ignored
    :param deterministic: whether the seed changes nothing but sampled subsets: one seed is run
    :param resumes: whether it saves itself within a trial, and can go on from there
    :param searches: whether a protocol's search and learning rates by size concern it
    :param own_training: whether its training settings are those of the protocol's `[baselines.NAME]`
    :param on_device: whether it runs on the device that is asked for, not always on the CPU
    :param precisions: whether it can compute in half precision
    :param runs: whether blurb makes its predictions; else it only scores them, and `learner` is empty
    """

    name: str
    summary: str
    rows: RowKind
    learner: str
    settings: Collection[str]
    backward: bool = False
    seconds: float = 0.0
    unused: Callable[[Formulation], Collection[str]] = lambda formulation: ()
    check: str = ""
    save: str = ""
    restore: str = ""
    recipe: int = 1
    reads_checkpoint: bool = False
    refuses: bool = False
    deterministic: bool = False
    resumes: bool = False
    searches: bool = False
    own_training: bool = False
    on_device: bool = False
    precisions: bool = False
    runs: bool = True

    def load(self, part: str) -> Any:
        """The object that a field names; SettingsError if it cannot be imported.

        :param part: "learner", "check", "save" or "restore"
        """
        return load_object(getattr(self, part), f"{part} of the learner {self.name}")
