"""Sections about those who send requests: upgrade readiness, clients, audit."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow.compute as pc

from kafka_admin_proto.capture.upgrade import distinct_clients, unread_pieces, upgrade_verdict
from kafka_admin_proto.counts import number, with_commas
from kafka_admin_proto.protocol.releases import release
from kafka_admin_proto.render.plots import Series, bars
from kafka_admin_proto.render.report import Column, Plot, Section, Table
from kafka_admin_proto.tables import queries
from kafka_admin_proto.tables.queries.clients import upgrade_check, upgrade_rows
from kafka_admin_proto.tables.queries.grouping import Row, records
from kafka_admin_proto.tables.queries.stored_tables import StoredTable
from kafka_admin_proto.tables.report.answers import (
    BAD_STATUS,
    MOST_BARS,
    client_name,
    empty,
    first_of,
    first_rows,
    missing,
    summed,
    table,
)

_OUTCOMES = {"done": "s2", "checked": "s0", "no answer": "s1", "failed": "s3"}
#: The status of what a client has to change, and of what is no alarm.
_STATUS, _QUIET_STATUS = Column("status", "status", BAD_STATUS), Column("status")
_CLIENT, _SENT = "client_id address software principal", "requests first_ts last_ts"


def upgrade(
    frames: StoredTable | None, target: str, problems: StoredTable | None = None
) -> Section:
    """Which clients have to change before the upgrade; ``problems`` hold what was not read."""
    name = release(target).name
    id, title = "upgrade", f"Upgrade to {name}"
    if frames is None:
        return missing(id, title, "frames")
    check = upgrade_check(frames, target)
    found = upgrade_rows(check.rows_in_question())
    unchanged = upgrade_rows(row for row in check.rows() if row["status"] == "fine").filter(
        pc.field("traffic") == "client"
    )
    removed = pc.field("status") != "deprecated"
    traffic = pc.field("traffic")
    parts: list[Plot | Table] = []
    clients = found.filter(removed & (traffic == "client"))
    count, _ = check.to_change()
    senders = summed(clients, ("client_id", "address", "software"), "requests").rows
    if senders:
        top = senders[:MOST_BARS]
        labels = [client_name(row) for row in top]
        plot = bars(
            f"Requests in versions that {name} does not take, by client",
            labels,
            [Series("requests", [row["requests"] for row in top], "s3")],
            "requests",
        )
        caption = f"Requests that {name} would refuse, by client"
        parts.append(Plot(first_of(caption, count, "clients"), plot))
    kinds = (
        ("Clients that have to change", clients, _STATUS, False),
        ("Requests that brokers passed on for clients (address: the broker's)",
         found.filter(removed & (traffic == "forwarded")), _STATUS, False),
        ("Between brokers and controllers: no client has to change for these",
         found.filter(removed & (traffic == "broker")), _QUIET_STATUS, False),
        (f"Versions that {name} still takes, deprecated there", found.filter(~removed),
         _QUIET_STATUS, True),
    )  # fmt: skip
    totals = []
    for heading, rows, status, folded in kinds:
        answer = first_rows(rows)
        totals.append(answer.total)
        if answer.total:
            names = f"status {_CLIENT} api versions least removed_in {_SENT}"
            parts.append(table(heading, answer, names, folded=folded, status=status))
    if unchanged.num_rows:
        heading = "Clients that stay as they are"
        parts.append(table(heading, first_rows(unchanged), f"{_CLIENT} {_SENT}", folded=True))
    has_requests = any(totals) or frames.where(pc.field("direction") == "request").count() > 0
    unread = None if problems is None else _unread(problems)
    headline, _ = upgrade_verdict(count, totals[1], has_requests=has_requests, whole=unread is None)
    if not has_requests:
        said = [f"{headline.capitalize()}."]
        return Section(id, title, "no clients seen", said=said, answer=said[0])
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
    if not count and not totals[1]:
        said.append("No client does, of those that sent anything here.")
    if unread is not None:
        said.append(unread)
    said_of_all = _answer(count, len(check.clients()), totals[1], name)
    if unread is not None:
        said_of_all += ", as far as could be read"
    return Section(id, title, headline, bool(count or totals[1]), said, parts, f"{said_of_all}.")


def _answer(changing: int, clients: int, forwarded: int, name: str) -> str:
    """The sentence for the head of the page, without the full stop."""
    if not clients and not forwarded:
        return f"No client was seen: nothing but brokers has to be ready for {name}"
    if not changing and forwarded:
        return f"Clients behind forwarding brokers must change before {name}"
    changed = number(changing) if changing else "None"
    return f"{changed} of {with_commas(clients, 'clients')} must change before {name}"


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


def clients_seen(clients: StoredTable | None) -> Section:
    id, title = "clients", "Clients"
    if clients is None:
        return missing(id, title, "clients")
    found = queries.inventory(clients)
    answer = first_rows(found)
    if not answer.total:
        return empty(id, title, "No client sent anything.")
    top = answer.rows[:MOST_BARS]
    labels = [client_name(row | {"software": _software(row)}) for row in top]
    series = [
        Series(name, [(r["requests"] or 0) * (r["traffic"] == traffic) for r in top], colour)
        for traffic, name, colour in (("client", "clients", "s0"), ("broker", "brokers", "s8"))
    ]
    plot = bars("Requests by client", labels, [s for s in series if any(s.values)], "requests")
    parts = (
        Plot(first_of("Requests by client", answer.total, "rows"), plot),
        table("Clients", answer, "client_id address traffic software_name software_version"
              " principals requests apis first_ts last_ts"),
    )  # fmt: skip
    by_traffic = {
        traffic: distinct_clients(
            (row["client_id"], row["address"], _software(row))
            for row in records(found.filter(pc.field("traffic") == traffic))
            if row["apis"]
        )
        for traffic in ("client", "broker")
    }
    headline = with_commas(len(by_traffic["client"]), "clients")
    if by_traffic["broker"]:
        headline += f", {with_commas(len(by_traffic['broker']), 'brokers')}"
    said = [
        "By id, software and address; brokers and controllers are clients of each other and have "
        "a row as well. What a client sent before it named its software has a row of its own, and "
        "counts with the client."
    ]
    return Section(id, title, headline, said=said, parts=parts)


def _software(client: Row) -> str | None:
    named = filter(None, (client["software_name"], client["software_version"]))
    return " ".join(named) or None


def audit(admin_audit: StoredTable | None) -> Section:
    id, title = "audit", "Administration"
    if admin_audit is None:
        return missing(id, title, "admin_audit")
    totals = first_rows(queries.audit_totals(admin_audit))
    if not totals.total:
        return empty(id, title, "Nobody changed anything.")
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
    parts = (
        Plot("Operations by outcome", bars("Operations by outcome", shown, series, "operations")),
        table("Operations and outcomes", totals,
              "operation outcome forwarded operations first_ts last_ts", folded=True),
        table("Who did what, the latest first", answer, "ts outcome operation topic resource_type"
              " resource_name principal client_id address parameters error message latency_us api"
              " api_version forwarded topic_id"),
    )  # fmt: skip
    said = [f"{with_commas(count, 'operations')}, {number(failed)} of them failed."]
    if forwarded:
        said.append(
            f"The tables below have {with_commas(forwarded, 'forwarded operations')}: what a "
            "broker "
            "passed on to the controller is the client's own operation, seen there again. It "
            "counts once."
        )
    return Section(
        id,
        title,
        f"{with_commas(count, 'operations')}, {number(failed)} failed",
        failed > 0,
        said,
        parts,
    )


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
