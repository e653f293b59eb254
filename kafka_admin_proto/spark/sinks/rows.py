"""Data files → a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_admin_proto.spark.paths import to_read
from kafka_admin_proto.spark.sinks.data_files import Location

_BATCH_ROWS = 4096


def read_rows(
    spark: SparkSession, location: Location, table: str, names: Sequence[str], schema: pa.Schema
) -> DataFrame:
    """The rows of data files, by their names in the folder of the table.

    Spark reads local files itself. Of an object store it may have no client: there its tasks read
    by pyarrow, all columns of each file.
    """
    columns = from_arrow_schema(schema)
    if not names:
        return spark.createDataFrame([], columns)
    if location.is_local:
        paths = [to_read(Path(location.uri) / table / name) for name in names]
        return spark.read.schema(columns).parquet(*paths)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        system, folder = location.folder(table)
        for batch in batches:
            for number in batch["id"].to_pylist():
                with (
                    system.open_input_file(f"{folder}/{names[number]}") as source,
                    pq.ParquetFile(source) as file,
                ):
                    for rows in file.iter_batches(_BATCH_ROWS, columns=schema.names):
                        yield pa.RecordBatch.from_arrays(
                            [rows[name].cast(schema.field(name).type) for name in schema.names],
                            schema=schema,
                        )

    return spark.range(len(names), numPartitions=len(names)).mapInArrow(run, columns)
