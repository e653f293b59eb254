"""``kap topics``: create, delete, list and describe topics."""

from __future__ import annotations

from collections.abc import Sequence

import click
import msgspec

import kafka_admin_proto.admin as admin
from kafka_admin_proto.cli.admin.common import failures
from kafka_admin_proto.cli.admin.common.answer import NONE_SEEN, Answer, Row, Table, picked
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, lazy_group
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import (
    TOPICS,
    YES,
    config_option,
    dry_run_option,
    replica_assignment_option,
    topic_option,
)
from kafka_admin_proto.cli.admin.common.parameters import (
    configs_of,
    is_pattern,
    pattern_of,
    unmatched,
)
from kafka_admin_proto.cli.admin.topic_rows import (
    absent_topics,
    changed_answer,
    keep_partitions,
    matched_topics,
    name_by_id,
    near_topics,
    partition_rows,
    topic_title,
    topics_text,
)
from kafka_admin_proto.cli.numbers import WholeNumber

#: What Kafka and KIP-4's draft call the error of a topic that exists.
_EXISTS = ("TOPIC_ALREADY_EXISTS", "TopicAlreadyExists")
#: Errors of a topic that does not exist.
_UNKNOWN = ("UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID")
_NONE_LEFT = "no topic is as the options say: without them all are shown"
#: What the commands use of the client.
_DELETE = ("topics.deletion:DeleteTopics", "topics.descriptions:DescribeTopics")
_DESCRIBE = ("topics.descriptions:DescribeTopics",)
_CREATE = ("topics.creation:CreateTopics",)

topics = lazy_group(
    "topics",
    "Create, change, delete, list and describe topics.",
    {"alter": "topics_alter", "apply": "topics_apply"},
)

_DRY_RUN = dry_run_option("Say what would be done.")
_TOPIC_ID = click.option(
    "--topic-id", "--topic_id", "topic_id", multiple=True, help="A topic by its id; repeatable."
)


@topics.command("create", cls=ClusterCommand, items="topics", operations=_CREATE, waits=True)
@click.argument("names", nargs=-1, metavar="[TOPIC]...")
@click.option("--topic", "-t", multiple=True, help="A topic to create; repeatable.")
@click.option("--partitions", type=WholeNumber(1), help="The brokers' num.partitions otherwise.")
@click.option(
    "--replication-factor",
    type=WholeNumber(1),
    help="The brokers' default.replication.factor otherwise.",
)
@replica_assignment_option("Brokers of each partition, leaders first, in place of the two above.")
@config_option("A config of the topics; repeatable.")
@click.option("--if-not-exists", is_flag=True, help="A topic that exists is no failure.")
@_DRY_RUN
def create(
    live: Live,
    names: tuple[str, ...],
    topic: tuple[str, ...],
    partitions: int | None,
    replication_factor: int | None,
    replica_assignment: dict[int, list[int]] | None,
    config: tuple[tuple[str, str], ...],
    if_not_exists: bool,
    dry_run: bool,
) -> Answer:
    """Create topics, and wait until every broker has them.

    \b
    Examples:
      kap topics create orders --partitions 6 --replication-factor 3
      kap topics create --topic a --topic b --config retention.ms=86400000
      kap topics create orders --replica-assignment 1:2,2:3,3:1
    """
    if replica_assignment and (partitions or replication_factor):
        raise click.UsageError(
            "--replica-assignment says both already: leave --partitions and "
            "--replication-factor out"
        )
    wanted = all_names(names, topic, "create")
    configs: dict[str, str | None] = {**configs_of(config)}

    made = [
        admin.NewTopic(
            name=name,
            partitions=partitions or -1,
            replication_factor=replication_factor or -1,
            assignment=replica_assignment,
            configs=configs,
        )
        for name in wanted
    ]
    items = live.rows(
        lambda client: client.create_topics(made, timeout=live.timeout, validate_only=dry_run)
    )
    for item in items:
        existed = item["error"] in _EXISTS and if_not_exists
        if existed:
            item["error"] = None
        item["existed"] = existed
    return changed_answer(items, "would create" if dry_run else "created", {"dry_run": dry_run})


