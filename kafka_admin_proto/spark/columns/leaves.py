"""The columns of scalar fields: numbers, uuids, texts, bytes.

Each kind of column has three methods: ``emit`` emits the statements that read the next value from
the bytes ``b`` at ``p`` and store it, ``undo`` drops the values behind the first ``count``, and
``build`` makes the Arrow array. The statements call the functions of ``sinks`` by name. The names
depend on the message's tree alone, so that one source serves the columns of every batch.

Reading past the end is detected after a row: slices may be short, but ``p`` is then beyond the
data, and the row is undone.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa

from kafka_admin_proto.spark.columns import arrow_arrays as arrays
from kafka_admin_proto.spark.columns.types import ARROW_TYPES
from kafka_admin_proto.wire.emit.emitters import ReadEmitter
from kafka_admin_proto.wire.types.blobs import Blob, Records, String
from kafka_admin_proto.wire.types.fixed import FixedType
from kafka_admin_proto.wire.types.scalar import ScalarType

Names = Iterator[int]
Sink = Callable[..., Any]
_SIZES = {"b": 1, "B": 1, "h": 2, "i": 4}


class Shown:
    """How arrays are built: with secrets masked or not. Text that is not UTF-8 is noted here.

    The argument ``hidden`` of ``build`` says for each instance whether it is about the metadata
    topic, whose records hold credentials; it is None if the message has no records.
    """

    def __init__(self, *, mask: bool) -> None:
        self.mask = mask
        self.invalid_utf8 = False


class Column:
    """The base of all columns. ``name`` is that of its first sink."""

    def __init__(self, names: Names) -> None:
        self.name: str = f"c{next(names)}"

    def sinks(self) -> Iterator[tuple[str, Sink]]:
        """The functions that the statements call, by name."""
        raise NotImplementedError

    def emit(self, e: ReadEmitter, run: Run | None = None) -> None:
        """Emit the reading of the next value, together with the ``run`` in front of it."""
        raise NotImplementedError

    def last(self) -> str:
        """An expression for the index of the last value."""
        return f"{self.name}n() - 1"

    def undo(self, count: int) -> None:
        """Keep the first ``count`` values."""
        raise NotImplementedError

    def build(self, count: int, type_: Any, shown: Shown, hidden: Any) -> pa.Array:
        raise NotImplementedError


class Listed(Column):
    """A column that keeps its values in a list."""

    def __init__(self, names: Names) -> None:
        super().__init__(names)
        self.values: list[Any] = []

    def sinks(self) -> Iterator[tuple[str, Sink]]:
        yield self.name, self.values.append
        yield f"{self.name}n", self.values.__len__

    def undo(self, count: int) -> None:
        del self.values[count:]


class Ticks(Listed):
    """One None for each instance of a struct without other columns, to count the instances."""

    def emit(self, e: ReadEmitter, run: Run | None = None) -> None:
        e.line(f"{self.name}(None)")


class Run(Column):
    """Adjacent fields of fixed size, stored as the bytes on the wire.

    ``padding`` is 1 if the struct's tag count, which is nearly always zero, is stored with them.
    """

    def __init__(self, names: Names, members: list[tuple[str, FixedType]]) -> None:
        super().__init__(names)
        self.members = members
        self.padding = 0
        self._raw = BytesIO()

    @property
    def width(self) -> int:
        return sum(wire_type.min_size for _, wire_type in self.members) + self.padding

    def sinks(self) -> Iterator[tuple[str, Sink]]:
        yield self.name, self._raw.write
        yield f"{self.name}n", self._raw.tell

    def emit(self, e: ReadEmitter, run: Run | None = None) -> None:
        e.line(f"{self.name}(b[p:p + {self.width}])")
        e.line(f"p += {self.width}")

    def last(self) -> str:
        return f"{self.name}n() // {self.width} - 1"

    def undo(self, count: int) -> None:
        self._raw.seek(count * self.width)
        self._raw.truncate()

    def build(self, count: int, type_: Any, shown: Shown, hidden: Any) -> pa.Array:
        return self.build_all(count)[0]

    def build_all(self, count: int) -> list[pa.Array]:
        fields: list[Any] = [
            (f"f{place}", _numpy_type(wire_type))
            for place, (_, wire_type) in enumerate(self.members)
        ]
        fields += [("padding", "u1")] * self.padding
        rows = np.frombuffer(self._raw.getbuffer(), np.dtype(fields), count)
        return [
            _fixed_array(rows[f"f{place}"], wire_type)
            for place, (_, wire_type) in enumerate(self.members)
        ]


class Numbers(Listed):
    """Scalars whose size on the wire varies, such as varints."""

    def __init__(self, names: Names, wire_type: ScalarType) -> None:
        super().__init__(names)
        self.wire_type = wire_type

    def emit(self, e: ReadEmitter, run: Run | None = None) -> None:
        if run is not None:
            run.emit(e)
        value = e.fresh("x")
        self.wire_type.emit_read(e, value)
        e.sync_position()
        e.line(f"{self.name}({value})")

    def build(self, count: int, type_: Any, shown: Shown, hidden: Any) -> pa.Array:
        return pa.array(self.values, type_)


class Text(Listed):
    """Strings, bytes and records: slices of the rows, None for null."""

    def __init__(self, names: Names, wire_type: Blob) -> None:
        super().__init__(names)
        self.wire_type = wire_type

    def emit(self, e: ReadEmitter, run: Run | None = None) -> None:
        t = self.wire_type
        length, end = e.fresh("n"), e.fresh("q")
        if t.compact:
            emit_compact(e, run, length)
            if isinstance(t, String):
                with e.block(f"if {length} > {t.max_length + 1}:"):
                    e.line("raise Fallback")
        else:
            emit_head(e, run, {2: "h", 4: "i"}[t.prefix_size], length)
        with e.block(f"if {length} > 0:" if t.compact else f"if {length} >= 0:"):
            e.line(f"{end} = p + {length}{' - 1' * t.compact}")
            e.line(f"{self.name}(b[p:{end}])")
            e.line(f"p = {end}")
        if t.nullable:
            with e.block("else:" if t.compact else f"elif {length} == -1:"):
                e.line(f"{self.name}(None)")
        if not (t.nullable and t.compact):
            with e.block("else:"):
                e.line("raise Fallback")

    def build(self, count: int, type_: Any, shown: Shown, hidden: Any) -> pa.Array:
        if isinstance(self.wire_type, String):
            array, invalid = arrays.texts(self.values)
            shown.invalid_utf8 |= invalid
            return array
        array = pa.array(self.values, pa.binary())
        if hidden is not None and isinstance(self.wire_type, Records):
            return arrays.masked(array, pa.array(hidden))
        return array


def _numpy_type(wire_type: FixedType) -> Any:
    if wire_type.scalar.python_type is bool:
        return "u1"  # any byte but 0 is true
    if wire_type.code.endswith("s"):
        return ("u1", (wire_type.min_size,))
    return f">{wire_type.code}"


def _fixed_array(raw: Any, wire_type: FixedType) -> pa.Array:
    if wire_type.scalar.python_type is UUID:
        return arrays.uuid_texts(raw)
    return pa.array(raw.astype(ARROW_TYPES[wire_type.element].to_pandas_dtype()))


def emit_head(e: ReadEmitter, run: Run | None, code: str, target: str) -> None:
    size = _SIZES[code]
    if run is None and code == "B":
        e.line(f"{target} = b[p]")
        e.line("p += 1")
        return
    codes = code if run is None else f"{run.width}s{code}"
    unpack = e.constant("S", struct.Struct(f">{codes}").unpack_from, codes)
    if run is None:
        e.line(f"{target}, = {unpack}(b, p)")
    else:
        raw = e.fresh("r")
        e.line(f"{raw}, {target} = {unpack}(b, p)")
        e.line(f"{run.name}({raw})")
        size += run.width
    e.line(f"p += {size}")


def emit_compact(e: ReadEmitter, run: Run | None, target: str) -> None:
    emit_head(e, run, "B", target)
    with e.block(f"if {target} > 127:"):
        e.line(f"{target}, p = uvarint(b, p - 1)")
