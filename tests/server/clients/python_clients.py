"""The same operations by admin clients of Python: kafka-python, aiokafka, confluent-kafka, ours.

A script is a function of a cluster that returns what each step gave, as texts that can be compared;
after each change it waits until every broker knows of it.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Callable
from typing import Any

import click.testing

from kafka_admin_proto.cli.app import kap
from tests.admin.live.helpers.kafka_python import kafka_python_admin
from tests.server.clients.pair import Side
from tests.server.clients.steps import Shown, Steps

_ASSIGNMENT = {0: [1, 2], 1: [2, 3], 2: [3, 1]}


def kafka_python(side: Side) -> Shown:
    """kafka-python's KafkaAdminClient."""
    steps = Steps(side)
    with kafka_python_admin(side.bootstrap) as admin:
        from kafka.admin import NewTopic

        topic = NewTopic("kp", replica_assignments=_ASSIGNMENT, topic_configs={"retention.ms": "9"})

        def create() -> Any:
            return admin.create_topics([topic])

        steps.ask("versions", lambda: admin.config["api_version"])
        steps.ask("create", create, changes=True)
        steps.ask("again", create)
        steps.ask("list", lambda: sorted(admin.list_topics()))
        steps.ask("describe", lambda: _sorted(admin.describe_topics(["kp"])))
        steps.ask("groups", lambda: admin.list_groups())
        steps.ask("acls", lambda: admin.describe_acls(_any_acl()))
        steps.ask("users", lambda: admin.describe_user_scram_credentials())
        steps.ask("moving", lambda: admin.list_partition_reassignments())
        steps.ask("delete", lambda: admin.delete_topics(["kp"]), changes=True)
        steps.ask("delete again", lambda: admin.delete_topics(["kp"]))
        steps.ask("none", lambda: "kp" in admin.list_topics())
    return steps.shown


def _any_acl() -> Any:
    from kafka.admin import (
        ACLFilter,
        ACLOperation,
        ACLPermissionType,
        ACLResourcePatternType,
        ResourcePatternFilter,
        ResourceType,
    )

    anything = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
    return ACLFilter(None, None, ACLOperation.ANY, ACLPermissionType.ANY, anything)


def _sorted(topics: Any) -> Any:
    """Partitions and the sets of their replicas in sync, which have no order."""
    for topic in topics:
        topic["partitions"].sort(
            key=lambda each: each.get("partition_index", each.get("partition"))
        )
        for each in topic["partitions"]:
            each["isr_nodes" if "isr_nodes" in each else "isr"].sort()
    return topics


async def _aiokafka_described(admin: Any) -> Any:
    return _sorted(await admin.describe_topics(["aio"]))


def aiokafka(side: Side) -> Shown:
    """aiokafka's AIOKafkaAdminClient."""
    steps = Steps(side)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asyncio.run(_aiokafka(steps))
    return steps.shown


async def _aiokafka(steps: Steps) -> None:
    from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic
    from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

    wait_for_brokers = steps.side.wait_for_brokers
    admin = AIOKafkaAdminClient(bootstrap_servers=steps.side.bootstrap)
    await admin.start()
    try:
        topic = NewTopic("aio", -1, -1, _ASSIGNMENT, {"retention.ms": "9"})
        resource = ConfigResource(ConfigResourceType.TOPIC, "aio", {"retention.ms": "10"})
        await steps.wait("create", lambda: admin.create_topics([topic]))
        await asyncio.to_thread(wait_for_brokers)
        await steps.wait("again", lambda: admin.create_topics([topic]))
        await steps.wait("describe", lambda: _aiokafka_described(admin))
        await steps.wait("alter", lambda: admin.alter_configs([resource]))
        await asyncio.to_thread(wait_for_brokers)
        await steps.wait("configs", lambda: admin.describe_configs([resource]))
        new = {"aio": NewPartitions(4, [[1, 2]])}
        await steps.wait("partitions", lambda: admin.create_partitions(new))
        await asyncio.to_thread(wait_for_brokers)
        await steps.wait("fewer", lambda: admin.create_partitions({"aio": NewPartitions(2)}))
        await steps.wait("groups", lambda: admin.list_consumer_groups())
        await steps.wait("cluster", lambda: admin.describe_cluster())
        await steps.wait("delete", lambda: admin.delete_topics(["aio"]))
        await asyncio.to_thread(wait_for_brokers)
        await steps.wait("delete again", lambda: admin.delete_topics(["aio"]))
        listed = await admin.list_topics()
        steps.keep("none", "aio" in listed)
    finally:
        await admin.close()