@topics.command("delete", cls=ClusterCommand, items="topics", operations=_DELETE, waits=True)
@TOPICS
@topic_option("A topic to delete, or a regular expression; repeatable.")
@_TOPIC_ID
@click.option("--if-exists", is_flag=True, help="A topic that does not exist is no failure.")
@_DRY_RUN
@YES
def delete(
    live: Live,
    names: tuple[str, ...],
    topic: tuple[str, ...],
    topic_id: tuple[str, ...],
    if_exists: bool,
    dry_run: bool,
    yes: bool,
) -> Answer:
    """Delete topics with all their records, and wait until no broker has them.

    A TOPIC with a sign that no name has, as in 'test-.*', is a regular expression for the whole
    name; internal topics are never meant by one. With commas between them it is several.

    \b
    Examples:
      kap topics delete orders
      kap topics delete --topic 'test-.*' --yes
      kap topics delete --topic-id AAAAAAAAAAAAAAAAAAAAAQ
    """
    given = all_names(names, topic, "delete", topic_id)
    plain, absent = matched_topics(live, given)
    unmet = [] if if_exists else absent
    notes = [each["message"] for each in absent if if_exists]
    if not plain and not topic_id:
        document = {"topics": [], "dry_run": dry_run}
        return Answer(document=document, tables=(), errors=unmet, notes=notes)
    if dry_run:
        items = _would_delete(live, plain, topic_id, if_exists)
        return changed_answer(items, "would delete", {"dry_run": True}, live, unmet, notes)
    wanted = [*plain, *topic_id]
    confirm(
        f"Delete {topics_text(wanted)} and all their records?"
        if len(wanted) > 1
        else f"Delete topic {wanted[0]} and all its records?",
        yes=yes,
        names=wanted if len(wanted) > 1 else (),
    )
    items = live.rows(
        lambda client: client.delete_topics(
            plain, topic_ids=topic_id, if_exists=if_exists, timeout=live.timeout
        )
    )
    return changed_answer(items, "deleted", {"dry_run": False}, live, unmet, notes)


def _would_delete(
    live: Live, names: Sequence[str], topic_ids: Sequence[str], if_exists: bool
) -> list[Row]:
    found = live.ask(lambda client: client.describe_topics(names, topic_ids=topic_ids))
    items = []
    for topic in msgspec.to_builtins(found):
        error, message = topic["error"], topic["message"]
        items.append({
            "name": topic["name"], "topic_id": topic["topic_id"],
            "partitions": len(topic["partitions"]),
            "error": None if error in _UNKNOWN and if_exists else error, "message": message,
        })  # fmt: skip
    return items


@topics.command("list", cls=ClusterCommand, items="topics", operations=_DESCRIBE)
@TOPICS
@topic_option("A topic, or a regular expression; repeatable.")
@click.option("--exclude-internal", is_flag=True, help="Leave out __consumer_offsets and the like.")
def list_topics(
    live: Live, names: tuple[str, ...], topic: tuple[str, ...], exclude_internal: bool
) -> Answer:
    """List topics.

    A TOPIC with a sign that no name has, as in 'orders-.*', is a regular expression for the whole
    name; with commas between them it is several.

    \b
    Examples:
      kap topics list
      kap topics list --topic 'orders-.*' --output json
    """
    given = [*names, *topic]
    items = live.rows(
        lambda client: client.list_topics(
            pattern=pattern_of(given) if given else None, include_internal=not exclude_internal
        )
    )
    columns = ("partitions", "topic_id", "internal")
    return Answer(
        document={"topics": items},
        tables=[Table(rows=[{"topic": item["name"], **picked(item, *columns)} for item in items])],
        notes=[*unmatched(given, [item["name"] for item in items]).values()]
        or ([] if items else [NONE_SEEN.format("topics")]),
    )


