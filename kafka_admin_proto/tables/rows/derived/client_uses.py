"""Count the requests of each client, and merge the counts into the table ``clients``.

A task counts the requests among its frames in Arrow. This leaves few rows, which are merged at the
end of the job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
#: Requests that are counted together: a few thousand take hardly longer than one.
_COUNT_ROWS = 16_384
#: New rows after which a task merges all its rows.
_COMPACT_ROWS = 50_000
_BY = ["day", "client_id", "client_software", "client", "principal", "api", "api_key"]
_COUNTED = [*_BY[1:], "api_version", "ts", "forwarded"]
#: The columns of frames that are counted.
USED_COLUMNS = (*_COUNTED, "direction")


class ClientUses:
    """Gathers the uses among frames, some batches at a time."""

    def __init__(self) -> None:
        self._frames: list[pa.RecordBatch] = []
        self._waiting = 0
        self._parts: list[pa.Table] = []
        self._rows = 0

    def add(self, frames: pa.RecordBatch) -> None:
        """Count the requests among frames, without forwarded ones, which a broker sent."""
        counted = pc.and_(
            pc.equal(frames["direction"], "request"),
            pc.and_(pc.is_valid(frames["api_key"]), pc.invert(frames["forwarded"])),
        )
        self._frames.append(frames.select(_COUNTED).filter(counted))
        self._waiting += self._frames[-1].num_rows
        if self._waiting >= _COUNT_ROWS:
            self._count()

    def _count(self) -> None:
        if not self._waiting:
            return
        requests = pa.Table.from_batches(self._frames)
        self._frames, self._waiting = [], 0
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
        self._count()
        return _compacted(pa.concat_tables(self._parts) if self._parts else USES.empty_table())


#: RE2's syntax; a dot is any character.
_SOFTWARE = r"(?s)^(?P<name>[^ ]*)(?: (?P<version>.*))?$"
_ENDPOINT = r"(?s)^\[?(?P<address>.*?)\]?:\d+$"

#: How the other columns of `USES` are merged.
_VERSIONS = [("min_version", "min"), ("max_version", "max")]
_REQUESTS = ("requests", "sum")
_TIMES = [("first_ts", "min"), ("last_ts", "max")]
_MERGED = [*_VERSIONS, _REQUESTS, *_TIMES]


def _compacted(uses: pa.Table) -> pa.Table:
    found = uses.group_by(_KEYS).aggregate(_MERGED)
    names = [*_KEYS, *(f"{name}_{how}" for name, how in _MERGED)]
    return pa.table([found[name] for name in names], schema=USES)


def client_rows(uses: Iterable[pa.Table], before: pa.Table | None = None) -> pa.Table:
    """The clients of one day: its uses, merged with the rows of `CLIENTS` that it had ``before``.

    The result has the columns of `CLIENTS` without the date.
    """
    parts = [*uses, *([] if before is None else _uses_of(before))]
    together = pa.concat_tables([USES.empty_table(), *(each.select(USES.names) for each in parts)])
    clients = together.group_by(_WHO).aggregate([("principal", "distinct"), _REQUESTS, *_TIMES])
    by_api = together.filter(pc.is_valid(together["api_key"])).group_by(
        [*_WHO, "api", "api_key"]
    ).aggregate([*_VERSIONS, _REQUESTS])  # fmt: skip
    # An api without a name is before those with one.
    by_api = by_api.append_column("order", pc.fill_null(by_api["api"], ""))
    by_client = [(name, "ascending") for name in _WHO]
    by_api = by_api.sort_by([*by_client, ("order", "ascending"), ("api_key", "ascending")])
    # Each client has an api: its requests are what makes it one.
    apis_of = by_api.group_by(_WHO).aggregate([("api_key", "count")]).sort_by(by_client)
    clients = clients.sort_by(by_client)
    ends = pc.cumulative_sum(apis_of["api_key_count"]).cast(pa.int32()).combine_chunks()
    apis = pa.StructArray.from_arrays(
        [
            by_api[name].combine_chunks()
            for name in ("api", "api_key", "min_version_min", "max_version_max", "requests_sum")
        ],
        fields=[pa.field(name, kind) for name, kind in _API],
    )
    columns = {
        "principals": pa.array(
            [sorted({*each} - {None}) for each in clients["principal_distinct"].to_pylist()],
            pa.list_(TEXT),
        ),
        "apis": pa.ListArray.from_arrays(pa.concat_arrays([pa.array([0], pa.int32()), ends]), apis),
        "requests": clients["requests_sum"],
        "first_ts": clients["first_ts_min"],
        "last_ts": clients["last_ts_max"],
    }
    schema = undated(CLIENTS)
    return pa.table(
        [columns[name] if name in columns else clients[name] for name in schema.names],
        schema=schema,
    )


def _uses_of(clients: pa.Table) -> Iterator[pa.Table]:
    """Rows of `CLIENTS` as uses: one for each api, and one without an api for each principal."""
    for name in ("apis", "principals"):
        column = clients[name].combine_chunks()
        found = clients.take(pc.list_parent_indices(column))
        values = pc.list_flatten(column)
        made = {"principal": values}
        if name == "apis":
            made = {part: pc.struct_field(values, part) for part, _ in _API}
        known = {*_WHO, "first_ts", "last_ts"}
        yield pa.table(
            [
                made[each.name] if each.name in made
                else found[each.name] if each.name in known
                else pa.nulls(found.num_rows, each.type)
                for each in USES
            ],
            schema=USES,
        )  # fmt: skip
