"""`blurb` is also CPython's news tool: a mix of the two is noticed and said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import blurb
import blurb_bench
from blurb import doctor
from blurb.doctor import examine

ROOT = Path(blurb.__file__).parents[1]


@pytest.mark.parametrize("content", ['__version__ = "2.3.0"\n', None])
def test_a_package_of_the_same_name_in_the_place_of_ours_is_named(
    tmp_path: Path, content: str | None
) -> None:
    """Replaced when the other one is installed later, and removed when it is uninstalled."""
    (tmp_path / "blurb").mkdir()
    if content:
        (tmp_path / "blurb" / "__init__.py").write_text(content)
    (tmp_path / "blurb_bench.py").write_text(
        Path(blurb_bench.__file__).read_text(encoding="utf-8"), encoding="utf-8"
    )
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import blurb_bench; blurb_bench.main()"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2
    assert "CPython's news tool" in done.stderr
    assert "pip install --force-reinstall --no-deps blurb-bench" in done.stderr


def test_the_second_command_is_the_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["blurb-bench", "--version"])
    with pytest.raises(SystemExit) as ended:
        blurb_bench.main()
    assert (ended.value.code, capsys.readouterr().out) == (
        0,
        f"blurb, version {blurb.__version__}\n",
    )


def test_doctor_warns_while_both_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = doctor.metadata.distributions
    other = [SimpleNamespace()]
    monkeypatch.setattr(
        doctor.metadata,
        "distributions",
        lambda **asked: other if asked == {"name": "blurb"} else before(**asked),
    )
    (problem,) = [problem for problem in examine().problems if problem.where == "blurb"]
    assert "pip uninstall blurb, then" in problem.fix
