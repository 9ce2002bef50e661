"""Activations that are computed twice: the same gradients to the bit, and only where memory is short."""

from typing import Any

import pytest
import torch

from blurb.messages.errors import SettingsError, TrainingError
from blurb.training.network import checkpoint_activations
from tests.training.tiny import features, network, settings, targets, trainer, weights

INPUTS = features(24)


def _gradients(checkpointed: bool, attention: str, cpu_dropout: bool) -> list[torch.Tensor]:
    net = network(dropout=0.3, seed=3)
    net.encoder.set_attn_implementation(attention)  # type: ignore[attr-defined]
    if cpu_dropout:
        trained = trainer(net)
        net = trained.network
    if checkpointed:
        assert checkpoint_activations(net.encoder)
    net.train()
    torch.manual_seed(7)
    if cpu_dropout:
        trained.add_gradients(INPUTS, range(24), targets(INPUTS), 24)  # type: ignore[arg-type]
    else:
        ids, mask = torch.arange(5, 45).view(4, 10), torch.ones(4, 10)
        net.encoder(input_ids=ids, attention_mask=mask).last_hidden_state.square().sum().backward()
    found = [one.grad for one in net.parameters() if one.grad is not None]
    assert len(found) > 20
    return found


@pytest.mark.parametrize(
    ("attention", "cpu_dropout"), [("eager", False), ("sdpa", False), ("sdpa", True)]
)
def test_gradients_are_equal_to_the_bit(attention: str, cpu_dropout: bool) -> None:
    """Gradients, not the loss: with other random numbers in the second pass the loss would be equal all the same."""
    plain, again = (
        _gradients(checkpointed, attention, cpu_dropout) for checkpointed in (False, True)
    )
    assert all(torch.equal(one, other) for one, other in zip(plain, again, strict=True))
    assert any(one.abs().max() > 0 for one in plain)


def _out_of_memory_unless(free: Any) -> Any:
    """A trainer's `add_gradients` that lacks memory until `free(trainer)`."""

    def wrap(trained: Any) -> None:
        compute = trained.add_gradients

        def gradients(*given: Any) -> torch.Tensor:
            if not free(trained, given[-1]):
                raise RuntimeError("DefaultCPUAllocator: not enough memory")
            return compute(*given)  # type: ignore[no-any-return]

        trained.add_gradients = gradients

    return wrap


def test_it_begins_where_one_input_does_not_fit() -> None:
    runs = []
    for short in (False, True):
        trained = trainer(network(seed=1, dropout=0.1))
        if short:
            _out_of_memory_unless(lambda one, size: one.checkpointing == "on" and size == 1)(
                trained
            )
        else:
            trained.micro_batch = 1
        trained.fit(INPUTS, targets(INPUTS), settings(epochs=1, select="last"), 1, lambda: 0.0)
        runs.append(weights(trained.network))
    assert (trained.checkpointing, trained.micro_batch) == ("on", 1)
    assert trained.network.encoder.encoder.layer[0].gradient_checkpointing  # type: ignore[union-attr,index]
    assert all(torch.equal(runs[0][name], runs[1][name]) for name in runs[0])


@pytest.mark.parametrize("asked", ["off", "on"])
def test_without_room_for_one_input_the_trial_fails(asked: str) -> None:
    trained = trainer(network(), checkpointing=asked)
    _out_of_memory_unless(lambda one, size: False)(trained)
    with pytest.raises(TrainingError, match="single input"):
        trained.fit(INPUTS, targets(INPUTS), settings(), 1, lambda: 0.0)


def test_an_architecture_that_cannot_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    net = network()
    monkeypatch.setattr(type(net.encoder), "supports_gradient_checkpointing", False)
    with pytest.raises(SettingsError, match=r"--checkpointing on.*BertModel"):
        trainer(net, checkpointing="on")
    assert trainer(net, checkpointing="auto").checkpointing == "auto"
