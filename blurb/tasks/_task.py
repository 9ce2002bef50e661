"""Declaration of a task: one frozen object per dataset. Its behaviour comes from its type (`blurb.tasks.types`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Literal, TypedDict

from blurb.records import Count
from blurb.tasks import types

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")
ScoredSplit = Literal["dev", "test"]
SCORED: tuple[ScoredSplit, ...] = ("dev", "test")
"""The splits that are predicted and scored."""


@dataclass(frozen=True)
class Download:
    """A file of a release that can be downloaded without registration, for `blurb data download`.

    :param url: its address; of a fixed revision if the site has revisions
    :param path: target path below the folder of the originals
    :param size: size in bytes; none if the file may change
    :param sha256: SHA-256 of the file; "" if the file may change
    """

    url: str
    path: str
    size: Count | None = None
    sha256: str = ""


@dataclass(frozen=True)
class Source:
    """Where users get the original release, for `blurb data prepare`.

    :param page: web page of the release
    :param files: files to put below the folder of the originals, unpacked or as archives
    :param note: further requirements (registration, a library)
    :param downloads: the files that need no registration
    """

    page: str
    files: str
    note: str = ""
    downloads: tuple[Download, ...] = ()


class Layout(TypedDict, total=False):
    """Options of the reader of a task file; the keys depend on the format."""

    kind: Annotated[str, "format"]
    token: Annotated[int, "column of the word"]
    tag: Annotated[int, "column of the tag"]
    scheme: Annotated[str, "tagging scheme"]
    header: Annotated[bool, "the first line names the columns"]
    columns: Annotated[Mapping[str, str | int], "column or key of each field"]
    dummies: Annotated[Sequence[str], "texts that stand for the entities"]
    separator: Annotated[str, "between two labels"]


@dataclass(frozen=True)
class Task:
    """A dataset and how it is scored.

    :param name: the name used everywhere ("bc5-chem")
    :param title: the name in the paper's tables ("BC5-chem")
    :param type: name of its task type, which defines its examples and how a model reads them
    :param paper_order: row in the paper's Table 3, 1 to 13; none outside BLURB
    :param files: path of each split below the data folder
    :param reader: `module:function` that reads examples from one of these files
    :param labels: entity types (ner, pico) or classes; empty for similarity
    :param short_labels: label -> its abbreviation, which files of predictions may have in its place
    :param metric: name of a function in `blurb.metrics`; the first key of its result is the score
    :param metric_options: keyword arguments of that function
    :param seeds: runs to average (10 for the three small datasets, 5 for the others; paper, section 2.5)
    :param max_length: maximum number of sub-tokens of an input, including special tokens
        (docs/benchmark.md, "Settings of standard")
    :param unit: what `sizes` counts
    :param licence: licence of the corpus
    :param homepage: its web page
    :param citation: BibTeX
    :param sizes: size of each split as printed in Table 3 of the paper
    :param released: sizes of the files that BLURB's kit writes, where they differ from `sizes`
    :param explanation: why they differ
    :param original: `module:function` that reads a split of the original release, if that has more than `files`
    :param dummified: whether the text in `files` has dummies in place of the two entities (relation)
    :param layout: further settings of the reader, for tasks from a task file
    :param file: the task file of a user that declares it; "" for other tasks
    :param suite: the suite that it belongs to; "" for BLURB's, plug-ins and task files without a suite
    :param builder: `module:function` that makes `files` from the original release (`blurb.corpora.build`)
    :param source: where to get that release, for a task with a builder
    :param hashes: hash of the canonical examples of each split, if known
    :param entity: entity type -> the word that corpora share for it, such as "disease"
    :param broader: whether its types hold more than these words say: it is tested on, and never trained on for others
    """

    name: str
    title: str
    type: str
    files: Mapping[Split, str]
    reader: str
    labels: tuple[str, ...]
    metric: str
    seeds: Count
    max_length: Count
    unit: str
    licence: str
    homepage: str
    citation: str
    paper_order: Count | None = None
    metric_options: Mapping[str, str | float | bool | Sequence[str] | None] = field(
        default_factory=dict
    )
    sizes: Mapping[Split, Count] = field(default_factory=dict)
    released: Mapping[Split, Count] = field(default_factory=dict)
    explanation: str = ""
    original: str = ""
    builder: str = ""
    source: Source | None = None
    dummified: bool = False
    short_labels: Mapping[str, str] = field(default_factory=dict)
    layout: Layout = field(default_factory=Layout)
    file: str = ""
    suite: str = ""
    hashes: Mapping[Split, str] = field(default_factory=dict)
    entity: Mapping[str, str] = field(default_factory=dict)
    broader: bool = False

    @property
    def task_type(self) -> types.TaskType:
        """The declaration of the task's type."""
        return types.get(self.type)

    @property
    def is_declared(self) -> bool:
        """Whether its file decides what it is, and not the version of blurb: data hash and provenance have it, too."""
        return bool(self.file or self.suite)

    @property
    def declaration(self) -> dict[str, Any]:
        """The fields as they are stored; without the path of a suite, which anybody has elsewhere."""
        return asdict(replace(self, file="" if self.suite else self.file))

    @property
    def has_own_paths(self) -> bool:
        """Whether its files are where its task file says, not below the data folder."""
        return bool(self.file) and not self.suite

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest score, of a task whose examples have scores."""
        return float(str(self.metric_options["low"])), float(str(self.metric_options["high"]))

    def expected(self, split: Split) -> int | None:
        """Expected size of a split, in `unit`; None if unknown."""
        return self.released.get(split, self.sizes.get(split))


def tsv_files(folder: str) -> dict[Split, str]:
    """Paths of a dataset's three files in BLURB's layout."""
    return {split: f"{folder}/{split}.tsv" for split in SPLITS}
