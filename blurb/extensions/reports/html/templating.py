"""What all pages share: escaping, and a content security policy that allows nothing but their own style and script."""

from __future__ import annotations

import base64
import hashlib

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(package: str = "blurb.extensions.reports.html", escape: bool = True) -> Environment:
    """Templates that escape every value, if they are no Markdown, and refuse names that are not defined."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def source(environment: Environment, *names: str) -> str:
    """Files of the templates' folder as they are, one after the other."""
    if environment.loader is None:  # never: for the type checker
        raise RuntimeError
    return "".join(environment.loader.get_source(environment, name)[0] for name in names)


def policy_hash(text: str) -> str:
    """The hash by which a content security policy allows a style or a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
