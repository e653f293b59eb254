"""The pipeline's tables as DataFrames, whichever sink has written them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_admin_proto.spark.paths import to_read
from kafka_admin_proto.tables.sinks.data_files import Location
from kafka_admin_proto.tables.sinks.snapshots import snapshot_names

_BATCH_ROWS = 4096


def read_tables(
    spark: SparkSession, folder: str, schemas: Mapping[str, pa.Schema]
) -> dict[str, DataFrame]:
    """The tables below a folder or URI, by name; one that is not there is left out.

    Of a Delta table it is the newest snapshot, whatever is written later. Raises MissingExtraError
    where a Delta table needs delta-rs.
    """
    out = Location(folder.rstrip("/"))
    frames: dict[str, DataFrame] = {}
    for table, schema in schemas.items():
        names = snapshot_names(out, table)
        if names is not None:
            frames[table] = _read_rows(spark, out, table, names, schema)
    return frames


def _read_rows(
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
