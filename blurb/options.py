"""Options of commands, declared once: at a field of a data class, or in the annotations of a function.

What a parameter may be, its words in help, and its default are those of Python, command line and docs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields as dataclass_fields
from typing import Any, Literal, NamedTuple, get_args, get_origin

from blurb import fields

GROUPS = ("", "Tasks and data", "Protocol", "Model", "Trials", "Machine", "Results")
"""In the order of help, of the signature of `blurb.run` and of docs/reference.md."""


@dataclass(frozen=True)
class Option(fields.Field):
    """The command line's side of a field; `bool` is a flag.

    :param flag: if that is not the name with hyphens
    :param metavar: what help calls the value
    :param path: "dir" or "file" if a path that is there can be nothing else
    :param complete: function of `blurb.cli._complete` that completes values
    :param page: of docs/ that says more
    """

    filled: bool = True
    flag: str = ""
    metavar: str | None = None
    path: Literal["", "dir", "file"] = ""
    complete: str = ""
    page: str = ""


@dataclass(frozen=True)
class Argument(Option):
    """A value that is given by its place."""


class Parameter(NamedTuple):
    """An option of a function or a data class.

    :param default: `inspect.Parameter.empty` if it must be given
    """

    name: str
    hint: Any
    default: Any
    about: Option


def option(default: Any, group: str, help: str, **more: Any) -> Any:
    """A field of a frozen data class that commands offer as an option; fields of others are for Python alone.

    An empty text is refused unless it is the default.

    :param default: `dataclasses.MISSING` for one that must be given
    :param group: of `GROUPS`
    :param help: one or two sentences
    :param more: of `Option`
    """
    return fields.declare_field(
        default, Option(group=group, help=help, filled=default != "", **more)
    )


def option_parameters(source: Callable[..., Any] | type) -> dict[str, Parameter]:
    """The options of a data class in the order of their groups, or those in the annotations of a function."""
    return _class_parameters(source) if isinstance(source, type) else _function_parameters(source)


def _class_parameters(kind: Any) -> dict[str, Parameter]:
    declarations, hints, options = fields.of(kind), fields.hints(kind), []
    for each in dataclass_fields(kind):
        if isinstance(declarations.get(each.name), Option):
            default = {} if each.default_factory is dict else each.default
            default = inspect.Parameter.empty if default is MISSING else default
            options.append(Parameter(each.name, hints[each.name], default, declarations[each.name]))
    return {
        each.name: each for each in sorted(options, key=lambda each: GROUPS.index(each.about.group))
    }


def _function_parameters(function: Callable[..., Any]) -> dict[str, Parameter]:
    hints, options = fields.hints(function), {}
    for name, parameter in inspect.signature(function).parameters.items():
        hint, *more = get_args(hints[name]) if get_origin(hints.get(name)) is not None else (None,)
        about = next((each for each in more if isinstance(each, Option)), None)
        if about is not None:
            options[name] = Parameter(
                name, hint, parameter.default, fields.with_annotation_type(about, hint)
            )
    return options
