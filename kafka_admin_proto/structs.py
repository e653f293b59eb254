"""Structs that are decoded by msgspec, which any thread may do first."""

from __future__ import annotations

from typing import TypeVar

import msgspec

_T = TypeVar("_T")


def decodable(kind: type[_T]) -> type[_T]:
    """Decorate a struct so that msgspec makes what it has to know of the fields now.

    Else it does so with the first value that it decodes, and a thread that decodes one meanwhile
    finds half of that: the process ends with a segmentation fault (msgspec 0.22). Modules are
    imported by one thread at a time.
    """
    msgspec.json.Decoder(kind)
    return kind
