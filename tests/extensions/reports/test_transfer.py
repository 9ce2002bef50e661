"""`blurb transfer`: against counts made one by one, with the dictionary, which needs no training."""

from pathlib import Path
from typing import Any

import pytest

import blurb
from blurb import tasks
from blurb.data.loading import read_split
from blurb.extensions.reports.transfer import TransferRecord, transfer
from blurb.messages import ErrorGroup, SettingsError, StoreError
from blurb.records import record_columns
from tests.data.test_seen import spans_of
from tests.learners.test_dictionary import predict

CORPORA = {
    "NCBI-disease": {
        "train": "lung/B cancer/I | Gout/B hurts/O",
        "dev": "asthma/B",
        "test": "gout/B and/O flu/B | Flu/B kills/O",
    },
    "BC5CDR-disease": {
        "train": "flu/B kills/O | cancer/B",
        "dev": "asthma/B",
        "test": "lung/B cancer/I or/O flu/B | GOUT/B hurts/O",
    },
}
TASK = """name = "own"
type = "ner"
labels = ["Disease"]
files = { train = "a", dev = "b", test = "c" }
format = { kind = "conll" }

[entity]
"""


@pytest.fixture
def lines(here: Path) -> dict[tuple[str, str], TransferRecord]:
    """The dictionary of two small corpora, whose test sets share sentences with the other train set."""
    for folder, splits in CORPORA.items():
        (here / "data" / folder).mkdir(parents=True)
        for split, text in splits.items():
            words = text.replace(" | ", "\n\n").replace(" ", "\n").replace("/", "\t")
            (here / "data" / folder / f"{split}.tsv").write_text(words + "\n", encoding="utf-8")
    blurb.run("baseline:dictionary", tasks="ncbi-disease,bc5-disease", data="data", output="runs")
    table = transfer("baseline:dictionary", data="data")
    assert list(table.to_pandas().columns) == list(record_columns(TransferRecord))
    return {(line.trained_on, line.tested_on): line for line in table.lines}


def test_every_other_corpus_of_the_entity_is_predicted(lines: Any) -> None:
    assert set(lines) == {
        (a, b) for a in ("ncbi-disease", "bc5-disease") for b in ("ncbi-disease", "bc5-disease")
    }
    abroad = lines["bc5-disease", "ncbi-disease"]
    # "Flu kills" stands in the other train set, whatever its case; "gout and flu" is left, of which flu is found.
    assert (abroad.sentences, abroad.left_out, abroad.runs) == (1, 1, 1)
    assert abroad.f1 == pytest.approx(100 * 2 / 3)
    # The dictionary of the tested set finds gout alone there.
    assert abroad.drop == pytest.approx(0.0)
    back = lines["ncbi-disease", "bc5-disease"]
    # "GOUT hurts" is left out; of lung cancer and flu it finds lung cancer.
    assert (back.sentences, back.left_out) == (1, 1)
    assert back.f1 == pytest.approx(100 * 2 / 3)
    # The own one finds cancer, not lung cancer, and flu: one of two exactly, both by overlap.
    assert lines["bc5-disease", "bc5-disease"].overlap_f1 == pytest.approx(100 * 4 / 5)
    assert back.drop == pytest.approx(100 * 2 / 4 - 100 * 2 / 3)


def test_rows_of_one_model_are_one_table(here: Path, lines: Any) -> None:
    """As those of two suites are, of which none has both sets; the drop needs both."""
    for task in ("ncbi-disease", "bc5-disease"):
        blurb.run("baseline:dictionary", tasks=task, data="data", output=task)
    rows = [f"{task}:baseline:dictionary" for task in ("ncbi-disease", "bc5-disease")]
    assert {
        (line.trained_on, line.tested_on): line for line in transfer(rows, data="data").lines
    } == lines
    assert lines["ncbi-disease", "bc5-disease"].drop is not None
    assert [line.drop for line in transfer(rows[:1], data="data").lines] == [None, None]


