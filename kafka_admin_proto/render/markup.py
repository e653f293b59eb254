"""Text that goes into markup, and pages whose own policy lets nothing but their own script run."""

from __future__ import annotations

import base64
import hashlib
import html
from importlib.resources import files

from kafka_admin_proto.render.text import printable


def escaped(text: str, *, lines: bool = False) -> str:
    """The text for a place in markup or in a quoted attribute; nothing in it steers or hides.

    ``lines`` keeps line ends.
    """
    shown = "\n".join(map(printable, text.split("\n"))) if lines else printable(text)
    return html.escape(shown)


def page_template(name: str) -> str:
    """``page/<name>.html`` with its style and script put into it, and their hashes allowed."""
    folder = files(__package__) / "page"
    page, style, script = (
        (folder / f"{name}.{ending}").read_text("utf-8") for ending in ("html", "css", "js")
    )
    hashes = {"STYLE_HASH": _hash(style), "SCRIPT_HASH": _hash(script)}
    for key, text in {**hashes, "STYLE": style, "SCRIPT": script}.items():
        page = page.replace(f"%{key}%", text)
    return page


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
