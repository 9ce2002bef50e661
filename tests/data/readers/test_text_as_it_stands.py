"""What stands in a file is what is read: columns of CoNLL, blanks around labels, forms of labels, roles of entities.

Oracles: the sentences as written by hand, and seqeval for IOB1.
"""

import json
import random
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import seqeval.metrics.sequence_labeling

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.data.readers import task_file
from blurb.data.readers._examples import telling_trimmed_labels
from blurb.data.readers.task_file import guess
from blurb.inputs import relations, tagging
from blurb.messages.errors import DataError, Notice, SettingsError
from tests.cli.in_process import blurb as command
from tests.data.readers.test_task_file import declare


@pytest.fixture(autouse=True)
def _no_task_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_files", {})


def rows_of(
    path: Path,
    text: str,
    kind: str = "ner",
    form: str = "conll",
    labels: Sequence[str] = ("Disease",),
    **more: Any,
) -> list[Any]:
    path.write_text(text, encoding="utf-8")
    layout: Mapping[str, Any] = {"kind": form, **more}
    return list(task_file.read(path, declare(kind, tuple(labels), layout), "train"))


def new(folder: Path, name: str, kind: str, file: str) -> tuple[int, str, str]:
    """What `blurb tasks new` answers for a task with the same file in every split."""
    splits = (word for split in tasks.SPLITS for word in (f"--{split}", file))
    return command(["tasks", "new", name, "--type", kind, *splits], folder)


@pytest.mark.parametrize(
    ("text", "line", "columns"),
    [
        ("is O\nBreast cancer B-Disease\n", 2, 3),
        ("is O\n\nType 2 diabetes B-Disease\n", 3, 4),
        ("is\tO\nIL - 2 O\n", 2, 1),  # without TABs, in a file that has them
        ("a\tNN\tO\nb\tO\n", 2, 2),
        ("a NN O\nb O\n", 2, 2),
        ("a O\nb\tO x\n", 2, 3),  # a TAB, in a file of blanks
        ("# sent_id = 1\na\tO\n# a word\n", 3, 1),
        ("-DOCSTART- -X- -X- O\n\na O\nb O O\n", 4, 3),
        ("# O\na b O\n", 2, 3),
    ],
)
def test_a_line_of_conll_with_another_number_of_columns(
    text: str, line: int, columns: int, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=f"found {columns}") as caught:
        rows_of(tmp_path / "a.conll", text)
    assert caught.value.line == line
    with pytest.raises(DataError) as caught:
        blurb.score("ncbi-disease", tmp_path / "a.conll", suite="demo")
    assert caught.value.line == line


@pytest.mark.parametrize(
    "text",
    [
        "-DOCSTART-\tO\n\nkalo\tNN\tx\tB-Disease\nmi\tNN\tx\tO\n",  # as the files of SciBERT
        "# id = 7\nkalo\tB-Disease\nmi\tO\n",
        "# sent_id = 1\n# text = kalo mi\nkalo\tB-Disease\nmi\tO\n",
        "#begin document (7); part 000\nkalo B-Disease\nmi O\n#end document\n"[:-14],
        "kalo  B-Disease \nmi\v O\n",
    ],
)
def test_headers_and_comments_have_any_number_of_columns(text: str, tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path / "a.conll", text)
    assert (row["tokens"], row["tags"]) == (["kalo", "mi"], ["B-Disease", "O"])


def test_a_word_may_begin_with_the_sign_of_a_comment(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path / "a.conll", "#\tO\n#5\tB-Disease\n# 1\tO\n")
    assert row["tokens"] == ["#", "#5", "# 1"]


