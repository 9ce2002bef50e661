"""What the commands print with: names of others stay as they are, differences and numbers of things read well."""

from __future__ import annotations

import pytest

from blurb.cli._output import console, show


def test_brackets_and_colons_of_others_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show(("[/red]", "[bold]label[/]"), [("[/x]", ":smile:")], "table")
    console().print("[/red] [bold]x[/] :smile: 12")
    shown = capsys.readouterr().out
    for text in ("[/red]", "[bold]label[/]", "[/x]", "[bold]x[/] :smile: 12"):
        assert text in shown
    assert shown.count(":smile:") == 2


def test_in_a_pipe_lines_are_as_wide_as_asked(capsys: pytest.CaptureFixture[str]) -> None:
    console().print("x" * 200)
    console(width=120, stderr=True).print("x" * 121)
    out, err = capsys.readouterr()
    assert (out.count("\n"), err.count("\n")) == (1, 2)
