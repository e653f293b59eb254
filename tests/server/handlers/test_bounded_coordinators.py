"""Requests about groups and transactions stay cheap on coordinators that keep many of both.

The bounds are those of `test_bounded_time`, whose cluster has no coordinators.
"""

from __future__ import annotations

import gc
import time
from functools import cache, partial
from itertools import count
from uuid import uuid4

import pytest

from kafka_admin_proto import codec
from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.add_partitions_to_txn_request import AddPartitionsToTxnTopic
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.describe_producers_request import TopicRequest
from kafka_admin_proto.messages.join_group_request import JoinGroupRequestProtocol
from kafka_admin_proto.messages.leave_group_request import MemberIdentity
from kafka_admin_proto.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_admin_proto.messages.offset_delete_request import (
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafka_admin_proto.messages.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafka_admin_proto.messages.streams_group_heartbeat_request import (
    CopartitionGroup,
    KeyValue,
    Subtopology,
    TopicInfo,
    Topology,
)
from kafka_admin_proto.messages.sync_group_request import SyncGroupRequestAssignment
from kafka_admin_proto.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.repeats import MOST_REPEATED
from kafka_admin_proto.server.respond import respond
from kafka_admin_proto.values import Message
from tests.helpers.profile import sample
from tests.server.groups.coordinated import DELAY_S, Coordinated
from tests.server.handlers.test_bounded_time import Cost, check, hold_bounds, rows_of

_PARTITIONS, _MEMBERS, _IDS = 1000, 300, 100
#: What a pattern of 50,000 ranges takes besides, which is compiled first.
_PATTERN_S = 0.1
_ALL = list(range(_PARTITIONS))
_AT_ONCE = {"group.streams.initial.rebalance.delay.ms": "0"}
#: As long as a string on the wire may be, but for some.
_LONG_ID = "a" * 30_000


def made(release: str = "4.4") -> Coordinated:
    """A group with many members and offsets, and a transaction with many partitions."""
    configs = {"transaction.state.log.replication.factor": "1", **_AT_ONCE}
    found = Coordinated(release, configs=configs)
    ask = found.served.ask
    ask(m.CreateTopicsRequest([CreatableTopic("big", _PARTITIONS, 1)], 1000))
    rows = [OffsetCommitRequestPartition(each, 1) for each in _ALL]
    topic = OffsetCommitRequestTopic("big", partitions=rows)
    found.ask(m.OffsetCommitRequest("g", -1, "", topics=[topic]), 9)
    for number in range(_MEMBERS):
        found.join(instance_id=f"member-{number}", version=9)
    found.clock.pass_time(DELAY_S)
    ask(m.FindCoordinatorRequest(key_type=1, coordinator_keys=["t"]))
    for name in [*(f"t-{number}" for number in range(_IDS)), _LONG_ID]:
        ask(m.InitProducerIdRequest(name, 60_000))
    made = ask(m.InitProducerIdRequest("t", 60_000))
    assert made.error_code == 0
    added = m.AddPartitionsToTxnRequest(
        [], "t", made.producer_id, made.producer_epoch, [AddPartitionsToTxnTopic("big", _ALL)]
    )
    ask(added, 3)
    return found


#: One for tests that leave it as it is.
crowded = cache(made)


def cost(found: Coordinated, request: Message, version: int) -> Cost:
    """What a request costs the coordinator, but for what waits."""
    seen = codec(type(request), version)
    data = seen.encode(request)
    caller = Caller(found.node, version, "c", host="127.0.0.1")
    body = b""
    gc.disable()
    try:
        start = time.thread_time()
        answer = respond(found.state, request.api_key or 0, seen.decode(data), caller)
        found.state.append(answer.records)
        if answer.wait is None:
            body = answer.response.encode(version)
        seconds = time.thread_time() - start
    finally:
        gc.enable()
    return Cost(len(data), rows_of(answer), len(body), seconds)


def _joining(names: list[str]) -> Message:
    protocols = [JoinGroupRequestProtocol(each, b"") for each in names]
    return m.JoinGroupRequest("h", 10_000, 60_000, "", "member", "consumer", protocols)


def _committed(topics: list[OffsetCommitRequestTopic]) -> Message:
    return m.OffsetCommitRequest("other", -1, "", topics=topics)


#: Patterns by a short name.
PATTERNS = {
    **{each: each for each in (".*b", ".*.*b", "a{1,9000}.*b", "a+a+$", "(a|a)*b", r"\p{ab}")},
    "of categories": r"\p{Lu}\p{Ll}\p{Lt}\p{Lm}\p{Lo}\p{Mn}\p{Nd}\p{Sc}",
    "of letters in any case": "(?i)" + r"\pL" * 8000,
    "of repeated letters": r"\pL{1000}" * 9,
    "of sets of letters": r"[\pL\pN]" * 3000,
    "of sets in any case": "(?i)" + r"[a-\x{10ffff}]" * 2000,
    "of braces": "{1" * 15_000,
}
_NAMES = [f"p{number}" for number in range(5000)]
_ROW = OffsetCommitRequestPartition(0, 1)
_BETWEEN = [TopicInfo(each, 3) for each in _NAMES]
_EACH_ALONE = [CopartitionGroup([], [], [number]) for number in range(len(_NAMES))]
#: Name → the request and its version, None for the highest.
ATTACKS: dict[str, tuple[Message, int | None]] = {
    "all offsets of a group again and again": (
        m.OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)] * 2000), 9,
    ),
    "stable offsets of a group again and again": (
        m.OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup("g", topics=[])] * 3000, require_stable=True
        ), 9,
    ),
    "offsets of partitions again and again": (
        m.OffsetFetchRequest(
            groups=[
                OffsetFetchRequestGroup(
                    "g", topics=[OffsetFetchRequestTopics("big", partition_indexes=_ALL * 5)]
                )
            ]
        ), 9,
    ),
    "a group again and again": (m.DescribeGroupsRequest(["g"] * 5000, True), None),
    "a group deleted again and again": (m.DeleteGroupsRequest(["g"] * 5000), None),
    "many states of groups": (m.ListGroupsRequest(_NAMES), None),
    "many protocols": (_joining(_NAMES), None),
    "a protocol again and again": (_joining(["p"] * 5000), None),
    "members that are not there": (
        m.LeaveGroupRequest("g", members=[MemberIdentity(each, None, None) for each in _NAMES]),
        None,
    ),
    "instances that are not there": (
        m.LeaveGroupRequest("g", members=[MemberIdentity("", each, None) for each in _NAMES]), None,
    ),
    "assignments of members that are not there": (
        m.SyncGroupRequest(
            "g", 1, "no", None, "consumer", "range",
            [SyncGroupRequestAssignment(each, b"") for each in _NAMES],
        ), None,
    ),
    "a partition committed again and again": (
        _committed([OffsetCommitRequestTopic("orders", partitions=[_ROW] * 5000)]), 9,
    ),
    "a topic committed again and again": (
        _committed([OffsetCommitRequestTopic("orders", partitions=[_ROW])] * 3000), 9,
    ),
    "offsets deleted again and again": (
        m.OffsetDeleteRequest(
            "g",
            [OffsetDeleteRequestTopic("big", [OffsetDeleteRequestPartition(0)])] * 3000,
        ), None,
    ),
    "a transaction again and again": (m.DescribeTransactionsRequest(["t"] * 3000), None),
    "many producer ids": (m.ListTransactionsRequest([], list(range(1 << 40, (1 << 40) + 30_000))),
                          None),
    "many states of transactions": (m.ListTransactionsRequest(_NAMES), None),
    **{
        f"the pattern {name}": (m.ListTransactionsRequest([], [], -1, pattern), None)
        for name, pattern in PATTERNS.items()
    },
    "partitions added to no transaction": (
        m.AddPartitionsToTxnRequest([], "t-1", 0, 0, [AddPartitionsToTxnTopic("big", _ALL)] * 10),
        3,
    ),
    "many markers": (
        m.WriteTxnMarkersRequest(
            [WritableTxnMarker(1, 0, True, [WritableTxnMarkerTopic("orders", [0])], 0)] * 2000
        ), None,
    ),
    "producers of a partition again and again": (
        m.DescribeProducersRequest([TopicRequest("big", [0] * 10_000)]), None,
    ),
}  # fmt: skip


