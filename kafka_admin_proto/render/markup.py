"""Text that goes into markup, and pages whose policy lets only their own script run."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from typing import Any

from kafka_admin_proto.render.text import printable


def escaped(text: str, *, lines: bool = False) -> str:
    """The text for a place in markup or in a quoted attribute; it cannot steer the page or hide.

    ``lines`` keeps line ends.
    """
    shown = "\n".join(map(printable, text.split("\n"))) if lines else printable(text)
    return html.escape(shown)


def script_json(value: Any) -> str:
    """The value as JSON for a script element: no string in it ends or begins a tag."""
    text = json.dumps(value, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def page_template(name: str, *styles: str) -> str:
    """``page/<name>.html`` with its style and script put into it, and their hashes allowed.

    ``styles`` are names of further styles, which stand before its own.
    """
    page, script = page_file(f"{name}.html"), page_file(f"{name}.js")
    style = "".join(page_file(f"{each}.css") for each in (*styles, name))
    hashes = {"STYLE_HASH": _hash(style), "SCRIPT_HASH": _hash(script)}
    for key, text in {**hashes, "STYLE": style, "SCRIPT": script}.items():
        page = page.replace(f"%{key}%", text)
    return page


def page_file(name: str) -> str:
    return (files(__package__) / "page" / name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
