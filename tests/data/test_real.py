"""The real files against counts that were taken independently.

docs/benchmark.md, "File counts" has those of sentences and words, the headings of the datasets those of labels.
"""

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from blurb import data, tasks
from blurb.data.loading import examine_task, verdict
from blurb.data.schema import Example, hash_rows
from blurb.tasks import SPLITS, Split

pytestmark = pytest.mark.real
Rows = Callable[[str, Split], list[Example]]

# name: (units of Table 3, rows, words) of train, dev, test; None where the table of the files says nothing.
COUNTS: dict[str, list[tuple[int, int, int | None] | None]] = {
    "bc5-chem": [(5203, 4560, 118170), (5347, 4581, 117453), (5385, 4797, 124750)],
    "bc5-disease": [(4182, 4560, 118170), (4246, 4581, 117453), (4424, 4797, 124750)],
    "ncbi-disease": [(5134, 5424, 135701), (787, 923, 23969), (960, 940, 24497)],
    "bc2gm": [(15197, 12574, 355405), (3061, 2519, 71042), (6325, 5038, 143465)],
    "jnlpba": [(46750, 16807, 445090), (4551, 1739, 47461), (8662, 3856, 101039)],
    "ebm-pico": [None, (87308, 10386, 262268), (16364, 2076, 51784)],
    "chemprot": [(18035, 18035, None), (11268, 11268, None), (15745, 15745, None)],
    "ddi": [(25296, 25296, None), (2496, 2496, None), (5716, 5716, None)],
    "gad": [(4261, 4261, None), (535, 535, None), (534, 534, None)],
    "biosses": [(64, 64, None), (16, 16, None), (20, 20, None)],
    "hoc": [(1295, 12119, None), (186, 1798, None), (371, 3547, None)],
    "pubmedqa": [(450, 450, None), (50, 50, None), (500, 500, None)],
}
LABELS: dict[str, dict[str, list[int]]] = {
    "chemprot": {
        "false": [13923, 8860, 12315],
        "CPR:3": [756, 546, 663],
        "CPR:4": [2227, 1091, 1655],
        "CPR:5": [173, 115, 178],
        "CPR:6": [229, 199, 292],
        "CPR:9": [727, 457, 642],
    },
    "ddi": {
        "DDI-false": [21745, 2027, 4737],
        "DDI-effect": [1486, 201, 360],
        "DDI-mechanism": [1163, 156, 302],
        "DDI-advise": [725, 101, 221],
        "DDI-int": [177, 11, 96],
    },
    "gad": {"1": [2227, 293, 281], "0": [2034, 242, 253]},
    "pubmedqa": {"yes": [249, 27, 276], "no": [152, 17, 169], "maybe": [49, 6, 55]},
}
AT_HAND = [
    (name, split)
    for name, row in COUNTS.items()
    for split, found in zip(SPLITS, row, strict=True)
    if found
]


@pytest.mark.parametrize(("name", "split"), AT_HAND)
def test_counts_and_hash(real_rows: Rows, name: str, split: Split) -> None:
    rows, task = real_rows(name, split), tasks.get(name)
    units, size, words = COUNTS[name][SPLITS.index(split)]
    assert (task.task_type.size(rows), len(rows)) == (units, size)
    assert task.expected(split) == units
    if words is not None:
        assert sum(len(row["tokens"]) for row in rows) == words


@pytest.mark.parametrize("name", sorted(LABELS))
def test_label_counts(real_rows: Rows, name: str) -> None:
    for place, split in enumerate(SPLITS):
        expected = {label: counts[place] for label, counts in LABELS[name].items()}
        assert Counter(row["label"] for row in real_rows(name, split)) == expected


def test_label_counts_of_hoc_documents(real_rows: Rows) -> None:
    expected = [
        [201, 86, 68, 87, 169, 222, 101, 309, 315, 180],
        [28, 8, 18, 4, 18, 46, 19, 41, 42, 20],
        [62, 14, 19, 24, 53, 65, 23, 79, 105, 40],
    ]
    for counts, without, split in zip(expected, (197, 22, 53), SPLITS, strict=True):
        documents: dict[str, set[str]] = {}
        for row in real_rows("hoc", split):
            documents.setdefault(row["doc_id"], set()).update(row["labels"])
        assert [
            sum(label in found for found in documents.values()) for label in tasks.get("hoc").labels
        ] == counts
        assert sum(not found for found in documents.values()) == without


@pytest.mark.parametrize(
    ("name", "counts"), [("ebm-pico", [(30280, 25061, 31967), (4711, 3563, 8090)])]
)
def test_words_of_each_pico_label(
    real_rows: Rows, name: str, counts: list[tuple[int, int, int]]
) -> None:
    for split, expected in zip(("dev", "test"), counts, strict=True):
        found = Counter(tag for row in real_rows(name, split) for tag in row["tags"])
        assert tuple(found[f"I-{label}"] for label in ("PAR", "INT", "OUT")) == expected


@pytest.mark.parametrize(("name", "counts"), [("chemprot", [1647, 946, 1373]), ("ddi", [44, 3, 7])])
def test_overlapping_pairs(real_rows: Rows, name: str, counts: list[int]) -> None:
    assert [
        sum(row["head"] == row["tail"] for row in real_rows(name, split)) for split in SPLITS
    ] == counts


