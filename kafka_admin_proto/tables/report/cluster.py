"""Sections about the cluster: leaders, elections, and what could not be read."""

from __future__ import annotations

from collections import Counter

import pyarrow.compute as pc

from kafka_admin_proto.counts import with_commas
from kafka_admin_proto.render.plots import Series, bars, columns
from kafka_admin_proto.render.report import Column, Plot, Section, Table
from kafka_admin_proto.tables import queries
from kafka_admin_proto.tables.queries.grouping import records
from kafka_admin_proto.tables.queries.stored_tables import StoredTable
from kafka_admin_proto.tables.report.answers import (
    FIRST_AND_LAST,
    MOST_BARS,
    TimeAxis,
    cells,
    empty,
    first_of,
    first_rows,
    missing,
)


def leaders(metadata_changes: StoredTable | None) -> Section:
    id, title = "leaders", "Leader changes"
    if metadata_changes is None:
        return missing(id, title, "metadata_changes")
    found = queries.leader_changes(metadata_changes)
    if not found.num_rows:
        return empty(id, title, "No partition got another leader.")
    parts: list[Plot | Table] = []
    timed = records(found.filter(pc.field("ts").is_valid()).select(["ts", "to_leader"]))
    if timed:
        times = [row["ts"] for row in timed]
        axis = TimeAxis.over(min(times), max(times))
        series = [
            Series(
                name,
                axis.spread(
                    Counter(axis.start_of(r["ts"]) for r in timed if (r["to_leader"] < 0) == lost)
                ),
                colour,
            )
            for lost, name, colour in (
                (False, "to another broker", "s0"),
                (True, "to none", "s3"),
            )
        ]
        caption = "Partitions that changed their leader"
        parts.append(Plot(caption, columns(caption, axis.start, axis.step, series, "changes")))
    offline = found.filter(pc.field("to_leader") < 0).num_rows
    answer = first_rows(found)
    heads = (
        Column("time (UTC)", "time"), Column("topic"), Column("partition", "count"),
        Column("from"), Column("to", "status", frozenset({"none"})), Column("epoch", "count"),
        Column("source"), Column("log offset", "count"), Column("topic id", "code"),
    )  # fmt: skip
    rows = [
        [row["ts"], row["topic"], row["partition"], _broker(row["from_leader"]),
         _broker(row["to_leader"]), row["leader_epoch"], row["source"], row["log_offset"],
         row["topic_id"]]
        for row in answer.rows
    ]  # fmt: skip
    parts.append(Table("Partitions and leaders, the latest first", heads, rows, answer.total))
    said = [
        "Times are when the controller sent the change, or a broker fetched it from the "
        "metadata log. "
        f"{with_commas(offline, 'changes')} left a partition without a leader."
    ]
    return Section(id, title, with_commas(answer.total, "changes"), offline > 0, said, parts)


def _broker(leader: int) -> str:
    return "none" if leader < 0 else str(leader)


def elections(quorum_events: StoredTable | None) -> Section:
    id, title = "elections", "Elections of the quorum"
    if quorum_events is None:
        return missing(id, title, "quorum_events")
    answer = first_rows(queries.elections(quorum_events))
    if not answer.total:
        return empty(id, title, "The controllers held no election.")
    heads = (
        Column("topic"), Column("partition", "count"), Column("epoch", "count"),
        Column("candidates", "list"), Column("pre-vote", "list"), Column("granted", "count"),
        Column("refused", "count"), Column("unanswered", "count"), Column("leader", "count"),
        Column("resigned", "list"), *FIRST_AND_LAST,
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
    caption = first_of("Votes by epoch, the latest first", answer.total, "epochs")
    parts = (
        Plot(caption, bars("Votes by epoch", labels, series, "votes")),
        Table("Epochs, the latest first", heads, cells(answer.rows, *names), answer.total),
    )
    return Section(id, title, with_commas(answer.total, "epochs"), parts=parts)


def problems_seen(problems: StoredTable | None) -> Section:
    id, title = "problems", "What could not be read"
    if problems is None:
        return missing(id, title, "problems")
    answer = first_rows(queries.problem_kinds(problems))
    if not answer.total:
        return empty(id, title, "Everything was read.")
    count = problems.count()
    heads = (
        Column("kind"), Column("count", "count"), Column("example"), Column("capture"),
        Column("connection"), Column("offset (bytes)", "count"), *FIRST_AND_LAST,
    )  # fmt: skip
    names = (
        "kind", "problems", "problem", "capture", "connection", "stream_offset", "first_ts",
        "last_ts",
    )  # fmt: skip
    top = answer.rows[:MOST_BARS]
    series = [Series("problems", [row["problems"] for row in top], "s1")]
    plot = bars("Problems by kind", [row["kind"] or "?" for row in top], series, "problems")
    parts = (
        Plot(first_of("Problems by kind", answer.total, "kinds"), plot),
        Table("Kinds, each with its first case", heads, cells(answer.rows, *names), answer.total),
    )
    return Section(id, title, with_commas(count, "problems"), True, parts=parts)
