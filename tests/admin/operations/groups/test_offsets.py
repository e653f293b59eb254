"""Committed offsets: the same by old and new requests, altered and deleted one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin.operations.groups import GroupOperations
from kafka_admin_proto.admin.operations.groups.model import GroupOffset, NewOffset
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages import offset_fetch_response as fetched
from kafka_admin_proto.messages.find_coordinator_request import FindCoordinatorRequest
from kafka_admin_proto.messages.offset_commit_request import OffsetCommitRequest
from kafka_admin_proto.messages.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafka_admin_proto.messages.offset_delete_request import OffsetDeleteRequest
from kafka_admin_proto.messages.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from kafka_admin_proto.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller
from tests.admin.operations.common.coordinators import coordinator_of, find_coordinator

NOT_COORDINATOR, LOADING, SUBSCRIBED, AUTHORIZATION = 16, 14, 86, 30

Key = tuple[str, str, int]


def _wanted(
    topics: Sequence[OffsetFetchRequestTopic | OffsetFetchRequestTopics] | None,
) -> dict[str, list[int]] | None:
    return None if topics is None else {each.name: each.partition_indexes for each in topics}


class Client(GroupOperations, FakeCaller):
    """Coordinators that keep offsets, and say so if they are not the group's."""

    def __init__(self, fetch: int = 9, commit: int = 9) -> None:
        super().__init__(
            {
                FindCoordinatorRequest: find_coordinator,
                OffsetFetchRequest: self._fetch,
                OffsetCommitRequest: self._commit,
                OffsetDeleteRequest: self._delete,
            },
            versions={9: VersionRange(1, fetch), 8: VersionRange(2, commit)},
        )
        self.kept: dict[Key, tuple[int, int, str | None]] = {}
        self.subscribed: set[str] = set()
        #: Answers that say NOT_COORDINATOR before one that does not.
        self.moving = 0

    def _has_moved(self) -> bool:
        self.moving -= 1
        return self.moving >= 0

    def _fetch(self, request: Message, call: Call) -> Message:
        assert isinstance(request, OffsetFetchRequest)
        if call.version >= 8:
            return fetched.OffsetFetchResponse(
                groups=[self._fetched(each, call) for each in request.groups]
            )
        code, topics = self._fetch_group(request.group_id, _wanted(request.topics), call)
        topic_of, part = fetched.OffsetFetchResponseTopic, fetched.OffsetFetchResponsePartition
        if call.version < 2 and code:  # the error of the group is that of each partition
            topics = {
                each.name: dict.fromkeys(each.partition_indexes, (-1, -1, ""))
                for each in request.topics or ()
            }
        each_code = code if call.version < 2 else 0
        return fetched.OffsetFetchResponse(
            error_code=0 if call.version < 2 else code,
            topics=[
                topic_of(name, [part(at, *value, each_code) for at, value in own.items()])
                for name, own in topics.items()
            ],
        )

    def _fetched(
        self, group: OffsetFetchRequestGroup, call: Call
    ) -> fetched.OffsetFetchResponseGroup:
        code, topics = self._fetch_group(group.group_id, _wanted(group.topics), call)
        topic_of, part = fetched.OffsetFetchResponseTopics, fetched.OffsetFetchResponsePartitions
        rows = [
            topic_of(name, partitions=[part(at, *value) for at, value in own.items()])
            for name, own in topics.items()
        ]
        return fetched.OffsetFetchResponseGroup(group.group_id, rows, code)

    def _fetch_group(
        self, group: str, topics: dict[str, list[int]] | None, call: Call
    ) -> tuple[int, dict[str, dict[int, tuple[int, int, str | None]]]]:
        assert call.broker == coordinator_of(group)
        if self._has_moved():
            return NOT_COORDINATOR, {}
        if topics is None:
            topics = {}
            for kept, topic, partition in self.kept:
                if kept == group:
                    topics.setdefault(topic, []).append(partition)
        nothing = (-1, -1, "")
        return 0, {
            topic: {each: self.kept.get((group, topic, each), nothing) for each in own}
            for topic, own in topics.items()
        }

    def _commit(self, request: Message, call: Call) -> Message:
        assert isinstance(request, OffsetCommitRequest)
        assert (request.member_id, request.generation_id_or_member_epoch) == ("", -1)
        moved = self._has_moved()
        rows = []
        for topic in request.topics:
            parts = []
            for each in topic.partitions:
                code = NOT_COORDINATOR if moved else AUTHORIZATION if topic.name == "bad" else 0
                parts.append(OffsetCommitResponsePartition(each.partition_index, code))
                if code == 0:
                    key = (request.group_id, topic.name, each.partition_index)
                    epoch = each.committed_leader_epoch
                    self.kept[key] = (each.committed_offset, epoch, each.committed_metadata)
            rows.append(OffsetCommitResponseTopic(topic.name, partitions=parts))
        return OffsetCommitResponse(topics=rows[::-1])

    def _delete(self, request: Message, call: Call) -> Message:
        assert isinstance(request, OffsetDeleteRequest)
        if self._has_moved():
            return OffsetDeleteResponse(NOT_COORDINATOR)
        rows = []
        for topic in request.topics:
            code = SUBSCRIBED if topic.name in self.subscribed else 0
            own = [each.partition_index for each in topic.partitions]
            for each in own if not code else ():
                self.kept.pop((request.group_id, topic.name, each), None)
            parts = [OffsetDeleteResponsePartition(each, code) for each in own]
            rows.append(OffsetDeleteResponseTopic(topic.name, parts))
        return OffsetDeleteResponse(topics=rows)


