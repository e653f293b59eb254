"""Each row of the scalar types beside the class of its bytes, and walks that know every kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_admin_proto import codec
from kafka_admin_proto.schema.scalars import SCALARS
from kafka_admin_proto.testing.strategies import wire_values
from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.fixed import FixedType
from kafka_admin_proto.wire.types.scalar import ScalarType, scalar_type
from kafka_admin_proto.wire.types.tagged import TagHeader
from kafka_admin_proto.wire.visitor import Visitor


@pytest.mark.parametrize("name", SCALARS)
def test_a_row_and_its_class_agree(name: str) -> None:
    row, found = SCALARS[name], scalar_type(name)
    assert (row.name, found.scalar) == (name, row)
    assert isinstance(found, FixedType) == bool(row.code)
    assert hasattr(found, "nullable") == row.has_length
    assert isinstance(row.sample, row.python_type)
    assert row.sample != row.default
    data = found.build(row.sample)
    assert found.parse(data) == row.sample
    assert row.code == "?" or len(set(data)) > 1 or len(data) == 1
    if row.bounds is not None:
        assert [found.parse(found.build(bound)) for bound in row.bounds] == [*row.bounds]


def test_types_are_shared() -> None:
    assert scalar_type("int32") is scalar_type("int32")
    assert scalar_type("string", compact=True) is not scalar_type("string")


class Unheard(WireType):
    """A kind that no walk knows."""

    label = "UNHEARD_OF"


class Unnumbered(ScalarType):
    """A scalar type whose values have a type that no strategy is known for."""

    def __init__(self) -> None:
        super().__init__("bool")
        self.scalar = type(self.scalar)(
            name="odd", label="ODD", python_type=complex, arrow="null", default=0j, sample=1j
        )


def test_a_walk_names_what_it_does_not_know() -> None:
    with pytest.raises(TypeError, match="ValuesOf has no rule for UNHEARD_OF"):
        wire_values(Unheard())
    array = Array(Unheard(), compact=False, nullable=False)
    with pytest.raises(TypeError, match="ValuesOf has no rule for UNHEARD_OF"):
        wire_values(array)
    with pytest.raises(TypeError, match="ValuesOf has no rule for TAGGED_FIELDS"):
        wire_values(TagHeader())
    with pytest.raises(TypeError, match="no strategy for values of odd, complex"):
        wire_values(Unnumbered())


@pytest.mark.parametrize(
    "method",
    ["struct", "nullable_struct", "array", "blob", "scalar", "tag_header", "raw_tag", "other"],
)
def test_a_walk_without_a_method_refuses_its_kind(method: str) -> None:
    refuse: Any = getattr(Visitor[None, None](), method)
    with pytest.raises(TypeError, match="Visitor has no rule for UNHEARD_OF"):
        refuse(Unheard(), None)


def test_children_reach_every_type_of_a_message() -> None:
    def below(wire_type: WireType) -> Iterator[WireType]:
        yield wire_type
        for child in wire_type.children():
            yield from below(child)

    found = [each.describe() for each in below(codec("FetchResponse", 16).grammar)]
    assert "COMPACT_NULLABLE_RECORDS" in found
    assert "UUID" in found
    # Tagged fields are there too.
    assert "COMPACT_ARRAY of NodeEndpoint" in found
    assert found.count("EpochEndOffset") == 1
