"""Every step on torch's `meta` device, which has shapes and no values: what would make a GPU wait, or leave a tensor on
the CPU, fails here without a GPU. Oracle: the device itself, and a look at the arguments of every operation."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from blurb import data, formulations, tasks
from blurb.heads import heads, poolings
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.learners.finetuning.network import EncoderLearner
from blurb.protocols import protocol
from blurb.training.batches import Batch, collate_batch
from blurb.training.network import Network, use_masks_without_waiting
from tests import checkpoints
from tests.conftest import Builder

DATA = Path(__file__).parents[1] / "golden" / "data"
TASKS = {"tokens": "ncbi-disease", "single": "gad", "multi": "hoc", "regression": "biosses"}


CHAIN = (True,)
"""What a chain is told, a wait: whether its decoding found a path. In training it waits for nothing."""
PACKED = ("bilstm", "bilstm-crf")
"""torch packs sequences by lengths on the CPU, which `meta` cannot give: these heads wait for them and are left out."""


class OneDevice(TorchDispatchMode):
    """Fails where an operation takes tensors of two devices; a single number may come from the CPU.

    :param answers: to the questions on values for which a step may wait, in their order; a question more fails
    """

    def __init__(self, answers: Sequence[bool] = ()) -> None:
        super().__init__()
        self.answers = list(answers)

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if operation is torch.ops.aten._local_scalar_dense.default and self.answers:
            return self.answers.pop(0)
        found = {
            value.device.type
            for value in tree_iter((args, kwargs))
            if isinstance(value, torch.Tensor) and (value.ndim or value.device.type != "cpu")
        }
        assert len(found) < 2, f"{operation} takes tensors of {' and '.join(sorted(found))}"
        return operation(*args, **(kwargs or {}))


def _combinations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(kind of problem, task, settings) of every head and pooling."""
    for kind, task in TASKS.items():
        for head in heads.names():
            if kind in heads.get(head).kinds and head not in PACKED:
                yield kind, task, {"head": head}
        if kind != "tokens":
            for pooling in poolings.names():
                needs = poolings.get(pooling)
                if (
                    kind == "regression"
                    if needs.needs_pair
                    else kind == "single" or not needs.needs_entities
                ):
                    markers = {"relation_input": "markers"} if needs.needs_markers else {}
                    yield kind, task, {"pooling": pooling, **markers}
    yield from (
        ("tokens", "ncbi-disease", {"word_pooling": way}) for way in ("first", "mean", "last")
    )
    yield from (
        ("tokens", "ncbi-disease", {"tagging": scheme, "head": "crf"}) for scheme in ("io", "bioul")
    )
    yield from (("single", task, {}) for task in ("pubmedqa", "chemprot", "ddi"))
    yield "tokens", "ebm-pico", {}


def _network(folder: Path, name: str, settings: dict[str, Any]) -> tuple[Network, Batch]:
    """A network and a batch of eight units with their targets, on the CPU."""
    source, task = building.resolve_model(str(folder)), tasks.get(name)
    chosen = protocol.load_protocol_file("standard").settings(task, settings, source.parameters)
    formulation = formulations.bind(task, chosen)
    learner = EncoderLearner(source, formulation, "cpu", "fp32")
    rows = formulation.units(data.load_task(task, DATA).splits["train"])[:8]
    learner.tokenizer = learner.tokenizer.extended(formulation.special_tokens(rows))
    network, most = learner._network()
    learner.limit = min(chosen.max_length, most or chosen.max_length)
    features = learner._features(Subset(rows, f"meta {name} {settings}"))
    return network, collate_batch(
        features,
        torch.arange(len(features)).numpy(),
        learner.tokenizer.pad_id,
        formulation.targets(rows),
    )


def _step(network: Network, batch: Batch) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    count = network.head.num_targets(batch.targets, batch.word_mask)
    loss = network.train().loss(batch) / count
    loss.backward()
    with torch.no_grad():
        return loss, network.eval().predict(batch)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("kind", "task", "settings"),
    [
        pytest.param(*one, id=" ".join([one[0], one[1], *map(str, one[2].values())]))
        for one in _combinations()
    ],
)
def test_a_step_waits_for_nothing_and_stays_where_it_is(
    checkpoint: Builder,
    kind: str,
    task: str,
    settings: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network, batch = _network(checkpoint("bert_uncased"), task, settings)
    loss, (best, scores) = _step(network, batch)
    meta = torch.device("meta")
    network.zero_grad(set_to_none=True)
    use_masks_without_waiting(network)
    # There is none for `meta`
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: contextlib.nullcontext())
    with OneDevice({"crf": CHAIN}.get(settings.get("head", ""), ())) as watched:
        other, (far, figures) = _step(network.to(meta), batch.to(meta))
    assert not watched.answers
    for here, there in ((loss, other), (best, far), (scores, figures)):
        assert there.is_meta
        assert (there.shape, there.dtype) == (here.shape, here.dtype)
    assert all(value.grad is not None and value.grad.is_meta for value in network.head.parameters())


@pytest.mark.parametrize("kind", checkpoints.KINDS)
def test_every_architecture(checkpoint: Builder, kind: str) -> None:
    network, batch = _network(checkpoint(kind), "ncbi-disease", {})
    meta = torch.device("meta")
    use_masks_without_waiting(network)
    with OneDevice():
        loss, _ = _step(network.to(meta), batch.to(meta))
    assert loss.is_meta


def test_the_oracle_sees_what_it_is_for() -> None:
    far, here = torch.empty(3, 4, device="meta"), torch.zeros(3, 4, dtype=torch.long)
    with OneDevice(), pytest.raises(AssertionError, match="takes tensors of cpu and meta"):
        far.gather(1, here)  # the device itself lets this pass
    with OneDevice(), pytest.raises(RuntimeError, match="item"):
        bool(far.sum() > 0)
