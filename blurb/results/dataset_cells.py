"""The plan of a row in the tables: its datasets with the number of seeds of each, also of those without any run.

ncbi-disease:3 gad:3 biosses:10
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from blurb.results.dataset_scores import DatasetScores, in_order
from blurb.table_files import FileLine

if TYPE_CHECKING:
    from blurb.results.row import Row

PART = re.compile(r"[^\s:]+:[1-9][0-9]{0,8}")


def text(row: Row) -> str:
    """The plan of a row; "" for numbers without one."""
    return joined({name: one.planned for name, one in in_order(row.datasets) if one.planned})


def joined(values: Mapping[str, object]) -> str:
    """A cell of a value per dataset.

    >>> joined({"gad": 3, "hoc": 3})
    'gad:3 hoc:3'
    """
    return " ".join(f"{name}:{value}" for name, value in values.items())


def per_dataset(row: Row, value: Callable[[DatasetScores], str | None]) -> str:
    """`1` if all datasets with a score have that value, else the value per dataset: `bc2gm:2000 jnlpba:2000`."""
    values = {name: known for name, one in in_order(row.datasets) if one.mean() is not None and (known := value(one))}
    scored = sum(one.mean() is not None for one in row.datasets.values())
    if len(set(values.values())) == 1 and len(values) == scored:
        return next(iter(values.values()))
    return joined(values)


def of_dataset(cell: str, task: str) -> str:
    """The value of a dataset in a cell of `per_dataset`; "" if it has none."""
    if ":" not in cell:
        return cell
    return parts(cell).get(task, "")


def parts(cell: str) -> dict[str, str]:
    """Dataset -> value of a cell."""
    return dict(part.rpartition(":")[::2] for part in cell.split())


def seeds(cell: str) -> dict[str, int]:
    """Dataset -> number of planned seeds."""
    return {name: int(count) for name, count in parts(cell).items()}


def check(cell: str, at: FileLine, column: str = "plan") -> None:
    """Raises a DataError (file, line) if a cell of numbers per dataset cannot be read."""
    for part in cell.split():
        if not PART.fullmatch(part):
            raise at.error(f"{column} must have a number per dataset, such as gad:3 (got {part[:20]!r}).")
    if len(parts(cell)) < len(cell.split()):
        raise at.error(f"{column} names a dataset twice (got {cell[:60]!r}).")


def together(cells: Iterable[str]) -> dict[str, int]:
    """The plan of several lines of one row, which machines may have planned separately: the most seeds of each."""
    plans: dict[str, int] = {}
    for cell in dict.fromkeys(cells):
        for name, count in seeds(cell).items():
            plans[name] = max(plans.get(name, 0), count)
    return plans


def completed(there: Mapping[str, DatasetScores], cells: Iterable[str]) -> dict[str, DatasetScores]:
    """The datasets with those that were planned and have no run; of each the most seeds that any line plans."""
    planned = together(cells)
    return {
        **{name: replace(one, planned=max(one.planned, planned.get(name, 0))) for name, one in there.items()},
        **{name: DatasetScores(name, planned=count) for name, count in planned.items() if name not in there},
    }
