from pathlib import Path

import blurb
from benchmarks import mutants


def test_each_fault_can_be_made_in_the_code_as_it_is() -> None:
    room = Path(blurb.__file__).parent
    assert [
        one.fault
        for one in mutants.of_rooms()
        if (room / one.file).read_text("utf-8").count(one.old) != 1
    ] == []
