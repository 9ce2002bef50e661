"""Where the datasets lie if nobody says it: the folder that `blurb data get` fills."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from blurb.messages import SettingsError

VARIABLE = "BLURB_DATA"


def data_home() -> Path:
    """The data folder: `$BLURB_DATA`, or by default a folder of the user's.

    :raises SettingsError: for a user without a home
    """
    try:
        own = Path(platformdirs.user_data_dir("blurb-bench", appauthor=False))
    except RuntimeError:
        raise SettingsError(
            "There is no home folder for the data", fix=f"set {VARIABLE} to a folder."
        ) from None
    return Path(os.environ.get(VARIABLE) or own / "data")


def existing_home() -> Path | None:
    """The data folder if it is there."""
    if os.environ.get(VARIABLE):  # whoever set it is told that it is not there
        return data_home()
    try:
        return folder if (folder := data_home()).is_dir() else None
    except SettingsError:
        return None
