"""What transformers may show while it loads and builds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


def hide_progress() -> None:
    """Turns off the progress bars of transformers; blurb shows its own."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()


@contextmanager
def errors_alone() -> Iterator[None]:
    """Without the warnings of transformers about what is meant to be so."""
    from transformers.utils import logging as transformers_logging

    before = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(before)
