"""Uniform formatting of differences, p-values, counts and labels.

And options as the reader of a message writes them: `--tasks gad` in a shell, `tasks="gad"` in Python.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from blurb.grouping import by_key

COMMANDS = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)
"""Control characters but tabulator and line feed, separators of lines, and marks of direction; halves of characters."""
RUNNER = re.compile(r"^([^\S\n]*)(:(?=:)|#(?=#\[))", flags=re.MULTILINE)
"""Beginnings of lines that GitHub's runner takes for commands."""


def make_distinct(labels: Sequence[str], extras: Sequence[Sequence[str]]) -> list[str]:
    """Makes equal labels distinct by adding extras, one after the other.

    :param extras: for each label the same number of texts, in the order of addition; "" adds nothing

    >>> make_distinct(["m", "m", "n"], [("bf16", "1"), ("bf16", "2"), ("bf16", "3")])
    ['m 1', 'm 2', 'n']
    """
    texts = list(labels)
    for column in zip(*extras, strict=True):
        alike: dict[str, set[str]] = {}
        for label, extra in zip(texts, column, strict=True):
            alike.setdefault(label, set()).add(extra)
        texts = [
            f"{label} {extra}" if extra and len(alike[label]) > 1 else label
            for label, extra in zip(texts, column, strict=True)
        ]
    return texts


BLANKS = re.compile(r"^[\s\u200b\u2060\ufeff]+|[\s\u200b\u2060\ufeff]+$")
"""Invisible characters at the ends of a text: blanks, also those without width, and a byte order mark."""


def fold_name(name: str) -> str:
    """A name as names are compared that people type: `NCBI_disease` is `ncbi-disease`."""
    return name.lower().replace("_", "-")


def format_number(value: float | None, write: Callable[[float], str] = "{:.2f}".format) -> str:
    """A number with two digits, or as it is to be written; nothing for None."""
    return "" if value is None else write(value)


def format_signed(value: float, digits: int = 2) -> str:
    """A difference with its sign; without sign if it rounds to 0.

    >>> format_signed(0.5), format_signed(-0.004), format_signed(-0.006)
    ('+0.50', '0.00', '-0.01')
    """
    text = f"{value:+.{digits}f}"
    return text if float(text) else text[1:]


def option_to_paste(name: str, place: object, default: object = None) -> str:
    r"""An option of a command to paste, with a blank before it; nothing if it is the default.

    >>> print(option_to_paste("--output", "q'uote"), option_to_paste("--output", "runs", "runs") == "")
     --output 'q'"'"'uote' True
    """
    return "" if str(place) == str(default) else f" {name} {shlex.quote(str(place))}"


def escape_controls(text: str) -> str:
    """Text of strangers without characters that command a terminal or turn a line around; they are shown as escapes.

    >>> escape_controls("a\\x1b[31mb\\n"), escape_controls(" ::add-mask::x")
    ('a\\\\x1b[31mb\\n', ' \\\\x3a:add-mask::x')
    """
    text = COMMANDS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
    if not may_command_runner(text):
        return text
    return RUNNER.sub(lambda found: f"{found[1]}\\x{ord(found[2]):02x}", text)


def may_command_runner(text: str) -> bool:
    """Whether a line of a text may be a command of GitHub's runner, such as `::add-mask::x` or `##[error]x`."""
    return "::" in text or "##[" in text


def in_markdown(text: str) -> str:
    r"""Text on one line that is nothing but text in Markdown, a table's cell included: no link, picture or mention.

    >>> print(in_markdown("a_b | <c> ![x](http://y) run@100 @me"))
    a\_b \| \<c\> !\[x\](http:\//y) run@100 @&#8203;me
    """
    text = re.sub(r"([\\`*_\[\]<>|~&]|^#)", r"\\\1", " ".join(text.split()))
    # A blank of no width ends the mention of a user.
    text = re.sub(r"(?<!\w)@(?=\w)", "@&#8203;", text)
    return text.replace("://", r":\//").replace("www.", r"www\.")


def format_p(p: float | None) -> str:
    """A p-value; "" for None."""
    return "" if p is None else f"{p:.3f}" if p >= 0.001 else "<0.001"


def count_noun(count: int, name: str) -> str:
    """A number with a noun in singular or plural.

    >>> count_noun(1, "trial"), count_noun(2_000, "trial")
    ('1 trial', '2,000 trials')
    """
    return f"{count:,} {name}" if count == 1 else f"{count:,} {name}s"


def first_of(names: Sequence[str], most: int) -> str:
    """The first names of a list, and dots for others.

    >>> first_of(["a", "b", "c"], 2), first_of(["a", "b"], 2)
    ('a, b, ...', 'a, b')
    """
    return ", ".join([*names[:most], *(["..."] if len(names) > most else [])])


