"""Sections about requests and responses: errors, rates, latency."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kafka_admin_proto.render.plots import (
    Range,
    Series,
    bars,
    columns,
    lasting,
    moment,
    number,
    ranges,
)
from kafka_admin_proto.render.report import Column, Plot, Section, Table
from kafka_admin_proto.spark import queries
from kafka_admin_proto.spark.report.answers import (
    FIRST_AND_LAST,
    MOST_BARS,
    SECOND,
    TimeAxis,
    ask,
    cached,
    cells,
    empty,
    first_of,
    missing,
)

#: Apis that have a colour of their own over time; the others are one.
_APIS = 8


def errors(frames: DataFrame | None) -> Section:
    id, title = "errors", "Error hot spots"
    if frames is None:
        return missing(id, title, "frames")
    with cached(queries.errors(frames)) as found:
        by_error = ask(
            found.where(~F.col("forwarded"))
            .groupBy("api", "error")
            .agg(F.sum("responses").alias("responses"))
            .orderBy(F.col("responses").desc(), "api", "error")
        )
        answer = ask(found)
        own = found.where(~F.col("forwarded")).agg(F.coalesce(F.sum("responses"), F.lit(0)))
        count = own.collect()[0][0]
    if not answer.total:
        return empty(id, title, "No response had an error.")
    heads = (
        Column("api"), Column("error"), Column("client id"), Column("address"),
        Column("forwarded", "flag"), Column("responses", "count"), *FIRST_AND_LAST,
    )  # fmt: skip
    names = (
        "api", "error", "client_id", "address", "forwarded", "responses", "first_ts", "last_ts",
    )  # fmt: skip
    table = Table("By api, error and client", heads, cells(answer.rows, *names), answer.total)
    top = by_error.rows[:MOST_BARS]
    parts: list[Plot | Table] = [table]
    if top:
        series = [Series("responses", [row["responses"] for row in top], "s3")]
        labels = [f"{row['api']}: {row['error']}" for row in top]
        plot = bars("Responses with errors", labels, series, "responses")
        caption = first_of("Responses by api and error, forwarded ones apart", by_error, "kinds")
        parts.insert(0, Plot(caption, plot))
    said = ["Some errors are the protocol's way to say go on: MEMBER_ID_REQUIRED, for one."]
    return Section(id, title, number(count), False, said, parts)


def rates(frames: DataFrame | None) -> Section:
    id, title = "rates", "Requests over time"
    if frames is None:
        return missing(id, title, "frames")
    requests = frames.where(F.col("direction") == "request")
    span = requests.agg(
        F.unix_micros(F.min("ts")).alias("first"), F.unix_micros(F.max("ts")).alias("last"),
        F.count("*").alias("all"), F.count("ts").alias("timed"),
    ).collect()[0]  # fmt: skip
    if not span["timed"]:
        return empty(id, title, "No request has a time.")
    axis = TimeAxis.over(span["first"], span["last"])
    with cached(queries.rates(requests, axis.step)) as found:
        totals = ask(
            found.groupBy("api", "forwarded")
            .agg(F.sum("requests").alias("requests"))
            .orderBy(F.col("requests").desc(), "api", "forwarded")
        )
        parts: list[Plot | Table] = []
        for forwarded, caption in (
            (False, "Requests by api"),
            (True, "Requests inside Envelopes, which brokers passed on to the controller"),
        ):
            part = found.where(F.col("forwarded") == forwarded)
            apis = [row["api"] for row in totals.rows if row["forwarded"] == forwarded]
            if apis:
                parts += _over_time(part, apis, caption, axis)
    parts.append(
        Table("Requests by api", (Column("api"), Column("forwarded", "flag"),
              Column("requests", "count")), cells(totals.rows, "api", "forwarded", "requests"),
              totals.total, folded=True)
    )  # fmt: skip
    seconds = max((span["last"] - span["first"]) / SECOND, 1)
    first, last = moment(span["first"]), moment(span["last"])
    said = [
        f"{number(span['all'])} requests from {first} to {last} UTC: "
        f"{span['timed'] / seconds:,.3g} a second."
    ]
    if span["all"] > span["timed"]:
        said.append(f"{number(span['all'] - span['timed'])} of them have no time.")
    return Section(id, title, number(span["all"]), False, said, parts)


def _over_time(
    found: DataFrame, apis: Sequence[str], caption: str, axis: TimeAxis
) -> list[Plot | Table]:
    """The plot and its table: the most frequent apis, and the others as one."""
    own = list(apis[:_APIS])
    named = F.when(F.col("api").isin(own), F.col("api")).otherwise("others")
    rows = (
        found.groupBy(named.alias("api"), F.unix_micros("start").alias("start"))
        .agg(F.sum("requests").alias("requests"))
        .collect()
    )
    by_api: dict[str, dict[int, int]] = {}
    for row in rows:
        by_api.setdefault(row["api"], {})[row["start"]] = row["requests"]
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


def latencies(frames: DataFrame | None) -> Section:
    id, title = "latencies", "Latency"
    if frames is None:
        return missing(id, title, "frames")
    answer = ask(queries.latencies(frames))
    if not answer.total:
        return empty(id, title, "No response stands beside its request.")
    names = ("p50_us", "p90_us", "p99_us", "max_us")
    labels = ("p50", "p90", "p99", "max")
    rows = [
        Range(
            row["api"] + (" (forwarded)" if row["forwarded"] else ""),
            [row[name] for name in names],
            f"{number(row['responses'])} responses",
        )
        for row in answer.rows[: 2 * MOST_BARS]
    ]
    heads = (
        Column("api"), Column("forwarded", "flag"), Column("responses", "count"),
        *(Column(label, "lasting") for label in labels),
    )  # fmt: skip
    rows_of_table = cells(answer.rows, "api", "forwarded", "responses", *names)
    caption = "Time to respond by api, the most frequent first (logarithmic scale)"
    exact = number(queries.PERCENTILE_ACCURACY)
    said = [
        "From the last byte of a request to the last byte of its response, where both were "
        f"captured. The maximum is exact. Percentiles are exact for up to {exact} responses of an "
        f"api; beyond that they are approximate, their rank off by at most 1/{exact} of them.",
        "A Fetch waits for new records: its time says how long clients let it wait.",
    ]
    worst = max(row["p99_us"] for row in answer.rows)
    parts = (
        Plot(caption, ranges(caption, labels, rows)),
        Table("Latency by api", heads, rows_of_table, answer.total),
    )
    return Section(id, title, f"p99 up to {lasting(worst)}", False, said, parts)
