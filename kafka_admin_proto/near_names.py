"""Names that are like one that nothing has: what a complaint about it asks for."""

from __future__ import annotations

from collections.abc import Iterable


def near_names(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """The ``most`` names that resemble ``name`` most, the nearest first."""
    import difflib  # only for the complaint

    return difflib.get_close_matches(name, list(names), n=most)


def did_you_mean(near: Iterable[str]) -> str:
    """The end of a complaint: "; did you mean a, b?", or nothing where nothing is near."""
    names = ", ".join(near)
    return f"; did you mean {names}?" if names else ""
