"""`blurb.score`: BLURB's metric for predictions of any tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from blurb import records
from blurb.messages import DataError, ErrorCollector, SettingsError, item_of, notify, opt
from blurb.options import Option
from blurb.planning.options import OUTPUT, SUITE
from blurb.planning.steps import find_folders
from blurb.records import Tabular, make_frame
from blurb.scoring import batch, columns, files, scores, storing
from blurb.scoring.batch import Replies
from blurb.scoring.files import ENDINGS
from blurb.scoring.scores import MatchedAnswers, Score, ScoreLine
from blurb.scoring.values import Reading
from blurb.store.row_trials import TRAINED_ON
from blurb.system.files import open_ordinary
from blurb.system.text_files import HEAD_BYTES, refuse_binary
from blurb.tasks import (
    SCORED,
    TWELVE,
    ScoredSplit,
    Task,
    is_of,
    known_task,
    load_selection,
    load_suite,
)

if TYPE_CHECKING:
    from pandas import DataFrame

Predictions: TypeAlias = Path | str | Mapping[str, Any] | Sequence[Any] | Sized | Replies
Names: TypeAlias = Mapping[str, str]


class Scores(Tabular, tuple["Score", ...]):
    """Scores of predictions, one per dataset; indexed by place or by the name of the dataset."""

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, str):
            return item_of({each.task.name: each for each in self}, place)
        return super().__getitem__(place)

    def to_pandas(self) -> DataFrame:
        """One line a dataset, with the columns of `blurb score --format csv`."""
        return make_frame([records.of(ScoreLine, each) for each in self])

    def __repr__(self) -> str:
        return f"<Scores: {', '.join(f'{each.task.name} {each.score:.2f}' for each in self)}>"


def score(
    task: Annotated[
        str | None,
        Option(
            help="Dataset of the file: a name or a task file; of answers of a batch, all.",
            complete="one_task",
        ),
    ],
    predictions: Annotated[
        Predictions,
        Option(
            help="File, or a folder with a file a dataset; repeatable.", many=True, metavar="PATH"
        ),
    ],
    data: Annotated[
        Path | str | None, Option(help="Folder of the datasets, which have the gold answers.")
    ] = None,
    *,
    suite: Annotated[str, SUITE] = "blurb",
    split: Annotated[
        ScoredSplit, Option(help="Split of the predictions.", choices=SCORED)
    ] = "test",
    file_format: Annotated[
        str | None,
        Option(
            help="Format of the file.  [default: by its ending]",
            choices=("conll", "tsv", "csv", "jsonl", "json", "parquet"),
        ),
    ] = None,
    scheme: Annotated[
        str | None,
        Option(
            help="Tagging scheme: io, bio, iob1, bioul or iobes.  [default: by the letters of the tags]"
        ),
    ] = None,
    names: Annotated[
        Names | None,
        Option(
            help="Label in the file and label of the task; repeatable.",
            flag="--map",
            metavar="NAME=LABEL",
        ),
    ] = None,
    column: Annotated[
        str | None,
        Option(
            help="Column of the predictions, in CoNLL its number.  [default: prediction]",
            metavar="NAME",
        ),
    ] = None,
    add: Annotated[
        str | None, Option(help="Store the predictions as a trial of this model.", metavar="MODEL")
    ] = None,
    dev: Annotated[
        Predictions | None,
        Option(help="--add: predictions of the same model on dev; a file or folder."),
    ] = None,
    seed: Annotated[
        int | None,
        Option(
            help="Seed of that trial.  [default: that of a language model's shots, or 1]", low=1
        ),
    ] = None,
    trained_on: Annotated[
        str | None,
        Option(
            help="--add: what the model had met of these datasets before.  [default: unknown]",
            choices=tuple(TRAINED_ON),
        ),
    ] = None,
    gold_as_predictions: Annotated[
        bool, Option(help="--add: store answers even if all are equal to the gold answers.")
    ] = False,
    output: Annotated[Path | str, OUTPUT] = "runs",
) -> Scores:
    """Scores predictions that any tool made; nothing is trained, and no text is kept.

    :param task: name or task file; None for a folder of predictions with a file a dataset, named after it
    :param predictions: a file (CoNLL, TSV, CSV, JSON lines, Parquet, BLURB's submission form, answers of a batch
        service), a folder of such files, or a list of both as `Path`; from a script also id -> prediction, predictions
        in the order of the examples, or a table
    :param data: data folder in BLURB's layout
    :param suite: name or folder; "demo" for synthetic data
    :param file_format: conll, tsv, csv, jsonl, json or parquet; None goes by the ending
    :param scheme: tagging scheme; None goes by the letters of the tags
    :param names: label in the file -> label of the task, where the file has other names
    :param column: of the predictions, in CoNLL its number; None goes by the names (docs/score.md)
    :param add: name of a model, to which the predictions on test are added as a trial of a store
    :param dev: predictions of the same model on dev, which are stored beside those on test; a file, a folder, or as
        `predictions`
    :param seed: of that trial; None is that of the shots of a language model, else 1
    :param trained_on: what that model had met of these datasets before: "none", "texts" (without labels, or a corpus
        that very probably holds them), "train" or "test" (with labels), or "unknown"
    :param gold_as_predictions: store the predictions even if all are equal to the gold answers
    :param output: that store
    :raises DataError: (file, line) for answers that are missing, double, unknown or no answers to the task
    """
    if add is not None and split != "test":
        raise SettingsError(f"A trial needs predictions on test; leave out {opt('split')}.")
    if add is None:
        _refuse_given(
            {
                "dev": dev is not None,
                "trained-on": trained_on,
                "seed": seed,
                "gold-as-predictions": gold_as_predictions,
                "output": Path(output) != Path("runs"),
            },
            f"{{}} is of the trial that {opt('add')} stores",
            f"give {opt('add')}, too.",
        )
    suite = load_suite(suite).name
    unused = {"scheme": scheme, "map": names, "column": column, "file-format": file_format}
    pairs, dev_pairs = (
        _pair_tasks(task, predictions, unused, suite),
        [] if dev is None else _pair_tasks(task, dev, unused, suite),
    )
    kinds = [each.task_type for each, _ in pairs]
    _refuse_given(
        {
            "scheme": scheme and not any("tags" in kind.columns for kind in kinds),
            "map": names and not any(kind.has_labels for kind in kinds),
        },
        "These tasks have no use for {}",
    )
    names_of_test = [each.name for each, _ in pairs]
    if alone := [each.name for each, _ in dev_pairs if each.name not in names_of_test]:
        raise SettingsError(f"{', '.join(alone)}: there are predictions on dev and none on test.")
    folder, _ = find_folders(
        suite, None if data is None else Path(data), None, [each for each, _ in pairs]
    )
    form, reading = (file_format or "", column or ""), Reading(scheme or "", dict(names or {}))
    by_split: dict[ScoredSplit, list[tuple[Task, Predictions]]] = {"dev": dev_pairs, split: pairs}
    matched = _all_matched(
        by_split, form, folder, reading, add is not None, not gold_as_predictions
    )
    scored = Scores(scores.score(answers, path) for answers, path in matched[split])
    if add is not None:
        neighbours = {answers.formulation.task.name: answers for answers, _ in matched["dev"]}
        given_answers = [answers for answers, _ in matched[split]]
        seeds = {
            each.replies.manifest.seed
            for each in (*given_answers, *neighbours.values())
            if each.replies is not None
        }
        if len(seeds) > 1 and seed is None:
            raise SettingsError(
                "The shots of these answers were drawn with several seeds",
                fix=f"add each with a call, or say which seed they are: {opt('seed', '1')}.",
            )
        gone = storing.add(
            Path(output),
            add,
            seed or max(seeds, default=1),
            suite,
            given_answers,
            scored,
            neighbours,
            trained_on or "",
        )
        scored = Scores(replace(each, replaced=each.task.name in gone) for each in scored)
    return scored


def _all_matched(
    given: Mapping[ScoredSplit, Sequence[tuple[Task, Predictions]]],
    form: tuple[str, str],
    folder: Path,
    reading: Reading,
    adding: bool,
    refuse_gold: bool,
) -> dict[ScoredSplit, list[tuple[MatchedAnswers, Path]]]:
    """The answers of all files, or the errors of all.

    :param form: format of the files and column of the predictions; "" where they are not given
    :param adding: whether a request without any line is an error, since it can be asked again
    :param refuse_gold: whether the gold answers are an error: scripts write them by mistake, and no tool predicts them
    """
    wrong = ErrorCollector()
    matched: dict[ScoredSplit, list[tuple[MatchedAnswers, Path]]] = {}
    for split, pairs in given.items():
        matched[split] = []
        for task, each in pairs:
            with wrong:
                matched[split].append(_match_answers(task, each, form, folder, split, reading))
        for answers, path in matched[split]:
            if adding and (lost := answers.unanswered):
                wrong.add(
                    DataError(
                        f"{lost:,} of {len(answers.units):,} requests of {answers.formulation.task.name} have no line",
                        path,
                        fix="ask them again (send.py asks only these), and give all files of the answers.",
                    )
                )
            # Replies are tied to their requests by id, other answers are not.
            if adding and refuse_gold and answers.is_gold and answers.replies is None:
                wrong.add(
                    DataError(
                        f"all {len(answers.units):,} answers are equal to the gold answers of {split}",
                        path,
                        fix=f"if they are predictions, add {opt('gold-as-predictions')}.",
                    )
                )
    wrong.stop()
    return matched


def _pair_tasks(
    task: str | None, predictions: Predictions, unused: Mapping[str, Any], suite: str
) -> list[tuple[Task, Predictions]]:
    """The tasks with the given predictions of each, in the order of the paper's tables.

    :param unused: options without use for answers of a batch service
    :param suite: of the tasks
    """
    paths = _paths_of(predictions)
    if any(map(batch.batch_files, paths)):
        _refuse_given(unused, "Answers of a batch service have no use for {}")
        return [*_answered_tasks(batch.read(paths), task, suite)]
    if task is not None:
        if len(paths) > 1 or any(map(Path.is_dir, paths)):
            what = "several files are given" if len(paths) > 1 else "is a folder"
            raise SettingsError(
                f"{what}, and {opt('task')} is for one file",
                where=", ".join(map(str, paths)),
                fix=f"give a file, or leave {opt('task')} out and name the files after their datasets.",
            )
        chosen = load_selection(task, suite)
        if len(chosen) > 1:
            raise SettingsError(
                "Predictions are of one dataset",
                fix="give its name, or a folder with a file a dataset.",
            )
        return [(chosen[0], paths[0] if paths else predictions)]
    if len(paths) == 1 and paths[0].is_file():
        with open(paths[0], "rb", opener=open_ordinary) as file:
            refuse_binary(file.read(HEAD_BYTES), paths[0])
    if len(paths) < 2 and not any(map(Path.is_dir, paths)):
        raise SettingsError("Say of which dataset the predictions are", fix=f"give {opt('task')}.")
    files: dict[str, Path] = {}
    others: list[str] = []
    for path in (
        file for each in paths for file in (sorted(each.iterdir()) if each.is_dir() else [each])
    ):
        if path.name.startswith(".") or path.is_dir():
            continue
        named = known_task(path.stem.lower().replace("_", "-"))
        if named is not None and is_of(named, suite):
            if named.name in files:
                raise DataError(
                    f"a second file for {named.name}, beside {files[named.name].name}.", path
                )
            files[named.name] = path
        elif path in paths:
            raise DataError(
                "this file is not named after a dataset, such as ncbi-disease.conll.", path
            )
        elif path.suffix.lower() in ENDINGS:
            others.append(path.name)
    if files and others:
        notify(f"{paths[0]}: left out, as no dataset has these names: {', '.join(others)}.")
    if not files:
        raise DataError("no file is named after a dataset, such as ncbi-disease.conll.", paths[0])
    return [(each, files[each.name]) for each in load_selection(",".join(files), suite)]


def _refuse_given(options: Mapping[str, Any], what: str, fix: str = "leave it out.") -> None:
    """Raises a SettingsError that names the first of options that is given, if one is."""
    for name, value in options.items():
        if value:
            raise SettingsError(what.format(opt(name)), fix=fix)


def _paths_of(predictions: Predictions) -> list[Path]:
    """The given files and folders; none for predictions that a script gives directly."""
    if isinstance(predictions, Path | str):
        return [Path(predictions)]
    listed = predictions if isinstance(predictions, list | tuple) else ()
    return [Path(each) for each in listed] if all(isinstance(each, Path) for each in listed) else []


def _answered_tasks(
    by_task: Mapping[str, Replies], task: str | None, suite: str
) -> Iterator[tuple[Task, Replies]]:
    """The tasks with the answers of a batch service; a DataError for tasks that were not named, or have none."""
    wanted = (
        [
            name
            for name in by_task
            if (known := known_task(name)) is not None and is_of(known, suite)
        ]
        if task is None
        else task
    )
    chosen = {each.name: each for each in load_selection(wanted, suite)} if wanted else {}
    for name in (*by_task.keys() - chosen.keys(), *chosen.keys() - by_task.keys()):
        if name in by_task:
            raise by_task[name].first.error(
                f"this is an answer on {name}, which is not scored",
                f"name all datasets or task files of the answers: {opt('task', 'hoc,MINE.toml')}.",
            )
        if task not in ("all", TWELVE):
            raise next(iter(by_task.values())).first.error(
                f"there are no answers on {name}", "leave it out."
            )
    yield from ((each, by_task[name]) for name, each in chosen.items() if name in by_task)


def _match_answers(
    task: Task,
    given: Predictions,
    form: tuple[str, str],
    folder: Path,
    split: ScoredSplit,
    reading: Reading,
) -> tuple[MatchedAnswers, Path]:
    if isinstance(given, Replies):
        return scores.replied(task, given, folder, split), given.first.path
    if isinstance(given, Path | str):
        file = files.read(Path(given), task, *form)
    else:
        file = columns.from_python(given, task, form[1])
    return scores.matched(task, file, folder, split, reading), file.path
