"""From a model reference to a source, and from that to a learner that is bound to a task.

And the models that have a name of their own, for `blurb models`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from blurb.checkpoints import ModelSource, resolve_checkpoint as of_checkpoint, scratch
from blurb.checkpoints.references import preset_facts
from blurb.heads._spec import canonical_spec, parse_spec
from blurb.learners import PREFIX, LearnerKind, get_named, is_named, kinds, named_kinds, of_trial
from blurb.messages import ModelError
from blurb.names import resolve_name
from blurb.records import Rule

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from blurb.formulations._base import Formulation
    from blurb.learners.base import Learner
    from blurb.protocols.settings import Where


class _Classes:
    """The classes of the kinds that stand in the place of a model, for their options: `bilstm,hidden=256`."""

    kind = PREFIX.rstrip(":")

    def get(self, name: str) -> Any:
        return get_named(name).load("learner")

    def short(self, name: str) -> str:
        return kinds.registered(name)

    def is_builtin(self, text: str) -> bool:
        return text in named_kinds()


def spelled(reference: str) -> str:
    """A reference to a kind in canonical spelling: its options sorted, defaults left out.

    :raises UnknownName: if there is no such kind or option
    :raises SettingsError: if a value does not have the type of the option
    """
    return PREFIX + canonical_spec(_Classes(), reference.removeprefix(PREFIX))


def resolve_model(
    reference: str,
    name: str | None = None,
    revision: str | None = None,
    remote_code: bool = False,
    casing: str | None = None,
    tokenizer: PreTrainedTokenizerBase | str | Path | None = None,
    base: str | None = None,
) -> ModelSource:
    """Resolves a model reference.

    :param reference: the name of a kind (`baseline:majority`), or a checkpoint (
        `blurb.checkpoints.source.resolve_checkpoint`, which has the other parameters)
    :raises ModelError: says what is missing and what to do
    """
    if not is_named(reference):
        known = named_kinds()
        name_of_kind = resolve_name(reference, known)
        if name_of_kind in known and not Path(reference).is_dir():
            raise ModelError(
                f"There is no model called '{reference}'.", fix=f"Write {PREFIX}{name_of_kind}."
            )
        return of_checkpoint(reference, name, revision, remote_code, casing, tokenizer, base)
    weights = spelled(reference)
    return ModelSource(name or weights, "learner", weights.removeprefix(PREFIX), weights=weights)


def kind_of(source: ModelSource, learner: str) -> LearnerKind:
    """The kind that learns with a model.

    :param learner: that of the protocol, for checkpoints
    """
    return of_trial(source.weights, learner if source.is_checkpoint else "")


def learner(
    source: ModelSource, formulation: Formulation, device: str, precision: str, name: str = ""
) -> Learner:
    """The learner of a model, bound to a task.

    :param name: `Trial.learner`
    :raises SettingsError: if an option has an impossible value
    """
    kind = of_trial(source.weights, name)
    if kind.reads_checkpoint:
        return cast("Learner", kind.load("learner")(source, formulation, device, precision))
    made, options = parse_spec(_Classes(), source.location)
    return cast("Learner", made(formulation, device, precision, **options))


def check(kind: LearnerKind, source: ModelSource, formulation: Formulation, where: Where) -> None:
    """Raises a SettingsError if model, settings and task do not work together.

    :param where: origin of the settings, for the message
    """
    if kind.check:
        kind.load("check")(source, formulation, where)


@dataclass(frozen=True)
class ModelName:
    """A reference that `blurb run` takes beside folders and Hub ids.

    :param name: what MODEL may be
    :param kind: from the Hub, with random weights, or no encoder at all
    :param model: its Hub id, or what it is
    :param casing: casing that blurb states over the checkpoint's files; "" if these are right
    :param needs: what it takes to run it
    :param size: base, large, ... as its makers call it
    :param text: what it was pretrained on
    :param vocabulary: whose vocabulary it has
    :param published: its row in `blurb leaderboard published`
    :param revision: a revision that was seen in a source; nothing is pinned by it
    :param licence: as its page on the Hub or its makers' repository states it; "" if none was seen
    """

    name: str
    kind: Annotated[str, Rule("enum", ("preset", "scratch", "baseline"))]
    model: str
    casing: Annotated[str, Rule("enum", ("", "cased", "uncased"))]
    needs: str
    size: str = ""
    text: str = ""
    vocabulary: str = ""
    published: str = ""
    revision: str = ""
    licence: str = ""


def named_models() -> list[ModelName]:
    """Presets, encoders that start from scratch, baselines."""
    presets = [
        ModelName(
            name,
            "preset",
            facts["id"],
            facts.get("casing", ""),
            "download",
            **{key: fact for key, fact in facts.items() if key not in ("id", "casing")},
        )
        for name, facts in preset_facts().items()
    ]
    from_scratch = [
        ModelName(
            f"{scratch.PREFIX}{name}",
            "scratch",
            f"random weights, {size['num_hidden_layers']} layers of {size['hidden_size']}",
            "",
            "data",
        )
        for name, size in scratch.SIZES.items()
    ]
    baselines = [
        ModelName(f"{PREFIX}{name}", kind.rows.name, kind.summary, "", "nothing")
        for name, kind in named_kinds().items()
    ]
    return [*presets, *from_scratch, *baselines]
