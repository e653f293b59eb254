"""Questions about those who send requests: upgrade readiness, clients, audit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import dataset

from kafka_admin_proto.capture.upgrade import Client, UpgradeCheck, is_broker_use, upgrade_verdict
from kafka_admin_proto.tables.queries.grouping import (
    COUNT,
    SPAN,
    TEXT,
    TEXTS,
    Row,
    add_span,
    count_groups,
    most_frequent,
    nulls_first,
    records,
    table_of,
    with_address,
)
from kafka_admin_proto.tables.queries.stored_tables import StoredTable
from kafka_admin_proto.tables.rows.derived.client_uses import USED_COLUMNS, ClientUses, client_rows

_SHORT = pa.int16()


def upgrade(frames: StoredTable, target: str) -> pa.Table:
    """Who sends versions that release ``target`` ("4.0") has no more, or calls deprecated.

    One row for each client and api. ``status``: "version removed", "api removed" (all versions of
    it), "deprecated" (still taken, and named as going). ``traffic``: "broker" where one broker or
    controller talks to another, as an old ``inter.broker.protocol.version`` makes them,
    "forwarded" where a broker passed a request on (its address), "client" otherwise. ``versions``
    are the ones in question, ``least`` is what the client has to speak at least, null where the api
    is gone, ``removed_in`` the release that dropped it. A client that only lacks what is newer
    than the target is not listed: it asks which versions there are. Raises UnknownReleaseError.
    """
    return upgrade_rows(upgrade_check(frames, target).rows_in_question())


def upgrade_check(frames: StoredTable, target: str) -> UpgradeCheck:
    """All requests of the table, counted for an `UpgradeCheck`."""
    check = UpgradeCheck(target)
    client = ("client_id", "address", "client_software", "principal", "forwarded")
    use = ("api_key", "api", "api_version")
    requests = frames.where(
        (pc.field("direction") == "request")
        & pc.field("api").is_valid()
        & pc.field("api_version").is_valid()
    )
    parts = requests.batches(["client", "ts", *(n for n in (*client, *use) if n != "address")])
    for row in records(count_groups(map(with_address, parts), [*client, *use])):
        check.count(
            Client(*(row[name] for name in client)), row["api_key"], row["api"],
            row["api_version"], row["count"], row["first_ts"], row["last_ts"],
        )  # fmt: skip
    return check


def upgrade_rows(rows: Iterable[Row]) -> pa.Table:
    """Rows of an `UpgradeCheck` as ``upgrade`` gives them."""
    return table_of(
        rows,
        [
            *((n, TEXT) for n in ("status", "traffic", "client_id", "address", "software",
                                   "principal", "api")),
            ("api_key", _SHORT), ("versions", pa.list_(_SHORT)), ("least", _SHORT),
            ("removed_in", TEXT), ("requests", COUNT), *SPAN,
        ],
    )  # fmt: skip


def upgrade_answer(tables: Mapping[str, StoredTable], target: str) -> tuple[str, bool]:
    """The `upgrade_verdict` of the tables: what it says in words, and whether it is "ready"."""
    found = upgrade(tables["frames"], target)
    removed = found.filter(pc.field("status") != "deprecated")
    clients = removed.filter(pc.field("traffic") == "client")
    identity = ["client_id", "address", "software", "principal"]
    requests = tables["frames"].where(pc.field("direction") == "request").count()
    unread = 0
    if "problems" in tables:
        unread = tables["problems"].where(pc.field("api").is_null()).count()
    return upgrade_verdict(
        clients.group_by(identity).aggregate([]).num_rows,
        removed.filter(pc.field("traffic") == "forwarded").num_rows,
        has_requests=requests > 0,
        whole=unread == 0,
    )


def audit(admin_audit: StoredTable) -> pa.Table:
    """Who did what to which topic, or other resource, the latest first.

    ``outcome``: "done", "failed" (with ``error`` and ``message``), "checked" for a success of a
    request that was only to be validated, "no answer" where none was captured.
    """
    same = ("topic", "topic_id", "resource_type", "resource_name", "principal", "client_id")
    more = ("api", "api_version", "parameters", "error", "message", "latency_us", "forwarded",
            "capture", "connection", "packet_ordinal")  # fmt: skip
    read = ("ts", "operation", *same, *more, "client", "client_software", "answered",
            "validate_only")  # fmt: skip
    found = _with_outcome(with_address(admin_audit.rows(read)))
    found = found.append_column("topic_or_empty", pc.fill_null(found["topic"], ""))
    keys = {"ts": "descending", "packet_ordinal": "descending", "topic_or_empty": "ascending"}
    columns = ("ts", "outcome", "operation", *same, "client_software", "address", *more)
    shown = ("ts", "outcome", "operation", *same, "software", "address", *more)
    return found.sort_by(list(keys.items())).select(columns).rename_columns(shown)


def _with_outcome(part: pa.Table) -> pa.Table:
    conditions = pc.make_struct(
        pc.is_valid(part["error"]),
        pc.invert(pc.fill_null(part["answered"], False)),
        pc.fill_null(part["validate_only"], False),
    )
    outcome = pc.case_when(conditions, "failed", "no answer", "checked", "done")
    return part.append_column("outcome", outcome)


def audit_totals(admin_audit: StoredTable) -> pa.Table:
    """How often each operation had each outcome, see ``audit``, the most frequent first."""
    read = ("ts", "operation", "forwarded", "error", "answered", "validate_only")
    keys = ("operation", "outcome", "forwarded")
    parts = map(_with_outcome, admin_audit.batches(read))
    return most_frequent(count_groups(parts, keys), keys, "operations")


def clients_between(frames: StoredTable) -> StoredTable:
    """The table ``clients`` of these frames alone, for a time that begins or ends within a day."""
    uses = ClientUses()
    for part in frames.batches(USED_COLUMNS):
        for batch in part.to_batches():
            uses.add(batch)
    return StoredTable(dataset.dataset(client_rows([uses.take()])))


def inventory(clients: StoredTable) -> pa.Table:
    """Every client over all days, by id, software and address, the busiest first.

    ``traffic`` is "broker" for a client id and address that sent what only brokers and controllers
    send, as in ``upgrade``, otherwise "client".
    """
    keys = ("client_id", "software_name", "software_version", "address")
    read = (*keys, "principals", "apis", "requests", "first_ts", "last_ts")
    found: dict[tuple[Any, ...], Row] = {}
    for part in clients.batches(read):
        for day in records(part):
            key = tuple(day[name] for name in keys)
            row = found.setdefault(
                key,
                dict(zip(keys, key, strict=True))
                | {"principals": set(), "apis": {}, "requests": 0, "first_ts": None}
                | {"last_ts": None},
            )
            add_span(row, day["first_ts"], day["last_ts"])
            row["requests"] += day["requests"] or 0
            row["principals"].update(day["principals"] or ())
            for used in day["apis"] or ():
                low, high = row["apis"].get(used["api"], (used["min_version"], 0))
                row["apis"][used["api"]] = (
                    min(low, used["min_version"]), max(high, used["max_version"])
                )  # fmt: skip
    brokers = {
        (row["client_id"], row["address"])
        for row in found.values()
        if any(is_broker_use(api, row["client_id"]) for api in row["apis"])
    }
    rows = sorted(found.values(), key=lambda row: nulls_first(*(row[name] for name in keys)))
    rows.sort(key=itemgetter("requests"), reverse=True)
    return table_of(
        (
            row
            | {"principals": sorted(row["principals"]), "apis": _versions(row["apis"])}
            | {"traffic": "broker" if (row["client_id"], row["address"]) in brokers else "client"}
            for row in rows
        ),
        [*((name, TEXT) for name in (*keys, "traffic")), ("principals", TEXTS),
         ("requests", COUNT), *SPAN, ("apis", TEXTS)],
    )  # fmt: skip


def _versions(apis: dict[str | None, tuple[int, int]]) -> list[str]:
    """Apis with the versions used: "Fetch 4-17"."""
    return sorted(
        f"{api} {low}-{high}" if low < high else f"{api} {low}"
        for api, (low, high) in apis.items()
        if api is not None
    )