#: Name → subtopologies, whose internal topics have too many partitions to be created.
TOPOLOGIES = {
    "a chain from its end": [
        *(
            Subtopology(f"{number}", [], [], [], [f"p{number}"], [TopicInfo(f"p{number - 1}")])
            for number in range(3000, 0, -1)
        ),
        Subtopology("0", ["big"], [], [], ["p0"]),
    ],
    "sinks of many inputs": [Subtopology("0", ["big"] * 5000, [], [], _NAMES, _BETWEEN)],
    "topics that are copartitioned with themselves": [
        Subtopology("0", ["orders"], [], [], _NAMES, _BETWEEN, _EACH_ALONE)
    ],
    "topics that are copartitioned": [
        Subtopology(
            "0", ["orders"], [], [], _NAMES, _BETWEEN,
            [CopartitionGroup([], [], [*range(len(_NAMES))])],
        )
    ],
    "changelogs of many inputs": [
        Subtopology("0", ["big"] * 3000, [], [TopicInfo(each) for each in _NAMES[:3000]])
    ],
    "a topic with many partitions again and again": [Subtopology(each, ["big"]) for each in _NAMES],
}  # fmt: skip


#: Apis that the cluster of `test_bounded_time` answers with NOT_COORDINATOR, whatever they ask.
COORDINATED = (
    "AddOffsetsToTxn", "AddPartitionsToTxn", "ConsumerGroupDescribe", "ConsumerGroupHeartbeat",
    "DeleteGroups", "DescribeGroups", "DescribeTransactions", "EndTxn", "Heartbeat",
    "InitProducerId", "JoinGroup", "LeaveGroup", "ListGroups", "ListTransactions", "OffsetCommit",
    "OffsetDelete", "OffsetFetch", "StreamsGroupDescribe", "StreamsGroupHeartbeat", "SyncGroup",
    "TxnOffsetCommit",
)  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("api", sample(COORDINATED, 8))
def test_drawn_requests(api: str) -> None:
    found = cache(made)

    def asked(request: Message, version: int, principal: str, release: str) -> Cost:
        return cost(found(release), request, version)

    hold_bounds("shipped", api, ("",), asked)


