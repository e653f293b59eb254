"""The columns of a message: structs, arrays, tagged fields, and the scalar fields below them.

Every column has one entry for each instance of its struct. Values that may be absent (of a nullable
struct, of a tagged field) are stored densely, with the indices of the instances that have them.
`leaves` describes the methods of all columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count as counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_admin_proto.spark.columns import arrow_arrays as arrays
from kafka_admin_proto.spark.columns.leaves import (
    Column,
    Listed,
    Names,
    Numbers,
    Run,
    Shown,
    Sink,
    Text,
    Ticks,
    emit_compact,
    emit_head,
)
from kafka_admin_proto.spark.columns.plain_values import plain
from kafka_admin_proto.spark.columns.types import UNKNOWN_TAGS
from kafka_admin_proto.spark.columns.unknown_tags import UnknownTags
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.wire.emit.emitters import ReadEmitter
from kafka_admin_proto.wire.secrets import METADATA_TOPIC, METADATA_TOPIC_ID, TOPIC_NAMES
from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.blobs import Blob
from kafka_admin_proto.wire.types.containers import StructType
from kafka_admin_proto.wire.types.fixed import FixedType
from kafka_admin_proto.wire.types.member import Member
from kafka_admin_proto.wire.types.nullable import NullableStruct
from kafka_admin_proto.wire.types.scalar import ScalarType
from kafka_admin_proto.wire.visitor import Visitor

_METADATA_ID = topic_id_to_text(METADATA_TOPIC_ID)


class Items(Listed):
    """Arrays: the counts as on the wire, and a column of all items."""

    def __init__(self, names: Names, wire_type: Array) -> None:
        super().__init__(names)
        self.wire_type = wire_type
        self.items: Column = column_of(wire_type.element, names)
        #: The first counts that ``undo`` has summed up, and the sum of their items.
        self._undone = (0, 0)

    def sinks(self) -> Iterator[tuple[str, Sink]]:
        yield from super().sinks()
        yield from self.items.sinks()

    def emit(self, e: ReadEmitter, run: Run | None = None) -> None:
        t, items = self.wire_type, self.items
        count = e.fresh("n")
        if t.compact:
            emit_compact(e, run, count)
        else:
            emit_head(e, run, "i", count)
        null = f"{count} == 0" if t.compact else f"{count} < 0"
        if not t.nullable or not t.compact:
            with e.block(f"if {null}{f' and {count} != -1' * t.nullable}:"):
                e.line("raise Fallback")
        e.line(f"{self.name}({count})")
        number = f"{count} - 1" if t.compact else count
        flat = items if isinstance(items, Run) else getattr(items, "flat", None)
        with e.block(f"if {count} > {int(t.compact)}:"):
            if flat is None:
                self._emit_loop(e, number)
                return
            end = e.fresh("q")
            e.line(f"{end} = p + ({number}) * {flat.width}")
            if not flat.padding:
                e.line(f"{flat.name}(b[p:{end}])")
                e.line(f"p = {end}")
                return
            piece = e.fresh("s")
            e.line(f"{piece} = b[p:{end}]")
            tags = f"{piece}[{flat.width - 1}::{flat.width}]"
            with e.block(f"if not {tags}.strip({bytes(1)!r}):"):
                e.line(f"{flat.name}({piece})")
                e.line(f"p = {end}")
            with e.block("else:"):
                self._emit_loop(e, number)

    def _emit_loop(self, e: ReadEmitter, number: str) -> None:
        least = max(self.wire_type.element.min_size, 1)
        with e.block(f"if ({number}) * {least} > {e.data_size()} - p:"):
            e.line("raise Fallback")
        with e.block(f"for _ in range({number}):"):
            self.items.emit(e)

    def undo(self, count: int) -> None:
        # Counts of earlier rows do not change, so each is summed up once, however many rows are
        # undone.
        start, total = self._undone
        total += int(self._lengths(np.array(self.values[start:count], np.int64)).sum())
        self._undone = (count, total)
        super().undo(count)
        self.items.undo(total)

    def _lengths(self, counts: Any) -> Any:
        return np.maximum(counts - int(self.wire_type.compact), 0)

    def build(self, count: int, type_: Any, shown: Shown, hidden: Any) -> pa.Array:
        counts = np.array(self.values, np.int64)
        lengths = self._lengths(counts)
        nulls = counts == int(self.wire_type.compact) - 1 if self.wire_type.nullable else None
        inside = None if hidden is None else np.repeat(hidden, lengths)
        items = self.items.build(int(lengths.sum()), type_.value_type, shown, inside)
        return arrays.list_array(lengths, nulls, items, type_)


class Optional(Listed):
    """Structs that may be null: a flag for each, and a column of those that are not null."""

    def __init__(self, names: Names, wire_type: NullableStruct) -> None:
        super().__init__(names)
        self.wire_type = wire_type
        self.present: Fields = Fields(names, wire_type.struct)
        #: The first flags that ``undo`` has counted, and how many of them are true.
        self._undone = (0, 0)

    def sinks(self) -> Iterator[tuple[str, Sink]]:
        yield from super().sinks()
        yield from self.present.sinks()

    def emit(self, e: ReadEmitter, run: Run | None = None) -> None:
        marker = e.fresh("m")
        if self.wire_type.tagged:
            emit_compact(e, run, marker)
            there = f"{marker} > 0"
        else:
            emit_head(e, run, "b", marker)
            there = f"{marker} >= 0"
        e.line(f"{self.name}({there})")
        with e.block(f"if {there}:"):
            self.present.emit(e)

    def undo(self, count: int) -> None:
        start, total = self._undone
        total += sum(self.values[start:count])
        self._undone = (count, total)
        super().undo(count)
        self.present.undo(total)

    def build(self, count: int, type_: Any, shown: Shown, hidden: Any) -> pa.Array:
        places = np.flatnonzero(np.array(self.values, bool))
        inside = None if hidden is None else hidden[places]
        return arrays.spread(self.present.build(len(places), type_, shown, inside), places, count)


class Tagged(Listed):
    """A tagged field: the indices of the structs that have it, and a column of its values."""

    def __init__(self, names: Names, member: Member) -> None:
        super().__init__(names)
        assert member.wire_type is not None
        self.member = member
        self.wire_type: WireType = member.wire_type
        self.present: Column = column_of(member.wire_type, names)

    def sinks(self) -> Iterator[tuple[str, Sink]]:
        yield from super().sinks()
        yield from self.present.sinks()

    def emit_at(self, e: ReadEmitter, place: str) -> None:
        """Emit the reading of the value of the struct with the index ``place``."""
        e.line(f"{self.name}({place})")
        self.present.emit(e)

    def undo(self, count: int) -> None:
        while self.values and self.values[-1] >= count:
            self.values.pop()
        self.present.undo(len(self.values))

    def build(self, count: int, type_: Any, shown: Shown, hidden: Any) -> pa.Array:
        places = np.array(self.values, np.int64)
        inside = None if hidden is None else hidden[places]
        dense = self.present.build(len(places), type_, shown, inside)
        absent = plain(self.wire_type, self.member.default())
        return arrays.spread(dense, places, count, absent)


class Fields(Column):
    """A struct: its runs and other columns in the order of the wire, then its tagged fields.

    ``flat`` is the struct's run if it has no other column before the tags.
    """

    def __init__(self, names: Names, struct: StructType) -> None:
        self.struct = struct
        self.parts: list[tuple[Member | None, Column]] = []
        run: list[tuple[str, FixedType]] = []
        for member, wire_type in struct.written:
            if isinstance(wire_type, FixedType):
                if not run:
                    self.parts.append((None, Run(names, run)))
                run.append((member.json, wire_type))
            else:
                self.parts.append((member, column_of(wire_type, names)))
                run = []
        first = self.parts[0][1] if len(self.parts) == 1 else None
        self.flat: Run | None = first if isinstance(first, Run) else None
        self.tagged: list[Tagged] = []
        self.unknown: UnknownTags | None = None
        if struct.tagged is not None:
            if self.flat is not None:
                self.flat.padding = 1
            if not self.parts:
                self.parts.append((None, Ticks(names)))
            self.tagged = [Tagged(names, member) for member in struct.tagged.members.values()]
            self.unknown = UnknownTags(names, secret=struct.secret_tags)

    def _columns(self) -> Iterator[Column]:
        yield from (column for _, column in self.parts)
        yield from self.tagged
        if self.unknown is not None:
            yield self.unknown

    def sinks(self) -> Iterator[tuple[str, Sink]]:
        for column in self._columns():
            yield from column.sinks()

    def last(self) -> str:
        return self.parts[0][1].last()

    def emit(self, e: ReadEmitter, run: Run | None = None) -> None:
        if run is not None:
            run.emit(e)
        waiting: Run | None = None
        for _, column in self.parts:
            if isinstance(column, Run) and not column.padding:
                waiting = column
            else:
                column.emit(e, waiting)
                waiting = None
        if self.unknown is None:
            if waiting is not None:
                waiting.emit(e)
            return
        count = e.fresh("t")
        if self.flat is not None:
            e.line(f"{count} = b[p - 1]")
        else:
            emit_head(e, waiting, "B", count)
        with e.block(f"if {count}:"):
            self._emit_tags(e, count, self.unknown)

    def _emit_tags(self, e: ReadEmitter, count: str, unknown: UnknownTags) -> None:
        """As ``TaggedFields.emit_read``."""
        assert self.struct.tagged is not None
        place, tag, size, end = (e.fresh(prefix) for prefix in "ikzq")
        e.line(f"{place} = {self.last()}")
        with e.block(f"if {count} > 127:"):
            e.line(f"{count}, p = uvarint(b, p - 1)")
        with e.block(f"for _ in range({count}):"):
            e.line(f"{tag}, p = uvarint(b, p)")
            e.line(f"{size}, p = uvarint(b, p)")
            for column in self.tagged:
                with e.block(f"if {tag} == {column.member.tag}:"):
                    column.emit_at(e, place)
                    e.line("continue")
            if self.struct.tagged.foreign:
                foreign = e.constant("F", self.struct.tagged.foreign)
                with e.block(f"if {tag} in {foreign}:"):
                    e.line("raise Fallback")
            e.line(f"{end} = p + {size}")
            e.line(f"{unknown.name}({place})")
            e.line(f"{unknown.name}t(({tag}, b[p:{end}]))")
            e.line(f"p = {end}")

    def undo(self, count: int) -> None:
        for column in self._columns():
            column.undo(count)

    def build(self, count: int, type_: Any, shown: Shown, hidden: Any) -> pa.Array:
        types = {field.name: field.type for field in type_}
        built: dict[str, pa.Array] = {}
        for _, column in self.parts:
            if isinstance(column, Run):
                names = [name for name, _ in column.members]
                built |= zip(names, column.build_all(count), strict=True)
        if hidden is not None and self.struct.holds_records:
            hidden = self._hidden(count, types, shown, built, hidden)
        for member, column in self.parts:
            if member is not None and member.json not in built:
                built[member.json] = column.build(count, types[member.json], shown, hidden)
        for tagged in self.tagged:
            name = tagged.member.json
            built[name] = tagged.build(count, types[name], shown, hidden)
        if shown.mask:
            self._mask(built)
        if self.unknown is not None:
            built[UNKNOWN_TAGS.name] = self.unknown.build(count, UNKNOWN_TAGS.type, shown, hidden)
        children = [
            built[field.name] if field.name in built else pa.nulls(count, field.type)
            for field in type_
        ]
        return arrays.struct_array(count, type_, children)

    def _hidden(
        self, count: int, types: dict[str, Any], shown: Shown, built: dict[str, pa.Array], of: Any
    ) -> Any:
        """Which instances are about the metadata topic: by name, by topic id, or as in ``of``."""
        for member, column in self.parts:
            if member is not None and member.attribute in TOPIC_NAMES and isinstance(column, Text):
                names = column.build(count, types[member.json], shown, None)
                built[member.json] = names
                of = of | _true(pc.equal(names, METADATA_TOPIC))
        if "topicId" in built:
            of = of | _true(pc.equal(built["topicId"], _METADATA_ID))
        return of

    def _mask(self, built: dict[str, pa.Array]) -> None:
        names = {member.attribute: member.json for member in self.struct.members}
        for member in self.struct.members:
            if member.json not in built:
                continue
            if member.sensitive:
                built[member.json] = arrays.masked(built[member.json])
            elif member.named_by:
                secret = arrays.are_secret_names(built[names[member.named_by]])
                built[member.json] = arrays.masked(built[member.json], secret)


class _ColumnOf(Visitor[Names, Column]):
    """Makes the column of each kind of type; the context is the source of names."""

    def struct(self, wire_type: StructType, context: Names) -> Column:
        return Fields(context, wire_type)

    def array(self, wire_type: Array, context: Names) -> Column:
        return Items(context, wire_type)

    def nullable_struct(self, wire_type: NullableStruct, context: Names) -> Column:
        return Optional(context, wire_type)

    def blob(self, wire_type: Blob, context: Names) -> Column:
        return Text(context, wire_type)

    def scalar(self, wire_type: ScalarType, context: Names) -> Column:
        if isinstance(wire_type, FixedType):
            return Run(context, [("", wire_type)])
        return Numbers(context, wire_type)


def column_of(wire_type: WireType, names: Names) -> Column:
    """The column for values of a type; TypeError for a type without columns."""
    return _ColumnOf().visit(wire_type, names)


def columns_of(struct: StructType) -> Fields:
    """The columns of a whole message, empty; their names are the same each time."""
    return Fields(counter(), struct)


def _true(flags: pa.Array) -> Any:
    return pc.fill_null(flags, False).to_numpy(zero_copy_only=False)
