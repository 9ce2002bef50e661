"""What a task is. One frozen declaration a dataset; how it behaves is decided by its type (`blurb.tasks.types`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from blurb.tasks import types
from blurb.tasks.types import TaskType

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")


@dataclass(frozen=True)
class Download:
    """A file of a release that may be fetched without registration, for `blurb data download`.

    :param url: where it is; of a fixed revision where there are revisions
    :param path: where it goes below the folder of the originals
    :param size: bytes, where the file never changes
    :param sha256: of the file, likewise
    """

    url: str
    path: str
    size: int | None = None
    sha256: str = ""


@dataclass(frozen=True)
class Source:
    """Where a user gets the original release, for `blurb data prepare`.

    :param page: from where to get it
    :param files: what to put below the folder of the originals, unpacked or as archives
    :param note: what else there is to do (registration, a library)
    :param downloads: the files, where everybody may fetch them
    """

    page: str
    files: str
    note: str = ""
    downloads: tuple[Download, ...] = ()


@dataclass(frozen=True)
class Task:
    """A dataset and how it is measured.

    :param name: the name used everywhere ("bc5-chem")
    :param title: the name in the paper's tables ("BC5-chem")
    :param type: name of its type, which says what its examples are and how they are put to a model
    :param paper_order: row of the paper's Table 3, 1 to 13; None for a dataset that is not part of BLURB
    :param files: path of each split below the data folder
    :param reader: `module:function` that reads one of these files into rows
    :param labels: entity types (ner, pico) or classes; empty for similarity
    :param metric: name of a function in `blurb.metrics`; its first key is the score
    :param metric_options: keyword arguments of that function
    :param seeds: runs to average (10 for the three small ones, 5 for the rest; paper section 2.5)
    :param max_length: sub-tokens of the longest input, special tokens included
        (docs/benchmark.md, "Settings of standard")
    :param unit: what `sizes` counts
    :param sizes: Table 3 of the paper as printed
    :param released: counts of the files that BLURB's kit makes, where they differ from `sizes`
    :param explanation: why they differ
    :param original: `module:function` that reads a split of the original release, where that says more than `files` do
    :param dummified: `files` hold dummies in the place of the two entities (relations)
    :param layout: what the reader needs to know besides, for tasks from a file
    :param file: the TOML file that declares it, for tasks that are no plug-in
    :param builder: `module:function` that makes `files` from the original release (`blurb.corpora.build`)
    :param source: where that release is, for a task with a builder
    :param hashes: hash of the canonical examples of each split, where it is known
    """

    name: str
    title: str
    type: str
    files: Mapping[Split, str]
    reader: str
    labels: tuple[str, ...]
    metric: str
    seeds: int
    max_length: int
    unit: str
    licence: str
    homepage: str
    citation: str
    paper_order: int | None = None
    metric_options: Mapping[str, object] = field(default_factory=dict)
    sizes: Mapping[Split, int] = field(default_factory=dict)
    released: Mapping[Split, int] = field(default_factory=dict)
    explanation: str = ""
    original: str = ""
    builder: str = ""
    source: Source | None = None
    dummified: bool = False
    layout: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""
    hashes: Mapping[Split, str] = field(default_factory=dict)

    @property
    def task_type(self) -> TaskType:
        """The declaration of its type."""
        return types.get(self.type)

    def expected(self, split: Split) -> int | None:
        """The count that a correct copy of the split has, None where the release fixes none."""
        return self.released.get(split, self.sizes.get(split))


def tsv_files(folder: str) -> dict[Split, str]:
    """The three files of a dataset as BLURB's kit writes them."""
    return {split: f"{folder}/{split}.tsv" for split in SPLITS}
