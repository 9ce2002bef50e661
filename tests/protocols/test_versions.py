"""Versions of a protocol, and protocols that extend others. Oracle: the same content written out in one file."""

import itertools
from pathlib import Path

import pytest

from blurb import tasks
from blurb.messages.errors import ErrorCollector, SettingsError
from blurb.protocols import protocol, settings
from blurb.store.trial import Configuration

STUDY = {"ncbi-disease": 8, "gad": 5, "hoc": 3}


def _load(folder: Path, text: str, name: str = "mine") -> protocol.Protocol:
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return protocol.load_protocol_file(str(path))


def _configuration(name: str) -> Configuration:
    return Configuration(name, "0" * 64, {}, "fp32", "blurb")


def test_the_first_version_is_no_part_of_the_hash(tmp_path: Path) -> None:
    plain, first, second, third = (
        _load(tmp_path, f"{line}[all]\nlr = 1e-3\n")
        for line in ("", "version = 1\n", "version = 2\n", "version = 3\n")
    )
    assert plain.hash == first.hash
    assert len({first.hash, second.hash, third.hash}) == 3


def test_a_shipped_version_is_in_the_name() -> None:
    assert (
        protocol.load_protocol_file("standard").name
        == protocol.load_protocol_file("standard@1").name
        == "standard"
    )
    assert (
        protocol.load_protocol_file("quick").name
        == protocol.load_protocol_file("quick@2").name
        == "quick@2"
    )
    assert protocol.load_protocol_file("quick") == protocol.load_protocol_file("quick@2")


@pytest.mark.parametrize(
    "name", ["quick@1", "quick@3", "standard@2", "standard@", "quick@two", "quick@2@2"]
)
def test_another_version_is_not_made_without_a_word(name: str) -> None:
    with pytest.raises(SettingsError, match=r"this version of blurb has '(quick@2|standard)'"):
        protocol.load_protocol_file(name)


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "true", '"2"', "10000"])
def test_a_version_that_is_none(tmp_path: Path, value: str) -> None:
    with pytest.raises(
        SettingsError, match=r"mine.toml: version must be .*at least 1 and below 10,000"
    ):
        _load(tmp_path, f"version = {value}\n")


def test_a_version_is_no_file(tmp_path: Path) -> None:
    """`stem@` and 8 digits is a user's file, even where the digits are all decimal."""
    assert _configuration(_load(tmp_path, "version = 2\n[all]\nlr = 1e-3\n").name).from_file
    assert _configuration("mine@12345678").from_file
    assert not any(
        _configuration(name).from_file
        for name in ("quick", "quick@2", "quick@9999", "standard-short")
    )


def test_a_protocol_that_extends_another_is_the_two_written_as_one(tmp_path: Path) -> None:
    folder = tmp_path / "shipped"
    folder.mkdir()
    base = (protocol.FOLDER / "standard.toml").read_text(encoding="utf-8")
    # Which came later, and is no part of the hash if it is inherited
    base = base.replace("[adapter]\nlr = 3e-4\n", "")
    more = "[all]\nlr = 1e-3\nclip_norm = 2.0\n[tasks.gad]\nepochs = 7\n"
    gad = "[tasks.gad]\nlr = 3e-5\nbatch_size = 32\nepochs = "
    merged = base.replace(f"{gad}10", f"{gad}7")
    assert merged != base
    whole = _load(folder, merged + "\n[all]\nlr = 1e-3\nclip_norm = 2.0\n")
    found = _load(tmp_path, f'extends = "standard"\n{more}')
    assert found.hash == whole.hash
    for task in tasks.all():
        assert found.settings(task, {}, 0) == whole.settings(task, {}, 0)


def test_seeds_and_a_new_version_of_what_is_extended(tmp_path: Path) -> None:
    found = _load(tmp_path, 'extends = "quick"\nseeds = [4, 5]\n')
    assert found.seeds(tasks.get("gad")) == (4, 5)
    assert found.name.startswith("mine@")  # the version is that of the file, not of what it extends
    assert found.lr_by_size == protocol.load_protocol_file("quick").lr_by_size
    assert (found.description, found.note) == ("", "")


@pytest.mark.parametrize("task", tasks.all(), ids=lambda task: task.name)
def test_standard_short_is_standard_but_for_three_lengths(task: tasks.Task) -> None:
    changed = {"epochs": STUDY[task.name]} if task.name in STUDY else {}
    short, standard = (
        protocol.load_protocol_file("standard-short"),
        protocol.load_protocol_file("standard"),
    )
    assert short.settings(task, {}, 0) == standard.settings(task, changed, 0)
    assert short.seeds(task) == (1, 2, 3)
    assert short.hash != standard.hash


