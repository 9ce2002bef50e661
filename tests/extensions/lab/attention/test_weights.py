"""Weights against transformers' own and against softmax(QK'/sqrt(d)) by hand, on tiny random checkpoints."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from transformers import AutoModel, AutoTokenizer, FNetConfig, FNetModel

from blurb.checkpoints import scratch
from blurb.corpora import demo
from blurb.extensions.lab.attention import attention
from blurb.extensions.lab.attention.weights import (
    NOT_ALONE,
    NOT_APART,
    Projections,
    boundaries,
    find_entity,
    join,
    spans,
    united,
    words_of_pieces,
)
from blurb.inputs.tokenizer import Subtokens
from blurb.messages.errors import DataError, ModelError, SettingsError, UnknownName
from tests.conftest import Builder

TEXT = "Aspirin lowered the fever, but two patients (both old) had gastric reflux."
WORDS = [
    *["Aspirin", "lowered", "the", "fever", ",", "but", "two", "patients", "(", "both", "old", ")"],
    *["had", "gastric", "reflux", "."],
]
PLAIN = ("bert_uncased", "bert_cased", "roberta", "xlm_roberta", "albert", "electra", "distilbert")
OTHER = {
    "modernbert": NOT_APART,  # one layer makes queries, keys and values
    "deberta_v1": NOT_APART,
    "deberta": NOT_ALONE,  # relative positions
    "mpnet": NOT_ALONE,
    "t5": NOT_ALONE,
    "nomic_bert": NOT_ALONE,  # rotary positions
    "eurobert": NOT_ALONE,
    "xlnet": NOT_APART,
}


def of_transformers(folder: Path) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """(layers, heads, pieces, pieces) as transformers itself gives them, and the characters of each sub-token."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    inputs = tokenizer(
        TEXT, return_tensors="pt", return_offsets_mapping=True, return_special_tokens_mask=True
    )
    offsets, special = (
        inputs.pop("offset_mapping")[0].tolist(),
        inputs.pop("special_tokens_mask")[0].tolist(),
    )
    with torch.no_grad():
        layers = model(**inputs, output_attentions=True).attentions
    places = [
        (-1, -1) if mask else (start, end)
        for (start, end), mask in zip(offsets, special, strict=True)
    ]
    return torch.stack([layer[0] for layer in layers]).numpy(), places


@pytest.mark.parametrize(
    "kind", ["bert_uncased", "roberta", "distilbert", "electra", "modernbert", "deberta"]
)
def test_weights_are_those_of_transformers(kind: str, checkpoint: Builder) -> None:
    """Oracle: `output_attentions` of the model by itself, its sub-tokens joined here by loops over the characters."""
    expected, places = of_transformers(checkpoint(kind))
    result = attention(checkpoint(kind), TEXT)
    assert list(result.words) == WORDS
    model = result.models[0]
    members: list[list[int]] = [[] for _ in result.words]
    for at, (start, _) in enumerate(places):
        if start >= 0:
            while TEXT[start] == " ":  # a blank is of the word behind it
                start += 1
            members[
                next(word for word, (_, after) in enumerate(result.places) if start < after)
            ].append(at)
    for layer in range(expected.shape[0]):
        for head in range(expected.shape[1]):
            for row, queries in enumerate(members):
                for column, keys in enumerate(members):
                    assert result.weights[layer, head, row, column] == pytest.approx(
                        expected[layer, head][np.ix_(queries, keys)].sum(1).mean(), abs=1e-5
                    )
    special = [at for at, (start, _) in enumerate(places) if start < 0]
    # Of each word
    mass = [expected[:, :, queries][..., special].sum(-1).mean(-1) for queries in members]
    np.testing.assert_allclose(model.special_mass.sum(-1), np.stack(mass, -1), atol=1e-5)