@pytest.mark.parametrize(
    ("folder", "name", "chosen"),
    [
        ("NCBI-disease", "ncbi-disease", {}),
        ("BC5CDR-disease", "bc5-disease", {"tasks": "bc5-disease"}),
    ],
    ids=["of the trial", "of the tested set"],
)
def test_other_data_is_refused(
    folder: str, name: str, chosen: dict[str, str], here: Path, lines: Any
) -> None:
    train = here / "data" / folder / "train.tsv"
    train.write_text(train.read_text() + "\nnew\tB\n", encoding="utf-8")
    with pytest.raises(StoreError, match=f"has other data of {name}"):
        transfer("baseline:dictionary", data="data", **chosen)


@pytest.mark.costly
def test_a_kept_model_predicts_corpora_with_other_types(here: Path) -> None:
    """BC2GM's one type is GENE, JNLPBA's Entity; the trial was scored on a part of its own test set."""
    blurb.run(
        "scratch:tiny",
        tasks="bc2gm,jnlpba",
        suite="demo",
        protocol="smoke",
        keep_model="best",
        output="runs",
    )
    found = {(line.trained_on, line.tested_on): line for line in transfer("scratch:tiny").lines}
    assert set(found) == {("bc2gm", "bc2gm"), ("bc2gm", "jnlpba"), ("jnlpba", "jnlpba")}
    rows = blurb.load_dataset("jnlpba", suite="demo")["test"].to_list()
    model = blurb.load_model(next(Path("runs").glob("scratch-tiny/bc2gm/*")))
    blank = [{**row, "tags": ["O"] * len(row["tokens"])} for row in rows]
    right = predicted = gold = 0
    for row, answer in zip(rows, model.of_examples(blank), strict=True):
        own = {span[:2] for span in spans_of(row["tags"])}
        given = {span[:2] for span in spans_of(answer["prediction"])}
        right, predicted, gold = right + len(own & given), predicted + len(given), gold + len(own)
    abroad = found["bc2gm", "jnlpba"]
    assert abroad.f1 == pytest.approx(200 * right / (predicted + gold))
    assert (abroad.sentences, abroad.broader, abroad.runs) == (len(rows), True, 1)


@pytest.mark.parametrize(
    ("kind", "form", "entity", "said"),
    [
        ("ner", "conll", 'Disease = "Disease"', "must map entity types to words in lower case"),
        ("ner", "conll", 'disease = "disease"', "'entity' has 'disease', which is no label"),
        (
            "classification",
            "jsonl",
            'Disease = "disease"',
            "'entity' does not apply to tasks of type classification",
        ),
    ],
)
def test_an_entity_that_differs_by_case_or_has_no_tags_is_refused(
    kind: str, form: str, entity: str, said: str, tmp_path: Path
) -> None:
    text = TASK.replace('"ner"', f'"{kind}"').replace("conll", form)
    (tmp_path / "own.toml").write_text(text + entity, encoding="utf-8")
    with pytest.raises((SettingsError, ErrorGroup), match=said):
        tasks.load(str(tmp_path / "own.toml"))


def test_the_dictionary_of_ncbi_on_bc5(real_data: Path) -> None:
    """Oracle: predictions of the learner, and spans counted letter by letter."""
    train, test = (
        read_split(tasks.get(name), real_data, split)  # type: ignore[arg-type]
        for name, split in (("ncbi-disease", "train"), ("bc5-disease", "test"))
    )
    learnt = {" ".join(row["tokens"]).lower() for row in train}
    rows = [row for row in test if " ".join(row["tokens"]).lower() not in learnt]
    right = predicted = gold = 0
    for row, answer in zip(rows, predict("ncbi-disease", train, rows), strict=True):
        own, given = spans_of(row["tags"]), spans_of(answer)
        right, predicted, gold = right + len(own & given), predicted + len(given), gold + len(own)
    assert len(test) - len(rows) == 10
    assert round(200 * right / (predicted + gold), 1) == 13.2
