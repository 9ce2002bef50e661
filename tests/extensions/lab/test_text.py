"""Documents of files, and what is kept out of a pretraining."""

import contextlib
import gzip
import shutil
from pathlib import Path

import pytest

from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import path_of, read_split
from blurb.data.schema import input_texts
from blurb.extensions.lab.pretraining import documents, inputs, task_texts
from blurb.extensions.lab.pretraining.documents import TextDocument
from blurb.extensions.lab.pretraining.request import collect, mixed
from blurb.messages.errors import BlurbError, DataError

ARTICLE = """<PubmedArticle><MedlineCitation><PMID Version="1">{}</PMID><Article><ArticleTitle>On <i>kalo</i> &amp; mi
</ArticleTitle><Abstract><AbstractText Label="AIM">First part.</AbstractText><AbstractText>Second part.</AbstractText>
</Abstract></Article><CommentsCorrectionsList><CommentsCorrections><PMID>999</PMID></CommentsCorrections>
</CommentsCorrectionsList></MedlineCitation></PubmedArticle>"""
XML = f"<PubmedArticleSet>{ARTICLE.format(11)}{ARTICLE.format(12)}</PubmedArticleSet>"


def written(path: Path, content: str) -> Path:
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return path


@pytest.mark.parametrize("name", ["a.xml", "a.xml.gz"])
def test_pubmed_has_the_id_title_and_abstract_of_each_article(tmp_path: Path, name: str) -> None:
    assert list(documents.read(written(tmp_path / name, XML))) == [
        TextDocument("On kalo & mi\nFirst part.\nSecond part.", pmid) for pmid in ("11", "12")
    ]


def test_text_and_json_lines_and_a_folder_of_both(tmp_path: Path) -> None:
    written(tmp_path / "a.txt", "one two\nthree\n\n\nfour\n")
    written(
        tmp_path / "b.jsonl",
        '{"title": "five", "abstract": "six", "pmid": 7}\n\n{"text": "eight"}\n',
    )
    written(tmp_path / "c.csv", "no text")
    assert list(documents.read(tmp_path)) == [
        TextDocument("one two\nthree"), TextDocument("four"), TextDocument("five\nsix", "7"), TextDocument("eight")
    ]  # fmt: skip


DECLARED = "<?xml version='1.0' encoding='{}'?><PubmedArticleSet/>"
BOMB = '<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;">]><a>&z;</a>'


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.xml", XML[:-40], ": is damaged or cut"),
        ("a.xml", BOMB, "declares entities"),
        ("a.jsonl", '{"text": "a"}\n{"text": 5}\n', "a.jsonl:2: expected an object"),
        ("a.jsonl", "{", "a.jsonl:1: not valid JSON"),
        ("a.csv", "a", "is of no kind that can be read"),
        ("a.txt", "", "There is no text to pretrain on: it is empty"),
    ],
)
def test_what_is_no_text_is_named(tmp_path: Path, name: str, content: str, told: str) -> None:
    with pytest.raises(BlurbError) as caught:
        collect(documents.read(written(tmp_path / name, content)), None)
    assert told in str(caught.value)


