"""Questions asked of tables, and what sections of the report have in common.

What comes to the driver is bounded: of each question the first rows, with the number of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from kafka_admin_proto.render.plots import nice_step, number
from kafka_admin_proto.render.report import Column, Section

#: Rows of a table on the page, and rows of a plot.
MOST_ROWS = 200
MOST_BARS = 15
SECOND = 1_000_000

Row = dict[str, Any]


class Answer(msgspec.Struct, frozen=True):
    """The first rows of a question, and how many it has."""

    rows: list[Row]
    total: int


def ask(question: DataFrame, most: int = MOST_ROWS) -> Answer:
    """The first rows; times as microseconds since 1970."""
    rows = [row.asDict(recursive=True) for row in in_micros(question).limit(most + 1).collect()]
    return Answer(rows[:most], question.count() if len(rows) > most else len(rows))


@contextmanager
def cached(question: DataFrame) -> Iterator[DataFrame]:
    """A question of which several are asked; Spark keeps its rows meanwhile.

    After an error as well they are forgotten: Spark takes what is asked of the same folder later
    for the same, though the files in it have been replaced.
    """
    question.cache()
    try:
        yield question
    finally:
        question.unpersist()


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

    def spread(self, values: dict[int, int]) -> list[int]:
        """Values by their column's start, as one number for each column."""
        return [values.get(start, 0) for start in self.starts()]

    def starts(self) -> range:
        return range(self.start, self.start + self.count * self.step * SECOND, self.step * SECOND)


def missing(id: str, title: str, table: str) -> Section:
    return Section(id, title, "no table", said=[f"There is no table {table} in this folder."])


def empty(id: str, title: str, said: str) -> Section:
    return Section(id, title, "none", said=[said])


FIRST_AND_LAST = (Column("first", "time"), Column("last", "time"))


def cells(rows: Sequence[Row], *names: str) -> list[list[Any]]:
    return [[row[name] for name in names] for row in rows]


def client_name(row: Row) -> str:
    client = row["client_id"]
    words = ["(no client id)" if client is None else client or '""', row["address"] or ""]
    if row.get("software"):
        words.append(row["software"])
    return ", ".join(filter(None, words))


def first_of(caption: str, answer: Answer, what: str) -> str:
    if answer.total <= MOST_BARS:
        return caption
    return f"{caption}: the first {MOST_BARS} of {number(answer.total)} {what}"
