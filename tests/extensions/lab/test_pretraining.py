"""Masks, vocabularies, the loss at masked places, bits per byte, and a pretraining that is killed."""

import errno
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import SafetensorError
from transformers import BertTokenizerFast

from blurb.extensions.lab.pretraining import inputs, pretrain, trainer
from blurb.extensions.lab.pretraining.inputs import IGNORED, PretrainingInputs, epoch_order
from blurb.extensions.lab.pretraining.pretrain import full_disks_told
from blurb.extensions.lab.pretraining.recipe import Recipe
from blurb.extensions.lab.pretraining.request import PretrainingCorpus
from blurb.extensions.lab.pretraining.trainer import flops, loss
from blurb.messages.errors import BlurbError, SettingsError
from blurb.system.files import seal_folder
from tests.extensions.lab.conftest import SMALL


@pytest.fixture(scope="module")
def tokenizer(corpus: PretrainingCorpus) -> Any:
    return pretrain.train_vocabulary(corpus.texts, SMALL)


@pytest.fixture(scope="module")
def stream(corpus: PretrainingCorpus, tokenizer: Any) -> inputs.Stream:
    return inputs.stream(corpus.texts, tokenizer)


def test_the_stream_has_every_word_once(
    corpus: PretrainingCorpus, tokenizer: Any, stream: inputs.Stream
) -> None:
    assert stream.words == corpus.words
    assert int((stream.ids == stream.separator).sum()) == len(corpus.texts)
    assert int(stream.sizes.sum()) == sum(
        len(word.encode()) + 1 for text in corpus.texts for word in text.split()
    )
    first = corpus.texts[0].split()
    alone = [
        piece for word in first for piece in tokenizer(word, add_special_tokens=False)["input_ids"]
    ]
    assert stream.ids[: len(alone)].tolist() == alone


@pytest.mark.parametrize(("whole_word", "version", "expected"), [
    (True, 2, 0.150), (False, 2, 0.150), (True, 1, 0.156), (False, 1, 9 / 62),
])  # fmt: skip
def test_masks_pick_their_rate_on_average(
    stream: inputs.Stream, whole_word: bool, version: int, expected: float
) -> None:
    """Inputs of 62 sub-tokens beside two special ones, as 4,000 of them were counted for version 1."""
    generator, picked, free = np.random.default_rng(3), 0, 0
    for number in range(4_000):
        place = (number * 62) % (len(stream.ids) - 62)
        open_ = np.ones(62, dtype=np.bool_)
        starts = stream.starts[place : place + 62]
        picked += int(inputs.choose(starts, open_, 0.15, whole_word, generator, version).sum())
        free += 62
    assert picked / free == pytest.approx(
        expected, abs=0.0015 if version == 2 or not whole_word else 0.006
    )


@pytest.mark.parametrize("whole_word", [False, True])
def test_masks_have_their_rate_and_words_stay_whole(
    stream: inputs.Stream, whole_word: bool
) -> None:
    generator = np.random.default_rng(0)
    ids, starts = stream.ids[:4000], stream.starts[:4000]
    free = ids != stream.separator
    chosen = inputs.choose(starts, free, 0.15, whole_word, generator)
    assert not chosen[~free].any()
    assert chosen.sum() == pytest.approx(0.15 * free.sum(), abs=6 if whole_word else 0.5)
    if whole_word:
        words = np.cumsum(starts)
        for word in np.unique(words[chosen]):
            assert chosen[(words == word) & free].all()
    seen, labels = inputs.mask(ids, chosen, 4, np.arange(5, 400), generator)
    assert (labels[chosen] == ids[chosen]).all()
    assert (labels[~chosen] == IGNORED).all()
    assert (seen[~chosen] == ids[~chosen]).all()
    assert (seen[chosen] == 4).mean() == pytest.approx(0.8, abs=0.06)  # 600 draws: sd 0.016
    assert (seen[chosen] == ids[chosen]).mean() == pytest.approx(0.1, abs=0.05)


def test_the_rate_rises_from_a_fifth() -> None:
    recipe = Recipe(mask_rate=0.25, rising=True)
    assert [recipe.rate_at(part) for part in (0, 0.5, 1)] == pytest.approx([0.05, 0.15, 0.25])


@pytest.mark.parametrize("next_sentence", [False, True])
def test_the_loss_at_masked_places_is_that_of_the_model(
    stream: inputs.Stream, tokenizer: Any, next_sentence: bool
) -> None:
    recipe = Recipe(vocabulary=500, length=32, batch=8, words=3_000, next_sentence=next_sentence)
    inputs = PretrainingInputs(stream, recipe, tokenizer)
    model = pretrain.from_nothing(recipe, tokenizer)
    items = [inputs[place] for place in range(8)]
    batch = {
        name: torch.from_numpy(np.asarray([item[name] for item in items])) for name in items[0]
    }
    ours = loss(model, batch)
    theirs = model(**batch).loss
    assert float(ours.detach()) == pytest.approx(float(theirs.detach()), rel=1e-5)
    gradients = [
        torch.autograd.grad(each, model.bert.embeddings.word_embeddings.weight)[0]
        for each in (ours, theirs)
    ]
    assert torch.allclose(*gradients, atol=1e-6)


