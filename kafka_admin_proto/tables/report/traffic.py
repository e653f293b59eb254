"""Sections about requests and responses: errors, rates, latency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from kafka_admin_proto.counts import number, with_commas
from kafka_admin_proto.render.plots import Range, Series, bars, columns, lasting, moment, ranges
from kafka_admin_proto.render.report import Column, Plot, Section, Table
from kafka_admin_proto.tables import queries
from kafka_admin_proto.tables.queries.grouping import count_groups, records
from kafka_admin_proto.tables.queries.stored_tables import StoredTable
from kafka_admin_proto.tables.report.answers import (
    MOST_BARS,
    SECOND,
    TimeAxis,
    empty,
    first_of,
    first_rows,
    missing,
    summed,
    table,
)

#: Apis that have a colour of their own over time; the others are one.
_APIS = 8


def errors(frames: StoredTable | None) -> Section:
    id, title = "errors", "Error hot spots"
    if frames is None:
        return missing(id, title, "frames")
    found = queries.errors(frames)
    own = found.filter(~pc.field("forwarded"))
    by_error = summed(own, ("api", "error"), "responses")
    count = pc.sum(own["responses"]).as_py() or 0
    answer = first_rows(found)
    if not answer.total:
        return empty(id, title, "No response had an error.")
    top = by_error.rows[:MOST_BARS]
    names = "api error client_id address forwarded responses first_ts last_ts"
    parts: list[Plot | Table] = [table("By api, error and client", answer, names)]
    if top:
        series = [Series("responses", [row["responses"] for row in top], "s3")]
        labels = [f"{row['api']}: {row['error']}" for row in top]
        plot = bars("Responses with errors", labels, series, "responses")
        caption = first_of(
            "Responses by api and error, forwarded ones apart", by_error.total, "kinds"
        )
        parts.insert(0, Plot(caption, plot))
    said = [
        "Some errors are the protocol's way to say go on: MEMBER_ID_REQUIRED, for one. "
        "UNSUPPORTED_VERSION of ApiVersions is left out, by which versions are negotiated."
    ]
    return Section(id, title, with_commas(count, "responses"), False, said, parts)


def rates(frames: StoredTable | None) -> Section:
    id, title = "rates", "Requests over time"
    if frames is None:
        return missing(id, title, "frames")
    requests = frames.where(pc.field("direction") == "request")
    grouped = count_groups(requests.batches(["direction", "ts"]), ["direction"])
    spans = records(grouped)
    if not spans or spans[0]["first_ts"] is None:
        return empty(id, title, "No request has a time.")
    span = spans[0]
    axis = TimeAxis.over(span["first_ts"], span["last_ts"])
    found = queries.rates(requests, axis.step)
    totals = summed(found, ("api", "forwarded"), "requests")
    timed = pc.sum(found["requests"]).as_py()
    parts: list[Plot | Table] = []
    for forwarded, caption in (
        (False, "Requests by api"),
        (True, "Requests inside Envelopes, which brokers passed on to the controller"),
    ):
        part = found.filter(pc.field("forwarded") == forwarded)
        apis = [row["api"] for row in totals.rows if row["forwarded"] == forwarded]
        if apis:
            parts += _over_time(part, apis, caption, axis)
    parts.append(table("Requests by api", totals, "api forwarded requests", folded=True))
    seconds = max((span["last_ts"] - span["first_ts"]) / SECOND, 1)
    first, last = moment(span["first_ts"]), moment(span["last_ts"])
    said = [
        f"{with_commas(span['count'], 'requests')} from {first} to {last} UTC: "
        f"{timed / seconds:,.3g} a second."
    ]
    if span["count"] > timed:
        said.append(f"{number(span['count'] - timed)} of them have no time.")
    return Section(id, title, with_commas(span["count"], "requests"), False, said, parts)


def _over_time(
    found: pa.Table, apis: Sequence[str], caption: str, axis: TimeAxis
) -> list[Plot | Table]:
    """The plot and its table: the most frequent apis, and the others as one."""
    own = list(apis[:_APIS])
    by_api: dict[str, Counter[int]] = {}
    for row in records(found):
        name = row["api"] if row["api"] in own else "others"
        by_api.setdefault(name, Counter())[row["start"]] += row["requests"]
    names = [*own, *(["others"] if "others" in by_api else [])]
    series = [
        Series(name, axis.spread(by_api.get(name, {})), f"s{at}") for at, name in enumerate(names)
    ]
    numbers = zip(axis.starts(), *(each.values for each in series), strict=True)
    filled = [row for row in numbers if any(row[1:])]
    heads = (Column("from (UTC)", "time"), *(Column(name, "count") for name in names))
    return [
        Plot(caption, columns(caption, axis.start, axis.step, series, "requests")),
        Table(f"{caption}, as numbers", heads, filled, len(filled), folded=True),
    ]


def latencies(frames: StoredTable | None) -> Section:
    id, title = "latencies", "Latency"
    if frames is None:
        return missing(id, title, "frames")
    answer = first_rows(queries.latencies(frames))
    if not answer.total:
        return empty(id, title, "No response stands beside its request.")
    names = ("p50_us", "p90_us", "p99_us", "max_us")
    labels = ("p50", "p90", "p99", "max")
    rows = [
        Range(
            row["api"] + (" (forwarded)" if row["forwarded"] else ""),
            [row[name] for name in names],
            with_commas(row["responses"], "responses"),
        )
        for row in answer.rows[: 2 * MOST_BARS]
    ]
    caption = "Time to respond by api, the most frequent first (logarithmic scale)"
    said = [
        "From the last byte of a request to the last byte of its response, where both were "
        "captured. Percentiles are the times of the nearest ranks, exact like the maximum.",
        "A Fetch waits for new records: its time says how long clients let it wait.",
    ]
    worst = max(row["p99_us"] for row in answer.rows)
    parts = (
        Plot(caption, ranges(caption, labels, rows)),
        table("Latency by api", answer, f"api forwarded responses {' '.join(names)}"),
    )
    return Section(id, title, f"p99 up to {lasting(worst)}", False, said, parts)
