"""Sources of the CoNLL files of four NER datasets: the conversion of Crichton et al. (2017), at a fixed revision."""

from __future__ import annotations

from blurb.tasks._task import Download, Source

REPOSITORY = "MTL-Bioinformatics-2016"
REVISION = "df0df02fae6dbb87d88ffcf323b9096528f06f84"
FILES = ("train", "devel", "test")


def source(folder: str, *facts: tuple[int, str]) -> Source:
    """The source of one dataset.

    :param folder: folder below `data/` of the repository
    :param facts: size and SHA-256 of its files, in the order of `FILES`
    """
    paths = [f"data/{folder}/{name}.tsv" for name in FILES]
    return Source(
        page=f"https://github.com/cambridgeltl/{REPOSITORY}",
        files=f"{REPOSITORY}/data/{folder}/{{{','.join(FILES)}}}.tsv, or the repository as an archive",
        downloads=tuple(
            Download(
                f"https://raw.githubusercontent.com/cambridgeltl/{REPOSITORY}/{REVISION}/{path}",
                f"{REPOSITORY}/{path}",
                size,
                digest,
            )
            for path, (size, digest) in zip(paths, facts, strict=True)
        ),
    )