@pytest.mark.parametrize(
    ("kind", "form", "text"),
    [
        ("ner", "conll", "kalo\tB-Drug\n\nmi\tB-Drug \n\ntra\tO \n"),
        (
            "ner",
            "jsonl",
            '{"tokens": ["a", "b"], "tags": ["B-Drug ", " O"]}\n{"tokens": ["a"], "tags": ["B-Drug"]}\n',
        ),
        ("qa", "tsv", "question\tcontext\tlabel\na\tb\tDrug\na\tc\tDrug \nd\te\t Drug\n"),
        (
            "document",
            "jsonl",
            '{"text": "a", "labels": ["Drug "]}\n{"text": "b", "labels": [" Drug", "Drug"]}\n',
        ),
        (
            "qa",
            "jsonl",
            '{"question": "a", "context": "b", "label": "Drug\\u00a0"}\n'
            '{"question": "a", "context": "c", "label": "\\ufeffDrug\\u200b"}\n',
        ),
    ],
)
def test_blanks_around_labels_are_cut_and_counted(
    kind: str, form: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "a"
    path.write_text(text, encoding="utf-8")
    assert guess([path], kind, form).labels == ["Drug"]
    with (
        pytest.warns(Notice, match="blanks at the ends of 2 labels were cut") as told,
        telling_trimmed_labels(path),
    ):
        rows = rows_of(path, text, kind, form, ["Drug"])
    assert len(told) == 1
    assert "Drug " not in json.dumps(rows)


def test_blanks_around_labels_of_blurbs_own_files_change_nothing(tmp_path: Path) -> None:
    demo.write(tmp_path)
    for name in ("ncbi-disease", "gad", "ddi", "ebm-pico"):
        task = tasks.get(name)
        before = read_split(task, tmp_path, "dev")
        path = tmp_path / task.files["dev"]
        path.write_text(
            path.read_text()
            .replace("\tO\n", "\tO \n")
            .replace("\t1\n", "\t1 \n")
            .replace("false\n", "false \n")
        )
        with pytest.warns(Notice, match="blanks at the ends of"):
            assert read_split(task, tmp_path, "dev") == before


def test_predictions_with_blanks_around_labels_score_as_without(tmp_path: Path) -> None:
    lines = (
        "".join(f"{word}\t{tag} \n" for word, tag in zip(r["tokens"], r["tags"], strict=True))
        for r in read_split(tasks.get("ncbi-disease"), demo.prepare(), "test")
    )
    (tmp_path / "a.conll").write_text("\n".join(lines))
    with pytest.warns(Notice, match="labels were cut"):
        assert blurb.score("ncbi-disease", tmp_path / "a.conll", suite="demo")[0].score == 100.0


def test_iob1_is_read_as_seqeval_reads_it(tmp_path: Path) -> None:
    draw = random.Random(0)
    sentences = [
        [draw.choice(["O", "I-A", "I-B", "B-A", "B-B"]) for _ in range(draw.randint(1, 9))]
        for _ in range(500)
    ]
    text = "\n".join("".join(f"w {tag}\n" for tag in tags) for tags in sentences)
    rows = rows_of(tmp_path / "a.conll", text, labels=("A", "B"), scheme="iob1")
    for tags, row in zip(sentences, rows, strict=True):
        expected = seqeval.metrics.sequence_labeling.get_entities(tags)
        assert [(s.type, s.start, s.end - 1) for s in tagging.decode_spans(row["tags"])] == expected
    with pytest.raises(DataError, match="iob1 also reads entities that begin with I"):
        rows_of(tmp_path / "a.conll", text, labels=("A", "B"))


def test_predictions_in_iob1_by_name(tmp_path: Path) -> None:
    answers = [
        [
            tag.replace("B-", "I-") if i == 0 or row["tags"][i - 1] == "O" else tag
            for i, tag in enumerate(row["tags"])
        ]
        for row in read_split(tasks.get("ncbi-disease"), demo.prepare(), "test")
    ]
    assert (
        blurb.score("ncbi-disease", answers, suite="demo", scheme="iob1")[0].figures["strict_f1"]
        == 100.0
    )


HEAD, TAIL = {"start": 0, "end": 4, "type": "A"}, {"start": 10, "end": 13, "type": "A"}


def test_the_roles_of_a_directed_relation_are_kept(tmp_path: Path) -> None:
    """Two examples that differ in direction alone; both were read with the first entity as head."""
    lines = [
        {"text": "kalo cuts min", "head": HEAD, "tail": TAIL, "label": "uses"},
        {"text": "kalo cuts min", "head": TAIL, "tail": HEAD, "label": "none"},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    there, back = rows_of(tmp_path / "a.jsonl", text, "relation", "jsonl", ["uses", "none"])
    assert (there["head"], there["tail"]) == (back["tail"], back["head"]) == (HEAD, TAIL)
    assert relations.mark(back, "markers").text == "[E2] kalo [/E2] cuts [E1] min [/E1]"
    dummies = relations.mark({**back, "head": {**TAIL, "type": "B"}}, "dummify")
    assert dummies == ("@A$ cuts @B$", (9, 12), (0, 3))
    assert relations.mark(there, "original")[1:] == relations.mark(back, "original")[:0:-1]


@pytest.mark.parametrize("strategy", relations.STRATEGIES)
def test_turned_entities_are_marked_as_they_were_but_for_their_roles(strategy: str) -> None:
    """On random spans: disjoint ones turned give the same places, turned."""
    draw = random.Random(1)
    text = "".join(draw.choice("ab c") for _ in range(30))
    for _ in range(300):
        start, end, second, last = sorted(draw.sample(range(31), 4))
        head, tail = (
            {"start": start, "end": end, "type": "A"},
            {"start": second, "end": last, "type": "B"},
        )
        row, turned = (
            {"text": text, "head": h, "tail": t} for h, t in ((head, tail), (tail, head))
        )
        one, other = relations.mark(row, strategy), relations.mark(turned, strategy)
        expected = (
            one.text if strategy != "markers" else one.text.translate(str.maketrans("12", "21"))
        )
        assert (other.text, other.head, other.tail) == (expected, one.tail, one.head)


@pytest.mark.parametrize(
    ("kind", "name", "text", "labels", "train"),
    [
        (
            "document",
            "a.jsonl",
            '{"text":"a","labels":"Uses"}\n{"text":"b","labels":["Uses","Has"]}\n',
            ["Has", "Uses"],
            [["Uses"], ["Uses", "Has"]],
        ),
        ("document", "a.tsv", "text\tlabel\na\tpos\nb\tneg\n", ["neg", "pos"], [["pos"], ["neg"]]),
        (
            "document",
            "a.jsonl",
            '{"text":"a","label":3}\n{"text":"b","label":[4]}\n',
            ["3", "4"],
            [["3"], ["4"]],
        ),
        (
            "qa",
            "a.jsonl",
            '{"question":"a","context":"c","label":1}\n{"question":"b","context":"c","label":0.0}\n',
            ["0", "1"],
            ["1", "0"],
        ),
        (
            "qa",
            "a.jsonl",
            '{"question":"a","context":"c","labels":["x"]}\n{"question":"b","context":"c","labels":"y"}\n',
            ["x", "y"],
            ["x", "y"],
        ),
        ("qa", "a.tsv", "question\tcontext\tlabels\na\tb\tx\nc\td\ty\n", ["x", "y"], ["x", "y"]),
    ],
)
def test_tasks_new_reads_labels_of_every_form(
    kind: str, name: str, text: str, labels: list[str], train: list[Any], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    code, out, err = new(tmp_path, "mine", kind, name)
    assert (code, f"Labels: {', '.join(labels)}. Examples: train 2, dev 2, test 2." in out) == (
        0,
        True,
    ), out + err
    task = tasks._file.load(tmp_path / "mine.toml")
    assert task.labels == tuple(labels)
    field = "labels" if kind == "document" else "label"
    assert [row[field] for row in read_split(task, tmp_path, "train")] == train


@pytest.mark.parametrize("name", ["gad", "My_Doc", "Sci-NCBI", "rows", "blurb-12", "a b", ""])
def test_tasks_new_writes_nothing_under_a_name_that_no_task_can_have(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "a.tsv").write_text("question\tcontext\tlabel\na\tb\tx\n")
    code, out, _ = new(tmp_path, name, "qa", "a.tsv")
    assert (code, out) == (2, "")
    assert [path.name for path in tmp_path.iterdir()] == ["a.tsv"]


def test_tasks_new_that_fails_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("question\tcontext\tgold\na\tb\tx\n")
    code, _, err = new(tmp_path, "mine", "qa", "a.tsv")
    assert code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.tsv"]
    assert "missing: label; present: question, context, gold" in " ".join(err.split())
    assert "set columns = { label = ... }" in " ".join(err.split())


def test_labels_that_differ_by_blanks_or_case_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(
        "question\tcontext\tlabel\na\tb\tDrug\nc\td\tdrug\ne\tf\tDr ug\ng\th\tGene\n"
    )
    told = "these labels differ by blanks or case only: Dr ug, Drug, drug."
    code, _, err = new(tmp_path, "mine", "qa", "a.tsv")
    assert (code, told in err) == (0, True)
    toml = (tmp_path / "mine.toml").read_text()
    (tmp_path / "mine.toml").write_text(toml.replace('"Gene"', '"Gene "'))
    _, out, err = command(["doctor", "mine.toml"], tmp_path)
    assert "the label 'Gene ' has blanks at its ends" in " ".join((out + err).split())


def test_a_byte_order_mark_and_a_number_that_is_none_are_no_labels(tmp_path: Path) -> None:
    """Where files were put together, a mark stands before a tag or behind it; JSON of Python has NaN."""
    (tmp_path / "a.conll").write_text("a\tO\ufeff\nb\t\ufeffB-Drug\n")
    assert guess([tmp_path / "a.conll"], "ner", "conll").labels == ["Drug"]
    (tmp_path / "a.jsonl").write_text('{"text": "a", "label": NaN}\n')
    with pytest.raises(DataError, match=r"a.jsonl:1: label must be a text, a number"):
        guess([tmp_path / "a.jsonl"], "classification", "jsonl")
    with pytest.raises(
        DataError, match=r"a.jsonl:1: label must be a text, a number, .* \(got 'nan'\)"
    ):
        rows_of(
            tmp_path / "a.jsonl",
            '{"text": "a", "label": NaN}\n',
            "classification",
            "jsonl",
            labels=("nan",),
        )
    names = 'files = { train = "a", dev = "a", test = "a" }\nformat = { kind = "conll" }\n'
    (tmp_path / "mine.toml").write_text(
        f'name = "mine"\ntype = "ner"\nlabels = ["\ufeffDrug"]\n{names}'
    )
    with pytest.raises(SettingsError, match="has blanks at its ends"):
        tasks.load(str(tmp_path / "mine.toml"))


def test_no_notice_where_nothing_is_cut(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", Notice)
        read_split(tasks.get("gad"), demo.prepare(), "dev")
