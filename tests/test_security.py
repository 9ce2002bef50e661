"""What SECURITY.md says: each test that it names is there; and what no other file tests."""

import json
import re
import zipfile
from pathlib import Path

import pytest

from blurb.learners.building import resolve_model
from blurb.messages.errors import ModelError
from blurb.store import row_trials as rows
from blurb.store.store import Store
from tests.checkpoints import build

ROOT = Path(__file__).parent.parent
NAMED = re.findall(
    r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8")
)


@pytest.mark.extensions
@pytest.mark.parametrize(("file", "test"), NAMED, ids=[test for _, test in NAMED])
def test_every_test_that_is_named_is_there(file: str, test: str) -> None:
    assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")


def test_the_page_names_tests() -> None:
    assert len(NAMED) > 10


def test_code_of_a_checkpoint_does_not_run_unless_it_is_allowed(tmp_path: Path) -> None:
    folder, told = build("bert_uncased", tmp_path / "strange"), tmp_path / "told"
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["auto_map"] = {"AutoConfig": "strange.Config", "AutoModel": "strange.Model"}
    config["model_type"] = "strange"
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "strange.py").write_text(
        f"open({str(told)!r}, 'w').close()\n"
        "from transformers import BertConfig, BertModel\n"
        "class Config(BertConfig):\n    model_type = 'strange'\n"
        "class Model(BertModel):\n    config_class = Config\n",
        encoding="utf-8",
    )
    with pytest.raises(ModelError):
        resolve_model(str(folder))
    assert not told.exists()
    assert resolve_model(str(folder), remote_code=True).is_checkpoint
    assert told.exists()


@pytest.mark.parametrize("field", ["task", "hash"])
def test_a_row_of_a_store_names_no_folder_elsewhere(field: str, tmp_path: Path) -> None:
    """The rows of a committed store, one of them altered."""
    with zipfile.ZipFile(ROOT / "tests" / "golden" / "today.zip") as archive:
        archive.extractall(tmp_path)
    store = Store(next(tmp_path.rglob("models.json")).parent.parent)
    told: list[str] = []
    before = rows.read(store, lambda damage: told.append(str(damage)))
    assert before
    assert not told
    path = sorted(store.root.glob("*/rows/*.json"))[0]
    content = json.loads(path.read_text(encoding="utf-8"))
    task, seeds = next(iter(content["trials"].items()))
    if field == "task":
        content["trials"]["../../elsewhere"] = content["trials"].pop(task)
        content["families"]["../../elsewhere"] = content["families"][task]
    else:
        content["trials"][task] = dict.fromkeys(seeds, "../../../elsewhere")
    path.write_text(json.dumps(content), encoding="utf-8")
    assert len(rows.read(store, lambda damage: told.append(str(damage)))) == len(before) - 1
    assert "invalid name or hash of a trial" in told[0]
