"""Frames → the other tables, as DataFrames in the columns of `schemas.TABLES`.

What they take are frames in the columns of the table ``frames``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

import msgspec
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_admin_proto.spark.ingest.files import open_stream
from kafka_admin_proto.spark.tables.audit_rows import OPERATIONS, audit_rows
from kafka_admin_proto.spark.tables.calls import Call, Json, pair
from kafka_admin_proto.spark.tables.metadata_rows import (
    CONTROLLER_APIS,
    controller_rows,
    record_rows,
    segment_records,
)
from kafka_admin_proto.spark.tables.quorum_rows import QUORUM_APIS, quorum_rows
from kafka_admin_proto.spark.tables.schemas import (
    ADMIN_AUDIT,
    CLIENTS,
    METADATA_CHANGES,
    PROBLEMS,
    QUORUM_EVENTS,
)
from kafka_admin_proto.spark.tables.staging import FIRST_DAY, LAST_DAY, NO_API, NO_DATE
from kafka_admin_proto.spark.tables.topic_names import KNOWN, Told
from kafka_admin_proto.wire.blobs import replace_invalid_utf8

_DAY = 86_400_000_000
_ROWS = 2048


def date_of(ts: Column) -> Column:
    """The day of a time in UTC, whatever the session's zone is, as text."""
    days = F.floor(F.unix_micros(ts) / F.lit(_DAY)).cast("int")
    day = F.date_add(F.lit("1970-01-01").cast("date"), days).cast("string")
    named = days.between(F.lit(FIRST_DAY), F.lit(LAST_DAY))
    return F.when(named, day).otherwise(F.lit(NO_DATE))


def _dated(rows: DataFrame, schema: pa.Schema) -> DataFrame:
    """The rows with their date, in the columns of a table."""
    return rows.withColumn("date", date_of(F.col("ts"))).select(*schema.names)


def _undated(schema: pa.Schema) -> pa.Schema:
    return schema.remove(schema.get_field_index("date"))


# Calls: requests with their responses ---------------------------------------------------------

#: What the frames of a call, and few others, have in common. Of lines of logs each is alone.
_SHARED = ("log", "line", "connection", "forwarded", "correlation_id")
_OF_A_CALL = (
    "ts", "capture", "connection", "place", "client", "server", "client_id", "client_software",
    "principal", "api", "api_version", "forwarded",
)  # fmt: skip
_FOR_CALLS = (
    *_OF_A_CALL, "direction", "api_key", "correlation_id", "latency_us", "line", "stream_offset",
    "body", "topic_names",
)  # fmt: skip


def admin_audit(frames: DataFrame) -> DataFrame:
    """One row for each operation on a topic; see `schemas.ADMIN_AUDIT`."""
    return _of_calls(frames, tuple(OPERATIONS), audit_rows, ADMIN_AUDIT)


def quorum_events(frames: DataFrame) -> DataFrame:
    """One row for each partition in a request of an election; see `schemas.QUORUM_EVENTS`."""
    return _of_calls(frames, QUORUM_APIS, quorum_rows, QUORUM_EVENTS)


_Rows = Callable[[Call], Iterator[Json]]


def _of_calls(frames: DataFrame, apis: Sequence[str], rows: _Rows, schema: pa.Schema) -> DataFrame:
    undated = _undated(schema)
    found = (
        frames.where(F.col("api").isin(*apis))
        .select(*_FOR_CALLS)
        .withColumn("log", F.when(F.col("line").isNotNull(), F.col("capture")))
        .repartition(*_SHARED)
        .sortWithinPartitions(*_SHARED, "place", "stream_offset")
        .mapInArrow(partial(_call_rows, rows=rows, schema=undated), from_arrow_schema(undated))
    )
    return _dated(found, schema)


