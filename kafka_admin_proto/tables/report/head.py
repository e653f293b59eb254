"""The report: its head, with the captures and the time that the tables cover, and its sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kafka_admin_proto.counts import with_commas
from kafka_admin_proto.protocol.releases import release
from kafka_admin_proto.render.plots import moment
from kafka_admin_proto.render.report import Section
from kafka_admin_proto.tables.queries.grouping import Row, add_span, count_groups, records
from kafka_admin_proto.tables.queries.stored_tables import StoredTable
from kafka_admin_proto.tables.report import cluster as report_cluster
from kafka_admin_proto.tables.report import people as report_people
from kafka_admin_proto.tables.report import traffic as report_traffic
from kafka_admin_proto.tables.report.answers import MOST_ROWS, Answer, table

#: Captures that the head names; its table has more.
_NAMED = 3


def page_head(tables: Mapping[str, StoredTable], title: str, about: Sequence[str]) -> Section:
    """The period and the captures of ``frames`` and ``problems``; ``about`` stands below them.

    Its ``answer`` is for those who know the sections.
    """
    found = _captures(tables)
    if not found:
        said = ["No capture was read, or the tables have nothing of this time."]
        return Section("head", title, "", said=[*said, *about])
    first = min((row["first_ts"] for row in found if row["first_ts"] is not None), default=None)
    last = max((row["last_ts"] for row in found if row["last_ts"] is not None), default=None)
    period = "No frame has a time."
    if first is not None:
        period = f"From {moment(first, whole=True)} to {moment(last, whole=True)} UTC."
    unread = [row for row in found if row["first_ts"] is None and row["frames"] <= row["problems"]]
    said = [period]
    if read := [row for row in found if row not in unread]:
        frames = sum(row["frames"] for row in read)
        counts = f"{with_commas(len(read), 'captures')} with {with_commas(frames, 'frames')}"
        said.append(f"{counts}{_names(read)}.")
    if unread:
        said.append(f"Nothing was read of {with_commas(len(unread), 'inputs')}{_names(unread)}.")
    names = "capture frames problems first_ts last_ts"
    captures = table("Captures", Answer(found[:MOST_ROWS], len(found)), names, folded=True)
    return Section("head", title, "", said=[*said, *about], parts=[captures])


def _names(rows: Sequence[Row]) -> str:
    """The names of the first files, behind a colon."""
    files = [(row["capture"] or "?").rstrip("/").rpartition("/")[2] for row in rows[:_NAMED]]
    named = ", ".join(files)
    more = f", and {with_commas(len(rows) - _NAMED, 'others')}" if len(rows) > _NAMED else ""
    return f": {named}{more}" if rows else ""


def _captures(tables: Mapping[str, StoredTable]) -> list[Row]:
    """The captures by name, also those of which nothing but problems came."""
    found: dict[str | None, Row] = {}
    for name in ("frames", "problems"):
        if name not in tables:
            continue
        for group in records(count_groups(tables[name].batches(["capture", "ts"]), ["capture"])):
            row = found.setdefault(
                group["capture"],
                {"capture": group["capture"], "frames": 0, "problems": 0}
                | {"first_ts": None, "last_ts": None},
            )
            row[name] = group["count"]
            add_span(row, group["first_ts"], group["last_ts"])
    return sorted(found.values(), key=lambda row: row["capture"] or "")


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
