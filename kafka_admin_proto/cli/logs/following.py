"""``kap metadata --follow``: what a quorum commits, as changes of the cluster or as records."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from kafka_admin_proto.admin.operations.metadata_log import (
    MetadataEvent,
    MetadataRecords,
    MetadataSnapshot,
    QuorumLeader,
)
from kafka_admin_proto.cli.admin.common import failures
from kafka_admin_proto.cli.admin.common.answer import Answer, write
from kafka_admin_proto.cli.admin.common.live import ClusterConnection
from kafka_admin_proto.cli.admin.common.settings import Settings
from kafka_admin_proto.cli.logs.cells import pairs_text, state_cell
from kafka_admin_proto.cli.output import printable, utc_text, write_json_lines
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.records.metadata.batch_replay import BatchReplayer
from kafka_admin_proto.records.metadata.cluster_state import Change, ClusterState, diff
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.records.metadata.replay import MetadataReplay
from kafka_admin_proto.records.segments.rows import record_row

if TYPE_CHECKING:
    from kafka_admin_proto.admin import AdminClient

_OPERATIONS = ("metadata_log:MetadataLogOperations",)
#: A record that changes nothing: the active controller writes two a second.
_NO_OP = "NoOpRecord"


def follow(
    cluster: Mapping[str, Any],
    begin: int | None,
    until: int | None,
    *,
    as_records: bool,
    mask: bool,
) -> int:
    """Show what the quorum commits; the exit code. ``cluster`` has the options that name it."""
    settings = Settings(**cluster)
    if not (settings.bootstrap_controller or settings.command_config):
        raise click.UsageError(
            "no quorum is named: give --bootstrap-controller HOST:PORT or set "
            "KAP_BOOTSTRAP_CONTROLLER"
        )
    shown = _Following(begin, until, as_records, mask)
    connection = ClusterConnection(settings, operations=_OPERATIONS)

    async def watch(client: AdminClient) -> None:
        async for event in client.follow_metadata():
            shown.take(event)
            sys.stdout.flush()
            if shown.is_done:
                return

    try:
        connection.ask(watch)
    except KafkaAdminProtoError as error:
        if failures.is_usage(error):
            raise click.UsageError(str(error)) from error
        answer = Answer(document={}, tables=(), errors=[failures.of_exception(error)])
        write(answer, "table", None)
        return answer.exit_code
    finally:
        connection.close()
    return 1 if shown.has_problems else 0


class _Following:
    """The state of the cluster so far, and what is shown of it."""

    def __init__(self, begin: int | None, until: int | None, as_records: bool, mask: bool) -> None:
        self.is_done = False
        self.has_problems = False
        #: The first offset that is shown; None until the end of the log is known.
        self._begin = begin
        self._until = until
        self._as_records = as_records
        self._mask = mask
        self._replay = MetadataReplay()
        #: The state before the next batch whose changes are shown; None before the first of them.
        self._before: ClusterState | None = None
        self._has_caught_up = False

    def take(self, event: MetadataEvent) -> None:
        """Show what an event brings."""
        if isinstance(event, QuorumLeader):
            self._say(
                f"epoch {event.epoch}: no active controller answers"
                if event.id is None
                else f"epoch {event.epoch}: controller {event.id} is the active controller"
            )
        elif isinstance(event, MetadataSnapshot):
            self._take_snapshot(event)
        else:
            if self._begin is None:
                self._begin = event.high_watermark
            for batch in event.batches:
                self._take_batch(batch, f"offset {batch.base_offset}")
            self._note_end(event)

    def _note_end(self, event: MetadataRecords) -> None:
        state = self._replay.state
        if not self._has_caught_up and event.next_offset >= event.high_watermark:
            self._has_caught_up = True
            version = state.metadata_version or "not set"
            self._say(f"offset {state.offset}, epoch {state.epoch}, metadata.version {version}")
        self.is_done = self._until is not None and event.next_offset > self._until

    def _take_snapshot(self, event: MetadataSnapshot) -> None:
        """Begin anew from a snapshot, whose records have no offsets of their own."""
        before = self._replay.state
        name = f"snapshot {event.end_offset:020d}-{event.epoch:010d}"
        self._replay = MetadataReplay()
        replayer = BatchReplayer(name, self._replay)
        for batch in event.batches:
            replayer.take(batch)
            if self._as_records and self._is_shown(event.end_offset - 1):
                write_json_lines(
                    {**self._row(record, batch), "offset": None, "snapshot": name}
                    for record in batch.records
                )
        self._replay.skip(event.end_offset - 1, event.epoch)
        self._report(replayer)
        self._before = None
        if not self._as_records and self._is_shown(event.end_offset - 1):
            self._show_changes(before, None, name)

    def _take_batch(self, batch: Batch, place: str) -> None:
        shows = not self._as_records and self._is_shown(batch.last_offset)
        if shows and self._before is None:
            self._before = self._replay.state.copied()
        replayer = BatchReplayer(place, self._replay)
        names = replayer.take(batch)
        if batch.last_offset > self._replay.state.offset:  # the last ones may have no records
            self._replay.skip(batch.last_offset, batch.partition_leader_epoch)
        self._report(replayer)
        if self._as_records:
            write_json_lines(
                self._row(record, batch)
                for record in batch.records
                if self._is_shown(record.offset)
            )
        elif self._before is not None and shows and set(names) - {_NO_OP}:
            self._show_changes(self._before, batch.max_timestamp, place)

    def _row(self, record: Record, batch: Batch) -> dict[str, Any]:
        row = record_row(record, batch, METADATA_TOPIC, mask=self._mask)
        return {"offset": row.pop("offset"), "epoch": batch.partition_leader_epoch, **row}

    def _is_shown(self, offset: int) -> bool:
        is_begun = self._begin is not None and offset >= self._begin
        return is_begun and (self._until is None or offset <= self._until)

    def _show_changes(self, before: ClusterState, timestamp_ms: int | None, place: str) -> None:
        """Show what differs from the state before, and keep the new one for the next time."""
        self._before = self._replay.state.copied()
        time = "" if timestamp_ms is None else f"{utc_text(timestamp_ms * 1000, 'milliseconds')} "
        changes = diff(before, self._before, mask=self._mask)
        for _, of_item in groupby(changes, key=lambda each: (each.kind, each.name)):
            if sentence := _sentence(list(of_item)):
                click.echo(printable(f"{time}{place}: {sentence}"))

    def _report(self, replayer: BatchReplayer) -> None:
        for problem in replayer.problems:
            self.has_problems = True
            click.echo(printable(str(problem)), err=True)

    def _say(self, text: str) -> None:
        click.echo(printable(text), err=self._as_records)


def _sentence(changes: list[Change]) -> str:
    """What happened to one item: "broker 2 changed: fenced no → yes"; empty if nothing is seen."""
    first = changes[0]
    kind = first.kind.replace("_", " ").removesuffix("s")
    head = f"{kind} {first.name} {first.change}"
    if first.change == "added":
        return f"{head}: {pairs_text(first.after.items())}"
    if first.change == "removed":
        return head
    cells = ((each.field, state_cell(each.before), state_cell(each.after)) for each in changes)
    # An empty list in place of none is a difference of the records alone.
    seen = [f"{field} {old or '-'} → {new or '-'}" for field, old, new in cells if old or new]
    return f"{head}: {', '.join(seen)}" if seen else ""
