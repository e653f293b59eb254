"""The scalar types, a row each: all that is known of one outside the class that reads its bytes.

``CONTRIBUTING.md`` says how one is added.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from msgspec import Struct

ZERO_UUID = UUID(int=0)


class Scalar(Struct, frozen=True, kw_only=True):
    """One scalar type.

    ``name`` is the definitions' and ``label`` the protocol guide's, which the grammar notation
    uses. ``python_type`` are the values' type; ``bounds`` those of integers, both included.
    ``arrow`` is the name of pyarrow's function for the type of a column. ``code`` is that of
    ``struct``, where the size is fixed; ``has_length`` types have their length in front, and can
    be null. ``default`` is the value of a field whose definition names none, ``sample`` one that
    differs from it, with bytes that differ from each other.
    """

    name: str
    label: str
    python_type: type
    arrow: str
    default: Any
    sample: Any
    bounds: tuple[int, int] | None = None
    code: str = ""
    has_length: bool = False


#: By name. Arrow's types are those that Spark has: of unsigned integers the next larger ones.
SCALARS = {
    row.name: row
    for row in (
        Scalar(
            name="bool", label="BOOLEAN", python_type=bool, arrow="bool_", code="?",
            default=False, sample=True,
        ),
        Scalar(
            name="int8", label="INT8", python_type=int, arrow="int8", code="b",
            bounds=(-(1 << 7), (1 << 7) - 1), default=0, sample=0x12,
        ),
        Scalar(
            name="int16", label="INT16", python_type=int, arrow="int16", code="h",
            bounds=(-(1 << 15), (1 << 15) - 1), default=0, sample=0x1234,
        ),
        Scalar(
            name="uint16", label="UINT16", python_type=int, arrow="int32", code="H",
            bounds=(0, (1 << 16) - 1), default=0, sample=0xFEDC,
        ),
        Scalar(
            name="int32", label="INT32", python_type=int, arrow="int32", code="i",
            bounds=(-(1 << 31), (1 << 31) - 1), default=0, sample=0x12345678,
        ),
        Scalar(
            name="uint32", label="UINT32", python_type=int, arrow="int64", code="I",
            bounds=(0, (1 << 32) - 1), default=0, sample=0xFEDCBA98,
        ),
        Scalar(
            name="int64", label="INT64", python_type=int, arrow="int64", code="q",
            bounds=(-(1 << 63), (1 << 63) - 1), default=0, sample=0x123456789ABCDEF0,
        ),
        Scalar(
            name="float64", label="FLOAT64", python_type=float, arrow="float64", code="d",
            default=0.0, sample=0.1,
        ),
        Scalar(
            name="uuid", label="UUID", python_type=UUID, arrow="string", code="16s",
            default=ZERO_UUID, sample=UUID("01234567-89ab-cdef-fedc-ba9876543210"),
        ),
        Scalar(
            name="string", label="STRING", python_type=str, arrow="string", has_length=True,
            default="", sample="é",
        ),
        Scalar(
            name="bytes", label="BYTES", python_type=bytes, arrow="binary", has_length=True,
            default=b"", sample=b"\x01\xfe",
        ),
        Scalar(
            name="records", label="RECORDS", python_type=bytes, arrow="binary", has_length=True,
            default=None, sample=b"\x01\xfe",
        ),
    )
}  # fmt: skip
