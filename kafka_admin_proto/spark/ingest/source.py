"""The data source ``kafka_capture``: packets of captures and lines of request logs as rows.

    spark.read.format("kafka_capture").load("captures/")

Paths are files, folders and patterns, or URIs of what ``pyarrow.fs`` reaches (``s3://…``). The
option ``splitSize`` is the number of bytes of a large file that one task reads, ``inputFormat``
what all files are where their first bytes do not say it (`INPUT_FORMATS`). With the option ``rows``
set to ``chunks``, one row holds many packets (`chunks.CHUNKS`), and neither columns nor rows are
left out. A file that a task cannot open fails the task. A schema given by the user must be a subset
of the whole one; the other columns are not built. A filter on ``ts`` is applied while files are
read. For streams see `stream_reader`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from kafka_admin_proto.spark.ingest.file_log import FileLog
from kafka_admin_proto.spark.ingest.stream_reader import (
    MAX_FILES_PER_BATCH,
    MIN_FILE_AGE_S,
    FileTask,
    StreamReader,
)
from kafka_admin_proto.tables.ingest.chunks import CHUNKS, pack
from kafka_admin_proto.tables.ingest.files import (
    SPLIT_SIZE,
    kind_of_format,
    list_files,
    plan,
    require_open,
)
from kafka_admin_proto.tables.ingest.packets import PACKETS, Times, read_part
from kafka_admin_proto.tables.ingest.plain_chunks import part_chunks

_FILTERING_WORKER = "pyspark.sql.worker.data_source_pushdown_filters"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class KafkaCapture(DataSource):
    """The data source; the head of this module describes its options."""

    @classmethod
    def name(cls) -> str:
        return "kafka_capture"

    def schema(self) -> StructType:
        return from_arrow_schema(_layout(self.options))

    def reader(self, schema: StructType) -> DataSourceReader:
        layout = _layout(self.options)
        columns = _columns(schema, layout)
        # By default a session pushes no filters, and Spark then refuses a reader with pushFilters.
        # A session that does push filters asks for the reader from this worker module.
        reader = _FilteringReader if _FILTERING_WORKER in sys.modules else _Reader
        return reader(
            columns,
            _paths(self.options),
            _split_size(self.options),
            _input_format(self.options),
            layout is CHUNKS,
        )

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        layout = _layout(self.options)
        return StreamReader(
            _columns(schema, layout),
            _paths(self.options),
            _split_size(self.options),
            input_format=_input_format(self.options),
            max_files=_number(self.options, "maxFilesPerTrigger", MAX_FILES_PER_BATCH),
            min_file_age_s=_number(self.options, "minFileAge", MIN_FILE_AGE_S),
            log=FileLog(_log_folder(self.options)),
            as_chunks=layout is CHUNKS,
        )


def _paths(options: Any) -> list[str]:
    paths = json.loads(options["paths"]) if "paths" in options else []
    if "path" in options:
        paths.append(options["path"])
    if not paths:
        raise ValueError("kafka_capture: name captures, as in .load('captures/')")
    return [str(path) for path in paths]


def _log_folder(options: Any) -> Path:
    if "fileLog" not in options:
        raise ValueError(
            "kafka_capture: a stream keeps the files that it has read in a folder of its own: name "
            "one with the option fileLog, or use stream_frames"
        )
    return Path(options["fileLog"])


def _number(options: Any, name: str, default: int) -> int:
    text = options.get(name, str(default))
    if not text.isdecimal():
        raise ValueError(f"kafka_capture: {name} is {text!r}, not a number")
    return int(text)


def _split_size(options: Any) -> int:
    return max(1, _number(options, "splitSize", SPLIT_SIZE))


def _input_format(options: Any) -> str:
    input_format = options.get("inputFormat", "auto")
    try:
        kind_of_format(input_format)
    except ValueError as error:
        raise ValueError(f"kafka_capture: {error}") from None
    return str(input_format)


def _layout(options: Any) -> pa.Schema:
    rows = options.get("rows", "packets")
    if rows not in _LAYOUTS:
        raise ValueError(f"kafka_capture: rows is {rows!r}; it has {' and '.join(_LAYOUTS)}")
    return _LAYOUTS[rows]


_LAYOUTS = {"packets": PACKETS, "chunks": CHUNKS}


def _columns(schema: StructType, layout: pa.Schema) -> list[str]:
    """The column names of a schema. Raises ValueError unless it is a subset of the layout, or, for
    chunks, the whole layout.
    """
    whole = {field.name: field.dataType for field in from_arrow_schema(layout)}
    if layout is CHUNKS and schema.fieldNames() != CHUNKS.names:
        raise ValueError(f"kafka_capture: chunks have all of {', '.join(CHUNKS.names)}")
    for field in schema:
        if whole.get(field.name) != field.dataType:
            wanted = ", ".join(f"{name} {each.simpleString()}" for name, each in whole.items())
            raise ValueError(
                f"kafka_capture has no {field.name} {field.dataType.simpleString()}; "
                f"it has {wanted}"
            )
    return schema.fieldNames()


class _Reader(DataSourceReader):
    def __init__(
        self,
        columns: list[str],
        paths: list[str],
        split_size: int,
        input_format: str,
        as_chunks: bool,
    ) -> None:
        self._columns = columns
        self._as_chunks = as_chunks
        self._paths = paths
        self._split_size = split_size
        self._input_format = input_format
        self._times = Times()

    def partitions(self) -> Sequence[InputPartition]:
        names = list_files(self._paths)
        return [FileTask(part) for part in plan(names, self._split_size, self._input_format)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, FileTask)
        require_open(partition.part)
        if self._as_chunks:
            return pack(part_chunks(partition.part))
        return read_part(partition.part, self._columns, self._times)


class _FilteringReader(_Reader):
    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        for condition in filters:
            times = _narrowed(self._times, condition)
            if times is None:
                yield condition
            else:
                self._times = times


def _narrowed(times: Times, condition: Filter) -> Times | None:
    """``times`` narrowed by a condition on ``ts``; None for a condition on any other column."""
    kinds = (GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual)
    if not isinstance(condition, kinds) or condition.attribute != ("ts",):
        return None
    since = condition.value - _EPOCH
    micros = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    after = isinstance(condition, (GreaterThan, LessThanOrEqual))
    if isinstance(condition, (GreaterThan, GreaterThanOrEqual)):
        return Times(max(times.since, micros + after), times.until)
    return Times(times.since, min(times.until, micros + after))
