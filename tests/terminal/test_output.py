"""What the commands print with: names of others stay as they are, differences and numbers of things read well."""

import pytest
from rich.console import Console

from blurb.cli import compare
from blurb.messages.text import count_noun, format_p, format_signed
from blurb.regression import DatasetDecision, Outcome, forms
from blurb.results.comparison import ScoreComparison
from blurb.statistics.welch import WelchComparison
from blurb.terminal.output import make_console, print_rows


def test_brackets_and_colons_of_others_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(("[/red]", "[bold]label[/]"), [("[/x]", ":smile:")], "table")
    make_console().print("[/red] [bold]x[/] :smile: 12")
    shown = capsys.readouterr().out
    for text in ("[/red]", "[bold]label[/]", "[/x]", "[bold]x[/] :smile: 12"):
        assert text in shown
    assert shown.count(":smile:") == 2


def test_in_a_pipe_lines_are_as_wide_as_asked(capsys: pytest.CaptureFixture[str]) -> None:
    make_console().print("x" * 200)
    make_console(width=120, stderr=True).print("x" * 121)
    out, err = capsys.readouterr()
    assert (out.count("\n"), err.count("\n")) == (1, 2)


def test_a_difference_of_nothing_has_no_sign() -> None:
    assert [format_signed(value) for value in (0.0, -0.0, -0.004, 0.004, -0.006, 12)] == [
        "0.00",
        "0.00",
        "0.00",
        "0.00",
        "-0.01",
        "+12.00",
    ]
    line = ScoreComparison("gad", 80.0, 79.999, (3, 3), WelchComparison(-0.001))
    assert forms.cells(DatasetDecision(line, Outcome.PASS))[3] == "0.00"
    assert compare._cells_of_line(line, 0.05, None)[3] == "0.00"


def test_one_of_a_thing_is_singular_and_p_has_three_digits() -> None:
    assert [count_noun(count, "trial") for count in (0, 1, 2_000)] == [
        "0 trials",
        "1 trial",
        "2,000 trials",
    ]
    assert [format_p(p) for p in (None, 0.0001, 0.79241)] == ["", "<0.001", "0.792"]
    assert forms.describe_flips(
        DatasetDecision(
            ScoreComparison("gad", 1, 0, (3, 3), WelchComparison(-1)),
            Outcome.REGRESSION,
            worse=[("test.1", 1.0)],
        )
    ).startswith("1 example worse by half a mistake a run or more, 0 better by as much")


@pytest.mark.parametrize("width", [80, 100, 120])
def test_numbers_and_names_are_whole_and_texts_fold(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "blurb.terminal.output.make_console", lambda *given, **more: Console(width=width)
    )
    columns = ("dataset", *(f"number {place}" for place in range(5)), "why")
    rows = [
        (
            "ncbi-disease",
            *["123456.78"] * 5,
            "a reason of several words that no terminal has the room for " * 2,
        )
    ]
    print_rows(columns, rows, "table", numbers=columns[1:6])
    text = capsys.readouterr().out
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert text.count("123456.78") == 5
    assert "".join(text.split()).count("noterminal") >= 1


def test_long_names_in_front_leave_the_numbers_their_room(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "blurb.terminal.output.make_console", lambda *given, **more: Console(width=80)
    )
    print_rows(
        ("row", "done", "MB"),
        [("scratch:tiny standard pooling=cls " * 4, "39/39", "0.2")],
        "table",
        ("done", "MB"),
    )
    text = capsys.readouterr().out
    assert "39/39" in text
    assert "0.2" in text
    assert max(map(len, text.splitlines())) <= 80
