"""Answers of the topic commands as rows, titles and tables."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from kafka_admin_proto.cli.admin.common import failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table, picked
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.parameters import is_pattern, pattern_of, unmatched
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.protocol import codes

_PARTITION_COLUMNS = (
    "partition", "leader", "replicas", "isr", "offline", "elr", "last_known_elr", "leader_epoch",
)  # fmt: skip


def changed_answer(
    items: list[Row],
    done: str,
    about: Row,
    live: Live | None = None,
    absent: Sequence[Row] = (),
    notes: Sequence[str] = (),
) -> Answer:
    """The answer of what changes topics: one item for each, and errors of those that are absent."""
    errors = [*failures.entries("topic", items), *failures.incomplete("topic", items)]
    name_by_id(errors, items)
    errors += absent
    if live is not None:
        near_topics(errors, live)
    fine = [item for item in items if not item["error"] and not item.get("existed")]
    return Answer(
        document={"topics": items, **about},
        tables=[Table(rows=[_changed_row(item) for item in items],
                      hidden=("error", "message"))],
        errors=errors,
        notes=[f"{done} {topics_text(fine)}", *notes] if not errors or fine else notes,
    )  # fmt: skip


def matched_topics(live: Live, given: Sequence[str]) -> tuple[list[str], list[Row]]:
    """The names given, and those that the regular expressions among them match, each once.

    Internal topics are never meant by one. With an entry for each that matches none.
    """
    patterns = [name for name in given if is_pattern(name)]
    if not patterns:
        return list(given), []
    found = live.ask(
        lambda client: client.list_topics(pattern=pattern_of(patterns), include_internal=False)
    )
    matched = [each.name for each in found]
    plain = [name for name in given if not is_pattern(name)]
    return list(dict.fromkeys([*plain, *matched])), absent_topics(patterns, matched)


def absent_topics(names: Sequence[str], existing: Sequence[str]) -> list[Row]:
    """An entry for each name that no topic has, and each regular expression that matches none."""
    from kafka_admin_proto.admin.operations.common.failures import error_name, failure

    error = error_name(codes.UNKNOWN_TOPIC_OR_PARTITION)
    plain = failure(codes.UNKNOWN_TOPIC_OR_PARTITION)["message"]
    return [
        failures.entry(error, said if is_pattern(name) else plain, {"topic": name})
        for name, said in unmatched(names, existing).items()
    ]


def name_by_id(errors: Sequence[Row], items: Sequence[Row]) -> None:
    """Give the errors of topics without a name their topic's id in its place."""
    ids = iter([item["topic_id"] for item in items if item["error"] and item["name"] is None])
    for error in errors:
        if error["topic"] is None:
            error["topic"] = next(ids, None)


def _changed_row(item: Row) -> Row:
    configs = item.get("configs") or []
    own = {each["name"]: each["value"] for each in configs if not each["is_default"]}
    return {
        "topic": item["name"],
        "topic_id": item["topic_id"],
        "partitions": item.get("partitions"),
        "replication_factor": item.get("replication_factor"),
        "configs": own,
        "error": item["error"],
        "message": item["message"],
    }


def near_topics(errors: Sequence[Row], live: Live) -> None:
    """Add "did you mean …?" to errors of topics that do not exist."""
    if any(each["error"] == "UNKNOWN_TOPIC_OR_PARTITION" for each in errors):
        with contextlib.suppress(KafkaAdminProtoError):  # as when the time is over
            names = [each.name for each in live.ask(lambda client: client.list_topics())]
            failures.near_misses(errors, "topic", names)


def keep_partitions(items: list[Row], wanted: Any) -> None:
    for item in items:
        item["partitions"] = [each for each in item["partitions"] if wanted(each)]
    items[:] = [item for item in items if item["partitions"] or item["error"]]


def topic_title(item: Row) -> str:
    parts = [f"topic {item['name']}"]
    if item["topic_id"]:
        parts.append(f"id {item['topic_id']}")
    if item["internal"]:
        parts.append("internal")
    if item["configs"]:
        parts.append("configs " + " ".join(f"{k}={v}" for k, v in item["configs"].items()))
    return ", ".join(parts)


def partition_rows(item: Row) -> list[Row]:
    return [
        {
            "topic": item["name"],
            "topic_id": item["topic_id"],
            **picked(each, *_PARTITION_COLUMNS),
            "lag": None
            if each["lag"] is None
            else {str(one["broker"]): one["lag"] for one in each["lag"]},
            "error": each["error"],
        }
        for each in item["partitions"]
    ]


def topics_text(items: Sequence[Any]) -> str:
    return counted(len(items), "topics")
