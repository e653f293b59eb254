"""Column functions in a real Spark session."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.helpers.mistyped import mistyped
from tests.spark.needs import require

require("pyspark")

from pyspark.errors import PythonException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import ArrayType, StructType

from kafka_admin_proto import codec
from kafka_admin_proto.protocol import write_request
from kafka_admin_proto.records.batches.batches import Batch, Record, write_batch
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.spark.columns.decode import value_type
from kafka_admin_proto.spark.functions import (
    frame_header,
    from_kafka,
    from_record_batch,
    spark_schema,
    to_kafka,
)
from tests.helpers.every_message import EVERY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.exhaustive]  # one session for all

CREATE = "CreateTopicsRequest"
VERSIONS = range(8)


def creates(name: str) -> Any:
    topics = [
        {
            "name": name,
            "numPartitions": 3,
            "replicationFactor": 1,
            "assignments": [{"partitionIndex": 0, "brokerIds": [1, 2]}],
            "configs": [{"name": "sasl.jaas.config", "value": "hunter2"}],
        }
    ]
    found = codec(CREATE, 7)
    return found.from_json({"topics": topics, "timeoutMs": 1000, "validateOnly": False})


def bodies(spark: SparkSession) -> DataFrame:
    """Columns id, body, version: good rows of all versions, damaged ones, and a null."""
    chance = random.Random(7)
    rows: list[tuple[int, bytearray | None, int]] = [(-1, None, 7)]
    for place in range(400):
        version = chance.choice(VERSIONS)
        body = bytearray(creates(f"topic-{place}").encode(version))
        if place % 10 == 0:
            del body[chance.randrange(len(body)) :]
        rows.append((place, body, version))
    return spark.createDataFrame(rows, "id int, body binary, version int").repartition(3)


def test_spark_and_arrow_have_the_same_types() -> None:
    for name, version in EVERY:
        for each in (version, None):
            assert to_arrow_type(spark_schema(name, each)) == value_type(name, each)


def test_types_of_a_message() -> None:
    schema = spark_schema(CREATE, 5)
    topics = schema["topics"].dataType
    assert isinstance(topics, ArrayType)
    topic = topics.elementType
    assert isinstance(topic, StructType)
    assert topic.simpleString().startswith(
        "struct<name:string,numPartitions:int,replicationFactor:smallint,"
        "assignments:array<struct<partitionIndex:int,brokerIds:array<int>"
    )
    assert not topic["name"].nullable
    assert "validateOnly" not in spark_schema(CREATE, 0).names
    assert spark_schema(CREATE)["validateOnly"].nullable
    assert not spark_schema(CREATE, 5)["validateOnly"].nullable
    assert all(spark_schema(each) for each in catalog().names())
    with pytest.raises(LookupError, match="versions 0-7"):
        spark_schema(CREATE, 8)


def test_permissive(spark: SparkSession) -> None:
    read = bodies(spark).withColumn("read", from_kafka("body", CREATE, F.col("version")))
    rows = {row.id: row for row in read.collect()}
    assert len(rows) == 401
    assert rows[-1].read.asDict() == {"value": None, "error": None, "raw": None}
    for place in range(400):
        value, error, raw = rows[place].read
        if place % 10 == 0:
            assert value is None
            assert error.startswith(f"{CREATE} v{rows[place].version}, ")
            assert len(raw) == len(rows[place].body)
            assert b"hunter2" not in raw
        else:
            assert (error, raw) == (None, None)
            (topic,) = value.topics
            assert topic.name == f"topic-{place}"
            assert topic.assignments[0].brokerIds == [1, 2]
            assert topic.configs[0].value == "********"
            assert value.validateOnly is (None if rows[place].version == 0 else False)
    topics = read.selectExpr("explode(read.value.topics) as topic").select("topic.name")
    assert topics.distinct().count() == 360
    assert read.where("read.error is not null").count() == 40


def test_there_and_back(spark: SparkSession) -> None:
    whole = bodies(spark).where("id % 10 != 0")
    for version in (F.col("version"), "version"):
        value = from_kafka("body", CREATE, version, mode="FAILFAST", show_secrets=True)
        again = whole.withColumn("again", to_kafka(value, CREATE, version))
        assert again.where("again <=> body").count() == 361
    fifth = whole.where("version = 5")
    value = from_kafka(F.col("body"), CREATE, 5, mode="FAILFAST", show_secrets=True)
    sixth = fifth.select(to_kafka(value, CREATE, 6).alias("body"))
    topics = sixth.select(from_kafka("body", CREATE, 6).value.topics[0]["name"].alias("name"))
    assert fifth.count() == topics.where("name like 'topic-%'").count() > 0


def test_structs_of_ones_own(spark: SparkSession) -> None:
    made = spark.sql(
        "select id, struct(array(struct(concat('t', id) as name, 4 as numPartitions)) as topics)"
        " as request from range(3) union all select 9, null"
    )
    rows = made.select("id", to_kafka("request", CREATE, 4).alias("body")).collect()
    for row in rows:
        if row.id == 9:
            assert row.body is None
        else:
            value = codec(CREATE, 4).decode(bytes(row.body))
            assert (value.topics[0].name, value.topics[0].num_partitions) == (f"t{row.id}", 4)


def test_failfast(spark: SparkSession) -> None:
    frame = bodies(spark)
    with pytest.raises(PythonException, match=r"CreateTopicsRequest v\d, .* at byte \d+"):
        frame.select(from_kafka("body", CREATE, F.col("version"), mode="FAILFAST")).collect()
    masked = from_kafka("body", CREATE, 7).value
    with pytest.raises(PythonException, match=r"topics\[\]\.configs\[\]\.value: the value is mask"):
        frame.where("version = 7 and id % 10 != 0").select(to_kafka(masked, CREATE, 7)).collect()
    with pytest.raises(LookupError, match="versions 0-7, not 9"):
        from_kafka("body", CREATE, 9)
    with pytest.raises(LookupError, match="did you mean"):
        to_kafka("body", "CreateTopic", 7)
    with pytest.raises(ValueError, match="PERMISSIVE"):
        from_record_batch("body", mode=mistyped("permissive"))


def test_headers_say_where_bodies_begin(spark: SparkSession) -> None:
    payloads = [
        (bytearray(write_request(creates("orders"), version, 5, "me")),) for version in VERSIONS
    ]
    frame = spark.createDataFrame([*payloads, (None,), (bytearray(b"\x00\x13"),)], "payload binary")
    heads = frame.withColumn("header", frame_header("payload"))
    assert heads.where("header.error is not null").count() == 1
    read = (
        heads.where("header.api = 'CreateTopics'")
        .withColumn("body", F.expr("substring(payload, header.body_offset + 1)"))
        .withColumn("read", from_kafka("body", CREATE, F.col("header.api_version")))
    )
    names = read.selectExpr("read.value.topics[0].name as name", "header.client_id as client")
    assert [tuple(row) for row in names.collect()] == [("orders", "me")] * len(VERSIONS)


def test_record_batches(spark: SparkSession) -> None:
    data = write_batch(
        Batch.of([Record(n, n, b"k", b"v", (("h", None),)) for n in range(3)], compression="gzip")
    )
    rows = [(0, bytearray(data * 2)), (1, None), (2, bytearray(data[:-1] + b"\xff"))]
    frame = spark.createDataFrame(rows, "id int, data binary")
    read = frame.select("id", F.explode_outer(from_record_batch("data")).alias("record"))
    found = {(row.id, row.record and row.record.offset) for row in read.collect()}
    assert found == {(0, 0), (0, 1), (0, 2), (1, None), (2, None)}
    (damaged,) = read.where("id = 2").select("record.*").collect()
    assert "CRC-32C" in damaged.error
    with pytest.raises(PythonException, match="CRC-32C"):
        frame.select(from_record_batch("data", mode="FAILFAST")).collect()


@pytest.mark.explore
def test_streams(spark: SparkSession, tmp_path: Path) -> None:
    bodies(spark).write.parquet(str(tmp_path / "in"))
    frame = spark.readStream.schema("id int, body binary, version int").parquet(
        str(tmp_path / "in")
    )
    query = (
        frame.select("id", from_kafka("body", CREATE, F.col("version")).alias("read"))
        .writeStream.format("parquet")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    assert query.awaitTermination(120)
    out = spark.read.parquet(str(tmp_path / "out"))
    assert out.count() == 401
    assert out.where("read.error is not null").count() == 40


def test_batches_of_any_size(spark: SparkSession) -> None:
    """More than one Arrow batch for each partition, and one row in each."""
    frame = bodies(spark).coalesce(1)
    read = frame.select("id", from_kafka("body", CREATE, F.col("version")).alias("read"))
    whole = {tuple(row) for row in read.selectExpr("id", "to_json(read)").collect()}
    for size in ("1", "7"):
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", size)
        try:
            again = {tuple(row) for row in read.selectExpr("id", "to_json(read)").collect()}
        finally:
            spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
        assert again == whole
