"""Version ranges as Kafka's definitions write them: ``3``, ``2-5``, ``4+``, ``none``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from kafka_admin_proto.errors import SchemaError

#: Highest version that an INT16 holds; a range that ends here is open ("4+").
MAX_VERSION = 32767


class VersionRange(Struct, frozen=True, gc=False):
    """All versions from ``lowest`` to ``highest``, both included; empty when lowest > highest.

    Same rules as ``org.apache.kafka.message.Versions``, except that a reversed range such as
    ``5-3`` is refused rather than read as empty.
    """

    lowest: int = 0
    highest: int = -1

    NONE: ClassVar[VersionRange]
    ALL: ClassVar[VersionRange]

    @classmethod
    def parse(cls, text: str) -> VersionRange:
        """Read ``3``, ``2-5``, ``4+`` or ``none``; raises SchemaError for anything else."""
        text = text.strip()
        if text == "none":
            return cls.NONE
        if text.endswith("+"):
            low, high = text[:-1], str(MAX_VERSION)
        else:
            low, dash, high = text.partition("-")
            high = high if dash else low
        if not (_is_number(low) and _is_number(high)) or int(high) > MAX_VERSION:
            raise SchemaError(
                f"{text!r} is not a version range",
                'write "3", "2-5", "4+" or "none", with versions from 0 to 32767',
            )
        if int(low) > int(high):
            raise SchemaError(f"version range {text!r} runs backwards", 'write "none" if empty')
        return cls(int(low), int(high))

    @classmethod
    def spanning(cls, versions: set[int]) -> VersionRange | None:
        """The range that holds exactly ``versions``; None when they have a gap."""
        if not versions:
            return cls.NONE
        low, high = min(versions), max(versions)
        return cls(low, high) if len(versions) == high - low + 1 else None

    @property
    def empty(self) -> bool:
        return self.lowest > self.highest

    @property
    def open_ended(self) -> bool:
        return self.highest == MAX_VERSION

    def __str__(self) -> str:
        if self.empty:
            return "none"
        if self.open_ended:
            return f"{self.lowest}+"
        return str(self.lowest) if self.lowest == self.highest else f"{self.lowest}-{self.highest}"

    def __contains__(self, version: int) -> bool:
        return self.lowest <= version <= self.highest

    def __iter__(self) -> Iterator[int]:
        """Each version, lowest first; for an open range that means up to 32767."""
        return iter(range(self.lowest, self.highest + 1))

    def __and__(self, other: VersionRange) -> VersionRange:
        low, high = max(self.lowest, other.lowest), min(self.highest, other.highest)
        return VersionRange(low, high) if low <= high else VersionRange.NONE

    def covers(self, other: VersionRange) -> bool:
        """Whether every version of ``other`` is in this range."""
        return other.empty or (self.lowest <= other.lowest and other.highest <= self.highest)


VersionRange.NONE = VersionRange()
VersionRange.ALL = VersionRange(0, MAX_VERSION)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5
