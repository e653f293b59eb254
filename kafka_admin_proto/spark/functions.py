"""Column functions: Kafka's bytes in a binary column of any DataFrame ↔ typed structs.

In the manner of Spark's ``from_protobuf`` and ``to_protobuf``; the definitions are the package's::

    from kafka_admin_proto.spark.functions import frame_header, from_kafka, to_kafka

    # Payloads of requests (a header, then a body) in a column "payload":
    heads = df.withColumn("header", frame_header("payload"))
    creates = (
        heads.where("header.api = 'CreateTopics'")
        .withColumn("body", expr("substring(payload, header.body_offset + 1)"))
        .withColumn("read", from_kafka("body", "CreateTopicsRequest", col("header.api_version")))
    )
    creates.selectExpr("explode(read.value.topics) as topic").select("topic.name")
    creates.where("read.error is not null").select("read.error", "read.raw")

They work on any binary column, in batch and in streams. The workers need this package installed
beside pyspark. Columns go through Arrow, in pieces of bounded size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructType

from kafka_admin_proto.records.batches.batches import DEFAULT_DECOMPRESSED_LIMIT
from kafka_admin_proto.spark.columns.decode import Mode, Wanted, decode_array, value_type
from kafka_admin_proto.spark.columns.encode import encode_array
from kafka_admin_proto.spark.columns.frames import (
    HEADER_TYPE,
    RECORDS_TYPE,
    header_array,
    records_array,
)

__all__ = ["frame_header", "from_kafka", "from_record_batch", "spark_schema", "to_kafka"]

ColumnOrName = Column | str


def spark_schema(name: str, version: int | None = None, *, dialect: str = "kafka") -> StructType:
    """The type of a message in Spark, of one version or of all together.

    ``version`` None gives the fields of every version; those that a row's version lacks are null.
    Fields have Kafka's names in JSON (``numPartitions``), as the ``body`` of frame records has
    them, so that a field has one name wherever it is looked at. bool is boolean; int8 to int64 are
    byte, short, int and long; uint16 is int and uint32 long, as Spark has no unsigned integers;
    float64 is double; uuid is a string in Kafka's base64 form; bytes and records are binary. A
    field is nullable where a version lets it be null or lacks it. In flexible versions each struct
    ends in ``_unknownTaggedFields``, null as a rule: tags that the definition does not have.

    Raises UnknownMessageError or UnsupportedVersionError.
    """
    return cast(StructType, from_arrow_type(value_type(name, version, dialect)))


def from_kafka(
    data: ColumnOrName,
    name: str,
    version: int | ColumnOrName,
    *,
    mode: Mode = "PERMISSIVE",
    dialect: str = "kafka",
    show_secrets: bool = False,
) -> Column:
    """Bodies of a message → structs. ``data`` is the body alone; ``frame_header`` says where one
    begins in a payload.

    ``version`` is a number, or a column with each row's own; then the struct has the fields of all
    versions (``spark_schema(name)``), else those of the version.

    PERMISSIVE gives ``struct<value: struct<…>, error: string, raw: binary>``, which never fails a
    job. What was read is in ``value``. Where that is not possible, ``error`` says what is wrong,
    with path and offset, and ``raw`` has the bytes. A null body is null in all three. Text that is
    not UTF-8 has U+FFFD in ``value``, and an ``error`` that says so. FAILFAST gives the struct
    itself, null for null; the first fault fails the job with its text.

    Credentials, and records of the metadata topic in Fetch responses, are ``********`` in
    ``value`` and ``*`` in ``raw`` unless ``show_secrets``.

    Raises UnknownMessageError, UnsupportedVersionError, or ValueError for another mode.
    """
    number = version if isinstance(version, int) else None
    wanted = Wanted(name, number, dialect, mode, show_secrets)
    wanted.check()

    def read(bodies: pa.Array, versions: pa.Array | None = None) -> Iterator[pa.Array]:
        return decode_array(bodies, versions, wanted)

    return _call_by_version("from_kafka", read, wanted.result_type(), data, version)


def to_kafka(
    value: ColumnOrName, name: str, version: int | ColumnOrName, *, dialect: str = "kafka"
) -> Column:
    """Structs → bodies of a message, in a binary column; null for null.

    The struct has the fields of ``spark_schema(name, version)`` or some of them, in any order;
    what is missing, and null where the version has no null, is the field's default. The job fails
    with EncodeError's text, which has the path, for a field that the message does not have, a
    value that does not fit, or a value in a field that this version lacks and that may not be
    ignored; also for a masked secret, which would be written over the real one.

    Raises UnknownMessageError or UnsupportedVersionError.
    """
    number = version if isinstance(version, int) else None
    wanted = Wanted(name, number, dialect)
    wanted.check()

    def write(values: pa.Array, versions: pa.Array | None = None) -> Iterator[pa.Array]:
        yield encode_array(values, versions, wanted)

    return _call_by_version("to_kafka", write, pa.binary(), value, version)


def frame_header(payload: ColumnOrName, *, prefix: bool = False) -> Column:
    """Payloads of requests → ``struct<api_key, api, api_version, correlation_id, client_id,
    header_version, body_offset, error>``, null for null; it never fails a job.

    ``api`` is the name without "Request", null for an unknown key. ``body_offset`` counts from 0:
    the body is ``substring(payload, header.body_offset + 1)``. ``error`` is what could not be
    read; fields that stand behind it are null. With ``prefix`` the four bytes of the size are in
    front, and are compared with what follows.
    """

    def read(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        for payloads in batches:
            yield header_array(payloads, prefix=prefix)

    return _call("frame_header", read, HEADER_TYPE, payload)


def from_record_batch(
    data: ColumnOrName,
    *,
    mode: Mode = "PERMISSIVE",
    limit: int = DEFAULT_DECOMPRESSED_LIMIT,
    show_secrets: bool = False,
) -> Column:
    """Record batches (a ``records`` field, a piece of a log) → an array of records, null for null.

    Each is ``struct<offset, timestamp, key, value, headers: array<struct<key, value>>, …,
    error>``; ``timestamp`` is milliseconds since 1970, -1 where there is none. Between them are
    the facts of the batch: ``offset_in_data`` and ``size`` (its bytes are ``substring(data,
    offset_in_data + 1, size)``), ``magic``, ``base_offset``, ``last_offset``,
    ``partition_leader_epoch``, ``compression``, ``timestamp_type``, ``producer_id``,
    ``producer_epoch``, ``base_sequence``, ``is_transactional``, ``is_control``,
    ``has_delete_horizon``.

    What cannot be read is an element without ``offset`` whose ``error`` says why, behind the
    records of its batch that are good; so is a last batch that is cut short, as brokers do. With
    mode FAILFAST the first fault fails the job; a batch that is cut short is none. ``limit``
    bounds what a row's records take when they are decompressed, in bytes. A record that reads as
    one of the metadata topic with credentials is ``********``, and its ``error`` says so, unless
    ``show_secrets``.
    """
    if mode not in ("PERMISSIVE", "FAILFAST"):
        raise ValueError(f'mode is "PERMISSIVE" or "FAILFAST", not {mode!r}')

    def read(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        for each in batches:
            yield from records_array(each, mode=mode, limit=limit, show_secrets=show_secrets)

    return _call("from_record_batch", read, RECORDS_TYPE, data)


def _call_by_version(
    name: str,
    convert: Callable[..., Iterator[pa.Array]],
    type_: pa.DataType,
    data: ColumnOrName,
    version: int | ColumnOrName,
) -> Column:
    """``convert`` gets the arrays of ``data`` alone, or with those of a column of versions."""
    if isinstance(version, int):

        def of_one_version(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
            for each in batches:
                yield from convert(each)

        return _call(name, of_one_version, type_, data)

    def of_versions(batches: Iterator[tuple[pa.Array, pa.Array]]) -> Iterator[pa.Array]:
        for each, versions in batches:
            yield from convert(each, versions)

    return _call(name, of_versions, type_, data, version)


def _call(name: str, function: Any, type_: pa.DataType, *columns: ColumnOrName) -> Column:
    """The column of an Arrow function of batches; ``name`` is what plans show."""
    function.__name__ = name
    # pyspark's stubs know of no Arrow function without an explicit type, and warn of those with.
    make: Any = arrow_udf
    return cast(Column, make(function, from_arrow_type(type_))(*columns))
