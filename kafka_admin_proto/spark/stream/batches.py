"""Decode captures as their files appear, batch by batch, each frame exactly once.

    stream_frames(spark, "captures/", checkpoint="state/", sink=write).awaitTermination()

Connections continue from one batch to the next: the state of each (buffered bytes, pending
requests, the principal) is kept beside the checkpoint and is input of the next batch. A batch that
is run again, after the job was killed, therefore gives the same frames. ``sink`` is called with the
number of the batch, and must replace what it wrote for the same number before.
"""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path

import msgspec
import pyarrow as pa
from pyarrow import dataset
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.query import StreamingQuery

from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.kept_files import read_kept_json, refuse_links, write_whole
from kafka_admin_proto.spark.cluster import require_version
from kafka_admin_proto.spark.frames import by_flow
from kafka_admin_proto.spark.ingest.file_log import FileLog
from kafka_admin_proto.spark.paths import to_read, to_write
from kafka_admin_proto.tables.decode_flows import STREAMED_CHUNKS, StreamTime, decode_stream
from kafka_admin_proto.tables.frame_columns import DECODED, STREAMED
from kafka_admin_proto.tables.ingest.chunks import CHUNKS
from kafka_admin_proto.tables.ingest.locations import absolute
from kafka_admin_proto.tables.ingest.unopened import UNOPENED, Unopened
from kafka_admin_proto.version import __version__
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

#: Seconds, in the time of the captures, after which a connection without packets is considered
#: closed. Brokers close idle connections after ten minutes (connections.max.idle.ms).
CONNECTION_TIMEOUT_S = 3600
_ENDED, _FILES = "ended", "files"
#: Digits of a batch's number: Spark's are 64 bits long.
_MOST_DIGITS = 19
_BATCH_FOLDER = re.compile(r"batch=(\d+)", re.ASCII)
#: Makes Spark put a file ``_SUCCESS`` into a complete folder, whatever a cluster's default is.
_MARKED = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "true"}

Sink = Callable[[DataFrame, int], None]


def no_callback(number: int) -> None:
    """Called before a batch is decoded: does nothing."""


def warn_unopened(unopened: Unopened) -> None:
    """Called with the files of each batch: warns of those that could not be opened."""
    for problem in unopened.problems.values():
        warnings.warn(problem, RuntimeWarning, stacklevel=2)


class StreamEndedError(KafkaAdminProtoError):
    """The stream of this checkpoint was ended; files read later would lack their connections."""


class _Batches(msgspec.Struct, frozen=True):
    """Decodes each batch of packets and gives its frames to the sink."""

    checkpoint: Path
    sink: Sink
    decode_options: DecodeOptions
    timeout_s: int
    begin: Callable[[int], None] = no_callback
    unopened: Callable[[Unopened], None] = warn_unopened

    def take(self, packets: DataFrame, number: int) -> None:
        """Decode batch ``number`` and hand it to the sink.

        If an earlier try has decoded the batch, its result is used: files may have vanished since.
        """
        self.begin(number)
        if not self._is_decoded(number):
            first = packets.select(F.unix_micros("watermark")).head()
            watermark = 0 if first is None else first[0]
            self._decode(packets, number, StreamTime(watermark, self.timeout_s * 1_000_000))
        unopened = FileLog(self.checkpoint / _FILES).put_back(self._problems(number))
        self.unopened(unopened)
        self._hand_out(packets.sparkSession, number, unopened.whole)

    def end(self, spark: SparkSession) -> None:
        """Close all connections; their last frames make up a last batch."""
        numbers = self._numbers()
        if numbers:
            number = max(numbers)
            last = last_batch(self.checkpoint)
            if last is None:
                new = self.checkpoint / f".{_ENDED}"
                write_whole(self.checkpoint / _ENDED, str(number + 1).encode(), new)
            else:
                number = last - 1
            if not self._is_decoded(number + 1):
                none = spark.createDataFrame([], from_arrow_schema(CHUNKS))
                self._decode(none, number + 1, StreamTime(1 << 62, 0))
            self._hand_out(spark, number + 1)

    def _decode(self, packets: DataFrame, number: int, stream: StreamTime) -> None:
        spark = packets.sparkSession
        rows = packets.select(*CHUNKS.names, F.lit(None).cast("binary").alias("state"))
        if number:
            rows = rows.unionByName(self._left_by(spark, number - 1))
        for old in self._numbers():
            if old < number - 1:
                shutil.rmtree(self._folder(old))
        decoded = by_flow(rows).mapInArrow(
            partial(
                _decode, decode_options=self.decode_options, stream=stream, version=__version__
            ),
            from_arrow_schema(STREAMED),
        )
        writer = decoded.write.mode("overwrite").options(**_MARKED)
        writer.parquet(to_write(self._folder(number)))

    def _is_decoded(self, number: int) -> bool:
        return (self._folder(number) / "_SUCCESS").exists()

    def _problems(self, number: int) -> Iterator[tuple[str, str]]:
        """The capture and the problem of each row of a decoded batch that has one."""
        problems = dataset.dataset(self._folder(number), schema=STREAMED, format="parquet")
        has_problem = dataset.field("problem").is_valid()
        for rows in problems.to_batches(columns=["capture", "problem"], filter=has_problem):
            yield from zip(rows["capture"].to_pylist(), rows["problem"].to_pylist(), strict=True)

    def _hand_out(self, spark: SparkSession, number: int, unopened: Collection[str] = ()) -> None:
        """Give the frames of a decoded batch to the sink, without those of unopened files.

        A later batch reads these files, so that they are no problem of the captures.
        """
        rows = self._staged(spark, number).where("state IS NULL")
        if unopened:
            captures = list(map(replace_invalid_utf8, unopened))
            is_unopened = F.col("capture").isin(captures) & F.col("problem").contains(UNOPENED)
            rows = rows.where(~F.coalesce(is_unopened, F.lit(False)))
        self.sink(rows.select(*DECODED.names), number)

    def _staged(self, spark: SparkSession, number: int) -> DataFrame:
        folder = to_read(self._folder(number))
        return spark.read.schema(from_arrow_schema(STREAMED)).parquet(folder)

    def _left_by(self, spark: SparkSession, number: int) -> DataFrame:
        """The states of flows that continue, as rows that sort in front of the flows' packets."""
        staged = self._staged(spark, number)
        values = {
            "packet_ordinal": F.lit(-1).cast("long"),
            "flow": F.col("flow"),
            "watermark": F.col("watermark"),
            "state": F.col("state"),
        }
        return staged.where("state IS NOT NULL").select(
            *(
                values.get(field.name, F.lit(None)).cast(field.dataType).alias(field.name)
                for field in from_arrow_schema(STREAMED_CHUNKS)
            )
        )

    def _folder(self, number: int) -> Path:
        return self.checkpoint / "flows" / f"batch={number}"

    def _numbers(self) -> list[int]:
        names = (each.name for each in (self.checkpoint / "flows").glob("batch=*"))
        return [int(match[1]) for match in map(_BATCH_FOLDER.fullmatch, names) if match]