def test_operations_are_those_of_the_formula(stream: inputs.Stream, tokenizer: Any) -> None:
    """Layers and attention for every sub-token, the head for the predicted ones; thrice that with gradients."""
    recipe = replace(SMALL, size="tiny")
    inputs = PretrainingInputs(stream, recipe, tokenizer)
    model = pretrain.from_nothing(recipe, tokenizer)
    batch = inputs.update(0)
    hidden, layers, tokens = 128, 2, recipe.batch * recipe.length
    predicted = int((batch["labels"] != IGNORED).sum())
    forwards = layers * (24 * hidden**2 + 4 * recipe.length * hidden) * tokens
    forwards += predicted * 2 * hidden * (hidden + len(tokenizer))
    assert flops(model, batch) == 3 * forwards
    assert all(parameter.grad is None for parameter in model.parameters())


def test_half_of_the_pairs_do_not_follow(stream: inputs.Stream, tokenizer: Any) -> None:
    inputs = PretrainingInputs(
        stream, Recipe(words=50_000, length=32, batch=8, next_sentence=True), tokenizer
    )
    items = [inputs[place] for place in range(400)]
    assert {len(item["input_ids"]) for item in items} == {32}
    assert np.mean([item["next_sentence_label"] for item in items]) == pytest.approx(0.5, abs=0.1)
    assert all((item["input_ids"] == stream.separator).sum() >= 2 for item in items)


def test_an_epoch_sees_every_input_once_and_place_decides_all(
    stream: inputs.Stream, tokenizer: Any
) -> None:
    inputs = PretrainingInputs(stream, SMALL, tokenizer)
    again = PretrainingInputs(stream, SMALL, tokenizer)
    count = len(inputs.slices)
    orders = [epoch_order(SMALL.seed, epoch, count).tolist() for epoch in (0, 1)]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(count))
    assert orders[0] != orders[1]
    for place in (5, 3, 5, count + 1 if count + 1 < len(inputs) else 0):
        assert all(
            (inputs[place][name] == again[place][name]).all() for name in ("input_ids", "labels")
        )
    assert inputs.words_per_update * inputs.updates >= SMALL.words


@pytest.mark.parametrize("kind", ["wordpiece", "bpe"])
@pytest.mark.costly
def test_a_vocabulary_is_the_same_in_every_process(kind: str) -> None:
    code = (
        "from blurb.corpora import demo; from blurb.extensions.lab.pretraining import pretrain\n"
        "from blurb.extensions.lab.pretraining.recipe import Recipe\n"
        "from blurb.extensions.lab.pretraining import task_texts\n"
        "texts = [each.text for each in task_texts.read_train(demo.prepare())[0]]\n"
        f"tokenizer = pretrain.train_vocabulary(texts, Recipe(vocabulary=500, kind='{kind}'))\n"
        "print(sorted(tokenizer.get_vocab().items()))"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout
    assert "[MASK]" in runs[0].stdout


def test_a_vocabulary_that_the_text_does_not_support(corpus: PretrainingCorpus) -> None:
    with pytest.raises(SettingsError, match="The text supports a vocabulary of"):
        pretrain.train_vocabulary(corpus.texts, Recipe(vocabulary=50_000))


def test_the_same_words_are_masked_under_every_vocabulary(
    corpus: PretrainingCorpus, tokenizer: Any
) -> None:
    other = pretrain.train_vocabulary(corpus.texts, Recipe(vocabulary=300, kind="bpe"))
    streams = [inputs.stream(corpus.held_out, each) for each in (tokenizer, other)]
    sizes = [
        each.sizes[places & each.starts].tolist()
        for each, places in zip(streams, [trainer.masked(each) for each in streams], strict=True)
    ]
    assert sizes[0] == sizes[1]
    assert len(sizes[0]) > 0


def test_bits_of_a_model_that_knows_nothing_are_those_of_an_even_chance(
    stream: inputs.Stream, tokenizer: Any
) -> None:
    model = pretrain.from_nothing(SMALL, tokenizer)
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    found = trainer.measure(model, tokenizer, stream, stream, SMALL.length)
    places = trainer.masked(stream)
    places[inputs.cut(stream, SMALL.length)[-1].stop :] = False
    pieces, size = int(places.sum()), int(stream.sizes[places].sum())
    assert found["model"] == pytest.approx(pieces * np.log2(len(tokenizer)) / size, rel=1e-5)
    counts = np.bincount(stream.ids, minlength=len(tokenizer)) + 1
    assert found["frequencies"] == pytest.approx(
        -np.log2(counts / counts.sum())[stream.ids[places]].sum() / size
    )
    assert found["pairs"] < found["frequencies"] < found["model"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"mask_rate": 0.0}, "mask_rate must be above 0 and below 1"),
        ({"mask_rate": 1.0}, "mask_rate must be above 0 and below 1"),
        ({"lr": float("nan")}, "lr must be a number, above 0"),
        ({"size": "huge"}, "size must be one of tiny, mini, small (got 'huge')"),
        ({"length": 4}, "length must be at least 8 and at most 512"),
        ({"vocabulary": 10}, "A vocabulary needs at least 100 entries"),
        ({"words": -1}, "must be at least 0"),
    ],
)
def test_what_no_pretraining_can_do(wrong: Mapping[str, Any], told: str) -> None:
    with pytest.raises(BlurbError) as caught:
        Recipe(**wrong).check()
    assert told.casefold() in str(caught.value).casefold()


