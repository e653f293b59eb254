"""Create the topics that a YAML file lists, and those alone that are not there yet.

    python create_topics.py topics.yaml --bootstrap-server localhost:9092

The file::

    topics:
      - name: orders
        partitions: 6
        replication_factor: 3
        configs:
          retention.ms: 604800000
          cleanup.policy: delete
      - name: customers          # partitions and replicas by the brokers' default

The exit status is 1 if a topic could not be created, or was not on all brokers in time. Needs
``pip install 'kafka-admin-proto[live]'`` for the YAML reader.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec
import yaml

from kafka_admin_proto import KafkaAdminProtoError
from kafka_admin_proto.admin import NewTopic, SyncAdminClient

#: Seconds that the brokers have to know all topics and elect leaders.
TIMEOUT_S = 60.0


class TopicEntry(msgspec.Struct, forbid_unknown_fields=True):
    """A topic of the file."""

    name: str
    partitions: int = -1
    replication_factor: int = -1
    configs: dict[str, str | int | float | bool] = {}

    def new_topic(self) -> NewTopic:
        configs: dict[str, str | None] = {
            name: config_text(value) for name, value in self.configs.items()
        }
        return NewTopic(self.name, self.partitions, self.replication_factor, configs=configs)


class TopicFile(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

    topics: list[TopicEntry]


def config_text(value: str | int | float | bool) -> str:
    """A value of YAML as Kafka writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--bootstrap-server", required=True)
    parser.add_argument("--command-config", type=Path, help="a properties file for TLS and SASL")
    options = parser.parse_args()
    try:
        read = msgspec.convert(yaml.safe_load(options.file.read_bytes()), TopicFile)
    except OSError as error:
        print(f"{options.file}: {error.strerror}", file=sys.stderr)
        return 1
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return 1
    wanted = [entry.new_topic() for entry in read.topics]
    try:
        return create(wanted, options.bootstrap_server, options.command_config)
    except (KafkaAdminProtoError, ValueError) as error:  # ValueError: a topic that is there twice
        print(error, file=sys.stderr)
        return 1


def create(wanted: list[NewTopic], bootstrap: str, command_config: Path | None) -> int:
    """The exit status, after a line for each topic."""
    failed = 0
    with SyncAdminClient(bootstrap, command_config=command_config) as admin:
        for topic in admin.create_topics(wanted, timeout=TIMEOUT_S):
            if topic.error == "TOPIC_ALREADY_EXISTS":
                print(f"{topic.name}: is there")
            elif topic.error is not None or topic.complete is False:
                print(f"{topic.name}: {topic.error or 'incomplete'}: {topic.message}")
                failed += 1
            else:
                print(f"{topic.name}: created, partitions: {topic.partitions}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
