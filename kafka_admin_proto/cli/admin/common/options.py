"""Options that several commands take alike; what a value is for is said by each of them."""

from __future__ import annotations

import click

from kafka_admin_proto.cli.admin.common import completion
from kafka_admin_proto.cli.admin.common.command import Option
from kafka_admin_proto.cli.admin.common.parameters import (
    KeyValue,
    ReplicaAssignment,
    TopicPartition,
)

#: For commands that take something away.
YES: Option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


def topic_option(help: str) -> Option:
    """``--topic``, repeatable and completed from the cluster."""
    return click.option("--topic", "-t", multiple=True, shell_complete=completion.topics, help=help)


def partition_option(name: str) -> Option:
    """Single partitions, repeatable: ``orders:0``."""
    return click.option(
        name, type=TopicPartition(), multiple=True, metavar="TOPIC:N",
        help="One partition; repeatable.",
    )  # fmt: skip


def replica_assignment_option(help: str) -> Option:
    """``--replica-assignment 1:2,2:3``."""
    return click.option(
        "--replica-assignment", type=ReplicaAssignment(), metavar="1:2,2:3", help=help
    )


def config_option(help: str, *aliases: str) -> Option:
    """``--config K=V``, repeatable, with names of topics' configs completed."""
    return click.option(
        "--config", *aliases, "config", type=KeyValue(), multiple=True, metavar="K=V",
        shell_complete=completion.configs, help=help,
    )  # fmt: skip
