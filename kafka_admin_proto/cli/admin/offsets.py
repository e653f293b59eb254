"""``kap offsets``: offsets of logs, and those that groups have committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
import msgspec

from kafka_admin_proto.cli.admin.common import completion, failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, lazy_group
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import YES, partition_option, topic_option
from kafka_admin_proto.cli.admin.common.parameters import (
    Numbers,
    is_pattern,
    pattern_of,
)
from kafka_admin_proto.cli.admin.groups import NO_SUCH_GROUP
from kafka_admin_proto.cli.admin.offset_arguments import (
    TopicPartition,
    offsets_in_file,
    partition_offset,
    time_or_end,
)
from kafka_admin_proto.cli.captures.filters import Instant

_OPERATIONS = (
    "groups:GroupOperations",
    "partitions.records:RecordOperations",
    "topics.descriptions:DescribeTopics",
)

#: What the commands use of the client.
_RECORDS = ("partitions.records:RecordOperations",)

offsets = lazy_group("offsets", "Offsets of logs, and those that groups have committed.")


@offsets.command("get", cls=ClusterCommand, items="offsets", operations=_OPERATIONS)
@click.argument("names", nargs=-1, metavar="[TOPIC]...", shell_complete=completion.topics)
@topic_option("A topic, or a regular expression; repeatable. All topics otherwise.")
@click.option("--partitions", type=Numbers(), metavar="0,1", help="These partitions alone.")
@click.option(
    "--time",
    "when",
    default="latest",
    show_default=True,
    metavar="WHEN",
    help="earliest, latest, max-timestamp, earliest-local, latest-tiered, milliseconds since 1970, "
    "or a time like 2026-01-31T12:00:00: the first offset at or after it.",
)
@click.option("--exclude-internal-topics", is_flag=True, help="Leave out __consumer_offsets, …")
@click.option("--read-committed", is_flag=True, help="Latest: before transactions that are open.")
def get(
    live: Live,
    names: tuple[str, ...],
    topic: tuple[str, ...],
    partitions: list[int] | None,
    when: str,
    exclude_internal_topics: bool,
    read_committed: bool,
) -> Answer:
    """Get offsets of partitions: where logs begin or end, or where they are at a time.

    \b
    Examples:
      kap offsets get orders
      kap offsets get orders --time earliest --partitions 0,1
      kap offsets get --topic 'orders-.*' --time 2026-01-31T12:00:00
    """
    at = time_or_end(when)
    given = [*names, *topic]

    async def ask(client: Any) -> tuple[Any, list[Row]]:
        wanted, unknown = await _partitions(client, given, not exclude_internal_topics)
        if partitions is not None:
            wanted = [each for each in wanted if each[1] in partitions]
        isolation = "read_committed" if read_committed else "read_uncommitted"
        return await client.list_offsets(dict.fromkeys(wanted, at), isolation=isolation), unknown

    found, unknown = live.ask(ask)
    items: list[Row] = msgspec.to_builtins(found)
    return Answer(
        document={"offsets": items, "time": when},
        tables=[Table(rows=items, hidden=("error", "message"))],
        errors=[*unknown, *_errors(items)],
        notes=[] if items or unknown else ["no partitions"],
    )


@offsets.command("reset", cls=ClusterCommand, items="offsets", operations=_OPERATIONS)
@click.option("--group", "-g", required=True, shell_complete=completion.groups, help="Whose.")
@topic_option("All partitions of a topic; repeatable.")
@partition_option("--partition")
@click.option("--all-topics", is_flag=True, help="All that the group has committed.")
@click.option("--to-earliest", "to", flag_value="earliest", help="Where the log begins.")
@click.option("--to-latest", "to", flag_value="latest", help="Where the log ends.")
@click.option("--to-offset", type=click.IntRange(0), help="This offset.")
@click.option("--to-datetime", type=Instant(), help="The first record at or after this time.")
@click.option("--shift-by", type=int, help="So many records on, or back where negative.")
@click.option("--dry-run", is_flag=True, help="Say what would be committed.")
@YES
def reset(
    live: Live,
    group: str,
    topic: tuple[str, ...],
    partition: tuple[TopicPartition, ...],
    all_topics: bool,
    to: str | None,
    to_offset: int | None,
    to_datetime: int | None,
    shift_by: int | None,
    dry_run: bool,
    yes: bool,
) -> Answer:
    """Commit other offsets for a group without members. No offset leaves the log's range.

    \b
    Examples:
      kap offsets reset --group billing --topic orders --to-earliest --dry-run
      kap offsets reset --group billing --partition orders:3 --to-offset 4711
      kap offsets reset --group billing --all-topics --shift-by -100 --yes
    """
    if sum(each is not None for each in (to, to_offset, to_datetime, shift_by)) != 1:
        raise click.UsageError(
            "say where to, once: --to-earliest, --to-latest, --to-offset, --to-datetime or "
            "--shift-by"
        )
    if bool(topic or partition) == all_topics:
        raise click.UsageError("name --topic or --partition, or give --all-topics")

    async def ask(client: Any) -> tuple[list[Row], list[Row]]:
        (committed,) = await client.list_group_offsets({group: None})
        if committed.error is not None:
            return [], [failures.entry(committed.error, committed.message, {"group": group})]
        current = {(each.topic, each.partition): each.offset for each in committed.offsets}
        wanted = list(current) if all_topics else list(partition)
        unknown: list[Row] = []
        if topic:
            found, unknown = await _partitions(client, topic, True)
            wanted = list(dict.fromkeys([*wanted, *found]))
        members = 0
        if dry_run or not wanted:
            (described,) = await client.describe_groups([group])
            members = len(described.members)
            if not wanted:
                return [], [*unknown, *_absent(described)]
        lows = await _ask_offsets(client, wanted, "earliest")
        highs = await _ask_offsets(client, wanted, "latest")
        if to_datetime is not None:
            at_time = await _ask_offsets(client, wanted, to_datetime // 1000)
        plan = []
        for key in wanted:
            low, high = lows[key], highs[key]
            looked_up = [low, high] if to_datetime is None else [low, high, at_time[key]]
            failed = next((each for each in looked_up if each["error"]), low)
            error = failed["error"]
            new: int | None = None
            if error is None:
                if to is not None:
                    new = (low if to == "earliest" else high)["offset"]
                elif to_offset is not None:
                    new = to_offset
                elif to_datetime is not None:
                    new = at_time[key]["offset"]
                    new = high["offset"] if new is None or new < 0 else new
                elif shift_by is not None:
                    before = current.get(key)
                    new = (high["offset"] if before is None else before) + shift_by
                new = min(max(new or 0, low["offset"]), high["offset"])
            message = failed["message"]
            if members and error is None:
                error, message = "UNKNOWN_MEMBER_ID", _with_members(group, members)
            plan.append({
                "group_id": group, "topic": key[0], "partition": key[1],
                "offset": current.get(key), "new_offset": new,
                "error": error, "message": message,
            })  # fmt: skip
        return plan, unknown

    plan, unknown = live.ask(ask)
    usable = [row for row in plan if row["error"] is None]
    if usable and not dry_run:
        confirm(
            f"Commit {len(usable)} offsets for group {group}?",
            yes=yes,
            names=[f"{row['topic']}:{row['partition']} {_text(row['offset'])} → {row['new_offset']}"
                   for row in usable],
        )  # fmt: skip
        new = {(row["topic"], row["partition"]): row["new_offset"] for row in usable}
        results = live.ask(lambda client: client.alter_group_offsets(group, new))
        failed = {(each.topic, each.partition): each for each in results if each.error}
        for row in usable:
            each = failed.get((row["topic"], row["partition"]))
            if each is not None:
                row["error"], row["message"] = each.error, each.message
    fine = sum(row["error"] is None for row in plan)
    return Answer(
        document={"offsets": plan, "dry_run": dry_run},
        tables=[Table(rows=plan, hidden=("error", "message"))],
        errors=[*unknown, *_errors(plan)],
        notes=[f"{'would commit' if dry_run else 'committed'} {fine} of {len(plan)}"],
    )


@offsets.command("delete", cls=ClusterCommand, items="offsets", operations=_OPERATIONS)
@click.option("--group", "-g", required=True, shell_complete=completion.groups, help="Whose.")
@topic_option("All partitions of a topic; repeatable.")
@partition_option("--partition")
@YES
def delete(
    live: Live,
    group: str,
    topic: tuple[str, ...],
    partition: tuple[TopicPartition, ...],
    yes: bool,
) -> Answer:
    """Delete committed offsets of a group.

    \b
    Example:
      kap offsets delete --group billing --topic orders
    """
    if not topic and not partition:
        raise click.UsageError("name --topic or --partition")

    async def find(client: Any) -> tuple[list[TopicPartition], list[Row]]:
        (committed,) = await client.list_group_offsets({group: None})
        if committed.error is not None:
            return [], [failures.entry(committed.error, committed.message, {"group": group})]
        found = [(o.topic, o.partition) for o in committed.offsets if o.topic in topic]
        wanted = list(dict.fromkeys([*found, *partition]))
        if wanted or committed.offsets:
            return wanted, []
        return [], _absent(*await client.describe_groups([group]))

    wanted, unknown = live.ask(find)
    items: list[Row] = []
    if wanted:
        confirm(
            f"Delete {len(wanted)} committed offsets of group {group}?",
            yes=yes,
            names=[f"{name}:{number}" for name, number in wanted],
        )
        results = live.ask(lambda client: client.delete_group_offsets(group, wanted))
        items = [{"group_id": group, **each} for each in msgspec.to_builtins(results)]
    fine = sum(not item["error"] for item in items)
    return Answer(
        document={"offsets": items},
        tables=[Table(rows=items, hidden=("error", "message"))],
        errors=[*unknown, *_errors(items)],
        notes=[f"deleted {fine} of {len(items)}"] if not unknown else [],
    )


@offsets.command(
    "delete-records",
    cls=ClusterCommand,
    items="partitions",
    operations=_RECORDS,
)
@click.argument("places", nargs=-1, metavar="[TOPIC:PARTITION:OFFSET]...")
@click.option(
    "--offset-json-file",
    type=click.Path(dir_okay=False, allow_dash=True),
    help='Kafka\'s own file: {"partitions": [{"topic", "partition", "offset"}]}.',
)
@YES
def delete_records(
    live: Live, places: tuple[str, ...], offset_json_file: str | None, yes: bool
) -> Answer:
    """Delete the records before an offset; -1 stands for the end of the log.

    \b
    Example:
      kap offsets delete-records orders:0:4711 orders:1:-1
    """
    wanted = {key: offset for key, offset in map(partition_offset, places)}
    if offset_json_file is not None:
        wanted |= offsets_in_file(offset_json_file)
    if not wanted:
        raise click.UsageError("say what to delete: TOPIC:PARTITION:OFFSET, or --offset-json-file")
    confirm(
        f"Delete records of {len(wanted)} partition{'s' * (len(wanted) != 1)} for good?",
        yes=yes,
        names=[f"{topic}:{number} before offset {'the end' if offset == -1 else offset}"
               for (topic, number), offset in wanted.items()],
    )  # fmt: skip
    results = live.ask(lambda client: client.delete_records(wanted))
    items: list[Row] = msgspec.to_builtins(results)
    return Answer(
        document={"partitions": items},
        tables=[Table(rows=items, hidden=("error", "message"))],
        errors=_errors(items),
    )


def _absent(group: Any) -> list[Row]:
    """An entry for a group that does not exist. Brokers before 4.0 describe it as dead."""
    error, message = group.error, group.message
    if error is None and group.state == "Dead":
        error, message = "GROUP_ID_NOT_FOUND", NO_SUCH_GROUP
    return [] if error is None else [failures.entry(error, message, {"group": group.group_id})]


def _with_members(group: str, count: int) -> str:
    """The message for UNKNOWN_MEMBER_ID, a coordinator's answer where a group has members."""
    return (
        f"group {group} has {count} member{'s' * (count != 1)}, and only they may commit offsets; "
        f"stop them first: kap groups describe {group} --members lists them"
    )