_KEYS = st.tuples(st.sampled_from(["", "g", "gg"]), st.sampled_from(["t", "u"]), st.integers(0, 3))
_VALUES = st.tuples(st.integers(0, 99), st.integers(-1, 9), st.text(max_size=3))


_PARTITIONS = st.sets(st.tuples(st.sampled_from(["t", "u"]), st.integers(0, 3)), min_size=1)


@given(
    st.dictionaries(_KEYS, _VALUES, max_size=8),
    st.dictionaries(st.sampled_from(["", "g", "gg"]), st.one_of(st.none(), _PARTITIONS)),
    st.integers(1, 9),
    st.integers(0, 3),
)
def test_offsets_are_the_same_by_old_and_new_requests(
    kept: dict[Key, tuple[int, int, str | None]],
    wanted: dict[str, set[tuple[str, int]] | None],
    version: int,
    moving: int,
) -> None:
    if version == 1:
        wanted = {group: own for group, own in wanted.items() if own is not None}
    client = Client(fetch=version)
    client.kept, client.moving = kept, moving
    results = asyncio.run(client.list_group_offsets(wanted))
    assert [each.group_id for each in results] == list(wanted)
    for result in results:
        own = wanted[result.group_id]
        keys = {(t, p) for g, t, p in kept if g == result.group_id} if own is None else own
        expected = []
        for topic, partition in sorted(keys):
            value = kept.get((result.group_id, topic, partition))
            if value is None:
                expected.append(GroupOffset(topic, partition, None))
                continue
            offset, epoch, metadata = value
            has_epoch = version >= 5 and epoch >= 0
            expected.append(
                GroupOffset(topic, partition, offset, epoch if has_epoch else None, metadata)
            )
        assert (result.offsets, result.error) == (expected, None)


def test_what_old_brokers_lack_is_said() -> None:
    client = Client(fetch=1)
    with pytest.raises(UnsupportedVersionError):
        asyncio.run(client.list_group_offsets({"g": None}))
    client = Client(fetch=6)
    with pytest.raises(UnsupportedVersionError):
        asyncio.run(client.list_group_offsets({"g": [("t", 0)]}, require_stable=True))


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["t", "u", "bad"]), st.integers(0, 3)),
        st.one_of(
            st.integers(0, 99),
            st.builds(NewOffset, st.integers(0, 99), st.one_of(st.none(), st.just(4)), st.text()),
        ),
    ),
    st.integers(0, 2),
    st.sets(st.sampled_from(["t", "u"])),
)  # fmt: skip
def test_what_is_altered_is_listed_and_deleted(
    offsets: dict[tuple[str, int], int | NewOffset], moving: int, subscribed: set[str]
) -> None:
    client = Client()
    client.moving, client.subscribed = moving, subscribed
    altered = asyncio.run(client.alter_group_offsets("g", offsets))
    assert [((each.topic, each.partition), each.error) for each in altered] == [
        (key, "GROUP_AUTHORIZATION_FAILED" if key[0] == "bad" else None) for key in offsets
    ]
    good = sorted(key for key in offsets if key[0] != "bad")
    client.moving = 0
    (listed,) = asyncio.run(client.list_group_offsets({"g": None}))
    assert [(each.topic, each.partition) for each in listed.offsets] == good
    for each in listed.offsets:
        asked = offsets[each.topic, each.partition]
        new = NewOffset(asked) if isinstance(asked, int) else asked
        assert (each.offset, each.leader_epoch, each.metadata) == (
            new.offset, new.leader_epoch, new.metadata
        )  # fmt: skip
    client.moving = moving
    deleted = asyncio.run(client.delete_group_offsets("g", good))
    assert [(each.topic, each.partition, each.error) for each in deleted] == [
        (*key, "GROUP_SUBSCRIBED_TO_TOPIC" if key[0] in subscribed else None) for key in good
    ]
    assert {key[1] for key in client.kept} <= subscribed


def test_a_group_that_cannot_be_asked_is_the_error_of_each_partition() -> None:
    client = Client()
    client.handlers[OffsetDeleteRequest] = lambda request, call: OffsetDeleteResponse(69)
    results = asyncio.run(client.delete_group_offsets("g", [("t", 0), ("t", 1), ("t", 0)]))
    assert [(each.partition, each.error) for each in results] == [
        (0, "GROUP_ID_NOT_FOUND"), (1, "GROUP_ID_NOT_FOUND")
    ]  # fmt: skip


def test_a_partition_whose_error_stays_leaves_the_others() -> None:
    client = Client()
    parts = [OffsetCommitResponsePartition(0, 0), OffsetCommitResponsePartition(1, LOADING)]
    topic = OffsetCommitResponseTopic("t", partitions=parts)
    client.handlers[OffsetCommitRequest] = lambda request, call: OffsetCommitResponse(
        topics=[topic]
    )
    offsets: dict[tuple[str, int], int | NewOffset] = {("t", 0): 1, ("t", 1): 1}
    results = asyncio.run(client.alter_group_offsets("g", offsets, timeout=0.05))
    assert [each.error for each in results] == [None, "COORDINATOR_LOAD_IN_PROGRESS"]
