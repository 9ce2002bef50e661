"""Every reader of a user's TOML file refuses what is none in one sentence with the name of the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blurb import tasks
from blurb.messages.errors import SettingsError
from blurb.protocols import protocol, settings
from blurb.regression import rules
from blurb.system import text_files

READERS: dict[str, Callable[[str], Any]] = {
    "task file": tasks.load,
    "protocol": protocol.load_protocol_file,
    "rules": lambda name: rules.load_rules(Path(name)),
}
BAD = {
    "digits": (b"seeds = " + b"9" * 5_000, "invalid TOML"),
    "brackets": (b"seeds = " + b"[" * 100_000, "nested too deeply"),
    "no TOML": (b"a = 1\nb =\n", "line 2"),
    "no UTF-8": (b"a = 1\nb = '\xff'\n", ":2: this line is not UTF-8"),
    "too large": (b"#" * (text_files.MOST_BYTES + 1), "too large"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_toml_is_told(reader: str, case: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    content, message = BAD[case]
    path.write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        READERS[reader](str(path))
    assert str(path) in str(caught.value)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("reader", READERS)
def test_no_file_and_a_folder_are_told(reader: str, tmp_path: Path) -> None:
    for path, message in (
        (tmp_path / "none.toml", "no such file|there is no such|does not exist"),
        (tmp_path / "a.toml", ""),
    ):
        if not message:
            path.mkdir()
        with pytest.raises(SettingsError, match=message or "cannot read|does not exist") as caught:
            READERS[reader](str(path))
        assert "Errno" not in str(caught.value)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes("\ufeffsplit = 'test'\n".encode())
    assert rules.load_rules(path).split == "test"


def test_a_number_of_hundreds_of_digits_is_no_float(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    for reader, text in (("rules", "max_drop = "), ("protocol", "[all]\nlr = ")):
        path.write_text(text + "9" * 400)
        with pytest.raises(SettingsError, match=r"must be a number, at least 0.* \(got 999"):
            READERS[reader](str(path))


@pytest.mark.parametrize("value", ["9" * 5_000, "[" * 100_000])
def test_a_setting_may_be_nonsense_too(value: str) -> None:
    with pytest.raises(SettingsError, match="epochs must be a whole number"):
        settings.parse_overrides({"epochs": value})
