"""Every kind of damaged file is a DataError that names the file, the right line and what was expected."""

import json
import os
import tempfile
from itertools import product
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

from blurb import data, tasks
from blurb.data import read_split
from blurb.data.schema import hash_rows, to_dataset
from blurb.messages.errors import DataError
from blurb.table_files import text_of
from tests.data.samples import HOC_LABELS, READERS, SAMPLES, put

HEADED = {
    "gad": "index\tsentence\tlabel\n",
    "biosses": "pair_id\tsent1\tsent2\tscore\n",
    "hoc": "labels\tsentence\tindex\n",
}
TABLES = ("chemprot", "ddi", "gad", "biosses", "hoc", "bioasq")
QUESTION = '"QUESTION": "a", "CONTEXTS": ["b"], "final_decision": "yes"'


def _error(
    folder: Path, name: str, content: str | bytes, line: int | None = None, *told: str
) -> DataError:
    """The error of a file, which names it, this line of it and these words."""
    path = put(folder, name, content)
    with pytest.raises(DataError) as caught:
        data.read_split(tasks.get(name), folder, "train")
    assert caught.value.path == path
    assert str(caught.value).startswith(f"{path}:")
    assert line in (None, caught.value.line)
    assert all(words in str(caught.value) for words in told), caught.value
    return caught.value


@pytest.mark.parametrize("name", READERS)
def test_missing_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="the file is missing") as caught:
        data.read_split(tasks.get(name), tmp_path, "dev")
    assert caught.value.path == tmp_path / tasks.get(name).files["dev"]


@pytest.mark.parametrize("name", READERS)
def test_a_folder_in_the_place_of_the_file(tmp_path: Path, name: str) -> None:
    (tmp_path / tasks.get(name).files["train"]).mkdir(parents=True)
    with pytest.raises(DataError, match="cannot be read"):
        data.read_split(tasks.get(name), tmp_path, "train")


def test_missing_data_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"does not exist.*--data"):
        data.load_task(tasks.get("gad"), tmp_path / "nowhere")


EMPTY = [
    *product(READERS, (b"", b"\n", b" \r\n\t\n"), ["the file is empty"]),
    *((name, b"\xef\xbb\xbf", "") for name in READERS),
    *((name, header, "no examples") for name, header in sorted(HEADED.items())),
    ("jnlpba", "-DOCSTART- 1\n\n-DOCSTART- 2\n", "no examples"),
]


@pytest.mark.parametrize(("name", "content", "told"), EMPTY)
def test_a_file_without_examples(
    tmp_path: Path, name: str, content: str | bytes, told: str
) -> None:
    """Empty, blank, a byte order mark alone, a header alone."""
    _error(tmp_path, name, content, None, told)


@pytest.mark.parametrize("name", READERS)
def test_invalid_utf8_names_the_line_and_the_byte(tmp_path: Path, name: str) -> None:
    first, rest = SAMPLES[name].encode().split(b"\n", 1)
    _error(tmp_path, name, first + b"\nka\xfflo" + rest, 2, "not UTF-8", "0xff")


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        *((name, SAMPLES[name].count("\n"), "TAB-separated columns") for name in TABLES),
        ("bc5-chem", 6, "found 1 column"),
        ("ebm-pico", 11, "found 1 column"),
    ],
)
def test_a_file_that_was_cut_in_a_row(tmp_path: Path, name: str, line: int, message: str) -> None:
    _error(tmp_path, name, SAMPLES[name].rstrip("\n").rpartition("\t")[0], line, message)


def test_a_json_file_that_was_cut(tmp_path: Path) -> None:
    cut = SAMPLES["pubmedqa"][:-5]
    _error(tmp_path, "pubmedqa", cut, cut.count("\n") + 1, "not valid JSON")


@pytest.mark.parametrize("name", TABLES)
def test_a_column_too_many_or_a_blank_line_in_a_table(tmp_path: Path, name: str) -> None:
    first, second, *rest = SAMPLES[name].split("\n")
    _error(tmp_path, name, "\n".join([first, second + "\tmore", *rest]), 2)
    _error(tmp_path, name, "\n".join([first, second, "", *rest]), 3)


@pytest.mark.parametrize("name", sorted(HEADED))
def test_another_header(tmp_path: Path, name: str) -> None:
    _error(tmp_path, name, SAMPLES[name].split("\n", 1)[1], 1, "expected the header")


