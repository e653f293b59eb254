"""Sections about those who send requests: upgrade readiness, clients, audit."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow.compute as pc

from kafka_admin_proto.capture.upgrade import NO_REQUEST, unread_pieces, upgrade_headline
from kafka_admin_proto.protocol.releases import release
from kafka_admin_proto.render.plots import (
    Series,
    bars,
    number,
)
from kafka_admin_proto.render.report import Column, Plot, Section, Table
from kafka_admin_proto.spark import queries
from kafka_admin_proto.spark.queries.grouping import Row
from kafka_admin_proto.spark.queries.stored_tables import StoredTable
from kafka_admin_proto.spark.report.answers import (
    FIRST_AND_LAST,
    MOST_BARS,
    Answer,
    cells,
    client_name,
    empty,
    first_of,
    first_rows,
    missing,
    summed,
)

_FAILED = frozenset({"failed", "no answer", "version removed", "api removed"})
_OUTCOMES = {"done": "s2", "checked": "s0", "no answer": "s1", "failed": "s3"}
_CLIENT = (
    Column("client id"), Column("address"), Column("software"), Column("principal"),
)  # fmt: skip


def upgrade(
    frames: StoredTable | None, target: str, problems: StoredTable | None = None
) -> Section:
    """Which clients have to change before the upgrade; ``problems`` hold what was not read."""
    name = release(target).name
    id, title = "upgrade", f"Upgrade to {name}"
    if frames is None:
        return missing(id, title, "frames")
    found = queries.upgrade(frames, target)
    removed = pc.field("status") != "deprecated"
    traffic = pc.field("traffic")
    parts: list[Plot | Table] = []
    clients = found.filter(removed & (traffic == "client"))
    by_client = summed(clients, ("client_id", "address", "software", "principal"), "requests")
    if by_client.rows:
        top = by_client.rows[:MOST_BARS]
        labels = [client_name(row) for row in top]
        plot = bars(
            f"Requests in versions that {name} does not take, by client",
            labels,
            [Series("requests", [row["requests"] for row in top], "s3")],
            "requests",
        )
        parts.append(Plot(first_of(f"Requests that {name} would refuse, by client", by_client,
                                    "clients"), plot))  # fmt: skip
    kinds = (
        ("Clients that have to change", clients, False),
        ("Requests that brokers passed on for clients (address: the broker's)",
         found.filter(removed & (traffic == "forwarded")), False),
        ("Between brokers and controllers", found.filter(removed & (traffic == "broker")), False),
        (f"Versions that {name} still takes, deprecated there", found.filter(~removed), True),
    )  # fmt: skip
    totals = []
    for heading, rows, folded in kinds:
        answer = first_rows(rows)
        totals.append(answer.total)
        if answer.total:
            parts.append(_upgrade_table(heading, answer, folded))
    if not any(totals) and not frames.where(pc.field("direction") == "request").count():
        return Section(id, title, "no clients seen", said=[f"{NO_REQUEST}."])
    unread = None if problems is None else _unread(problems)
    said = [
        f"Who sends versions of requests that Kafka {name} has no more "
        f"(facts of {release(target).patch}; KIP-896 for 4.0)."
    ]
    if totals[2]:
        said.append(
            "Traffic between brokers comes from the brokers' own release and "
            "inter.broker.protocol.version, or from ZooKeeper's controller: it goes with the "
            "upgrade of the brokers, not of clients."
        )
    count = by_client.total
    if not count and not totals[1]:
        said.append("No client does, of those that sent anything here.")
    if unread is not None:
        said.append(unread)
    headline = upgrade_headline(count, totals[1], whole=unread is None)
    return Section(id, title, headline, bool(count or totals[1]), said, parts)


def _unread(problems: StoredTable) -> str | None:
    """A sentence on what may have been requests and was not read, None without any."""
    unknown = problems.where(pc.field("api").is_null())
    frames = 0
    connections: set[tuple[str, str]] = set()
    for part in unknown.batches(["capture", "connection"]):
        frames += part.num_rows
        named = part.filter(pc.is_valid(part["connection"]))
        connections.update(zip(*(column.to_pylist() for column in named.columns), strict=True))
    if not frames:
        return None
    return f"{unread_pieces(frames, len(connections))}; see What could not be read."


def _upgrade_table(heading: str, answer: Answer, folded: bool) -> Table:
    heads = (
        Column("status", "status", _FAILED), *_CLIENT, Column("api"), Column("versions", "list"),
        Column("needs at least", "count"), Column("removed in"), Column("requests", "count"),
        *FIRST_AND_LAST,
    )  # fmt: skip
    rows = cells(
        answer.rows, "status", "client_id", "address", "software", "principal", "api", "versions",
        "least", "removed_in", "requests", "first_ts", "last_ts",
    )  # fmt: skip
    return Table(heading, heads, rows, answer.total, folded)


def clients_seen(clients: StoredTable | None) -> Section:
    id, title = "clients", "Clients"
    if clients is None:
        return missing(id, title, "clients")
    answer = first_rows(queries.inventory(clients))
    if not answer.total:
        return empty(id, title, "No client sent anything.")
    heads = (
        Column("client id"), Column("address"), Column("software"), Column("version"),
        Column("principals", "list"), Column("requests", "count"), Column("apis and versions",
        "list"), *FIRST_AND_LAST,
    )  # fmt: skip
    names = (
        "client_id", "address", "software_name", "software_version", "principals", "requests",
        "apis", "first_ts", "last_ts",
    )  # fmt: skip
    top = answer.rows[:MOST_BARS]
    software = [f"{r['software_name'] or ''} {r['software_version'] or ''}".strip() for r in top]
    labels = [
        client_name(row | {"software": each}) for row, each in zip(top, software, strict=True)
    ]
    plot = bars(
        "Requests by client", labels, [Series("requests", [r["requests"] or 0 for r in top], "s0")],
        "requests",
    )  # fmt: skip
    parts = (
        Plot(first_of("Requests by client", answer, "clients"), plot),
        Table("Clients", heads, cells(answer.rows, *names), answer.total),
    )
    return Section(id, title, f"{number(answer.total)}", parts=parts)


def audit(admin_audit: StoredTable | None) -> Section:
    id, title = "audit", "Topic administration"
    if admin_audit is None:
        return missing(id, title, "admin_audit")
    totals = first_rows(queries.audit_totals(admin_audit))
    if not totals.total:
        return empty(id, title, "Nobody did anything to a topic.")
    answer = first_rows(queries.audit(admin_audit))
    counts_once = _counted_once(totals.rows)
    failed = sum(count for (_, outcome), count in counts_once.items() if outcome == "failed")
    count = sum(counts_once.values())
    forwarded = sum(row["operations"] for row in totals.rows if row["forwarded"])
    labels: dict[str, dict[str, int]] = {}
    for row in totals.rows:
        label = (row["operation"] or "?") + (" (forwarded)" if row["forwarded"] else "")
        counts = labels.setdefault(label, {})
        counts[row["outcome"]] = counts.get(row["outcome"], 0) + row["operations"]
    shown = list(labels)[:MOST_BARS]
    series = [
        Series(outcome, [labels[label].get(outcome, 0) for label in shown], colour)
        for outcome, colour in _OUTCOMES.items()
    ]
    heads = (
        Column("time (UTC)", "time"), Column("outcome", "status", _FAILED), Column("operation"),
        Column("topic"), Column("principal"), Column("client id"), Column("address"),
        Column("parameters", "code"), Column("error"), Column("message"),
        Column("took", "lasting"), Column("api"), Column("version", "count"),
        Column("forwarded", "flag"), Column("topic id", "code"),
    )  # fmt: skip
    names = (
        "ts", "outcome", "operation", "topic", "principal", "client_id", "address", "parameters",
        "error", "message", "latency_us", "api", "api_version", "forwarded", "topic_id",
    )  # fmt: skip
    parts = (
        Plot("Operations by outcome", bars("Operations by outcome", shown, series, "operations")),
        Table("Operations and outcomes", (Column("operation"), Column("outcome", "status", _FAILED),
              Column("forwarded", "flag"), Column("operations", "count"), *FIRST_AND_LAST),
              cells(totals.rows, "operation", "outcome", "forwarded", "operations", "first_ts",
                     "last_ts"), totals.total, folded=True),
        Table("Who did what, the latest first", heads, cells(answer.rows, *names), answer.total),
    )  # fmt: skip
    said = [f"{number(count)} operations on topics, {number(failed)} of them failed."]
    if forwarded:
        said.append(
            f"The tables below have {number(forwarded)} forwarded ones: what a broker passed on to "
            "the controller is the client's own operation, seen there again. It counts once."
        )
    return Section(id, title, f"{number(count)}, {number(failed)} failed", failed > 0, said, parts)


def _counted_once(totals: Sequence[Row]) -> dict[tuple[str | None, str], int]:
    """Operation and outcome → how many, where a capture may have them twice.

    Of what clients asked brokers and what these forwarded, the greater number counts: a capture at
    the controller alone has only the latter.
    """
    seen: dict[tuple[str | None, str], dict[bool, int]] = {}
    for row in totals:
        counts = seen.setdefault((row["operation"], row["outcome"]), {True: 0, False: 0})
        counts[bool(row["forwarded"])] += row["operations"]
    return {key: max(counts.values()) for key, counts in seen.items()}
