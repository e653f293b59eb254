"""Tables as DataFrames, whichever sink has written them."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from kafka_admin_proto.spark.sinks.data_files import Location
from kafka_admin_proto.spark.sinks.rows import read_rows
from kafka_admin_proto.spark.sinks.snapshots import snapshot_names


def read_tables(
    spark: SparkSession, folder: str, schemas: Mapping[str, pa.Schema]
) -> dict[str, DataFrame]:
    """The tables below a folder or URI, by name; one that is not there is left out.

    Of a Delta table it is the newest snapshot, whatever is written later. Raises MissingExtraError
    where a Delta table needs delta-rs.
    """
    out = Location(folder.rstrip("/"))
    found: dict[str, DataFrame] = {}
    for table, schema in schemas.items():
        names = snapshot_names(out, table)
        if names is not None:
            found[table] = read_rows(spark, out, table, names, schema)
    return found
