"""Frame records of captures as their files appear, batch by batch, each frame once.

    stream_frames(spark, "captures/", checkpoint="state/", sink=write).awaitTermination()

Connections go on from one batch to the next: what a batch leaves of each (bytes in flight,
requests that wait, who has logged in) is kept beside the checkpoint, and is the input of the next
one. So a batch that is run again, after the job was killed, gives the same frames; ``sink`` is told
its number and has to replace what it wrote for that one before.
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

#: Seconds of the captures after which a silent connection is taken to be over. Brokers close idle
#: ones after ten minutes (connections.max.idle.ms).
TIMEOUT = 3600
_ENDED = "ended"
#: Spark puts a file ``_SUCCESS`` into a folder that is whole, unless a cluster says otherwise.
_MARKED = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "true"}

Sink = Callable[[DataFrame, int], None]


class StreamEndedError(KafkaAdminProtoError):
    """The stream of this checkpoint was ended: what came later would begin in the middle."""


class _Batches(msgspec.Struct, frozen=True):
    """What is done with each batch of packets."""

    checkpoint: Path
    sink: Sink
    reading: DecodeOptions
    timeout: int

    def take(self, packets: DataFrame, number: int) -> None:
        """Batch ``number`` of the stream.

        What an earlier try of it has decoded holds: files may have gone since.
        """
        if not self._is_decoded(number):
            first = packets.select(F.unix_micros("clock")).head()
            clock = 0 if first is None else first[0]
            self._decode(packets, number, StreamTime(clock, self.timeout * 1_000_000))
        self._hand_out(packets.sparkSession, number)

    def end(self, spark: SparkSession) -> None:
        """All connections are over: what they still have is a last batch."""
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
            partial(_decode, reading=self.reading, stream=stream),
            from_arrow_schema(STREAMED),
        )
        writer = decoded.write.mode("overwrite").options(**_MARKED)
        writer.parquet(to_write(self._folder(number)))

    def _is_decoded(self, number: int) -> bool:
        """Whether all of a batch is in its folder."""
        return (self._folder(number) / "_SUCCESS").exists()

    def _hand_out(self, spark: SparkSession, number: int) -> None:
        """Give the sink the frames of a batch that is decoded."""
        staged = self._staged(spark, number)
        self.sink(staged.where("state IS NULL").select(*DECODED.names), number)

    def _staged(self, spark: SparkSession, number: int) -> DataFrame:
        """What batch ``number`` has made of its packets."""
        folder = to_read(self._folder(number))
        return spark.read.schema(from_arrow_schema(STREAMED)).parquet(folder)

    def _left_by(self, spark: SparkSession, number: int) -> DataFrame:
        """Flows that go on, as rows in front of their packets."""
        staged = self._staged(spark, number)
        values = {
            "place": F.lit(-1).cast("long"),
            "flow": F.col("flow"),
            "clock": F.col("clock"),
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
    reading: DecodeOptions = DEFAULT_OPTIONS,
    timeout: int = TIMEOUT,
    every: str | None = None,
    **options: str,
) -> StreamingQuery:
    """Start a stream: ``sink(frames, number)`` for each batch, in the columns of `DECODED`.

    ``every`` is the time between batches ("1 minute"); without it, what is there now is read, and
    the stream stops until it is started again. ``checkpoint`` is a folder of its own on a file
    system that driver and workers share. Other options are the data source's. Raises
    StreamEndedError where ``end_stream`` was called before.
    """
    folder = Path(checkpoint)
    if (folder / _ENDED).exists():
        raise StreamEndedError(f"the stream in {folder} has ended; start one in a new folder")
    packets = spark.readStream.format("kafka_capture").options(**options)
    if len(paths) != 1:
        packets = packets.option("paths", msgspec.json.encode(paths).decode())
    else:
        packets = packets.option("path", paths[0])
    batches = _Batches(folder, sink, reading, timeout)
    packets = packets.option("rows", "chunks").option("fileLog", str(folder.absolute() / "files"))
    writer = packets.load().writeStream.foreachBatch(batches.take)
    writer = writer.option("checkpointLocation", to_write(folder / "query"))
    if every is None:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=every).start()


def last_batch(checkpoint: Path) -> int | None:
    """The batch with which ``end_stream`` began to end a stream, perhaps in vain; None before."""
    ended = checkpoint / _ENDED
    return int(ended.read_text()) if ended.exists() else None


def end_stream(
    spark: SparkSession,
    checkpoint: str | Path,
    sink: Sink,
    reading: DecodeOptions = DEFAULT_OPTIONS,
) -> None:
    """No more files come: hand out what the connections of a stopped stream still have."""
    _Batches(Path(checkpoint), sink, reading, TIMEOUT).end(spark)


def _decode(
    batches: Iterable[pa.RecordBatch], reading: DecodeOptions, stream: StreamTime
) -> Iterator[pa.RecordBatch]:
    return decode_stream(batches, reading, stream)
