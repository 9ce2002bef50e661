"""The attention of kept models: the pooling of a BiLSTM against its own sum, and the layers of trained encoders."""

from pathlib import Path

import numpy as np
import pytest
import torch

import blurb
from blurb.extensions.lab.attention import attention
from blurb.learners import saved_models
from blurb.messages.errors import ModelError
from tests.kept_models import fine_tuned, predicted, stored

TEXT = "Aspirin lowered the fever, but two patients who took it developed gastric reflux."
pytestmark = pytest.mark.costly


def kept(model: str, task: str, folder: Path) -> Path:
    return fine_tuned(model, task, folder).trial("m", task)


@pytest.fixture(scope="module")
def bilstm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kept("baseline:bilstm,hidden=16", "hoc", tmp_path_factory.mktemp("bilstm"))


def test_the_pooling_of_a_bilstm(bilstm: Path) -> None:
    """Oracle: the pooled vector of the network itself, which must be the sum of its states with these weights."""
    result = attention(bilstm, TEXT, entity="gastric reflux")
    (model,) = result.models
    learner, _ = saved_models.load(bilstm / saved_models.FOLDER, "cpu", False)
    network, tokenizer = learner.trainer.network.eval(), learner.tokenizer  # type: ignore[attr-defined]
    inputs = tokenizer.inner(TEXT, return_tensors="pt")
    with torch.no_grad():
        hidden = network.encoder(inputs["input_ids"], inputs["attention_mask"]).last_hidden_state
        pooled = network.pooling(hidden, inputs["attention_mask"])[0]
    assert model.is_pooling
    # Its vocabulary has words, of a piece each
    assert model.matrix.shape == (1, 1, 1, hidden.shape[1])
    assert result.weights.shape == (1, 1, 1, len(result.words))
    np.testing.assert_allclose(model.matrix[0, 0, 0] @ hidden[0].numpy(), pooled, atol=1e-5)
    assert model.matrix.sum() == pytest.approx(1, abs=1e-5)
    assert "Weights of the pooling" in result._repr_html_()


def test_a_kept_baseline_predicts_what_the_trial_stored(bilstm: Path) -> None:
    model = blurb.load_model(bilstm)
    assert predicted(model) == stored(bilstm)
    assert model.about["model"] == "baseline:bilstm"


def test_a_damaged_baseline_is_refused(bilstm: Path, tmp_path: Path) -> None:
    import shutil

    folder = shutil.copytree(bilstm / "model", tmp_path / "model")
    (folder / "network.safetensors").write_bytes(b"")
    with pytest.raises(
        ModelError, match=r"network\.safetensors missing or damaged; remove the folder"
    ):
        attention(folder, TEXT)


def test_layers_of_a_transformer_and_a_pooling_side_by_side(bilstm: Path, tmp_path: Path) -> None:
    trained = kept("baseline:transformer,width=16,heads=2,layers=1", "hoc", tmp_path)
    result = attention([bilstm, trained], TEXT)
    assert [model.is_pooling for model in result.models] == [True, False]
    assert result.models[1].matrix.shape[:2] == (1, 2)
    assert "All heads" in result._repr_html_()


def test_an_encoder_that_was_trained_in_bf16_is_shown_in_fp32(tmp_path: Path) -> None:
    """In bf16 the weights of a row do not sum to 1, which looks like an attention that is not full."""
    (model,) = attention(
        fine_tuned("scratch:tiny", "hoc", tmp_path / "runs", precision="bf16").trial("m", "hoc"),
        TEXT,
    ).models
    np.testing.assert_allclose(model.matrix.sum(-1), 1, atol=1e-5)
    assert not isinstance(model.projections, str)


def test_a_tagger_without_a_pooling_is_refused(tmp_path: Path) -> None:
    trained = kept("baseline:bilstm,hidden=16", "ncbi-disease", tmp_path)
    with pytest.raises(ModelError, match="neither layers nor a pooling of attention"):
        attention(trained, TEXT)
