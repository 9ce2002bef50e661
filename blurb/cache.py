"""Where blurb keeps what it can make again: tokenised data, the demo suite, encoders made on the spot."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """`$BLURB_HOME`, else the user's cache folder."""
    import platformdirs

    return Path(os.environ.get("BLURB_HOME") or platformdirs.user_cache_dir("blurb-bench", appauthor=False))
