"""The pipeline's tables → a report: each of the ready `queries` as sentences, plots and a table.

What comes to the driver is bounded: of each question the first rows, with the number of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from kafka_admin_proto.protocol.releases import release
from kafka_admin_proto.render.plots import (
    Range,
    Series,
    bars,
    columns,
    lasting,
    moment,
    nice_step,
    number,
    ranges,
    spread,
)
from kafka_admin_proto.render.report import Column, Plot, Section, Table
from kafka_admin_proto.spark import queries

#: Rows of a table on the page, and rows of a plot.
MOST_ROWS = 200
MOST_BARS = 15
#: Apis that have a colour of their own over time; the others are one.
_APIS = 8
_SECOND = 1_000_000
_FAILED = frozenset({"failed", "no answer", "version removed", "api removed"})
_OUTCOMES = {"done": "s2", "checked": "s0", "no answer": "s1", "failed": "s3"}

Row = dict[str, Any]


class Answer(msgspec.Struct, frozen=True):
    """The first rows of a question, and how many it has."""

    rows: list[Row]
    total: int


def ask(question: DataFrame, most: int = MOST_ROWS) -> Answer:
    """The first rows; times as microseconds since 1970."""
    rows = [row.asDict(recursive=True) for row in in_micros(question).limit(most + 1).collect()]
    return Answer(rows[:most], question.count() if len(rows) > most else len(rows))


def in_micros(question: DataFrame) -> DataFrame:
    """Timestamps as microseconds since 1970, whatever time zone Python is in."""
    return question.select(
        *(
            F.unix_micros(field.name).alias(field.name)
            if isinstance(field.dataType, TimestampType)
            else F.col(field.name)
            for field in question.schema
        )
    )


def report_sections(tables: Mapping[str, DataFrame], target: str) -> Iterator[Section]:
    """The report's sections, one by one as they are worked out; see `read_tables`.

    Raises UnknownReleaseError for a target that is no known release.
    """
    release(target)
    frames = tables.get("frames")
    yield _upgrade(frames, target)
    yield _clients(tables.get("clients"))
    yield _audit(tables.get("admin_audit"))
    yield _errors(frames)
    yield _rates(frames)
    yield _latencies(frames)
    yield _leaders(tables.get("metadata_changes"))
    yield _elections(tables.get("quorum_events"))
    yield _problems(tables.get("problems"))


def _missing(id: str, title: str, table: str) -> Section:
    return Section(id, title, "no table", said=[f"There is no table {table} in this folder."])


def _empty(id: str, title: str, said: str) -> Section:
    return Section(id, title, "none", said=[said])


_FIRST = (Column("first", "time"), Column("last", "time"))
_CLIENT = (
    Column("client id"), Column("address"), Column("software"), Column("principal"),
)  # fmt: skip


def _cells(rows: Sequence[Row], *names: str) -> list[list[Any]]:
    return [[row[name] for name in names] for row in rows]


def _upgrade(frames: DataFrame | None, target: str) -> Section:
    name = release(target).name
    id, title = "upgrade", f"Upgrade to {name}"
    if frames is None:
        return _missing(id, title, "frames")
    found = queries.upgrade(frames, target).cache()
    removed = F.col("status") != "deprecated"
    client = F.col("traffic") == "client"
    parts: list[Plot | Table] = []
    clients = found.where(removed & client)
    who = ("client_id", "address", "software", "principal")
    by_client = ask(
        clients.groupBy(*who)
        .agg(F.sum("requests").alias("requests"))
        .orderBy(F.col("requests").desc(), *who)
    )
    if by_client.rows:
        top = by_client.rows[:MOST_BARS]
        labels = [_name(row) for row in top]
        plot = bars(
            f"Requests in versions that {name} does not take, by client",
            labels,
            [Series("requests", [row["requests"] for row in top], "s3")],
            "requests",
        )
        parts.append(Plot(_first_of(f"Requests that {name} would refuse, by client", by_client,
                                    "clients"), plot))  # fmt: skip
    kinds = (
        ("Clients that have to change", clients, False),
        ("Requests that brokers passed on for clients (address: the broker's)",
         found.where(removed & (F.col("traffic") == "forwarded")), False),
        ("Between brokers and controllers", found.where(removed & (F.col("traffic") == "broker")),
         False),
        (f"Versions that {name} still takes, deprecated there", found.where(~removed), True),
    )  # fmt: skip
    totals = []
    for heading, question, folded in kinds:
        answer = ask(question)
        totals.append(answer.total)
        if answer.total:
            parts.append(_upgrade_table(heading, answer, folded))
    found.unpersist()
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
    headline = f"{number(count)} client{'s' * (count != 1)} to change"
    if not count and totals[1]:
        headline = "forwarded ones to change"
    bad = bool(count or totals[1])
    return Section(id, title, headline if bad else "ready", bad, said, parts)


def _upgrade_table(heading: str, answer: Answer, folded: bool) -> Table:
    heads = (
        Column("status", "status", _FAILED), *_CLIENT, Column("api"), Column("versions", "list"),
        Column("needs at least", "count"), Column("removed in"), Column("requests", "count"),
        *_FIRST,
    )  # fmt: skip
    cells = _cells(
        answer.rows, "status", "client_id", "address", "software", "principal", "api", "versions",
        "least", "removed_in", "requests", "first_ts", "last_ts",
    )  # fmt: skip
    return Table(heading, heads, cells, answer.total, folded)


def _name(row: Row) -> str:
    client = row["client_id"]
    words = ["(no client id)" if client is None else client or '""', row["address"] or ""]
    if row.get("software"):
        words.append(row["software"])
    return ", ".join(filter(None, words))


def _first_of(caption: str, answer: Answer, what: str) -> str:
    if answer.total <= MOST_BARS:
        return caption
    return f"{caption}: the first {MOST_BARS} of {number(answer.total)} {what}"


def _clients(clients: DataFrame | None) -> Section:
    id, title = "clients", "Clients"
    if clients is None:
        return _missing(id, title, "clients")
    answer = ask(queries.inventory(clients))
    if not answer.total:
        return _empty(id, title, "No client sent anything.")
    heads = (
        Column("client id"), Column("address"), Column("software"), Column("version"),
        Column("principals", "list"), Column("requests", "count"), Column("apis and versions",
        "list"), *_FIRST,
    )  # fmt: skip
    names = (
        "client_id", "address", "software_name", "software_version", "principals", "requests",
        "apis", "first_ts", "last_ts",
    )  # fmt: skip
    top = answer.rows[:MOST_BARS]
    software = [f"{r['software_name'] or ''} {r['software_version'] or ''}".strip() for r in top]
    labels = [_name(row | {"software": each}) for row, each in zip(top, software, strict=True)]
    plot = bars(
        "Requests by client", labels, [Series("requests", [r["requests"] or 0 for r in top], "s0")],
        "requests",
    )  # fmt: skip
    parts = (
        Plot(_first_of("Requests by client", answer, "clients"), plot),
        Table("Clients", heads, _cells(answer.rows, *names), answer.total),
    )
    return Section(id, title, f"{number(answer.total)}", parts=parts)


def _audit(admin_audit: DataFrame | None) -> Section:
    id, title = "audit", "Topic administration"
    if admin_audit is None:
        return _missing(id, title, "admin_audit")
    totals = ask(queries.audit_totals(admin_audit))
    if not totals.total:
        return _empty(id, title, "Nobody did anything to a topic.")
    answer = ask(queries.audit(admin_audit))
    failed = sum(row["operations"] for row in totals.rows if row["outcome"] == "failed")
    count = sum(row["operations"] for row in totals.rows)
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
              Column("forwarded", "flag"), Column("operations", "count"), *_FIRST),
              _cells(totals.rows, "operation", "outcome", "forwarded", "operations", "first_ts",
                     "last_ts"), totals.total, folded=True),
        Table("Who did what, the latest first", heads, _cells(answer.rows, *names), answer.total),
    )  # fmt: skip
    said = [
        f"{number(count)} operations on topics, {number(failed)} of them failed. Forwarded ones "
        "are what a broker passed on to the controller: the same as the client's own, seen there."
    ]
    return Section(id, title, f"{number(count)}, {number(failed)} failed", failed > 0, said, parts)


def _errors(frames: DataFrame | None) -> Section:
    id, title = "errors", "Error hot spots"
    if frames is None:
        return _missing(id, title, "frames")
    found = queries.errors(frames).cache()
    by_error = ask(
        found.where(~F.col("forwarded"))
        .groupBy("api", "error")
        .agg(F.sum("responses").alias("responses"))
        .orderBy(F.col("responses").desc(), "api", "error")
    )
    answer = ask(found)
    found.unpersist()
    if not answer.total:
        return _empty(id, title, "No response had an error.")
    heads = (
        Column("api"), Column("error"), Column("client id"), Column("address"),
        Column("forwarded", "flag"), Column("responses", "count"), *_FIRST,
    )  # fmt: skip
    names = (
        "api", "error", "client_id", "address", "forwarded", "responses", "first_ts", "last_ts",
    )  # fmt: skip
    table = Table("By api, error and client", heads, _cells(answer.rows, *names), answer.total)
    top = by_error.rows[:MOST_BARS]
    parts: list[Plot | Table] = [table]
    if top:
        series = [Series("responses", [row["responses"] for row in top], "s3")]
        labels = [f"{row['api']}: {row['error']}" for row in top]
        plot = bars("Responses with errors", labels, series, "responses")
        caption = _first_of("Responses by api and error, forwarded ones apart", by_error, "kinds")
        parts.insert(0, Plot(caption, plot))
    said = ["Some errors are the protocol's way to say go on: MEMBER_ID_REQUIRED, for one."]
    return Section(id, title, f"{number(answer.total)} kinds", False, said, parts)


def _rates(frames: DataFrame | None) -> Section:
    id, title = "rates", "Requests over time"
    if frames is None:
        return _missing(id, title, "frames")
    requests = frames.where(F.col("direction") == "request")
    span = requests.agg(
        F.unix_micros(F.min("ts")).alias("first"), F.unix_micros(F.max("ts")).alias("last"),
        F.count("*").alias("all"), F.count("ts").alias("timed"),
    ).collect()[0]  # fmt: skip
    if not span["timed"]:
        return _empty(id, title, "No request has a time.")
    step = nice_step(span["last"] - span["first"])
    start = span["first"] // (step * _SECOND) * step * _SECOND
    count = (span["last"] - start) // (step * _SECOND) + 1
    found = queries.rates(requests, step).cache()
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
            parts += _over_time(part, apis, caption, start, step, count)
    found.unpersist()
    parts.append(
        Table("Requests by api", (Column("api"), Column("forwarded", "flag"),
              Column("requests", "count")), _cells(totals.rows, "api", "forwarded", "requests"),
              totals.total, folded=True)
    )  # fmt: skip
    seconds = max((span["last"] - span["first"]) / _SECOND, 1)
    first, last = moment(span["first"]), moment(span["last"])
    said = [
        f"{number(span['all'])} requests from {first} to {last} UTC: "
        f"{span['timed'] / seconds:,.3g} a second."
    ]
    if span["all"] > span["timed"]:
        said.append(f"{number(span['all'] - span['timed'])} of them have no time.")
    return Section(id, title, number(span["all"]), False, said, parts)


def _over_time(
    found: DataFrame, apis: Sequence[str], caption: str, start: int, step: int, count: int
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
        Series(name, spread(by_api.get(name, {}), start, step, count), f"s{at}")
        for at, name in enumerate(names)
    ]
    cells = [
        [start + at * step * _SECOND, *(each.values[at] for each in series)] for at in range(count)
    ]
    filled = [row for row in cells if any(row[1:])]
    heads = (Column("from (UTC)", "time"), *(Column(name, "count") for name in names))
    return [
        Plot(caption, columns(caption, start, step, series, "requests")),
        Table(f"{caption}, as numbers", heads, filled, len(filled), folded=True),
    ]


def _latencies(frames: DataFrame | None) -> Section:
    id, title = "latencies", "Latency"
    if frames is None:
        return _missing(id, title, "frames")
    answer = ask(queries.latencies(frames))
    if not answer.total:
        return _empty(id, title, "No response stands beside its request.")
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
    cells = _cells(answer.rows, "api", "forwarded", "responses", *names)
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
        Table("Latency by api", heads, cells, answer.total),
    )
    return Section(id, title, f"p99 up to {lasting(worst)}", False, said, parts)


def _leaders(metadata_changes: DataFrame | None) -> Section:
    id, title = "leaders", "Leader changes"
    if metadata_changes is None:
        return _missing(id, title, "metadata_changes")
    found = queries.leader_changes(metadata_changes).cache()
    answer = ask(found)
    if not answer.total:
        found.unpersist()
        return _empty(id, title, "No partition got another leader.")
    parts: list[Plot | Table] = []
    span = found.agg(
        F.unix_micros(F.min("ts")).alias("first"), F.unix_micros(F.max("ts")).alias("last")
    ).collect()[0]
    if span["first"] is not None:
        step = nice_step(span["last"] - span["first"])
        start = span["first"] // (step * _SECOND) * step * _SECOND
        count = (span["last"] - start) // (step * _SECOND) + 1
        at = F.unix_micros("ts") - F.pmod(F.unix_micros("ts"), F.lit(step * _SECOND))
        lost = F.col("to_leader") < 0
        by_time = found.groupBy(at.alias("start"), lost.alias("lost")).count().collect()
        series = [
            Series(
                name,
                spread({r["start"]: r["count"] for r in by_time if r["lost"] == which}, start,
                       step, count),
                colour,
            )
            for which, name, colour in ((False, "to another broker", "s0"), (True, "to none", "s3"))
        ]  # fmt: skip
        caption = "Partitions that changed their leader"
        parts.append(Plot(caption, columns(caption, start, step, series, "changes")))
    offline = found.where(F.col("to_leader") < 0).count()
    found.unpersist()
    heads = (
        Column("time (UTC)", "time"), Column("topic"), Column("partition", "count"),
        Column("from"), Column("to", "status", frozenset({"none"})), Column("epoch", "count"),
        Column("told by"), Column("log offset", "count"), Column("topic id", "code"),
    )  # fmt: skip
    cells = [
        [row["ts"], row["topic"], row["partition"], _broker(row["from_leader"]),
         _broker(row["to_leader"]), row["leader_epoch"], row["source"], row["log_offset"],
         row["topic_id"]]
        for row in answer.rows
    ]  # fmt: skip
    parts.append(Table("Partitions and leaders, the latest first", heads, cells, answer.total))
    said = [
        "Times are when the controller told it, or a broker fetched it from the metadata log. "
        f"{number(offline)} changes left a partition without a leader."
    ]
    return Section(id, title, number(answer.total), offline > 0, said, parts)


def _broker(leader: int) -> str:
    return "none" if leader < 0 else str(leader)


def _elections(quorum_events: DataFrame | None) -> Section:
    id, title = "elections", "Elections of the quorum"
    if quorum_events is None:
        return _missing(id, title, "quorum_events")
    answer = ask(queries.elections(quorum_events))
    if not answer.total:
        return _empty(id, title, "The controllers held no election.")
    heads = (
        Column("topic"), Column("partition", "count"), Column("epoch", "count"),
        Column("candidates", "list"), Column("pre-vote", "list"), Column("granted", "count"),
        Column("refused", "count"), Column("unanswered", "count"), Column("leader", "count"),
        Column("resigned", "list"), *_FIRST,
    )  # fmt: skip
    names = (
        "topic", "partition", "epoch", "candidates", "pre_candidates", "granted", "refused",
        "unanswered", "leader", "resigned", "first_ts", "last_ts",
    )  # fmt: skip
    votes = ("granted", "refused", "unanswered")
    top = answer.rows[:MOST_BARS]
    labels = [f"epoch {row['epoch']}, {row['topic']}-{row['partition']}" for row in top]
    series = [
        Series(vote, [row[vote] for row in top], colour)
        for vote, colour in zip(votes, ("s2", "s3", "s1"), strict=True)
    ]
    caption = _first_of("Votes by epoch, the latest first", answer, "epochs")
    parts = (
        Plot(caption, bars("Votes by epoch", labels, series, "votes")),
        Table("Epochs, the latest first", heads, _cells(answer.rows, *names), answer.total),
    )
    return Section(id, title, number(answer.total), parts=parts)


def _problems(problems: DataFrame | None) -> Section:
    id, title = "problems", "What could not be read"
    if problems is None:
        return _missing(id, title, "problems")
    answer = ask(queries.problem_kinds(problems))
    if not answer.total:
        return _empty(id, title, "Everything was read.")
    count = problems.count()
    heads = (
        Column("kind"), Column("count", "count"), Column("example"), Column("capture"),
        Column("connection"), Column("offset", "count"), *_FIRST,
    )  # fmt: skip
    names = (
        "kind", "problems", "problem", "capture", "connection", "stream_offset", "first_ts",
        "last_ts",
    )  # fmt: skip
    top = answer.rows[:MOST_BARS]
    series = [Series("problems", [row["problems"] for row in top], "s1")]
    plot = bars("Problems by kind", [row["kind"] or "?" for row in top], series, "problems")
    parts = (
        Plot(_first_of("Problems by kind", answer, "kinds"), plot),
        Table("Kinds, each with its first case", heads, _cells(answer.rows, *names), answer.total),
    )
    return Section(id, title, number(count), True, parts=parts)
