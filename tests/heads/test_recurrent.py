"""The heads with a BiLSTM or a chain, and how options of heads are written."""

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

from blurb.heads import heads
from blurb.heads._base import Head, Problem
from blurb.heads._spec import canonical_spec, parse_spec, plugin_options
from blurb.messages.errors import SettingsError, UnknownName
from blurb.training.network import Network
from blurb.training.optimizer import make_adamw
from tests.cli.in_process import run
from tests.training import tiny

BIO = ("O", "B", "I")


def _head(text: str, kind: str = "tokens", dropout: float = 0.0) -> Head:
    torch.manual_seed(0)
    head, chosen = parse_spec(heads, text)
    scheme = "bio" if kind == "tokens" else None
    found: Head = head(8, Problem(kind, BIO, scheme), dropout, **chosen)  # type: ignore[arg-type]
    return found.eval()


@pytest.fixture
def words() -> tuple[Tensor, Tensor, Tensor]:
    """Four sentences of 5, 2, 0 and 1 words."""
    torch.manual_seed(1)
    mask = torch.arange(5) < torch.tensor([5, 2, 0, 1])[:, None]
    return torch.randn(4, 5, 8) * 3, torch.tensor([[1, 2, 0, 0, 1]] * 4) * mask, mask


@pytest.mark.parametrize(
    "text", ["bilstm,hidden=4", "crf", "bilstm-crf,hidden=4,layers=2", "crf,constrained=true"]
)
def test_sentences_do_not_see_their_padding_or_each_other(
    text: str, words: tuple[Tensor, Tensor, Tensor]
) -> None:
    head, (features, targets, mask) = _head(text), words
    together = head.loss(features, targets, mask)
    alone = sum(
        head.loss(
            features[row : row + 1, :size],
            targets[row : row + 1, :size],
            mask[row : row + 1, :size],
        ).item()
        for row, size in enumerate((5, 2, 1, 1))
    )
    assert together.item() == pytest.approx(alone, rel=1e-5)
    padded = features.masked_fill(~mask[..., None], 1e4)
    assert head.loss(padded, targets, mask).item() == pytest.approx(together.item(), rel=1e-6)
    assert head.num_targets(targets, mask) == 8
    tags, confidence = head.predict(features, mask)
    for row, size in enumerate((5, 2, 1, 1)):
        one, its = head.predict(features[row : row + 1, :size], mask[row : row + 1, :size])
        assert torch.equal(one[mask[row : row + 1, :size]], tags[row, :size][mask[row, :size]])
        assert torch.allclose(
            its[mask[row : row + 1, :size]], confidence[row, :size][mask[row, :size]], atol=1e-6
        )
    assert ((confidence[mask] > 0) & (confidence[mask] <= 1)).all()


@pytest.mark.parametrize("text", ["bilstm", "crf", "bilstm-crf"])
def test_a_batch_without_words_has_a_loss_of_zero(text: str) -> None:
    head, mask = _head(text), torch.zeros(2, 1, dtype=torch.bool)
    loss = head.loss(torch.randn(2, 1, 8), torch.zeros(2, 1, dtype=torch.int64), mask)
    assert loss.item() == 0.0
    loss.backward()
    assert head.predict(torch.randn(2, 1, 8), mask)[0].shape == (2, 1)


@pytest.mark.parametrize("text", ["crf", "bilstm-crf"])
def test_a_chain_never_predicts_what_its_scheme_forbids(text: str) -> None:
    tags, _ = _head(text).predict(torch.randn(50, 20, 8) * 30, torch.ones(50, 20, dtype=torch.bool))
    assert (tags[:, 0] != 2).all()
    assert not ((tags[:, :-1] == 0) & (tags[:, 1:] == 2)).any()
    assert (tags == 2).any()


