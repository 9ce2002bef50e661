"""The undisturbed sweep, made once."""

from __future__ import annotations

import pytest

from tests.faults.sweep import Undisturbed, sweep


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """Six trials of baselines, one after the other."""
    return Undisturbed.run(sweep(), tmp_path_factory.mktemp("undisturbed") / "here")
