"""A kept model of somebody else answers, and brings no code (SECURITY.md)."""

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import blurb
from blurb.heads import heads
from blurb.learners import saved_models
from blurb.messages.errors import BlurbError, ModelError
from blurb.system.files import seal_folder
from tests.cli.in_process import ran, run
from tests.strangers.evil import Evil

HEAD = "from blurb.heads.linear import Linear\n\n\nclass Mine(Linear):\n    pass\n"
CODE = (
    "from transformers import BertConfig, BertModel, BertTokenizerFast\n"
    "class Config(BertConfig):\n    model_type = 'strange'\n"
    "class Model(BertModel):\n    config_class = Config\n"
    "class Tokens(BertTokenizerFast):\n    pass\n"
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a kept model, with a head of one's own."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "mine.py").write_text(HEAD, encoding="utf-8")
    results = blurb.run(
        "scratch:tiny",
        suite="demo",
        protocol="smoke",
        tasks="biosses",
        keep_model="best",
        device="cpu",
        head=f"{folder / 'mine.py'}:Mine",
        output=folder / "runs",
        progress=False,
    )
    heads.typed.clear()
    return results.trial(results.rows[0].model, "biosses") / saved_models.FOLDER


@pytest.fixture
def model(trained: Path, tmp_path: Path, evil: Evil) -> Iterator[Path]:
    """A copy of it in the working folder, with an ordinary head and a stranger's code beside and in it."""
    copy = shutil.copytree(trained, tmp_path / "model")
    evil.lay(copy)
    alter(copy, lambda about: about["settings"].update(head="linear"))
    yield copy
    heads.typed.clear()


def alter(folder: Path, change: Any) -> None:
    """Alters `blurb.json`, and seals the folder as whoever makes a model would."""
    about = json.loads((folder / saved_models.ABOUT).read_text(encoding="utf-8"))
    change(about)
    (folder / saved_models.ABOUT).write_text(json.dumps(about), encoding="utf-8")
    seal_folder(folder)


@pytest.mark.costly
def test_an_ordinary_one_answers(model: Path) -> None:
    assert json.loads(ran(["predict", "model", "--text", "a\tb"]).output)["prediction"] is not None


@pytest.mark.costly
def test_an_empty_text_is_left_out_and_the_others_are_answered(model: Path, tmp_path: Path) -> None:
    found = run("predict", "model", "--text", "a\tb", "--text", " ", "--text", "c\td")
    assert found.exit_code == 0
    assert [json.loads(line)["id"] for line in found.stdout.splitlines()] == ["1", "3"]
    assert "--text: left out, as the text is empty: 2." in found.stderr
    alone = run("predict", "model", "--text", " ")
    assert isinstance(alone.exception, BlurbError)
    assert "the text is empty" in str(alone.exception)
    assert "--text is given as an empty text" in run("predict", "model", "--text", "").output


@pytest.mark.costly
@pytest.mark.parametrize(
    "field", ["head", "pooling", "type", "metric", "reader", "original", "builder"]
)
def test_no_text_of_it_is_loaded(field: str, model: Path, evil: Evil) -> None:
    for reference in [*evil.references, "model/evil.py:T", "this:s"]:
        place = "settings" if field in ("head", "pooling") else "task"
        alter(
            model,
            lambda about, place=place, reference=reference: about[place].update({field: reference}),
        )
        found = run("predict", "model", "--text", "a\tb")
        assert not evil.has_run(), reference
        if field in ("head", "pooling", "type"):
            assert isinstance(found.exception, BlurbError), found.output
            assert "Code that a file names is not run." in str(found.exception)
        with contextlib.suppress(BlurbError):
            blurb.predict(model, {"text_a": "a", "text_b": "b"})
        assert not evil.has_run(), reference


@pytest.mark.parametrize("place", ["config.json", "tokenizer_config.json"])
def test_remote_code_needs_a_person(place: str, model: Path, evil: Evil) -> None:
    config = json.loads((model / place).read_text(encoding="utf-8"))
    if place == "config.json":
        config |= {
            "auto_map": {"AutoConfig": "strange.Config", "AutoModel": "strange.Model"},
            "model_type": "strange",
        }
    else:
        config |= {
            "auto_map": {"AutoTokenizer": [None, "strange.Tokens"]},
            "tokenizer_class": "Tokens",
        }
    (model / place).write_text(json.dumps(config), encoding="utf-8")
    (model / "strange.py").write_text(evil.text + CODE, encoding="utf-8")
    alter(model, lambda about: about.update(remote_code=True))
    found = run("predict", "model", "--text", "a\tb")
    assert "If you trust who made it: --trust-remote-code" in str(found.exception)
    with pytest.raises(ModelError, match="trust_remote_code="):
        blurb.load_model(model)
    assert not evil.has_run()
    alter(model, lambda about: about.update(remote_code=False))  # and it does not help to deny it
    run("predict", "model", "--text", "a\tb")
    run("predict", "model", "--text", "a\tb", "--trust-remote-code")
    assert not evil.has_run()
    alter(model, lambda about: about.update(remote_code=True))
    # The other is the same module by then, which transformers does not run again
    if place == "config.json":
        run("predict", "model", "--text", "a\tb", "--trust-remote-code")
        assert evil.has_run()


def test_a_head_of_ones_own_is_typed(trained: Path, here: Path) -> None:
    (here / "mine.py").write_text(HEAD, encoding="utf-8")
    without = run("predict", str(trained), "--text", "a\tb")
    assert "There is no head called 'mine.py:Mine'" in str(without.exception)
    assert "Give its code with --head ./mine.py:Mine" in str(without.exception)
    ran(["predict", str(trained), "--text", "a\tb", "--head", "./mine.py:Mine"])
    heads.typed.clear()
    assert blurb.load_model(trained, head="./mine.py:Mine").task.name == "biosses"
    heads.typed.clear()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"use_pooler": "x"}, "'use_pooler' must be of type bool"),
        ({"remote_code": 1}, "'remote_code' must be of type bool"),
        ({"max_length": -3}, "'max_length' must be at least 1"),
        ({"settings": []}, "'settings' must be of type dict"),
        ({"task": {"name": 3}}, "the declaration of the task has no 'title'"),
        ({"precision": "fp7"}, "fp7"),
    ],
)
def test_what_is_odd_in_it_is_named(change: dict[str, Any], message: str, model: Path) -> None:
    alter(model, lambda about: about.update(change))
    with pytest.raises(BlurbError, match=message):
        blurb.load_model(model)
