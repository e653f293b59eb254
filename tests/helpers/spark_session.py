"""One Spark session for the tests of a worker that need one (``xdist_group("spark")``).

Tests that start Spark in processes of their own are of other groups, on other workers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.helpers.requirements import skip_or_fail
from tests.spark.needs import require

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Queries of a few rows are interpreted sooner than compiled, and need no 64 shuffle partitions.
#: Tests that start `kap pipeline` as a process have the settings that users have.
_FOR_SMALL_TABLES = {
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on two threads of this machine."""
    require("pyspark")
    from kafka_admin_proto.spark.session import NoJavaError, check_java, spark_session

    try:
        check_java()
    except NoJavaError as error:
        skip_or_fail(str(error))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the gateway's pipes stay open
        session = spark_session(
            "local[2]",
            settings={
                "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
                **_FOR_SMALL_TABLES,
            },
        )
    yield session
    session.stop()
