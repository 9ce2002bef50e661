"""The vocabulary report: the paper's Table 1, lengths as in training, mentions by the spans of the gold answers."""

import json
import os
import shutil
from pathlib import Path

import pytest

from blurb import formulations, tasks
from blurb.checkpoints import Checkpoint
from blurb.checkpoints.references import published_terms
from blurb.checkpoints.source import NO_LIMIT
from blurb.corpora import demo
from blurb.data import read_split
from blurb.extensions.lab.vocabulary import (
    count,
    split,
    terms_of,
    vocabulary,
    vocabulary_hash,
    write_plot,
)
from blurb.inputs.tagging import decode_spans
from blurb.inputs.words import word_pieces
from blurb.messages.errors import DataError
from tests.checkpoints import KINDS
from tests.cli.in_process import ran, run
from tests.conftest import Builder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vocabulary")
    demo.write(folder)
    return folder


def test_the_vocabulary_of_bert_splits_the_terms_of_table_1_as_printed(minilm: Path) -> None:
    assert {
        term: "-".join(pieces)
        for term, pieces in split(Checkpoint(minilm).tokenizer, list(published_terms())).items()
    } == {term: vocabularies["BERT"] for term, vocabularies in published_terms().items()}


@pytest.mark.costly
@pytest.mark.parametrize(
    ("task", "mean"), [("ncbi-disease", 34.6), ("gad", 42.6), ("biosses", 78.2), ("pubmedqa", 330)]
)
def test_lengths_of_the_real_files_with_the_vocabulary_of_bert(
    task: str, mean: float, minilm: Path, real_data: Path
) -> None:
    """As counted before on the same files (docs/benchmark.md, Table 8)."""
    examples = [
        row for split in tasks.SPLITS for row in read_split(tasks.get(task), real_data, split)
    ]
    assert count(
        "m", Checkpoint(minilm).tokenizer, formulations.bind(tasks.get(task)), examples, 512
    )["mean_length"] == pytest.approx(mean, abs=0.05 if mean < 100 else 0.5)


@pytest.mark.costly
@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_those_of_the_features_of_training(
    kind: str, checkpoint: Builder, data: Path
) -> None:
    tokenizer = Checkpoint(checkpoint(kind)).tokenizer
    for task in (one for one in tasks.all() if one.paper_order):
        examples = list(read_split(task, data, "test"))
        formulation = formulations.bind(task)
        features = formulation.features(formulation.units(examples), tokenizer, NO_LIMIT)
        limit = int(features.ids.lengths.mean())
        found = count("m", tokenizer, formulation, examples, limit)
        assert found["inputs"] == len(features)
        assert found["mean_length"] == len(features.ids.values) / len(features)
        assert found["longer"] == (features.ids.lengths > limit).sum()
        assert (len(features.ids.values) - found["subtokens"]) % len(features) == 0, (
            "every input has the same special tokens"
        )


@pytest.mark.parametrize("kind", ["minilm", "bert_uncased", "roberta", "t5"])
def test_mentions_are_the_spans_of_the_gold_answers(
    kind: str, checkpoint: Builder, minilm: Path, data: Path
) -> None:
    tokenizer = Checkpoint(minilm if kind == "minilm" else checkpoint(kind)).tokenizer
    known = {
        "tokens": ["insulin", "or", "lithium", "naloxone"],
        "tags": ["B-Drug", "O", "B-Drug", "I-Drug"],
    }
    examples = [*read_split(tasks.get("bc5-chem"), data, "test"), known]
    mentions = whole = words = pieces = 0
    for row in examples:
        found = tokenizer.subtokens([" ".join(row["tokens"])])[0]
        # A word's own sub-tokens: those that begin in it; blanks alone belong to the word behind them.
        places, starts = word_pieces(row["tokens"], found), [0]
        for word in row["tokens"]:
            starts.append(starts[-1] + len(word) + 1)
        for span in decode_spans(row["tags"]):
            own = [
                sum(starts[at] <= start < starts[at + 1] for start in found.starts)
                for at in range(span.start, span.end)
            ]
            assert all(place[0] >= 0 for place in places[span.start : span.end])
            mentions, whole = mentions + 1, whole + all(number == 1 for number in own)
            words, pieces = words + len(own), pieces + sum(own)
    counted = count("m", tokenizer, formulations.bind(tasks.get("bc5-chem")), examples, 512)
    assert (counted["mentions"], counted["whole_mentions"]) == (mentions, whole)
    assert (counted["mention_words"], counted["mention_subtokens"]) == (words, pieces)
    assert whole < mentions
    assert whole == (kind == "minilm"), (
        "insulin, of all mentions; the tiny vocabularies keep none whole"
    )


