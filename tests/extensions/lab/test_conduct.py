"""Studies are made part by part, by one process or several, and go on from their parts."""

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blurb
from blurb import metrics
from blurb.corpora import demo
from blurb.extensions.lab.pretraining import pretrain
from blurb.extensions.lab.pretraining.request import PretrainingCorpus
from blurb.extensions.lab.study import conduct, findings, parts, spec
from blurb.extensions.lab.study.spec import Study, Variant
from blurb.messages.errors import BlurbError, DataError
from blurb.results.comparison import compare_rows
from blurb.results.row import Row
from blurb.row_files.reading import RowFiles
from blurb.statistics.bootstrap import Clusters, difference_variance
from blurb.system import leases
from blurb.system.files import write_json
from blurb.system.lease_records import LeaseRecord
from blurb.training.hardware import choose_device, choose_precision
from tests.cli.in_process import blurb as command, refused
from tests.extensions.lab.test_findings import VALUES, variant
from tests.system.other_machines import Clock, Elsewhere

SMALL = """
title = "Small"
tasks = ["gad", "biosses"]
protocols = ["smoke"]
runs = 2
words = 2000
floors = ["baseline:bigrams"]
[recipe]
vocabulary = 300
length = 32
batch = 8
[variants.untrained]
words = 0
[variants.trained]
"""


def own_precision() -> str:
    return choose_precision("auto", choose_device("auto"))


def of_a_machine_without_bf16(read: Callable[[Path], RowFiles]) -> Callable[[Path], RowFiles]:
    """Reads a part as if it had been scored in a precision that no machine has; the others as they are."""
    return lambda folder: (
        replace(read(folder), about={**read(folder).about, "precision": "fp8"})
        if "trained-2" in folder.parts
        else read(folder)
    )


@pytest.mark.costly
def test_a_study_from_nothing_and_from_its_parts(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    study, scored, limit = spec.read(tmp_path / "small.toml"), [], [3]

    def score(encoder: Path | str, name: str, protocol: str, store: Path) -> Row:
        if [len(scored)] == limit:
            raise KeyboardInterrupt
        scored.append(name)
        names = [task.name for task in study.tasks]
        given = {"protocol": protocol, "suite": "demo", "output": store, "progress": False}
        (row,) = blurb.run(encoder, tasks=",".join(names), name=name, **given).rows  # type: ignore[arg-type]
        return row

    def conducted() -> list[tuple[str, int]]:
        made = conduct.conduct(
            study, tmp_path / "out", conduct.Texts(demo.prepare()), score, progress=False
        )
        return [(variant.name, seed) for variant, seed in made]

    with pytest.raises(KeyboardInterrupt):
        conducted()
    assert [variant.name for variant, _ in conduct.missing(tmp_path / "out", study)] == [
        "untrained",
        "trained",
    ]
    scored.clear()
    shutil.rmtree(tmp_path / "out" / "work")  # only what is committed is left
    limit.clear()
    assert conducted() == [("untrained", 2), ("trained", 2)]
    assert conducted() == []
    assert not list((tmp_path / "out" / "work").iterdir())
    rows = parts.rows(tmp_path / "out", study, "smoke")
    assert {name: row.seeds("gad") for name, row in rows.items()} == {
        "untrained": (1, 2),
        "trained": (1, 2),
    }
    lines = compare_rows(rows["trained"], rows["untrained"], "test", with_units=False)
    assert {line.name for line in lines} >= {"gad", "biosses"}
    shown = findings.read(tmp_path / "out", study)
    assert set(shown.floors) == {"baseline:bigrams"}
    variance, count = findings.unit_variances(tmp_path / "out", study, demo.prepare())(
        "trained", "untrained", "biosses"
    )
    assert count > 5  # 0 where examples are not known
    assert variance >= 0
    assert len(findings.read(tmp_path / "out", study, demo.prepare()).reading()) == 2
    (trained,) = (variant for variant in study.variants if variant.name == "trained")
    for task in ("gad", "biosses"):
        found = findings._clusters(tmp_path / "out", study, demo.prepare(), trained.name, task)
        assert found.scores == pytest.approx(rows["trained"].values(task), abs=1e-9)
    assert [path.name for path in shown.write()] == ["README.md", "study.csv", "study.png"]
    assert len(shown.to_pandas()) == 3 * 2 + 3  # three columns, two sets and their mean
    facts = parts.facts(tmp_path / "out", study)
    assert [each["seen"]["words"] for each in facts["untrained"]] == [0, 0]
    assert all(each["bits per byte"]["model"] > 0 for each in facts["trained"])
    assert not list((tmp_path / "out").rglob("*.safetensors"))
    assert [parts.precision(tmp_path / name, study) for name in ("out", "none")] == [
        own_precision(),
        "auto",
    ]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parts, "read_row_files", of_a_machine_without_bf16(parts.read_row_files))
        with pytest.raises(DataError, match="in another precision than in other parts"):
            parts.rows(tmp_path / "out", study, "smoke")
    parts.check_text(tmp_path / "out", study, trained, facts["trained"][0]["text"]["sha256"])
    with pytest.raises(DataError, match="has other documents now than when the parts were made"):
        parts.check_text(tmp_path / "out", study, trained, "of other documents")
    of_one_name = replace(
        study, variants=[*study.variants, replace(trained, name="more", text=["elsewhere/train"])]
    )
    parts.check_text(tmp_path / "out", of_one_name, of_one_name.variants[-1], "of other documents")
    about = parts.place(tmp_path / "out", trained, 2) / pretrain.ABOUT
    for key in ("vocabulary", "start", "text"):
        changed = {"sha256": "another"} if key == "text" else "another"
        write_json(about, {**facts["trained"][1], key: changed})
        with pytest.raises(DataError, match=r"different (contents of|documents)"):
            parts.rows(tmp_path / "out", study, "smoke")
    write_json(about, facts["trained"][1])
    wider = replace(study, tasks=[*study.tasks, blurb.tasks.get("hoc")])
    assert len(conduct.missing(tmp_path / "out", wider)) == 4
    elsewhere = replace(
        study, variants=[replace(each, text=["notes.txt"]) for each in study.variants]
    )
    with pytest.raises(DataError, match="was made with another text"):
        parts.rows(tmp_path / "out", elsewhere, "smoke")
    other = replace(
        study,
        variants=[replace(each, recipe=replace(each.recipe, lr=0.1)) for each in study.variants],
    )
    with pytest.raises(DataError, match="was made with another lr"):
        conduct.missing(tmp_path / "out", other)


