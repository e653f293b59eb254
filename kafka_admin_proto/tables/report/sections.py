"""The pipeline's tables → a report: each of the ready `queries` as sentences, plots and a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kafka_admin_proto.protocol.releases import release
from kafka_admin_proto.render.report import Section
from kafka_admin_proto.tables.queries.stored_tables import StoredTable
from kafka_admin_proto.tables.report import cluster as report_cluster
from kafka_admin_proto.tables.report import people as report_people
from kafka_admin_proto.tables.report import traffic as report_traffic

Tables = Mapping[str, StoredTable]


def sections(target: str) -> Iterator[Callable[[Tables], Section]]:
    """What makes each of the report's sections of the tables; see `queries.read_tables`.

    Raises UnknownReleaseError for a target that is no known release.
    """
    release(target)
    yield lambda tables: report_people.upgrade(tables.get("frames"), target, tables.get("problems"))
    yield lambda tables: report_people.clients_seen(tables.get("clients"))
    yield lambda tables: report_people.audit(tables.get("admin_audit"))
    yield lambda tables: report_traffic.errors(tables.get("frames"))
    yield lambda tables: report_traffic.rates(tables.get("frames"))
    yield lambda tables: report_traffic.latencies(tables.get("frames"))
    yield lambda tables: report_cluster.leaders(tables.get("metadata_changes"))
    yield lambda tables: report_cluster.elections(tables.get("quorum_events"))
    yield lambda tables: report_cluster.problems_seen(tables.get("problems"))
