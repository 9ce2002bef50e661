"""Errors have parts; what shows them joins the parts, and nobody takes a sentence apart."""

import ast
import pickle
from pathlib import Path

import pytest

import blurb
from blurb.doctor import Fault, list_faults
from blurb.messages.errors import (
    BlurbError,
    DataError,
    ModelError,
    StoreError,
    UnknownName,
    with_effect,
)
from blurb.system import text_files

SPLITS = {
    "partition",
    "rpartition",
    "split",
    "rsplit",
    "removeprefix",
    "removesuffix",
    "startswith",
    "endswith",
}
MESSAGES = ("str(error)", "error.args", "verdict(", "left_out(", ".what", ".message", "fault")
PARTS = [
    (BlurbError("The file is empty."), "The file is empty."),
    (BlurbError("the file is empty", where="a.csv"), "a.csv: the file is empty"),
    (
        BlurbError("the file is empty", fix="download it again."),
        "the file is empty; download it again.",
    ),
    (BlurbError("Is it empty?", fix="Download it again."), "Is it empty? Download it again."),
    (
        DataError("two columns", Path("a.tsv"), 3, fix="give three."),
        "a.tsv:3: two columns; give three.",
    ),
    (DataError("two columns", Path("a.tsv")), "a.tsv: two columns"),
    (
        BlurbError("{task} has {model}, {other}.", task="gad", model="{task}"),
        "gad has {task}, {other}.",
    ),
]


@pytest.mark.parametrize(("error", "text"), PARTS)
def test_the_sentence_joins_the_parts_also_in_another_process(error: BlurbError, text: str) -> None:
    assert str(error) == text
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.what, again.where, again.fix) == (
        text,
        error.what,
        error.where,
        error.fix,
    )


def test_an_unknown_name_shows_no_repr_as_of_a_key_error() -> None:
    assert (
        str(UnknownName("task", "gda", ["gad"]))
        == "There is no task called 'gda'. Did you mean 'gad'? Available: gad."
    )


def test_of_very_many_names_the_nearest_are_listed() -> None:
    error = str(UnknownName("row", "run@99O", [f"run@{step}" for step in range(0, 1000, 10)]))
    assert "Did you mean 'run@990'? Available: run@9" in error
    assert error.endswith(" and 92 more.")
    assert len(error.split(", ")) == 8


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("NCBI_disease", "ncbi-disease"),  # by its letters, bc5-disease was as near
        ("nbci_disease", "ncbi-disease"),
        ("BC5-DISEASES", "bc5-disease"),
    ],
)
def test_the_nearest_name_is_that_without_case_and_signs(typed: str, meant: str) -> None:
    assert f"Did you mean '{meant}'?" in str(
        UnknownName("task", typed, ["bc5-disease", "ncbi-disease"])
    )


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (
            ModelError("weights differ", where="m", fix="replace the file."),
            ("m", "weights differ.", "Replace the file."),
        ),
        (
            ModelError("no weights; no tokenizer."),
            ("here", "no weights; no tokenizer.", "Save it."),
        ),
    ],
)
def test_a_problem_of_the_doctor_has_the_parts_of_the_error(
    error: BlurbError, problem: tuple[str, str, str]
) -> None:
    """Whatever the verb of the fix is; a semicolon in what happened stays there."""
    assert list_faults([error], "here", "Save it.") == [Fault(*problem)]


def test_what_follows_from_an_error_stands_before_its_fix() -> None:
    cut = StoreError("cut", where="a.json", fix="run it again.")
    assert str(with_effect(cut, "It is left out")) == "a.json: cut. It is left out; run it again."
    assert str(with_effect(StoreError("Cut."), "It is left out")) == "Cut. It is left out."


@pytest.mark.costly
def test_no_message_is_cut_apart() -> None:
    """No `str(error)` or message is split, and no error is told by its words; that of Python's TOML is not ours."""
    cut = []
    for path in sorted(
        set(Path(blurb.__file__).parent.rglob("*.py")) - {Path(text_files.__file__)}
    ):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in SPLITS
            ):
                cut += [f"{path.name}:{node.lineno}"] * any(
                    sign in ast.unparse(node.func.value) for sign in MESSAGES
                )
    assert cut == []
