"""``kap offsets``: offsets of logs, and those that groups have committed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
import msgspec

import kafka_admin_proto.admin as admin
from kafka_admin_proto.cli.admin.common import completion, failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, listed, picked
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, lazy_group
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import TOPICS, YES, partition_option, topic_option
from kafka_admin_proto.cli.admin.common.parameters import (
    Numbers,
    is_pattern,
    pattern_of,
    split_partitions,
)
from kafka_admin_proto.cli.admin.records.offset_arguments import (
    TopicPartition,
    offsets_in_file,
    partition_offset,
    time_or_end,
)
from kafka_admin_proto.cli.admin.topic_rows import absent_topics, near_topics
from kafka_admin_proto.cli.numbers import WholeNumber
from kafka_admin_proto.cli.times import Instant
from kafka_admin_proto.counts import counted

if TYPE_CHECKING:
    from kafka_admin_proto.admin.operations.partitions.records import IsolationLevel, LogEnd

_OPERATIONS = ("groups.resets:ResetOperations", "topics.partition_search:FindPartitions")

#: What the commands use of the client.
_RECORDS = ("partitions.records:RecordOperations",)

offsets = lazy_group("offsets", "Offsets of logs, and those that groups have committed.")


@offsets.command("get", cls=ClusterCommand, items="offsets", operations=_OPERATIONS)
@TOPICS
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

    A TOPIC with a sign that no name has, as in 'orders-.*', is a regular expression for the whole
    name.

    \b
    Examples:
      kap offsets get orders
      kap offsets get orders --time earliest --partitions 0,1
      kap offsets get --topic 'orders-.*' --time 2026-01-31T12:00:00
    """
    at = time_or_end(when)
    given = [*names, *topic]

    there, unknown = _partitions(live, given, not exclude_internal_topics)
    found_in = [each for each in there.partitions if partitions is None or each[1] in partitions]
    failed = {each["topic"] for each in unknown}
    # Those of a topic that was named are asked for whether they are there or not: the answer says.
    named = [each for each in given if not is_pattern(each) and each not in failed]
    asked = [(name, number) for name in named for number in partitions or ()]
    wanted = dict.fromkeys([*found_in, *asked], at)
    isolation: IsolationLevel = "read_committed" if read_committed else "read_uncommitted"
    items = live.rows(lambda client: client.list_offsets(wanted, isolation=isolation))
    return listed(
        "offsets",
        items,
        [*unknown, *failures.partition_entries(items)],
        _without_rows(partitions or [], items, unknown),
        time=when,
    )


@offsets.command("reset", cls=ClusterCommand, items="offsets", operations=_OPERATIONS)
@click.option("--group", "-g", required=True, shell_complete=completion.groups, help="Whose.")
@topic_option("All of a topic, of those a regular expression matches, or TOPIC:0,1; repeatable.")
@partition_option("--partition")
@click.option("--all-topics", is_flag=True, help="All that the group has committed.")
@click.option("--to-earliest", is_flag=True, help="Where the log begins.")
@click.option("--to-latest", is_flag=True, help="Where the log ends.")
@click.option("--to-offset", type=WholeNumber(0), help="This offset.")
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
    to_earliest: bool,
    to_latest: bool,
    to_offset: int | None,
    to_datetime: int | None,
    shift_by: int | None,
    dry_run: bool,
    yes: bool,
) -> Answer:
    """Commit other offsets for a group without members. No offset leaves the log's range.

    A share group begins there: what it had delivered and nobody had acknowledged is forgotten.

    \b
    Examples:
      kap offsets reset --group billing --topic orders --to-earliest --dry-run
      kap offsets reset --group billing --partition orders:3 --to-offset 4711
      kap offsets reset --group billing --all-topics --shift-by -100 --yes
    """
    places_given = sum(each is not None for each in (to_offset, to_datetime, shift_by))
    if places_given + to_earliest + to_latest != 1:
        raise click.UsageError(
            "say where to, once: --to-earliest, --to-latest, --to-offset, --to-datetime or "
            "--shift-by"
        )
    if bool(topic or partition) == all_topics:
        raise click.UsageError("name --topic or --partition, or give --all-topics")

    to: LogEnd | None = "earliest" if to_earliest else "latest" if to_latest else None
    whole, numbered = split_partitions(topic)
    places = [*partition, *numbered]
    unknown: list[Row] = []
    if whole:
        there, unknown = _partitions(live, whole)
        places += there.partitions
    planned = live.ask(
        lambda client: client.plan_offset_resets(
            group,
            None if all_topics else places,
            to=to,
            to_offset=to_offset,
            to_time_ms=None if to_datetime is None else to_datetime // 1000,
            shift_by=shift_by,
            validate=dry_run,
        )
    )
    unknown += failures.entries("group", [msgspec.to_builtins(planned)], "group_id")
    usable = [each for each in planned.offsets if each.error is None]
    if usable and not dry_run:
        confirm(
            f"Commit {counted(len(usable), 'offsets')} for group {group}?",
            yes=yes,
            names=[f"{each.topic}:{each.partition} "
                   f"{'none' if each.offset is None else each.offset} → {each.new_offset}"
                   for each in usable],
        )  # fmt: skip
        resets = planned
        planned = live.ask(lambda client: client.run_offset_resets(resets))
    plan: list[Row] = [{"group_id": group, **msgspec.to_builtins(each)} for each in planned.offsets]
    fine = sum(row["error"] is None for row in plan)
    return listed(
        "offsets",
        plan,
        [*unknown, *failures.partition_entries(plan)],
        [f"{'would commit' if dry_run else 'committed'} {fine} of {len(plan)}"],
        dry_run=dry_run,
    )


