"""The leaderboard as one HTML file that needs no server, network or library (docs/extensions/reports.md).

Pages share escaping, and a content security policy that allows nothing but their own style and script.
"""

from __future__ import annotations

import base64
import hashlib
from typing import cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


def environment(package: str = "blurb.extensions.reports.html", html: bool = True) -> Environment:
    """Templates that escape every value, if they are no Markdown, and refuse names that are not defined."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def source(environment: Environment, *names: str) -> Markup:
    """Files of the templates' folder as they are, one after the other."""
    loader = cast(PackageLoader, environment.loader)
    return Markup("".join(loader.get_source(environment, name)[0] for name in names))


def policy_hash(text: str) -> str:
    """The hash by which a content security policy allows a style or a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def in_script(text: str) -> Markup:
    """JSON that cannot close the script element that it stands in."""
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
