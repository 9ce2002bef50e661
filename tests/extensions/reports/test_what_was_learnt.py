"""docs/what-was-learnt.md works as it stands, with a checkpoint and small data."""

import re
import shlex
from pathlib import Path

import pytest

from blurb.corpora import demo
from tests.cli.in_process import done
from tests.golden import encoder

PAGE = (Path(__file__).parents[3] / "docs" / "what-was-learnt.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.costly
def test_every_command_of_the_page(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLURB_DATA", str(demo.prepare()))
    encoder.build(here / "checkpoint")
    printed = {}
    for line in "".join(BLOCKS).splitlines():
        command, _, file = line.partition(" > ")
        few = ["--set", "epochs=1", "--seeds", "2"] * ("./checkpoint" in command)
        printed[line] = done([*shlex.split(command)[1:], *few], here)
        if file:
            (here / file).write_text(printed[line], encoding="utf-8")
    assert [line.split()[1] for line in printed] == [
        "run",
        "generalisation",
        "compare",
        "generalisation",
        "leaderboard",
        "export",
        "run",
        "transfer",
    ]
    assert "bc5-disease" in printed["blurb transfer checkpoint"]
    assert "Seen and unseen" in (here / "leaderboard.html").read_text(encoding="utf-8")
    assert r"\begin{table}" in (here / "seen.tex").read_text(encoding="utf-8")
    assert (here / "seen.png").stat().st_size > 10_000