@offsets.command("delete", cls=ClusterCommand, items="offsets", operations=_OPERATIONS)
@click.option("--group", "-g", required=True, shell_complete=completion.groups, help="Whose.")
@topic_option("All partitions of a topic, or TOPIC:0,1; repeatable.")
@partition_option("--partition")
@YES
def delete(
    live: Live, group: str, topic: tuple[str, ...], partition: tuple[TopicPartition, ...], yes: bool
) -> Answer:
    """Delete committed offsets of a group; of a share group where it begins, by whole topics.

    \b
    Example:
      kap offsets delete --group billing --topic orders
    """
    if not topic and not partition:
        raise click.UsageError("name --topic or --partition")

    whole, numbered = split_partitions(topic)
    deletions = live.ask(
        lambda client: client.plan_offset_deletions(
            group, topics=whole, partitions=[*partition, *numbered]
        )
    )
    if deletions.offsets:
        confirm(
            f"Delete {counted(len(deletions.offsets), 'committed offsets')} of group {group}?",
            yes=yes,
            names=[f"{each.topic}:{each.partition}" for each in deletions.offsets],
        )
        plan = deletions
        deletions = live.ask(lambda client: client.run_offset_deletions(plan))
    columns = ("topic", "partition", "error", "message")
    rows: list[Row] = msgspec.to_builtins(deletions.offsets)
    items = [{"group_id": group, **picked(row, *columns)} for row in rows]
    deleted = sum(each.offset is not None and each.error is None for each in deletions.offsets)
    topics = {each.topic for each in deletions.offsets if each.offset is not None}
    idle = [name for name in whole if name not in topics]
    idle += [f"{each.topic}:{each.partition}" for each in deletions.offsets if each.offset is None]
    notes = [f"deleted {deleted} of {len(items)}"]
    if idle:
        notes.append(f"group {group} had committed no offset of {', '.join(idle)}")
    failed = failures.entries("group", [msgspec.to_builtins(deletions)], "group_id")
    return listed(
        "offsets", items, [*failed, *failures.partition_entries(items)], [] if failed else notes
    )


@offsets.command("delete-records", cls=ClusterCommand, items="partitions", operations=_RECORDS)
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
        f"Delete records of {counted(len(wanted), 'partitions')} for good?",
        yes=yes,
        names=[f"{topic}:{number} before offset {'the end' if offset == -1 else offset}"
               for (topic, number), offset in wanted.items()],
    )  # fmt: skip
    items = live.rows(lambda client: client.delete_records(wanted))
    errors = failures.partition_entries(items)
    for error in errors:
        if error["error"] == "POLICY_VIOLATION":
            error["hint"] = "the topic's cleanup.policy lacks delete: kap configs get --topic TOPIC"
    return listed("partitions", items, errors)


def _partitions(
    live: Live, names: Sequence[str], internal: bool = True
) -> tuple[admin.FoundPartitions, list[Row]]:
    """The partitions of topics, all or those named and matched.

    With entries for names that no topic has, and for patterns that match none.
    """
    patterns = [name for name in names if is_pattern(name)]
    plain = [name for name in names if name not in patterns]
    pattern = pattern_of(patterns) if patterns else None
    partitions = live.ask(
        lambda client: client.find_partitions(plain, pattern=pattern, include_internal=internal)
    )
    unknown = failures.entries("topic", msgspec.to_builtins(partitions.failed))
    unknown += absent_topics(patterns, [each.name for each in partitions.matched])
    near_topics(unknown, live)
    return partitions, unknown


def _without_rows(partitions: list[int], items: list[Row], unknown: list[Row]) -> list[str]:
    """What is said of partitions that no topic has."""
    lacking = [str(each) for each in partitions if all(each != row["partition"] for row in items)]
    if lacking:
        return [f"no topic has a partition {' or '.join(lacking)}"]
    return [] if items or unknown else ["there are no such partitions"]