@pytest.mark.parametrize(
    ("name", "content", "line", "told"),
    [
        # An unknown label
        ("bc5-chem", "a\tB\nb\tX\n", 2, ""),
        ("bc5-chem", "a\tB\nb\tB-Chemical\n", 2, ""),
        ("bc5-chem", "a\tB\nb\t\n", 2, ""),
        ("ebm-pico", "a\tI-PAR\n.\tO\n\nb\tB-PAR\n", 4, ""),
        ("ebm-pico", "a\tI-POP\n", 1, ""),
        ("chemprot", "1.T1.T2\t@CHEMICAL$ @GENE$\tCPR:10\n", 1, ""),
        ("ddi", "a.b\t@DRUG$ @DRUG$\tDDI-false\na.c\t@DRUG$ @DRUG$\tfalse\n", 2, ""),
        ("gad", "index\tsentence\tlabel\n0\t@GENE$ @DISEASE$\tyes\n", 2, ""),
        ("bioasq", "a\tb\tc\tyes\nd\te\tf\tmaybe\n", 2, ""),
        (
            "pubmedqa",
            '{"1": {' + QUESTION + '},\n"2": {' + QUESTION.replace("yes", "perhaps") + "}}",
            2,
            "",
        ),
        # An I without an entity before it
        *(
            ("ncbi-disease", content, line, "tag I does not follow a B or I")
            for content, line in (("a\tI\n", 1), ("a\tB\nb\tO\nc\tI\n", 3), ("a\tB\n\nb\tI\n", 3))
        ),
        # A blank token
        *(("bc2gm", f"a\tO\n{token}\tO\n", 2, "") for token in ("", " ", "\u00a0")),
        # A missing or doubled dummy
        *(
            (
                name,
                f"{HEADED.get(name, '')}1.2.3\t{text}\t{tasks.get(name).labels[0]}\n",
                2 if name in HEADED else 1,
                "expected exactly",
            )
            for name, text in (
                ("chemprot", "kalo"),
                ("chemprot", "@CHEMICAL$ kalo"),
                ("chemprot", "@CHEMICAL$ @CHEMICAL$"),
                ("chemprot", "@CHEMICAL$ @GENE$ @GENE$"),
                ("chemprot", "@CHEM-GENE$ @GENE$"),
                ("chemprot", "@CHEM-GENE$ @CHEM-GENE$"),
                ("ddi", "@DRUG$ kalo"),
                ("ddi", "@DRUG$ @DRUG$ @DRUG$"),
                ("ddi", "@drug$ @DRUG$"),
                ("gad", "@GENE$ kalo"),
                ("gad", "@GENE$ @GENE$"),
            )
        ),
        # A score outside the scale
        *(
            (
                "biosses",
                f"{HEADED['biosses']}1\ta\tb\t2\n2\ta\tb\t{score}\n",
                3,
                "a score from 0 to 4",
            )
            for score in ("", "x", "nan", "inf", "-0.1", "4.01", "1,5")
        ),
        # Labels or an index of HoC that are none
        *(
            ("hoc", f"{HEADED['hoc']}{HOC_LABELS}\ta\t9_s0\n{labels}\ta\t{index}\n", 3, "")
            for labels, index in (
                (HOC_LABELS.replace("9_0", "9_2"), "1_s0"),
                (HOC_LABELS.replace("0_0,1_1", "1_1,0_0"), "1_s0"),
                (HOC_LABELS.removesuffix(",9_0"), "1_s0"),
                (HOC_LABELS + ",10_0", "1_s0"),
                ("", "1_s0"),
                (HOC_LABELS, "1"),
                (HOC_LABELS, "1_s"),
                (HOC_LABELS, "1_sx"),
            )
        ),
        # JSON of another shape, or with a question that comes twice
        *(
            ("pubmedqa", content, line, "")
            for content, line in (
                ("[]", 1),
                ("3", 1),
                ('{"1": {' + QUESTION + '},\n "2": {"QUESTION": "a"}}', 2),
                ('{"1": {' + QUESTION + '},\n "2": "a"}', 2),
                ('{"1": {' + QUESTION + '},\n "2": null}', 2),
                ('{"1":\n {' + QUESTION.replace('["b"]', '"b"') + "}}", 1),
                ('{"1": {' + QUESTION.replace('["b"]', "[1]") + "}}", 1),
                ('{"1": {' + QUESTION.replace('"yes"', '["yes"]') + "}}", 1),
                ('{"1": {' + QUESTION.replace('"b"', '"\\ud800"') + "}}", 1),
                ("[" * 100_000, 1),
                ("1" * 5_000, 1),
                ('{"1": NaN}', 1),
                ("{'1': 2}", 1),
            )
        ),
        (
            "pubmedqa",
            "{" + ",\n".join(f'"{key}": {{{QUESTION}}}' for key in (1, 2, 1)) + "}",
            3,
            "the key '1' occurs twice",
        ),
    ],
)
def test_content_that_is_none_of_its_dataset_is_refused_with_its_line(
    tmp_path: Path, name: str, content: str, line: int, told: str
) -> None:
    _error(tmp_path, name, content, line, told)


