"""HoC: `labels TAB sentence TAB PMID_s<i>`, labels as `0_0,1_1,...,9_0` in alphabetical order of the hallmarks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from blurb.data.readers._files import table, trimmed
from blurb.data.schema import Example
from blurb.messages.errors import DataError
from blurb.tasks import Split, Task


def read(path: Path, task: Task, split: Split) -> Iterator[Example]:
    """Sentences with the names of their hallmarks; `doc_id` is the abstract, which is what is scored."""
    size = len(task.labels)
    allowed = {f"{i}_{bit}": bit == 1 for i in range(size) for bit in (0, 1)}
    for number, (flags, text, index) in table(path, 3, ("labels", "sentence", "index"), key=2):
        cells = [trimmed(cell) for cell in flags.split(",")]
        if [cell.partition("_")[0] for cell in cells] != [str(i) for i in range(size)] or any(
            cell not in allowed for cell in cells
        ):
            raise DataError(
                f"expected labels 0_x,1_x,...,{size - 1}_x with x 0 or 1; found {flags[:60]!r}.", path, number
            )
        doc_id, separator, sentence = index.rpartition("_s")
        if not separator or not sentence.isdigit():
            raise DataError(f"expected an index like 12345678_s0, found {index[:40]!r}.", path, number)
        labels = [label for label, cell in zip(task.labels, cells, strict=True) if allowed[cell]]
        yield {"id": index, "doc_id": doc_id, "text": text, "labels": labels}
