"""Metrics of a cluster as Prometheus reads them: what is offline, under-replicated, behind.

    python metrics_probe.py localhost:9092
    python metrics_probe.py localhost:9092 admin.properties

Exit code 1 where partitions are offline, so that it serves as a check as well; 2 where the cluster
could not be asked.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from kafka_admin_proto import KafkaAdminProtoError
from kafka_admin_proto.admin import SyncAdminClient


def main(bootstrap_servers: str, command_config: str | None = None) -> int:
    with SyncAdminClient(bootstrap_servers, command_config=command_config, timeout=30) as admin:
        offline, under_replicated = partition_health(admin)
        print(f"kafka_brokers {len(admin.brokers())}")
        print(f"kafka_offline_partitions {offline}")
        print(f"kafka_under_replicated_partitions {under_replicated}")
        for group, topic, partition, lag in group_lags(admin):
            labels = f'group="{text(group)}",topic="{text(topic)}",partition="{partition}"'
            print(f"kafka_group_lag{{{labels}}} {lag}")
    return 1 if offline else 0


def partition_health(admin: SyncAdminClient) -> tuple[int, int]:
    """How many partitions have no leader, and how many have replicas that are not in sync."""
    partitions = [each for topic in admin.describe_topics() for each in topic.partitions]
    offline = sum(each.leader is None for each in partitions)
    return offline, sum(len(each.isr) < len(each.replicas) for each in partitions)


def group_lags(admin: SyncAdminClient) -> Iterator[tuple[str, str, int, int]]:
    """Group, topic, partition and how many offsets the group's commit is behind the end."""
    listing = admin.list_groups()
    for failed in listing.failed:
        print(f"broker {failed.broker}: {failed.error}: {failed.message}", file=sys.stderr)
    # Share groups commit no offsets of this kind.
    groups = [each.group_id for each in listing.groups if each.type != "share"]
    for found in admin.describe_group_lags(groups):
        group = found.group.group_id
        if found.error is not None:
            print(f"group {group}: {found.error}: {found.message}", file=sys.stderr)
        for each in found.offsets:
            if each.error is not None:
                place = f"{each.topic}-{each.partition}"
                print(f"{place}: {each.error}: {each.message}", file=sys.stderr)
            if each.lag is not None:
                yield group, each.topic, each.partition, max(0, each.lag)


def text(label: str) -> str:
    """A label's value, with what Prometheus wants escaped."""
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("bootstrap_servers", help="host:port,host:port")
    parser.add_argument("command_config", nargs="?", help="a properties file for TLS and SASL")
    try:
        sys.exit(main(**vars(parser.parse_args())))
    except KafkaAdminProtoError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
