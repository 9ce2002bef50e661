"""Code of a stranger, which leaves a marker when it runs."""

import sys
from pathlib import Path

import pytest


class Evil:
    """Files `evil.py` of a stranger beside all that is looked at, and the marker that they leave.

    :ivar references: all that a text in a file may say to reach it
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.marker = folder / "ran"
        self.text = (
            f"open({str(self.marker)!r}, 'w').close()\n"
            "class Anything:\n"
            "    def __init__(self, *a, **k): pass\n"
            "    def __call__(self, *a, **k): return []\n"
            "    def __getattr__(self, name): return self\n"
            "T = X = TYPE = METRIC = Anything()\n"
        )
        self.lay(folder)
        monkeypatch.chdir(folder)
        monkeypatch.syspath_prepend(str(folder))  # as of `python -m blurb` there, or of a notebook
        self.references = ["evil.py:T", "./evil.py:T", f"{folder}/evil.py:T", "evil:T"]

    def lay(self, folder: Path) -> None:
        """Lays the file into a folder."""
        (folder / "evil.py").write_text(self.text, encoding="utf-8")

    def has_run(self) -> bool:
        """Whether any of it ran since the last call."""
        ran = self.marker.exists()
        self.marker.unlink(missing_ok=True)
        for name in [
            name for name in sys.modules if name == "evil" or name.startswith("blurb_plugin_")
        ]:
            del sys.modules[name]
        return ran
