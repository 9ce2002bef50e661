"""What comes back from a card: what is refused, what is told, and where it stands then."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.device import code, page
from benchmarks.device.merge import merge
from benchmarks.device.results import CUT, SKIPPED
from blurb.messages.errors import BlurbError
from tests.benchmarks import repository
from tests.benchmarks.repository import part, results, trials


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository.make(tmp_path / "repository")


@pytest.fixture
def back(tmp_path: Path) -> Path:
    (tmp_path / "back").mkdir()
    return tmp_path / "back"


def put(back: Path, content: dict[str, Any], name: str = "device.json") -> None:
    (back / name).write_text(json.dumps(content), encoding="utf-8")


def stored(root: Path, card: str = "nvidia-h100") -> dict[str, Any]:
    return json.loads((root / "docs" / "results" / "device" / f"{card}.json").read_text("utf-8"))


def performance(root: Path) -> str:
    return (root / "docs" / "performance.md").read_text(encoding="utf-8")


def test_figures_go_to_the_results_and_to_the_page_with_their_card(root: Path, back: Path) -> None:
    content = results(root)
    put(back, content)
    head = content["manifest"]["commit"][:8]
    assert merge(back, root) == [f"device.json: NVIDIA H100, commit {head}"]
    assert stored(root) == content
    text = performance(root)
    assert f"| NVIDIA H100 | 79.6 | 13.0 | 2.11.0 | 5.17.0 | {head} | torch |" in text
    assert "### Several trials on one card" in text
    assert "| 1 | no | 8 | 120 | 4.0 | 1.00 | 3.2 |" in text
    assert "| 4 | no | 8 | 48 | 10.0 | 2.50 | 3.2 |" in text
    assert text.startswith("# Performance\n")
    assert text.endswith("The end.\n")


def test_a_second_merge_changes_nothing(root: Path, back: Path) -> None:
    put(back, results(root))
    merge(back, root)
    once = performance(root)
    merge(back, root)
    assert performance(root) == once


def test_results_of_other_code_are_refused(root: Path, back: Path) -> None:
    put(back, results(root))
    repository.change(root, "benchmarks/x.py")
    with pytest.raises(
        BlurbError,
        match=r"made by other code: benchmarks changed since commit .* Pack and run HEAD",
    ):
        merge(back, root)
    assert page.BEGIN + "\n" + page.END in performance(root)


def test_a_commit_that_changes_neither_folder_is_as_good(root: Path, back: Path) -> None:
    put(back, results(root))
    repository.change(root, "README.md")
    assert len(merge(back, root)) == 1


@pytest.mark.parametrize("commit", ["0" * 40, "branch"])
def test_a_commit_beside_the_history_is_refused(root: Path, back: Path, commit: str) -> None:
    """One that nobody has, and one of another branch with the same files."""
    if commit == "branch":
        first = code.git(root, "rev-parse", "HEAD")
        commit = repository.change(root, "README.md")
        code.git(root, "reset", "--quiet", "--hard", first)
    put(back, results(root, commit=commit))
    with pytest.raises(
        BlurbError, match=f"made by commit {commit[:8]}, which is no ancestor of HEAD"
    ):
        merge(back, root)


@pytest.mark.parametrize(
    ("changed", "card", "said"),
    [
        ({"dirty": True}, "NVIDIA H100", "packed with changes that no commit has"),
        ({"changed": True}, "NVIDIA H100", "made by code that was changed after packing"),
        ({"small": True}, "NVIDIA H100", "a rehearsal, whose figures mean nothing"),
        ({}, "CPU", "measured on no GPU"),
    ],
)
def test_what_means_nothing_is_refused(
    root: Path, back: Path, changed: dict[str, Any], card: str, said: str
) -> None:
    put(back, results(root, card, **changed))
    with pytest.raises(BlurbError, match=said):
        merge(back, root)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"kind": "blurb dev', "cannot be read as JSON; copy it again"),
        ("[]", "no results of benchmarks.device"),
        (
            '{"kind": "blurb device results", "version": 1, "card": {}}',
            "lacks its manifest and parts; copy it again",
        ),
        ('{"kind": "blurb device results", "version": 9}', "version 9 of the results, not 1"),
    ],
)
def test_a_damaged_file_is_told_and_the_others_are_merged(
    root: Path, back: Path, text: str, said: str
) -> None:
    put(back, results(root))
    (back / "another.json").write_text(text, encoding="utf-8")
    first, second = merge(back, root)
    assert first.startswith(f"Refused: {back / 'another.json'}: {said}")
    assert second.startswith("device.json: NVIDIA H100")


def test_no_results_at_all(root: Path, back: Path) -> None:
    with pytest.raises(BlurbError, match="no results there; give the folder"):
        merge(back, root)


def test_what_was_cut_off_is_told_and_its_figures_stay(root: Path, back: Path) -> None:
    content = results(root)
    content["parts"] = {
        "jobs": part({"1": trials(60)}, CUT, "it was killed"),
        "memory": part({}, SKIPPED, "no GPU"),
        "estimates": part(
            {}, **{"BERT-large, biosses": "not tried: it needs 24 GiB of memory, and there are 16"}
        ),
    }
    put(back, content)
    assert merge(back, root)[1:] == [
        "  jobs: cut off (it was killed); 1 figures are kept",
        "  memory: skipped, no GPU",
        "  estimates, BERT-large, biosses: not tried: it needs 24 GiB of memory, and there are 16",
    ]
    text = performance(root)
    assert "| 1 | no | 8 | 60 | 8.0 | 1.00 | 3.2 |" in text
    assert (
        "* NVIDIA H100: cut off (it was killed); the lines above are what was measured before."
        in text
    )
    assert "* NVIDIA H100: not measured, no GPU" in text
    assert "* NVIDIA H100, BERT-large, biosses: not tried: it needs 24 GiB of memory" in text


def test_two_cards_are_kept_apart(root: Path, back: Path) -> None:
    put(back, results(root))
    other = results(root, "NVIDIA H200")
    other["parts"]["jobs"]["cells"]["1"]["seconds"] = 96
    put(back, other, "other.json")
    merge(back, root)
    assert stored(root)["parts"]["jobs"]["cells"]["1"]["seconds"] == 120
    assert stored(root, "nvidia-h200")["parts"]["jobs"]["cells"]["1"]["seconds"] == 96
    text = performance(root)
    assert text.count("### Several trials on one card") == 1
    assert "| 4 | no | 8 | 48 | 10.0 | 2.50 | 3.2 |" in text
    assert "| 4 | no | 8 | 48 | 10.0 | 2.00 | 3.2 |" in text  # beside the one of its own card


def test_parts_of_one_card_add_up_over_calls(root: Path, back: Path) -> None:
    """A part that is complete is not replaced by one that is not."""
    put(back, results(root))
    merge(back, root)
    later = results(root)
    later["parts"] = {"jobs": part({"1": trials(1)}, CUT, "killed"), "resume": part({})}
    put(back, later)
    merge(back, root)
    assert stored(root)["parts"].keys() == {"jobs", "resume"}
    assert stored(root)["parts"]["jobs"]["cells"]["1"]["seconds"] == 120


def test_a_figure_that_was_not_finished_replaces_none_that_was(root: Path, back: Path) -> None:
    """Calls on two machines, each of which began anew: nothing of the first is lost."""
    first, later = results(root), results(root)
    first["parts"] = {
        "jobs": part(
            {"1": trials(120)}, CUT, "killed", **{"4": "failed: OSError: x", "8": "failed: y"}
        )
    }
    later["parts"] = {
        "jobs": part({"1": {**trials(60), "unfinished": True}, "4": trials(48)}, CUT, "killed")
    }
    for content in (first, later):
        put(back, content)
        merge(back, root)
    jobs = stored(root)["parts"]["jobs"]
    assert jobs["cells"] == {"1": trials(120), "4": trials(48)}
    assert jobs["told"] == {"8": "failed: y"}


def test_figures_of_other_libraries_replace_all_of_a_card_and_that_is_told(
    root: Path, back: Path
) -> None:
    put(back, results(root))
    merge(back, root)
    later = results(root)
    later["card"]["torch"] = "2.13.0"
    later["parts"] = {"resume": part({})}
    put(back, later)
    head = later["manifest"]["commit"][:8]
    told = f"  the figures of commit {head} on such a card made room: they are of another machine (torch)"
    assert merge(back, root)[1:] == [told]
    assert stored(root)["parts"].keys() == {"resume"}


def test_a_page_without_its_marks_is_said(tmp_path: Path) -> None:
    with pytest.raises(
        BlurbError, match=r"docs/performance\.md: the marks of the device figures are gone; restore"
    ):
        page.fill("# Performance\n", tmp_path)


def test_without_a_card_the_page_says_so(tmp_path: Path) -> None:
    assert "\n\nNo card has run yet" in page.fill(f"{page.BEGIN}\n{page.END}", tmp_path / "none")
