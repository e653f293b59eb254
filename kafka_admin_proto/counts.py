"""Numbers of things in sentences: "1 byte", "1200 bytes", and with commas for reports."""

from __future__ import annotations

#: Plurals whose singular takes off more than an s.
_SINGULARS = {"addresses": "address", "directories": "directory", "entries": "entry"}


def counted(count: float, things: str) -> str:
    """A number of things, given in the plural: "1 request", "1200 requests"."""
    return f"{count} {_things(count, things)}"


def with_commas(count: float, things: str) -> str:
    """The same for reports, whose numbers are large: "1 request", "1,200 requests"."""
    return f"{number(count)} {_things(count, things)}"


def number(value: float) -> str:
    return f"{value:,}"


def _things(count: float, things: str) -> str:
    if count != 1:
        return things
    return _SINGULARS.get(things) or things.removesuffix("s")
