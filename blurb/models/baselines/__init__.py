"""Models to compare encoders with: constant answers, and models that are trained on the task alone.

Each is imported when it is asked for, as scikit-learn takes a second to load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from blurb.errors import UnknownName
from blurb.heads._spec import canonical, parse
from blurb.protocols.settings import FROM_NOTHING
from blurb.registry import load_object

if TYPE_CHECKING:
    from blurb.formulations._base import Formulation
    from blurb.models._base import Learner


@dataclass(frozen=True)
class Baseline:
    """A baseline of `blurb run baseline:NAME`.

    :param target: its learner, `module:class`
    :param summary: what it does, for `blurb models`
    """

    target: str
    summary: str


KNOWN = {
    "majority": Baseline("blurb.models.baselines.constants:Majority", "the most frequent answer of train"),
    "constant": Baseline("blurb.models.baselines.constants:Constant", "the constant answer that scores best on train"),
    "bigrams": Baseline("blurb.models.baselines.bigrams:Bigrams", "linear models of words and pairs of words"),
    "bilstm": Baseline("blurb.models.baselines.from_nothing:BiLSTM", "BiLSTM with attention, from nothing"),
    "transformer": Baseline("blurb.models.baselines.from_nothing:Transformer", "Transformer, from nothing"),
}
"""By name, the simplest first."""


class _Classes:
    """The baselines as a registry, for their options: `bilstm,hidden=256`."""

    kind = "baseline"

    def get(self, name: str) -> Any:
        if name not in KNOWN:
            raise UnknownName(self.kind, name, KNOWN)
        return load_object(KNOWN[name].target, self.kind)

    def short(self, name: str) -> str:
        return name

    def is_builtin(self, text: str) -> bool:
        return text in KNOWN


def named(text: str) -> str:
    """Canonical spelling of a baseline and its options.

    :raises UnknownName: if there is no such baseline or option
    :raises SettingsError: if a value does not have the type of the option
    """
    return canonical(_Classes(), text)


def learner(text: str, formulation: Formulation, device: str) -> Learner:
    """The learner of a baseline, bound to a task.

    :raises SettingsError: if an option has an impossible value
    """
    made, options = parse(_Classes(), text)
    place = {"device": device} if f"baseline:{text.partition(',')[0]}" in FROM_NOTHING else {}
    found: Learner = made(formulation, **place, **options)
    return found
