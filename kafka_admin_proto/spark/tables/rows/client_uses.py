"""Count the requests of each client, and merge the counts into the table ``clients``.

A task counts the requests among its frames in Arrow. This leaves few rows, which are merged at the
end of the job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_admin_proto.spark.tables.days import floor_days
from kafka_admin_proto.spark.tables.schemas import CLIENTS

_TIME = pa.timestamp("us", tz="UTC")
#: The columns that identify a client: the key of `CLIENTS`, without the date.
_WHO = ("client_id", "software_name", "software_version", "address")
#: One row for each client, principal, api and day that requests have in common; ``day`` counts
#: from 1970, null without a time.
USES = pa.schema(
    [
        ("day", pa.int64()),
        *((name, pa.string()) for name in _WHO),
        ("principal", pa.string()),
        ("api", pa.string()),
        ("api_key", pa.int16()),
        ("min_version", pa.int16()),
        ("max_version", pa.int16()),
        ("requests", pa.int64()),
        ("first_ts", _TIME),
        ("last_ts", _TIME),
    ]
)
_KEYS = USES.names[:8]
#: New rows after which a task merges all its rows.
_COMPACT_ROWS = 50_000
_BY = ["day", "client_id", "client_software", "client", "principal", "api", "api_key"]


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
        names = [*_BY[1:], "api_version", "ts", "forwarded"]
        requests = pa.Table.from_batches([frames.select(names)]).filter(counted)
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


def _compacted(uses: pa.Table) -> pa.Table:
    found = uses.group_by(_KEYS).aggregate(
        [
            ("min_version", "min"),
            ("max_version", "max"),
            ("requests", "sum"),
            ("first_ts", "min"),
            ("last_ts", "max"),
        ]
    )
    renamed = {
        "min_version": "min_version_min",
        "max_version": "max_version_max",
        "requests": "requests_sum",
        "first_ts": "first_ts_min",
        "last_ts": "last_ts_max",
    }
    return pa.table([found[renamed.get(name, name)] for name in USES.names], schema=USES)


class _Client:
    """The totals of a client on a day."""

    def __init__(self) -> None:
        self.principals: set[str] = set()
        #: Api and key → least version, greatest version, requests.
        self.apis: dict[tuple[str | None, int], list[int]] = {}
        self.first: int | None = None
        self.last: int | None = None

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
            self.first = first if self.first is None else min(self.first, first)
        if last is not None:
            self.last = last if self.last is None else max(self.last, last)

    def columns(self) -> dict[str, Any]:
        apis = [
            {"api": api, "api_key": key, "min_version": least, "max_version": most, "requests": n}
            for (api, key), (least, most, n) in sorted(
                self.apis.items(), key=lambda each: (each[0][0] or "", each[0][1])
            )
        ]
        return {
            "principals": sorted(self.principals),
            "apis": apis,
            "requests": sum(each["requests"] for each in apis),
            "first_ts": self.first,
            "last_ts": self.last,
        }


def client_rows(uses: Iterable[pa.Table], before: pa.Table | None = None) -> pa.Table:
    """The clients of one day: its uses, merged with the rows of `CLIENTS` that it had ``before``.

    The result has the columns of `CLIENTS` without the date.
    """
    clients: dict[tuple[str | None, ...], _Client] = {}
    for part in uses:
        for row in _rows(part):
            client = clients.setdefault(tuple(row[name] for name in _WHO), _Client())
            client.add_use(
                row["api"], row["api_key"], row["min_version"], row["max_version"], row["requests"]
            )
            client.add_times(row["first_ts"], row["last_ts"])
            if row["principal"] is not None:
                client.principals.add(row["principal"])
    for row in () if before is None else _rows(before):
        client = clients.setdefault(tuple(row[name] for name in _WHO), _Client())
        for api in row["apis"]:
            client.add_use(*(api[name] for name in _API))
        client.add_times(row["first_ts"], row["last_ts"])
        client.principals.update(row["principals"])
    rows = [dict(zip(_WHO, who, strict=True)) | each.columns() for who, each in clients.items()]
    return pa.Table.from_pylist(rows, CLIENTS.remove(CLIENTS.get_field_index("date")))


_API: Sequence[str] = ("api", "api_key", "min_version", "max_version", "requests")


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Rows of a table, times in microseconds."""
    for name in ("first_ts", "last_ts"):
        index = table.schema.get_field_index(name)
        table = table.set_column(index, name, table[name].cast(pa.int64()))
    for batch in table.to_batches(4096):
        yield from batch.to_pylist()