def test_a_vocabulary_may_be_part_of_a_checkpoints(tmp_path: Path) -> None:
    """The letters of the text, then the entries with the lowest numbers; nothing else."""
    folder = tmp_path / "general"
    folder.mkdir()
    pieces = [
        "[PAD]",
        "[unused0]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "z",
        "##a",
        "a",
        "b",
        "##b",
        "the",
        "##ab",
        "of",
    ]
    BertTokenizerFast(vocab={piece: number for number, piece in enumerate(pieces)}).save_pretrained(
        folder
    )
    taken = pretrain.checkpoint_entries(str(folder))
    assert taken == ["z", "##a", "a", "b", "##b", "the", "##ab", "of"]
    made = pretrain.train_vocabulary(["ab of Ba"], Recipe(vocabulary=11, vocabulary_of=str(folder)))
    expected = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##a", "a", "b", "##b", "the", "##ab"]
    assert set(made.get_vocab()) == set(expected)
    assert made.tokenize("aab of") == ["a", "##ab", "[UNK]"]
    with pytest.raises(SettingsError, match="supports a vocabulary of 12 entries"):
        pretrain.train_vocabulary(["ab of Ba"], Recipe(vocabulary=100, vocabulary_of=str(folder)))


def test_vocabularies_that_cannot_be_taken(tmp_path: Path) -> None:
    with pytest.raises(BlurbError, match="no such checkpoint"):
        pretrain.train_vocabulary(["ab"], Recipe(vocabulary=100, vocabulary_of=str(tmp_path / "x")))
    with pytest.raises(SettingsError, match="is WordPiece"):
        Recipe(vocabulary_of="general", kind="bpe").check()
    pretrain.train_vocabulary(
        ["some text of some words"] * 9, Recipe(kind="bpe", vocabulary=264)
    ).save_pretrained(tmp_path / "bpe")
    with pytest.raises(BlurbError, match="has no WordPiece vocabulary"):
        pretrain.train_vocabulary(
            ["ab"], Recipe(vocabulary=100, vocabulary_of=str(tmp_path / "bpe"))
        )


def test_a_setting_that_came_later_changes_no_hash_before_it_is_used() -> None:
    """The hash of a recipe of 926b335d, which had the first version."""
    assert Recipe(version=1).hash("text") == "530eac3039d58f21"
    assert Recipe(vocabulary_of="general").hash("text") != Recipe().hash("text")


# Folders of other names among the checkpoints of a pretraining, and disks that are full while one is written.


ODD = (
    "checkpoint-old",
    "checkpoint-500 (copy)",
    "checkpoint-500.bak",
    "checkpoint--3",
    "checkpoint-0",
    "checkpoint-",
)


def test_folders_of_other_names_are_left_alone(tmp_path: Path) -> None:
    for name in ("checkpoint-2", "checkpoint-10", *ODD):
        (tmp_path / name).mkdir()
        for moment in trainer.MOMENTS:
            (tmp_path / name / moment).write_text("x")
        seal_folder(tmp_path / name)
    (tmp_path / "checkpoint-99").write_text("a file")
    assert trainer.last_complete(tmp_path) == tmp_path / "checkpoint-10"
    assert sorted(trainer._saved(tmp_path)) == [2, 10]
    assert all((tmp_path / name).is_dir() for name in ODD)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 302400 vs 302288"),
        SafetensorError(
            "Error while serializing: I/O error: No space left on device (os error 28)"
        ),
    ],
)
def test_a_full_disk_is_told_by_its_name(error: Exception, tmp_path: Path) -> None:
    with (
        pytest.raises(OSError, match="No space left on device") as caught,
        full_disks_told(tmp_path),
    ):
        raise error
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path))
    with pytest.raises(RuntimeError, match="shapes"), full_disks_told(tmp_path):
        raise RuntimeError("shapes cannot be multiplied")