def test_weights_are_the_softmax_of_scaled_products(checkpoint: Builder) -> None:
    """Oracle: queries and keys of the first layer computed by hand from the embeddings of a tiny BERT."""
    folder = checkpoint("bert_uncased")
    model, tokenizer = (
        AutoModel.from_pretrained(folder).eval(),
        AutoTokenizer.from_pretrained(folder),
    )
    inputs = tokenizer(TEXT, return_tensors="pt")
    layer = model.encoder.layer[0].attention.self
    heads, size = layer.num_attention_heads, layer.attention_head_size
    with torch.no_grad():
        # (pieces, width)
        hidden = model.embeddings(inputs["input_ids"], inputs["token_type_ids"])[0]
        query = hidden @ layer.query.weight.T + layer.query.bias
        key = hidden @ layer.key.weight.T + layer.key.bias
    projections = attention(folder, TEXT).models[0].projections
    for head in range(heads):
        q, k = query[:, head * size : (head + 1) * size], key[:, head * size : (head + 1) * size]
        np.testing.assert_allclose(projections.queries[0, head], q, atol=1e-5)
        np.testing.assert_allclose(projections.keys[0, head], k, atol=1e-5)
        scores = q @ k.T / math.sqrt(size)
        np.testing.assert_allclose(projections.scores[0, head], scores, atol=1e-5)
        expected = scores.exp() / scores.exp().sum(-1, keepdim=True)
        np.testing.assert_allclose(of_transformers(folder)[0][0, head], expected, atol=1e-5)