@pytest.mark.exhaustive
@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks(attack: str) -> None:
    request, version = ATTACKS[attack]
    if version is None:
        version = crowded().served.versions[request.api_key or 0].highest
    besides_s = _PATTERN_S if isinstance(request, m.ListTransactionsRequest) else 0.0
    check(partial(cost, crowded(), request, version), besides_s)


@pytest.mark.exhaustive
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_topologies(topology: str) -> None:
    """Each group is a new one, for a topology is looked at when its first member comes."""
    numbers = count()

    def ask() -> Cost:
        request = m.StreamsGroupHeartbeatRequest(
            f"{topology} {next(numbers)}", "m", 0, -1, None, None, 60_000,
            Topology(0, TOPOLOGIES[topology]), [], [], [], "p",
        )  # fmt: skip
        return cost(crowded(), request, 1)

    check(ask)


def test_tasks_are_bounded_before_their_records_are_compressed() -> None:
    """Those of many subtopologies are alike, and nothing of them is left when compressed."""
    found = Coordinated(configs={**_AT_ONCE, "offsets.topic.compression.codec": "1"})
    found.served.ask(m.CreateTopicsRequest([CreatableTopic("big", _PARTITIONS, 1)], 1000))
    rows = TOPOLOGIES["a topic with many partitions again and again"]
    for name, some, code in (("some", rows[:20], 0), ("all", rows, codes.UNKNOWN_SERVER_ERROR)):
        joins = m.StreamsGroupHeartbeatRequest(
            name, "m", 0, -1, None, None, 60_000, Topology(0, some), [], [], [], "p"
        )
        assert found.ask(joins).error_code == code