def test_a_part_that_another_process_makes_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    study = spec.read(tmp_path / "small.toml")
    work = tmp_path / "out" / "work"
    work.mkdir(parents=True)
    with contextlib.ExitStack() as stack:
        for name in ("baseline-bigrams", "untrained-1", "untrained-2", "trained-1", "trained-2"):
            stack.enter_context(leases.held(work / f"{name}.lease"))
        script = (
            "from pathlib import Path\nfrom blurb.extensions.lab.study import conduct, spec\n"
            "from blurb.system import leases\n"
            "leases.wait_for_stale = list\n"  # in the place of two minutes, after which all are still held
            f"study = spec.read({str(tmp_path / 'small.toml')!r})\n"
            f"print(list(conduct.conduct(study, Path({str(tmp_path / 'out')!r}), None, None)))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
    assert done.stdout.strip() == "[]"
    assert len(conduct.missing(tmp_path / "out", study)) == 4


@pytest.fixture
def study(tmp_path: Path) -> Study:
    (tmp_path / "small.toml").write_text(SMALL.replace('floors = ["baseline:bigrams"]', ""))
    return spec.read(tmp_path / "small.toml")


class NoTexts(conduct.Texts):
    """Texts that nobody reads."""

    def of(self, variant: Variant) -> tuple[PretrainingCorpus, Any]:
        return PretrainingCorpus([], []), {}


def conducted(study: Study, out: Path, score: Any = None) -> list[str]:
    made = conduct.conduct(study, out, NoTexts(out), score, progress=False)
    return [f"{variant.name}-{seed}" for variant, seed in made]


@pytest.fixture
def quick_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part is made at once, and is an empty folder."""

    def make(study: Study, variant: Variant, seed: int, out: Path, *more: object) -> None:
        parts.place(out, variant, seed).mkdir(parents=True)

    monkeypatch.setattr(conduct, "_make", make)
    monkeypatch.setattr(
        parts, "is_done", lambda out, study, variant, seed: parts.place(out, variant, seed).is_dir()
    )


def other_machine(out: Path, part: str) -> Elsewhere:
    (out / "work").mkdir(parents=True)
    owner = Elsewhere(out / "work" / f"{part}.lease")
    owner.beat()
    return owner


@pytest.mark.usefixtures("quick_parts")
def test_a_part_of_a_machine_that_is_gone_is_taken_over(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the parts that nobody has: that takes as long as a lease needs to be stale, by the observer's clock."""
    clock = Clock()
    monkeypatch.setattr(leases, "time", clock)
    other_machine(tmp_path / "out", "untrained-1")
    assert conducted(study, tmp_path / "out") == [
        "trained-1",
        "untrained-2",
        "trained-2",
        "untrained-1",
    ]
    assert leases.LIMIT <= clock.now <= leases.LIMIT + 2 * leases.BEAT
    assert list((tmp_path / "out" / "work").iterdir()) == []


@pytest.mark.usefixtures("quick_parts")
def test_a_part_of_a_machine_that_lives_is_left_to_it(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = other_machine(tmp_path / "out", "untrained-1")

    class Beating(Clock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            owner.beat()

    monkeypatch.setattr(leases, "time", Beating())
    assert conducted(study, tmp_path / "out") == ["trained-1", "untrained-2", "trained-2"]
    assert owner.path.read_bytes() == owner.holder.content()


@pytest.mark.parametrize("last", [1, 2])
def test_who_has_lost_a_part_puts_nothing_in_place(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int
) -> None:
    """Another machine takes the part over while this one scores: the row is dropped, and the part is not done.

    :param last: of the two protocols, that during which it is lost
    """
    study, out = replace(study, protocols=["smoke", "sketch"]), tmp_path / "out"
    scored: list[str] = []

    def pretrained(out: Path, *more: object) -> Path:
        (out / "model").mkdir(parents=True)
        write_json(out / "model" / pretrain.ABOUT, {})
        return out / "model"

    def score(encoder: Path | str, name: str, protocol: str, store: Path) -> Row:
        scored.append(protocol)
        if len(scored) == last:
            Elsewhere(out / "work" / f"{name}.lease").beat()
        return Row.__new__(Row)

    monkeypatch.setattr(pretrain, "pretrain", pretrained)
    monkeypatch.setattr(conduct, "_keep", lambda row, target: target.mkdir(parents=True))
    with pytest.raises(leases.Lost, match=r"untrained-1\.lease"):
        conducted(study, out, score)
    there = {path.relative_to(out / "parts") for path in (out / "parts").rglob("*")}
    assert there == ({Path("untrained-1"), Path("untrained-1/smoke")} if last == 2 else set())
    assert (out / "work" / "untrained-1" / "pretrained").is_dir()  # it is the other's now
    assert LeaseRecord.parse((out / "work" / "untrained-1.lease").read_bytes()) is not None


# Studies: their files, the command, the call.


@pytest.mark.parametrize("name", spec.ready())
def test_the_shipped_studies_can_be_made(name: str) -> None:
    study = spec.read(name)
    assert study.runs >= 3
    assert len(study.variants) >= 4
    assert len({task.type for task in study.tasks}) >= 4
    assert [variant.recipe.words for variant in study.variants if variant.name == "untrained"] == [
        0
    ]
    assert all(
        variant.recipe.words >= 60_000_000
        for variant in study.variants
        if variant.name != "untrained"
    )


TWO = "[variants.a]\n[variants.b]\nwhole_word = true\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[variants.a]\n", "at least two"),
        (f"mask = 1\n{TWO}", "There is no key called 'mask'"),
        (
            f"{TWO}maskrate = 0.3\n",
            "variants.b: There is no key called 'maskrate'. Did you mean 'mask_rate'?",
        ),
        (f"{TWO}mask_rate = 1.0\n", "variants.b: mask_rate must be above 0 and below 1"),
        (f"{TWO}batch = true\n", "variants.b: batch must be a whole number"),
        (f"{TWO}vocabulary = '8k'\n", "variants.b: vocabulary must be a whole number"),
        (f"reference = 'c'\n{TWO}", "c"),
        (f"runs = 0\n{TWO}", "runs must be at least 1 and at most 100"),
        (f"words = 'many'\n{TWO}", "is no number of words"),
        (f"protocols = ['fast']\n{TWO}", "fast"),
        (f"tasks = ['gadd']\n{TWO}", "gadd"),
        (f"protocols = []\n{TWO}", "protocols must be no empty text or list"),
        (f"text = []\n{TWO}", "text must be no empty text or list"),
        (f"{TWO}text = ''\n", "text must be no empty text or list"),
        (f"words = 1.5\n{TWO}", "'1.5' is no number of words"),
        (
            "[variants.a]\n[variants.b]\nwords = '20M'\n",
            "[variants.b] is pretrained as [variants.a]",
        ),
        (f"protocols = ['standard']\n{TWO}", "standard has 10 seeds"),
        (f"text = 5\n{TWO}", "text must be a text or a list of texts"),
        (f"floors = 'bigrams'\n{TWO}", "floors are baselines, such as baseline:NAME"),
        ("variants = 5\n", "variants must be a table"),
        (f"{TWO}published = 'PubMedBERTT'\n", "no published row called 'PubMedBERTT'. Did you"),
    ],
)
def test_a_study_that_cannot_be_made(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "study.toml"
    file.write_text(content)
    with pytest.raises(BlurbError) as caught:
        spec.read(file)
    assert told in str(caught.value)


def test_a_study_that_is_not_there(tmp_path: Path) -> None:
    for name, told in (("vocabularies", "vocabulary"), (str(tmp_path / "x.toml"), "no such file")):
        with pytest.raises(BlurbError, match=told):
            spec.read(name)


def test_the_command(tmp_path: Path) -> None:
    code, out, _ = command(
        ["study", "masking", "--dry-run", "--output", str(tmp_path / "out")], tmp_path
    )
    assert (code, out.splitlines()[-1][:42]) == (
        0,
        "15 of 15 pretrainings are missing in " + str(tmp_path)[:5],
    )
    assert "whole-word, pretraining 3: 60,000,000 words" in out
    for words, told in (
        (["study", "maskings"], "masking"),
        (["study", "masking", "--output", str(tmp_path / "out")], "add --data"),
        (["study", "masking", "--read", "--output", str(tmp_path / "out")], "no finished part"),
    ):
        assert told in refused(words, tmp_path)
    assert not (tmp_path / "out").exists()


def test_the_front_door(here: Path) -> None:
    for call, told in (
        (lambda: blurb.pretrain("encoder", "missing.txt"), "missing.txt"),
        (lambda: blurb.pretrain("encoder", "train"), "train"),
        (lambda: blurb.pretrain("encoder", "train", masking=0.3), "masking"),
        (lambda: blurb.pretrain("encoder", "train", words=1000), "words must be a text"),
        (lambda: blurb.pretrain("encoder", "train", hours=-1.0), "hours must be above 0"),
        (lambda: blurb.pretrain("encoder", "train", every=-5), "every must be at least 0"),
    ):
        with pytest.raises(BlurbError, match=told):
            call()
    assert "masking" not in repr(blurb.study("masking", run=False).rows)
    assert list(here.iterdir()) == []


# Pretrainings and test examples crossed: against the Multi-Bootstrap, written out as its paper says.


RUNS, EXAMPLES, DRAWS = 12, 400, 4_000


def answers(rate: float, generator: np.random.Generator, hard: np.ndarray) -> np.ndarray:
    """Right or wrong, (runs, examples): some runs are better, some examples are harder for all."""
    better = generator.normal(0, 0.3, RUNS)[:, None]
    return (generator.normal(rate, 1, (RUNS, EXAMPLES)) + better + hard > 0).astype(float)


def multi_bootstrap(
    first: np.ndarray, other: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Differences: pretrainings of each side and the examples of both are drawn with replacement (their section 3)."""
    differences = np.empty(DRAWS)
    for draw in range(DRAWS):
        examples = generator.integers(EXAMPLES, size=EXAMPLES)
        means = [
            side[generator.integers(RUNS, size=RUNS)][:, examples].mean() for side in (first, other)
        ]
        differences[draw] = means[0] - means[1]
    return 100 * differences


def test_the_variance_is_that_of_the_multi_bootstrap() -> None:
    generator = np.random.default_rng(3)
    hard = generator.normal(0, 1, EXAMPLES)
    sides = [answers(0.5, generator, hard), answers(0.2, generator, hard)]
    accuracy = metrics.get("accuracy")
    counts = [np.stack([side, np.ones_like(side)], -1) for side in sides]
    names = tuple(map(str, range(EXAMPLES)))
    clusters = [Clusters(accuracy, each, names, "examples") for each in counts]
    assert clusters[0].scores == pytest.approx(100 * sides[0].mean(1))
    ours = difference_variance(*clusters, "test") + sum(
        each.scores.var(ddof=1) / RUNS for each in clusters
    )
    theirs = multi_bootstrap(*sides, generator).var()
    # Theirs draws R runs with replacement, so that the part of the runs is (R - 1) / R, and has their interaction with
    # the examples a second time.
    assert ours == pytest.approx(theirs, rel=0.15)


def test_the_choice_of_examples_makes_intervals_wider() -> None:
    rows = {name: variant(name) for name in VALUES}
    alone = findings.reading("b", findings.compared(rows, "b"))
    crossed = findings.reading("b", findings.compared(rows, "b", lambda *_: (4.0, 500)))
    half = [float(line.split("± ")[1].split(",")[0]) for line in (alone[0], crossed[0])]
    assert half[0] < half[1]
    assert findings.reading("b", findings.compared(rows, "b", lambda *_: (0.0, 0))) == alone
