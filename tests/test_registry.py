"""The registry: a file is an entry, an entry point is an entry, two of one name are an error."""

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from blurb.messages.errors import Notice, SettingsError, UnknownName
from blurb.registry import Registry


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `toys` with two entries, a helper and a sub-package."""
    folder = tmp_path / "toys"
    folder.mkdir()
    for name, text in {
        "__init__": "",
        "red_ball": "TOY = 'red'",
        "kite": "class TOY:\n    pass",
        "_helper": "1 / 0",
        "broken": "import no_such_module_at_all",
    }.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / "parts").mkdir()
    (folder / "parts" / "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "toys"]:
        del sys.modules[name]


@pytest.fixture
def toys(plugins: Path) -> Registry[Any]:
    return Registry("toy", "toys", "TOY", "blurb.test.toys")


def _entry_point(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    points = [EntryPoint(name, value, "blurb.test.toys")]
    monkeypatch.setattr(
        "blurb.registry.entry_points", lambda group: points if group == "blurb.test.toys" else []
    )


def test_files_are_entries_and_helpers_and_sub_packages_are_not(toys: Registry[Any]) -> None:
    assert toys.names() == ["broken", "kite", "red-ball"]


def test_nothing_is_imported_before_it_is_asked_for(toys: Registry[Any]) -> None:
    toys.names()
    assert "toys.red_ball" not in sys.modules
    assert toys.get("red-ball") == "red"
    assert "toys.red_ball" in sys.modules
    assert "toys.kite" not in sys.modules


def test_module_and_attribute_can_be_named_directly(toys: Registry[Any], plugins: Path) -> None:
    assert toys.load("toys.red_ball:TOY") == toys.get("toys.red_ball:TOY") == "red"
    assert toys.origin("toys.red_ball:TOY") == str(plugins / "red_ball.py")


@pytest.mark.parametrize(
    "name", ["evil.py:X", "./evil.py:X", "{folder}/evil.py:X", "evil:X", "toys.kite:TOY", ":X"]
)
def test_a_name_that_data_may_have_written_runs_nothing(
    name: str, toys: Registry[Any], plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it looks like, and wherever the file lies; what a person types may run, and is found from then on."""
    monkeypatch.chdir(plugins.parent)
    marker, name = plugins.parent / "ran", name.format(folder=plugins.parent)
    (plugins.parent / "evil.py").write_text(
        f"open({str(marker)!r}, 'w').close()\nX = 1\n", encoding="utf-8"
    )
    with pytest.raises(
        UnknownName, match=r"Code that a file names is not run. Install it as a plug-in."
    ):
        toys.get(name)
    assert "toys.kite" not in sys.modules
    assert not marker.exists()
    if "evil" in name:
        assert toys.load(name) == toys.get(name) == toys.get(toys.short(name)) == 1
        assert marker.exists()


