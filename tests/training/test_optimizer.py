"""AdamW and its schedule. Oracle: transformers."""

from __future__ import annotations

import pytest
import torch
from hypothesis import example, given, settings, strategies as st
from transformers import get_linear_schedule_with_warmup

from blurb.training.optimizer import learning_rate_factor, make_adamw
from tests.training import tiny


def _theirs(warmup: int, total: int) -> list[float]:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = get_linear_schedule_with_warmup(optimizer, warmup, total)
    factor = schedule.lr_lambdas[0]
    return [factor(step) for step in range(total)]


@settings(max_examples=60, deadline=None)
@given(total=st.integers(1, 300), warmup=st.integers(1, 200))
@example(total=1, warmup=1)
def test_a_number_of_warm_up_steps_is_that_of_transformers(total: int, warmup: int) -> None:
    factor = learning_rate_factor(float(warmup), total)
    assert [factor(step) for step in range(total)] == pytest.approx(
        _theirs(min(warmup, total), total), abs=1e-12
    )


@settings(max_examples=60, deadline=None)
@given(total=st.integers(1, 300), share=st.floats(0, 0.99))
def test_a_share_of_the_steps_is_that_of_transformers(total: int, share: float) -> None:
    factor = learning_rate_factor(share, total)
    assert [factor(step) for step in range(total)] == pytest.approx(
        _theirs(round(share * total), total), abs=1e-12
    )


def test_ten_per_cent_of_a_hundred_steps() -> None:
    factor = learning_rate_factor(0.1, 100)
    assert [factor(step) for step in (0, 5, 10, 55, 99, 100)] == [0.0, 0.5, 1.0, 0.5, 1 / 90, 0.0]


def test_decay_is_only_for_matrices_and_the_settings_arrive() -> None:
    network = tiny.network()
    optimizer = make_adamw(
        network, tiny.settings(weight_decay=0.01, beta1=0.8, beta2=0.98, epsilon=1e-6, lr=3e-4)
    )
    decayed = {
        id(parameter)
        for group in optimizer.param_groups
        if group["weight_decay"]
        for parameter in group["params"]
    }
    for name, parameter in network.named_parameters():
        assert (id(parameter) in decayed) == (parameter.ndim > 1), name
    for group in optimizer.param_groups:
        assert (group["betas"], group["eps"], group["lr"], group["scale"]) == (
            (0.8, 0.98),
            1e-6,
            3e-4,
            1.0,
        )


def test_every_parameter_that_learns_is_in_one_group() -> None:
    network = tiny.network()
    network.encoder.embeddings.requires_grad_(False)
    listed = [
        id(parameter)
        for group in make_adamw(network, tiny.settings()).param_groups
        for parameter in group["params"]
    ]
    assert sorted(listed) == sorted(
        id(parameter) for parameter in network.parameters() if parameter.requires_grad
    )


def test_head_and_pooling_learn_with_a_rate_of_their_own() -> None:
    network = tiny.network()
    groups = make_adamw(network, tiny.settings(lr=1e-4, head_lr=1e-3)).param_groups
    peaks = {id(parameter): group["peak"] for group in groups for parameter in group["params"]}
    for name, parameter in network.named_parameters():
        assert peaks[id(parameter)] == (1e-4 if name.startswith("encoder.") else 1e-3), name
    assert {
        group["peak"] for group in make_adamw(network, tiny.settings(lr=1e-4)).param_groups
    } == {1e-4}
