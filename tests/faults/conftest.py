"""The undisturbed sweep, made once."""

import pytest

pytest.register_assert_rewrite("tests.faults.sweep")

from tests.faults.sweep import Undisturbed, sweep  # noqa: E402 - its asserts show what they compare


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """Six trials of baselines, one after the other."""
    return Undisturbed.run(sweep(), tmp_path_factory.mktemp("undisturbed") / "here")