@pytest.mark.parametrize("name", TABLES)
def test_an_id_that_comes_twice(tmp_path: Path, name: str) -> None:
    body = SAMPLES[name].removeprefix(HEADED.get(name, ""))
    told = f"already occurs in line {2 if name in HEADED else 1}."
    _error(tmp_path, name, HEADED.get(name, "") + body * 2, SAMPLES[name].count("\n") + 1, told)


def test_a_long_cell_is_not_repeated_in_full(tmp_path: Path) -> None:
    assert (
        len(str(_error(tmp_path, "bc5-chem", "a\t" + "x" * 10_000)).removeprefix(str(tmp_path)))
        < 200
    )


# Whatever bytes a file holds, a reader gives rows or a DataError, and rows can be hashed and made a dataset.


PARTS = [
    b"\t",
    b"\n",
    b"\r\n",
    b"B",
    b"I",
    b"O",
    b"I-PAR",
    b"-DOCSTART-",
    b"@DRUG$",
    b"@GENE$",
    b"@CHEMICAL$",
    b"@DISEASE$",
    b"1",
    b"0",
    b"yes",
    b"CPR:3",
    b"DDI-int",
    b"2.5",
    b" ",
    b"\xff",
    b"\xc3\xa9",
    b"\xe2\x80\xa8",
    b"\x00",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"x",
    HOC_LABELS.encode(),
    b"1_s0",
]


def _check(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder), name, content)
        task = tasks.get(name)
        try:
            rows = read_split(task, Path(folder), "train")
        except DataError:
            return
        assert rows
        assert len(hash_rows(rows)) == 64
        assert len({row["id"] for row in rows}) == len(rows)
        assert len(to_dataset(rows, task.task_type)) == len(rows)


@settings(max_examples=300)
@given(
    st.sampled_from(READERS),
    st.binary(max_size=60) | st.lists(st.sampled_from(PARTS), max_size=20).map(b"".join),
)
def test_arbitrary_bytes_and_pieces_of_the_formats_in_any_order(name: str, content: bytes) -> None:
    _check(name, content)


@pytest.mark.costly
@settings(max_examples=200)
@given(st.sampled_from(READERS), st.data())
def test_a_correct_file_with_a_stretch_replaced(name: str, data: st.DataObject) -> None:
    good = SAMPLES[name].encode()
    start = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(start, min(len(good), start + 10)))
    _check(
        name, good[:start] + data.draw(st.binary(max_size=5) | st.sampled_from(PARTS)) + good[end:]
    )


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["yes", "maybe"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["QUESTION", "CONTEXTS", "final_decision", "1", ""]), inner, max_size=4
        )
    ),
    max_leaves=10,
)


@settings(max_examples=40)
@given(JSON)
@example({"1": {"QUESTION": "\ud800", "CONTEXTS": ["\udfff"], "final_decision": "yes"}})
@example({"\ud800": {"QUESTION": "a", "CONTEXTS": [], "final_decision": "yes"}})
def test_any_json(value: object) -> None:
    _check("pubmedqa", json.dumps(value).encode("utf-8", "surrogatepass"))


# A pipe or a device in the place of a data file is named, and nobody waits for it.


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "train.tsv"
    {"pipe": lambda: os.mkfifo(path), "device": lambda: path.symlink_to("/dev/zero")}[kind]()
    with pytest.raises(DataError, match="this is no ordinary file"):
        text_of(path)