def say_once(said: Iterable[tuple[str, str]], count: int) -> list[str]:
    """Each sentence once: alone if it holds of all, else after the names of all that it holds of.

    :param count: how many there are

    >>> say_once([("a", "Synthetic."), ("a", "Two seeds."), ("b", "Synthetic.")], 2)
    ['Synthetic.', 'a: Two seeds.']
    """
    names = by_key((sentence, name) for name, sentence in said)
    return [
        text if len(those) == count else f"{', '.join(those)}: {text}"
        for text, those in names.items()
    ]


def group_reasons(reasons: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each reason, with all that it holds of; the reasons are no columns, so that a table stays narrow.

    >>> group_reasons([("a", "missing"), ("b", ""), ("c", "missing"), ("d", "damaged.")])
    ['a, c: missing.', 'd: damaged.']
    """
    names = by_key((reason, name) for name, reason in reasons)
    return [
        f"{', '.join(those)}: {reason.rstrip('.')}." for reason, those in names.items() if reason
    ]


def format_duration(seconds: float) -> str:
    """A time in readable units.

    >>> tuple(map(format_duration, (0.2, 89.6, 600, 5_000, 6_000, 400_000)))
    ('1 s', '90 s', '10 min', '83 min', '1 h 40 min', '111 h')
    """
    if seconds < 99.5:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return (
        f"{minutes // 60} h {minutes % 60:02d} min"
        if minutes < 24 * 60
        else f"{round(minutes / 60)} h"
    )


def format_megabytes(count: float) -> str:
    """Bytes in MB, without the unit."""
    return f"{count / 1e6:,.1f}"


def format_size(count: float) -> str:
    """Bytes in readable units.

    >>> format_size(300), format_size(2_500_000), format_size(12_300_000_000)
    ('0.0 MB', '2.5 MB', '12.3 GB')
    """
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.0f} MB" if count >= 1e7 else f"{count / 1e6:.1f} MB"


HIDDEN = "***"
LOGIN = re.compile(r"(?<=://)(?:[^/\s'\"]+|[^/\s@:'\"]*:[^\s'\"]*)(?=@)")
"""Up to the last `@`; a password may have a slash in it, although it ought to be written as %2F there."""
QUERY = re.compile(
    r"([?&][\w-]*(?:token|secret|password|passwd|signature|credential|api_?key|access_?key|sig)=)[^&\s'\"]+",
    re.IGNORECASE,
)
TOKEN = re.compile(r"\b(?:hf_[A-Za-z0-9]{16,}|gh[a-z]_[A-Za-z0-9]{16,}|Bearer\s+[\w.~+/=-]{8,})")
NAMED = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|CREDENTIAL", re.IGNORECASE)
SHORTEST = 8
"""Characters of a variable's value from which it is hidden: `true` and `1` are no secrets."""


def redact_secrets(text: str) -> str:
    """The text with `***` in place of every secret that can be told from its form, or that a variable holds.

    >>> redact_secrets("https://me:word@example.org/x?token=abc&page=2")
    'https://***@example.org/x?token=***&page=2'
    """
    for name, value in os.environ.items():
        if len(value) >= SHORTEST and NAMED.search(name) and value in text:
            text = text.replace(value, HIDDEN)
    if "://" in text:
        text = QUERY.sub(rf"\g<1>{HIDDEN}", LOGIN.sub(HIDDEN, text))
    return TOKEN.sub(HIDDEN, text)


_python = ContextVar("python", default=False)
KEYWORDS = {
    "print": "print_script",
    "map": "names",
    "models": "models_file",
    "allow-code": "allow",
    "from": "start",
}
"""Options whose keyword has another name."""


@contextmanager
def in_python() -> Iterator[None]:
    """Messages within are for who called a function of Python."""
    token = _python.set(True)
    try:
        yield
    finally:
        _python.reset(token)


def opt(name: str, value: object = "") -> str:
    """An option in a message, with its value if there is one.

    >>> print(opt("tasks", "gad"), opt("keep-model"), opt("set", "lr=1e-5"))
    --tasks gad --keep-model --set lr=1e-5
    >>> with in_python():
    ...     print(opt("tasks", "gad"), opt("keep-model"), opt("set", "lr=1e-5"), opt("seeds", 3))
    tasks="gad" keep_model= lr=1e-5 seeds=3
    """
    text = str(value)
    if not _python.get():
        return f"--{name} {text}".rstrip()
    if name == "set":
        return text if "=" in text else f"the keyword {text}".rstrip() if text else "a keyword"
    keyword = KEYWORDS.get(name, name).replace("-", "_")
    return f"{keyword}={text if text.isdecimal() or not text else json.dumps(text, ensure_ascii=False)}"


def place_of_setting(option: str) -> str:
    """Where a setting was given: its option; in Python nothing, as what is wrong with a keyword begins with "
    "its name."""
    return "" if _python.get() else option
