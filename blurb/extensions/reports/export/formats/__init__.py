"""The export formats: one module per format, found by its name (see `blurb.registry`)."""

from __future__ import annotations

from pathlib import Path

from blurb.extensions.reports.export.formats._base import ExportFormat, ExportRequest, Files
from blurb.messages.errors import SettingsError
from blurb.messages.spelling import opt
from blurb.registry import Registry
from blurb.system.files import beside, write_whole

__all__ = ["ExportRequest", "Files", "Format", "formats", "get", "render", "write"]

formats: Registry[ExportFormat] = Registry(
    "export format", "blurb.extensions.reports.export.formats", "EXPORT", "blurb.exports"
)


def get(name: str) -> ExportFormat:
    """The format of that name; SettingsError if it is something else, or UnknownName."""
    found = formats.get(name)
    if not isinstance(found, ExportFormat):
        raise SettingsError(f"The export format {name} is of type {type(found).__name__}, not a Format.")
    return found


def render(name: str, wanted: ExportRequest) -> Files:
    """The content of a format's files by relative path ("" for a format with a single file); writes nothing.

    :raises BlurbError: if the request is invalid
    """
    form = get(name)
    for option in wanted.given - form.options:
        fits = [other for other, one in formats.usable(get).items() if option in one.options]
        raise SettingsError(f"{opt(option.replace('_', '-'))} does not apply to {name}, only to {', '.join(fits)}.")
    return form.render(wanted)


def write(files: Files, out: Path, alone: bool) -> list[Path]:
    """Writes rendered files to `out`: one file, or a folder.

    :param alone: the folder must be new or empty, and appears with all files at once
    """
    if "" in files:
        if out.is_dir():
            raise SettingsError(f"{opt('out')} must be a file, but {out} is a folder.")
        write_whole(out, files[""])
        return [out]
    if out.exists() and (not out.is_dir() or (alone and any(out.iterdir()))):
        raise SettingsError(f"{out} exists already and was not changed", fix=f"choose another {opt('out')} folder.")
    whole = out.resolve()  # `.` has no name
    place = beside(whole) if alone else out
    place.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_whole(place / name, content)
    if alone:
        if whole.exists():  # not replaced, as it may be the user's working directory: the files are moved into it
            for path in place.iterdir():
                path.rename(whole / path.name)
            place.rmdir()
        else:
            place.rename(whole)
    return [out / name for name in files]
