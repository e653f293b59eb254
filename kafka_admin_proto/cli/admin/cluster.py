"""``kap cluster``, ``kap quorum``, ``kap logdirs`` and ``kap ping``: a cluster and its nodes."""

from __future__ import annotations

import click
import msgspec

from kafka_admin_proto.cli.admin.common import completion, failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, Table
from kafka_admin_proto.cli.admin.common.command import ClusterCommand, lazy_group
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.options import topic_option
from kafka_admin_proto.cli.admin.common.parameters import Numbers

#: What the commands use of the client.
_LOG_DIRS = ("cluster.log_dirs:LogDirOperations", "topics.partition_search:FindPartitions")
_CLUSTER = ("cluster.description:DescribeCluster", "cluster.features:FeatureOperations")
_QUORUM = ("quorum:QuorumOperations",)

cluster = lazy_group("cluster", "Describe a cluster: brokers, controller, features, versions.")
quorum = lazy_group("quorum", "Describe the quorum of controllers (KRaft).")

_BROKERS = click.option(
    "--broker-list",
    type=Numbers(),
    metavar="1,2,3",
    shell_complete=completion.brokers,
    help="These brokers alone.",
)


@cluster.command("describe", cls=ClusterCommand, items="brokers", operations=_CLUSTER)
@click.option("--include-fenced", is_flag=True, help="Brokers as well that are registered only.")
@click.option(
    "--authorized-operations", is_flag=True, help="What the client may do with the cluster."
)
def describe_cluster(live: Live, include_fenced: bool, authorized_operations: bool) -> Answer:
    """Describe the cluster: its id, its controller, each broker with id, host, port and rack.

    With --bootstrap-controller the controllers are listed in place of the brokers.

    \b
    Example:
      kap cluster describe --output json
    """
    controllers = bool(live.settings.bootstrap_controller)
    row = live.row(
        lambda client: client.describe_cluster(
            include_fenced=include_fenced,
            endpoint_type="controllers" if controllers else "brokers",
            authorized_operations=authorized_operations,
        )
    )
    nodes = row["nodes"]
    controller = "not known" if row["controller"] is None else row["controller"]
    title = f"cluster {row['cluster_id']}, controller {controller}"
    if row["authorized_operations"]:
        title += f", authorized operations {', '.join(row['authorized_operations'])}"
    return Answer(
        document={
            "cluster_id": row["cluster_id"],
            "controller": row["controller"],
            "brokers": [] if controllers else nodes,
            "controllers": nodes if controllers else [],
            "authorized_operations": row["authorized_operations"],
        },
        tables=[Table(rows=nodes, title=title)],
    )


@cluster.command("features", cls=ClusterCommand, items="features", operations=_CLUSTER)
def describe_features(live: Live) -> Answer:
    """List features: the level that is finalized, and those that the broker supports.

    \b
    Example:
      kap cluster features
    """
    described = live.row(lambda client: client.describe_features())
    levels = {each["name"]: each["level"] for each in described["finalized"]}
    supported = {each["name"]: each for each in described["supported"]}
    items = [
        {
            "feature": name,
            "level": levels.get(name),
            "lowest": supported[name]["lowest"] if name in supported else None,
            "highest": supported[name]["highest"] if name in supported else None,
        }
        for name in sorted({*levels, *supported})
    ]
    return Answer(
        document={"features": items, "epoch": described["epoch"]},
        tables=[Table(rows=items)],
        notes=[] if items else ["no features"],
    )


@cluster.command("versions", cls=ClusterCommand, items="brokers", operations=_CLUSTER)
@_BROKERS
def versions(live: Live, broker_list: list[int] | None) -> Answer:
    """List which versions of each request each broker speaks.

    \b
    Example:
      kap cluster versions --broker-list 1
    """
    items = live.rows(lambda client: client.broker_versions(broker_list))
    rows = [{"broker": item["broker"], **each} for item in items for each in item["apis"]]
    return Answer(
        document={"brokers": items},
        tables=[Table(rows=rows)],
        errors=failures.entries("broker", items, "broker"),
    )


@quorum.command("describe", cls=ClusterCommand, items="voters", operations=_QUORUM)
def describe_quorum(live: Live) -> Answer:
    """Describe the quorum: leader, epoch, high watermark, voters and observers with their lag.

    A cluster with ZooKeeper has no quorum: UnsupportedVersionError.

    \b
    Examples:
      kap quorum describe
      kap quorum describe --bootstrap-controller localhost:9093
    """
    document = live.row(lambda client: client.describe_quorum())
    title = f"leader {document['leader']}, epoch {document['epoch']}"
    if document["high_watermark"] is not None:
        title += f", high watermark {document['high_watermark']}"
    rows = [
        {"role": role.removesuffix("s"), **each}
        for role in ("voters", "observers")
        for each in document[role]
    ]
    return Answer(document=document, tables=[Table(rows=rows, title=title)])


@click.command("logdirs", cls=ClusterCommand, items="brokers", operations=_LOG_DIRS)
@_BROKERS
@topic_option("Replicas of these topics alone; repeatable.")
def logdirs(live: Live, broker_list: list[int] | None, topic: tuple[str, ...]) -> Answer:
    """Describe log dirs of brokers: room on the disk, size and lag of each replica.

    \b
    Examples:
      kap logdirs
      kap logdirs --broker-list 1,2 --topic orders --output json
    """
    from kafka_admin_proto.admin.operations.common.topic_partitions import by_topic

    unknown: list[Row] = []
    wanted = None
    if topic:
        there = live.ask(lambda client: client.find_partitions(topic))
        unknown = failures.entries("topic", msgspec.to_builtins(there.failed))
        wanted = by_topic(there.partitions)
    items: list[Row] = []
    if wanted or not topic:
        items = live.rows(lambda client: client.describe_log_dirs(broker_list, topics=wanted))
    rows = [
        {"broker": item["broker"], "path": path["path"], **each}
        for item in items
        for path in item["log_dirs"]
        for each in path["replicas"]
    ]
    errors = [
        *unknown,
        *failures.entries("broker", items, "broker"),
        *(
            failures.entry(
                path["error"], path["message"], {"broker": item["broker"], "log_dir": path["path"]}
            )
            for item in items
            for path in item["log_dirs"]
            if path["error"]
        ),
    ]
    return Answer(
        document={"brokers": items},
        tables=[Table(rows=rows)],
        errors=errors,
        notes=[] if rows or errors else ["no replicas"],
    )


@click.command("ping", cls=ClusterCommand, items="brokers", operations=_CLUSTER)
def ping(live: Live) -> Answer:
    """Ask every registered broker whether it answers, and say how long each took.

    Brokers that are fenced or do not answer within --timeout are errors, each by itself: exit code
    1. Clusters before 4.0 name live brokers alone. The time of a first request has the connection
    in it: TCP, TLS, SASL, versions.

    \b
    Examples:
      kap ping
      kap ping --timeout 5 --output json
    """

    from kafka_admin_proto.admin.operations.cluster.pinging import ping_brokers

    items = live.rows(ping_brokers)
    unlisted = "only live brokers were asked: clusters before 4.0 do not name the others"
    only_live = not live.settings.bootstrap_controller and items and items[0]["fenced"] is None
    return Answer(
        document={"brokers": items},
        tables=[Table(rows=items, hidden=("fenced", "error", "message"))],
        errors=failures.entries("broker", items, "broker"),
        notes=[unlisted] if only_live else [],
    )
