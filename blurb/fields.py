"""Fields: type, bounds and choices of a value, declared once for TOML keys, settings and options."""

from __future__ import annotations

import builtins
import functools
import inspect
import numbers
import operator
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from blurb.messages import BlurbError, ErrorCollector, SettingsError, UnknownName
from blurb.names import resolve_name

T = TypeVar("T")
F = TypeVar("F", bound="Field")
LARGEST = 1e300
"""Maximum of any number; rules out infinity, NaN and integers too large for a float."""
SHOWN = 60
"""Characters of a wrong value in a message."""
KINDS: Mapping[type, tuple[str, type]] = {
    float: ("a number", numbers.Real),
    int: ("a whole number", numbers.Integral),
    str: ("a text", str),
    bool: ("true or false", bool),
    list: ("a list", list),
    dict: ("a table", dict),
    object: ("no empty text or list", object),
}
"""Type -> how a message calls it, and the types that are taken for it."""


@dataclass(frozen=True)
class Field:
    """The type, bounds and choices of a value.

    :param kind: its type; `object` for any
    :param low, above, below, most: bounds of a number: at least, above, below, at most
    :param unit: of the number, for messages
    :param but: a number outside of the bounds that is allowed, and what it means
    :param words: texts that are allowed beside `kind`
    :param choices: its values, if they are names; also a function that finds them
    :param noun: kind of these names; of a table, that of its keys
    :param aliases: what people call the keys of the table -> the key
    :param rule: what else must hold, and `must` in words: the rest of a sentence
    :param keys: of the table, or of each table of the list; one field is that of any key
    :param parse: makes the value of what was given
    :param required: whether a table without it is refused
    :param optional: whether it may be None
    :param many: whether it is a list of such values
    :param filled: whether an empty text is refused, and an empty list that is not one of `many` values
    :param group: subject in help texts
    :param help: what it does, and the meaning of special values
    """

    kind: type = float
    low: float | None = None
    above: float | None = None
    below: float | None = None
    most: float | None = None
    unit: str = ""
    but: tuple[float, str] | None = None
    words: tuple[str, ...] = ()
    choices: Collection[str] | Callable[[], Collection[str]] = ()
    noun: str = ""
    must: str = ""
    rule: Callable[[Any], bool] | None = None
    aliases: Mapping[str, str] | None = None
    keys: Mapping[str, Field] | Field | None = None
    parse: Callable[[Any], Any] | None = None
    required: bool = False
    optional: bool = False
    many: bool = False
    filled: bool = False
    group: str = ""
    help: str = ""

    def value(self, name: str, given: Any, where: object = None) -> Any:
        """The value; a SettingsError or UnknownName, with all that it must be, if there is none."""
        checked = self.checked(name, given, where, alike=True)
        if self.parse is None or checked is None:
            return checked
        try:
            return self.parse(checked)
        except BlurbError as error:
            for each in getattr(error, "errors", (error,)):
                each.where = each.where or (f"{where}, {name}" if where else None)
            raise

    def checked(self, name: str, given: Any, where: object = None, alike: bool = False) -> Any:
        """The given value in the right type and spelling, before it is parsed.

        :param alike: whether a choice may be spelled in other letters; not where the value goes on as it was given
        """
        if (given is None and self.optional) or given in self.words:
            return given
        in_list = self.many and self.kind is not object
        if in_list and isinstance(given, Collection) and not isinstance(given, str):
            return tuple(
                replace(self, many=False).checked(name, each, where, alike) for each in given
            )
        several = given if isinstance(given, list | tuple) else [given]
        if any("\0" in str(each) for each in several if isinstance(each, str | PurePath)):
            raise SettingsError(f"{name} must be without the character U+0000.", where=where)
        known = self.choices() if callable(self.choices) else self.choices
        fits = not in_list and self._is_kind(given)
        if fits and known:
            given = resolve_name(given, known) if alike else given
            if self.noun and given not in known:
                raise UnknownName(self.noun, given[:SHOWN], known, where=where)
        must = ""
        if not fits or (given not in known if known else not self._is_within(given)):
            of_kind = "" if fits else f"{'a list, each ' * in_list}{KINDS[self.kind][0]}, "
            must = f"one of {', '.join(known)}" if known else self.bounds
            must = f"be {of_kind}{must}".replace(", ,", ",").removesuffix(", ")
        elif self.rule is not None and not self.rule(given):
            must = self.must
        if must:
            raise SettingsError(f"{name} must {must} (got {repr(given)[:SHOWN]}).", where=where)
        return float(given) if self.kind is float else given

    def _is_kind(self, given: Any) -> bool:
        if self.filled and isinstance(given, (str, list, tuple)) and not given:
            return False
        right = isinstance(given, KINDS[self.kind][1]) and (
            self.kind in (bool, object) or not isinstance(given, bool)
        )
        return right and (self.kind is not float or abs(given) <= LARGEST)

    @property
    def _limits(self) -> list[tuple[str, float, Callable[[Any, Any], bool]]]:
        """The bounds that there are, in words and as comparisons."""
        limits = (
            ("at least", self.low, operator.ge),
            ("above", self.above, operator.gt),
            ("below", self.below, operator.lt),
            ("at most", self.most, operator.le),
        )
        return [(word, bound, holds) for word, bound, holds in limits if bound is not None]

    def _is_within(self, given: Any) -> bool:
        special = self.but is not None and given == self.but[0]
        return special or all(holds(given, bound) for _, bound, holds in self._limits)

    @property
    def bounds(self) -> str:
        """The bounds of a number in words; "" without any."""
        words = " and ".join(f"{word} {bound:,}" for word, bound, _ in self._limits)
        special = [] if self.but is None else [f"{self.but[0]:g} for {self.but[1]}"]
        return ", or ".join([words + self.unit, *special, *self.words])


