"""Options that several commands take alike; what a value is for is said by each of them."""

from __future__ import annotations

from functools import reduce
from typing import Any

import click

from kafka_admin_proto.cli.admin.common import completion
from kafka_admin_proto.cli.admin.common.command import Option
from kafka_admin_proto.cli.admin.common.parameters import (
    KeyValue,
    Listed,
    ReplicaAssignment,
    TopicPartition,
    topic_names,
)


def together(*options: Option) -> Option:
    """Several options as one; ``--help`` lists them in this order."""
    return lambda function: reduce(lambda made, option: option(made), reversed(options), function)


#: For commands that take something away.
YES: Option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


def dry_run_option(help: str) -> Option:
    """``--dry-run``, also by its name in the drafts' scripts."""
    return click.option("--dry-run", "--validate-only", "dry_run", is_flag=True, help=help)


#: Topics behind a command.
TOPICS: Option = click.argument(
    "names", nargs=-1, metavar="[TOPIC]...", shell_complete=completion.topics, callback=topic_names
)


def topic_option(help: str) -> Option:
    """``--topic``, repeatable and completed from the cluster; ``a,b`` are two."""
    return click.option(
        "--topic", "-t", multiple=True, shell_complete=completion.topics, callback=topic_names,
        help=help,
    )  # fmt: skip


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


def config_option(help: str, name: str = "--config") -> Option:
    """``--config K=V`` or one like it, repeatable, with names of topics' configs completed."""
    return click.option(
        name, type=KeyValue(), multiple=True, metavar="K=V",
        shell_complete=completion.configs, help=help,
    )  # fmt: skip


def listed_option(name: str, metavar: str, help: str, **extra: Any) -> Option:
    """Names with commas between them, repeatable; the command gets them in one tuple."""
    return click.option(
        name, type=Listed(), multiple=True, metavar=metavar, help=help,
        callback=lambda _, __, given: tuple(name for names in given for name in names), **extra,
    )  # fmt: skip


#: Configs to go back to their defaults.
DELETE_CONFIG: Option = listed_option(
    "--delete-config", "K1,K2", "Configs to unset; repeatable.", shell_complete=completion.configs
)
