"""Text from the wire made safe to show: it cannot steer a terminal or hide."""

from __future__ import annotations

import json
from typing import Any

import msgspec


def printable(text: str) -> str:
    """The text; a character that a terminal would obey or hide is an escape (``\\x1b``)."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def compact_json(value: Any) -> str:
    """One line of JSON, safe on a terminal; escapes inside strings stay valid JSON."""
    try:
        text = msgspec.json.encode(value).decode()
    except (UnicodeEncodeError, OverflowError):  # characters that stand for no bytes
        plain = msgspec.to_builtins(value)
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    return printable_json(text)


def printable_json(text: str) -> str:
    """The same JSON, its own line ends kept, safe on a terminal: `printable` by JSON's escapes."""
    return "\n".join(map(_printable_line, text.split("\n")))


def _printable_line(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
