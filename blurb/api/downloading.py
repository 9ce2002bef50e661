"""Models for machines without network, for `blurb models download`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from blurb.messages.errors import ModelError, SettingsError, UnknownName
from blurb.system.files import nearest


@dataclass(frozen=True)
class Download:
    """A model, and what `blurb run` takes for it on a machine without network.

    :param model: as it was given
    :param run: what to give to `blurb run`: the folder, or the name of a model that is made on the spot
    :param repository: on the Hub; "" if it is not from there
    :param revision: hash of the commit; "" if it is not from the Hub
    :param size: bytes of its files
    :param status: what was done
    """

    model: str
    run: str
    repository: str = ""
    revision: str = ""
    size: int = 0
    status: Literal["downloaded", "there already", "nothing to fetch"] = "nothing to fetch"


@dataclass(frozen=True)
class _Wanted:
    """A model of the Hub that is not there yet.

    :param asked: the branch, tag or commit; "" for the default
    """

    model: str
    repository: str
    asked: str
    target: Path


def download_models(
    models: Sequence[str], to: Path, remote_code: bool = False, tell: Callable[[str], None] = lambda text: None
) -> list[Download]:
    """Fetches each model into a folder of its own; one that is there already is not fetched again.

    Nothing is fetched before all models were found, and unless there is room for all. A folder gets its name when it
    is complete.

    :param models: as for `blurb run`
    :param remote_code: also fetch the code of the checkpoints, without which some cannot run
    :param tell: is given what is being fetched
    :raises BlurbError: if a model is unknown or no checkpoint, the Hub does not answer, or `to` cannot be written
    """
    from blurb.checkpoints import hub
    from blurb.messages.text import size
    from blurb.planning.request import check_writable

    downloads = [_find(model, to, remote_code) for model in dict.fromkeys(models)]
    wanted = [each for each in downloads if isinstance(each, _Wanted)]
    _check_targets(wanted)
    check_writable(to=to)
    listings = {each: hub.listing(each.repository, each.asked or None, remote_code) for each in wanted}
    if wanted:
        total = sum(listing.size for listing in listings.values())
        _check_room(to, total)
        tell(f"{size(total)} to download to {to}")
    done = []
    for each in downloads:
        if isinstance(each, _Wanted):
            tell(f"{each.repository}: {size(listings[each].size)}, revision {listings[each].revision}")
            each = _fetch(each, listings[each].revision, remote_code)
        done.append(each)
    return done


def _find(model: str, to: Path, remote_code: bool) -> Download | _Wanted:
    """What can be said of a model without the Hub."""
    from blurb.checkpoints.references import default_name, folder_or_id
    from blurb.learners import building, is_named
    from blurb.learners.model_names import named_models

    made = [one.name for one in named_models() if one.kind != "preset"]
    if model.startswith(tuple(f"{name.partition(':')[0]}:" for name in made)):
        if model.partition(",")[0] not in made:
            raise UnknownName("model", model, made)
        if is_named(model):
            building.spelled(model)
        return Download(model, model)
    place = folder_or_id(model)
    if isinstance(place, Path):
        return Download(model, model)
    wanted = _Wanted(model, *place, to / default_name(model))
    return _there(wanted, remote_code) or wanted


def _there(wanted: _Wanted, remote_code: bool) -> Download | None:
    """A model that was downloaded before.

    :raises ModelError: if something else is in its place
    """
    from blurb.checkpoints import downloads

    target, repository, asked = wanted.target, wanted.repository, wanted.asked
    if not target.exists():
        return None
    record = downloads.read(target) if target.is_dir() else None
    elsewhere = "name another folder with --to"
    if record is None or record.repository.lower() != repository.lower():
        raise ModelError(f"{target} exists and is not a download of {repository}; {elsewhere}.")
    if asked and asked not in (record.asked, record.revision):
        raise ModelError(f"{target} has revision {record.revision} of {repository}, not {asked}; {elsewhere}.")
    again = "remove it and run the same command again"
    if lost := downloads.damaged(target, record):
        raise ModelError(f"{target} has changed since it was downloaded ({', '.join(lost)}); {again}.")
    if remote_code and not record.remote_code:
        raise ModelError(f"{target} was downloaded without the checkpoint's own code; {again}.")
    return Download(wanted.model, str(target), repository, record.revision, sum(record.sizes.values()), "there already")


def _check_targets(wanted: Sequence[_Wanted]) -> None:
    """Raises a SettingsError if two models would get the same folder."""
    by_target: dict[Path, str] = {}
    for each in wanted:
        if each.target in by_target:
            raise SettingsError(
                f"{by_target[each.target]} and {each.model} would both be {each.target}",
                fix="download them to two folders.",
            )
        by_target[each.target] = each.model


def _check_room(to: Path, total: int) -> None:
    """Raises a SettingsError if the disk has no room for so many bytes."""
    from blurb.messages.text import size

    free = shutil.disk_usage(nearest(to)).free
    if total > free:
        raise SettingsError(
            f"--to: the models need {size(total)}, but {to} has {size(free)} free; nothing was fetched."
        )


def _fetch(wanted: _Wanted, revision: str, remote_code: bool) -> Download:
    """Fetches the commit that was listed, so that all files are of one revision."""
    from blurb.checkpoints import Checkpoint, downloads, hub
    from blurb.system.files import new_folder

    wanted.target.parent.mkdir(parents=True, exist_ok=True)
    with new_folder(wanted.target) as aside:
        hub.fetch(wanted.repository, revision, remote_code, aside)
        shutil.rmtree(aside / ".cache", ignore_errors=True)  # notes of huggingface_hub on what it fetched
        try:
            Checkpoint(aside).check_files(with_tokenizer=False)  # some come without one, for --tokenizer
        except ModelError as error:
            raise ModelError(str(error).replace(str(aside), wanted.repository)) from None
        record = downloads.write(aside, wanted.repository, revision, wanted.asked, remote_code)
    size = sum(record.sizes.values())
    return Download(wanted.model, str(wanted.target), wanted.repository, revision, size, "downloaded")
