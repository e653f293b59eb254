"""A slip: one thing that is wrong in the text of a definition, with its place."""

from __future__ import annotations

import msgspec


class Slip(msgspec.Struct, frozen=True, order=True):
    """A place in a text where it contradicts itself or leaves something out.

    ``line`` and ``column`` count from 1; ``rule`` is a short name of the kind of slip; ``remedy``
    says how the text is read in spite of it, or what to write.
    """

    line: int
    column: int
    rule: str
    fault: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.fault}; {self.remedy} [{self.rule}]"
