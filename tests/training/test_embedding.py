"""Training the used rows alone against training the whole table."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from blurb.training import loop
from blurb.training.loop import Trainer
from blurb.training.network import UsedRows, train_used_rows
from tests.training import tiny

SEEN, UNSEEN = (5, 25), (25, 60)


def _fit(monkeypatch: pytest.MonkeyPatch, whole: bool, **settings: Any) -> Trainer:
    with monkeypatch.context() as patch:
        if whole:
            patch.setattr(loop, "train_used_rows", lambda encoder, used: None)
        trainer = tiny.trainer(tiny.network())
        inputs = tiny.features(40, ids=SEEN)
        torch.manual_seed(0)
        trainer.fit(
            inputs,
            tiny.targets(inputs),
            tiny.settings(epochs=4, lr=3e-3, **settings),
            1,
            lambda: 0.0,
        )
    return trainer


def _table(trainer: Trainer) -> torch.Tensor:
    trainer.network.eval()
    return trainer.network.encoder.get_input_embeddings().weight.detach()


def test_it_equals_training_the_whole_table(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = _fit(monkeypatch, whole=False), _fit(monkeypatch, whole=True)
    assert type(ours.network.encoder.get_input_embeddings()) is UsedRows
    assert type(theirs.network.encoder.get_input_embeddings()) is nn.Embedding
    assert torch.allclose(_table(ours), _table(theirs), atol=1e-5)
    mine, other = tiny.weights(ours.network), tiny.weights(theirs.network)
    for name in mine.keys() & other.keys():
        assert torch.allclose(mine[name], other[name], atol=1e-5), name
    before = tiny.network().encoder.get_input_embeddings().weight
    assert not torch.allclose(_table(ours)[SEEN[0] : SEEN[1]], before[SEEN[0] : SEEN[1]], atol=1e-3)


def test_rows_that_are_not_used_keep_their_values_to_the_bit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = tiny.network().encoder.get_input_embeddings().weight
    after = _table(_fit(monkeypatch, whole=False))
    assert torch.equal(after[slice(*UNSEEN)], before[slice(*UNSEEN)])


def test_predictions_with_unseen_sub_tokens_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = tiny.features(20, seed=3, ids=(5, 60))
    scores = [
        np.stack(_fit(monkeypatch, whole=whole).predict(inputs)[1]) for whole in (False, True)
    ]
    assert np.allclose(scores[0], scores[1], atol=1e-5)


@pytest.mark.parametrize("padding", [None, 0, 7, 9])
def test_the_gradient_is_that_of_the_table_padding_included(padding: int | None) -> None:
    torch.manual_seed(0)
    table = nn.Embedding(12, 4, padding_idx=padding)
    rows = UsedRows(table, torch.tensor([0, 3, 7])).train()  # 9 does not occur
    ids = torch.tensor([[0, 3, 3], [7, 0, 7]])
    upstream = torch.randn(2, 3, 4)
    table(ids).backward(upstream)
    assert torch.equal(rows(ids), table(ids))
    rows(ids).backward(upstream)
    assert torch.equal(rows.rows.grad, table.weight.grad[[0, 3, 7]])


def test_weight_decay_moves_every_row_so_the_table_stays_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trainer = _fit(monkeypatch, whole=False, weight_decay=0.1)
    assert type(trainer.network.encoder.get_input_embeddings()) is nn.Embedding
    before = tiny.network().encoder.get_input_embeddings().weight
    assert not torch.equal(_table(trainer)[slice(*UNSEEN)], before[slice(*UNSEEN)])


def test_what_is_restored_is_predicted_with(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = _fit(monkeypatch, whole=False)
    inputs = tiny.features(5)
    state, scores = tiny.weights(trainer.network), np.stack(trainer.predict(inputs)[1])
    with torch.no_grad():
        trainer.network.encoder.get_input_embeddings().rows.normal_()
    assert not np.allclose(np.stack(trainer.predict(inputs)[1]), scores)
    trainer.network.load_state_dict(state)
    assert np.array_equal(np.stack(trainer.predict(inputs)[1]), scores)


@pytest.mark.parametrize("options", [{"max_norm": 1.0}, {"scale_grad_by_freq": True}])
def test_unusual_tables_are_left_alone(options: dict[str, Any]) -> None:
    encoder = tiny.network().encoder
    table = nn.Embedding(60, 16, **options)
    encoder.set_input_embeddings(table)
    train_used_rows(encoder, torch.tensor([0, 5]))
    assert encoder.get_input_embeddings() is table