def test_what_is_left_out_is_told_in_two_sentences(
    toys: Registry[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _entry_point(monkeypatch, "gone", "no_such_module:TOY")
    with pytest.warns(Notice, match=r"\./no_such_module\.py:TOY\. It is left out\.$"):
        assert toys.known("gone") is None


def test_two_files_of_one_name_are_told_apart(
    toys: Registry[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(f"X = {folder!r}", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "a")
    assert toys.load("./mine.py:X") == "a"
    monkeypatch.chdir(tmp_path / "b")
    with pytest.raises(SettingsError, match=r"Two toys have the name 'mine.py:X'"):
        toys.load("./mine.py:X")


@pytest.mark.parametrize("name", ["no_such_module:X", "toys.kite:NO_SUCH", "broken"])
def test_what_cannot_be_imported_is_an_error_that_names_it(toys: Registry[Any], name: str) -> None:
    with pytest.raises(SettingsError, match=r"Cannot import the toy '.*'"):
        toys.load(name)


def test_the_file_is_suggested_for_the_plugin_that_is_missing_and_not_for_what_it_imports(
    toys: Registry[Any], plugins: Path
) -> None:
    (plugins / "needy.py").write_text("import toy", encoding="utf-8")
    for name, hint in (("toys.gone:X", True), ("no_such.module:X", True), ("toys.needy:X", False)):
        with pytest.raises(SettingsError) as caught:
            toys.load(name)
        assert ("use its file" in str(caught.value)) == hint


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("red-bal", r"no toy called 'red-bal'. Did you mean 'red-ball'\? Available: .*kite"),
        ("zzzzzz", r"no toy called 'zzzzzz'\. (?!Did you mean)"),
    ],
)
def test_unknown_name_suggests_the_closest_if_there_is_one_and_lists_all(
    toys: Registry[Any], name: str, told: str
) -> None:
    with pytest.raises(UnknownName, match=told):
        toys.get(name)


def test_an_entry_point_is_an_entry(toys: Registry[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    _entry_point(monkeypatch, "my-toy", "toys.red_ball:TOY")
    assert toys.get("my-toy") == "red"


def test_a_built_in_entry_keeps_its_name_and_a_note_names_both(
    toys: Registry[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _entry_point(monkeypatch, "kite", "elsewhere:KITE")
    with pytest.warns(Notice) as caught:
        assert toys.names() == ["broken", "kite", "red-ball"]
    for part in ("'kite'", "toys.kite:TOY", "from blurb", "elsewhere:KITE", "That of blurb stays."):
        assert part in str(caught[0].message)
    assert toys.get("kite").__module__ == "toys.kite"


def test_two_plugins_of_one_name_are_an_error_for_whoever_asks(
    toys: Registry[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    points = [EntryPoint("mine", target, "blurb.test.toys") for target in ("a:X", "b:X")]
    monkeypatch.setattr("blurb.registry.entry_points", lambda group: points)
    with pytest.warns(Notice, match="Two toys have the name 'mine'"):
        assert toys.get("red-ball") == "red"
    assert "mine" not in toys.names()
    with pytest.raises(SettingsError, match=r"Two toys have the name 'mine': a:X .* and b:X"):
        toys.get("mine")


@pytest.mark.parametrize(
    "name", ["a,b", "x:y", "FILE.py:T", "../x", "a b", " ", "\x1b[31mred", "_x"]
)
def test_a_name_that_nobody_could_type_is_no_entry(
    name: str, toys: Registry[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _entry_point(monkeypatch, name, "toys.red_ball:TOY")
    with pytest.warns(Notice, match="No toy can have the name"):
        assert toys.names() == ["broken", "kite", "red-ball"]
    with pytest.raises(SettingsError):
        toys.get(name)


@pytest.mark.parametrize(
    "text", ["import no_such_zz", "raise RuntimeError('boom')", "def (:", "1 / 0", "exit(3)"]
)
def test_a_plugin_that_is_broken_stops_nothing_else(
    text: str, toys: Registry[Any], plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (plugins / "broken.py").unlink()
    (plugins.parent / "theirs.py").write_text(text, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "theirs", raising=False)
    _entry_point(monkeypatch, "mine", "theirs:X")
    with pytest.warns(Notice, match=r"Cannot import the toy 'theirs:X': .* It is left out."):
        assert set(toys.usable()) == {"kite", "red-ball"}
    with pytest.warns(Notice):
        assert toys.known("mine") is None
    with pytest.raises(SettingsError, match="Cannot import the toy 'theirs:X'"):
        toys.get("mine")


def test_a_file_of_entry_points_that_cannot_be_read_takes_no_built_in_entry_away(
    toys: Registry[Any], plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = plugins.parent / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n", encoding="utf-8"
    )
    (about / "entry_points.txt").write_bytes(b"\xff\xfe[blurb.test.toys]\n")
    with pytest.warns(Notice, match=r"the entry_points.txt of an installed package cannot be read"):
        assert toys.names() == ["broken", "kite", "red-ball"]


def test_objects_within_objects_and_extras(
    toys: Registry[Any], plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the format of entry points has them."""
    (plugins.parent / "deep.py").write_text("class A:\n    X = 3\n", encoding="utf-8")
    _entry_point(monkeypatch, "mine", "deep:A.X [more]")
    assert toys.get("mine") == 3
    del sys.modules["deep"]


def test_origin_is_the_file_and_the_line_of_a_class(toys: Registry[Any], plugins: Path) -> None:
    assert toys.origin("kite") == f"{plugins / 'kite.py'}:1"
    assert toys.origin("red-ball") == str(plugins / "red_ball.py")


NO_ENTRIES = {
    "a number": "V = 42",
    "a class of its own": "class V: pass",
    "an object": "class W: pass\nV = W()",
    "a class whose attributes raise": "class M(type):\n    def __getattr__(c, n): 1 / 0\nclass V(metaclass=M): pass",
    "an object whose attributes raise": "class W:\n    def __getattribute__(s, n): raise RuntimeError(n)\nV = W()",
    "an object that lies": "class W:\n    __class__ = property(lambda s: 1 / 0)\nV = W()",
    "a module": "import json as V",
    "nothing": "V = None",
}
GROUPS = (
    "learners",
    "engines",
    "heads",
    "poolings",
    "metrics",
    "task_types",
    "tasks",
    "commands",
    "names",
    "exports",
)
ASKED = (
    "run baseline:majority --suite demo --tasks gad --protocol smoke --precision fp32 --device cpu",
    "heads",
    "tasks",
    "--help",
    "leaderboard show",
)


def _package(folder: Path, group: str, text: str) -> None:
    """An installed package whose entry point names an object, as pip would leave it."""
    (folder / "stranger.py").write_text(
        f"print('HELLO FROM THE PACKAGE')\n{text}\n", encoding="utf-8"
    )
    about = folder / "stranger_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger-package\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[blurb.{group}]\nx = stranger:V\n")


def _registry_of(group: str) -> Registry[Any]:
    from blurb import heads, learners, metrics, tasks
    from blurb.api import door
    from blurb.cli import _group
    from blurb.execution import engines

    known = [
        learners.kinds,
        engines.engines,
        heads.heads,
        heads.poolings,
        metrics._registry,
        tasks.types._registry,
    ]
    known += [tasks._registry, _group.added, door.additions]
    if group == "exports":
        from blurb.extensions.reports.export import formats

        known = [formats.formats]
    return next(one for one in known if one.group == f"blurb.{group}")


@pytest.mark.extensions
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("entry", NO_ENTRIES)
def test_what_is_no_entry_of_its_group_is_left_out_with_the_name_of_its_package(
    group: str,
    entry: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All groups, asked in one place."""
    _package(tmp_path, group, NO_ENTRIES[entry])
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "stranger", raising=False)
    known = _registry_of(group)
    fresh: Registry[Any] = type(known)(
        "kind", "", "", known.group, known.contract, classes=known.classes
    )
    if group == "names" and "class" in entry and entry != "an object whose attributes raise":
        return  # a class can be called
    with pytest.warns(
        Notice,
        match=r"The kind x of the package stranger-package is of type .*, not .*It is left out",
    ):
        assert "x" not in fresh.usable()
    with pytest.raises(SettingsError, match="x of the package stranger-package is of type"):
        fresh.get("x")
    said = capsys.readouterr()
    assert ("HELLO" in said.out, "HELLO" in said.err) == (False, True)


@pytest.mark.costly
@pytest.mark.extensions
@pytest.mark.parametrize("group", ["learners", "engines", "poolings", "metrics", "tasks"])
def test_a_broken_package_stops_nothing_that_does_not_need_it(group: str, tmp_path: Path) -> None:
    """In processes of their own; what the package prints is no part of an answer."""
    import os
    import subprocess

    site, work = tmp_path / "site", tmp_path / "work"
    site.mkdir()
    work.mkdir()
    _package(site, group, NO_ENTRIES["a class whose attributes raise"])
    paths = [
        str(site),
        str(Path(__file__).parent.parent),
        *os.environ.get("PYTHONPATH", "").split(os.pathsep),
    ]
    for words in ASKED:
        command = [sys.executable, "-P", "-m", "blurb", *words.split()]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        done = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (words, done.stderr)
        assert "HELLO" not in done.stdout
        assert "bug in blurb" not in done.stderr
