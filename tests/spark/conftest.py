"""One Spark session for all tests that need one; they share a worker (``xdist_group("spark")``)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from kafka_admin_proto.spark.session import NoJavaError, check_java, spark_session
from tests.oracle import skip_or_fail


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    try:
        check_java()
    except NoJavaError as error:
        skip_or_fail(str(error))
    session = spark_session(
        "local[2]",
        settings={
            "spark.driver.memory": "1g",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        },
    )
    yield session
    session.stop()
