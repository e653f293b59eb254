"""``kap partitions``: reassign replicas to brokers, with Kafka's own JSON files in and out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

import kafka_admin_proto.admin as admin
from kafka_admin_proto.cli.admin.common import completion, failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table, cell, listed, picked
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, lazy_group
from kafka_admin_proto.cli.admin.common.confirm import confirm, on_terminal
from kafka_admin_proto.cli.admin.common.files import read_text
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import topic_option
from kafka_admin_proto.cli.admin.common.parameters import Numbers
from kafka_admin_proto.cli.numbers import WholeNumber
from kafka_admin_proto.cli.output import written_to
from kafka_admin_proto.counts import counted

_OPERATIONS = (
    "topics.reassignment_plans:PlanReassignments",
    "partitions.reassignment:ReassignmentOperations",
)

partitions = lazy_group("partitions", "Reassign replicas; generate, verify, list and cancel that.")

_FILE = click.option(
    "--reassignment-json-file",
    "file",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Kafka's own JSON file of a reassignment; - is standard input.",
)
_PRESERVE = click.option("--preserve-throttles", is_flag=True, help="Leave throttles as they are.")


@partitions.command("generate", cls=ClusterCommand, items="proposed", operations=_OPERATIONS)
@topic_option("A topic to move; repeatable.")
@click.option(
    "--topics-to-move-json-file",
    "file",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Kafka's own JSON file of topics; - is standard input.",
)
@click.option(
    "--broker-list",
    type=Numbers(),
    required=True,
    metavar="1,2,3",
    shell_complete=completion.brokers,
    help="Brokers to move them to.",
)
@click.option("--disable-rack-aware", is_flag=True, help="Leave racks out of account.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    help="Write the proposal as Kafka's own JSON file, for kap partitions reassign.",
)
def generate(
    live: Live,
    topic: tuple[str, ...],
    file: str | None,
    broker_list: list[int],
    disable_rack_aware: bool,
    out: str | None,
) -> Answer:
    """Propose where replicas go, even over brokers and racks, moving few. Changes nothing.

    \b
    Example:
      kap partitions generate --topic orders --broker-list 2,3,4 --out move.json
    """
    names = list(topic)
    if file is not None:
        names += admin.read_topics_to_move(read_text(file))
    if not names:
        raise click.UsageError("name the topics: --topic, or --topics-to-move-json-file")
    generated = live.ask(
        lambda client: client.generate_reassignment(
            list(dict.fromkeys(names)), broker_list, rack_aware=not disable_rack_aware
        )
    )
    if out is not None:
        with written_to("--out"):
            Path(out).write_text(admin.write_reassignment(generated.proposed), "utf-8")
    document: Row = msgspec.to_builtins(generated)
    before = {(each["topic"], each["partition"]): each["replicas"] for each in document["current"]}
    rows = [
        {
            "topic": each["topic"],
            "partition": each["partition"],
            "current": before.get((each["topic"], each["partition"])),
            "proposed": each["replicas"],
        }
        for each in document["proposed"]
    ]
    return Answer(
        document=document,
        tables=[Table(rows=rows)],
        notes=[
            f"{counted(document['moves'], 'replicas')} would be copied; kap partitions reassign "
            "does it"
        ],
    )


@partitions.command("reassign", cls=ClusterCommand, items="partitions", operations=_OPERATIONS)
@_FILE
@click.option(
    "--throttle",
    type=WholeNumber(0),
    metavar="BYTES/S",
    help="For replicas between brokers; kap partitions verify removes it at the end.",
)
@click.option(
    "--replica-alter-log-dirs-throttle",
    type=WholeNumber(0),
    metavar="BYTES/S",
    help="For replicas between the log dirs of a broker.",
)
@click.option("--additional", is_flag=True, help="Beside reassignments that are going on.")
@click.option("--dry-run", is_flag=True, help="Say what would be moved.")
@click.option("--yes", "-y", "--execute", "yes", is_flag=True, help="Do not ask.")
def reassign(
    live: Live,
    file: str,
    throttle: int | None,
    replica_alter_log_dirs_throttle: int | None,
    additional: bool,
    dry_run: bool,
    yes: bool,
) -> Answer:
    """Move replicas as a file says; asks on a terminal. The answer has the way back, in that form.

    \b
    Examples:
      kap partitions reassign --reassignment-json-file move.json --throttle 50000000 --execute
      kap partitions reassign --reassignment-json-file move.json --dry-run
    """
    wanted = admin.read_reassignment(read_text(file))
    if dry_run:
        return _would_move(live, wanted, additional)
    confirm(
        f"Move the replicas of {counted(len(wanted), 'partitions')}?",
        yes=yes or not on_terminal(),
        names=[f"{each.topic}:{each.partition} → {cell(each.replicas)}" for each in wanted],
    )
    executed = live.ask(
        lambda client: client.execute_reassignment(
            wanted,
            throttle=throttle,
            log_dirs_throttle=replica_alter_log_dirs_throttle,
            additional=additional,
            timeout=live.timeout,
        )
    )
    document: Row = {**msgspec.to_builtins(executed), "dry_run": False}
    rows = document["partitions"]
    begun = [row for row in rows if not row["error"]]
    remarks = dict.fromkeys(row["message"] for row in begun if row["message"])
    return Answer(
        document=document,
        tables=[Table(rows=rows, hidden=("error", "message", "repeated"))],
        errors=[*failures.partition_entries(rows), *_log_dir_errors(document)],
        notes=[f"moving {len(begun)} of {counted(len(rows), 'partitions')}"
               + "; kap partitions verify with the same file says when it is done" * bool(begun),
               *remarks],
    )  # fmt: skip


def _would_move(live: Live, wanted: Sequence[admin.PartitionReplicas], additional: bool) -> Answer:
    rows = live.rows(
        lambda client: client.plan_reassignment(wanted, additional=additional, timeout=live.timeout)
    )
    return listed("partitions", rows, failures.partition_entries(rows), dry_run=True)


@partitions.command("verify", cls=ClusterCommand, items="partitions", operations=_OPERATIONS)
@_FILE
@_PRESERVE
def verify(live: Live, file: str, preserve_throttles: bool) -> Answer:
    """Say how far a reassignment is. Removes its throttles when all of it is done.

    What does not move and is not where the file says is an error: exit code 1.

    \b
    Example:
      kap partitions verify --reassignment-json-file move.json
    """
    wanted = admin.read_reassignment(read_text(file))
    document = live.row(
        lambda client: client.verify_reassignment(wanted, preserve_throttles=preserve_throttles)
    )
    rows = document["partitions"]
    return Answer(
        document=document,
        tables=[Table(rows=rows), Table(rows=document["log_dirs"])],
        errors=[
            *_unknown(rows),
            *_elsewhere(rows, document["log_dirs"]),
            *_throttle_errors(document),
        ],
        notes=["nothing moves any more" if document["done"] else "not done yet"],
    )


@partitions.command("list", cls=ClusterCommand, items="partitions", operations=_OPERATIONS)
@topic_option("A topic; repeatable. All otherwise.")
def list_reassignments(live: Live, topic: tuple[str, ...]) -> Answer:
    """List reassignments that are going on.

    \b
    Example:
      kap partitions list
    """
    items = live.rows(lambda client: client.list_partition_reassignments())
    items = [item for item in items if not topic or item["topic"] in topic]
    return Answer(
        document={"partitions": items},
        tables=[Table(rows=items)],
        notes=[]
        if items
        else [f"no reassignment{' of these topics' if topic else ''} is going on"],
    )


@partitions.command("cancel", cls=ClusterCommand, items="partitions", operations=_OPERATIONS)
@_FILE
@_PRESERVE
def cancel(live: Live, file: str, preserve_throttles: bool) -> Answer:
    """Cancel a reassignment: replicas stay where they were before it.

    \b
    Example:
      kap partitions cancel --reassignment-json-file move.json
    """
    wanted = admin.read_reassignment(read_text(file))
    document = live.row(
        lambda client: client.cancel_reassignment(wanted, preserve_throttles=preserve_throttles)
    )
    rows = document["partitions"]
    moved = {(each["topic"], each["partition"]) for each in [*rows, *document["log_dirs"]]}
    idle = [each for each in wanted if (each.topic, each.partition) not in moved]
    fine = sum(not each["error"] for each in rows)
    notes = [f"cancelled {fine} of {counted(len(wanted), 'partitions')}"]
    if idle:
        some = ", ".join(f"{each.topic}:{each.partition}" for each in idle)
        notes.append(f"no reassignment is going on of {some}")
    return Answer(
        document=document,
        tables=[Table(rows=rows, hidden=("error", "message", "repeated"))],
        errors=[
            *failures.partition_entries(rows),
            *_log_dir_errors(document),
            *_throttle_errors(document),
        ],
        notes=notes,
    )


def _unknown(rows: Sequence[Row]) -> list[Row]:
    """An entry for each partition that the cluster does not have."""
    from kafka_admin_proto.admin.operations.partitions.progress import unknown_partition

    entries = []
    for row in rows:
        if row["state"] == "unknown":
            error = unknown_partition(row["topic"], row["partition"])
            where = picked(row, "topic", "partition")
            entries.append(failures.entry(error.error, error.message, where))
    return entries


def _elsewhere(rows: Sequence[Row], log_dirs: Sequence[Row]) -> list[Row]:
    """An entry for what has stopped short of where the file says: waiting would not help."""
    entries = []
    for row in rows:
        if row["state"] == "other_replicas":
            message = (
                f"nothing moves, and its replicas are {cell(row['replicas'])}, not "
                f"{cell(row['wanted'])}"
            )
            where = picked(row, "topic", "partition")
            entries.append(failures.entry(failures.NOT_COMPLETE, message, where))
    for row in log_dirs:
        if row["state"] == "not_moving":
            message = f"nothing moves, and it is in {row['path']}, not in {row['wanted']}"
            where = picked(row, "topic", "partition", "broker")
            entries.append(failures.entry(failures.NOT_COMPLETE, message, where))
    return entries


def _log_dir_errors(document: Row) -> list[Row]:
    """An entry for each replica that could not be moved into its log dir."""
    return [
        {**entry, "broker": row["broker"], "log_dir": row["path"]}
        for row in document["log_dirs"]
        for entry in failures.partition_entries([row])
    ]


def _throttle_errors(document: Row) -> list[Row]:
    """An entry where throttles could not be removed: they hold replication back until they are."""
    message = document["message"]
    return [] if message is None else [failures.entry(failures.NOT_COMPLETE, message)]
