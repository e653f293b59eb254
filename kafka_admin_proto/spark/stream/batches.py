"""Decode captures as their files appear, batch by batch, each frame exactly once.

    stream_frames(spark, "captures/", checkpoint="state/", sink=write).awaitTermination()

Connections continue from one batch to the next: the state of each (buffered bytes, pending
requests, the principal) is kept beside the checkpoint and is input of the next batch. A batch that
is run again, after the job was killed, therefore gives the same frames. ``sink`` is called with the
number of the batch, and must replace what it wrote for the same number before.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.query import StreamingQuery

from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.spark.ingest.chunks import CHUNKS
from kafka_admin_proto.spark.ingest.flows import by_flow
from kafka_admin_proto.spark.paths import to_read, to_write
from kafka_admin_proto.spark.tables.decode_flows import STREAMED_CHUNKS, StreamTime, decode_stream
from kafka_admin_proto.spark.tables.schemas import DECODED, STREAMED

#: Seconds, in the time of the captures, after which a connection without packets is considered
#: closed. Brokers close idle connections after ten minutes (connections.max.idle.ms).
CONNECTION_TIMEOUT_S = 3600
_ENDED = "ended"
#: Makes Spark put a file ``_SUCCESS`` into a complete folder, whatever a cluster's default is.
_MARKED = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "true"}

Sink = Callable[[DataFrame, int], None]


def no_callback(number: int) -> None:
    """Called before a batch is decoded: does nothing."""


class StreamEndedError(KafkaAdminProtoError):
    """The stream of this checkpoint was ended; files read later would lack their connections."""


class _Batches(msgspec.Struct, frozen=True):
    """Decodes each batch of packets and gives its frames to the sink."""

    checkpoint: Path
    sink: Sink
    decode_options: DecodeOptions
    timeout_s: int
    begin: Callable[[int], None]

    def take(self, packets: DataFrame, number: int) -> None:
        """Decode batch ``number`` and hand it to the sink.

        If an earlier try has decoded the batch, its result is used: files may have vanished since.
        """
        self.begin(number)
        if not self._is_decoded(number):
            first = packets.select(F.unix_micros("watermark")).head()
            watermark = 0 if first is None else first[0]
            self._decode(packets, number, StreamTime(watermark, self.timeout_s * 1_000_000))
        self._hand_out(packets.sparkSession, number)

    def end(self, spark: SparkSession) -> None:
        """Close all connections; their last frames make up a last batch."""
        numbers = self._numbers()
        if numbers:
            number = max(numbers)
            last = last_batch(self.checkpoint)
            if last is None:
                new = self.checkpoint / f".{_ENDED}"
                new.write_text(str(number + 1))
                new.replace(self.checkpoint / _ENDED)
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
            partial(_decode, decode_options=self.decode_options, stream=stream),
            from_arrow_schema(STREAMED),
        )
        writer = decoded.write.mode("overwrite").options(**_MARKED)
        writer.parquet(to_write(self._folder(number)))

    def _is_decoded(self, number: int) -> bool:
        """Whether the folder of a batch is complete."""
        return (self._folder(number) / "_SUCCESS").exists()

    def _hand_out(self, spark: SparkSession, number: int) -> None:
        """Give the frames of a decoded batch to the sink."""
        staged = self._staged(spark, number)
        self.sink(staged.where("state IS NULL").select(*DECODED.names), number)

    def _staged(self, spark: SparkSession, number: int) -> DataFrame:
        """The decoded rows of batch ``number``."""
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
        folders = (self.checkpoint / "flows").glob("batch=*")
        return [int(folder.name.partition("=")[2]) for folder in folders]


def stream_frames(
    spark: SparkSession,
    *paths: str,
    checkpoint: str | Path,
    sink: Sink,
    decode_options: DecodeOptions = DEFAULT_OPTIONS,
    timeout_s: int = CONNECTION_TIMEOUT_S,
    every: str | None = None,
    begin: Callable[[int], None] = no_callback,
    **options: str,
) -> StreamingQuery:
    """Start a stream that calls ``sink(frames, number)`` for each batch; columns are `DECODED`.

    ``every`` is the time between batches ("1 minute"). Without it, the stream reads all files that
    exist now, and stops until it is started again. ``checkpoint`` is a folder for this stream
    alone, on a file system that driver and workers share. ``begin`` is called with the number of a
    batch before it is decoded. ``options`` are those of the data source. Raises StreamEndedError if
    ``end_stream`` was called before.
    """
    folder = Path(checkpoint)
    if (folder / _ENDED).exists():
        raise StreamEndedError(f"the stream in {folder} has ended; start one in a new folder")
    packets = spark.readStream.format("kafka_capture").options(**options)
    if len(paths) != 1:
        packets = packets.option("paths", msgspec.json.encode(paths).decode())
    else:
        packets = packets.option("path", paths[0])
    batches = _Batches(folder, sink, decode_options, timeout_s, begin)
    packets = packets.option("rows", "chunks").option("fileLog", str(folder.absolute() / "files"))
    writer = packets.load().writeStream.foreachBatch(batches.take)
    writer = writer.option("checkpointLocation", to_write(folder / "query"))
    if every is None:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=every).start()


def last_batch(checkpoint: Path) -> int | None:
    """The number of the last batch, once ``end_stream`` has begun; None before.

    If ``end_stream`` was killed, the batch is still to be handed out.
    """
    ended = checkpoint / _ENDED
    return int(ended.read_text()) if ended.exists() else None


def end_stream(
    spark: SparkSession,
    checkpoint: str | Path,
    sink: Sink,
    decode_options: DecodeOptions = DEFAULT_OPTIONS,
) -> None:
    """End a stopped stream: close its connections and hand out their last frames."""
    batches = _Batches(Path(checkpoint), sink, decode_options, CONNECTION_TIMEOUT_S, no_callback)
    batches.end(spark)


def _decode(
    batches: Iterable[pa.RecordBatch], decode_options: DecodeOptions, stream: StreamTime
) -> Iterator[pa.RecordBatch]:
    return decode_stream(batches, decode_options, stream)
