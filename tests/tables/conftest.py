"""Both runners of the pipeline: processes of this machine, and the Spark of `spark_session`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.spark.needs import require

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafka_admin_proto.tables.runner import Runner


@pytest.fixture(scope="package")
def processes() -> Iterator[Runner]:
    require("pyarrow")
    from kafka_admin_proto.tables.processes import Processes

    with Processes(2) as found:
        yield found


@pytest.fixture(scope="package")
def on_spark(spark: SparkSession) -> Runner:
    from kafka_admin_proto.spark.runner import SparkRunner

    return SparkRunner(spark.sparkContext)


@pytest.fixture(scope="package", params=["processes", "on_spark"])
def runner(request: pytest.FixtureRequest) -> Runner:
    """Each runner in turn."""
    found: Runner = request.getfixturevalue(request.param)
    return found
