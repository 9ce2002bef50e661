"""BC5-chem, BC5-disease, NCBI-disease and BC2GM from the CoNLL files of Crichton et al. (MTL-Bioinformatics-2016)."""

from __future__ import annotations

from blurb.corpora.build._files import untyped
from blurb.corpora.releases import Release
from blurb.tasks import Split, Task

FILES: dict[Split, str] = {"train": "train", "dev": "devel", "test": "test"}
ARCHIVES = ("MTL-Bioinformatics-2016*",)


def build(release: Release, task: Task) -> dict[Split, str]:
    """BLURB's folder is named like the MTL folder, without `-IOB`; the splits are the same."""
    names = {split: f"{task.files[split].split('/')[0]}-IOB/{name}.tsv" for split, name in FILES.items()}
    sources = release.files(names.values(), ARCHIVES)
    return {split: "".join(untyped(sources[name].lines())) for split, name in names.items()}
