"""Read bodies into Arrow without a Python object for each field.

A codec's tree becomes one function that scans a body's bytes and appends each piece to its column
(`tree`). When all rows are read, numpy and Arrow build the arrays. A row with damaged bytes is
removed from all columns, and the codec then raises the error for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from kafka_admin_proto.codec import Codec
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.spark.columns.leaves import Shown
from kafka_admin_proto.spark.columns.tree import columns_of
from kafka_admin_proto.wire.emit.compiled import compile_function
from kafka_admin_proto.wire.emit.emitters import ReadEmitter


class Columns(NamedTuple):
    """The result of reading some rows.

    ``values`` has a struct for each row that could be read, in order; ``rows`` are the indices of
    those rows, and ``errors`` has the errors of the others. ``invalid_utf8`` says that some text
    was not UTF-8.
    """

    values: pa.StructArray
    rows: list[int]
    errors: dict[int, DecodeError]
    invalid_utf8: bool


def read_columns(
    codec: Codec[Any], bodies: Sequence[bytes], type_: pa.StructType, *, mask: bool
) -> Columns:
    """Read bodies of one message and version into structs of ``type_``.

    ``mask`` hides secrets, the records of the metadata topic among them.
    """
    columns = columns_of(codec.grammar)
    read = _factory(codec)(dict(columns.sinks()))
    rows: list[int] = []
    errors: dict[int, DecodeError] = {}
    for row, body in enumerate(bodies):
        try:
            whole = read(body) == len(body)
        except Exception:  # the codec raises the error with path and offset
            whole = False
        if whole:
            rows.append(row)
        else:
            columns.undo(len(rows))
            errors[row] = _why(codec, body)
    shown = Shown(mask=mask)
    hidden = np.zeros(len(rows), bool) if mask and codec.grammar.holds_records else None
    values = columns.build(len(rows), type_, shown, hidden)
    return Columns(values, rows, errors, shown.invalid_utf8)


def source(codec: Codec[Any]) -> str:
    """The Python source of the function that scans a body."""
    return _emitted(codec)[0]


def _emitted(codec: Codec[Any]) -> tuple[str, dict[str, Any]]:
    """The source of a function that makes the reader for given sinks, and its constants."""
    columns = columns_of(codec.grammar)
    e = ReadEmitter()
    e.line("p = 0")
    columns.emit(e)
    e.line("return p")
    names = [f"    {name} = sinks[{name!r}]" for name, _ in columns.sinks()]
    body = [f"    {line}" for line in e.lines]
    lines = ["def make(sinks):", *names, "    def read(b):", *body, "    return read", ""]
    return "\n".join(lines), e.namespace()


@lru_cache(maxsize=1024)
def _factory(codec: Codec[Any]) -> Any:
    text, constants = _emitted(codec)
    return compile_function("make", text, f"columns of {codec.grammar.title}", constants)


def _why(codec: Codec[Any], body: bytes) -> DecodeError:
    try:
        codec.decode(body)
    except DecodeError as error:
        return error
    return DecodeError(
        "the codec reads it and its columns do not; please report this", message=codec.grammar.title
    )
