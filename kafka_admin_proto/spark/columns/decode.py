"""Decode a binary Arrow array of bodies into structs or errors, without Spark.

``from_kafka`` runs this in each worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.errors import (
    KafkaAdminProtoError,
    UnknownMessageError,
    UnsupportedVersionError,
)
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.render.field_scan import has_invalid_utf8
from kafka_admin_proto.render.fields import secret_spans
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.spark.columns.arrow_arrays import struct_array
from kafka_admin_proto.spark.columns.reader import read_columns
from kafka_admin_proto.spark.columns.types import arrow_type

Mode = Literal["PERMISSIVE", "FAILFAST"]
#: Bytes of bodies that become one Arrow array; a larger batch becomes several arrays.
PIECE = 16 << 20
#: Replaces each secret byte in ``raw``.
_STAR = ord("*")
INVALID_UTF8 = "text that is not UTF-8 is shown with U+FFFD; raw has the bytes"


class Wanted(msgspec.Struct, frozen=True):
    """The message to read, at a ``version``, or at the version of each row if that is None."""

    name: str
    version: int | None
    dialect: str = "kafka"
    mode: Mode = "PERMISSIVE"
    show_secrets: bool = False

    def check(self) -> None:
        """Raise UnknownMessageError, UnsupportedVersionError or ValueError for a caller's slip."""
        message_spec(self.name, self.dialect)
        if self.mode not in ("PERMISSIVE", "FAILFAST"):
            raise ValueError(f'mode is "PERMISSIVE" or "FAILFAST", not {self.mode!r}')
        if self.version is not None:
            codec(self.name, self.version, dialect=self.dialect)

    def value_type(self) -> pa.StructType:
        """The type of the message: of its version, or of all its versions together."""
        return value_type(self.name, self.version, self.dialect)

    def result_type(self) -> pa.StructType:
        """The type of a row's result."""
        if self.mode == "FAILFAST":
            return self.value_type()
        return pa.struct(
            [("value", self.value_type()), ("error", pa.string()), ("raw", pa.binary())]
        )


def message_spec(name: str, dialect: str) -> MessageSpec:
    """The definition; UnknownMessageError if workers would not find it."""
    if catalog().is_loaded(dialect):
        raise UnknownMessageError(
            f"dialect {dialect!r} was loaded in this process, and Spark's workers do not have it; "
            "columns are of the messages that the package brings"
        )
    return catalog().spec(name, dialect)


@lru_cache(maxsize=1024)
def value_type(name: str, version: int | None, dialect: str = "kafka") -> pa.StructType:
    """The Arrow type of a message; see ``functions.spark_schema``."""
    spec = message_spec(name, dialect)
    if version is None:
        return arrow_type(spec, spec.valid_versions)
    if version not in spec.valid_versions:
        raise UnsupportedVersionError(f"{name} has versions {spec.valid_versions}, not {version}")
    return arrow_type(spec, VersionRange(version, version))


def decode_array(bodies: pa.Array, versions: pa.Array | None, wanted: Wanted) -> Iterator[pa.Array]:
    """The results of all bodies, in pieces of bounded size.

    ``versions`` has the version of each row if ``wanted`` has none. In mode FAILFAST the first
    fault raises DecodeError, or UnsupportedVersionError for a version that does not exist.
    """
    for start, stop in pieces(bodies):
        of_rows = None if versions is None else versions[start:stop].to_pylist()
        yield _Piece(bodies[start:stop].to_pylist(), of_rows, wanted).result()
    if not len(bodies):
        yield pa.nulls(0, wanted.result_type())


def pieces(data: pa.Array, limit: int = PIECE) -> Iterator[tuple[int, int]]:
    """Cuts rows of an array of bytes so that each piece is a row, or up to ``limit`` bytes."""
    sizes = pc.fill_null(pc.binary_length(data), 0).to_numpy(zero_copy_only=False)
    ends = np.cumsum(sizes, dtype=np.int64)
    start = done = 0
    while start < len(data):
        stop = max(int(np.searchsorted(ends, done + limit, "right")), start + 1)
        yield start, stop
        start, done = stop, int(ends[stop - 1])