@pytest.mark.parametrize("kind", [*PLAIN, *OTHER, "bertweet"])
def test_rows_sum_to_1_with_the_special_tokens(kind: str, checkpoint: Builder) -> None:
    """Encoders with plain queries and keys have them, others say why there are no scores."""
    model = attention(checkpoint(kind), TEXT).models[0]
    assert isinstance(model.projections, Projections) or model.projections == OTHER[kind]
    assert isinstance(model.projections, Projections) == (kind not in OTHER)
    np.testing.assert_allclose(model.matrix.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(model.weights.sum(-1) + model.special_mass.sum(-1), 1, atol=1e-5)
    assert len(model.special) == (1 if kind == "t5" else 2)


@pytest.mark.parametrize("kind", ["longformer", "big_bird", "funnel"])
def test_attention_that_is_not_over_all_words_is_refused(kind: str, checkpoint: Builder) -> None:
    with pytest.raises(ModelError, match="not those of every sub-token over all others"):
        attention(checkpoint(kind), TEXT)


@pytest.mark.parametrize("kind", ["bert_uncased", "bertweet", "deberta"])
@pytest.mark.parametrize(
    "text", ["\ufeffword here", "\u200bword here", "\u0301word here", "\ufeff \u200b word here"]
)
def test_a_text_whose_first_character_is_dropped_has_numbers(
    text: str, kind: str, checkpoint: Builder
) -> None:
    result = attention(checkpoint(kind), text)
    (model,) = result.models
    assert model.matrix.sum(-1) == pytest.approx(np.ones(model.matrix.shape[:-1]), abs=1e-5)
    assert result.places[0][0] == next(
        place for place, sign in enumerate(text) if not sign.isspace()
    )


def test_it_says_that_attention_was_switched(checkpoint: Builder) -> None:
    assert "'eager'" in attention(checkpoint("bert_uncased"), TEXT).notes[0]
    assert attention(checkpoint("deberta"), TEXT).notes == ()  # DeBERTa has no other


def test_what_one_tokenizer_cannot_keep_apart_is_one_word_for_both(checkpoint: Builder) -> None:
    """BERTweet's tokenizer gives no places within a word and the sign behind it."""
    alone = attention(checkpoint("bert_uncased"), TEXT)
    both = attention([checkpoint("bert_uncased"), checkpoint("bertweet")], TEXT)
    assert list(alone.words) == WORDS
    assert "reflux." in both.words
    assert both.models[0].weights.shape == both.models[1].weights.shape
    at, last = alone.words.index("reflux"), both.words.index("reflux.")
    apart = alone.weights[:, :, 0, at] + alone.weights[:, :, 0, at + 1]
    np.testing.assert_allclose(both.weights[:, :, 0, last], apart, atol=1e-5)


def test_a_table_has_every_weight(checkpoint: Builder) -> None:
    result = attention(checkpoint("bert_uncased"), TEXT)
    table = result.to_pandas()
    assert len(table) == result.models[0].matrix.size
    line = table[
        (table["layer"] == 2)
        & (table["head"] == 1)
        & (table["from"] == "gastric")
        & (table["to"] == "fever")
    ]
    assert line["weight"].tolist() == [
        result.weights[1, 0, WORDS.index("gastric"), WORDS.index("fever")]
    ]


def test_the_head_that_looks_least_at_special_tokens_is_shown_first(checkpoint: Builder) -> None:
    result = attention(checkpoint("bert_uncased"), TEXT)
    assert result.models[0].mean_special[result.head] == result.models[0].mean_special.min()
    assert attention(checkpoint("bert_uncased"), TEXT, head="2.1").head == (1, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "  "}, "the text has no words; give a sentence"),
        (
            {"text": "fever " * 600},
            r"has 600 words, which are 3,002 sub-tokens .* reads at most \d+; give a shorter",
        ),
        ({"entity": "ibuprofen"}, "'ibuprofen' is not in the text"),
        ({"word": "ibuprofen"}, "'ibuprofen' is not in the text"),
        ({"head": "3.1"}, "has no head 3.1: it has 2 layers of 2 heads"),
        ({"head": "0.1"}, "has no head 0.1"),
        ({"head": "first"}, r"a head is written LAYER.HEAD, as 5.3 \(got 'first'\)"),
    ],
)
def test_bad_input(
    options: dict[str, str], message: str, checkpoint: Builder, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=message):
        attention(
            checkpoint("distilbert"), **{"text": TEXT, "output": tmp_path / "a.html", **options}
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("models", "error", "told"),
    [
        (["a", "b", "c"], SettingsError, r"one model or two \(got 3\); name two at most"),
        ("baseline:bilstm", ModelError, r"baseline:bilstm: .* run it with --keep-model best"),
        ("scratch:tiny", SettingsError, "add --data"),
    ],
)
def test_models_that_show_no_attention_are_refused(
    models: str | list[str], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        attention(models, TEXT)


def test_a_model_without_attention_is_refused(checkpoint: Builder, tmp_path: Path) -> None:
    """FNet mixes the words by Fourier transforms."""
    import shutil

    folder = shutil.copytree(checkpoint("bert_uncased"), tmp_path / "fnet")
    (folder / "model.safetensors").unlink()
    config = FNetConfig(vocab_size=2_000, hidden_size=16, num_hidden_layers=1, intermediate_size=16)
    FNetModel(config).save_pretrained(folder)
    with pytest.raises(ModelError, match="attention"):
        attention(folder, TEXT)


def test_a_page_that_cannot_be_written_leaves_nothing(checkpoint: Builder, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be written"):
        attention(checkpoint("distilbert"), TEXT, output=tmp_path / "file" / "a.html")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_encoder_from_scratch_is_that_of_a_run() -> None:
    """It is built from the data folder, as `blurb run` builds it; without one the error says what to add."""
    data = demo.prepare()
    result = attention("scratch:tiny", TEXT, data=data)
    assert result.models[0].name == "scratch:tiny"
    assert np.array_equal(
        result.weights, attention(scratch.build("scratch:tiny", data), TEXT).weights
    )

    with pytest.raises(UnknownName, match="tiny"):
        attention("scratch:huge", TEXT, data=data)


# Words of a text, and the joining of sub-tokens against brute force.


SENTENCE = "Low-dose aspirin (75 mg) lowered the patient's fever."


def test_words() -> None:
    assert [SENTENCE[start:end] for start, end in spans(SENTENCE)] == [
        "Low-dose",
        "aspirin",
        "(",
        "75",
        "mg",
        ")",
        "lowered",
        "the",
        "patient's",
        "fever",
        ".",
    ]


@given(st.text())
def test_every_sign_that_is_no_blank_is_in_a_word(text: str) -> None:
    if not text.strip():
        return
    covered = {at for start, end in spans(text) for at in range(start, end)}
    assert covered == {at for at, sign in enumerate(text) if not sign.isspace()}


def test_a_piece_belongs_to_the_word_in_which_it_begins() -> None:
    words = [(0, 4), (5, 9), (9, 10)]
    # The third has blanks alone
    pieces = Subtokens([1, 2, 3, 4, 5], [0, 2, 5, 5, 9], [2, 4, 5, 9, 10])
    assert words_of_pieces(words, pieces) == [0, 0, 1, 1, 2]
    assert boundaries(words, pieces) == {0, 1, 2}


def test_what_a_tokenizer_drops_at_the_beginning_is_of_the_word_behind_it() -> None:
    """A byte order mark or a combining mark has no sub-token: dividing by their number made every weight no number."""
    words = [(0, 1), (1, 5), (6, 10)]
    assert boundaries(words, Subtokens([7, 8], [1, 6], [5, 10])) == {0, 2}
    assert united(words, {0, 2}) == [(0, 5), (6, 10)]
    assert boundaries(words, Subtokens([8], [6], [10])) == {0}
    with pytest.raises(SettingsError, match="drops the whole text"):
        boundaries(words, Subtokens([], [], []))


def test_words_that_a_tokenizer_cannot_keep_apart_are_one() -> None:
    words = [(0, 4), (5, 9), (9, 10), (11, 12)]
    over = Subtokens([1, 2], [0, 5], [4, 12])  # reaches over three words
    dropped = Subtokens([1, 2, 3], [0, 9, 11], [4, 10, 12])  # knows nothing of the second
    assert united(words, boundaries(words, over)) == [(0, 4), (5, 12)]
    assert united(words, boundaries(words, dropped)) == [(0, 9), (9, 10), (11, 12)]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_joining_is_the_sum_over_keys_and_the_mean_over_queries(
    sizes: list[int], seed: int
) -> None:
    """Oracle: loops over all pairs of words and their sub-tokens."""
    columns = [word for word, size in enumerate(sizes) for _ in range(size)]
    weights = (
        np.random.default_rng(seed)
        .dirichlet(np.ones(len(columns)), (2, 3, len(columns)))
        .astype(np.float32)
    )
    joined = join(weights, columns, len(sizes))
    for layer in range(2):
        for head in range(3):
            for row in range(len(sizes)):
                queries = [at for at, word in enumerate(columns) if word == row]
                for column in range(len(sizes)):
                    keys = [at for at, word in enumerate(columns) if word == column]
                    sums = [
                        sum(weights[layer, head, query, key] for key in keys) for query in queries
                    ]
                    assert joined[layer, head, row, column] == pytest.approx(
                        sum(sums) / len(sums), abs=1e-6
                    )
    np.testing.assert_allclose(joined.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "entity", "expected"),
    [
        (SENTENCE, "aspirin", (1, 2)),
        (SENTENCE, "ASPIRIN", (1, 2)),
        (SENTENCE, "75 mg", (3, 5)),
        (SENTENCE, "dose aspirin", (0, 2)),
        (SENTENCE, " fever ", (9, 10)),
        ("The lesion needs an ion.", "ion", (4, 5)),  # rather a word than a part of one
    ],
)
def test_an_entity_is_the_words_that_it_touches(
    text: str, entity: str, expected: tuple[int, int]
) -> None:
    assert find_entity(text, spans(text), entity) == expected


@pytest.mark.parametrize("entity", ["ibuprofen", "", "  "])
def test_an_entity_that_is_not_there_is_refused(entity: str) -> None:
    with pytest.raises(SettingsError, match=r"is not in the text; write it as the text does\.$"):
        find_entity(SENTENCE, spans(SENTENCE), entity)
