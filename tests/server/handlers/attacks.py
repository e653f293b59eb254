"""Requests that once took seconds, minutes or gigabytes of a cluster, with the rules it serves."""

from __future__ import annotations

from collections.abc import Callable

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.delete_acls_request import DeleteAclsFilter
from kafka_admin_proto.messages.describe_configs_request import DescribeConfigsResource
from kafka_admin_proto.messages.elect_leaders_request import TopicPartitions
from kafka_admin_proto.messages.incremental_alter_configs_request import AlterConfigsResource
from kafka_admin_proto.messages.kip_4a import AlterTopicRequest
from kafka_admin_proto.messages.kip_4a.alter_topic_request import AlterTopicRequestItem
from kafka_admin_proto.server.configs.definitions import definitions
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.values import Message
from tests.server.handlers.record_attacks import RECORD_ATTACKS
from tests.server.handlers.samples import TOPICS, incremental

_MANY = [f"{number:x}" for number in range(5_000)]
_BROKER = DescribeConfigsResource(4, "1", None)
_LISTS = [each.name for each in definitions(ReleaseNumber(4, 3)).broker if each.type == "LIST"][:16]
_LETTERS = "".join(map(chr, range(ord("-"), ord("~"))))
_LONG_LIST = ",".join(first + second for first in _LETTERS for second in _LETTERS)
_WIDE = "[\u4e00-\u9fa5]"


def _matching(pattern: str) -> Message:
    return incremental(16, "metrics-1", [("match", 0, f"client_id={pattern}")])


def _deleted(filters: list[DeleteAclsFilter]) -> Message:
    return m.DeleteAclsRequest(filters)


def _created(names: list[str], partitions: int) -> Message:
    return m.CreateTopicsRequest([CreatableTopic(each, partitions, 1) for each in names], 1000)


ATTACKS: dict[str, tuple[str, Message | Callable[[], Message]]] = {
    "a broker a hundred times": ("shipped", m.DescribeConfigsRequest([_BROKER] * 100)),
    "a broker 5,000 times": ("shipped", m.DescribeConfigsRequest([_BROKER] * 5_000)),
    "a broker with zeros before its number": (
        "shipped",
        m.DescribeConfigsRequest(
            [DescribeConfigsResource(4, "0" * each + "1", None) for each in range(200)]
        ),
    ),
    "20,000 unknown configs": (
        "shipped", incremental(4, "", [(f"u{each}", 0, "") for each in range(20_000)]),
    ),
    "24,000 empty topics": (
        "shipped", m.IncrementalAlterConfigsRequest([AlterConfigsResource(2, "")] * 24_000),
    ),
    "16 appended lists": (
        "shipped", incremental(4, "", [(name, 2, _LONG_LIST) for name in _LISTS]),
    ),
    "a list of blanks": (
        "shipped", incremental(2, TOPICS[0], [("cleanup.policy", 0, "a" + " " * 30_000 + "b")]),
    ),
    "wide patterns": ("shipped", _matching(_WIDE * 3_000)),
    "nested patterns": ("shipped", _matching("(" * 30_000)),
    "every ACL 5,000 times": (
        "shipped", _deleted([DeleteAclsFilter(1, None, 1, None, None, 1, 1)] * 5_000),
    ),
    "ACLs of 5,000 principals": (
        "shipped", _deleted([DeleteAclsFilter(1, None, 1, each, None, 1, 1) for each in _MANY]),
    ),
    "a group of everybody 20,000 times": (
        "shipped", m.FindCoordinatorRequest(key_type=0, coordinator_keys=["g"] * 20_000),
    ),
    "partitions of a long name": (
        "shipped", m.ElectLeadersRequest(0, [TopicPartitions("x" * 30_000, [0] * 8_000)], 1000),
    ),
    "5,000 topics": ("shipped", _created(_MANY, 1)),
    "9,999 partitions": ("shipped", _created(_MANY[:1], 9_999)),
    "topics named twice": (
        "kip-4", m.CreateTopicsRequest([CreatableTopic(each, 1, 1) for each in _MANY] * 2),
    ),
    "many topics of many partitions": (
        "kip-4", m.CreateTopicsRequest([CreatableTopic(each, 9_000, 1) for each in _MANY], 1000),
    ),
    "many topics with many partitions more": (
        "kip-4a", AlterTopicRequest([AlterTopicRequestItem(each, 10_000, -1) for each in TOPICS]),
    ),
    **{name: ("shipped", request) for name, request in RECORD_ATTACKS.items()},
}  # fmt: skip
