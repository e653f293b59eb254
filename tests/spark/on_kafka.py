"""What Spark's own Kafka source and sink do on a cluster, in one session, as JSON.

    python -m tests.spark.on_kafka 127.0.0.1:34567 JAR...

See ``test_kafka_source``. Offsets of a stream are kept below the current folder.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from kafka_admin_proto.spark.session import spark_session


def main(bootstrap: str, jars: list[str]) -> None:
    spark = spark_session("local[2]", settings={"spark.jars": ",".join(jars)})
    kafka = {"kafka.bootstrap.servers": bootstrap}

    def write(first: int, end: int) -> None:
        numbers = spark.range(first, end, numPartitions=2)
        rows = numbers.selectExpr(
            "cast(id as string) as key",
            "concat('value ', id) as value",
            "array(named_struct('key', 'number', 'value', cast(cast(id as string) as binary)))"
            " as headers",
        )
        rows.write.format("kafka").options(**kafka, topic="orders").save()

    def copy() -> None:
        source = spark.readStream.format("kafka").options(
            **kafka, subscribe="orders", startingOffsets="earliest"
        )
        sink = source.load().select("key", "value").writeStream.format("kafka")
        sink.options(**kafka, topic="copies", checkpointLocation="checkpoint")
        query = sink.trigger(availableNow=True).start()
        if not query.awaitTermination(120):
            query.stop()
            raise TimeoutError("the stream has not copied what there is")

    write(0, 3000)
    copy()
    write(3000, 3010)
    copy()  # from where its checkpoint says
    done = {
        "all": _rows(spark, kafka | {"subscribe": "orders", "includeHeaders": "true"}),
        "some": _rows(
            spark,
            kafka
            | {
                "subscribe": "orders",
                "startingOffsets": json.dumps({"orders": {"0": 5, "1": 5, "2": 3}}),
                "endingOffsets": json.dumps({"orders": {"0": 7, "1": -1, "2": 3}}),
            },
        ),
    }
    spark.stop()
    print(json.dumps(done))


def _rows(spark: SparkSession, options: dict[str, str]) -> list[dict[str, Any]]:
    """What Spark reads, with keys and values as texts."""
    frame: DataFrame = spark.read.format("kafka").options(**options).load()
    columns = ["cast(key as string)", "cast(value as string)", "partition", "offset"]
    if "headers" in frame.columns:
        columns.append("cast(headers[0].value as string) as header")
    return [row.asDict() for row in frame.selectExpr(*columns).collect()]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
