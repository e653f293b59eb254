"""What a store refuses, as one line: delta-rs says it in several, with XML among them."""

from __future__ import annotations

import re

_CODE = re.compile(r"<Code>([^<]*)</Code>")
_MESSAGE = re.compile(r"<Message>([^<]*)</Message>")
#: Stands before each cause of an error, the innermost last.
_CAUSE = "↳"
#: Stands before a list of what the cause in front of it is about, each with causes of its own.
_TRIED = " Attempted:"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def store_reason(text: str) -> str:
    """The innermost reason that an error names, on one line.

    What the outer ones add, the address of a request for one, may have a key in it. An answer in
    XML has other elements too.
    """
    code, message = _CODE.search(text), _MESSAGE.search(text)
    if code or message:
        return ": ".join(found[1].strip() for found in (code, message) if found)
    text = _COLOUR.sub("", text)
    # What was tried, one after the other, is no cause of one another.
    causes = text.partition(_TRIED)[0].split(_CAUSE)
    return causes[-1].strip().partition("\n")[0].strip()
