"""A cluster without sockets whose groups are asked, on a clock that tests move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.messages.join_group_request import JoinGroupRequestProtocol
from kafka_admin_proto.messages.leave_group_request import MemberIdentity
from kafka_admin_proto.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_admin_proto.messages.offset_fetch_request import OffsetFetchRequestGroup
from kafka_admin_proto.messages.sync_group_request import SyncGroupRequestAssignment
from kafka_admin_proto.server.apis import Answer, Caller
from kafka_admin_proto.server.respond import respond
from kafka_admin_proto.server.topics.names import CONSUMER_OFFSETS
from kafka_admin_proto.values import Message
from tests.server.served import Served
from tests.server.still_clock import StillClock

#: Seconds of ``group.initial.rebalance.delay.ms``.
DELAY_S = 3.0
SESSION_S = 10.0


class Coordinated:
    """The group "g" and its coordinator, of one broker or more."""

    def __init__(
        self, release: str = "4.4", nodes: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        factor = {"offsets.topic.replication.factor": str(nodes)}
        self.served = Served(release, nodes, configs={**factor, **(configs or {})})
        self.state = self.served.state
        assert isinstance(self.state.clock, StillClock)
        self.clock = self.state.clock
        self.served.ask(m.CreateTopicsRequest([CreatableTopic("orders", 2, 1)], 1000))
        asked = m.FindCoordinatorRequest(coordinator_keys=["g"])
        self.served.ask(asked)
        self.node: int = self.served.ask(asked).coordinators[0].node_id

    def refuse_records(self, *, no_more: bool = False) -> None:
        """Let the log of the coordinators take no records, which are all too large for it.

        With ``no_more`` it takes them again.
        """
        rows = [AlterableConfig("max.message.bytes", int(no_more), None if no_more else "1")]
        resource = AlterConfigsResource(2, CONSUMER_OFFSETS, rows)
        (row,) = self.served.ask(m.IncrementalAlterConfigsRequest([resource])).responses
        assert row.error_code == 0

    def send(self, request: Message, version: int | None = None) -> Waiting:
        """Send a request whose answer may wait."""
        assert request.api_key is not None
        if version is None:
            version = self.served.versions[request.api_key].highest
        caller = Caller(self.node, version, "client", host="127.0.0.1")
        return Waiting(self, respond(self.state, request.api_key, request, caller))

    def ask(self, request: Message, version: int | None = None) -> Any:
        """The response to a request that does not wait."""
        return self.send(request, version).response

    def join(
        self,
        member_id: str = "",
        instance_id: str | None = None,
        version: int | None = None,
        names: tuple[str, ...] = ("range",),
        rebalance_s: int = 60,
        subscription: bytes = b"",
    ) -> Waiting:
        """Join, as a consumer whose topics nobody can read, or with a subscription."""
        protocols = [JoinGroupRequestProtocol(each, subscription) for each in names]
        times = int(SESSION_S * 1000), rebalance_s * 1000
        request = m.JoinGroupRequest("g", *times, member_id, instance_id, "consumer", protocols)
        return self.send(request, version)

    def sync(
        self, member_id: str, generation: int, given: Mapping[str, bytes] | None = None
    ) -> Waiting:
        """Ask for the assignment, or give those of all as the leader."""
        rows = [SyncGroupRequestAssignment(*each) for each in (given or {}).items()]
        request = m.SyncGroupRequest("g", generation, member_id, None, "consumer", "range", rows)
        return self.send(request)

    def member(self, rebalance_s: int = 60, subscription: bytes = b"") -> str:
        """A first member, of a stable group of its own in generation 1."""
        (member_id,) = self.members(1, rebalance_s, subscription)
        return member_id

    def members(self, count: int, rebalance_s: int = 60, subscription: bytes = b"") -> list[str]:
        """So many first members of a stable group in generation 1, the leader first."""
        fields: dict[str, Any] = {"rebalance_s": rebalance_s, "subscription": subscription}
        joining = [self.join(version=3, **fields) for _ in range(count)]
        self.clock.pass_time(2 * DELAY_S)  # it begins again for those that come behind the first
        ids: list[str] = [each.response.member_id for each in joining]
        assert self.sync(ids[0], 1, dict.fromkeys(ids, b"all")).response.assignment == b"all"
        for each in ids[1:]:
            assert self.sync(each, 1).response.assignment == b"all"
        return ids

    def leave(self, *member_ids: str) -> list[int]:
        """The error code of each member that leaves, all with one request."""
        rows = [MemberIdentity(each, None) for each in member_ids]
        found = self.ask(m.LeaveGroupRequest("g", members=rows))
        return [each.error_code for each in found.members]

    def heartbeat(self, member_id: str, generation: int = 1, instance: str | None = None) -> int:
        """The error code of a heartbeat."""
        code: int = self.ask(m.HeartbeatRequest("g", generation, member_id, instance)).error_code
        return code

    def commit(self, offset: int, generation: int = -1, member_id: str = "") -> Waiting:
        """Commit an offset of partition 0."""
        row = OffsetCommitRequestPartition(0, offset)
        rows = [OffsetCommitRequestTopic("orders", partitions=[row])]
        return self.send(m.OffsetCommitRequest("g", generation, member_id, topics=rows), 9)

    def committed(self) -> dict[int, int]:
        """The offsets of the topic by partition."""
        asked = m.OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
        (group,) = self.ask(asked, 9).groups
        assert group.error_code == 0
        return {
            part.partition_index: part.committed_offset
            for each in group.topics
            for part in each.partitions
        }

    def described(self) -> Any:
        """The group."""
        (group,) = self.ask(m.DescribeGroupsRequest(["g"]), 5).groups
        return group


class Waiting:
    """An answer that may wait."""

    def __init__(self, cluster: Coordinated, answer: Answer) -> None:
        self._state = cluster.state
        self._answer = answer

    @property
    def records(self) -> list[Message]:
        """What is to be appended to the metadata log."""
        return self._answer.records

    @property
    def waits(self) -> bool:
        """Whether it cannot be sent yet."""
        answer, wait = self._answer, self._answer.wait
        return wait is not None and not wait.complete(answer, self._state, (), False)

    @property
    def response(self) -> Any:
        """The response, which has to be there."""
        assert not self.waits
        return self._answer.response

    def is_over_with(self) -> Any:
        """The response when its time is over."""
        answer, wait = self._answer, self._answer.wait
        assert wait is not None
        assert wait.complete(answer, self._state, (), True)
        return answer.response
