"""Answers as the page shows them, and what sections of the report have in common.

A page has the first rows of each answer, with the number of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import pyarrow as pa

from kafka_admin_proto.counts import number
from kafka_admin_proto.render.plots import nice_step
from kafka_admin_proto.render.report import Column, Section, Table
from kafka_admin_proto.tables.queries.grouping import Row, nulls_first, records

#: Rows of a table on the page, and rows of a plot.
MOST_ROWS = 200
MOST_BARS = 15
SECOND = 1_000_000

BAD_STATUS = frozenset({"failed", "no answer", "version removed", "api removed"})
_COUNTS = (
    "epoch", "frames", "granted", "leader", "operations", "partition", "problems", "refused",
    "requests", "responses", "unanswered",
)  # fmt: skip
#: The columns that are no text, or have another heading than the words of their name.
_COLUMNS = {
    **{name: Column(name, "count") for name in _COUNTS},
    **{name: Column(name, "list") for name in ("candidates", "principals", "resigned", "versions")},
    **{f"{name}_us": Column(name, "lasting") for name in ("p50", "p90", "p99", "max")},
    "api_version": Column("version", "count"), "apis": Column("apis and versions", "list"),
    "first_ts": Column("first", "time"), "forwarded": Column("forwarded", "flag"),
    "from_leader": Column("from"),
    "last_ts": Column("last", "time"), "latency_us": Column("took", "lasting"),
    "leader_epoch": Column("epoch", "count"), "least": Column("needs at least", "count"),
    "log_offset": Column("log offset", "count"), "outcome": Column("outcome", "status", BAD_STATUS),
    "parameters": Column("parameters", "code"), "pre_candidates": Column("pre-vote", "list"),
    "problem": Column("example"), "resource_name": Column("resource"),
    "software_name": Column("software"), "software_version": Column("version"),
    "stream_offset": Column("offset (bytes)", "count"),
    "to_leader": Column("to", "status", frozenset({"none"})),
    "topic_id": Column("topic id", "code"), "ts": Column("time (UTC)", "time"),
}  # fmt: skip


class Answer(msgspec.Struct, frozen=True):
    """The first rows of a question, and how many it has."""

    rows: list[Row]
    total: int


def first_rows(answer: pa.Table) -> Answer:
    """The first rows; times as microseconds since 1970."""
    return Answer(records(answer.slice(0, MOST_ROWS)), answer.num_rows)


def summed(answer: pa.Table, keys: Sequence[str], count: str) -> Answer:
    """The sum of a count over rows of the same ``keys``, the greatest first."""
    if not answer.num_rows:
        return Answer([], 0)
    found = records(
        answer.group_by(list(keys)).aggregate([(count, "sum")]).rename_columns([*keys, count])
    )
    found.sort(key=lambda row: (-row[count], *nulls_first(*(row[name] for name in keys))))
    return Answer(found[:MOST_ROWS], len(found))


class TimeAxis(msgspec.Struct, frozen=True):
    """Columns over time: where the first starts (microseconds), seconds of each, how many."""

    start: int
    step: int
    count: int

    @classmethod
    def over(cls, first: int, last: int) -> TimeAxis:
        """Columns from multiples of a step that people count in."""
        step = nice_step(last - first)
        start = first // (step * SECOND) * step * SECOND
        return cls(start, step, (last - start) // (step * SECOND) + 1)

    def start_of(self, ts: int) -> int:
        """Where the column starts that a time is in."""
        return ts // (self.step * SECOND) * self.step * SECOND

    def spread(self, values: Mapping[int, int]) -> list[int]:
        """Values by their column's start, as one number for each column."""
        return [values.get(start, 0) for start in self.starts()]

    def starts(self) -> range:
        return range(self.start, self.start + self.count * self.step * SECOND, self.step * SECOND)


def missing(id: str, title: str, table: str) -> Section:
    return Section(id, title, "no table", said=[f"There is no table {table} in this folder."])


def empty(id: str, title: str, said: str) -> Section:
    return Section(id, title, "none", said=[said])


def table(
    caption: str, answer: Answer, names: str, *, folded: bool = False, **others: Column
) -> Table:
    """An answer's rows: the columns of ``names``, spaces between; ``others`` are its own."""
    columns = {
        name: others.get(name) or _COLUMNS.get(name) or Column(name.replace("_", " "))
        for name in names.split()
    }
    rows = [[row[name] for name in columns] for row in answer.rows]
    return Table(caption, [*columns.values()], rows, answer.total, folded)


def client_name(row: Row) -> str:
    client = row["client_id"]
    words = ["(no client id)" if client is None else client or '""', row["address"] or ""]
    if row.get("software"):
        words.append(row["software"])
    return ", ".join(filter(None, words))


def first_of(caption: str, total: int, what: str) -> str:
    if total <= MOST_BARS:
        return caption
    return f"{caption}: the first {MOST_BARS} of {number(total)} {what}"
