"""Messages to people: errors with parts, words, redaction."""

from __future__ import annotations

from blurb.messages.errors import (
    FIRST as FIRST,
    TEMPORARY as TEMPORARY,
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
    item_of as item_of,
    line_of as line_of,
    notify as notify,
    safe_message as safe_message,
    system_message as system_message,
    tell_damage as tell_damage,
    with_effect as with_effect,
    with_full_stop as with_full_stop,
)
from blurb.messages.spelling import (
    in_python as in_python,
    opt as opt,
    place_of_setting as place_of_setting,
)
from blurb.messages.text import (
    BLANKS as BLANKS,
    COMMANDS as COMMANDS,
    count_noun as count_noun,
    escape_controls as escape_controls,
    first_of as first_of,
    fold_name as fold_name,
    format_duration as format_duration,
    format_megabytes as format_megabytes,
    format_number as format_number,
    format_p as format_p,
    format_signed as format_signed,
    format_size as format_size,
    group_reasons as group_reasons,
    in_markdown as in_markdown,
    make_distinct as make_distinct,
    may_command_runner as may_command_runner,
    option_to_paste as option_to_paste,
    redact_secrets as redact_secrets,
    say_once as say_once,
)