def confluent_kafka(side: Side) -> Shown:
    """confluent-kafka's AdminClient, which is librdkafka's."""
    import confluent_kafka.admin

    client: Any = confluent_kafka.admin  # its stubs export next to nothing
    steps = Steps(side)
    admin = client.AdminClient({"bootstrap.servers": side.bootstrap, "log_level": 0})

    def results(futures: dict[Any, Any]) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        for key, future in futures.items():
            try:
                shown[str(key)] = future.result(20)
            except Exception as error:
                shown[str(key)] = f"{type(error).__name__}: {error}"
        return shown

    replicas = list(_ASSIGNMENT.values())
    topic = client.NewTopic("ck", 3, replica_assignment=replicas, config={"retention.ms": "9"})
    entry = client.ConfigEntry(
        "retention.ms", "10", incremental_operation=client.AlterConfigOpType.SET
    )
    changed = client.ConfigResource(client.ResourceType.TOPIC, "ck", incremental_configs=[entry])
    asked = client.ConfigResource(client.ResourceType.TOPIC, "ck")
    more = [client.NewPartitions("ck", 4, [[1, 2]])]
    steps.ask("create", lambda: results(admin.create_topics([topic])), changes=True)
    steps.ask("again", lambda: results(admin.create_topics([topic])))
    steps.ask("alter", lambda: results(admin.incremental_alter_configs([changed])), changes=True)
    steps.ask("partitions", lambda: results(admin.create_partitions(more)), changes=True)
    steps.ask("partitions again", lambda: results(admin.create_partitions(more)))
    steps.ask(
        "configs",
        lambda: {
            name: (each.value, each.source, each.is_read_only, each.is_sensitive)
            for name, each in results(admin.describe_configs([asked]))[str(asked)].items()
        },
    )

    def described() -> list[Any]:
        futures = admin.describe_topics(confluent_kafka.TopicCollection(["ck"]), request_timeout=20)
        return [
            (each.id, each.leader.id, [node.id for node in each.replicas])
            for each in futures["ck"].result(20).partitions
        ]

    steps.ask("describe", described)
    steps.ask("cluster", lambda: sorted(n.id for n in admin.describe_cluster().result(20).nodes))
    steps.ask("groups", lambda: len(admin.list_consumer_groups().result(20).valid))
    steps.ask("users", lambda: sorted(admin.describe_user_scram_credentials().result(20)))
    steps.ask("metadata", lambda: "ck" in admin.list_topics(timeout=20).topics)
    steps.ask("delete", lambda: results(admin.delete_topics(["ck"])), changes=True)
    steps.ask("delete again", lambda: results(admin.delete_topics(["ck"])))
    return steps.shown


#: Commands of our own client; a line with "!" changes the cluster.
_KAP = """
! topics create mine --replica-assignment 1:2,2:3,3:1 --config retention.ms=9
! topics create mine --replica-assignment 1:2
  topics list
  topics describe mine
  configs get --topic mine
! configs set --topic mine retention.ms=10
! configs set --topic mine segment.ms=x
  leaders elect --topic mine
  cluster describe
  cluster features
  quorum describe
  groups list
  users list
  acls list
! topics delete mine --yes
! topics delete mine --yes
"""


def our_own(side: Side) -> Shown:
    """kap, in this process, with JSON."""
    steps = Steps(side)
    environment = {"KAP_BOOTSTRAP_SERVER": side.bootstrap, "KAP_OUTPUT": "json"}
    for number, line in enumerate(_KAP.strip().splitlines()):
        words = line.removeprefix("!").split()

        def run(words: list[str] = words) -> tuple[int, Any]:
            result = click.testing.CliRunner().invoke(kap, words, env=environment)
            return result.exit_code, json.loads(result.stdout or "null")

        steps.ask(f"{number} {' '.join(words)}", run, changes=line.startswith("!"))
    return steps.shown


#: Each client's script by its name.
SCRIPTS: dict[str, Callable[[Side], Shown]] = {
    "kafka-python": kafka_python,
    "aiokafka": aiokafka,
    "confluent-kafka": confluent_kafka,
    "kap": our_own,
}