SMALL = {"biosses": 20, "pubmedqa": 4, "bioasq": 4}
LARGE = ("bc5-chem", "bc5-disease", "bc2gm", "jnlpba", "ebm-pico", "chemprot", "ddi")


@pytest.mark.parametrize("task", tasks.all(), ids=lambda task: task.name)
@pytest.mark.parametrize(("millions", "lr"), [(22, 1e-4), (59.9, 1e-4), (60, 5e-5), (335, 5e-5)])
def test_quick(task: tasks.Task, millions: float, lr: float) -> None:
    """Written out: what is not named here is the default."""
    parameters = int(millions * 1e6)
    own: dict[str, object] = {
        "lr": lr,
        "head_lr": 1e-3,
        "batch_size": 16,
        "max_updates": 600,
        "select": "last",
    }
    own |= {"epochs": SMALL.get(task.name, 4), "head_dropout": 0.0, "encoder_dropout": 0.0}
    own |= {
        "pooling": "cls-mean-mentions" if task.type == "relation" else "cls-mean",
        "max_length": task.max_length,
    }
    if task.name in ("hoc", "biosses"):
        own |= {"head_init": "linear", "encoder_dropout": -1.0}
    if task.name == "biosses":
        own["pooling"] = "cosine"
    found = protocol.load_protocol_file("quick")
    assert vars(found.settings(task, {}, parameters)) == {**settings.DEFAULTS, **own}
    assert found.seeds(task) == (1,)
    assert found.grid({}) == []


@pytest.mark.parametrize("task", tasks.all(), ids=lambda task: task.name)
def test_sketch_is_quick_with_a_quarter_of_its_updates(task: tasks.Task) -> None:
    sketch, quick = (
        vars(protocol.load_protocol_file(name).settings(task, {}, 10**8))
        for name in ("sketch", "quick")
    )
    changed = {name: (quick[name], sketch[name]) for name in quick if quick[name] != sketch[name]}
    assert changed.pop("max_updates") == (600, 150)
    assert changed.pop("eval_seed") == (0, 1)
    if task.name in SMALL:
        before, after = changed.pop("epochs")
        assert before == 4 * after
    assert changed == ({"max_eval": (0, 2000)} if task.name in LARGE else {})


def test_a_rate_of_small_encoders_is_hashed_in_ones_own_file_alone(here: Path) -> None:
    sizes = "[lr_by_size]\nmillions = 60\nbelow = 1e-4\nfrom = 5e-5\n[small]\nmillions = 10\nlr = "
    hashes = set()
    for rate in ("1e-3", "5e-3"):
        Path("mine.toml").write_text(f"{sizes}{rate}\n")
        loaded = protocol.load_protocol_file("mine.toml")
        assert loaded.settings(tasks.get("gad"), {}, 10**6).lr == float(rate)
        hashes.add(loaded.hash)
    assert len(hashes) == 2
    with_small = protocol._read_shipped("quick")
    without = {key: value for key, value in with_small.items() if key != "small"}
    assert (
        protocol.load_protocol_file("quick").hash
        == protocol.parse("quick", "quick.toml", without, ErrorCollector(), shipped=True).hash
    )
    Path("mine.toml").write_text(
        'extends = "quick"\n[lr_by_size]\nmillions = 8\nbelow = 1e-4\nfrom = 5e-5\n'
    )
    assert protocol.load_protocol_file("mine.toml").settings(tasks.get("gad"), {}, 10**6).lr == 1e-4


# One order of settings: option, run file, table by kind or size (its search, then its value), the protocol's search,
# the protocol's value, default. What comes first of two decides alone; what is not searched is no axis.
GIVERS = {
    "option": ("", {"lr": 0.001}),
    "search by kind": ("[adapter.search]\nlr = [0.002]\n", {}),
    "value by kind": ("[adapter]\nlr = 0.003\n", {}),
    "value by size": ("[lr_by_size]\nmillions = 60\nbelow = 0.004\nfrom = 0.004\n", {}),
    "search": ("[search]\nlr = [0.005]\n", {}),
    "value of a task": ("[tasks.gad]\nlr = 0.006\n", {}),
    "value of all": ("[all]\nlr = 0.007\n", {}),
    "default": ("", {}),
}
RATES = dict(zip(GIVERS, (0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 5e-5), strict=True))


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(GIVERS, 2)))
def test_of_two_that_give_a_setting_the_first_decides(
    tmp_path: Path, first: str, second: str
) -> None:
    """Of all pairs, with an adapter; and without one, where tables of adapters say nothing."""
    gad = tasks.get("gad")
    text, typed = "", {}
    for one in (first, second):
        table = GIVERS[one][0]
        same = text.startswith("[adapter") and table.startswith("[adapter")
        text = "[adapter]\nlr = 0.003\nsearch.lr = [0.002]\n" if same else text + table
        typed |= GIVERS[one][1]
    found = _load(tmp_path, f"description = 'd'\n{text}")
    for adapter in ("lora", "off"):
        overrides = {**typed, "adapter": adapter}
        left = [one for one in (first, second) if adapter == "lora" or "by kind" not in one] or [
            "default"
        ]
        points = found.grid(overrides, "gad")
        assert bool(points) == ("search" in left[0]), (points, left)
        rates = {found.settings(gad, {**point, **overrides}, 10**8).lr for point in points or [{}]}
        assert rates == {RATES[left[0]]}


