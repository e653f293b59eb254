"""A table as a DataFrame, whichever sink has written it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_admin_proto.errors import MissingExtraError
from kafka_admin_proto.spark.paths import named_to_read
from kafka_admin_proto.spark.sinks.data_files import Location
from kafka_admin_proto.spark.sinks.rows import read_rows

#: Schemes of the object stores that delta-rs reaches.
DELTA_STORES = ("s3", "s3a", "gs", "abfs", "abfss", "az")


def read_table(spark: SparkSession, folder: str, table: str, schema: pa.Schema) -> DataFrame | None:
    """The table of that name below a folder or URI, None where there is none.

    Of a Delta table it is the newest snapshot, whatever is written later. Raises MissingExtraError
    where a Delta table needs delta-rs.
    """
    out = Location(folder.rstrip("/"))
    if out.is_local and not (Path(folder) / table / "_delta_log").exists():
        return _read_parquet(spark, f"{out.uri}/{table}", schema)
    if not out.is_local and out.uri.partition("://")[0] not in DELTA_STORES:
        return _read_parquet(spark, f"{out.uri}/{table}", schema)
    if importlib.util.find_spec("deltalake") is None:
        if out.is_local:
            raise MissingExtraError(
                f"{folder} has Delta tables: pip install 'kafka-admin-proto[delta]'"
            )
        return _read_parquet(spark, f"{out.uri}/{table}", schema)
    from kafka_admin_proto.spark.sinks.delta import file_names, open_table

    found = open_table(out, table)
    if found is None:
        return _read_parquet(spark, f"{out.uri}/{table}", schema)
    return read_rows(spark, out, table, file_names(found), schema)


def _read_parquet(spark: SparkSession, path: str, schema: pa.Schema) -> DataFrame | None:
    try:
        return spark.read.schema(from_arrow_schema(schema)).parquet(named_to_read(path))
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return None