def _are_texts(given: Any) -> bool:
    return isinstance(given, str) or (
        isinstance(given, list) and all(isinstance(each, str) for each in given)
    )


SPREAD = Field(above=0, most=100, unit=" points")
"""A standard deviation between runs, or a difference to find."""
TEXTS = Field(object, must="be a text or a list of texts", rule=_are_texts)
POINTS = Field(low=0, unit=" points")
"""A drop or a difference of scores."""


def declare_field(default: Any, about: Field) -> Any:
    """A field of a frozen data class with what its value may be; `kind` and `optional` are those of its annotation.

    :param default: `dataclasses.MISSING` for one that must be given
    """
    given: dict[str, Any] = {"default_factory": dict} if default == {} else {"default": default}
    return field(**given, metadata={"field": about})


class _Names(dict[str, Any]):
    """Any stands for types that are imported for type checkers alone."""

    def __missing__(self, name: str) -> Any:
        return Any


def hints(owner: Any) -> dict[str, Any]:
    """The annotations of a function, or of a data class and its bases, as types; nothing is imported for them."""
    evaluated: dict[str, Any] = {}
    for each in reversed(owner.__mro__) if isinstance(owner, type) else (owner,):
        names = _Names({**vars(builtins), **vars(sys.modules[each.__module__])})
        evaluated |= {
            name: _evaluate_hint(text, names) if isinstance(text, str) else text
            for name, text in inspect.get_annotations(each).items()
        }
    return evaluated


def _evaluate_hint(text: str, names: _Names) -> Any:
    try:
        return eval(text, {}, names)
    except Exception:  # noqa: BLE001 - of a stranger's function: what needs more than names is checked by nobody
        return Any


@functools.cache
def of(kind: type[Any]) -> dict[str, Any]:
    """The declared fields of a data class by name."""
    types = hints(kind)
    declarations = {each.name: each.metadata.get("field") for each in fields(kind)}
    return {
        name: with_annotation_type(about, types[name])
        for name, about in declarations.items()
        if about is not None
    }


def types_of(hint: Any) -> tuple[Any, ...]:
    """The types of a union in their order, or the one type."""
    return get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else (hint,)


def _is_of_type(hint: Any, given: Any) -> bool:
    """Whether a value, and what it has in it, is of a type."""
    parts = given.values() if isinstance(given, Mapping) else given
    return any(
        each in (Any, Ellipsis)
        or (
            isinstance(given, numbers.Real if each is float else get_origin(each) or each)
            and not (get_args(each) and isinstance(given, str))  # a text is no list of its letters
            and all(_is_of_type(inside, part) for inside in get_args(each)[-1:] for part in parts)
        )
        for each in types_of(hint)
    )


def with_annotation_type(about: F, hint: Any) -> F:
    """A field with the type of its annotation: the first of several, if it is a number or a flag, else all."""
    types = types_of(hint)
    many = get_origin(types[0]) in (Sequence, tuple)
    first = get_args(types[0])[0] if many else types[0]
    texts = bool(about.choices) or {first, *types[1:]} <= {str, NoneType}
    kind = first if first in (int, float, bool) else str if texts else object
    if kind is object and about.rule is None:
        about = replace(
            about,
            rule=functools.partial(_is_of_type, hint),
            must=f"be of type {re.sub(r'[a-z_]+[.]', '', str(hint))}",
        )
    return replace(about, kind=kind, optional=NoneType in types, many=many or about.many)


def check_fields(values: Any) -> None:
    """Raises a BlurbError, with all that is wrong, unless the declared fields of a data class may have their values."""
    errors = ErrorCollector()
    _check_all(values, errors)
    errors.stop()


def drop_invalid(values: T, errors: ErrorCollector) -> T:
    """An instance of a data class with defaults in the place of what its fields may not be, which goes to `errors`."""
    wrong = _check_all(values, errors)
    declared = fields(values)  # type: ignore[arg-type]
    defaults = {each.name: each.default for each in declared if each.name in wrong}
    return replace(values, **defaults)  # type: ignore[type-var]


def _check_all(values: Any, errors: ErrorCollector) -> list[str]:
    """The names of the declared fields that may not have their values; the faults go to `errors`."""
    wrong = []
    for name, about in of(values.__class__).items():
        before = len(errors.errors)
        with errors:
            about.checked(name, getattr(values, name))
        wrong += [name] * (len(errors.errors) > before)
    return wrong


def read_table(
    content: Mapping[str, Any], table: Field, where: object, errors: ErrorCollector, under: str = ""
) -> dict[str, Any]:
    """The good values of a table; all faults go to `errors`.

    :param where: file of the table
    :param under: key of the table in the file
    """
    place = f"{where}, {under}" if under else where
    keys = dict.fromkeys(content, table.keys) if isinstance(table.keys, Field) else table.keys or {}
    good: dict[str, Any] = {}
    for name, given in content.items():
        if name not in keys:
            errors.add(UnknownName(table.noun or "key", name, keys, table.aliases, where=place))
            continue
        with errors:
            about, before = keys[name], len(errors.errors)
            if about.keys is not None:
                about.checked(name, given, place)
                inside = f"{under}.{name}" if under else name
                tables = given if isinstance(given, list) else [given]
                parts = [read_table(each, about, where, errors, inside) for each in tables]
                given = parts if isinstance(given, list) else parts[0]
            if len(errors.errors) == before or about.parse is None:
                value = about.value(name, given, place)
                good |= {} if value is None else {name: value}
    for name, about in keys.items():
        if about.required and name not in content:
            errors.add(SettingsError(f"'{name}' is missing.", where=place))
    return good
