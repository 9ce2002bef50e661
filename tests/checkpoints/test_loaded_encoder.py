"""An encoder is loaded once a process. Oracle: a fresh load, and the same trial with nothing kept."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from blurb.checkpoints import Checkpoint
from blurb.checkpoints import source as sources
from blurb.learners.building import resolve
from tests.conftest import Builder


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    sources._encoders.clear()


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    load = Checkpoint.load_encoder

    def counted(self: Checkpoint) -> tuple[torch.nn.Module, bool]:
        found.append(str(self.folder))
        return load(self)

    monkeypatch.setattr(Checkpoint, "load_encoder", counted)
    return found


def test_what_one_trial_does_to_it_no_other_sees(checkpoint: Builder, loads: list[str]) -> None:
    source = resolve(str(checkpoint("bert_uncased")))
    torch.manual_seed(1)
    first, pooler = sources.encoder_of(source)
    drawn = torch.rand(3)
    with torch.no_grad():
        for parameter in first.parameters():
            parameter.zero_()
    first.set_input_embeddings(torch.nn.Embedding(7, 8))
    torch.manual_seed(1)
    second, again = sources.encoder_of(source)
    assert torch.equal(drawn, torch.rand(3))  # the next draw of a trial does not tell whether the encoder was kept
    fresh, _ = Checkpoint(Path(source.location)).load_encoder()
    assert pooler == again
    assert {name: value.tolist() for name, value in second.state_dict().items()} == {
        name: value.tolist() for name, value in fresh.state_dict().items()
    }
    assert len(loads) == 2  # the first and the fresh one


def test_one_is_kept_and_by_what_it_holds(checkpoint: Builder, loads: list[str]) -> None:
    one, other = (resolve(str(checkpoint(kind))) for kind in ("bert_uncased", "roberta"))
    for source in (one, one, other, one):
        encoder, _ = sources.encoder_of(source)
        assert encoder.config.model_type == {one: "bert", other: "roberta"}[source]
    assert len(sources._encoders) <= 1


def test_weights_drawn_while_loading_are_drawn_for_every_trial(
    checkpoint: Builder, loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a checkpoint without its pooler: seeds must not share what the first of them drew."""
    source = resolve(str(checkpoint("bert_uncased")))
    counted = Checkpoint.load_encoder

    def drawing(self: Checkpoint) -> tuple[torch.nn.Module, bool]:
        torch.rand(1)
        return counted(self)

    monkeypatch.setattr(Checkpoint, "load_encoder", drawing)
    for _ in range(3):
        sources.encoder_of(source)
    assert len(loads) == 3
    assert not sources._encoders
