"""What the scalar types share, and how a class is found for a type's name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from kafka_admin_proto.schema.scalars import SCALARS, Scalar
from kafka_admin_proto.wire.types.base import WireType

_CLASSES: dict[str, type[ScalarType]] = {}


class ScalarType(WireType):
    """A type without parts: a row of ``SCALARS``, and this class for its bytes.

    ``elements`` of a subclass are the names of the rows that it reads and writes.
    """

    def __init_subclass__(cls, *, elements: Sequence[str] = (), **more: Any) -> None:
        super().__init_subclass__(**more)
        for element in elements:
            _CLASSES[element] = cls

    def __init__(self, element: str) -> None:
        super().__init__()
        self.element = element
        self.scalar: Scalar = SCALARS[element]

    @classmethod
    def of(cls, element: str, *, compact: bool, nullable: bool) -> ScalarType:
        """The type of a field; one without a length is neither compact nor nullable."""
        return cls(element)

    def describe(self) -> str:
        return self.scalar.label


@cache
def scalar_type(element: str, *, compact: bool = False, nullable: bool = False) -> ScalarType:
    """The wire type of a scalar field, by the name of its row.

    KeyError for a name that no imported class reads; ``grammar`` imports them all.
    """
    return _CLASSES[element].of(element, compact=compact, nullable=nullable)
