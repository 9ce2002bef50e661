"""The protocol files against the published tables and what was changed in them, which are written out here."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest

from blurb import tasks
from blurb.formulations import bind
from blurb.messages.errors import SettingsError, UnknownName
from blurb.protocols import protocol
from blurb.protocols.settings import (
    DEFAULTS,
    FIELDS,
    Settings,
    parse_overrides,
    settings_by_subject,
)
from tests.cli.in_process import refused, run
from tests.cli.test_start_up import loaded

NAMES = [task.name for task in tasks.all()]
COMMON = {
    "head_lr": 0.0,
    "head_init": "random",
    "max_updates": 0,
    "dev_sample": 0,
    "encoder_dropout": -1.0,
    "eval_seed": 0,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "weight_decay": 0.0,
    "clip_norm": 1.0,
    "head_dropout": 0.1,
    "warmup": 0.1,
    "select": "best",
    "max_train": 0,
    "max_eval": 0,
    "head": "linear",
    "pooling": "cls",
    "tagging": "bio",
    "layer_decay": 1.0,
    "freeze_layers": 0,
    "reinit_layers": 0,
    "word_pooling": "first",
    "relation_input": "dummify",
    "document_unit": "sentence",
    "ngrams": 2,
    "min_count": 2,
    "window": 2,
    "word_borders": "blanks",
    "attention": "as-is",
    "adapter": "off",
    "lora_rank": 16,
    "lora_alpha": 32.0,
    "lora_dropout": 0.05,
    "lora_targets": "all-linear",
}

# docs/benchmark.md, "Settings of standard": task: (learning rate, batch size, epochs, max length).
STANDARD = {
    "bc5-chem": (5e-5, 32, 20, 512),
    "bc5-disease": (5e-5, 16, 8, 512),
    "ncbi-disease": (5e-5, 32, 20, 512),
    "bc2gm": (6e-5, 32, 20, 512),
    "jnlpba": (1e-5, 16, 5, 512),
    "ebm-pico": (5e-5, 32, 2, 512),
    "chemprot": (3e-5, 32, 10, 256),
    "ddi": (2e-5, 32, 5, 256),
    "gad": (3e-5, 32, 10, 128),
    "biosses": (1e-5, 16, 30, 512),
    "hoc": (3e-5, 32, 6, 128),
    "pubmedqa": (2e-5, 16, 30, 512),
    "bioasq": (2e-5, 16, 20, 512),
}
# docs/benchmark.md, "Settings of LinkBERT": task: (learning rate, batch size, epochs, max length, warm-up, seed).
LINKBERT = {
    "pubmedqa": (2e-5, 16, 30, 512, 100, 42),
    "bioasq": (2e-5, 16, 20, 512, 100, 42),
    "biosses": (1e-5, 16, 30, 512, 0, 5),
    "hoc": (4e-5, 32, 40, 512, 0, 42),
    "chemprot": (3e-5, 32, 10, 256, 0, 42),
    "ddi": (2e-5, 32, 5, 256, 0, 42),
    "gad": (3e-5, 32, 10, 256, 0, 42),
    "ebm-pico": (5e-5, 32, 1, 512, 0, 42),
    "jnlpba": (1e-5, 16, 5, 512, 0.1, 42),
    "ncbi-disease": (5e-5, 32, 20, 512, 0.1, 42),
    "bc2gm": (6e-5, 32, 50, 512, 0.1, 42),
    "bc5-disease": (5e-5, 16, 8, 512, 0.1, 42),
    "bc5-chem": (5e-5, 32, 20, 512, 0.1, 42),
}
LENGTHS = {name: values[3] for name, values in STANDARD.items()}


def _settings(name: str, task: str, millions: float = 110, **overrides: Any) -> Settings:
    return protocol.load_protocol_file(name).settings(
        tasks.get(task), overrides, int(millions * 1e6)
    )


def _expect(found: Settings, **values: Any) -> None:
    """All settings: those given, the common ones for the rest."""
    assert dataclasses.asdict(found) == {**COMMON, **values}


def test_the_protocols_that_come_with_blurb() -> None:
    assert protocol.protocol_names() == [
        "demo",
        "linkbert",
        "modern",
        "paper",
        "probe",
        "quick",
        "sketch",
        "smoke",
        "standard",
        "standard-short",
    ]


@pytest.mark.parametrize("task", NAMES)
def test_standard(task: str) -> None:
    lr, batch_size, epochs, max_length = STANDARD[task]
    _expect(
        _settings("standard", task),
        lr=lr,
        batch_size=batch_size,
        epochs=epochs,
        max_length=max_length,
    )
    assert protocol.load_protocol_file("standard").seeds(tasks.get(task)) == tuple(
        range(1, tasks.get(task).seeds + 1)
    )
    assert protocol.load_protocol_file("standard").grid({}) == []


@pytest.mark.parametrize("task", NAMES)
def test_modern_is_standard_with_a_search_and_the_constants_of_modernbert(task: str) -> None:
    """In torch's units: ModernBERT's 8e-6 a step at a rate of 8e-5 would be 0.1 (docs/protocols.md)."""
    _, batch_size, epochs, max_length = STANDARD[task]
    _expect(
        _settings("modern", task, lr=3e-5),
        batch_size=batch_size,
        epochs=epochs,
        max_length=max_length,
        lr=3e-5,
        beta2=0.98,
        epsilon=1e-6,
        weight_decay=0.01,
    )
    modern = protocol.load_protocol_file("modern")
    assert modern.seeds(tasks.get(task)) == protocol.load_protocol_file("standard").seeds(
        tasks.get(task)
    )
    assert modern.grid({}) == [{"lr": rate} for rate in (1e-5, 3e-5, 8e-5, 2e-4)]


@pytest.mark.parametrize("name", ["standard", "quick", "modern"])
def test_an_adapter_has_a_rate_of_its_own_unless_one_is_typed(name: str) -> None:
    known, task = protocol.load_protocol_file(name), tasks.get("gad")
    full, lora, typed = (
        known.settings(task, given, 10**8).lr
        for given in ({}, {"adapter": "lora"}, {"adapter": "lora", "lr": 7e-4})
    )
    assert lora >= 5 * full
    assert typed == 7e-4
    assert known.hash == protocol.load_protocol_file(name).hash


@pytest.mark.parametrize("task", NAMES)
def test_linkbert(task: str) -> None:
    lr, batch_size, epochs, max_length, warmup, seed = LINKBERT[task]
    _expect(
        _settings("linkbert", task),
        lr=lr,
        batch_size=batch_size,
        epochs=epochs,
        max_length=max_length,
        warmup=warmup,
        select="last",
        pooling="cls-pooler",
        document_unit="abstract" if task == "hoc" else "sentence",
        tagging="io" if task == "ebm-pico" else "bio",
    )
    assert protocol.load_protocol_file("linkbert").seeds(tasks.get(task)) == (seed,)


def test_linkbert_trains_the_tags_that_the_files_of_pico_have() -> None:
    tags = ["I-PAR", "I-PAR", "I-INT", "O", "I-OUT"]
    formulation = bind(tasks.get("ebm-pico"), vars(_settings("linkbert", "ebm-pico")))
    assert set(formulation.labels) == {"O", "I-PAR", "I-INT", "I-OUT"}
    targets = formulation.targets(
        [{"id": "0", "doc_id": None, "tokens": list("abcde"), "tags": tags}]
    )
    assert [formulation.labels[index] for index in targets[0]] == tags


@pytest.mark.parametrize("task", NAMES)
def test_paper(task: str) -> None:
    found = protocol.load_protocol_file("paper")
    assert found.grid({}) == [
        {"lr": lr, "batch_size": size} for lr in (1e-5, 3e-5, 5e-5) for size in (16, 32)
    ]
    settings = _settings("paper", task)
    length = 512 if task == "hoc" else LENGTHS[task]  # the paper states none
    assert (settings.epochs, settings.max_length, settings.select) == (60, length, "best")
    assert len(found.seeds(tasks.get(task))) == tasks.get(task).seeds


def test_a_setting_that_is_overridden_is_not_searched() -> None:
    assert protocol.load_protocol_file("paper").grid({"lr": 2e-5}) == [
        {"batch_size": 16},
        {"batch_size": 32},
    ]
    assert protocol.load_protocol_file("paper").grid({"lr": 2e-5, "batch_size": 8}) == []


@pytest.mark.parametrize("task", NAMES)
def test_smoke(task: str) -> None:
    found = _settings("smoke", task)
    assert (found.epochs, found.max_train, found.max_eval) == (1, 64, 64)
    assert protocol.load_protocol_file("smoke").seeds(tasks.get(task)) == (1,)
    assert "mean nothing" in protocol.load_protocol_file("smoke").note


def test_overrides_win_over_everything() -> None:
    assert _settings("quick", "biosses", lr=7e-5, epochs=4).lr == 7e-5
    assert _settings("quick", "biosses", lr=7e-5, epochs=4).epochs == 4


def test_a_number_of_seeds_means_one_to_n() -> None:
    assert protocol.load_protocol_file("linkbert").seeds(tasks.get("biosses"), 3) == (1, 2, 3)


def test_overrides_are_typed() -> None:
    found = parse_overrides(
        {"lr": "3e-5", "epochs": "2", "warmup": "100", "head": "linear", "select": '"last"'}
    )
    assert found == {"lr": 3e-5, "epochs": 2, "warmup": 100.0, "head": "linear", "select": "last"}
    assert [type(value) for value in found.values()] == [float, int, float, str, str]


@pytest.mark.parametrize(
    ("name", "text", "error", "told"),
    [
        ("epochs", "2.0", SettingsError, "--set: epochs must be a whole number"),
        ("epochs", "two", SettingsError, "--set: epochs must be a whole number"),
        ("lr", "fast", SettingsError, "--set: lr must be a number"),
        ("lr", "", SettingsError, "--set: lr must be a number"),
        ("head", "3", SettingsError, "--set: head must be a text"),
        (
            "epoch",
            "3",
            UnknownName,
            r"--set: There is no setting called 'epoch'. Did you mean 'epochs'\?",
        ),
        (
            "tagging",
            "bioull",
            UnknownName,
            r"no tagging scheme called 'bioull'. Did you mean 'bioul'\?",
        ),
    ],
)
def test_overrides_of_the_wrong_type_and_unknown_ones_are_refused(
    name: str, text: str, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        parse_overrides({name: text})


def test_other_names_of_a_tagging_scheme_are_no_other_setting(tmp_path: Path) -> None:
    assert (
        parse_overrides({"tagging": "BILOU"})
        == parse_overrides({"tagging": "iobes"})
        == {"tagging": "bioul"}
    )
    mine = _load(tmp_path, '[all]\ntagging = "BIOUL"\n[search]\ntagging = ["IO", "IOBES"]\n')
    assert mine.settings(tasks.get("bc2gm"), {}, 0).tagging == "bioul"
    assert mine.grid({}) == [{"tagging": "io"}, {"tagging": "bioul"}]


def test_an_unknown_tagging_scheme_is_refused_from_python_too() -> None:
    with pytest.raises(UnknownName, match=r"no tagging scheme called 'boi'"):
        _settings("standard", "gad", tagging="boi")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("batch_size", 0),
        ("epochs", 0),
        ("max_length", 0),
        ("lr", -1e-5),
        ("lr", float("nan")),
        ("warmup", -0.1),
        ("max_train", -1),
        ("select", "first"),
        ("document_unit", "page"),
        ("head_dropout", 1.0),
        ("beta1", 1.0),
        ("epsilon", 0.0),
    ],
)
def test_values_that_make_no_sense_are_refused(name: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=name):
        _settings("standard", "gad", **{name: value})


def _load(folder: Path, text: str) -> protocol.Protocol:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return protocol.load_protocol_file(str(path))


def test_a_protocol_of_ones_own(tmp_path: Path) -> None:
    mine = _load(
        tmp_path,
        'description = "d"\n[seeds]\ndefault = 2\nhoc = [7, 9]\n[all]\nlr = 1e-3\n[tasks.gad]\nlr = 2e-3\nepochs = 1\n',
    )
    assert (mine.name, mine.description, mine.note) == (f"mine@{mine.hash[:8]}", "d", "")
    assert mine.settings(tasks.get("gad"), {}, 0).lr == 2e-3
    assert mine.settings(tasks.get("ddi"), {}, 0).lr == 1e-3
    assert [mine.seeds(tasks.get(name)) for name in ("gad", "hoc")] == [(1, 2), (7, 9)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[all]\nepoch = 3",
            "mine.toml, all: There is no setting called 'epoch'. Did you mean 'epochs'",
        ),
        ("[al]\nepochs = 3", "mine.toml: There is no section called 'al'. Did you mean 'all'"),
        (
            "[tasks.bc5chem]\nepochs = 3",
            "mine.toml, tasks: There is no task called 'bc5chem'. Did you mean 'bc5-chem'",
        ),
        (
            "[tasks.gad]\nbatchsize = 3",
            "tasks.gad: .* called 'batchsize'. Did you mean 'batch_size'",
        ),
        (
            "[seeds]\nbioses = 3",
            "mine.toml, seeds: There is no task called 'bioses'. Did you mean 'biosses'",
        ),
        ("[search]\nepoch = [3]", "search.* called 'epoch'. Did you mean 'epochs'"),
        ("[search]\nlr = 1e-5", "search: lr must be a list"),
        ("[search]\nlr = []", "search: lr must be a list"),
        ("[search]\nlr = ['a']", "lr must be a number"),
        ("tasks = 3", "mine.toml: tasks must be a table"),
        ("tasks.gad = 3", "tasks: gad must be a table"),
        ("[all]\nepochs = 'many'", "epochs must be a whole number"),
        ("[all]\nhead_init = 'halfway'", "head_init must be one of random, linear"),
        *((f"seeds = {seeds}", "seeds") for seeds in ("1e30", 10**30, 10001, [2**63])),
        ("seeds = 0", "seeds must be a number or a list of different numbers"),
        ("seeds = 'abc'", "seeds must be a number or a list of different numbers"),
        ("seeds = [-1]", "seeds must be a number or a list of different numbers"),
        ("seeds = [1, 1]", "seeds must be a number or a list of different numbers"),
        ("[search]\nlr = [1, 1.0]", "search: lr must be a list of different values"),
        ("search = 3\n[all]\nlr = 1e-4", "mine.toml: search must be a table"),
        ("# cut here\n", "mine.toml: the protocol file is empty"),
        ("[lr_by_size]\nmillions = 60\nbelow = 1.0", "lr_by_size: 'from' is missing"),
        ("lr_by_size = 3", "lr_by_size must be a table"),
        (
            "[lr_by_size]\nmillions = 60\nbelow = 1e-4\nfrom = 99",
            "lr_by_size: from must be at least 0 and at most 1",
        ),
        ("[small]\nmillions = 10", "small: 'lr' is missing"),
        (
            "[small]\nmillions = 10\nlr = 1e-3",
            r"\[small\] is for encoders below the size of \[lr_by_size\]",
        ),
        ("[all", "invalid TOML"),
        (
            'extends = "standart"',
            r"no protocol to extend called 'standart'. Did you mean 'standard'",
        ),
        ("extends = 3", "extends must be a text, one of"),
        ('extends = "standard"\nall = 3', "must be a table"),
        ('extends = "standard"\n[tasks]\ngad = 3', "must be a table"),
    ],
)
def test_a_protocol_that_makes_no_sense_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises((SettingsError, UnknownName), match=message):
        _load(tmp_path, text)


def test_a_file_or_name_that_is_not_there() -> None:
    with pytest.raises(SettingsError, match=r"nowhere.toml does not exist"):
        protocol.load_protocol_file("nowhere.toml")
    with pytest.raises(
        UnknownName, match=r"no protocol called 'standart'. Did you mean 'standard'"
    ):
        protocol.load_protocol_file("standart")
    with pytest.raises(UnknownName):
        protocol.load_protocol_file("defaults")


def test_the_hash_is_of_the_settings_and_not_of_the_words_about_them(tmp_path: Path) -> None:
    texts = [
        "[all]\nlr = 1e-3",
        'description = "x"\nnote = "y"\n[all]\nlr = 0.001 # same',
        "[all]\nlr = 2e-3",
        "seeds = 1\n[all]\nlr = 1e-3",
    ]
    hashes = [_load(tmp_path, text).hash for text in texts]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def test_settings_of_a_trial_are_completed_with_the_defaults() -> None:
    assert Settings(max_length=64, lr=1.0) == Settings(
        **{**COMMON, "max_length": 64, "lr": 1.0, "batch_size": 32, "epochs": 10}
    )


# The fields of `Settings`: bounds, groups, and the keys of `--set` in the helps.


def test_every_setting_is_in_one_group_and_says_what_it_does() -> None:
    listed = [key for keys in settings_by_subject().values() for key in keys]
    assert sorted(listed) == sorted(FIELDS)
    assert all(facts.help for facts in FIELDS.values())


@pytest.mark.parametrize(
    "name", [name for name, facts in FIELDS.items() if facts.kind in (int, float)]
)
def test_a_number_is_held_within_its_bounds_and_never_without_end(name: str) -> None:
    facts, values = FIELDS[name], {"max_length": 128}
    step = 1 if facts.kind is int else 1e-9
    least = facts.low if facts.low is not None else facts.above
    assert least is not None, "no number is without a bound"
    inside, outside = (least, least - step) if facts.low is not None else (least + step, least)
    Settings(**{**values, name: inside})
    for value in (
        outside,
        -math.inf,
        math.nan,
        math.inf if facts.below is None else facts.below,
        (math.inf if facts.most is None else facts.most + step),
    ):
        with pytest.raises(
            SettingsError, match=f"^{name} must be (a number, |a whole number, |)(at least|above)"
        ):
            Settings(**{**values, name: value})


@pytest.mark.parametrize("name", [name for name, facts in FIELDS.items() if facts.choices])
def test_a_word_is_one_of_those_that_are_known(name: str) -> None:
    Settings(**{"max_length": 128, name: DEFAULTS[name]})
    choices = FIELDS[name].choices
    for choice in choices() if callable(choices) else choices:
        Settings(**{"max_length": 128, name: choice})
    with pytest.raises((SettingsError, UnknownName), match=DEFAULTS[name]):
        Settings(**{"max_length": 128, name: "x"})


def test_a_value_out_of_bounds_may_have_a_meaning() -> None:
    assert Settings(max_length=128, encoder_dropout=-1.0).encoder_dropout == -1.0
    with pytest.raises(
        SettingsError, match=r"at least 0 and below 1, or -1 for the checkpoint's own \(got -0.5\)"
    ):
        Settings(max_length=128, encoder_dropout=-0.5)


@pytest.mark.parametrize("command", ["run", "ablate"])
def test_the_helps_list_all_keys_and_stay_narrow(command: str) -> None:
    text = run(command, "--help").output
    listed = " ".join(text.partition("Keys of --set")[2].split())
    for keys in settings_by_subject().values():
        assert ", ".join(keys) in listed
    assert max(map(len, text.splitlines())) <= 80


def test_a_help_loads_no_numpy(tmp_path: Path) -> None:
    assert loaded([["run", "--help"]], ["numpy"], tmp_path) == [("0", [])]


@pytest.mark.parametrize(
    "typed", ["--lr 3e5", "--lr 1.5", "--lr -1", "--lr nan", "--set head_lr=3e3", "--set lr=inf"]
)
def test_an_impossible_rate_stops_before_the_first_trial(typed: str, tmp_path: Path) -> None:
    words = f"run scratch:tiny --suite demo --tasks gad --output {tmp_path}/runs {typed}".split()
    said = refused(words, tmp_path)
    assert "lr must be" in said or "lr: " in said or "'--lr'" in said, said
    assert not (tmp_path / "runs").exists()