def test_a_topology_again_and_again() -> None:
    """A group without members has one too."""
    found = crowded()
    rows = [Subtopology("0", ["orders"], [], [TopicInfo(each) for each in _NAMES])]
    joins = m.StreamsGroupHeartbeatRequest(
        "left", "m", 0, -1, None, None, 60_000, Topology(0, rows), [], [], [], "p"
    )
    assert found.ask(joins).error_code == 0
    assert found.ask(m.StreamsGroupHeartbeatRequest("left", "m", -1)).error_code == 0
    request = m.StreamsGroupDescribeRequest(["left"] * 300)
    check(partial(cost, found, request, 1))
    assert {each.error_code for each in found.ask(request).groups} == {0, codes.INVALID_REQUEST}


def test_what_is_named_again_is_described_again_until_there_is_too_much() -> None:
    found = crowded()
    groups = found.ask(m.DescribeGroupsRequest(["g"] * 100), 5).groups
    full = [each for each in groups if not each.error_code]
    assert {len(each.members) for each in full} == {_MEMBERS}
    assert len(full) == 1 + MOST_REPEATED // _MEMBERS
    assert {each.error_code for each in groups[len(full) :]} == {codes.INVALID_REQUEST}
    ids = found.ask(m.DescribeTransactionsRequest(["t"] * 100)).transaction_states
    assert sum(not each.error_code for each in ids) == 1 + MOST_REPEATED // _PARTITIONS
    asked = m.OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)] * 100)
    fetched = found.ask(asked, 9).groups
    assert sum(not each.error_code for each in fetched) == 1 + MOST_REPEATED // _PARTITIONS


def test_a_group_of_consumers_again_and_again() -> None:
    """Groups of KIP-848, with members that have a topic of many partitions."""
    found = crowded()
    for _ in range(20):
        beat = m.ConsumerGroupHeartbeatRequest(
            "consumers", str(uuid4()), 0, rebalance_timeout_ms=60_000,
            subscribed_topic_names=["big"], topic_partitions=[],
        )  # fmt: skip
        assert found.ask(beat, 1).error_code == 0
    request = m.ConsumerGroupDescribeRequest(["consumers"] * 2000)
    version = found.served.versions[request.api_key or 0].highest
    check(partial(cost, crowded(), request, version))
    (one,) = found.ask(m.ConsumerGroupDescribeRequest(["consumers"])).groups
    assert len(one.members) == 20


def test_long_texts_of_members_again_and_again() -> None:
    """A member alone has more bytes than the rows that are counted for it may have."""
    found, long = crowded(), "r" * 30_000
    tags = [KeyValue(each, "") for each in _NAMES]
    streaming = m.StreamsGroupHeartbeatRequest(
        "threads", "m", 0, -1, None, long, 60_000, Topology(0, [Subtopology("0", ["orders"])]),
        [], [], [], long, None, tags,
    )  # fmt: skip
    consuming = m.ConsumerGroupHeartbeatRequest(
        "racks", "m", 0, None, long, 60_000, ["orders"], None, None, []
    )
    for beat in (streaming, consuming):
        assert found.ask(beat, 1).error_code == 0
    for request in (
        m.StreamsGroupDescribeRequest(["threads"] * 500),
        m.ConsumerGroupDescribeRequest(["racks"] * 500),
    ):
        check(partial(cost, found, request, 1))
        rows = found.ask(request, 1).groups
        assert {each.error_code for each in rows} == {0, codes.INVALID_REQUEST}


@pytest.mark.parametrize("pattern", ["a*", "a*a*", "(a*)*"])
def test_a_pattern_of_repeats_finds_long_ids(pattern: str) -> None:
    found = crowded().ask(m.ListTransactionsRequest([], [], -1, pattern))
    assert [each.transactional_id for each in found.transaction_states] == [_LONG_ID]