def test_unknown_tokens_are_counted_and_shown(checkpoint: Builder, data: Path) -> None:
    tokenizer = Checkpoint(checkpoint("bert_uncased")).tokenizer
    assert split(tokenizer, ["ꙮ"]) == {"ꙮ": ["[UNK]"]}
    task = tasks.get("hoc")
    examples = [{"id": "1", "doc_id": None, "text": "ꙮ the ꙮ", "labels": []}]
    assert count("m", tokenizer, formulations.bind(task), examples, 512)["unknown"] == 2


@pytest.mark.costly
def test_a_tokenizer_alone_is_enough_and_equal_vocabularies_are_told(
    checkpoint: Builder, data: Path, tmp_path: Path
) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    for path in checkpoint("bert_uncased").glob("*token*"):
        shutil.copy(path, alone)
    arguments = [
        "vocab",
        str(checkpoint("bert_uncased")),
        str(alone),
        str(checkpoint("roberta")),
        "--data",
        str(data),
    ]
    result = ran([*arguments, "--tasks", "gad,ncbi-disease", "--plot", str(tmp_path / "v.png")])
    assert "is also that of alone, entry by entry." in result.output
    assert (tmp_path / "v.png").is_file()
    first, second, third = json.loads(run(*arguments, "--tasks", "gad", "--format", "json").stdout)[
        "models"
    ]
    assert first["vocabulary"] == second["vocabulary"] != third["vocabulary"]
    assert first["subtokens_per_word"] == second["subtokens_per_word"]
    assert first["whole_mentions"] is None
    assert vocabulary_hash(Checkpoint(alone).tokenizer) == first["vocabulary"]


def test_terms_of_ones_own_are_read_and_a_file_that_is_no_text_is_refused(
    checkpoint: Builder, tmp_path: Path
) -> None:
    path = tmp_path / "terms.txt"
    path.write_bytes(b"\xef\xbb\xbfaspirin\r\n\r\nthe DNA\naspirin\n")
    report, _ = vocabulary([str(checkpoint("bert_uncased"))], terms=path)
    assert [each["term"] for each in report["terms"]] == ["aspirin", "the DNA"]
    for content, message in (
        (
            "fine\ncaf\u00e9\n".encode("latin-1"),
            "terms.txt:2: this line is not UTF-8 .*; save the file as UTF-8",
        ),
        ("aspirin\n".encode("utf-16"), "terms.txt: this is text in UTF-16; save it as UTF-8"),
        ("aspirin\n".encode("utf-16-le"), "terms.txt: this is text in UTF-16; save it as UTF-8"),
        (b"fine\n" + "caf\u00e9".encode("utf-16"), "terms.txt:2: this line is not UTF-8"),
        (b"fine\na\0b\n", "terms.txt:2: the line is not text"),
        (b"\n \n", "the file is empty"),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=message):
            vocabulary([str(checkpoint("bert_uncased"))], terms=path)
    with pytest.raises(DataError, match="the file is missing"):
        terms_of(tmp_path / "nowhere.txt")


def test_a_pipe_is_no_file_of_terms(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "terms.txt")
    with pytest.raises(Exception, match="no ordinary file"):
        terms_of(tmp_path / "terms.txt")


@pytest.mark.parametrize("name", ["$\\frac$", "a_$^$"])
def test_a_name_in_the_picture_is_no_formula(name: str, tmp_path: Path) -> None:
    """The style of all plots says so; Matplotlib stops at what is no TeX between two dollars."""
    counts = {"subtokens": 10, "words": 5, "mentions": 4, "whole_mentions": 2}
    write_plot([{"model": name, "task": name, **counts}], tmp_path / "x.svg")  # type: ignore[typeddict-item]
    assert name in (tmp_path / "x.svg").read_text()
