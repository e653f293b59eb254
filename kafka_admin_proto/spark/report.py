"""The pipeline's tables → a report: each of the ready `queries` as sentences, plots and a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyspark.sql import DataFrame

from kafka_admin_proto.protocol.releases import release
from kafka_admin_proto.render.report import Section
from kafka_admin_proto.spark import report_cluster, report_people, report_traffic


def report_sections(tables: Mapping[str, DataFrame], target: str) -> Iterator[Section]:
    """The report's sections, one by one as they are worked out; see `read_tables`.

    Raises UnknownReleaseError for a target that is no known release.
    """
    release(target)
    frames = tables.get("frames")
    yield report_people.upgrade(frames, target)
    yield report_people.clients_seen(tables.get("clients"))
    yield report_people.audit(tables.get("admin_audit"))
    yield report_traffic.errors(frames)
    yield report_traffic.rates(frames)
    yield report_traffic.latencies(frames)
    yield report_cluster.leaders(tables.get("metadata_changes"))
    yield report_cluster.elections(tables.get("quorum_events"))
    yield report_cluster.problems_seen(tables.get("problems"))
