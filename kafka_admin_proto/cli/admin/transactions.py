"""``kap transactions`` and ``kap producers``: transactions, also hanging ones, and producers."""

from __future__ import annotations

import click

import kafka_admin_proto.admin as admin
from kafka_admin_proto.cli.admin.common import completion, failures
from kafka_admin_proto.cli.admin.common.answer import NONE_SEEN, Answer, Table, listed
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, Option, lazy_group
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import YES
from kafka_admin_proto.cli.numbers import WholeNumber

_OPERATIONS = ("transactions:TransactionOperations",)

transactions = lazy_group("transactions", "List and describe transactions; abort what hangs.")
producers = lazy_group("producers", "Describe the producers of partitions.")

_NO_MATCH = "no transaction is as the options say: kap transactions list without options lists all"
_TOPIC: Option = click.option(
    "--topic", "-t", required=True, shell_complete=completion.topics, help="The topic."
)
_PARTITION: Option = click.option(
    "--partition", required=True, type=WholeNumber(0), help="Its partition."
)


@transactions.command("list", cls=ClusterCommand, items="transactions", operations=_OPERATIONS)
@click.option("--state", multiple=True, help="Ongoing, CompleteCommit …; repeatable.")
@click.option("--producer-id", type=int, multiple=True, help="Of this producer; repeatable.")
@click.option(
    "--duration-filter",
    type=WholeNumber(0),
    metavar="MS",
    help="Open for so long at least (brokers from 3.8).",
)
@click.option(
    "--transactional-id-pattern", metavar="RE2", help="Ids that it matches (brokers from 4.1)."
)
def list_transactions(
    live: Live,
    state: tuple[str, ...],
    producer_id: tuple[int, ...],
    duration_filter: int | None,
    transactional_id_pattern: str | None,
) -> Answer:
    """List transactional ids, all or those that every filter finds.

    \b
    Examples:
      kap transactions list
      kap transactions list --state Ongoing --duration-filter 3600000
    """
    listing = live.row(
        lambda client: client.list_transactions(
            states=state,
            producer_ids=producer_id,
            min_duration_ms=duration_filter,
            pattern=transactional_id_pattern,
        )
    )
    rows, unknown, failed = listing["transactions"], listing["unknown_states"], listing["failed"]
    # A filter of 0 ms is one that all transactions pass.
    filtered = state or producer_id or duration_filter or transactional_id_pattern is not None
    return Answer(
        document={"transactions": rows, "unknown_states": unknown},
        tables=[Table(rows=rows)],
        errors=failures.entries("broker", failed, "broker"),
        notes=[
            *(f"no broker knows the state {each}" for each in unknown),
            *(
                []
                if rows or failed
                else [_NO_MATCH if filtered else NONE_SEEN.format("transactions")]
            ),
        ],
    )


@transactions.command("describe", cls=ClusterCommand, items="transactions", operations=_OPERATIONS)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--transactional-id", multiple=True, help="A transactional id; repeatable.")
def describe_transactions(
    live: Live, ids: tuple[str, ...], transactional_id: tuple[str, ...]
) -> Answer:
    """Describe transactions: their state, producer, age and partitions.

    \b
    Example:
      kap transactions describe payments-7
    """
    wanted = list(dict.fromkeys([*ids, *transactional_id]))
    if not wanted:
        raise click.UsageError("name the transactional ids to describe")
    items = live.rows(lambda client: client.describe_transactions(wanted))
    rows = [
        {**item, "partitions": {each["topic"]: each["partitions"] for each in item["partitions"]}}
        for item in items
        if not item["error"]
    ]
    return Answer(
        document={"transactions": items},
        tables=[Table(rows=rows, hidden=("error", "message"))],
        errors=failures.entries("transactional_id", items, "transactional_id"),
    )


@transactions.command("abort", cls=ClusterCommand, items="transactions", operations=_OPERATIONS)
@_TOPIC
@_PARTITION
@click.option(
    "--start-offset", type=WholeNumber(0), help="Where the transaction begins in the log."
)
@click.option("--producer-id", type=int, help="Its producer, in place of the offset.")
@click.option("--producer-epoch", type=int, help="The producer's epoch.")
@click.option("--coordinator-epoch", type=int, help="The epoch of its coordinator.")
@YES
def abort(
    live: Live,
    topic: str,
    partition: int,
    start_offset: int | None,
    producer_id: int | None,
    producer_epoch: int | None,
    coordinator_epoch: int | None,
    yes: bool,
) -> Answer:
    """Abort a transaction that hangs on a partition: its coordinator has forgotten it.

    kap producers describe has the offset. One that is still managed would lose its atomicity.

    \b
    Examples:
      kap transactions abort --topic orders --partition 0 --start-offset 4711
      kap transactions abort --topic orders --partition 0 --producer-id 9 --producer-epoch 3
          --coordinator-epoch 5
    """
    given = [each is not None for each in (producer_id, producer_epoch, coordinator_epoch)]
    if not (all(given) if start_offset is None else not any(given)):
        raise click.UsageError(
            "say which transaction: --start-offset, or --producer-id, --producer-epoch and "
            "--coordinator-epoch"
        )
    if start_offset is not None:
        transaction = live.ask(
            lambda client: client.find_open_transaction(topic, partition, start_offset)
        )
    else:
        transaction = admin.OpenTransaction(
            topic=topic,
            partition=partition,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch or 0,
        )
    if transaction.error is None:
        confirm(
            f"Abort the transaction of producer {transaction.producer_id} (epoch "
            f"{transaction.producer_epoch}) on {topic}:{partition}?",
            yes=yes,
        )
    row = live.row(lambda client: client.abort_transaction(transaction))
    return listed("transactions", [row], failures.partition_entries([row]))


@producers.command("describe", cls=ClusterCommand, items="partitions", operations=_OPERATIONS)
@_TOPIC
@_PARTITION
@click.option(
    "--broker", "--broker-id", "broker", type=int, shell_complete=completion.brokers,
    help="Ask this replica; the leader otherwise.",
)  # fmt: skip
def describe_producers(live: Live, topic: str, partition: int, broker: int | None) -> Answer:
    """Describe the producers that a partition knows, and where their open transactions begin.

    \b
    Example:
      kap producers describe --topic orders --partition 0
    """
    items = live.rows(lambda client: client.describe_producers([(topic, partition)], broker=broker))
    rows = [each for item in items for each in item["producers"]]
    errors = failures.partition_entries(items)
    return Answer(
        document={"partitions": items},
        tables=[Table(rows=rows)],
        errors=errors,
        notes=[] if rows or errors else ["no producer has written to it lately"],
    )
