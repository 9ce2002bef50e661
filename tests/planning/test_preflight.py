"""All that is wrong with a run is one list, each fault once; nothing is written. A single fault is as it always was."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

import blurb
from blurb.corpora import demo
from blurb.cost.work import TimedStep
from blurb.messages.errors import (
    BlurbError,
    DataError,
    ErrorGroup,
    ModelError,
    SettingsError,
    UnknownName,
)
from blurb.planning import trials
from blurb.planning.options import AblateOptions, RunOptions
from blurb.planning.request import make_request
from blurb.planning.steps import merge_refusals
from tests.conftest import Builder
from tests.cost.settings import made_up_step
from tests.rewriting import rewrite

DEMO: dict[str, Any] = {
    "suite": "demo",
    "protocol": "smoke",
    "tasks": "gad,biosses",
    "device": "cpu",
    "precision": "fp32",
    "progress": False,
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder; encoders are not timed."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    made_up_step(monkeypatch, TimedStep(60.0, 0.0, 0.0))
    return folder


@pytest.fixture
def broken(checkpoint: Builder, tmp_path: Path) -> Callable[..., Path]:
    """Makes a copy of a checkpoint under a name, and breaks it."""

    def make(name: str, *breaks: Callable[[Path], None], kind: str = "bert_uncased") -> Path:
        folder = Path(shutil.copytree(checkpoint(kind), tmp_path / name))
        for each in breaks:
            each(folder)
        return folder

    return make


def cut(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1_000])


def no_tokenizer(folder: Path) -> None:
    for path in (*folder.glob("*token*"), *folder.glob("vocab*")):
        path.unlink()


def no_layers(folder: Path) -> None:
    rewrite(folder / "config.json", num_hidden_layers=0)


def no_query(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    gone = next(name for name in weights if name.endswith("query.weight"))
    save_file(
        {name: each for name, each in weights.items() if name != gone},
        folder / "model.safetensors",
        {"format": "pt"},
    )


def adapter(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "org/base"}')


def refused(**given: Any) -> list[BlurbError]:
    """All that is said of a run, which writes nothing."""
    with pytest.raises(BlurbError) as found:
        blurb.run(**{**DEMO, **given})
    assert list(Path.cwd().iterdir()) == []
    if isinstance(found.value, ErrorGroup):
        assert len(found.value.errors) > 1
        return list(found.value.errors)
    return [found.value]


def test_the_list_is_numbered_and_its_errors_keep_their_types() -> None:
    with pytest.raises(ErrorGroup) as found:
        blurb.run("nope", tasks="gda", suite="demo", protocol="quik", progress=False)
    lines = str(found.value).splitlines()
    assert lines[0] == "3 things are wrong; nothing was run:"
    assert [line[:2] for line in lines[1:4]] == ["1.", "2.", "3."]
    assert "are checked after these" in lines[4]
    assert [type(one) for one in found.value.errors] == [UnknownName, UnknownName, ModelError]


@pytest.mark.extensions
@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        ({"protocol": "quik"}, UnknownName, "no protocol called 'quik'"),
        ({"warmup": "soon"}, SettingsError, "warmup must be a number"),
        ({"head": "crff"}, UnknownName, "no head called 'crff'"),
        ({"tasks": "gad,gda"}, UnknownName, "no task called 'gda'"),
        ({"tasks": ","}, SettingsError, "No task is selected"),
        (
            {"tasks": "gad", "tagging": "bioul"},
            SettingsError,
            "tagging= changes nothing in these trials; leave it out",
        ),
        ({"tasks": "gad,hoc", "tagging": "io"}, SettingsError, "changes nothing in these"),
        (
            {"tasks": "biosses", "relation_input": "markers"},
            SettingsError,
            "changes nothing in these trials",
        ),
        ({"device": "cuda:77"}, SettingsError, 'device="cuda:77" is not available'),
        ({"precision": "fp16"}, SettingsError, 'precision="fp16" needs a GPU'),
        ({"budget": "soon", "protocol": None}, SettingsError, "such as 90s"),
        ({"rules": "x.toml"}, SettingsError, "rules= needs check="),
        (
            {"keep_model": "all"},
            SettingsError,
            "keep_model must be one of none, best, replace (got 'all')",
        ),
        ({"print_script": True}, SettingsError, "print_script= shows the script of an engine"),
        (
            {"dummy_tokens": True, "relation_input": "markers"},
            SettingsError,
            'cannot be combined with relation_input="markers"',
        ),
        (
            {"engine": "slurm", "precision": "auto", "print_script": True},
            SettingsError,
            'say precision="bf16"',
        ),
        ({"suite": "blurb", "data": "/nowhere"}, DataError, "the data folder does not exist"),
    ],
)
def test_one_fault_is_told_alone(given: dict[str, Any], kind: type[BlurbError], text: str) -> None:
    (error,) = refused(model="baseline:majority", **given)
    assert type(error) is kind
    assert text in str(error)


@pytest.mark.extensions
def test_contradictions_are_in_the_list() -> None:
    found = refused(
        model="baseline:majority",
        dummy_tokens=True,
        relation_input="markers",
        check="m",
        engine="slurm",
        head="crff",
    )
    texts = " ".join(map(str, found))
    for part in ("submitted jobs bring later", 'relation_input="markers"', "'crff'"):
        assert texts.count(part) == 1, part


@pytest.mark.costly
def test_what_is_typed_wrongly_is_told_without_torch_and_with_what_files_show(
    broken: Callable[..., Path], here: Path
) -> None:
    folder = broken("cut", cut)
    code = (
        "import sys, blurb\n"
        "try:\n"
        f"    blurb.run(['gone', {str(folder)!r}, 'scratch:huge', 'baseline:best', 'gad'], suite='demo', head='crff',\n"
        "              engine='slrm', leaderboard='results.csv')\n"
        "except blurb.messages.errors.ErrorGroup as error:\n"
        "    print(len(error.errors), 'torch' in sys.modules, error)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert told.startswith("8 False "), told
    for part in (
        "'crff'",
        "'slrm'",
        "cannot be results.csv",
        "called 'gone'",
        "model.safetensors",
        "'huge'",
        "'best'",
        "MODEL 'gad' is a task",
    ):
        assert told.count(part) == 1, part
    assert list(here.iterdir()) == []


def test_every_model_is_looked_at_and_what_does_not_go_together_is_in_the_list(
    broken: Callable[..., Path], checkpoint: Builder
) -> None:
    models = [
        broken("cut", cut),
        "/nowhere/else",
        broken("several", cut, no_tokenizer, no_layers),
        broken("weights", no_query),
        checkpoint("bert_uncased"),
        checkpoint("bert_cased"),
    ]
    told = [str(error) for error in refused(model=models, seeds=3)]
    of = {name: [text for text in told if f"/{name}" in text] for name in ("cut", "several")}
    assert {name: len(texts) for name, texts in of.items()} == {"cut": 1, "several": 3}
    assert "num_hidden_layers" in of["several"][0]
    assert sum("/nowhere/else does not exist" in text for text in told) == 1
    assert len(told) == 5
    (weights,) = refused(model=models[3:], pooling="mention", seeds=3)  # once all files are right
    assert "1 weights of the encoder are missing" in str(weights)
    (pooling,) = refused(model=models[4:], pooling="mention", seeds=3)  # and all weights
    assert "does not work on biosses with bert_uncased" in str(pooling)
    assert str(pooling).endswith(" The same holds of bert_cased."), pooling  # GAD has mentions


def test_no_checkpoint_at_all_is_one_fault(broken: Callable[..., Path]) -> None:
    (error,) = refused(model=broken("adapter", adapter))
    assert "this is an adapter of PEFT" in str(error)


def test_a_device_that_is_not_there_hides_no_model(broken: Callable[..., Path]) -> None:
    told = refused(model=[broken("cut", cut), "baseline:majority"], device="cuda:77", ngrams=2)
    assert [type(one) for one in told] == [SettingsError, ModelError]
    (error,) = refused(model="baseline:majority", ngrams=2)
    assert (
        "the keyword ngrams changes nothing in these trials; leave it out; it is for baseline:bigrams."
        in str(error)
    )


def test_nothing_is_downloaded_for_a_device_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("blurb.checkpoints.hub.fetch")
    told = refused(model=["org/model", "pubmedbert", "/nowhere/x"], device="cuda:77")
    assert [type(one) for one in told] == [SettingsError, ModelError]
    assert "/nowhere/x does not exist" in str(told[1])


def test_settings_of_a_model_that_is_not_known_are_no_second_fault() -> None:
    (error,) = refused(model=["baseline:bigrams,size=2", "baseline:majority"], ngrams=2)
    assert "size" in str(error)


def test_tasks_that_are_refused_for_one_reason_are_one_line(checkpoint: Builder) -> None:
    model = str(checkpoint("bert_uncased"))
    markers, entities = map(
        str, refused(model=model, tasks="hoc,pubmedqa,bioasq,gad", pooling="entity-start")
    )
    assert "does not work on gad with bert_uncased: its inputs have no markers" in markers
    assert "does not work on hoc with bert_uncased: its inputs do not have two entities" in entities
    assert entities.endswith("The same holds of pubmedqa, bioasq.")
    (raw,) = refused(
        model=model,
        tasks="chemprot,ddi",
        relation_input="original",
        suite="blurb",
        data=demo.prepare(),
    )
    assert "BLURB's files of chemprot have dummies" in str(raw)
    assert str(raw).endswith("The same holds of ddi.")


def test_data_that_cannot_be_read_is_told_once_for_all_models(
    checkpoint: Builder, tmp_path: Path
) -> None:
    data = Path(shutil.copytree(demo.prepare(), tmp_path / "data"))
    for name in ("GAD/dev.tsv", "BIOSSES/test.tsv"):
        (data / name).write_text("not what is expected\n")
    models = [checkpoint("bert_uncased"), checkpoint("roberta"), "baseline:majority"]
    told = refused(model=models, suite="blurb", data=data, seeds=2)
    assert sorted(
        error.path.name for error in told if isinstance(error, DataError) and error.path
    ) == ["dev.tsv", "test.tsv"]
    assert len(told) == 2


def test_a_budget_says_what_no_rung_can_do(
    broken: Callable[..., Path], checkpoint: Builder
) -> None:
    given = {"protocol": None, "budget": "1h", "tasks": "biosses", "pooling": "mention"}
    (error,) = refused(model=[broken("cut", cut), checkpoint("bert_uncased")], **given)
    assert "model.safetensors" in str(error)
    (error,) = refused(model=checkpoint("bert_uncased"), **given)
    assert "mention" in str(error)


def test_an_ablation_has_the_same_list(broken: Callable[..., Path]) -> None:
    from blurb.api.ablation import ablate

    given = {name: value for name, value in DEMO.items() if name != "tasks"}
    with pytest.raises(ErrorGroup) as found:
        ablate(
            AblateOptions(
                **{**given, "device": "cuda:77"},
                model=broken("cut", cut),
                axis="tagging",
                tasks="bc2gm",
            )
        )
    assert len(found.value.errors) == 2
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.extensions
def test_an_engine_that_is_not_here_is_told_before_anything_is_written(
    broken: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    (error,) = refused(model="baseline:majority", engine="slurm")
    assert "sbatch is not here" in str(error)
    told = refused(model=["baseline:majority", broken("cut", cut)], engine="slurm")
    assert len(told) == 2
    assert "sbatch is not here" in str(told[0])


@pytest.mark.costly
def test_what_is_done_needs_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {**DEMO, "tasks": "gad"}
    assert len(blurb.run("baseline:majority", **given).rows) == 1
    monkeypatch.setenv("PATH", "/nowhere")
    again = blurb.run("baseline:majority", engine="slurm", **given)
    assert (len(again.rows), again.submitted) == (1, ())


def test_names_that_are_not_valid_are_all_told(broken: Callable[..., Path]) -> None:
    first = broken("m")
    (error,) = refused(model=[first, Path(shutil.copytree(first, first.parent / "other" / "m"))])
    assert str(error).startswith("Two models have the name 'm'")


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ([("first", "gad")], ["gad with first."]),
        ([("first", "gad"), ("first", "hoc")], ["gad with first. The same holds of hoc."]),
        (
            [("first", "gad"), ("second", "gad"), ("third", "gad")],
            ["gad with first. The same holds of second, third."],
        ),
        (
            [(model, task) for model in ("first", "second", "third") for task in ("gad", "hoc")],
            ["gad with first. The same holds of hoc; second, third on gad, hoc."],
        ),
        (
            [("first", "gad"), ("second", "hoc"), ("third", "gad")],
            ["gad with first. The same holds of second on hoc; third on gad."],
        ),
    ],
)
def test_what_it_holds_of(where: list[tuple[str, str]], told: list[str]) -> None:
    found = merge_refusals(
        (SettingsError("{task} with {model}.", task=task, model=model), model, task)
        for model, task in where
    )
    assert [str(error) for error in found] == told


def test_other_reasons_are_told_apart() -> None:
    errors = [
        SettingsError("{task} is small.", task="gad"),
        SettingsError("{task} is small.", fix="Use another.", task="hoc"),
        SettingsError("{task} is large.", task="hoc"),
        SettingsError("{task} is large.", where="a.toml", task="gad"),
    ]
    assert merge_refusals((error, "first", "gad") for error in errors) == errors


def test_what_names_nothing_of_its_own_is_left_as_it_is() -> None:
    error: BlurbError = DataError("torn.")
    same = [(error, model, "gad") for model in ("first", "second")]
    assert merge_refusals([*same, (DataError("torn."), "third", "hoc")]) == [error]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"model": "baseline:majority", "casing": "cased"}, "casing"),
        ({"model": "baseline:majority", "trust_remote_code": True}, "trust_remote_code"),
        ({"model": "scratch:tiny", "revision": "v1"}, "revision"),
        ({"model": "scratch:tiny", "tokenizer": "org/a"}, "tokenizer"),
        ({"model": "org/model@v2", "revision": "v1"}, "revision"),
        ({"model": "FOLDER", "revision": "v1"}, "revision"),
        ({"model": ["FOLDER", "baseline:majority"], "revision": "v1"}, "revision"),
        ({"model": object(), "base": "org/a"}, "base"),
    ],
)
def test_an_option_that_no_model_has_a_use_for(
    given: dict[str, Any], told: str, checkpoint: Builder
) -> None:
    folder = str(checkpoint("bert_uncased"))
    models = given["model"] if isinstance(given["model"], list) else [given["model"]]
    given["model"] = [folder if one == "FOLDER" else one for one in models]
    (error,) = refused(**given)
    assert f"has no use for {told}=" in str(error)


def test_an_option_that_one_of_several_models_uses(checkpoint: Builder, here: Path) -> None:
    models = [str(checkpoint("bert_uncased")), "baseline:majority"]
    assert not blurb.run(models, casing="uncased", dry_run=True, **DEMO).failed


@pytest.mark.parametrize(
    ("model", "given"),
    [
        ("baseline:majority", {"lr": 0.1}),
        ("baseline:majority", {"head": "crf"}),
        ("baseline:bigrams", {"adapter": "lora"}),
        ("scratch:tiny", {"word_pooling": "mean"}),
        ("scratch:tiny", {"attention": "bidirectional"}),
        ("scratch:tiny", {"eval_seed": 3, "protocol": "standard"}),
        ("scratch:tiny", {"pooling": "mean", "tasks": "ncbi-disease"}),
    ],
)
def test_a_setting_that_changes_no_trial(model: str, given: dict[str, Any]) -> None:
    """Its row would have the trials of the row without it."""
    (error,) = refused(**{"model": model, "tasks": "gad", **given})
    assert "changes nothing in these trials" in str(error)


def test_a_setting_that_one_of_several_models_uses(checkpoint: Builder) -> None:
    """A decoder reads both directions with it; an encoder does so anyway, and has the trials that it has without."""
    models = [str(checkpoint(kind)) for kind in ("qwen3", "bert_uncased")]
    given = {**DEMO, "tasks": "ncbi-disease", "settings": {"attention": "bidirectional"}}
    request, _, _ = make_request(RunOptions(model=models, **given))
    settings = [job.trial.settings.get("attention") for job in trials.prepare(request).jobs]
    assert settings == ["bidirectional", None]
