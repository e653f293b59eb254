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
    MOST_BARS,
    TimeAxis,
    empty,
    first_of,
    first_rows,
    missing,
    table,
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
            for lost, name, colour in ((False, "to another broker", "s0"), (True, "to none", "s3"))
        ]
        caption = "Partitions that changed their leader"
        parts.append(Plot(caption, columns(caption, axis.start, axis.step, series, "changes")))
    offline = found.filter(pc.field("to_leader") < 0).num_rows
    answer = first_rows(found)
    for row in answer.rows:
        row |= {name: _broker(row[name]) for name in ("from_leader", "to_leader")}
    caption = "Partitions and leaders, the latest first"
    names = "ts topic partition from_leader to_leader leader_epoch source log_offset topic_id"
    parts.append(table(caption, answer, names))
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
        table("Epochs, the latest first", answer, "topic partition epoch candidates pre_candidates"
              " granted refused unanswered leader resigned first_ts last_ts"),
    )  # fmt: skip
    return Section(id, title, with_commas(answer.total, "epochs"), parts=parts)


def problems_seen(problems: StoredTable | None) -> Section:
    id, title = "problems", "What could not be read"
    if problems is None:
        return missing(id, title, "problems")
    answer = first_rows(queries.problem_kinds(problems))
    if not answer.total:
        return empty(id, title, "Everything was read.")
    count = problems.count()
    top = answer.rows[:MOST_BARS]
    series = [Series("problems", [row["problems"] for row in top], "s1")]
    plot = bars("Problems by kind", [row["kind"] or "?" for row in top], series, "problems")
    parts = (
        Plot(first_of("Problems by kind", answer.total, "kinds"), plot),
        table(
            "Kinds, each with its first case",
            answer,
            "kind problems problem capture connection stream_offset first_ts last_ts",
            problems=Column("count", "count"),
        ),
    )
    return Section(id, title, with_commas(count, "problems"), True, parts=parts)
