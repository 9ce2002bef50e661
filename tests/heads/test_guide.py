"""docs/extend.md: its code is a head that trains, in under 40 lines."""

import re
import sys
from pathlib import Path

import pytest
import torch

from blurb.heads import heads
from blurb.heads._base import Problem
from blurb.heads._spec import parse_spec
from blurb.training.network import Network
from tests.training import tiny

GUIDE = Path(__file__).parents[2] / "docs" / "extend.md"


@pytest.fixture
def reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The guide's code as a module of somebody else's."""
    code = re.findall(
        r"```python\n(# my_head.py\n.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL
    )[0]
    assert len(code.splitlines()) < 40
    (tmp_path / "guide_head.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "guide_head", raising=False)
    return "guide_head:MyHead"


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["single", "tokens"])
def test_the_head_of_the_guide_learns(reference: str, kind: str) -> None:
    heads.load(reference)
    head, options = parse_spec(heads, f"{reference},hidden=32")
    assert options == {"hidden": 32}
    plain = tiny.network(kind)  # type: ignore[arg-type]
    torch.manual_seed(0)
    problem = Problem(kind, ["0", "1", "2"])  # type: ignore[arg-type]
    network = Network(plain.encoder, plain.pooling, head(16, problem, 0.1, **options), False)
    inputs = tiny.features(64, words=kind == "tokens")
    trainer = tiny.trainer(network)
    history = trainer.fit(
        inputs, tiny.targets(inputs), tiny.settings(epochs=15, lr=3e-3), 1, lambda: 0.0
    )
    assert history[-1].loss < 0.9 * history[0].loss
    predicted, scores = trainer.predict(inputs)
    assert len(predicted) == len(scores) == 64
