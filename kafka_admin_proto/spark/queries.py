"""Ready questions to the pipeline's tables, each a DataFrame → DataFrame.

    tables = read_tables(spark, "out")
    upgrade(tables["frames"], "4.0").where("traffic = 'client'").show()

They read the tables of `schemas.TABLES` and nothing else, and are as lazy as any DataFrame. Times
are UTC. ``address`` is a client's host without its port. Requests that came inside an Envelope
(KIP-590) are ``forwarded``: the client asked a broker, which asked the controller, so the same
request is in a capture of both twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from kafka_admin_proto.capture.problem_kinds import PARTICULARS
from kafka_admin_proto.protocol.releases import (
    BROKER_APIS,
    BROKER_CLIENT,
    UpgradeRule,
    upgrade_rules,
)
from kafka_admin_proto.render.meanings import api_name
from kafka_admin_proto.spark.sinks.reading import read_table
from kafka_admin_proto.spark.tables.schemas import TABLES

#: Percentiles are approximate: their rank is off by at most one in so many.
PERCENTILE_ACCURACY = 10_000
_PERCENTILES = {"p50_us": 0.5, "p90_us": 0.9, "p99_us": 0.99}
_KIND_LENGTH = 200
_NO_CHANGE = -2


def read_tables(
    spark: SparkSession,
    folder: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> dict[str, DataFrame]:
    """The tables below a folder (or URI), by name; one that is not there is left out.

    Rows before ``since`` and from ``until`` on are left out (both with a time zone), and then so
    are rows without a time. `CLIENTS` has days: those that have any time in between count.
    """
    tables = {name: read_table(spark, folder, name, columns) for name, columns in TABLES.items()}
    return {
        name: _between(table, since, until) for name, table in tables.items() if table is not None
    }


def register_views(tables: Mapping[str, DataFrame]) -> None:
    """Make each table a temporary view of its name, for ``spark.sql("select … from frames")``."""
    for name, table in tables.items():
        table.createOrReplaceTempView(name)


def _between(table: DataFrame, since: datetime | None, until: datetime | None) -> DataFrame:
    start, end = ("ts", "ts") if "ts" in table.columns else ("last_ts", "first_ts")
    if since is not None:
        first = since.astimezone(UTC)
        table = table.where((F.col(start) >= F.lit(first)) & (F.col("date") >= f"{first:%Y-%m-%d}"))
    if until is not None:
        last = until.astimezone(UTC)
        table = table.where((F.col(end) < F.lit(last)) & (F.col("date") <= f"{last:%Y-%m-%d}"))
    return table


def upgrade(frames: DataFrame, target: str) -> DataFrame:
    """Who sends versions that release ``target`` ("4.0") has no more, or calls deprecated.

    One row for each client and api. ``status``: "version removed", "api removed" (all versions of
    it), "deprecated" (still taken, and named as going). ``traffic``: "broker" where one broker or
    controller talks to another, as an old ``inter.broker.protocol.version`` makes them,
    "forwarded" where a broker passed a request on (its address), "client" otherwise. ``versions``
    are the ones in question, ``least`` is what the client has to speak at least, null where the api
    is gone, ``removed_in`` the release that dropped it. A client that only lacks what is newer
    than the target is not listed: it asks which versions there are. Raises UnknownReleaseError.
    """
    rules = upgrade_rules(target)
    names = sorted({api_name(key) for key, _ in rules} | BROKER_APIS)
    client = ("client_id", "address")
    used = (
        frames.where(F.col("api").isin(names) & (F.col("direction") == "request"))
        .groupBy(
            "client_id", _address().alias("address"), F.col("client_software").alias("software"),
            "principal", "forwarded", "api", "api_key", "api_version",
        )
        .agg(F.count("*").alias("requests"), *_first_and_last())
    )  # fmt: skip
    says_so = F.col("api").isin(sorted(BROKER_APIS)) | F.col("client_id").rlike(BROKER_CLIENT)
    is_broker = F.max(says_so & ~F.col("forwarded")).over(Window.partitionBy(*client))
    traffic = F.when(F.col("forwarded"), "forwarded").when(is_broker, "broker").otherwise("client")
    return (
        used.withColumn("traffic", traffic)
        .join(F.broadcast(_rules_table(frames.sparkSession, rules)), ["api_key", "api_version"])
        .groupBy(
            "status", "traffic", *client, "software", "principal", "api", "api_key", "least",
            "removed_in",
        )
        .agg(
            F.sort_array(F.collect_set("api_version")).alias("versions"),
            F.sum("requests").alias("requests"),
            F.min("first_ts").alias("first_ts"),
            F.max("last_ts").alias("last_ts"),
        )
        .select(
            "status", "traffic", *client, "software", "principal", "api", "api_key", "versions",
            "least", "removed_in", "requests", "first_ts", "last_ts",
        )
        .orderBy(
            F.col("status") == "deprecated", "traffic", F.col("requests").desc(), *client, "api_key"
        )
    )  # fmt: skip


def _rules_table(spark: SparkSession, rules: Mapping[tuple[int, int], UpgradeRule]) -> DataFrame:
    """The rules as a table that needs no worker: all in it are our own numbers and words."""
    rows = [
        f"({key}S, {version}S, '{rule.status}', {'null' if rule.least is None else rule.least}, "
        f"{repr(rule.removed_in) if rule.removed_in else 'null'})"
        for (key, version), rule in rules.items()
    ]
    columns = "api_key, api_version, status, least, removed_in"
    table = f"values {', '.join(rows or ['(0S, 0S, null, null, null)'])} as rules({columns})"
    return spark.sql(
        "select api_key, api_version, status, cast(least as smallint) least, "
        f"cast(removed_in as string) removed_in from {table} where status is not null"
    )


def audit(admin_audit: DataFrame) -> DataFrame:
    """Who did what to which topic, the latest first.

    ``outcome``: "done", "failed" (with ``error`` and ``message``), "checked" for a success of a
    request that was only to be validated, "no answer" where none was captured.
    """
    outcome = (
        F.when(F.col("error").isNotNull(), "failed")
        .when(~F.coalesce("answered", F.lit(False)), "no answer")
        .when(F.coalesce("validate_only", F.lit(False)), "checked")
        .otherwise("done")
    )
    return admin_audit.select(
        "ts", outcome.alias("outcome"), "operation", "topic", "topic_id", "principal", "client_id",
        F.col("client_software").alias("software"), _address().alias("address"), "api",
        "api_version", "parameters", "error", "message", "latency_us", "forwarded", "capture",
        "connection", "packet_ordinal",
    ).orderBy(F.col("ts").desc_nulls_last(), F.col("packet_ordinal").desc(), "topic")  # fmt: skip


def audit_totals(admin_audit: DataFrame) -> DataFrame:
    """How often each operation had each outcome, see ``audit``, the most frequent first."""
    return (
        audit(admin_audit)
        .groupBy("operation", "outcome", "forwarded")
        .agg(F.count("*").alias("operations"), *_first_and_last())
        .orderBy(F.col("operations").desc(), "operation", "outcome", "forwarded")
    )


def errors(frames: DataFrame) -> DataFrame:
    """Which responses had errors: by api, error and client, the most frequent first.

    A response counts once for each of the distinct errors in it.
    """
    return (
        frames.where((F.col("direction") == "response") & (F.size("error_codes") > 0))
        .select(
            _api(), F.explode("error_codes").alias("error"), "client_id",
            _address().alias("address"), "forwarded", "ts",
        )
        .groupBy("api", "error", "client_id", "address", "forwarded")
        .agg(F.count("*").alias("responses"), *_first_and_last())
        .orderBy(F.col("responses").desc(), "api", "error", "client_id", "address", "forwarded")
    )  # fmt: skip


def rates(frames: DataFrame, step_seconds: int = 60) -> DataFrame:
    """Requests per api in each step of time; ``start`` is a multiple of the step since 1970."""
    micros = step_seconds * 1_000_000
    start = F.timestamp_micros(F.expr(f"unix_micros(ts) - pmod(unix_micros(ts), {micros})"))
    return (
        frames.where((F.col("direction") == "request") & F.col("ts").isNotNull())
        .groupBy(start.alias("start"), _api(), "forwarded")
        .agg(F.count("*").alias("requests"))
        .orderBy("start", "api", "forwarded")
    )


def latencies(frames: DataFrame) -> DataFrame:
    """Time from request to response per api, in microseconds, the most frequent api first.

    ``max_us`` is exact; the percentiles are values that occur, whose rank is off by at most
    1/``PERCENTILE_ACCURACY`` of the responses: exact for up to that many.
    """
    shares = F.array(*(F.lit(share) for share in _PERCENTILES.values()))
    return (
        frames.where((F.col("direction") == "response") & F.col("latency_us").isNotNull())
        .groupBy(_api(), "forwarded")
        .agg(
            F.count("*").alias("responses"),
            F.percentile_approx("latency_us", shares, PERCENTILE_ACCURACY).alias("at"),
            F.max("latency_us").alias("max_us"),
        )
        .select(
            "api", "forwarded", "responses",
            *(F.col("at")[index].alias(name) for index, name in enumerate(_PERCENTILES)),
            "max_us",
        )
        .orderBy(F.col("responses").desc(), "api", "forwarded")
    )  # fmt: skip


def leader_changes(metadata_changes: DataFrame) -> DataFrame:
    """When a partition got another leader, the latest first; -1 stands for none.

    A controller tells each broker, and a broker reads the metadata log anew: what was told before
    or is older (by log offset or leader epoch) than what is known is no change. Nor is the first
    that is heard of a partition.
    """
    partition = [F.coalesce("topic_id", "topic"), F.col("partition")]
    order = [F.col("log_offset").asc_nulls_first(), F.col("ts"), F.col("packet_ordinal")]
    before = Window.partitionBy(*partition).orderBy(*order)
    # Epochs start anew with a topic that is made again under its name.
    life = Window.partitionBy(*partition, "life").orderBy(*order)
    told_before = life.rowsBetween(Window.unboundedPreceding, -1)
    # A record of the log is told whenever it is fetched.
    told = Window.partitionBy(*partition, "log_offset").orderBy("ts", "packet_ordinal")
    epoch, known = F.col("leader_epoch"), F.max("leader_epoch").over(told_before)
    gone = F.coalesce("deleted", F.lit(False)).cast("int")
    return (
        metadata_changes.withColumn("telling", F.row_number().over(told))
        .where(F.col("log_offset").isNull() | (F.col("telling") == 1))
        .withColumn("life", F.sum(gone).over(before))
        .where(F.col("leader").isNotNull() & (F.col("leader") != _NO_CHANGE) & (gone == 0))
        .withColumn("stale", F.coalesce(epoch < known, F.lit(False)))
        .where(~F.col("stale"))
        .withColumn("from_leader", F.lag("leader").over(before))
        .where(F.col("from_leader") != F.col("leader"))
        .select(
            "ts", "topic", "topic_id", "partition", "from_leader",
            F.col("leader").alias("to_leader"), "leader_epoch", "source", "log_offset",
            "controller_id",
        )
        .orderBy(F.col("ts").desc_nulls_last(), "topic", "partition", F.col("log_offset").desc())
    )  # fmt: skip


def elections(quorum_events: DataFrame) -> DataFrame:
    """The elections of a quorum, epoch by epoch, the latest first.

    ``candidates`` asked for votes (``pre_vote`` ones apart), ``granted``, ``refused`` and
    ``unanswered`` are votes; ``leader`` is who began the epoch, ``resigned`` who ended one.
    """

    def those(condition: Column, name: str) -> Column:
        who = F.when(condition, F.col("replica_id"))
        return F.sort_array(F.collect_set(who)).alias(name)

    def count(condition: Column, name: str) -> Column:
        return F.count_if(F.coalesce(condition, F.lit(False))).alias(name)

    pre = F.coalesce("pre_vote", F.lit(False))
    vote = (F.col("api") == "Vote") & ~pre
    answered = F.coalesce("answered", F.lit(False))
    refused = F.coalesce(~F.col("granted"), F.lit(True))
    return (
        quorum_events.groupBy("topic", "partition", "epoch")
        .agg(
            F.min("ts").alias("first_ts"),
            F.max("ts").alias("last_ts"),
            those(vote, "candidates"),
            those((F.col("api") == "Vote") & pre, "pre_candidates"),
            count(vote & answered & F.col("granted"), "granted"),
            count(vote & answered & refused, "refused"),
            count(vote & ~answered, "unanswered"),
            F.max(
                F.when(F.col("api") == "BeginQuorumEpoch", F.coalesce("replica_id", "leader_id"))
            ).alias("leader"),
            those(F.col("api") == "EndQuorumEpoch", "resigned"),
        )
        .orderBy(F.col("last_ts").desc_nulls_last(), F.col("epoch").desc(), "topic", "partition")
    )


def inventory(clients: DataFrame) -> DataFrame:
    """Every client over all days, by id, software and address, the busiest first."""
    client = ("client_id", "software_name", "software_version", "address")
    used = (
        clients.select(*client, F.explode("apis").alias("used"))
        .groupBy(*client, "used.api")
        .agg(F.min("used.min_version").alias("least"), F.max("used.max_version").alias("most"))
        .groupBy(*client)
        .agg(F.sort_array(F.collect_list(_versions())).alias("apis"))
    )
    whole = clients.groupBy(*client).agg(
        F.array_sort(F.array_distinct(F.flatten(F.collect_set("principals")))).alias("principals"),
        F.sum("requests").alias("requests"),
        F.min("first_ts").alias("first_ts"),
        F.max("last_ts").alias("last_ts"),
    )
    same = [whole[name].eqNullSafe(used[name]) for name in client]
    return (
        whole.join(used, reduce(and_, same), "left")
        .select(*(whole[name] for name in whole.columns), used["apis"])
        .orderBy(F.col("requests").desc_nulls_last(), *(whole[name] for name in client))
    )


def problem_kinds(problems: DataFrame) -> DataFrame:
    """What could not be read, by kind (the problem without its numbers and quoted texts)."""
    kind = F.substring(F.regexp_replace("problem", PARTICULARS, "…"), 1, _KIND_LENGTH)
    example = F.struct("problem", "capture", "connection", "stream_offset", "ts")
    return (
        problems.groupBy(kind.alias("kind"))
        .agg(
            F.count("*").alias("problems"),
            F.min_by(example, F.struct("ts", "packet_ordinal")).alias("example"),
            *_first_and_last(),
        )
        .select("kind", "problems", "example.problem", "example.capture", "example.connection",
                "example.stream_offset", "first_ts", "last_ts")
        .orderBy(F.col("problems").desc(), "kind")
    )  # fmt: skip


def _address() -> Column:
    """The client's host: ``client`` without its port; of an IPv6 address without the brackets."""
    return F.regexp_replace("client", r"^\[?(.*?)\]?:\d+$", "$1")


def _api() -> Column:
    key = F.concat(F.lit("api key "), F.col("api_key"))
    return F.coalesce("api", key, F.lit("unknown")).alias("api")


def _versions() -> Column:
    """An api with the versions used: "Fetch 4-17"."""
    most = F.when(F.col("least") < F.col("most"), F.concat(F.lit("-"), "most"))
    return F.concat("api", F.lit(" "), "least", F.coalesce(most, F.lit("")))


def _first_and_last() -> list[Column]:
    return [F.min("ts").alias("first_ts"), F.max("ts").alias("last_ts")]


#: What can be asked by name: the table, and the question. ``upgrade`` takes a release as well.
QUERIES: dict[str, tuple[str, Callable[..., DataFrame]]] = {
    "upgrade": ("frames", upgrade),
    "audit": ("admin_audit", audit),
    "audit-totals": ("admin_audit", audit_totals),
    "errors": ("frames", errors),
    "rates": ("frames", rates),
    "latencies": ("frames", latencies),
    "leaders": ("metadata_changes", leader_changes),
    "elections": ("quorum_events", elections),
    "clients": ("clients", inventory),
    "problems": ("problems", problem_kinds),
}
