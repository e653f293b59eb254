"""Where answers of two clusters differ.

Only what cannot be equal is left out or normalised: ids, addresses and folders of this machine,
how long a client is throttled, Metadata's controller, the quorum's leader and offsets, the order
of what Kafka keeps in hash maps, which partitions each of a share group's members has, how many
records a coordinator puts into a batch, and for topics that a placer placed which of the brokers
are the replicas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from kafka_admin_proto.messages import InitProducerIdResponse, ShareGroupHeartbeatResponse
from kafka_admin_proto.messages.describe_log_dirs_response import DescribeLogDirsResult
from kafka_admin_proto.messages.describe_quorum_response import PartitionData as QuorumPartition
from kafka_admin_proto.messages.share_group_describe_response import DescribedGroup
from kafka_admin_proto.records import Batch, read_batches
from kafka_admin_proto.server.topics.names import INTERNAL


class Known(msgspec.Struct, forbid_unknown_fields=True):
    """What differs on purpose: a pattern that a difference has, and why it differs."""

    line: str
    why: str


KNOWN = msgspec.json.decode(
    (Path(__file__).parent / "differences.json").read_bytes(), type=list[Known]
)

_LEFT_OUT = frozenset({
    "host", "port", "cluster_id", "controller_id", "unknown_tagged_fields",
    "finalized_features_epoch", "log_dir", "log_end_offset",
    "last_fetch_timestamp", "last_caught_up_timestamp",
})  # fmt: skip
#: Configs whose values are those of a machine or a node's own file, or name classes of a language.
_OWN = frozenset({
    "log.dirs", "log.dir", "listeners", "advertised.listeners", "controller.quorum.voters",
    "metadata.log.dir", "create.topic.policy.class.name", "alter.config.policy.class.name",
})  # fmt: skip
#: What a placer chooses.
_REPLICAS = frozenset({
    "leader_id", "leader_epoch", "replica_nodes", "isr_nodes", "offline_replicas",
    "eligible_leader_replicas", "last_known_elr",
})  # fmt: skip
#: Numbers that each cluster chooses, and times: only whether there is one counts.
_WITHOUT_NUMBER = frozenset({"session_id", "log_append_time_ms", "last_timestamp"})
#: The topic whose records have the leader's times.
APPENDED = "appended"
_NO_ID = UUID(int=0)
#: Characters of each side in a difference.
_SHOWN = 400
#: Kafka's words for a request that is refused have the addresses of its objects.
_REQUEST = re.compile(r"Request Request\(.*\)")
#: A topic's id in words for a partition that no share coordinator is asked about.
_TOPIC_ID = re.compile(r"(has invalid partitionId - \S+ )\S+")
#: Names in a set of Java's or Scala's: of two in one place of its table either is first.
_NAMES_IN_SET = re.compile(r"((?:dynamically|prefix|specified): \w*[\[(])(.*)([\])])$")
#: An election that was, or was not needed: where replicas were placed decides.
_ELECTED = (0, 84)


class Comparison:
    """Compares answers.

    ``names`` are the topics of each cluster by id, ``placed`` those whose replicas a placer chose,
    ``served`` the apis that ApiVersions is compared for.
    """

    def __init__(
        self,
        names: tuple[Mapping[UUID, str], Mapping[UUID, str]],
        placed: Collection[str] = (),
        served: Collection[int] = (),
    ) -> None:
        self._names = names
        self._placed = placed
        self._served = served

    def differences(self, left: Any, right: Any) -> list[str]:
        """Where two answers differ: path, left and right. None stands for no answer."""
        if left is None or right is None:
            return self._unequal(left, right, "")
        return self._structs(left, right, type(left).__name__, "")

    def _structs(self, left: Any, right: Any, path: str, topic: str) -> list[str]:
        if type(left) is not type(right):
            return self._unequal(left, right, path)
        if left == right:
            return []
        topic = _name(left) or topic
        lines = []
        for field in left.__struct_fields__:
            if field in _LEFT_OUT or (topic in _OWN and field in ("value", "synonyms")):
                continue
            one, other = (self._seen(each, field, topic) for each in (left, right))
            if one != other:
                lines += self._values(one, other, f"{path}.{field}", topic)
        return lines

    def _seen(self, row: Any, field: str, topic: str) -> Any:
        """What counts of a field, whatever the placer did."""
        value = getattr(row, field)
        if field == "throttle_time_ms":
            return value > 0
        if field == "error_message" and value:
            value = _TOPIC_ID.sub(r"\1ID", value)
            return _NAMES_IN_SET.sub(_sorted_names, _REQUEST.sub("Request", value))
        if field == "api_keys":
            return [each for each in value if each.api_key in self._served]
        if isinstance(row, QuorumPartition) and field in (
            "leader_id",
            "leader_epoch",
            "high_watermark",
        ):
            return 0
        if isinstance(row, InitProducerIdResponse) and field == "producer_id":
            return value >= 0
        # The assignor of share groups goes through sets of partitions, which topics' ids put in
        # order. A member that is alone has all, which the description shows.
        if isinstance(row, ShareGroupHeartbeatResponse) and field == "assignment":
            return None if value is None else _assigned(value)
        if isinstance(row, DescribedGroup) and field == "members" and len(value) > 1:
            return [
                msgspec.structs.replace(each, assignment=_assigned(each.assignment))
                for each in value
            ]
        if field in _WITHOUT_NUMBER or (field == "timestamp" and topic == APPENDED):
            return value > 0
        if field == "records" and isinstance(value, bytes):  # not those of a batch
            return [_batch(each) for each in read_batches(value)]
        if isinstance(row, DescribeLogDirsResult) and field == "topics":
            return [each for each in value if each.name not in {*self._placed, *INTERNAL}]
        if topic not in self._placed:
            return value
        if field == "partition_result":
            return [each for each in value if each.error_code not in _ELECTED]
        if field in _REPLICAS:
            return len(value) if isinstance(value, list) else value is None or value >= 0
        return value

    def _values(self, left: Any, right: Any, path: str, topic: str) -> list[str]:
        if isinstance(left, msgspec.Struct):
            return self._structs(left, right, path, topic)
        if isinstance(left, list) and isinstance(right, list):
            return self._lists(left, right, path, topic)
        if isinstance(left, UUID) and isinstance(right, UUID):
            left, right = (
                names.get(each, "zero" if each.int == 0 else f"unknown {each}")
                for names, each in zip(self._names, (left, right), strict=True)
            )
        return self._unequal(left, right, path)

    def _lists(self, left: list[Any], right: list[Any], path: str, topic: str) -> list[str]:
        if not (left or right) or not isinstance((left or right)[0], msgspec.Struct):
            return self._unequal(left, right, path)
        if "source" not in (left or right)[0].__struct_fields__:  # synonyms stand as they count
            left, right = (
                sorted(rows, key=self._key(names))
                for rows, names in zip((left, right), self._names, strict=True)
            )
        if len(left) != len(right):
            labels, others = (
                [_label(each) or names.get(getattr(each, "topic_id", _NO_ID), "") for each in rows]
                for rows, names in zip((left, right), self._names, strict=True)
            )
            return self._unequal(labels, others, path)
        return [
            line
            for index, (one, other) in enumerate(zip(left, right, strict=True))
            if one != other
            for line in self._structs(one, other, f"{path}[{_label(one) or index}]", topic)
        ]

    def _key(self, names: Mapping[UUID, str]) -> Callable[[Any], list[str]]:
        """What rows are put in order by: the fields that say what a row is of, then the rest."""

        def key(row: Any) -> list[str]:
            fields = [getattr(row, each) for each in row.__struct_fields__
                      if each not in _LEFT_OUT | _REPLICAS]  # fmt: skip
            return [_name(row)] + [
                names.get(each, str(each)) if isinstance(each, UUID) else repr(each)
                for each in fields
                if not isinstance(each, list)
            ]

        return key

    @staticmethod
    def _unequal(left: Any, right: Any, path: str) -> list[str]:
        if left == right:
            return []
        shown = ["no answer" if each is None else repr(each)[:_SHOWN] for each in (left, right)]
        return [f"{path}: {shown[0]} and {shown[1]}"]


def _assigned(assignment: Any) -> int:
    """How many partitions a member has."""
    return sum(len(each.partitions) for each in assignment.topic_partitions)


def _batch(batch: Batch) -> Any:
    """A batch without its bytes, and without the times that the leader gave."""
    fields = {"size": 0, "offset_in_data": 0}
    if batch.timestamp_type == "log_append":
        fields |= {"max_timestamp": 0}
        if batch.magic == 1:  # has one timestamp
            fields |= {"base_timestamp": 0}
        for each in batch.records:
            each.timestamp = 0
    return msgspec.structs.replace(batch, **fields)


def _sorted_names(found: re.Match[str]) -> str:
    return found[1] + ", ".join(sorted(found[2].split(", "))) + found[3]


def _name(row: Any) -> str:
    entity = getattr(row, "entity", None)
    if entity is not None:  # of quotas
        return repr(sorted((each.entity_type, each.entity_name or "") for each in entity))
    for field in ("name", "resource_name", "topic", "topic_name", "group_id"):
        found = getattr(row, field, None)
        if found:
            return str(found)
    return ""


def _label(row: Any) -> str:
    if name := _name(row):
        return name
    for field in ("partition_index", "partition_id", "node_id", "api_key", "key"):
        if hasattr(row, field):
            return str(getattr(row, field))
    return ""


def unlisted(lines: list[str]) -> list[str]:
    """Differences that are in no entry of the list."""
    return [line for line in lines if not any(re.search(each.line, line) for each in KNOWN)]
