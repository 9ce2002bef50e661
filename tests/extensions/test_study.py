"""The protocol study's encoders and its records. Oracle: the checkpoint's own tensors, and a table read back."""

import itertools
import math
from pathlib import Path

import pytest
import torch
from scipy import stats

from benchmarks.study import RESULTS, lab, records, report
from benchmarks.study.agreement import agreement, run_sd, separated, split_tau
from benchmarks.study.derive import ENCODERS, last_anew, lowest, make, noise
from blurb.checkpoints import Checkpoint
from blurb.learners import building
from blurb.protocols import protocol as protocol_
from tests.conftest import Builder
from tests.rewriting import csv_lines


@pytest.mark.parametrize("share", [0.2, 0.8])
def test_noise_is_that_share_of_every_tensor(checkpoint: Builder, share: float) -> None:
    folder = str(checkpoint("bert_uncased"))
    plain, _ = Checkpoint(Path(folder)).load_encoder()
    noisy, again = (
        Checkpoint(Path(folder)).load_encoder()[0],
        Checkpoint(Path(folder)).load_encoder()[0],
    )
    noise(noisy, share)
    noise(again, share)
    for (name, before), after, same in zip(
        plain.named_parameters(), noisy.parameters(), again.parameters(), strict=True
    ):
        added = (after - before).detach()
        assert torch.equal(after, same), name
        if before.numel() > 300:  # the sd of a sample is near that of its distribution
            assert float(added.std() / before.detach().std()) == pytest.approx(share, rel=0.15), (
                name
            )


def test_layers_anew_and_lowest_layers(checkpoint: Builder) -> None:
    folder = str(checkpoint("bert_uncased"))
    plain, anew, low = (Checkpoint(Path(folder)).load_encoder()[0] for _ in range(3))
    layers = len(plain.encoder.layer)
    last_anew(anew, 1)
    lowest(low, 1)
    ids = torch.arange(5, 12).unsqueeze(0)

    def states(encoder: torch.nn.Module) -> list[torch.Tensor]:
        return list(encoder.eval()(input_ids=ids, output_hidden_states=True).hidden_states)

    before, after = states(plain), states(anew)
    assert all(torch.equal(one, two) for one, two in zip(before[:-1], after[:-1], strict=True))
    assert not torch.allclose(before[-1], after[-1], atol=1e-2)
    assert layers > 1
    assert len(states(low)) == 2
    assert torch.equal(states(low)[1], before[1])
    assert low.config.num_hidden_layers == 1


def test_an_encoder_is_made_once_and_can_be_run(checkpoint: Builder, tmp_path: Path) -> None:
    plain = checkpoint("bert_uncased")
    first, *others = ENCODERS
    assert make(plain, tmp_path, first) == plain
    folder = make(plain, tmp_path, others[0])
    stamp = (folder / "model.safetensors").stat().st_mtime_ns
    assert make(plain, tmp_path, others[0]) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == stamp
    one, other = building.resolve_model(str(plain)), building.resolve_model(str(folder))
    assert one.tokenizer == other.tokenizer
    assert one.weights != other.weights


