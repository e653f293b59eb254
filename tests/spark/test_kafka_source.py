"""Spark's own Kafka source and sink read and write the reference cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.spark.session import NoJavaError, check_java
from tests.helpers.requirements import skip_or_fail
from tools.oracles.jars import FetchError, ToolMissingError, fetch
from tools.oracles.libraries import SPARK_KAFKA

pytestmark = [pytest.mark.xdist_group("spark processes"), pytest.mark.exhaustive]
ROOT = Path(__file__).parents[2]
_NUMBERS = range(3010)


@pytest.mark.explore
def test_source_and_sink(tmp_path: Path) -> None:
    try:
        check_java()
        jars = fetch("spark-kafka", SPARK_KAFKA)
    except (NoJavaError, FetchError, ToolMissingError) as error:
        skip_or_fail(str(error))
    with SyncCluster(3, topics={"orders": 3, "copies": 2}) as cluster:
        arguments = [cluster.bootstrap_servers, *map(str, jars)]
        run = subprocess.run(
            [sys.executable, "-m", "tests.spark.on_kafka", *arguments],
            cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True,
            text=True, timeout=300, check=False,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr[-3000:]
        done = json.loads(run.stdout)
        orders, copies = cluster.records("orders"), cluster.records("copies")
    # The sink writes each record once, and a stream that is started again only what is new.
    once = Counter(str(number).encode() for number in _NUMBERS)
    assert Counter(each.key for each in orders) == once
    assert Counter(each.key for each in copies) == once
    assert {each.value for each in copies} == {b"value " + key for key in once}
    written = {(each.partition, each.offset): each for each in orders}
    assert len(done["all"]) == len(written)
    for row in done["all"]:
        record = written[row["partition"], row["offset"]]
        assert row["key"].encode() == record.key
        assert row["value"].encode() == record.value
        assert record.headers == (("number", row["header"].encode()),)
    ends = Counter(each.partition for each in orders)
    assert sorted((row["partition"], row["offset"]) for row in done["some"]) == [
        (0, 5), (0, 6), *((1, offset) for offset in range(5, ends[1]))
    ]  # fmt: skip
