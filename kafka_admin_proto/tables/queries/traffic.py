"""Questions about responses and requests: errors, rates, latencies."""

from __future__ import annotations

from itertools import groupby
from math import ceil
from operator import itemgetter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_admin_proto.tables.queries.grouping import (
    COUNT,
    FLAG,
    TEXT,
    TIME,
    Row,
    count_groups,
    most_frequent,
    records,
    table_of,
    with_address,
    with_api_name,
)
from kafka_admin_proto.tables.queries.stored_tables import StoredTable

_NEGOTIATED = "UNSUPPORTED_VERSION"
_SHARES = {"p50_us": 0.5, "p90_us": 0.9, "p99_us": 0.99}


def errors(frames: StoredTable) -> pa.Table:
    """Which responses had errors: by api, error and client, the most frequent first.

    A response counts once for each of the distinct errors in it. UNSUPPORTED_VERSION of ApiVersions
    is left out: a client that is newer than its broker asks anew, in a version that both have.
    """
    read = ("api", "api_key", "error_codes", "client_id", "client", "forwarded", "ts")
    keys = ("api", "error", "client_id", "address", "forwarded")
    failed = (pc.field("direction") == "response") & (
        pc.list_value_length(pc.field("error_codes")) > 0
    )
    parts = map(_exploded, frames.where(failed).batches(read))
    return most_frequent(count_groups(parts, keys), keys, "responses")


def _exploded(part: pa.Table) -> pa.Table:
    codes = part["error_codes"].combine_chunks()
    repeated = with_api_name(with_address(part)).drop_columns("error_codes")
    repeated = repeated.take(pc.list_parent_indices(codes))
    found = repeated.append_column("error", pc.list_flatten(codes))
    return found.filter((pc.field("api") != "ApiVersions") | (pc.field("error") != _NEGOTIATED))


def rates(frames: StoredTable, step_seconds: int = 60) -> pa.Table:
    """Requests per api in each step of time; ``start`` is a multiple of the step since 1970."""
    micros = step_seconds * 1_000_000

    def with_start(part: pa.Table) -> pa.Table:
        at = part["ts"].cast(COUNT).to_numpy()
        start = pa.array(np.floor_divide(at, micros) * micros).cast(TIME)
        return with_api_name(part).append_column("start", start)

    timed = frames.where((pc.field("direction") == "request") & pc.field("ts").is_valid())
    parts = map(with_start, timed.batches(["ts", "api", "api_key", "forwarded"]))
    keys = ("start", "api", "forwarded")
    found = records(count_groups(parts, keys))
    found.sort(key=itemgetter(*keys))
    return table_of(
        (row | {"requests": row["count"]} for row in found),
        [("start", TIME), ("api", TEXT), ("forwarded", FLAG), ("requests", COUNT)],
    )


def latencies(frames: StoredTable) -> pa.Table:
    """Time from request to response per api, in microseconds, the most frequent api first.

    The percentiles are exact, and values that occur: those of the nearest ranks.
    """
    answered = frames.where(
        (pc.field("direction") == "response") & pc.field("latency_us").is_valid()
    )
    parts = map(
        with_api_name, answered.batches(["api", "api_key", "forwarded", "latency_us", "ts"])
    )
    keys = ["api", "forwarded", "latency_us"]
    counts = count_groups(parts, keys).sort_by([(name, "ascending") for name in keys])
    apis = [(row["api"], row["forwarded"]) for row in counts.select(keys[:2]).to_pylist()]
    found: list[Row] = []
    start = 0
    for (api, forwarded), same in groupby(apis):
        end = start + sum(1 for _ in same)
        times = counts["latency_us"].slice(start, end - start)
        ranks = np.cumsum(counts["count"].slice(start, end - start).to_numpy())
        total = int(ranks[-1])
        row = {"api": api, "forwarded": forwarded, "responses": total}
        for name, share in _SHARES.items():
            row[name] = times[int(np.searchsorted(ranks, ceil(share * total)))].as_py()
        found.append(row | {"max_us": times[-1].as_py()})
        start = end
    found.sort(key=lambda row: (-row["responses"], row["api"], row["forwarded"]))
    return table_of(
        found,
        [("api", TEXT), ("forwarded", FLAG), ("responses", COUNT),
         *((name, COUNT) for name in (*_SHARES, "max_us"))],
    )  # fmt: skip