def stream_frames(
    spark: SparkSession,
    *paths: str,
    checkpoint: str | Path,
    sink: Sink,
    decode_options: DecodeOptions = DEFAULT_OPTIONS,
    timeout_s: int = CONNECTION_TIMEOUT_S,
    every: str | None = None,
    begin: Callable[[int], None] = no_callback,
    unopened: Callable[[Unopened], None] = warn_unopened,
    **options: str,
) -> StreamingQuery:
    """Start a stream that calls ``sink(frames, number)`` for each batch; columns are `DECODED`.

    ``every`` is the time between batches ("1 minute"). Without it, the stream reads all files that
    exist now, and stops until it is started again. ``checkpoint`` is a folder for this stream
    alone, on a file system that driver and workers share. ``begin`` is called with the number of a
    batch before it is decoded. ``unopened`` is called with the files of each decoded batch and
    those that could not be opened, which a later batch reads. ``options`` are those of the data
    source. Raises StreamEndedError if ``end_stream`` was called before, and KeptFileError for links
    in the checkpoint.
    """
    folder = Path(checkpoint).absolute()
    refuse_links(folder)
    paths = tuple(map(absolute, paths))
    if (folder / _ENDED).exists():
        raise StreamEndedError(f"the stream in {folder} has ended; start one in a new folder")
    packets = spark.readStream.format("kafka_capture").options(**options)
    if len(paths) != 1:
        packets = packets.option("paths", msgspec.json.encode(paths).decode())
    else:
        packets = packets.option("path", paths[0])
    batches = _Batches(folder, sink, decode_options, timeout_s, begin, unopened)
    packets = packets.option("rows", "chunks").option("fileLog", str(folder / _FILES))
    writer = packets.load().writeStream.foreachBatch(batches.take)
    writer = writer.option("checkpointLocation", to_write(folder / "query"))
    if every is None:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=every).start()


def last_batch(checkpoint: Path) -> int | None:
    """The number of the last batch, once ``end_stream`` has begun; None before.

    If ``end_stream`` was killed, the batch is still to be handed out. Raises KeptFileError.
    """
    try:
        return read_kept_json(checkpoint / _ENDED, int, _MOST_DIGITS)
    except FileNotFoundError:
        return None


def end_stream(
    spark: SparkSession,
    checkpoint: str | Path,
    sink: Sink,
    decode_options: DecodeOptions = DEFAULT_OPTIONS,
) -> None:
    """End a stopped stream: close its connections and hand out their last frames."""
    refuse_links(Path(checkpoint))
    batches = _Batches(Path(checkpoint), sink, decode_options, CONNECTION_TIMEOUT_S)
    batches.end(spark)


def _decode(
    batches: Iterable[pa.RecordBatch],
    decode_options: DecodeOptions,
    stream: StreamTime,
    version: str,
) -> Iterator[pa.RecordBatch]:
    require_version(version)
    return decode_stream(batches, decode_options, stream)
