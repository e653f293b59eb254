"""Results of items that may fail one by one, as helpers of several operations see them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol, TypeVar

import msgspec


class ItemResult(Protocol):
    """What an operation returns for one of its items: a struct with these and more fields."""

    @property
    def error(self) -> str | None: ...

    @property
    def message(self) -> str | None: ...


K = TypeVar("K", bound=Hashable)
R = TypeVar("R", bound=ItemResult)


def replaced(result: R, **fields: object) -> R:
    """A copy of a result with other values of some fields."""
    # R is bound to a protocol, of which mypy cannot know that its classes are Structs.
    copy: R = msgspec.structs.replace(result, **fields)  # type: ignore[type-var]
    return copy
