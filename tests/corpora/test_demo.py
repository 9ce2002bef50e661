"""The demo suite: layout, label sets, determinism. What a model learns from it is the business of the slow tests."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from blurb import data, tasks
from blurb.corpora import demo, original_readers as prepared
from blurb.inputs.relations import dummify_entities

NER = ("BC5CDR-chem", "BC5CDR-disease", "NCBI-disease", "BC2GM", "JNLPBA")
TABLES = ("chemprot", "DDI", "GAD", "BIOSSES", "HoC", "BioASQ")
SPLITS = ("train", "dev", "test")
HEADERS = {
    "GAD": "index\tsentence\tlabel",
    "BIOSSES": "pair_id\tsent1\tsent2\tscore",
    "HoC": "labels\tsentence\tindex",
}
CHEMPROT_LABELS = {"CPR:3", "CPR:4", "CPR:5", "CPR:6", "CPR:9", "false"}
DDI_LABELS = {"DDI-advise", "DDI-effect", "DDI-int", "DDI-mechanism", "DDI-false"}


def _sha256(files: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


@pytest.fixture(scope="module")
def suite() -> Mapping[str, str]:
    return demo.files()


def rows(suite: Mapping[str, str], name: str, split: str) -> list[list[str]]:
    """The rows of a table, without its header."""
    lines = suite[f"{name}/{split}.tsv"].removesuffix("\n").split("\n")
    if name in HEADERS:
        assert lines.pop(0) == HEADERS[name]
    return [line.split("\t") for line in lines]


def questions(suite: Mapping[str, str], split: str) -> dict[str, dict[str, object]]:
    where = "pubmedqa/test_set.json" if split == "test" else f"pubmedqa/pqal_fold0/{split}_set.json"
    return json.loads(suite[where])


def sentences(suite: Mapping[str, str], name: str, split: str) -> list[list[tuple[str, str]]]:
    """(token, label) sentences; a DOCSTART line ends one too, because PICO abstracts may run into the next one."""
    text = re.sub(r"(?m)^-DOCSTART- .*$", "", suite[f"{name}/{split}.tsv"])
    blocks = re.split(r"\n\n+", text.strip("\n"))
    return [
        [(token, label) for token, label in (line.split("\t") for line in block.split("\n"))]
        for block in blocks
    ]


def units(suite: Mapping[str, str], name: str, split: str) -> list[str]:
    """The input texts of a split, one a training unit."""
    if name == "pubmedqa":
        return [f"{one['QUESTION']} {one['CONTEXTS']}" for one in questions(suite, split).values()]
    if name in TABLES:
        text = {"GAD": (1,), "HoC": (1,), "chemprot": (1,), "DDI": (1,)}.get(name, (1, 2))
        return [" ".join(row[place] for place in text) for row in rows(suite, name, split)]
    return [" ".join(token for token, _ in sentence) for sentence in sentences(suite, name, split)]


@pytest.mark.costly
def test_every_file_of_the_layout_is_there(suite: Mapping[str, str]) -> None:
    tables = {f"{name}/{split}.tsv" for name in (*NER, "ebmnlp", *TABLES) for split in SPLITS}
    pubmedqa = {"pqal_fold0/train_set.json", "pqal_fold0/dev_set.json", "test_set.json"}
    assert set(suite) == tables | {f"pubmedqa/{name}" for name in pubmedqa} | {
        f"originals/{name}/{split}.jsonl" for name in ("chemprot", "ddi") for split in SPLITS
    }


def test_write_gives_these_bytes_and_keeps_strange_files(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "GAD").mkdir()
    (tmp_path / "GAD" / "dev.tsv").write_text("another")
    demo.write(tmp_path)
    for path, content in demo.files().items():
        assert (tmp_path / path).read_bytes() == content.encode()
        assert "\r" not in content
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_prepare_writes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLURB_HOME", str(tmp_path))
    folder = demo.prepare()
    (folder / "BIOSSES" / "dev.tsv").write_text("left alone")
    assert demo.prepare() == folder
    assert (folder / "BIOSSES" / "dev.tsv").read_text() == "left alone"
    # No half-written folder beside it
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_the_suite_is_the_one_that_rows_rest_on() -> None:
    # A change of the suite on purpose changes these lines. The score of the demo suite rests on the first alone.
    parts: dict[bool, dict[str, str]] = {False: {}, True: {}}
    for path, content in demo.files().items():
        parts[path.startswith("originals/")][path] = content
    assert (
        _sha256(parts[False]) == "b1b3a9323cabb284f5f012a09fc3e8019830cf7eab50e4fa97d582b15acee6f5"
    )
    assert (
        _sha256(parts[True]) == "5ab026dad897b004e067794ce87d9750cf1ef487e1c3af3d6058e184e70bcd9b"
    )


@pytest.mark.parametrize("name", [*NER, "ebmnlp", *TABLES, "pubmedqa"])
def test_sizes_keep_a_run_short_and_a_score_stable(suite: Mapping[str, str], name: str) -> None:
    train, dev, test = (len(units(suite, name, split)) for split in SPLITS)
    assert 600 <= train <= 1100
    assert 90 <= dev <= 190
    assert 190 <= test <= 310
    # Words of an input: nothing is truncated at the usual 512 pieces, nor long enough to be slow.
    assert max(len(text.split()) for text in units(suite, name, "train")) <= 70


@pytest.mark.parametrize("name", [*NER, "ebmnlp", *TABLES, "pubmedqa"])
def test_train_and_test_share_next_to_nothing(suite: Mapping[str, str], name: str) -> None:
    seen = {*units(suite, name, "train"), *units(suite, name, "dev")}
    test = units(suite, name, "test")
    # PICO has short sentences without names ("pain at night improved ."), which come again.
    assert sum(text in seen for text in test) <= (0.12 if name == "ebmnlp" else 0.03) * len(test)


@pytest.mark.parametrize("name", NER)
def test_ner_tags_are_legal_bio(suite: Mapping[str, str], name: str) -> None:
    for split in SPLITS:
        assert suite[f"{name}/{split}.tsv"].endswith(".\tO\n\n")
        tags = Counter(tag for sentence in sentences(suite, name, split) for _, tag in sentence)
        assert set(tags) == {"B", "I", "O"}
        assert tags["B"] >= 0.6 * len(sentences(suite, name, split))
        for sentence in sentences(suite, name, split):
            pairs = zip([("", "O"), *sentence], sentence, strict=False)
            assert not [
                token for (_, before), (token, tag) in pairs if tag == "I" and before == "O"
            ]


def test_bc5cdr_has_two_taggings_of_the_same_sentences(suite: Mapping[str, str]) -> None:
    for split in SPLITS:
        chemical, disease = (
            sentences(suite, name, split) for name in ("BC5CDR-chem", "BC5CDR-disease")
        )
        for one, other in zip(chemical, disease, strict=True):
            assert [token for token, _ in one] == [token for token, _ in other]
            assert not [
                a for (_, a), (_, b) in zip(one, other, strict=True) if a != "O" and b != "O"
            ]


def test_test_split_has_names_that_train_lacks(suite: Mapping[str, str]) -> None:
    names = {
        split: {
            t
            for sentence in sentences(suite, "BC2GM", split)
            for t, tag in sentence
            if tag != "O" and t.isupper()
        }
        for split in SPLITS
    }
    assert 0.15 <= len(names["test"] - names["train"]) / len(names["test"]) <= 0.6


def test_jnlpba_documents(suite: Mapping[str, str]) -> None:
    ids = [
        re.findall(r"(?m)^-DOCSTART- (\d+)\n\n", suite[f"JNLPBA/{split}.tsv"]) for split in SPLITS
    ]
    flat = [name for split in ids for name in split]
    assert len(set(flat)) == len(flat)
    assert [len(split) for split in ids] == [140, 20, 40]
    assert suite["JNLPBA/test.tsv"].startswith("-DOCSTART- ")


def test_pico_layout(suite: Mapping[str, str]) -> None:
    text = suite["ebmnlp/train.tsv"]
    ids = re.findall(r"(?m)^-DOCSTART- \((\d+)\)\n\n", text)
    assert len(ids) == len(set(ids)) == text.count("-DOCSTART-")
    # The real files' trap is there too: an abstract without its last full stop runs into the next DOCSTART.
    assert re.search(r"\t\S+\n-DOCSTART-", text)
    assert not re.search(r"(?m)^\.\t\S+\n(?!\n)", text)
    for split in SPLITS:
        labels = Counter(
            label for sentence in sentences(suite, "ebmnlp", split) for _, label in sentence
        )
        assert set(labels) == {"I-PAR", "I-INT", "I-OUT", "O"}
        assert min(labels.values()) >= 0.08 * labels.total()


@pytest.mark.parametrize(
    ("name", "labels", "masks", "overlap"),
    [
        ("chemprot", CHEMPROT_LABELS, ("@CHEMICAL$", "@GENE$"), "@CHEM-GENE$"),
        ("DDI", DDI_LABELS, ("@DRUG$", "@DRUG$"), "@DRUG-DRUG$"),
        ("GAD", {"0", "1"}, ("@GENE$", "@DISEASE$"), None),
    ],
)
def test_relation_rows(
    suite: Mapping[str, str],
    name: str,
    labels: set[str],
    masks: tuple[str, str],
    overlap: str | None,
) -> None:
    negative = next(label for label in labels if "false" in label or label == "0")
    for split in SPLITS:
        table = rows(suite, name, split)
        counts = Counter(label for _, _, label in table)
        assert set(counts) == labels
        assert min(counts.values()) >= 5
        assert counts[negative] / len(table) < 0.75
        assert len({first for first, _, _ in table}) == len(table)
        overlapping = [row for row in table if overlap and overlap in row[1]]
        assert bool(overlapping) == bool(overlap)
        # The rest is noise
        assert Counter(label for _, _, label in overlapping)[negative] >= 0.5 * len(overlapping)
        for row in table:
            assert sorted(re.findall(r"@[A-Z-]+\$", row[1])) == (
                [overlap] if row in overlapping else sorted(masks)
            )


def test_relation_ids(suite: Mapping[str, str]) -> None:
    for split in SPLITS:
        assert all(
            re.fullmatch(r"DDI-Demo\.d\d+\.s0\.p[01]", row[0]) for row in rows(suite, "DDI", split)
        )
        assert [row[0] for row in rows(suite, "GAD", split)] == [
            str(n) for n in range(len(rows(suite, "GAD", split)))
        ]
        for name, text, _ in rows(suite, "chemprot", split):
            # The earlier entity comes first in the id; the gene is T9.
            assert re.fullmatch(
                r"\d{8}\.T[12]\.T9" if _chemical_first(text) else r"\d{8}\.T9\.T[12]", name
            )
    assert len({row[0].split(".")[0] for row in rows(suite, "chemprot", "train")}) < len(
        rows(suite, "chemprot", "train")
    )


@pytest.mark.parametrize("name", ["chemprot", "ddi"])
def test_dummified_originals_are_the_rows_of_the_suite_in_their_order(
    name: str, tmp_path: Path
) -> None:
    demo.write(tmp_path)
    task = tasks.get(name)
    for split in tasks.SPLITS:
        originals = list(prepared.read(tmp_path, task, split))
        assert [dummify_entities(row) for row in originals] == data.read_split(
            task, tmp_path, split
        )
    kinds = {"chemprot": {"CHEMICAL", "GENE"}, "ddi": {"DRUG"}}[name]
    assert {row[role]["type"] for row in originals for role in ("head", "tail")} == kinds


@pytest.mark.parametrize("name", ["chemprot", "ddi"])
def test_originals_name_what_the_dummies_hide(suite: Mapping[str, str], name: str) -> None:
    for split in SPLITS:
        found = [json.loads(line) for line in suite[f"originals/{name}/{split}.jsonl"].splitlines()]
        nested = 0
        for row in found:
            assert "@" not in row["text"]
            surfaces = [
                row["text"][row[role]["start"] : row[role]["end"]] for role in ("head", "tail")
            ]
            if row["head"]["end"] > row["tail"]["start"]:
                nested += 1
                assert surfaces[0].endswith(f"-{surfaces[1]}")
            else:
                assert surfaces[0].lower() != surfaces[1].lower()
            for role, surface in zip(("head", "tail"), surfaces, strict=True):
                assert re.fullmatch(
                    r"[A-Z0-9]+" if row[role]["type"] == "GENE" else r"[A-Z]?[a-z]+(-\w+)?", surface
                )
        assert nested >= 2


@pytest.mark.parametrize("name", ["chemprot", "ddi"])
def test_without_marks_the_two_rows_of_a_sentence_cannot_be_told_apart(
    suite: Mapping[str, str], name: str
) -> None:
    sentences: dict[str, list[dict[str, object]]] = {}
    for split in SPLITS:
        for line in suite[f"originals/{name}/{split}.jsonl"].splitlines():
            row = json.loads(line)
            sentences.setdefault(row["doc_id"], []).append(row)
    pairs = [rows for rows in sentences.values() if len(rows) == 2]
    assert len(pairs) >= 0.1 * len(sentences)
    assert all(one["text"] == other["text"] for one, other in pairs)
    assert all((one["head"], one["tail"]) != (other["head"], other["tail"]) for one, other in pairs)
    assert sum(one["label"] != other["label"] for one, other in pairs) >= 0.4 * len(pairs)


def _chemical_first(text: str) -> bool:
    return "@GENE$" not in text.split("@CHEM", maxsplit=1)[0]


def test_biosses_scores(suite: Mapping[str, str]) -> None:
    ids = [row[0] for split in SPLITS for row in rows(suite, "BIOSSES", split)]
    assert len(set(ids)) == len(ids)
    for split in SPLITS:
        scores = [row[3] for row in rows(suite, "BIOSSES", split)]
        assert set(scores) <= {f"{fifth / 5:.1f}" for fifth in range(21)}
        assert min(map(float, scores)) < 0.5
        assert max(map(float, scores)) > 3.5


def test_hoc_labels(suite: Mapping[str, str]) -> None:
    for split in SPLITS:
        table = rows(suite, "HoC", split)
        assert all(
            re.fullmatch(",".join(rf"{topic}_[01]" for topic in range(10)), labels)
            for labels, _, _ in table
        )
        found = Counter(
            one for labels, _, _ in table for one in labels.split(",") if one.endswith("_1")
        )
        assert len(found) == 10
        assert min(found.values()) >= 3
        places = [index.split("_s") for _, _, index in table]
        for (pmid, place), (before, last) in zip(places[1:], places, strict=False):
            assert int(place) == (int(last) + 1 if pmid == before else 0)
        assert len({pmid for pmid, _ in places}) == {"train": 220, "dev": 36, "test": 60}[split]


def test_question_answering(suite: Mapping[str, str]) -> None:
    keys = (
        "QUESTION",
        "CONTEXTS",
        "LABELS",
        "MESHES",
        "YEAR",
        "reasoning_required_pred",
        "reasoning_free_pred",
    )
    for split in SPLITS:
        entries = questions(suite, split)
        answers = Counter(entry["final_decision"] for entry in entries.values())
        assert set(answers) == {"yes", "no", "maybe"}
        assert 0.45 <= answers["yes"] / len(entries) <= 0.6
        for entry in entries.values():
            assert tuple(entry) == (*keys, "final_decision", "LONG_ANSWER")
            assert isinstance(entry["CONTEXTS"], list)
            assert isinstance(entry["LABELS"], list)
            assert len(entry["CONTEXTS"]) == len(entry["LABELS"]) == 3
        bioasq = rows(suite, "BioASQ", split)
        assert all(len(row) == 4 and re.fullmatch(r"[0-9a-f]{24}", row[0]) for row in bioasq)
        assert 0.5 <= Counter(row[3] for row in bioasq)["yes"] / len(bioasq) <= 0.7
    ids = [row[0] for split in SPLITS for row in rows(suite, "BioASQ", split)]
    assert len(set(ids)) == len(ids)


def test_texts_are_clean(suite: Mapping[str, str]) -> None:
    for path, content in suite.items():
        # JSON's own signs
        text = re.sub(r"[\[\]{}]|  +", "", content) if path.endswith(".json") else content
        if path.endswith(".jsonl"):  # its ids have full stops
            text = "\n".join(json.loads(line)["text"] for line in content.splitlines())
        # Nothing of the grammar is left, and no blanks where a rule expanded to nothing.
        assert not re.search(r"[<>{}\[\]]|  | [.,?]\S", text), path
        assert content.isascii(), path


def test_the_folder_that_is_known_is_that_of_the_content() -> None:
    content = demo.files()
    text = "".join(f"{path}\n{content[path]}" for path in sorted(content))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == demo.DIGEST == demo.prepare().name
