"""The shuffle by flow: one task gets all packets between two endpoints, in capture order."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def by_flow(rows: DataFrame, skewed: Sequence[bytes] = ()) -> DataFrame:
    """Bring the packets or chunks of each flow together, sorted by ordinal.

    Each of the ``skewed`` flows gets a task of its own, and these tasks start first: see
    `skewed_flows`.
    """
    if not skewed:
        return rows.repartition("flow").sortWithinPartitions("flow", "packet_ordinal")
    count = int(rows.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    partition = F.pmod(F.xxhash64("flow"), F.lit(count)).cast("int") + len(skewed)
    for number, flow in enumerate(skewed):
        partition = F.when(F.col("flow") == F.lit(flow), number).otherwise(partition)
    together = rows.repartitionById(len(skewed) + count, partition)
    return together.sortWithinPartitions("flow", "packet_ordinal")
