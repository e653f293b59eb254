"""Groups as results of operations: listings, descriptions, members, offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.operations.common.routing import BrokerFailure
from kafka_admin_proto.admin.operations.common.topic_partitions import TopicPartitions


class ListedGroup(msgspec.Struct, frozen=True):
    """A group, as its coordinator lists it.

    ``type`` is "classic", "consumer", "share" or "streams"; None from brokers before 3.8, ``state``
    None from brokers before 2.6. ``protocol_type`` is "" of groups that only commit offsets.
    """

    group_id: str
    type: str | None
    protocol_type: str
    state: str | None
    coordinator: int


class GroupListing(msgspec.Struct, frozen=True):
    """The groups of all brokers that answered, sorted by id, and the brokers that did not."""

    groups: Sequence[ListedGroup]
    failed: Sequence[BrokerFailure] = ()


class SubtopologyTasks(msgspec.Struct, frozen=True):
    """Tasks of a subtopology: the partitions that they read, ascending."""

    subtopology: str
    partitions: Sequence[int]


class StreamsTasks(msgspec.Struct, frozen=True):
    """What a member of a streams group runs."""

    active: Sequence[SubtopologyTasks] = ()
    standby: Sequence[SubtopologyTasks] = ()
    warmup: Sequence[SubtopologyTasks] = ()


class StreamsMember(msgspec.Struct, frozen=True):
    """What only members of streams groups have. ``user_endpoint`` is "host:port"."""

    topology_epoch: int
    process_id: str
    user_endpoint: str | None
    client_tags: Mapping[str, str]
    tasks: StreamsTasks
    target_tasks: StreamsTasks
    is_classic: bool


class GroupMember(msgspec.Struct, frozen=True):
    """A member of a group; None is what its kind of group, or its broker's version, does not have.

    ``assignment`` is None where it is not that of consumers (Kafka Connect, say): the bytes are
    in ``raw_assignment`` then, and what the member joined with in ``raw_metadata``. ``upgraded``
    says whether a member of a consumer group speaks the protocol of KIP-848, or still the classic
    one.
    """

    member_id: str
    client_id: str
    host: str
    instance_id: str | None = None
    rack: str | None = None
    epoch: int | None = None
    subscribed_topics: Sequence[str] | None = None
    subscribed_regex: str | None = None
    assignment: Sequence[TopicPartitions] | None = None
    target_assignment: Sequence[TopicPartitions] | None = None
    upgraded: bool | None = None
    streams: StreamsMember | None = None
    raw_metadata: bytes | None = None
    raw_assignment: bytes | None = None


class InternalTopic(msgspec.Struct, frozen=True):
    """A topic that a streams topology needs. ``partitions`` 0 leaves the number to the broker."""

    name: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]


class Subtopology(msgspec.Struct, frozen=True):
    """A part of a streams topology."""

    id: str
    source_topics: Sequence[str]
    repartition_sink_topics: Sequence[str]
    state_changelog_topics: Sequence[InternalTopic]
    repartition_source_topics: Sequence[InternalTopic]


class StreamsTopology(msgspec.Struct, frozen=True):
    """The topology that a streams group runs; ``subtopologies`` is None until it is known."""

    epoch: int
    subtopologies: Sequence[Subtopology] | None


class GroupDescription(msgspec.Struct, frozen=True):
    """A group of any type in one shape.

    ``type`` is "classic", "consumer", "share" or "streams", None with an error. ``protocol`` is the
    assignor that the members agreed on, or the broker's. ``epoch`` and ``assignment_epoch`` are of
    groups that brokers manage (all but classic ones). ``authorized_operations`` are names of
    AclOperation, None when they were not asked for.
    """

    group_id: str
    type: str | None = None
    state: str | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    coordinator: int | None = None
    epoch: int | None = None
    assignment_epoch: int | None = None
    members: Sequence[GroupMember] = ()
    topology: StreamsTopology | None = None
    authorized_operations: Sequence[str] | None = None
    error: str | None = None
    message: str | None = None


class GroupResult(msgspec.Struct, frozen=True):
    """A group that was changed as asked, unless there is an error."""

    group_id: str
    error: str | None = None
    message: str | None = None


class GroupOffset(msgspec.Struct, frozen=True):
    """The committed offset of a partition; None where none is committed."""

    topic: str
    partition: int
    offset: int | None
    leader_epoch: int | None = None
    metadata: str | None = None
    error: str | None = None
    message: str | None = None


class GroupOffsets(msgspec.Struct, frozen=True):
    """The committed offsets of a group, sorted by topic and partition."""

    group_id: str
    offsets: Sequence[GroupOffset] = ()
    error: str | None = None
    message: str | None = None


class ShareOffset(msgspec.Struct, frozen=True):
    """Where a share group begins to read a partition; None where it has not begun to.

    ``lag`` is the number of records that the group still has to read, None where it is not known,
    as from brokers before 4.2 (KIP-1226).
    """

    topic: str
    partition: int
    offset: int | None
    leader_epoch: int | None = None
    lag: int | None = None
    error: str | None = None
    message: str | None = None


class ShareOffsets(msgspec.Struct, frozen=True):
    """The start offsets of a share group, sorted by topic and partition."""

    group_id: str
    offsets: Sequence[ShareOffset] = ()
    error: str | None = None
    message: str | None = None


class NewOffset(msgspec.Struct, frozen=True):
    """An offset to commit."""

    offset: int
    leader_epoch: int | None = None
    metadata: str = ""


class AlteredOffset(msgspec.Struct, frozen=True):
    """A partition whose committed offset was altered or deleted, unless there is an error."""

    topic: str
    partition: int
    error: str | None = None
    message: str | None = None


class DeletedShareOffsets(msgspec.Struct, frozen=True):
    """A topic whose start offsets a share group has no more, unless there is an error."""

    topic: str
    error: str | None = None
    message: str | None = None


class MemberToRemove(msgspec.Struct, frozen=True):
    """A member by its id, or by its instance id (static members)."""

    member_id: str = ""
    instance_id: str | None = None


class RemovedMember(msgspec.Struct, frozen=True):
    """A member that has left, unless there is an error."""

    member_id: str
    instance_id: str | None = None
    error: str | None = None
    message: str | None = None