def test_a_damaged_gzip_file_is_named_wherever_it_is_damaged(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt.gz", "".join(f"word{number} " for number in range(3_000)))
    whole = path.read_bytes()
    for place in range(10, len(whole) - 8, 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with contextlib.suppress(DataError):
            list(documents.read(path))


def test_documents_of_dev_and_test_are_kept_out_by_text_and_by_pmid() -> None:
    folder = demo.prepare()
    known = task_texts.read_held_out(folder)
    for task in tasks.all():
        if task.dummified:
            continue
        for split in ("dev", "test"):
            for row in read_split(task, folder, split):  # type: ignore[arg-type]
                for text in input_texts(row):
                    if len(task_texts.words(text)) > task_texts.WINDOW:
                        noise = f"Some words before. {text.upper()} And some after."
                        assert known.reason(TextDocument(noise)) == "text", (task.name, row["id"])
    assert (
        known.reason(
            TextDocument("none of these words were ever in a set of anybody at all, be sure of it")
        )
        == ""
    )
    assert task_texts.HeldOut(frozenset({"11"})).reason(TextDocument("x", "11")) == "pmid"


@pytest.mark.parametrize("version", [1, 2])
def test_any_piece_of_twelve_words_is_enough(version: int) -> None:
    """From every word on, escaped as HTML, and in another normal form; version 1 found every twelfth piece."""
    known = task_texts.read_held_out(demo.prepare(), version)
    missed = {"piece": 0, "numbers": 0, "letters": 0}
    count = 0
    for sentence in [
        task_texts.words(sentence)
        for task in tasks.all()
        if not task.dummified
        for row in read_split(task, demo.prepare(), "test")[:20]
        for text in input_texts(row)
        for sentence in task_texts.SENTENCE_END.split(text)
    ]:
        for at in range(
            len(sentence) - task_texts.WINDOW + 1 if len(sentence) > task_texts.WINDOW else 0
        ):
            piece = " ".join(sentence[at : at + task_texts.WINDOW])
            forms = {
                "piece": piece,
                "numbers": "".join(f"&#{ord(sign)};" if sign != " " else " " for sign in piece),
                "letters": "".join(
                    chr(ord(sign) + 0xFEE0) if "a" <= sign <= "z" else sign for sign in piece
                ),
            }
            count += 1
            for name, text in forms.items():
                missed[name] += known.reason(TextDocument(f"before {text} after")) != "text"
    assert count > 100
    assert (sum(missed.values()) == 0) == (version == 2)
    assert (missed["piece"] > count / 2) == (version == 1)


def test_nothing_is_left_of_a_test_set() -> None:
    rows = read_split(tasks.get("hoc"), demo.prepare(), "test")
    whole = [
        TextDocument(" ".join(input_texts(row)))
        for row in rows
        if len(task_texts.words(input_texts(row)[0])) > task_texts.WINDOW
    ]
    with pytest.raises(DataError, match="have text of dev or test"):
        collect(whole, task_texts.read_held_out(demo.prepare()))


def test_train_texts_are_there_once_and_without_dummies() -> None:
    folder = demo.prepare()
    (alone, lost), (both, left) = (
        task_texts.read_train(folder),
        task_texts.read_train(folder, folder),
    )
    lines = [line for document in alone for line in document.text.split("\n")]
    assert len(lines) == len({line.casefold() for line in lines})
    assert not any(task_texts.DUMMY.search(line) for line in lines)
    assert lost == {
        "chemprot": "--raw was not given.", "ddi": "--raw was not given.", "gad": "nothing is known of its originals."
    }  # fmt: skip
    with_originals = [line for document in both for line in document.text.split("\n")]
    assert len(with_originals) > len(lines)
    assert not any(task_texts.DUMMY.search(line) for line in with_originals)
    assert list(left) == ["gad"]
    with pytest.raises(DataError, match="the folder of the original releases does not exist"):
        task_texts.read_train(folder, folder / "nowhere")


def test_an_empty_folder_of_originals_is_told(tmp_path: Path) -> None:
    _, missing = task_texts.read_train(demo.prepare(), tmp_path)
    assert list(missing) == ["chemprot", "ddi", "gad"]
    assert str(tmp_path) in missing["ddi"]


def test_a_damaged_dev_or_test_file_is_no_missing_one(tmp_path: Path) -> None:
    """What it holds could not be kept out. A set with one of both splits is named with it."""
    folder = shutil.copytree(demo.prepare(), tmp_path / "data")
    hoc = tasks.get("hoc")
    path_of(hoc, folder, "dev").unlink()
    assert "hoc (test)" in task_texts.read_held_out(folder).tasks
    path_of(hoc, folder, "test").write_text("cut\n")
    with pytest.raises(DataError, match=f"{path_of(hoc, folder, 'test').name}:1"):
        task_texts.read_held_out(folder)


def test_the_only_document_is_cut(tmp_path: Path) -> None:
    """A file with a sentence a line and no blank line is one document."""
    lines = [f"word{number} and more" for number in range(200)]
    corpus = collect([TextDocument("\n".join(lines))], None)
    assert [len(" ".join(part).split()) for part in (corpus.texts, corpus.held_out)] == [588, 12]
    assert "\n".join([*corpus.texts, *corpus.held_out]) == "\n".join(lines)
    with pytest.raises(DataError, match="it is a single word"):
        collect([TextDocument("word")], None)


def test_real_train_texts_have_the_words_that_were_counted(test_data: Path) -> None:
    """1.94 million unique words were counted over ten sets, of which GAD (109,000) has dummies alone and DDI and
    ChemProt (355,000) need their originals; neither EBM PICO nor originals are read here."""
    documents_, _ = task_texts.read_train(test_data / "blurb")
    assert 1_300_000 < sum(len(each.text.split()) for each in documents_) < 1_500_000
    known = task_texts.read_held_out(test_data / "blurb")
    assert 50 < collect(documents_, known).left_out["text"] < 400


def test_the_smaller_of_two_corpora_is_repeated() -> None:
    small, large = ["a b"], ["c d e"] * 4
    assert sorted(mixed(small, large)) == sorted([*large, *small * 6])
    assert sorted(mixed(large, small)) == sorted([*large, *small * 6])
    part = [f"{number}" for number in range(100)]
    assert len(mixed(part, ["x"] * 140)) == 280, "40 of the 100 a second time"


HOSTILE: dict[str, tuple[str, bytes, str]] = {
    **{f"XML in {name}": ("x.xml", DECLARED.format(name).encode(), "declares an encoding that cannot be read")
       for name in ("foo", "utf-7", "utf-32", "shift_jis", "idna", "punycode", "rot13", "zlib_codec", "base64")},
    "a number of many digits": ("x.jsonl", b'{"text": "a b c", "n": ' + b"1" * 5_000 + b"}", "not usable as JSON"),
    "half a pair": ("x.jsonl", b'{"text": "a \\ud800 b c"}', "half of a surrogate pair"),
    "a file that was cut": ("x.txt.gz", gzip.compress(b"one two three\n" * 1000)[:-12], "file is damaged or cut"),
    "nesting": ("x.xml.gz", gzip.compress(b"<a>" * 1_000_000), "more than 100 tags that are open at once"),
    "a text without end": ("x.txt.gz", gzip.compress(b"word word\n" * 6_000_000), "separate documents by blank lines"),
    "a title without end": ("x.xml.gz", gzip.compress(b"<ArticleTitle>" + b"word " * 12_000_000), "an article of more"),
    "a tag without end": ("x.xml.gz", gzip.compress(b"<a x='" + b"word " * 12_000_000), "a tag of more than"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_fills_the_memory_or_cannot_be_read_is_named(name: str, tmp_path: Path) -> None:
    """Each ended with a traceback, or with gigabytes."""
    file, content, told = HOSTILE[name]
    (tmp_path / file).write_bytes(content)
    with pytest.raises(DataError, match=told) as caught:
        list(documents.read(tmp_path / file))
    assert caught.value.path == tmp_path / file


def test_a_small_budget_reads_a_small_part_of_a_large_text() -> None:
    texts = [f"{number} " + "word " * 99 for number in range(20_000)]
    part = inputs.enough(texts, 5_000, seed=1)
    assert sum(len(text.split()) for text in part) == inputs.LEAST_WORDS
    assert [int(text.split()[0]) for text in part] == sorted(int(text.split()[0]) for text in part)
    assert set(inputs.enough(texts, 5_000, seed=2)) != set(part)
    assert inputs.enough(texts, 10**9, seed=1) == texts
