"""Messages to people: errors with parts, words, redaction."""

from __future__ import annotations

from blurb.messages.errors import (
    FIRST as FIRST,
    BlurbError as BlurbError,
    DamageWarning as DamageWarning,
    DataError as DataError,
    ErrorCollector as ErrorCollector,
    ErrorGroup as ErrorGroup,
    ModelError as ModelError,
    Notice as Notice,
    SettingsError as SettingsError,
    StoreError as StoreError,
    Tell as Tell,
    TrainingError as TrainingError,
    UnknownName as UnknownName,
    ended as ended,
    followed as followed,
    item_of as item_of,
    line_of as line_of,
    notify as notify,
    safe_message as safe_message,
    tell_damage as tell_damage,
)
from blurb.messages.spelling import in_python as in_python, opt as opt, place as place
from blurb.messages.text import (
    BLANKS as BLANKS,
    COMMANDS as COMMANDS,
    distinct as distinct,
    duration as duration,
    escaped as escaped,
    first_of as first_of,
    folded as folded,
    grouped as grouped,
    in_markdown as in_markdown,
    may_command_runner as may_command_runner,
    megabytes as megabytes,
    number as number,
    once as once,
    option as option,
    plural as plural,
    probability as probability,
    redacted as redacted,
    signed as signed,
    size as size,
)
