"""The shuffle by flow: one task gets all packets between two endpoints, in capture order."""

from __future__ import annotations

from pyspark.sql import DataFrame


def by_flow(rows: DataFrame) -> DataFrame:
    """Bring the packets or chunks of each flow together, sorted by ordinal."""
    return rows.repartition("flow").sortWithinPartitions("flow", "packet_ordinal")