def test_adjacent_entities(real_rows: Rows) -> None:
    expected = {"bc5-chem": 11, "bc5-disease": 27, "ncbi-disease": 5, "bc2gm": 80, "jnlpba": 95}
    for name, number in expected.items():
        pairs = (
            pair
            for row in real_rows(name, "test")
            for pair in zip(row["tags"], row["tags"][1:], strict=False)
        )
        assert sum(second[0] == "B" and first != "O" for first, second in pairs) == number


@pytest.mark.parametrize("name", list(COUNTS))
def test_what_is_at_hand_is_identical(real_rows: Rows, name: str) -> None:
    task = tasks.get(name)
    rows = {split: real_rows(name, split) for split in SPLITS if (name, split) in AT_HAND}
    counts = {split: task.task_type.size(rows[split]) for split in rows}
    assert verdict(task, counts, {split: hash_rows(rows[split]) for split in rows}) == "identical"


def test_examine_says_that_the_train_set_of_ebm_pico_is_missing(real_data: Path) -> None:
    found = examine_task(tasks.get("ebm-pico"), real_data)
    assert (found.verdict, found.missing, found.errors) == ("identical", ("train",), ())


def test_load_of_a_real_dataset(real_data: Path) -> None:
    found = data.load_task(tasks.get("biosses"), real_data)
    assert found.verdict == "identical"
    assert [len(found.splits[split]) for split in SPLITS] == [64, 16, 20]


@pytest.mark.costly
def test_the_substitute_of_ebm_pico_is_not_taken_for_it(
    test_data: Path, real_data: Path, tmp_path: Path
) -> None:
    (tmp_path / "ebmnlp").mkdir()
    for split, source in (
        ("train", test_data / "substitute" / "ebmnlp" / "train.tsv"),
        ("dev", real_data / "ebmnlp" / "dev.tsv"),
        ("test", real_data / "ebmnlp" / "test.tsv"),
    ):
        (tmp_path / "ebmnlp" / f"{split}.tsv").symlink_to(source)
    found = examine_task(tasks.get("ebm-pico"), tmp_path)
    assert found.verdict == "differs"
    assert found.counts == {"train": 121_419, "dev": 87_308, "test": 16_364}


@pytest.mark.parametrize("name", ["gad", "biosses", "hoc", "pubmedqa"])
def test_line_endings_and_byte_order_mark_keep_the_verdict(
    real_data: Path, tmp_path: Path, name: str
) -> None:
    task = tasks.get(name)
    for split in SPLITS:
        target = tmp_path / task.files[split]
        target.parent.mkdir(parents=True, exist_ok=True)
        content = (real_data / task.files[split]).read_bytes()
        target.write_bytes(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))
    assert examine_task(task, tmp_path).verdict == "identical"


def test_swapped_labels_are_not_identical(real_data: Path, tmp_path: Path) -> None:
    lines = (real_data / "GAD" / "dev.tsv").read_text(encoding="utf-8").split("\n")
    one, zero = (
        next(i for i, line in enumerate(lines) if line.endswith(f"\t{label}")) for label in "10"
    )
    lines[one], lines[zero] = lines[one][:-1] + "0", lines[zero][:-1] + "1"
    _changed_gad(real_data, tmp_path, lines)


def test_a_row_deleted_and_another_added_is_not_identical(real_data: Path, tmp_path: Path) -> None:
    lines = (real_data / "GAD" / "dev.tsv").read_text(encoding="utf-8").rstrip("\n").split("\n")
    del lines[random.Random(0).randrange(1, len(lines))]
    lines += ["9999\t@GENE$ kalo @DISEASE$\t1", ""]
    _changed_gad(real_data, tmp_path, lines)


def _changed_gad(real_data: Path, folder: Path, dev: list[str]) -> None:
    (folder / "GAD").mkdir()
    for split in ("train", "test"):
        (folder / "GAD" / f"{split}.tsv").symlink_to(real_data / "GAD" / f"{split}.tsv")
    (folder / "GAD" / "dev.tsv").write_text("\n".join(dev), encoding="utf-8")
    found = examine_task(tasks.get("gad"), folder)
    assert found.counts == {"train": 4261, "dev": 535, "test": 534}
    assert found.verdict == "counts only"


def test_no_row_of_pubmedqa_shows_the_long_answer(real_data: Path, real_rows: Rows) -> None:
    for split in SPLITS:
        raw = json.loads(
            (real_data / tasks.get("pubmedqa").files[split]).read_text(encoding="utf-8")
        )
        for row in real_rows("pubmedqa", split):
            answer = raw[row["id"]]["LONG_ANSWER"]
            assert answer not in row["context"] or any(
                answer in context for context in raw[row["id"]]["CONTEXTS"]
            )
            assert row["context"] == " ".join(raw[row["id"]]["CONTEXTS"])


def test_the_questions_of_the_pubmedqa_test_are_in_neither_train_nor_dev(real_rows: Rows) -> None:
    ids = [{row["id"] for row in real_rows("pubmedqa", split)} for split in SPLITS]
    assert len(set.union(*ids)) == sum(map(len, ids)) == 1_000


@pytest.mark.parametrize("name", list(COUNTS))
def test_spans_and_words_are_sound(real_rows: Rows, name: str) -> None:
    for split in SPLITS:
        if (name, split) not in AT_HAND:
            continue
        for row in real_rows(name, split):
            if "tokens" in row:
                assert len(row["tokens"]) == len(row["tags"]) > 0
            if "head" in row:
                for span in (row["head"], row["tail"]):
                    assert row["text"][span["start"] : span["end"]] == f"@{span['type']}$"