def test_what_is_committed_is_done(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    columns = (
        "protocol",
        "protocol_hash",
        "task",
        "model",
        "seed",
        "split",
        "metric",
        "value",
        "trial",
    )

    def line(protocol: str, model: str, seed: str, value: str = "1") -> dict[str, str]:
        return {
            "protocol": protocol,
            "task": "gad",
            "model": model,
            "seed": seed,
            "split": "test",
            "metric": "f1",
            "protocol_hash": (
                protocol_.load_protocol_file(protocol).hash[:12]
                if "@" not in protocol or protocol == "quick@2"
                else "0" * 12
            ),
            "value": value,
            "trial": f"{model} {seed} {protocol}",
        }

    assert records.done(tmp_path, "quick", "gad", 1) == set()
    lines = [
        line("quick@2", "a", "1"),
        line("quick@2", "a", "2"),
        line("quick@2", "b", "1"),
        line("probe", "c", "1"),
    ]
    lines.append(line("quick@1", "d", "1"))  # of another version
    records.add(path, columns, lines, ("trial", "split", "metric"))
    assert records.done(tmp_path, "quick", "gad", 2) == {"a"}
    assert records.done(tmp_path, "quick", "gad", 1) == {"a", "b"}
    assert records.done(tmp_path, "quick", "hoc", 1) == set()
    records.add(
        path,
        columns,
        [line("quick@2", "b", "1", "2"), line("quick@2", "b", "2")],
        ("trial", "split", "metric"),
    )
    assert records.done(tmp_path, "quick", "gad", 2) == {"a", "b"}
    assert sorted(one["value"] for one in records.read(path)) == ["1", "1", "1", "1", "1", "2"]


@pytest.mark.costly
def test_pairs_that_the_reference_separates() -> None:
    """Oracle: scipy's test on each pair, and a count by hand."""
    reference = {
        "a": [80.0, 81.0, 80.5],
        "b": [70.0, 71.0, 70.4],
        "c": [70.2, 70.9, 70.1],
        "d": [50.0, 50.5, 51.0],
    }
    assert separated(reference) == [("a", "b"), ("a", "c"), ("a", "d"), ("b", "d"), ("c", "d")]
    found = agreement(reference, {"a": [3.0], "b": [2.0], "c": [2.5], "d": [2.2], "e": [9.0]})
    assert (found.separated, found.right) == (5, 4)  # b and d are in the wrong order
    assert found.tau == pytest.approx(
        stats.kendalltau([80.5, 70.4667, 70.4, 50.5], [3, 2, 2.5, 2.2]).statistic
    )
    assert found.low <= found.tau <= found.high
    # Equal is not right
    assert agreement(reference, {name: [1.0] for name in reference}).right == 0
    with pytest.raises(ValueError, match="three encoders"):
        agreement(reference, {"a": [1.0], "b": [2.0]})


def test_runs_without_spread_are_told_apart_by_their_values() -> None:
    assert separated({"a": [1.0, 1.0], "b": [2.0, 2.0], "c": [2.0, 2.0]}) == [
        ("b", "a"),
        ("c", "a"),
    ]
    assert separated({"a": [1.0], "b": [2.0]}) == []


def test_the_readme_has_the_counts_of_the_committed_scores() -> None:
    """Oracle: Welch's test by scipy and Holm's steps by hand, over all pairs of a dataset."""
    found = report.scores(RESULTS)
    plain: dict[str, int] = dict.fromkeys(report.CHEAP, 0)
    strict = dict(plain)
    pairs, after_holm = 0, 0
    for task in ("gad", "ncbi-disease"):
        reference = found[report.REFERENCE, task]
        tested = []
        for one, other in itertools.combinations(reference, 2):
            p = stats.ttest_ind(reference[one], reference[other], equal_var=False).pvalue
            better, worse = sorted((one, other), key=lambda name: -sum(reference[name]))
            tested.append((p, better, worse))
        tested.sort()
        kept = 0
        while kept < len(tested) and tested[kept][0] * (len(tested) - kept) < 0.05:
            kept += 1
        significant = [each for each in tested if each[0] < 0.05]
        pairs, after_holm = pairs + len(significant), after_holm + kept
        for name in report.CHEAP:
            means = {
                model: sum(runs) / len(runs)
                for model, runs in report.cheap(found, name, task).items()
            }
            plain[name] += sum(means[better] > means[worse] for _, better, worse in significant)
            strict[name] += sum(means[better] > means[worse] for _, better, worse in tested[:kept])
    text = (RESULTS / "README.md").read_text(encoding="utf-8")
    order = ["quick with 3 seeds", "quick", "sketch", "probe"]
    for count, what, right in (
        (pairs, "each by itself", plain),
        (after_holm, "after Holm", strict),
    ):
        (line,) = [
            each
            for each in text.splitlines()
            if each.startswith(f"| of the {count} ") and what in each
        ]
        cells = [cell.strip() for cell in line.split("|")[2:6]]
        assert cells == [f"{right[name]} ({round(100 * right[name] / count)} %)" for name in order]


def test_the_reference_beside_itself_and_its_runs() -> None:
    same = {"a": [3.0, 3.0], "b": [2.0, 2.0], "c": [1.0, 1.0]}
    assert split_tau(same) == 1.0
    assert run_sd(same) == 0.0
    turned = {"a": [3.0, 1.0], "b": [2.0, 2.0], "c": [1.0, 3.0]}
    assert split_tau(turned) == -1.0
    assert run_sd(turned) == pytest.approx(math.sqrt((2 + 0 + 2) / 3))
    assert math.isnan(run_sd({"a": [1.0]}))


def test_the_second_family_counts_pairs_of_variants() -> None:
    """Three variants, of which the reference tells one from the others: two pairs, right or wrong."""
    from tests.extensions.series.test_series import made_row

    def rows(means: dict[str, float], losses: dict[str, float]) -> dict[str, object]:
        return {
            name: made_row(
                name, {"gad": [mean, mean + 0.1, mean - 0.1]}, {"gad": losses[name]}, split="test"
            )
            for name, mean in means.items()
        }

    quick = rows({"a": 70.0, "b": 70.05, "c": 60.0}, {"a": 0.3, "b": 0.3, "c": 0.6})
    sketch = rows({"a": 50.0, "b": 40.0, "c": 45.0}, {"a": 0.5, "b": 0.5, "c": 0.7})
    found = list(lab.lines("made", {"quick": quick, "sketch": sketch}))  # type: ignore[dict-item]
    right = [("sketch", "score", 2, 1), ("quick", "loss", 2, 2), ("sketch", "loss", 2, 2)]
    shown = [(line["protocol"], line["measure"], line["pairs"], line["right"]) for line in found]
    assert shown == [*right, *right]  # of the dataset, and of all
    assert [line["dataset"] for line in found] == ["gad"] * 3 + ["all"] * 3


def test_the_docs_have_the_decision_accuracy_of_the_lab() -> None:
    """The tables of `docs/protocols.md` are the sums of `lab.csv`, in the order of their columns."""
    page = (RESULTS.parents[1] / "protocols.md").read_text(encoding="utf-8")
    lines = {
        (line["family"], line["protocol"], line["measure"]): line
        for line in csv_lines(RESULTS / "lab.csv")
        if line["dataset"] == "all"
    }
    columns = (("sketch", "score"), ("sketch", "loss"), ("quick", "loss"), ("probe", "score"))
    for family in ("checkpoints", "variants"):
        for end in ("_holm", ""):
            own = [lines[family, *column] for column in columns]
            counts = [(int(line[f"right{end}"]), int(line[f"pairs{end}"])) for line in own]
            cells = " | ".join(f"{right} ({100 * right / pairs:.0f} %)" for right, pairs in counts)
            assert f" | {cells} |\n" in page
