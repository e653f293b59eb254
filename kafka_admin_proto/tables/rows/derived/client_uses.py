"""Count the requests of each client, and merge the counts into the table ``clients``.

A task counts the requests among its frames in Arrow. This leaves few rows, which are merged at the
end of the job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_admin_proto.tables.days import floor_days
from kafka_admin_proto.tables.rows.derived_table import TEXT, TIME, DerivedTable, undated

#: The requests of a client in one api.
_API = [
    ("api", TEXT),
    ("api_key", pa.int16()),
    ("min_version", pa.int16()),
    ("max_version", pa.int16()),
    ("requests", pa.int64()),
]
_TIMES = [("first_ts", TIME), ("last_ts", TIME)]
#: One row for each client on a day: by id, software and address (without the port).
CLIENTS = pa.schema(
    [
        ("date", pa.date32()),
        ("client_id", TEXT),
        ("software_name", TEXT),
        ("software_version", TEXT),
        ("address", TEXT),
        ("principals", pa.list_(TEXT)),
        ("apis", pa.list_(pa.struct(_API))),
        ("requests", pa.int64()),
        *_TIMES,
    ]
)
#: The columns that identify a client: the key of `CLIENTS`, without the date.
_WHO = ("client_id", "software_name", "software_version", "address")
#: One row for each client, principal, api and day that requests have in common; ``day`` counts
#: from 1970, null without a time.
USES = pa.schema(
    [("day", pa.int64()), *((name, TEXT) for name in (*_WHO, "principal")), *_API, *_TIMES]
)
TABLE = DerivedTable(name="clients", schema=CLIENTS, staged=USES)
_KEYS = USES.names[:8]
#: New rows after which a task merges all its rows.
_COMPACT_ROWS = 50_000
_BY = ["day", "client_id", "client_software", "client", "principal", "api", "api_key"]
_COUNTED = [*_BY[1:], "api_version", "ts", "forwarded"]
#: The columns of frames that are counted.
USED_COLUMNS = (*_COUNTED, "direction")


class ClientUses:
    """Gathers the uses among frames, batch by batch."""

    def __init__(self) -> None:
        self._parts: list[pa.Table] = []
        self._rows = 0

    def add(self, frames: pa.RecordBatch) -> None:
        """Count the requests among frames, without forwarded ones, which a broker sent."""
        counted = pc.and_(
            pc.equal(frames["direction"], "request"),
            pc.and_(pc.is_valid(frames["api_key"]), pc.invert(frames["forwarded"])),
        )
        requests = pa.Table.from_batches([frames.select(_COUNTED)]).filter(counted)
        if not requests.num_rows:
            return
        micros = requests["ts"].cast(pa.int64())
        found = requests.append_column("day", floor_days(micros)).group_by(_BY).aggregate(
            [
                ("api_version", "min"),
                ("api_version", "max"),
                ("forwarded", "count"),
                ("ts", "min"),
                ("ts", "max"),
            ]
        )  # fmt: skip
        software = pc.extract_regex(found["client_software"], _SOFTWARE)
        version = pc.struct_field(software, "version")
        columns = {
            "software_name": pc.struct_field(software, "name"),
            "software_version": pc.if_else(pc.equal(version, ""), None, version),
            "address": pc.struct_field(pc.extract_regex(found["client"], _ENDPOINT), "address"),
            "min_version": found["api_version_min"],
            "max_version": found["api_version_max"],
            "requests": found["forwarded_count"],
            "first_ts": found["ts_min"],
            "last_ts": found["ts_max"],
        }
        uses = [columns[name] if name in columns else found[name] for name in USES.names]
        self._parts.append(pa.table(uses, schema=USES))
        self._rows += found.num_rows
        if self._rows > _COMPACT_ROWS and len(self._parts) > 1:
            together = self.take()
            self._parts, self._rows = [together], together.num_rows // 2

    def take(self) -> pa.Table:
        """The merged counts of all frames so far."""
        return _compacted(pa.concat_tables(self._parts) if self._parts else USES.empty_table())


#: RE2's syntax; a dot is any character.
_SOFTWARE = r"(?s)^(?P<name>[^ ]*)(?: (?P<version>.*))?$"
_ENDPOINT = r"(?s)^\[?(?P<address>.*?)\]?:\d+$"


#: How the other columns of `USES` are merged.
_MERGED = {
    "min_version": "min",
    "max_version": "max",
    "requests": "sum",
    "first_ts": "min",
    "last_ts": "max",
}


def _compacted(uses: pa.Table) -> pa.Table:
    found = uses.group_by(_KEYS).aggregate(list(_MERGED.items()))
    names = [*_KEYS, *(f"{name}_{how}" for name, how in _MERGED.items())]
    return pa.table([found[name] for name in names], schema=USES)


@dataclass(slots=True)
class _Client:
    """The totals of a client on a day."""

    principals: set[str] = field(default_factory=set)
    #: Api and key → least version, greatest version, requests.
    apis: dict[tuple[str | None, int], list[int]] = field(default_factory=dict)
    first_ts: int | None = None
    last_ts: int | None = None

    def add_use(self, api: str | None, key: int, least: int, most: int, requests: int) -> None:
        known = self.apis.get((api, key))
        if known is None:
            self.apis[api, key] = [least, most, requests]
        else:
            known[0] = min(known[0], least)
            known[1] = max(known[1], most)
            known[2] += requests

    def add_times(self, first: int | None, last: int | None) -> None:
        if first is not None:
            self.first_ts = first if self.first_ts is None else min(self.first_ts, first)
        if last is not None:
            self.last_ts = last if self.last_ts is None else max(self.last_ts, last)

    def columns(self) -> dict[str, Any]:
        apis = [
            dict(zip((name for name, _ in _API), (*key, *totals), strict=True))
            for key, totals in sorted(
                self.apis.items(), key=lambda each: (each[0][0] or "", each[0][1])
            )
        ]
        return {
            "principals": sorted(self.principals),
            "apis": apis,
            "requests": sum(each["requests"] for each in apis),
            "first_ts": self.first_ts,
            "last_ts": self.last_ts,
        }


def client_rows(uses: Iterable[pa.Table], before: pa.Table | None = None) -> pa.Table:
    """The clients of one day: its uses, merged with the rows of `CLIENTS` that it had ``before``.

    The result has the columns of `CLIENTS` without the date.
    """
    clients: dict[tuple[str | None, ...], _Client] = {}
    for part in uses:
        for row in _rows(part):
            client = clients.setdefault(tuple(row[name] for name in _WHO), _Client())
            client.add_use(*(row[name] for name, _ in _API))
            client.add_times(row["first_ts"], row["last_ts"])
            if row["principal"] is not None:
                client.principals.add(row["principal"])
    for row in () if before is None else _rows(before):
        client = clients.setdefault(tuple(row[name] for name in _WHO), _Client())
        for api in row["apis"]:
            client.add_use(*(api[name] for name, _ in _API))
        client.add_times(row["first_ts"], row["last_ts"])
        client.principals.update(row["principals"])
    rows = [dict(zip(_WHO, who, strict=True)) | each.columns() for who, each in clients.items()]
    return pa.Table.from_pylist(rows, undated(CLIENTS))


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Rows of a table, times in microseconds."""
    for name in ("first_ts", "last_ts"):
        index = table.schema.get_field_index(name)
        table = table.set_column(index, name, table[name].cast(pa.int64()))
    for batch in table.to_batches(4096):
        yield from batch.to_pylist()
