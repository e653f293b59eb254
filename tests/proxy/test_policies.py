"""Policies in the proxy refuse what they refuse on a cluster, and all else passes as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from kafka_admin_proto.admin import NewPartitions, NewTopic, SyncAdminClient
from kafka_admin_proto.proxy import PolicyFilter, SyncProxy
from kafka_admin_proto.server import PolicyViolation, RequestMetadata, SyncCluster
from tests.helpers.profile import draws
from tests.server.differential.machine import Maker, run_steps
from tests.server.differential.policy import ConfigPolicy, TopicPolicy
from tests.server.differential.requests import EVERY_REQUEST
from tests.server.differential.requests.configs import alter_configs, incremental_alter_configs
from tests.server.differential.requests.drawing import Step
from tests.server.differential.requests.topics import (
    create_topics,
    create_valid_topics,
    delete_topics,
)
from tests.server.differential.sides import Sides

#: Refused by the broker's own check, and by the policy or for its error.
_BOTH_REFUSED = re.compile(r"topics\[.*\]\.error_code: [1-9]\d* and (44|-1)$")
_STEPS = draws(400)
#: Of CreatePartitions Kafka asks no policy.
_JUDGED: Sequence[Maker] = (
    create_topics, create_valid_topics, delete_topics, alter_configs, incremental_alter_configs,
)  # fmt: skip


@contextmanager
def _sides(*, policies: bool) -> Iterator[Sides]:
    """A cluster behind the proxy, and another one without it; policies here and there."""
    of_topics, of_configs = (TopicPolicy(), ConfigPolicy()) if policies else (None, None)
    with ExitStack() as opened:
        behind = opened.enter_context(SyncCluster(3))
        filters = [PolicyFilter(of_topics, of_configs)] if policies else []
        proxy = opened.enter_context(SyncProxy(behind.bootstrap_servers, filters))
        with SyncAdminClient(proxy.bootstrap_servers) as client:
            nodes = client.describe_cluster().nodes
        other = opened.enter_context(
            SyncCluster(3, create_topic_policy=of_topics, alter_config_policy=of_configs)
        )
        addresses = ",".join(f"{each.host}:{each.port}" for each in nodes)
        sides = Sides(addresses, other.bootstrap_servers, other.state)
        sides.settle_s = 0.2
        opened.callback(sides.close)
        yield sides


def test_a_cluster_is_the_same_behind_the_proxy() -> None:
    with _sides(policies=False) as sides:
        run_steps(sides, _STEPS, requests=EVERY_REQUEST)


def test_policies_refuse_what_they_refuse_on_a_cluster() -> None:
    """A cluster asks of a new topic's configs before it looks at its numbers: the code differs."""
    found: list[str] = []

    def report(step: Step, lines: list[str]) -> None:
        rows = [each.partition(".error_")[0] for each in lines if _BOTH_REFUSED.search(each)]
        left = [each for each in lines if each.partition(".error_")[0] not in rows]
        found.extend([repr(step), *left] if left else ())

    with _sides(policies=True) as sides:
        run_steps(sides, _STEPS, report, requests=_JUDGED)
    assert not found


class _Few:
    """At most four partitions, of three replicas each."""

    def configure(self, configs: object) -> None: ...
    def close(self) -> None: ...

    def validate(self, metadata: RequestMetadata) -> None:
        if (metadata.partitions or 0) > 4 or metadata.replication_factor != 3:
            raise PolicyViolation(f"{metadata.partitions} x {metadata.replication_factor}")


def test_more_partitions_are_asked_of_too() -> None:
    """Kafka asks no policy; the proxy asks with the topic's replicas and the new count."""
    with (
        SyncCluster(3) as cluster,
        SyncProxy(cluster.bootstrap_servers, [PolicyFilter(_Few())]) as proxy,
        SyncAdminClient(proxy.bootstrap_servers) as client,
    ):
        client.create_topics([NewTopic("few", 2, 3)])
        (grown,) = client.create_partitions([NewPartitions("few", 4)])
        (refused,) = client.create_partitions([NewPartitions("few", 5)])
        (described,) = client.describe_topics(["few"])
    assert grown.error is None
    assert (str(refused.error), refused.message) == ("POLICY_VIOLATION", "5 x 3")
    assert len(described.partitions) == 4
