"""StreamsGroupHeartbeat: members come, say what they have, hear what they get, and leave."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import msgspec

from kafka_admin_proto.messages import StreamsGroupTopologyValue
from kafka_admin_proto.messages.streams_group_heartbeat_request import (
    StreamsGroupHeartbeatRequest,
)
from kafka_admin_proto.messages.streams_group_heartbeat_response import (
    Status,
    StreamsGroupHeartbeatResponse,
)
from kafka_admin_proto.messages.streams_group_member_metadata_value import (
    Endpoint as KnownEndpoint,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.coordination.replies import Reply
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.modern import (
    LEAVES,
    LEAVES_FOR_NOW,
    check_epoch,
    unreleased,
)
from kafka_admin_proto.server.groups.rebalance import cancel_timers
from kafka_admin_proto.server.groups.records import CoordinatorRecord, group_tombstone
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.streams.beat import TAGS, Beat, Stayed
from kafka_admin_proto.server.groups.streams.group import StreamsGroup, delay_key
from kafka_admin_proto.server.groups.streams.members import NO_TASKS, StreamsMember, Tasks
from kafka_admin_proto.server.groups.streams.reconcile import Reconciliation
from kafka_admin_proto.server.groups.streams.records import (
    assignment_record,
    epoch_record,
    member_record,
    target_record,
    topology_record,
)
from kafka_admin_proto.server.groups.streams.removal import remove_member
from kafka_admin_proto.server.groups.streams.target import (
    REPLICAS,
    assign_later,
    known_target,
    new_target,
    rename_settled,
)
from kafka_admin_proto.server.groups.streams.topology import (
    DELAYED,
    STALE_TOPOLOGY,
    Configured,
    InternalTopic,
    configure,
    is_same,
    required_topics,
    topology_value,
    unexpected,
)
from kafka_admin_proto.server.groups.timers import (
    expect_heartbeat,
    expect_revocation,
    revocation_key,
)


def heartbeat(
    shard: Shard, beat: Beat, reply: Reply
) -> tuple[StreamsGroupHeartbeatResponse, Mapping[str, InternalTopic]]:
    """Let a member join, stay or leave; the reply is sent when replicas have what changed.

    Its response, and the topics that are to be created for it. Raises ApiFailure.
    """
    if beat.request.member_epoch in (LEAVES, LEAVES_FOR_NOW):
        return _leave(shard, beat.request, reply), {}
    staying = _Staying(shard, beat)
    response = staying.response()
    shard.append(staying.records, reply.once_stored(response))
    configured = staying.configured
    return response, configured.missing if configured.problem else {}


class _Staying:
    """A heartbeat of a member that joins or stays, with its records."""

    def __init__(self, shard: Shard, beat: Beat) -> None:
        self._shard = shard
        self._beat = beat
        self._request = request = beat.request
        self.records: list[CoordinatorRecord] = []
        self._statuses: list[Status] = []
        self._joins = request.member_epoch == 0
        self._group = group = self._find_or_make()
        replaced = group.static_member(request.instance_id)
        self._replaced = None if replaced is None or replaced.id == request.member_id else replaced
        if self._replaced is not None:
            rename_settled(group, self._replaced.id, request.member_id)
        self._before = self._member()
        self._member_now = self._updated(self._before)
        self.configured = Configured()

    def response(self) -> StreamsGroupHeartbeatResponse:
        """The answer, once the records are in the log. Raises ApiFailure."""
        request, group, shard = self._request, self._group, self._shard
        before, member = self._before, self._member_now
        bumps = False
        if member != before:
            self.records.append(member_record(group.name, member))
            bumps = request.instance_id is None or _is_other(before, member)
        topology = self._topology()
        if group.topology is not None and member.topology_epoch < group.topology.epoch:
            text = (
                f"The member's topology epoch {member.topology_epoch} is behind the group's "
                f"topology epoch {group.topology.epoch}."
            )
            self._statuses.append(Status(STALE_TOPOLOGY, text))
        metadata_hash = self._configure(topology)
        bumps |= metadata_hash != group.metadata_hash
        configured = self.configured
        validated = -1 if configured.problem else topology.epoch
        if configured.problem is None:
            self._beat.check_tasks(configured)
        self._beat.note_offsets(group)
        configs = _configs(shard, group.name)
        bumps |= validated != group.validated_epoch or configs != group.configs
        goes_back = False
        settled: Mapping[str, Tasks] | None = None
        if not bumps and group.state == "Stable":
            settled = group.target
            goes_back = not settled.get(member.id, NO_TASKS).is_same(member.assigned)
        epoch = group.epoch
        if bumps or goes_back:
            epoch += 1
            self.records.append(
                epoch_record(
                    group.name, epoch, metadata_hash, validated, configs, group.descriptions
                )
            )
        target_epoch, target = self._target(epoch, configs, goes_back=goes_back)
        if settled is None and group.settled[0] == target_epoch:
            settled = group.settled[1]
        else:
            settled = target if settled is None else settled
            self._settle(target_epoch, settled)
        member = self._reconciled(target_epoch, settled.get(member.id, NO_TASKS))
        expect_heartbeat(shard, group, member.id)
        if request.shutdown_application:
            group.ended_by = group.ended_by or member.id
        gone = None if self._replaced is None else self._replaced.id
        stayed = Stayed(
            shard=shard, group=group, beat=self._beat, before=before, member=member, gone=gone,
            configured=configured, configs=configs, statuses=self._statuses,
        )  # fmt: skip
        return stayed.response()

    # The group and its member.

    def _find_or_make(self) -> StreamsGroup:
        """The group of the request, new for a member that joins. Raises ApiFailure."""
        shard, name = self._shard, self._request.group_id
        classic = shard.groups.get(name)
        if not self._joins:
            if not shard.has_group(name):
                raise ApiFailure(codes.GROUP_ID_NOT_FOUND, f"Streams group {name} not found.")
            return shard.streams_group(name)
        if classic is not None and classic.state == "Empty":
            cancel_timers(shard, classic)
            self.records.append(group_tombstone(name))
            return StreamsGroup(name)
        group = shard.streams_group(name) if shard.has_group(name) else StreamsGroup(name)
        most, members = shard.limits.max_streams, group.members
        if (
            len(members) >= most
            and self._request.instance_id not in group.static
            and self._request.member_id not in members
        ):
            text = f"The streams group has reached its maximum capacity of {most} members."
            raise ApiFailure(codes.GROUP_MAX_SIZE_REACHED, text)
        return group

    def _member(self) -> StreamsMember:
        """The member as it was, new if it joins. Raises ApiFailure."""
        group, request = self._group, self._request
        member_id, instance_id = request.member_id, request.instance_id
        if self._joins:
            known = group.static_member(instance_id)
            if known is None:
                return group.members.get(member_id) or StreamsMember(member_id)
            if known.epoch != LEAVES_FOR_NOW:
                raise unreleased(member_id, known)
            member = msgspec.structs.replace(known, id=member_id, epoch=0, previous_epoch=0)
            self.records += group.member_tombstones(known.id)
            self.records += [
                member_record(group.name, member),
                target_record(group.name, member_id, group.target.get(known.id, NO_TASKS)),
                assignment_record(group.name, member),
            ]
            return member
        member = group.checked_member(member_id, instance_id)
        check_epoch("streams", member, request.member_epoch, partial(self._has_no_more, member))
        return member

    def _has_no_more(self, member: StreamsMember) -> bool:
        owned = self._beat.owned
        return owned is not None and member.assigned.has_all(owned)

    def _updated(self, member: StreamsMember) -> StreamsMember:
        """The member with what the request says of it. Raises ApiFailure."""
        request = self._request
        endpoint, tags = member.endpoint, member.tags
        if request.user_endpoint is not None:
            endpoint = KnownEndpoint(request.user_endpoint.host, request.user_endpoint.port)
        elif self._joins:
            endpoint = None
        if request.client_tags is not None:
            tags = {each.key: each.value for each in request.client_tags}
            if len(tags) < len(request.client_tags):
                raise unexpected()
        given = {
            "instance_id": request.instance_id,
            "rack_id": request.rack_id,
            "rebalance_timeout_ms": (
                None if request.rebalance_timeout_ms == -1 else request.rebalance_timeout_ms
            ),
            "topology_epoch": None if request.topology is None else request.topology.epoch,
            "process_id": request.process_id,
        }
        return msgspec.structs.replace(
            member,
            client_id=self._beat.client_id,
            client_host=self._beat.client_host,
            endpoint=endpoint,
            tags=tags,
            **{name: value for name, value in given.items() if value is not None},
        )

    # The topology and its topics.

    def _topology(self) -> StreamsGroupTopologyValue:
        """The topology of the group, that of its first member. Raises ApiFailure."""
        group, asked = self._group, self._request.topology
        if asked is None:
            if group.topology is None:
                raise unexpected()
            return group.topology
        topology = topology_value(asked)
        if group.topology is None:
            self.records.append(topology_record(group.name, topology))
            return topology
        if group.topology.epoch <= topology.epoch and not is_same(group.topology, topology):
            raise ApiFailure(codes.INVALID_REQUEST, "Topology updates are not supported yet.")
        return group.topology

    def _configure(self, topology: StreamsGroupTopologyValue) -> int:
        """Compare the topology with the topics that there are now; returns their hash."""
        group, topics = self._group, self._shard.topics
        metadata_hash = group.metadata_hash
        if group.topology is None or group.configured is None or group.is_outdated:
            metadata_hash = topics.hash(required_topics(topology.subtopologies))
            is_other = group.topology is None or metadata_hash != group.metadata_hash
            if group.configured is None or is_other:
                group.configured = configure(topology, topics.count)
            group.is_outdated = is_other
        self.configured = group.configured
        return metadata_hash

    # The target.

    def _settle(self, epoch: int, target: Mapping[str, Tasks]) -> None:
        """Keep what members go to in an epoch, as Kafka does where there may be warm-up tasks."""
        if self._shard.limits.of_streams(self._group.name, "num.warmup.replicas"):
            self._group.settled = (epoch, dict(target))

    def _target(
        self, epoch: int, configs: Mapping[str, str], *, goes_back: bool
    ) -> tuple[int, Mapping[str, Tasks]]:
        """The epoch of the target, which may be a new one, and what members shall have."""
        shard, group, member = self._shard, self._group, self._member_now
        delay_ms = shard.limits.of_streams(group.name, "initial.rebalance.delay.ms")
        if not group.members and delay_ms > 0:
            later = partial(assign_later, shard, group.name)
            shard.later_once(delay_key(group.name), delay_ms, later)
        if shard.is_awaited(delay_key(group.name)):
            self._delayed("initial rebalance delay")
            return group.target_epoch, {}
        known = known_target(group, member)
        if group.target_epoch >= epoch:
            return group.target_epoch, known
        if goes_back and group.target_epoch >= group.epoch:
            self.records.append(group.target_epoch_record(epoch, group.target_ms))
            return epoch, known
        interval_ms = shard.limits.of_group(group.name, "streams").assignment_interval_ms
        if group.target_ms and shard.now_ms < group.target_ms + interval_ms:
            self._delayed("assignment interval")
            return group.target_epoch, known
        members = group.with_member(member)
        targets, records = new_target(shard, group, epoch, members, known, configs)
        self.records += records
        return epoch, targets

    def _delayed(self, why: str) -> None:
        text = f"Assignment delayed due to the configured {why}."
        self._statuses.append(Status(DELAYED, text))

    def _reconciled(self, epoch: int, target: Tasks) -> StreamsMember:
        """The member with what it has next on the way to a target. Raises ApiFailure."""
        shard, group, member = self._shard, self._group, self._member_now
        if member.is_reconciled_to(epoch):
            return member
        after = Reconciliation(group.processes, epoch, target, self._beat.owned).next(member)
        if after != member:
            self.records.append(assignment_record(group.name, after))
            if after.is_revoking:
                expect_revocation(shard, group, after)
            else:
                shard.cancel(revocation_key(group.name, after.id))
        return after


def _is_other(before: StreamsMember, after: StreamsMember) -> bool:
    """Whether a static member has changed in what its tasks depend on."""
    return (before.topology_epoch, before.rack_id, before.tags, before.process_id) != (
        after.topology_epoch, after.rack_id, after.tags, after.process_id,
    )  # fmt: skip


def _configs(shard: Shard, group: str) -> dict[str, str]:
    """The configs that assignments are made with, as texts."""
    limits = shard.limits
    configs = {REPLICAS: str(limits.of_streams(group, REPLICAS))}
    tags = limits.of_streams(group, TAGS)
    if tags:
        configs[TAGS] = ",".join(tags)
    return configs


def _leave(
    shard: Shard, request: StreamsGroupHeartbeatRequest, reply: Reply
) -> StreamsGroupHeartbeatResponse:
    group = shard.streams_group(request.group_id)
    if request.shutdown_application:
        group.ended_by = group.ended_by or request.member_id
    response = StreamsGroupHeartbeatResponse(
        member_id=request.member_id, member_epoch=request.member_epoch, status=[]
    )
    then = reply.once_stored(response)
    member = group.checked_member(request.member_id, request.instance_id)
    if request.member_epoch == LEAVES_FOR_NOW and request.instance_id is not None:
        had = member.assigned
        assigned = Tasks(dict.fromkeys(had.active, 0), had.standby, had.warmup)
        away = msgspec.structs.replace(
            member, epoch=LEAVES_FOR_NOW, revoked=NO_TASKS, assigned=assigned
        )
        shard.append([assignment_record(group.name, away)], then)
        return response
    remove_member(shard, group, member, then)
    return response
