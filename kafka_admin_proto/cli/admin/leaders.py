"""``kap leaders``: have leaders elected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

import kafka_admin_proto.admin as admin
from kafka_admin_proto.cli.admin.common import failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, lazy_group
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.files import read_text
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import partition_option, topic_option
from kafka_admin_proto.cli.admin.common.parameters import Numbers

if TYPE_CHECKING:
    from kafka_admin_proto.admin.operations.partitions.elections import Election

_OPERATIONS = ("topics.partition_search:FindPartitions", "partitions.elections:ElectLeaders")

leaders = lazy_group("leaders", "Have leaders of partitions elected.")


@leaders.command(
    "elect", cls=ClusterCommand, items="partitions", operations=_OPERATIONS, waits=True
)
@click.option(
    "--election-type",
    type=click.Choice(["preferred", "unclean"], case_sensitive=False),
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
    election_type: Election,
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
        wanted += admin.read_election(read_text(file))
    if election_type == "unclean":
        confirm("Elect leaders that are out of sync? Records are lost.", yes=yes)

    unknown: list[Row] = []
    if numbers:
        wanted += [(topic[0], number) for number in numbers]
    elif topic:
        found = live.ask(lambda client: client.find_partitions(topic))
        unknown = failures.entries("topic", msgspec.to_builtins(found.failed))
        wanted += found.partitions
    rows: list[Row] = []
    if wanted or all_topics:
        rows = live.rows(
            lambda client: client.elect_leaders(
                wanted, election=election_type, timeout=live.timeout
            )
        )
    errors = [*unknown, *failures.partition_entries(rows), *failures.incomplete_partitions(rows)]
    elected = sum(bool(row["elected"]) for row in rows)
    return Answer(
        document={"partitions": rows, "election_type": election_type},
        tables=[Table(rows=rows, hidden=("error", "complete", "missing"))],
        errors=errors,
        notes=[f"{elected} elected of {len(rows)}"],
    )
