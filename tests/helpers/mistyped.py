"""Values of a wrong type, for tests of how the package refuses them."""

from __future__ import annotations

from typing import Any


def mistyped(value: object) -> Any:
    """The value as it is; type checkers accept it wherever a test passes it."""
    return value