async def _partitions(
    client: Any, names: Sequence[str], internal: bool
) -> tuple[list[TopicPartition], list[Row]]:
    """The partitions of topics, all or those named, and entries for names that nothing has."""
    pattern = pattern_of(names) if names else None
    found = await client.list_topics(pattern=pattern, include_internal=internal)
    wanted = [(each.name, number) for each in found for number in range(each.partitions)]
    there = {each.name for each in found}
    unknown = [
        failures.entry(
            "UNKNOWN_TOPIC_OR_PARTITION",
            "This server does not host this topic-partition.",
            {"topic": name},
        )
        for name in names
        if not is_pattern(name) and name not in there
    ]
    if unknown:
        everything = await client.list_topics()
        failures.near_misses(unknown, "topic", [each.name for each in everything])
    return wanted, unknown


async def _ask_offsets(
    client: Any, wanted: Sequence[TopicPartition], when: str | int
) -> Mapping[TopicPartition, Row]:
    found = await client.list_offsets(dict.fromkeys(wanted, when)) if wanted else []
    return {(each.topic, each.partition): msgspec.to_builtins(each) for each in found}


def _errors(items: Sequence[Row]) -> list[Row]:
    return [
        failures.entry(
            item["error"], item["message"], {"topic": item["topic"], "partition": item["partition"]}
        )
        for item in items
        if item["error"]
    ]


def _text(offset: int | None) -> str:
    return "none" if offset is None else str(offset)
