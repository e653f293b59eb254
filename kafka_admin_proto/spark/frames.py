"""Captures → frame records: a shuffle by flow, then one task decodes one flow after the other.

packets = spark.read.format("kafka_capture").load("captures/")
frames(packets).where("api = 'CreateTopics'").show()
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.tables.decode_flows import decode_flows
from kafka_admin_proto.tables.frame_columns import FRAMES
from kafka_admin_proto.tables.ingest.chunks import chunks_of, pack
from kafka_admin_proto.tables.ingest.locations import absolute
from kafka_admin_proto.tables.ingest.packets import PACKETS, rows_of


def frames(packets: DataFrame, options: DecodeOptions = DEFAULT_OPTIONS) -> DataFrame:
    """The frame records of packets in the columns of the data source; see `frame_columns.FRAMES`.

    ``read_frames`` is faster where all packets of some captures are wanted.
    """
    decode = partial(_decode_packets, options=options)
    return by_flow(packets.select(*PACKETS.names)).mapInArrow(decode, from_arrow_schema(FRAMES))


def read_frames(
    spark: SparkSession,
    *paths: str,
    decode_options: DecodeOptions = DEFAULT_OPTIONS,
    **options: str,
) -> DataFrame:
    """The frame records of captures and request logs; ``options`` are those of the data source.

    A job that uses them fails where its workers cannot open a file.
    """
    source = spark.read.format("kafka_capture").options(**options).option("rows", "chunks")
    decode = partial(decode_flows, options=decode_options)
    return by_flow(source.load(list(map(absolute, paths)))).mapInArrow(
        decode, from_arrow_schema(FRAMES)
    )


def _decode_packets(
    batches: Iterable[pa.RecordBatch], options: DecodeOptions
) -> Iterator[pa.RecordBatch]:
    return decode_flows(pack(chunks_of(rows_of(batches, PACKETS.names))), options)


def by_flow(rows: DataFrame) -> DataFrame:
    """Bring the packets or chunks of each flow together, sorted by ordinal."""
    return rows.repartition("flow").sortWithinPartitions("flow", "packet_ordinal")