class _Piece:
    """Some rows and their results."""

    def __init__(
        self, bodies: list[bytes | None], versions: list[int | None] | None, wanted: Wanted
    ) -> None:
        self.bodies = bodies
        self.wanted = wanted
        self.spec = message_spec(wanted.name, wanted.dialect)
        self.errors: list[str | None] = [None] * len(bodies)
        self.raw: list[bytes | None] = [None] * len(bodies)
        self.by_version: dict[int | None, list[int]] = {}
        for row, body in enumerate(bodies):
            if body is not None:
                version = wanted.version if versions is None else versions[row]
                self.by_version.setdefault(version, []).append(row)

    def result(self) -> pa.Array:
        values = self._values()
        if self.wanted.mode == "FAILFAST":
            return values
        type_ = self.wanted.result_type()
        columns = [values, pa.array(self.errors, pa.string()), pa.array(self.raw, pa.binary())]
        return struct_array(len(self.bodies), type_, columns)

    def _values(self) -> pa.Array:
        """A struct for each row that could be read, null for the others."""
        type_ = self.wanted.value_type()
        parts: list[pa.Array] = [pa.nulls(0, type_)]
        places = np.full(len(self.bodies), -1, np.int64)
        count = 0
        for version, rows in self.by_version.items():
            try:
                message = self._codec(version)
            except KafkaAdminProtoError as error:
                self._fail(rows, error)
                continue
            values, good = self._read(message, rows, type_)
            places[good] = np.arange(count, count + len(good))
            count += len(good)
            parts.append(values)
        if count == len(self.bodies) and len(parts) == 2:
            return parts[1]
        return pa.concat_arrays(parts).take(pa.array(places, mask=places < 0))

    def _codec(self, version: int | None) -> Codec[Any]:
        if version is None:
            raise UnsupportedVersionError(f"{self.spec.name} of version null cannot be read")
        return codec(self.spec.name, version, dialect=self.wanted.dialect)

    def _fail(self, rows: list[int], error: KafkaAdminProtoError) -> None:
        if self.wanted.mode == "FAILFAST":
            raise error
        for row in rows:
            self.errors[row], self.raw[row] = str(error), self._raw(None, row)

    def _read(
        self, message: Codec[Any], rows: list[int], type_: pa.StructType
    ) -> tuple[pa.StructArray, list[int]]:
        """The values of rows of one version, and which they are."""
        bodies = [self.bodies[row] or b"" for row in rows]
        mask = not self.wanted.show_secrets
        columns = read_columns(message, bodies, type_, mask=mask)
        for place, error in columns.errors.items():
            row = rows[place]
            if self.wanted.mode == "FAILFAST":
                raise error
            # A wrong length may have put a credential into any field before the fault.
            self.errors[row], self.raw[row] = str(error), self._raw(None, row)
        good = [rows[place] for place in columns.rows]
        if columns.invalid_utf8 and self.wanted.mode == "PERMISSIVE":
            for row in good:
                body = self.bodies[row] or b""
                if not body.isascii() and has_invalid_utf8(message, message.decode(body)):
                    self.errors[row], self.raw[row] = INVALID_UTF8, self._raw(message, row)
        return columns.values, good

    def _raw(self, message: Codec[Any] | None, row: int) -> bytes:
        """The row's bytes with ``*`` for secret ones, or for all if secrets cannot be located."""
        body = self.bodies[row] or b""
        if self.wanted.show_secrets:
            return body
        if self.spec.type == "response" and self.spec.api_key == api_keys.FETCH:
            # Of the metadata topic perhaps, whose records hold credentials.
            return bytes([_STAR]) * len(body)
        if not self.spec.has_secrets:
            return body
        spans = [(0, len(body))] if message is None else secret_spans(message, body, 0)
        shown = bytearray(body)
        for start, end in spans:
            shown[start:end] = bytes([_STAR]) * (end - start)
        return bytes(shown)