def _call_rows(
    batches: Iterable[pa.RecordBatch], rows: _Rows, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    out = _Out(schema)
    for _, alike in groupby(_dicts(batches), lambda frame: [frame[name] for name in _SHARED]):
        for call in pair(alike):
            about = {name: call.request[name] for name in _OF_A_CALL}
            for row in rows(call):
                yield from out.add(about | row)
    yield out.take()


def _dicts(batches: Iterable[pa.RecordBatch]) -> Iterator[Json]:
    """Frames as dictionaries, ``ts`` in microseconds and ``body`` as builtins."""
    for batch in batches:
        names = batch.schema.names
        columns = [
            batch.column(name).cast(pa.int64()) if name == "ts" else batch.column(name)
            for name in names
        ]
        for values in zip(*(column.to_pylist() for column in columns), strict=True):
            frame = dict(zip(names, values, strict=True))
            body = frame.get("body")
            frame["body"] = None if body is None else msgspec.json.decode(body)
            yield frame


class _Out:
    """Rows on their way into Arrow batches; the columns that a row lacks are null."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._rows: list[Json] = []

    def add(self, row: Json) -> Iterator[pa.RecordBatch]:
        """A batch, once there are enough rows for it."""
        self._rows.append(row)
        if len(self._rows) >= _ROWS:
            yield self.take()

    def take(self) -> pa.RecordBatch:
        arrays = [
            pa.array([row.get(field.name) for row in self._rows], field.type)
            for field in self._schema
        ]
        self._rows = []
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


# Clients --------------------------------------------------------------------------------------


_WHO = ("date", "client_id", "software_name", "software_version", "address")
_USE = (
    "api", "api_key", "principals", "min_version", "max_version", "requests", "first_ts", "last_ts",
)  # fmt: skip


def clients(frames: DataFrame, before: DataFrame | None = None) -> DataFrame:
    """One row for each client on a day; see `schemas.CLIENTS`.

    Forwarded requests do not count: their connection is a broker's. ``before`` is the table of
    other frames, whose rows are joined.
    """
    uses = _uses(frames)
    if before is not None:
        known = before.drop("requests").select("*", F.inline("apis"))
        known = known.withColumn("api", F.coalesce("api", F.lit(NO_API)))
        uses = uses.unionByName(known.select(*_WHO, *_USE))
    return (
        uses.groupBy(*_WHO, "api", "api_key")
        .agg(
            F.flatten(F.collect_set("principals")).alias("principals"),
            F.min("min_version").alias("min_version"),
            F.max("max_version").alias("max_version"),
            F.sum("requests").alias("requests"),
            F.min("first_ts").alias("first_ts"),
            F.max("last_ts").alias("last_ts"),
        )
        .groupBy(*_WHO)
        .agg(
            F.array_sort(F.array_distinct(F.flatten(F.collect_list("principals")))).alias(
                "principals"
            ),
            F.array_sort(
                F.collect_list(
                    F.struct(
                        F.nullif(F.col("api"), F.lit(NO_API)).alias("api"),
                        "api_key",
                        "min_version",
                        "max_version",
                        "requests",
                    )
                )
            ).alias("apis"),
            F.sum("requests").alias("requests"),
            F.min("first_ts").alias("first_ts"),
            F.max("last_ts").alias("last_ts"),
        )
        .select(*CLIENTS.names)
    )


def _uses(frames: DataFrame) -> DataFrame:
    """What each connection of each client has used of each api."""
    software = F.col("client_software")
    version = F.substring(software, F.length("software_name") + 2, F.length(software))
    return (
        frames.where(
            (F.col("direction") == "request") & F.col("api_key").isNotNull() & ~F.col("forwarded")
        )
        .groupBy("date", "client_id", "client_software", "client", "principal", "api", "api_key")
        .agg(
            F.min("api_version").alias("min_version"),
            F.max("api_version").alias("max_version"),
            F.count("*").alias("requests"),
            F.min("ts").alias("first_ts"),
            F.max("ts").alias("last_ts"),
        )
        # Texts are taken apart once for each connection.
        .withColumn("software_name", F.substring_index(software, " ", 1))
        .withColumn("software_version", F.nullif(version, F.lit("")))
        .withColumn("address", F.regexp_extract("client", r"^\[?(.*?)\]?:\d+$", 1))
        .withColumn("principals", F.array_compact(F.array("principal")))
        .select(*_WHO, *_USE)
    )


# Metadata changes -----------------------------------------------------------------------------

#: The record that tells the name of a topic.
TOPIC_RECORD = "TopicRecord"
#: Rows of the metadata log beside what is wrong with its files.
_LOG = pa.schema(
    [
        *_undated(METADATA_CHANGES),
        ("stream_offset", pa.int64()),
        ("size", pa.int64()),
        ("problem", pa.string()),
    ]
)
#: What tells one record's rows from another's; ids of topics are a cluster's own.
_OF_A_RECORD = ("source", "log_offset", "topic_id", "partition")


def segment_rows(spark: SparkSession, names: Sequence[str]) -> DataFrame:
    """The rows of the metadata log's segments and snapshots, and what is wrong with these.

    For ``metadata_changes`` and ``problems``.
    """
    table = pa.table({"name": pa.array(names, pa.string())})
    schema = from_arrow_schema(_LOG)
    if not names:
        return spark.createDataFrame([], schema)
    files = spark.createDataFrame(table).repartition(len(names))
    return files.mapInArrow(_segments, schema)


def _segments(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    out = _Out(_LOG)
    for batch in batches:
        for name in batch.column("name").to_pylist():
            capture = {"capture": replace_invalid_utf8(name)}
            for row in _segment(name):
                yield from out.add(capture | row)
    yield out.take()


def _segment(name: str) -> Iterator[Json]:
    try:
        with open_stream(name) as stream:
            for record in segment_records(stream, name):
                if "problem" in record:
                    yield {
                        "stream_offset": record["position"],
                        "size": record["size"],
                        "problem": record["problem"],
                    }
                else:
                    yield from record_rows([record])
    except OSError as error:
        yield {"problem": str(error)}


def metadata_changes(
    frames: DataFrame, segments: DataFrame | None = None, names: Told = KNOWN
) -> DataFrame:
    """One row for each partition that a controller tells of; see `schemas.METADATA_CHANGES`.

    ``segments`` are ``segment_rows``, ``names`` those of topics that the frames have told.
    """
    told = {topic_id: name for topic_id, (name, _) in names.items()}
    return controller_changes(frames).unionByName(log_changes(log_records(frames, segments), told))


def controller_changes(frames: DataFrame) -> DataFrame:
    """Those of ``metadata_changes`` that controllers tell brokers in requests."""
    undated = _undated(METADATA_CHANGES)
    found = (
        frames.where(F.col("api").isin(*CONTROLLER_APIS) & (F.col("direction") == "request"))
        .select("ts", "capture", "connection", "place", "api", "body")
        .mapInArrow(partial(_controller_rows, schema=undated), from_arrow_schema(undated))
    )
    return _dated(found, METADATA_CHANGES)


def log_records(frames: DataFrame, segments: DataFrame | None = None) -> DataFrame:
    """Rows for records of the metadata log, those of topics among them."""
    undated = _undated(METADATA_CHANGES)
    found = (
        frames.where((F.col("api") == "Fetch") & F.col("metadata_records").isNotNull())
        .select("place", "capture", "connection", F.inline("metadata_records"))
        # All brokers fetch the same: what the capture has first is decoded.
        .groupBy("offset", "timestamp", "value")
        .agg(F.min(F.struct("place", "capture", "connection")).alias("first"))
        .select("offset", "timestamp", "value", "first.*")
        .mapInArrow(partial(_fetched_rows, schema=undated), from_arrow_schema(undated))
    )
    if segments is None:
        return found
    return found.unionByName(segments.where(F.col("problem").isNull()).select(*undated.names))


def log_changes(records: DataFrame, names: Mapping[str, str]) -> DataFrame:
    """Those of ``metadata_changes`` that ``log_records`` tell, each record once.

    Topics have their names from the log itself, or else of ``names``.
    """
    return _dated(_named(once(records), names), METADATA_CHANGES)


def once(rows: DataFrame) -> DataFrame:
    """Of each record what the capture has first, after that what files have."""
    order = Window.partitionBy(*_OF_A_RECORD).orderBy(F.col("place").asc_nulls_last(), "capture")
    return rows.withColumn("nth", F.row_number().over(order)).where("nth = 1").drop("nth")


def _named(rows: DataFrame, names: Mapping[str, str]) -> DataFrame:
    of_topics = F.col("source") == TOPIC_RECORD
    in_log = rows.where(of_topics).select(
        "topic_id", F.col("topic").alias("name"), F.lit(0).alias("n")
    )
    given = rows.sparkSession.createDataFrame(
        pa.table(
            {
                "topic_id": pa.array(list(names), pa.string()),
                "name": pa.array(list(names.values()), pa.string()),
                "n": pa.array([1] * len(names), pa.int32()),
            }
        )
    )
    known = in_log.unionByName(given).groupBy("topic_id").agg(F.min_by("name", "n").alias("name"))
    return (
        rows.where(~of_topics)
        .join(known, "topic_id", "left")
        .withColumn("topic", F.coalesce("topic", "name"))
        .select(*_undated(METADATA_CHANGES).names)
    )


def _controller_rows(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    out = _Out(schema)
    for frame in _dicts(batches):
        about = {name: frame[name] for name in ("ts", "capture", "connection", "place")}
        for row in controller_rows(frame["api"], frame["body"]):
            yield from out.add(about | row)
    yield out.take()


def _fetched_rows(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    out = _Out(schema)
    for batch in batches:
        for record in batch.to_pylist():
            about = {name: record[name] for name in ("capture", "connection", "place")}
            for row in record_rows([record]):
                yield from out.add(about | row)
    yield out.take()


# Problems -------------------------------------------------------------------------------------


def problems(frames: DataFrame, segments: DataFrame | None = None) -> DataFrame:
    """Every hole and every frame that is not decoded whole; see `schemas.PROBLEMS`."""
    found = frames.where(F.col("problem").isNotNull()).withColumn(
        "api", F.nullif(F.col("api"), F.lit(NO_API))
    )
    rows = found.select(*PROBLEMS.names)
    if segments is None:
        return rows
    of_files = segments.where(F.col("problem").isNotNull()).select(
        F.lit(NO_DATE).alias("date"),
        "capture",
        F.lit("data").alias("direction"),
        "stream_offset",
        F.col("size").cast("int").alias("size"),
        "problem",
    )
    return rows.unionByName(of_files, allowMissingColumns=True)
