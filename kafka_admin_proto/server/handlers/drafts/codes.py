"""The draft's own error codes, and the codes of Kafka that they replace.

The first table of the text has codes 1001 to 1009. Its second one has names alone; those that are
new there have the codes 1010 to 1012 here, which are ours. The topics of a batch get them
separately; those that are twice in it are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.values import Message

TOPIC_EXISTS = 1001
INVALID_ARGUMENT_PARTITIONS = 1002
DECREASE_PARTITIONS_NOT_ALLOWED = 1003
INVALID_ARGUMENT_REPLICATION_FACTOR = 1004
INVALID_ARGUMENT_REPLICA_ASSIGNMENT = 1005
INVALID_TOPIC_CONFIG = 1006
ELECTION_IN_PROGRESS = 1007
INVALID_ELECTION_DATA = 1008
REASSIGN_IN_PROGRESS = 1009
INVALID_TOPIC_NAME = 1010
MULTIPLE_INSTRUCTIONS = 1011
MULTIPLE_IN_BATCH = 1012

_OF_KAFKAS = {
    codes.TOPIC_ALREADY_EXISTS: TOPIC_EXISTS,
    codes.INVALID_PARTITIONS: INVALID_ARGUMENT_PARTITIONS,
    codes.INVALID_REPLICATION_FACTOR: INVALID_ARGUMENT_REPLICATION_FACTOR,
    codes.INVALID_REPLICA_ASSIGNMENT: INVALID_ARGUMENT_REPLICA_ASSIGNMENT,
    codes.INVALID_CONFIG: INVALID_TOPIC_CONFIG,
    codes.REASSIGNMENT_IN_PROGRESS: REASSIGN_IN_PROGRESS,
    codes.INVALID_TOPIC_EXCEPTION: INVALID_TOPIC_NAME,
}


def code_of(failure: ApiFailure) -> int:
    """The draft's code for a code of Kafka, or else Kafka's code."""
    return _OF_KAFKAS.get(failure.code, failure.code)


def repeated(names: Iterable[str]) -> frozenset[str]:
    """The names that are in a batch more than once."""
    return frozenset(name for name, count in Counter(names).items() if count > 1)


def configs_of(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """A request's configs. Raises ApiFailure for one that is named twice."""
    configs: dict[str, str] = {}
    for key, value in pairs:
        if key in configs:
            raise ApiFailure(codes.INVALID_CONFIG, f"config {key} is named twice")
        configs[key] = value
    return configs


class _Item(Protocol):
    topic_name: str


Item = TypeVar("Item", bound=_Item)


def codes_and_records(
    items: Sequence[Item], records_of: Callable[[Item, Sequence[Message]], list[Message]]
) -> tuple[dict[str, int], list[Message]]:
    """(the draft's error code of each topic, the records of all topics without an error).

    ``records_of`` makes the records of an item, given those of the items before it. It raises
    ApiFailure to refuse an item.
    """
    twice = repeated(each.topic_name for each in items)
    codes: dict[str, int] = {}
    records: list[Message] = []
    for name, item in {each.topic_name: each for each in items}.items():
        codes[name] = MULTIPLE_IN_BATCH if name in twice else 0
        if name not in twice:
            try:
                records += records_of(item, records)
            except ApiFailure as failure:
                codes[name] = code_of(failure)
    return codes, records