def test_bilstm_reads_sequences_by_their_final_states() -> None:
    head = _head("bilstm,hidden=4", "single")
    features, mask = torch.randn(1, 6, 8), torch.arange(6)[None] < 4
    lstm = head.lstm.lstm  # type: ignore[union-attr]
    outputs, _ = lstm(features[:, :4])
    expected = head.linear(torch.cat([outputs[0, -1, :4], outputs[0, 0, 4:]])).softmax(-1)  # type: ignore[operator]
    assert torch.allclose(head.predict(features, mask)[1][0], expected, atol=1e-6)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("text", "kind"),
    [("bilstm", "single"), ("bilstm", "tokens"), ("crf", "tokens"), ("bilstm-crf", "tokens")],
)
def test_they_learn_above_an_encoder(text: str, kind: str) -> None:
    plain = tiny.network(kind)  # type: ignore[arg-type]
    torch.manual_seed(0)
    head, chosen = parse_spec(heads, text)
    problem = Problem(kind, ["0", "1", "2"])  # type: ignore[arg-type]
    network = Network(plain.encoder, None, head(16, problem, 0.0, **chosen), False)
    inputs = tiny.features(64, words=kind == "tokens")
    history = tiny.trainer(network).fit(
        inputs, tiny.targets(inputs), tiny.settings(epochs=8, lr=2e-3), 1, lambda: 0.0
    )
    assert history[-1].loss < 0.8 * history[0].loss


def test_the_scores_of_a_chain_learn_faster_than_the_rest() -> None:
    network = tiny.network("tokens")
    network.head = heads.get("crf")(16, Problem("tokens", BIO), 0.0)
    groups = make_adamw(network, tiny.settings()).param_groups
    assert {
        id(parameter)
        for group in groups
        if group["scale"] == 100.0
        for parameter in group["params"]
    } == {id(parameter) for parameter in network.head.chain.parameters()}


def test_equal_heads_are_written_alike() -> None:
    assert (
        canonical_spec(heads, " bilstm-crf , layers=2,constrained=FALSE,hidden=0128")
        == "bilstm-crf,hidden=128,layers=2"
    )
    assert canonical_spec(heads, "bilstm,hidden=256") == "bilstm"
    heads.load("blurb.heads.crf:CRF")
    assert parse_spec(heads, "blurb.heads.crf:CRF,constrained=true") == (
        heads.get("crf"),
        {"constrained": True},
    )


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            "bilstm,hiden=3",
            UnknownName,
            "no option of the head 'bilstm' called 'hiden'. Did you mean 'hidden'",
        ),
        ("linear,x=3", UnknownName, "Available: none"),
        ("bilstm,hidden=big", SettingsError, r"hidden must be a whole number \(got 'big'"),
        ("crf,constrained=2", SettingsError, "constrained must be true or false"),
        ("bilstm,hidden", SettingsError, r"as key=value \(got 'hidden'\)"),
        ("bilstm,layers=2,layers=3", SettingsError, "given once"),
        ("bilstn", UnknownName, "Did you mean 'bilstm'"),
        ("bilstm,hidden=0", SettingsError, r"at least 1 \(got hidden=0, layers=1\)"),
    ],
)
def test_slips_are_understood(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        _head(text)


def test_a_typed_object_that_is_no_head_is_refused() -> None:
    with pytest.raises(
        SettingsError, match=r"The head json:dumps is of type function, not a class below"
    ):
        heads.load("json:dumps")
    assert "json:dumps" not in heads.typed


def test_the_command_lists_heads_with_options_and_origin() -> None:
    rows = json.loads(run("heads", "--format", "json").output)
    found = {row["name"]: row for row in rows if row["kind"] == "head"}
    assert set(found) >= {"linear", "bilstm", "crf", "bilstm-crf"}
    assert (
        found["bilstm"]["options"]
        == plugin_options(heads.get("bilstm"))
        == {"hidden": 256, "layers": 1}
    )
    file, _, line = found["crf"]["origin"].rpartition(":")
    assert (
        Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1].startswith("class CRF(")
    )
    assert "constrained=false hidden=256 layers=1" in run("heads").output
