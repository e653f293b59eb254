"""Ready questions to the pipeline's tables, answered by pyarrow without Spark.

    tables = read_tables("out")
    upgrade(tables["frames"], "4.0").filter(pc.field("traffic") == "client").to_pandas()

They read the tables of `schemas.TABLES` and nothing else. Rows are counted batch by batch, so that
memory holds groups: clients, apis, errors. Three questions hold more: ``audit`` the rows of its
answer, ``leader_changes`` the narrow columns of its table, ``latencies`` each distinct latency.
Times are UTC. ``address`` is a client's host without its port. Requests that came inside an
Envelope (KIP-590) are ``forwarded``: the client asked a broker, which asked the controller, so the
same request is in a capture of both twice.
"""

from collections.abc import Callable

import pyarrow as pa

from kafka_admin_proto.tables.queries.clients import (
    audit,
    audit_totals,
    clients_between,
    inventory,
    upgrade,
)
from kafka_admin_proto.tables.queries.cluster import elections, leader_changes, problem_kinds
from kafka_admin_proto.tables.queries.stored_tables import StoredTable, read_tables
from kafka_admin_proto.tables.queries.traffic import errors, latencies, rates

__all__ = [
    "QUERIES",
    "StoredTable",
    "audit",
    "audit_totals",
    "clients_between",
    "elections",
    "errors",
    "inventory",
    "latencies",
    "leader_changes",
    "problem_kinds",
    "rates",
    "read_tables",
    "upgrade",
]

#: What can be asked by name: the table, and the question. ``upgrade`` takes a release as well.
QUERIES: dict[str, tuple[str, Callable[..., pa.Table]]] = {
    "upgrade": ("frames", upgrade),
    "audit": ("admin_audit", audit),
    "audit-totals": ("admin_audit", audit_totals),
    "errors": ("frames", errors),
    "rates": ("frames", rates),
    "latencies": ("frames", latencies),
    "leaders": ("metadata_changes", leader_changes),
    "elections": ("quorum_events", elections),
    "clients": ("clients", inventory),
    "problems": ("problems", problem_kinds),
}
