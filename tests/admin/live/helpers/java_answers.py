"""Answers of Java's Admin in the shape of ours, for comparisons field by field."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.admin.live.helpers.kafka_tools import KafkaTools

Rows = dict[str, Any]


class Java:
    """Answers of Java's Admin, in our words."""

    def __init__(self, tools: KafkaTools, bootstrap: str) -> None:
        self._tools = tools
        self._bootstrap = bootstrap

    def ask(self, method: str, *of: str) -> Any:
        return self._tools.admin(self._bootstrap, method, *of)

    def cluster(self) -> Rows:
        said = self.ask("describeCluster")
        nodes = [java_node(node) for node in said["nodes"]]
        return {
            "cluster_id": said["clusterId"],
            "controller": said["controller"]["id"],
            "nodes": sorted(nodes, key=lambda node: int(node["id"])),
        }

    def topics(self) -> list[Rows]:
        return sorted(
            (
                {"name": row["name"], "topic_id": row["topicId"], "internal": row["internal"]}
                for row in self.ask("listTopics")
            ),
            key=lambda row: str(row["name"]),
        )

    def described(self, topic: str) -> Rows:
        said = self.ask("describeTopics", topic)[topic]
        return {
            "name": said["name"],
            "topic_id": said["topicId"],
            "internal": said["internal"],
            "partitions": [
                {
                    "partition": row["partition"],
                    "leader": row["leader"]["id"],
                    "replicas": _ids(row["replicas"]),
                    "isr": _ids(row["isr"]),
                    "elr": _ids(row["elr"]),
                    "last_known_elr": _ids(row["lastKnownElr"]),
                }
                for row in said["partitions"]
            ],
        }

    def configs(self, *names: str) -> dict[str, dict[str, Rows]]:
        return {
            f"{row['key']['type'].lower()}:{row['key']['name']}": {
                name: {
                    "value": entry["value"],
                    "source": entry["source"],
                    "sensitive": entry["isSensitive"],
                    "read_only": entry["isReadOnly"],
                    # Of a config that the broker does not know itself, ours is None.
                    "type": None if entry["type"] == "UNKNOWN" else entry["type"],
                }
                for name, entry in row["value"]["entries"].items()
            }
            for row in self.ask("describeConfigs", *names)
        }

    def log_dirs(self, *brokers: str) -> dict[str, Rows]:
        return {
            broker: {
                path: {
                    "total_bytes": row["totalBytes"],
                    "error": row["error"],
                    "replicas": {
                        name: (own["size"], own["offsetLag"], own["isFuture"])
                        for name, own in row["replicaInfos"].items()
                    },
                }
                for path, row in dirs.items()
            }
            for broker, dirs in self.ask("describeLogDirs", *brokers).items()
        }

    def listed(self) -> dict[str, Rows]:
        return {
            row["groupId"]: {
                "type": row["type"].lower(),  # ours are the broker's own, in lower case
                "protocol_type": row["protocol"],
                "state": row["groupState"],
            }
            for row in self.ask("listGroups")
        }

    def groups(self, names: list[str]) -> dict[str, Rows]:
        return {
            id_: {
                "type": row["type"].lower(),
                "protocol": row["partitionAssignor"],
                "state": row["groupState"],
                "coordinator": row["coordinator"]["id"],
                "epoch": row["groupEpoch"],
                "assignment_epoch": row["targetAssignmentEpoch"],
                "members": [_java_member(member) for member in row["members"]],
            }
            for id_, row in self.ask("describeConsumerGroups", *names).items()
        }

    def offsets(self, group: str) -> dict[str, tuple[int, str, int | None]]:
        said = self.ask("listConsumerGroupOffsets", group)
        return {
            name: (row["offset"], row["metadata"], row["leaderEpoch"]) for name, row in said.items()
        }

    def acls(self) -> list[Rows]:
        return sorted_rows(
            {
                "resource_type": row["pattern"]["resourceType"],
                "name": row["pattern"]["name"],
                "pattern_type": row["pattern"]["patternType"],
                "principal": row["entry"]["data"]["principal"],
                "host": row["entry"]["data"]["host"],
                "operation": row["entry"]["data"]["operation"],
                "permission": row["entry"]["data"]["permissionType"],
            }
            for row in self.ask("describeAcls")
        )

    def quotas(self) -> list[Rows]:
        return sorted_rows(
            {"entity": row["key"]["entries"], "quotas": row["value"]}
            for row in self.ask("describeClientQuotas")
        )

    def user(self, name: str) -> list[tuple[str, int]]:
        said = self.ask("describeUserScramCredentials", name)[name]["credentialInfos"]
        return sorted((row["mechanism"].replace("_", "-"), row["iterations"]) for row in said)


def java_node(node: Rows) -> Rows:
    return {name: node[name] for name in ("id", "host", "port", "rack")}


def _ids(nodes: list[Rows] | None) -> list[int] | None:
    return None if nodes is None else [node["id"] for node in nodes]


def _java_member(member: Rows) -> Rows:
    return {
        "member_id": member["memberId"],
        "instance_id": member["groupInstanceId"],
        "client_id": member["clientId"],
        "host": member["host"],
        "epoch": member["memberEpoch"],
        "upgraded": member["upgraded"],
        "assignment": _java_partitions(member["assignment"]),
        "target_assignment": _java_partitions(member["targetAssignment"]),
    }


def _java_partitions(assignment: Rows | None) -> list[tuple[str, int]] | None:
    if assignment is None:
        return None
    return sorted((each["topic"], each["partition"]) for each in assignment["topicPartitions"])


def sorted_rows(rows: Iterable[Rows]) -> list[Rows]:
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))
