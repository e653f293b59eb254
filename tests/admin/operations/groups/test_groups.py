"""Groups of every type in one shape, offsets by old and new requests, members' own bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin.errors import BrokerError, ConnectionFailedError
from kafka_admin_proto.admin.operations.common.topic_partitions import TopicPartitions
from kafka_admin_proto.admin.operations.groups import GroupOperations
from kafka_admin_proto.admin.operations.groups.model import MemberToRemove
from kafka_admin_proto.messages import (
    consumer_group_describe_response,
    describe_groups_response,
    share_group_describe_response,
    streams_group_describe_response,
)
from kafka_admin_proto.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafka_admin_proto.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafka_admin_proto.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafka_admin_proto.messages.delete_groups_request import DeleteGroupsRequest
from kafka_admin_proto.messages.delete_groups_response import (
    DeletableGroupResult,
    DeleteGroupsResponse,
)
from kafka_admin_proto.messages.describe_groups_request import DescribeGroupsRequest
from kafka_admin_proto.messages.find_coordinator_request import FindCoordinatorRequest
from kafka_admin_proto.messages.leave_group_request import LeaveGroupRequest
from kafka_admin_proto.messages.leave_group_response import LeaveGroupResponse, MemberResponse
from kafka_admin_proto.messages.list_groups_request import ListGroupsRequest
from kafka_admin_proto.messages.list_groups_response import ListedGroup, ListGroupsResponse
from kafka_admin_proto.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafka_admin_proto.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller, Handler
from tests.admin.operations.common.coordinators import find_coordinator

GROUP_ID_NOT_FOUND, NOT_COORDINATOR, UNKNOWN_MEMBER = 69, 16, 25


class Client(GroupOperations, FakeCaller):
    def __init__(
        self,
        handlers: Mapping[type[Message], Handler],
        versions: Mapping[int, VersionRange] | None = None,
    ) -> None:
        super().__init__({FindCoordinatorRequest: find_coordinator, **handlers}, versions=versions)


# Listing


_LISTED = st.tuples(
    st.integers(1, 3),
    st.sampled_from(["Classic", "consumer"]),
    st.sampled_from(["Empty", "Stable"]),
)


@given(
    st.dictionaries(st.text("ab", max_size=3), _LISTED),
    st.sets(st.integers(1, 3), max_size=2),
    st.integers(0, 5),
)
def test_a_listing_joins_the_brokers_that_answer(
    groups: dict[str, tuple[int, str, str]], down: set[int], version: int
) -> None:
    def answer(request: Message, call: Call) -> Message | Exception:
        if call.broker in down:
            return ConnectionFailedError("no route", address="b:9092")
        return ListGroupsResponse(
            groups=[
                ListedGroup(id_, "consumer", state, type_)
                for id_, (broker, type_, state) in groups.items()
                if broker == call.broker
            ]
        )

    client = Client({ListGroupsRequest: answer}, {16: VersionRange(0, version)})
    client.gone |= down
    listing = asyncio.run(client.list_groups())
    assert [msgspec.structs.astuple(each) for each in listing.groups] == [
        (
            id_,
            type_.lower() if version >= 5 else None,
            "consumer",
            state if version >= 4 else None,
            broker,
        )
        for id_, (broker, type_, state) in sorted(groups.items())
        if broker not in down
    ]
    assert [each.broker for each in listing.failed] == sorted(down)
    assert {each.error for each in listing.failed} <= {"ConnectionFailedError"}


@pytest.mark.parametrize(
    ("version", "types", "states", "sent"),
    [
        (5, ["consumer"], ["Empty"], (5, ["consumer"], ["Empty"])),
        (4, ["consumer"], [], None),
        (4, ["Classic", "consumer"], ["Empty"], (4, [], ["Empty"])),
        (3, ["classic"], [], (3, [], [])),
        (4, ["classic", "share"], [], None),
        (3, [], ["Empty"], None),
    ],
)
def test_filters_that_a_broker_lacks_are_its_failure(
    version: int, types: list[str], states: list[str], sent: tuple[int, list[str], list[str]] | None
) -> None:
    client = Client(
        {ListGroupsRequest: lambda request, call: ListGroupsResponse()},
        {16: VersionRange(0, version)},
    )
    listing = asyncio.run(client.list_groups(types=types, states=states))
    asked = []
    for call in client.calls:
        assert isinstance(call.request, ListGroupsRequest)
        asked.append((call.version, call.request.types_filter, call.request.states_filter))
    assert asked == ([] if sent is None else [sent] * 3)
    names = {each.error for each in listing.failed}
    assert names == ({"UnsupportedVersionError"} if sent is None else set())


def test_protocol_types_are_filtered_here() -> None:
    rows = [ListedGroup("a", "connect"), ListedGroup("b", "consumer"), ListedGroup("c", "")]
    client = Client({ListGroupsRequest: lambda request, call: ListGroupsResponse(groups=rows)})
    listing = asyncio.run(client.list_groups(protocol_types=["consumer", ""]))
    assert [each.group_id for each in listing.groups] == ["b", "c"]


# Describing


def _describing(kinds: Mapping[str, str]) -> dict[type[Message], Handler]:
    """Brokers with groups of those types; an id without a type is no group."""

    def classic(request: Message, call: Call) -> Message:
        assert isinstance(request, DescribeGroupsRequest)
        rows = []
        for id_ in request.groups:
            row = describe_groups_response.DescribedGroup(group_id=id_, group_state="Dead")
            if kinds.get(id_) == "classic":
                row.group_state, row.protocol_type, row.protocol_data = (
                    "Stable",
                    "consumer",
                    "range",
                )
                row.members = [_classic_member()]
            elif call.version >= 6:
                row.error_code, row.error_message = GROUP_ID_NOT_FOUND, f"Group {id_} not found."
            rows.append(row)
        return describe_groups_response.DescribeGroupsResponse(groups=rows)

    def consumer(request: Message, call: Call) -> Message:
        assert isinstance(request, ConsumerGroupDescribeRequest)
        module = consumer_group_describe_response
        partitions = [module.TopicPartitions(topic_name="t", partitions=[1, 0])]
        member = module.Member(
            "m", client_id="c", client_host="/h", assignment=module.Assignment(partitions)
        )
        return module.ConsumerGroupDescribeResponse(
            groups=[
                module.DescribedGroup(0, None, id_, "Stable", 3, 2, "uniform", [member], 1 << 8)
                if kinds.get(id_) == "consumer"
                else module.DescribedGroup(GROUP_ID_NOT_FOUND, group_id=id_)
                for id_ in request.group_ids
            ]
        )

    def share(request: Message, call: Call) -> Message:
        assert isinstance(request, ShareGroupDescribeRequest)
        module = share_group_describe_response
        return module.ShareGroupDescribeResponse(
            groups=[
                module.DescribedGroup(0, None, id_, "Empty", 1, 1, "simple")
                if kinds.get(id_) == "share"
                else module.DescribedGroup(GROUP_ID_NOT_FOUND, group_id=id_)
                for id_ in request.group_ids
            ]
        )

    def streams(request: Message, call: Call) -> Message:
        assert isinstance(request, StreamsGroupDescribeRequest)
        module = streams_group_describe_response
        tasks = module.Assignment([module.TaskIds("1", [1, 0]), module.TaskIds("0", [2])])
        topology = module.Topology(1, [module.Subtopology("0", ["t"])])
        return module.StreamsGroupDescribeResponse(
            groups=[
                module.DescribedGroup(
                    group_id=id_,
                    group_state="Stable",
                    topology=topology,
                    members=[
                        module.Member(
                            "m", user_endpoint=module.Endpoint("::1", 1), assignment=tasks
                        )
                    ],
                )
                if kinds.get(id_) == "streams"
                else module.DescribedGroup(GROUP_ID_NOT_FOUND, group_id=id_)
                for id_ in request.group_ids
            ]
        )

    return {
        DescribeGroupsRequest: classic,
        ConsumerGroupDescribeRequest: consumer,
        ShareGroupDescribeRequest: share,
        StreamsGroupDescribeRequest: streams,
    }


def _classic_member() -> describe_groups_response.DescribedGroupMember:
    partition = ConsumerProtocolAssignment.TopicPartition
    assignment = ConsumerProtocolAssignment([partition("t", [2, 0])])
    subscription = ConsumerProtocolSubscription(["u", "t"], rack_id="r")
    return describe_groups_response.DescribedGroupMember(
        "m", "i", "c", "/h", b"\0\3" + subscription.encode(3), b"\0\1" + assignment.encode(1)
    )


_KINDS = st.sampled_from(["classic", "consumer", "share", "streams"])


@given(
    st.dictionaries(st.text("abcd", max_size=3), st.one_of(st.none(), _KINDS)),
    st.integers(4, 6),
    st.sets(st.sampled_from([69, 77, 89])),
)
def test_groups_of_every_type_are_described_in_one_shape(
    kinds: dict[str, str | None], classic_version: int, missing_apis: set[int]
) -> None:
    versions = dict.fromkeys(missing_apis, VersionRange.NONE)
    real = {id_: kind for id_, kind in kinds.items() if kind is not None}
    client = Client(_describing(real), {15: VersionRange(0, classic_version), **versions})
    described = asyncio.run(client.describe_groups(kinds))
    assert [each.group_id for each in described] == list(kinds)
    apis = {"classic": 15, "consumer": 69, "share": 77, "streams": 89}
    for each in described:
        kind = kinds[each.group_id]
        if kind is not None and apis[kind] not in missing_apis:
            assert (each.type, each.error) == (kind, None)
            assert each.coordinator == 1 + len(each.group_id) % 3
        elif classic_version >= 6:
            assert (each.type, each.error) == (None, "GROUP_ID_NOT_FOUND")
        else:
            assert (each.type, each.state, each.error) == ("classic", "Dead", None)
    msgspec.json.encode(described)


def test_members_of_each_type() -> None:
    kinds = {each: each for each in ("classic", "consumer", "streams")}
    client = Client(_describing(kinds))
    classic, consumer, streams = asyncio.run(client.describe_groups(kinds))
    (member,) = classic.members
    assert member.assignment == [TopicPartitions("t", [0, 2])]
    assert (member.subscribed_topics, member.rack, member.instance_id) == (["t", "u"], "r", "i")
    assert (member.raw_metadata, member.raw_assignment) == (None, None)
    (member,) = consumer.members
    assert member.assignment == [TopicPartitions("t", [0, 1])]
    assert (consumer.epoch, consumer.assignment_epoch, consumer.protocol) == (3, 2, "uniform")
    assert consumer.authorized_operations == ["DESCRIBE"]
    (member,) = streams.members
    assert member.streams is not None
    assert [(each.subtopology, each.partitions) for each in member.streams.tasks.active] == [
        ("0", [2]),
        ("1", [0, 1]),
    ]
    assert member.streams.user_endpoint == "[::1]:1"
    assert streams.topology is not None
    assert streams.topology.subtopologies is not None
    assert streams.topology.subtopologies[0].source_topics == ["t"]


def test_bytes_of_other_protocols_are_kept() -> None:
    member = describe_groups_response.DescribedGroupMember(
        member_metadata=b"\0\7meta", member_assignment=b"\xff"
    )
    row = describe_groups_response.DescribedGroup(
        group_id="g", group_state="Stable", protocol_type="connect", members=[member]
    )
    client = Client(
        {
            DescribeGroupsRequest: lambda request, call: (
                describe_groups_response.DescribeGroupsResponse(groups=[row])
            )
        }
    )
    (described,) = asyncio.run(client.describe_groups(["g"]))
    (found,) = described.members
    assert (found.assignment, found.raw_metadata, found.raw_assignment) == (
        None, b"\0\7meta", b"\xff"
    )  # fmt: skip


# Deleting and removing


def test_groups_are_deleted_where_their_coordinator_has_moved_to() -> None:
    asked: list[tuple[int, list[str]]] = []

    def delete(request: Message, call: Call) -> Message:
        assert isinstance(request, DeleteGroupsRequest)
        asked.append((call.broker, request.groups_names))
        codes = {"a": 0, "bb": NOT_COORDINATOR if len(asked) < 4 else 0, "ccc": 68}
        return DeleteGroupsResponse(
            results=[DeletableGroupResult(id_, codes[id_]) for id_ in request.groups_names]
        )

    client = Client({DeleteGroupsRequest: delete})
    results = asyncio.run(client.delete_groups(["a", "bb", "ccc", "a"]))
    assert [(each.group_id, each.error) for each in results] == [
        ("a", None), ("bb", None), ("ccc", "NON_EMPTY_GROUP")
    ]  # fmt: skip
    assert asked == [(2, ["a"]), (3, ["bb"]), (1, ["ccc"]), (3, ["bb"])]


def test_members_are_removed_one_by_one_or_all() -> None:
    def leave(request: Message, call: Call) -> Message:
        assert isinstance(request, LeaveGroupRequest)
        rows = [
            MemberResponse(
                each.member_id,
                each.group_instance_id,
                UNKNOWN_MEMBER if each.member_id == "gone" else 0,
            )
            for each in request.members
        ]
        return LeaveGroupResponse(members=rows[::-1])

    client = Client({LeaveGroupRequest: leave, **_describing({"g": "classic"})})
    members = [MemberToRemove("gone"), MemberToRemove("m"), MemberToRemove(instance_id="i")]
    results = asyncio.run(client.remove_group_members("g", members, reason="maintenance"))
    assert [(each.member_id, each.instance_id, each.error) for each in results] == [
        ("gone", None, "UNKNOWN_MEMBER_ID"), ("m", None, None), ("", "i", None)
    ]  # fmt: skip
    request = client.calls[-1].request
    assert isinstance(request, LeaveGroupRequest)
    assert {each.reason for each in request.members} == {"maintenance"}
    everyone = asyncio.run(client.remove_group_members("g"))
    assert [(each.member_id, each.instance_id) for each in everyone] == [("", "i")]
    with pytest.raises(BrokerError, match="GROUP_ID_NOT_FOUND"):
        asyncio.run(client.remove_group_members("none"))
