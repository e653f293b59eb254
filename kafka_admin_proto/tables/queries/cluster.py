"""Questions about the cluster: leaders, elections, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_admin_proto.capture.problem_kinds import without_particulars
from kafka_admin_proto.tables.queries.grouping import (
    COUNT,
    SPAN,
    TEXT,
    TIME,
    Row,
    add_span,
    nulls_first,
    records,
    table_of,
)
from kafka_admin_proto.tables.queries.stored_tables import StoredTable

_KIND_LENGTH = 200
_NO_LEADER_CHANGE = -2
_INT = pa.int32()


def leader_changes(metadata_changes: StoredTable) -> pa.Table:
    """When a partition got another leader, the latest first; -1 stands for none.

    A controller sends the same metadata to each broker, and brokers fetch the metadata log anew.
    Metadata that is repeated, or older by log offset or leader epoch than earlier metadata, is no
    change. Nor is the first metadata of a partition.
    """
    read = ("ts", "packet_ordinal", "source", "log_offset", "controller_id", "topic", "topic_id",
            "partition", "leader", "leader_epoch", "deleted")  # fmt: skip
    rows = metadata_changes.rows(read)
    identity = pc.coalesce(rows["topic_id"], rows["topic"])
    rows = rows.append_column("identity", pc.fill_null(identity, ""))
    for name in ("log_offset", "ts"):  # nulls come first
        filled = pc.fill_null(rows[name].cast(COUNT), -(1 << 63))
        rows = rows.append_column(f"{name}_order", filled)
    keys = ("identity", "partition", "log_offset_order", "ts_order", "packet_ordinal")
    rows = rows.sort_by([(name, "ascending") for name in keys])
    in_order = (row for batch in rows.to_batches(4096) for row in records(pa.table(batch)))
    found: list[Row] = []
    for _, of_partition in groupby(in_order, itemgetter("identity", "partition")):
        found += _changes(of_partition)
    found.sort(key=lambda row: nulls_first(row["log_offset"]), reverse=True)
    found.sort(key=lambda row: nulls_first(row["topic"], row["partition"]))
    found.sort(key=lambda row: nulls_first(row["ts"]), reverse=True)
    return table_of(
        found,
        [("ts", TIME), ("topic", TEXT), ("topic_id", TEXT), ("partition", _INT),
         ("from_leader", _INT), ("to_leader", _INT), ("leader_epoch", _INT), ("source", TEXT),
         ("log_offset", COUNT), ("controller_id", _INT)],
    )  # fmt: skip


def _changes(rows: Iterable[Row]) -> Iterator[Row]:
    """The changes of one partition's leader; its rows are in order."""
    leader: int | None = None
    epoch: int | None = None
    offset: int | None = None
    for row in rows:
        # A record of the log comes whenever it is fetched: the first time counts.
        if row["log_offset"] is not None:
            if row["log_offset"] == offset:
                continue
            offset = row["log_offset"]
        if row["deleted"]:
            epoch = None  # epochs start anew with a topic that is made again under its name
            continue
        if row["leader"] is None or row["leader"] == _NO_LEADER_CHANGE:
            continue
        if row["leader_epoch"] is not None:
            if epoch is not None and row["leader_epoch"] < epoch:
                continue
            epoch = row["leader_epoch"]
        before, leader = leader, row["leader"]
        if before is not None and before != leader:
            yield row | {"from_leader": before, "to_leader": leader}


def elections(quorum_events: StoredTable) -> pa.Table:
    """The elections of a quorum, epoch by epoch, the latest first.

    ``candidates`` asked for votes (``pre_vote`` ones apart), ``granted``, ``refused`` and
    ``unanswered`` are votes; ``leader`` is who began the epoch, ``resigned`` who ended one.
    """
    keys = ("topic", "partition", "epoch")
    read = (*keys, "ts", "api", "replica_id", "pre_vote", "answered", "granted", "leader_id")
    epochs: dict[tuple[Any, ...], Row] = {}
    for part in quorum_events.batches(read):
        for event in records(part):
            key = tuple(event[name] for name in keys)
            if key not in epochs:
                epochs[key] = dict(zip(keys, key, strict=True)) | _new_epoch()
            _add_event(epochs[key], event)
    found = list(epochs.values())
    found.sort(key=lambda row: nulls_first(row["topic"], row["partition"]))
    found.sort(key=lambda row: nulls_first(row["last_ts"], row["epoch"]), reverse=True)
    replicas = pa.list_(_INT)
    return table_of(
        (row | {name: sorted(row[name]) for name in _VOTERS} for row in found),
        [("topic", TEXT), ("partition", _INT), ("epoch", _INT), *SPAN, ("candidates", replicas),
         ("pre_candidates", replicas), ("granted", COUNT), ("refused", COUNT),
         ("unanswered", COUNT), ("leader", _INT), ("resigned", replicas)],
    )  # fmt: skip


_VOTERS = ("candidates", "pre_candidates", "resigned")


def _new_epoch() -> Row:
    votes = dict.fromkeys(("granted", "refused", "unanswered"), 0)
    sets: Row = {name: set() for name in _VOTERS}
    return {**sets, **votes, "leader": None, "first_ts": None, "last_ts": None}


def _add_event(epoch: Row, event: Row) -> None:
    add_span(epoch, event["ts"], event["ts"])
    api, replica = event["api"], event["replica_id"]
    who = None
    if api == "Vote":
        who = "pre_candidates" if event["pre_vote"] else "candidates"
        if not event["pre_vote"]:
            vote = "granted" if event["granted"] else "refused"
            epoch[vote if event["answered"] else "unanswered"] += 1
    elif api == "EndQuorumEpoch":
        who = "resigned"
    elif api == "BeginQuorumEpoch":
        leaders = (epoch["leader"], event["leader_id"] if replica is None else replica)
        epoch["leader"] = max((each for each in leaders if each is not None), default=None)
    if who is not None and replica is not None:
        epoch[who].add(replica)


def problem_kinds(problems: StoredTable) -> pa.Table:
    """What could not be read, by kind (the problem without its numbers and quoted texts).

    ``problem``, ``capture``, ``connection`` and ``stream_offset`` are those of the first case.
    """
    kinds: dict[str, Row] = {}
    example = ("problem", "capture", "connection", "stream_offset", "ts", "packet_ordinal")
    for part in problems.batches(example):
        for row in records(part):
            kind = without_particulars(row["problem"])[:_KIND_LENGTH]
            first = nulls_first(row["ts"], row["packet_ordinal"])
            known = kinds.get(kind)
            if known is None:
                known = {"kind": kind, "problems": 0, "at": first, **row}
                kinds[kind] = known = known | {"first_ts": None, "last_ts": None}
            if first < known["at"]:
                known |= row | {"at": first}
            known["problems"] += 1
            add_span(known, row["ts"], row["ts"])
    return table_of(
        sorted(kinds.values(), key=lambda row: (-row["problems"], row["kind"])),
        [("kind", TEXT), ("problems", COUNT), ("problem", TEXT), ("capture", TEXT),
         ("connection", TEXT), ("stream_offset", COUNT), *SPAN],
    )  # fmt: skip
