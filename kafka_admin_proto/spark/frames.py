"""Packets → frame records: a shuffle by connection.

packets = spark.read.format("kafka_capture").load("captures/")
frames(packets).where("api = 'CreateTopics'").show()
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_admin_proto.spark.ingest.packets import PACKETS
from kafka_admin_proto.spark.tables.walk import AS_USUAL, FRAMES, Reading, walk


def frames(packets: DataFrame, reading: Reading = AS_USUAL) -> DataFrame:
    """The frame records of packets in the columns of the data source; see `walk.FRAMES`.

    All packets between two endpoints go to one task, which has them in their order and follows one
    connection after the other.
    """
    return by_flow(packets.select(*PACKETS.names)).mapInArrow(
        partial(_walk, reading=reading), from_arrow_schema(FRAMES)
    )


def by_flow(packets: DataFrame, heavy: Sequence[bytes] = ()) -> DataFrame:
    """The packets of each flow together, in their order; each ``heavy`` one is a task of its own.

    The tasks of these come first, see `ingest.skewed_flows`.
    """
    if not heavy:
        return packets.repartition("flow").sortWithinPartitions("flow", "place")
    count = int(packets.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    partition = F.pmod(F.xxhash64("flow"), F.lit(count)).cast("int") + len(heavy)
    for number, flow in enumerate(heavy):
        partition = F.when(F.col("flow") == F.lit(flow), number).otherwise(partition)
    together = packets.repartitionById(len(heavy) + count, partition)
    return together.sortWithinPartitions("flow", "place")


def _walk(batches: Iterable[pa.RecordBatch], reading: Reading) -> Iterator[pa.RecordBatch]:
    return walk(batches, reading)


def read_frames(
    spark: SparkSession, *paths: str, reading: Reading = AS_USUAL, **options: str
) -> DataFrame:
    """The frame records of captures and request logs: ``frames`` of what the data source reads."""
    packets = spark.read.format("kafka_capture").options(**options).load(list(paths))
    return frames(packets, reading)