@topics.command("describe", cls=ClusterCommand, items="topics", operations=_DESCRIBE)
@TOPICS
@topic_option("A topic, or a regular expression; repeatable. All topics otherwise.")
@_TOPIC_ID
@click.option("--exclude-internal", is_flag=True, help="Leave out __consumer_offsets and the like.")
@click.option("--lag", is_flag=True, help="How far each replica is behind its leader.")
@click.option("--under-replicated-partitions", is_flag=True, help="Those alone.")
@click.option("--unavailable-partitions", is_flag=True, help="Those without a leader alone.")
@click.option("--topics-with-overrides", is_flag=True, help="Topics with configs of their own.")
@click.option("--if-exists", is_flag=True, help="A topic that does not exist is no failure.")
def describe(
    live: Live,
    names: tuple[str, ...],
    topic: tuple[str, ...],
    topic_id: tuple[str, ...],
    exclude_internal: bool,
    lag: bool,
    under_replicated_partitions: bool,
    unavailable_partitions: bool,
    topics_with_overrides: bool,
    if_exists: bool,
) -> Answer:
    """Describe topics: partitions, leaders, replicas, in-sync replicas, overridden configs.

    A TOPIC with a sign that no name has, as in 'orders-.*', is a regular expression for the whole
    name; with commas between them it is several.

    \b
    Examples:
      kap topics describe orders
      kap topics describe --topic 'orders-.*' --lag --output json
      kap topics describe --under-replicated-partitions
    """
    if live.settings.dialect == "kip-4a":
        for asked, what in (
            (under_replicated_partitions, "which replicas are in sync"),
            (lag, "how far replicas are behind (--lag)"),
            (topics_with_overrides, "which configs topics have"),
        ):
            if asked:
                raise click.UsageError(f"kip-4a's TopicMetadata does not say {what}")
    given = [*names, *topic]
    pattern = pattern_of(given) if any(map(is_pattern, given)) else None
    if pattern is not None and topic_id:
        raise click.UsageError("--topic-id does not go with a regular expression")
    described = live.ask(
        lambda client: client.describe_topics(
            None if pattern or (not given and not topic_id) else given,
            topic_ids=topic_id,
            pattern=pattern,
            include_internal=not exclude_internal,
            lag=lag,
            configs=True,
        )
    )
    items: list[Row] = msgspec.to_builtins(described)
    absent = [] if pattern is None else absent_topics(given, [item["name"] for item in items])
    if if_exists:
        items, absent = [each for each in items if each["error"] not in _UNKNOWN], []
    if under_replicated_partitions:
        keep_partitions(items, lambda each: len(each["isr"]) < len(each["replicas"]))
    if unavailable_partitions:
        keep_partitions(items, lambda each: each["leader"] is None or each["leader"] < 0)
    if topics_with_overrides:
        items = [item for item in items if item["configs"] or item["error"]]
    errors = [*absent, *failures.entries("topic", items)]
    name_by_id(errors, items)
    near_topics(errors, live)
    tables = [
        Table(rows=partition_rows(item), title=topic_title(item), hidden=("topic", "topic_id"))
        for item in items
        if not item["error"]
    ]
    return Answer(
        document={"topics": items},
        tables=tables,
        errors=errors,
        notes=[] if items or errors else [_NONE_LEFT if described else NONE_SEEN.format("topics")],
    )


def all_names(
    names: Sequence[str], more: Sequence[str], verb: str, ids: Sequence[str] = ()
) -> list[str]:
    """The topics of a command, each once. Raises click.UsageError where there are none, or two."""
    wanted = [*names, *more]
    if not wanted and not ids:
        raise click.UsageError(f"name the topics to {verb}: kap topics {verb} TOPIC, or --topic")
    if twice := [name for place, name in enumerate(wanted) if name in wanted[:place]]:
        raise click.UsageError(f"topic {twice[0]} is named twice")
    return wanted