def test_modern_searches_ten_times_its_rates_with_an_adapter() -> None:
    modern = protocol.load_protocol_file("modern")
    assert modern.name == "modern@2"
    for task in ("", "gad"):
        plain, adapted = (
            [one["lr"] for one in modern.grid({"adapter": how}, task)] for how in ("off", "lora")
        )
        assert plain == [1e-5, 3e-5, 8e-5, 2e-4]
        assert adapted == pytest.approx([10 * rate for rate in plain])
    assert modern.grid({"adapter": "lora", "lr": 1e-3}) == []


@pytest.mark.parametrize("name", ["standard", "quick", "sketch"])
def test_a_rate_of_an_adapter_stands_where_a_search_is_added(tmp_path: Path, name: str) -> None:
    found = _load(tmp_path, f'extends = "{name}"\n[search]\nlr = [1e-5, 2e-5]\n')
    rate = protocol.load_protocol_file(name).adapter["lr"]
    assert found.grid({"adapter": "lora"}, "gad") == []
    assert found.settings(tasks.get("gad"), {"adapter": "lora"}, 10**8).lr == rate


def test_what_is_inherited_by_kind_is_kept_beside_what_is_given(tmp_path: Path) -> None:
    rank = _load(tmp_path, 'extends = "modern"\n[adapter]\nlora_rank = 8\n')
    assert [one["lr"] for one in rank.grid({"adapter": "lora"})] == [1e-4, 3e-4, 8e-4, 2e-3]
    rate = _load(tmp_path, 'extends = "modern"\n[adapter]\nlr = 5e-4\n')
    assert rate.grid({"adapter": "lora"}) == []
    assert rate.settings(tasks.get("gad"), {"adapter": "lora"}, 0).lr == 5e-4
    own = _load(tmp_path, 'extends = "quick"\n[tasks.gad]\nlr = 7e-5\n')
    assert [own.settings(tasks.get(task), {}, 10**8).lr for task in ("gad", "hoc")] == [7e-5, 5e-5]


def test_a_search_of_ones_own_comes_before_inherited_rates_by_size(tmp_path: Path) -> None:
    own = _load(tmp_path, 'extends = "quick"\n[search]\nlr = [1e-5, 2e-5]\n')
    assert [point["lr"] for point in own.grid({}, "gad")] == [1e-5, 2e-5]


def test_both_ways_of_training_may_be_searched_each_at_its_rates(tmp_path: Path) -> None:
    assert [
        (one["adapter"], one["lr"])
        for one in _load(
            tmp_path, 'extends = "modern"\n[search]\nadapter = ["off", "lora"]\nlr = [1e-5, 3e-5]\n'
        ).grid({})
    ] == [("off", 1e-5), ("off", 3e-5), *(("lora", rate) for rate in (1e-4, 3e-4, 8e-4, 2e-3))]


def test_the_remark_is_on_the_grid_that_was_searched() -> None:
    modern, paper = protocol.load_protocol_file("modern"), protocol.load_protocol_file("paper")
    assert (
        modern.remark({"lr": 2e-3, "adapter": "lora"}, "")
        == "rate at the edge of the grid 0.0001 to 0.002"
    )
    assert modern.remark({"lr": 8e-4, "adapter": "lora"}, "") == ""
    assert modern.remark({"lr": 2e-4, "adapter": "lora"}, "") == ""
    assert modern.remark({"lr": 2e-4}, "") == "rate at the edge of the grid 1e-05 to 0.0002"
    assert "an adapter at a rate of full fine-tuning" in paper.remark(
        {"lr": 5e-5, "adapter": "lora"}, ""
    )
