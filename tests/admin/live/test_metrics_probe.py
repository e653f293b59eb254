"""The example docs/examples/metrics_probe.py, run as a script."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from kafka_admin_proto.admin import AdminClient, NewTopic
from tests.docs.test_examples import SCRIPT
from tests.helpers.processes import python
from tools.clusters import Cluster


async def test_a_groups_lag(cluster: Cluster, unique: Callable[[str], str]) -> None:
    topic, group = unique("probe"), unique("probe")

    async with AdminClient(cluster.bootstrap, timeout=40) as admin:
        await admin.create_topics([NewTopic(topic, 1, 3)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from kafka import KafkaProducer

            producer = KafkaProducer(bootstrap_servers=cluster.bootstrap)
            for _ in range(5):
                producer.send(topic, b"value", partition=0).get(timeout=30)
            producer.close()
        await admin.alter_group_offsets(group, {(topic, 0): 2})
    done = python(SCRIPT, cluster.bootstrap)
    lines = done.stdout.splitlines()
    assert "kafka_brokers 3" in lines
    assert "kafka_offline_partitions 0" in lines
    assert f'kafka_group_lag{{group="{group}",topic="{topic}",partition="0"}} 3' in lines
    assert (done.returncode, done.stderr) == (0, "")
