"""``kap leaders``: have leaders elected."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from kafka_admin_proto.cli.admin.common import failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, lazy_group
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import partition_option, topic_option
from kafka_admin_proto.cli.admin.common.parameters import Numbers

_OPERATIONS = ("partitions.elections:ElectLeaders", "topics.descriptions:DescribeTopics")

leaders = lazy_group("leaders", "Have leaders of partitions elected.")

#: Not an error: the leader is who it should be.
_NOT_NEEDED = "ELECTION_NOT_NEEDED"


@leaders.command("elect", cls=ClusterCommand, items="partitions", operations=_OPERATIONS)
@click.option(
    "--election-type",
    type=click.Choice(["preferred", "unclean"]),
    default="preferred",
    show_default=True,
    help="preferred: the first replica; unclean: one out of sync, which loses records.",
)
@topic_option("All partitions of a topic; repeatable.")
@click.option(
    "--partition",
    "numbers",
    type=Numbers(),
    metavar="0,1",
    help="With one --topic: these partitions alone.",
)
@partition_option("--topic-partition")
@click.option(
    "--all-topics",
    "--all-topic-partitions",
    "all_topics",
    is_flag=True,
    help="All partitions of the cluster.",
)
@click.option(
    "--path-to-json-file",
    "file",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Kafka's own JSON file of partitions; - is standard input.",
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask before an unclean election.")
def elect(
    live: Live,
    election_type: str,
    topic: tuple[str, ...],
    numbers: list[int] | None,
    topic_partition: tuple[tuple[str, int], ...],
    all_topics: bool,
    file: str | None,
    yes: bool,
) -> Answer:
    """Have leaders elected, and wait until they lead.

    \b
    Examples:
      kap leaders elect --all-topics
      kap leaders elect --topic orders --partition 0,1
      kap leaders elect --election-type unclean --topic-partition orders:3
    """
    if all_topics == bool(topic or topic_partition or file):
        raise click.UsageError(
            "name --topic, --topic-partition or --path-to-json-file, or give --all-topics"
        )
    if numbers and len(topic) != 1:
        raise click.UsageError("--partition goes with one --topic")
    wanted = list(topic_partition)
    if file is not None:
        from kafka_admin_proto.admin.operations.partitions.json_files import read_election

        try:
            text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
        except OSError as error:
            raise click.UsageError(f"{file}: {error.strerror}") from None
        wanted += read_election(text)
    if election_type == "unclean":
        confirm("Elect leaders that are out of sync? Records are lost.", yes=yes)

    async def ask(client: Any) -> tuple[Any, list[Row]]:
        unknown: list[Row] = []
        if numbers:
            wanted.extend((topic[0], number) for number in numbers)
        elif topic:
            for each in await client.describe_topics(topic):
                if each.error is not None:
                    unknown.append(failures.entry(each.error, each.message, {"topic": each.name}))
                wanted.extend((each.name, p.partition) for p in each.partitions)
        if not wanted and not all_topics:
            return [], unknown
        partitions = None if all_topics else list(dict.fromkeys(wanted))
        found = await client.elect_leaders(partitions, election=election_type, timeout=live.timeout)
        return found, unknown

    found, unknown = live.ask(ask)
    rows: list[Row] = msgspec.to_builtins(found)
    errors = [*unknown]
    for row in rows:
        where = {"topic": row["topic"], "partition": row["partition"]}
        if row["error"] == _NOT_NEEDED:
            row["error"], row["message"] = None, "the leader is who it should be"
        elif row["error"]:
            errors.append(failures.entry(row["error"], row["message"], where))
        elif row.get("complete") is False:
            why = row["message"] or "; ".join(row["missing"])
            errors.append(failures.entry(failures.NOT_COMPLETE, why, where))
    elected = sum(bool(row["elected"]) for row in rows)
    return Answer(
        document={"partitions": rows, "election_type": election_type},
        tables=[Table(rows=rows, hidden=("error", "complete", "missing"))],
        errors=errors,
        notes=[f"{elected} elected of {len(rows)}"],
    )
