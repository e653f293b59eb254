"""Drawn stories of the members of groups, told to two clusters at once.

Each member has a connection of its own, on which a JoinGroup or SyncGroup may wait while others go
on. Ids of members are replaced by their order of appearance, and lists whose order is that of a
hash table are sorted. A group has two members at most, since where a leader leaves more than one
behind, a hash table of random ids elects the next. A member whose client has lost its id is one of
the two: a real coordinator would take a third in while a rebalance waits for that one to join.

``python -m tests.server.groups.stories 4.4.0 SEED STEPS`` tells one beside a real broker.
"""

from __future__ import annotations

import contextlib
import re
import select
import socket
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from kafka_admin_proto import messages as m
from kafka_admin_proto.codec import codec
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.join_group_request import JoinGroupRequestProtocol
from kafka_admin_proto.messages.leave_group_request import MemberIdentity
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
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
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kafka_admin_proto.messages.sync_group_request import SyncGroupRequestAssignment
from kafka_admin_proto.protocol.frames import frame
from kafka_admin_proto.protocol.payload_writers import write_request
from kafka_admin_proto.protocol.payloads import read_response
from kafka_admin_proto.protocol.releases import release as release_facts
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.values import Message
from tests.server.configs.real_configs import configs_of
from tools.clusters import Cluster, kraft

CONFIGS = {
    "group.initial.rebalance.delay.ms": "300",
    "group.max.size": "2",
    "offset.metadata.max.bytes": "10",
    "offsets.topic.num.partitions": "3",
    "offsets.topic.replication.factor": "1",
}
#: Longer than the delay above: what has not been answered by then waits for another member.
_SETTLED_S = 0.8
#: Requests that may wait for another member, and those that may end another member's wait.
_MAY_WAIT = (m.JoinGroupRequest, m.SyncGroupRequest)
_MAY_END_WAITS = (*_MAY_WAIT, m.LeaveGroupRequest)
#: How much later the slower side may answer.
_LATE_S = 5.0
_PATIENCE_S = 20.0
#: The members of each group; "s" is a static one.
_MEMBERS = {"g0": "as", "g1": "ab"}
#: Groups without members, which commits of simple consumers make.
_SIMPLE = ("", "nothing", "simple")
GROUPS = (*_MEMBERS, *_SIMPLE)
_TOPICS = ("orders", "bills")
_MISSING = UUID(int=0xABCDEF)
#: The id of a member that has not been answered yet.
_OF_CHANCE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FIELDS_OF_CHANCE = ("throttle_time_ms", "coordinators", "host", "port", "node_id")


class Member:
    """A connection, its request that waits, and what its client knows of its group."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), _PATIENCE_S)
        self._data = b""
        self.waits: tuple[int, int] | None = None
        self.may_wait = False
        self.id = ""
        self.generation = -1
        self.members: list[str] = []

    def send(self, message: Message, version: int) -> None:
        """Send a request, which is the only one that waits."""
        assert message.api_key is not None
        self._socket.sendall(frame(write_request(message, version, 1, client_id="story")))
        self.waits = message.api_key, version
        self.may_wait = isinstance(message, _MAY_WAIT)

    def receive(self, patience_s: float) -> Any:
        """The response; None if there is none in time."""
        assert self.waits is not None
        deadline = time.monotonic() + patience_s
        while len(self._data) < 4 or len(self._data) < 4 + int.from_bytes(self._data[:4], "big"):
            left_s = max(deadline - time.monotonic(), 0)
            if not select.select([self._socket], [], [], left_s)[0]:
                return None
            more = self._socket.recv(1 << 16)
            assert more, f"the connection was closed while {self.waits} waited"
            self._data += more
        size = 4 + int.from_bytes(self._data[:4], "big")
        response = read_response(self._data[4:size], *self.waits)
        assert response.error is None, response.error
        self._data, self.waits = self._data[size:], None
        return response.body

    def ask(self, message: Message, version: int) -> Any:
        """The response to a request that does not wait for another member."""
        self.send(message, version)
        return self.receive(_PATIENCE_S)

    def close(self) -> None:
        self._socket.close()


class Side:
    """A cluster with the members' connections to it, and names for the ids that it gives out.

    ``groups`` are those of the story: others that the cluster has are not seen.
    """

    def __init__(self, bootstrap: str, groups: Collection[str] = ()) -> None:
        self._bootstrap = bootstrap
        self._groups = groups
        self.members: dict[str, Member] = {}
        self._names: dict[str, str] = {}
        self.topic_ids: dict[str, UUID] = {}

    def member(self, name: str) -> Member:
        """The member of a name."""
        if name not in self.members:
            self.members[name] = Member(self._bootstrap)
        return self.members[name]

    def ask(self, message: Message, version: int) -> Any:
        """The response to a request that does not wait."""
        return self.member("admin").ask(message, version)

    def waiting(self, group: str) -> list[str]:
        """The members of a group whose requests wait."""
        return [
            name
            for name, each in self.members.items()
            if each.waits and name.startswith(f"{group}-")
        ]

    def awaits(self, group: str, name: str = "") -> bool:
        """Whether a rebalance of a group waits that has its two members, one of the name if any."""
        (row,) = self.ask(m.DescribeGroupsRequest([group]), 0).groups
        ids = [each.member_id for each in row.members]
        assert len(ids) <= 2, f"chance elects the leader of {row}"
        is_full = row.group_state == "PreparingRebalance" and len(ids) == 2
        return is_full and (not name or self.member(name).id in ids)

    def prepare(self) -> None:
        """Create the topics that another story has not created, and wait for the coordinator.

        Groups that another story may have left, of which both ask, are deleted.
        """
        topics = [CreatableTopic(each, 2, 1) for each in _TOPICS]
        self.ask(m.CreateTopicsRequest(topics, 20_000), 7)
        names = [MetadataRequestTopic(name=each) for each in _TOPICS]
        asked = m.MetadataRequest(names, allow_auto_topic_creation=False)
        deadline = time.monotonic() + _PATIENCE_S
        while len(self.topic_ids) < len(_TOPICS):
            assert time.monotonic() < deadline, "the broker does not hear of the topics"
            rows = self.ask(asked, 12).topics
            self.topic_ids |= {each.name: each.topic_id for each in rows if not each.error_code}
        request = m.FindCoordinatorRequest("g0")
        while self.ask(request, 3).error_code and time.monotonic() < deadline:
            time.sleep(0.1)
        while self.ask(m.HeartbeatRequest("g0"), 4).error_code != 25:
            assert time.monotonic() < deadline, "no coordinator"
            time.sleep(0.1)
        self.ask(m.DeleteGroupsRequest([*_SIMPLE]), 2)
        time.sleep(0.5)

    def seen(self, name: str, response: Any) -> str:
        """A response as a text that is equal on both sides."""
        if isinstance(response, m.JoinGroupResponse) and response.member_id:
            one = self.members[name]
            one.id = response.member_id
            self._names.setdefault(one.id, f"<{len(self._names)}>")
            if response.error_code == 0:
                one.generation = response.generation_id
                one.members = [each.member_id for each in response.members]
        if isinstance(response, m.ListGroupsResponse):
            response.groups = [each for each in response.groups if each.group_id in self._groups]
        return repr(self._sorted(response))

    def _sorted(self, value: Any) -> Any:
        """A response with names for ids, its lists sorted, without what chance decides."""
        if isinstance(value, list):
            return sorted((self._sorted(each) for each in value), key=repr)
        if isinstance(value, UUID):
            names = {topic_id: f"<{name}>" for name, topic_id in self.topic_ids.items()}
            return names.get(value, value)
        if isinstance(value, str):
            for member_id, name in self._names.items():
                value = value.replace(member_id, name)
            return _OF_CHANCE.sub("?", value)
        if hasattr(value, "__struct_fields__"):
            fields = {
                each: self._sorted(getattr(value, each))
                for each in value.__struct_fields__
                if each not in _FIELDS_OF_CHANCE
            }
            return (type(value).__name__, fields)
        return value

    def close(self) -> None:
        for each in self.members.values():
            each.close()


class Story:
    """Steps drawn by a seed, of which each side makes requests with its own ids."""

    def __init__(self, seed: int, release: str, steps: int) -> None:
        self._random = Random(seed)
        self._facts = release_facts(release)
        self._steps = steps

    def tell(self, left: Side, right: Side) -> Iterator[tuple[str, ...]]:
        """(step, the left side's answer, the right side's) of all that is answered."""
        for number in range(self._steps):
            name, make, version = self._step(left)
            requests = [make(side) for side in (left, right)]
            for side, each in zip((left, right), requests, strict=True):
                side.member(name).send(each, version)
            request = requests[0]
            step = f"{number}: {name} {type(request).__name__} v{version} {request}"
            moves = isinstance(request, _MAY_END_WAITS)
            names = left.waiting(name.partition("-")[0]) if moves else [name]
            yield from self._answered(step, names, left, right)

    def _answered(
        self, step: str, names: Sequence[str], left: Side, right: Side
    ) -> Iterator[tuple[str, ...]]:
        """What members get; only a JoinGroup or a SyncGroup may go on waiting."""
        deadline = time.monotonic() + _SETTLED_S
        for name in names:
            both = [each.members[name] for each in (left, right)]
            pair = [each.receive(max(deadline - time.monotonic(), 0.02)) for each in both]
            if pair == [None, None] and both[0].may_wait:
                continue
            for index, each in enumerate(both):
                pair[index] = pair[index] or each.receive(_LATE_S)
            where = f"{step}: {name}" if len(names) > 1 else step
            if None in pair:
                raise AssertionError(f"{where}: only one side answers: {pair}")
            seen = (side.seen(name, one) for side, one in zip((left, right), pair, strict=True))
            yield where, *seen

    def _step(self, left: Side) -> tuple[str, Any, int]:
        """Who asks, a function of a side that gives the request, and its version."""
        random = self._random
        group = random.choice(("g0", "g0", "g1"))
        name = f"{group}-{random.choice(_MEMBERS[group])}"
        one = left.members.get(name)
        if one is not None and one.waits:
            name = f"{group}-admin"
        kinds = ("join", "sync", "beat", "commit") * 3 + (
            "leave", "fetch", "describe", "list", "forget", "delete",
        )  # fmt: skip
        kind = random.choice(kinds)
        if name.endswith("admin"):
            kind = random.choice(
                ("fetch", "describe", "list", "forget", "delete", "commit", "expel", "expel")
            )
        elif one is None or (one.generation < 0 and random.random() < 0.7):
            kind = "join"
        if kind == "join" and left.awaits(group) and not left.awaits(group, name):
            kind = "describe"  # it would be the third member
        found: tuple[str, Any, int] = getattr(self, f"_{kind}")(group, name)
        return found

    def _version(self, api_key: int, lowest: int = 0) -> int:
        known = self._facts.versions_of(api_key)
        found: list[int] = [*range(max(known.lowest, lowest), known.highest + 1), known.highest]
        return self._random.choice(found)

    def _odd(self, usual: Any, *others: Any) -> Any:
        return self._random.choice(others) if self._random.random() < 0.06 else usual

    def _identity(self, name: str) -> tuple[Any, str | None, Any]:
        """Functions of a side that give an id and a generation, and the instance id."""
        instance = f"i-{name}" if name.endswith("s") else None
        odd = self._odd("", "", "nobody")
        other = self._odd(0, 1, -1)
        known = self._random.random() > 0.06

        def member_id(side: Side) -> str:
            return side.member(name).id if known else odd

        def generation(side: Side) -> int:
            return int(side.member(name).generation + other)

        return member_id, self._odd(instance, "i-other"), generation

    def _join(self, group: str, name: str) -> tuple[str, Any, int]:
        member_id, instance, _ = self._identity(name)
        version = self._version(11, 5 if instance else 0)
        again = self._random.random() < 0.15
        topics = [self._random.choice((["orders"], ["orders"], ["orders", "bills"]))]
        names = self._odd(["range", "roundrobin"], ["roundrobin", "range"], ["sticky"], [])
        group = self._odd(group, "")
        kind = self._odd("consumer", "connect", "")
        session_ms = self._odd(600_000, 10, 10**9)
        metadata = b"\0\1" + codec("ConsumerProtocolSubscription", 1).encode(
            m.ConsumerProtocolSubscription(topics[0])
        )
        if version < 5:
            instance = None

        def make(side: Side) -> Message:
            given = member_id(side)
            if side.awaits(group):
                given = side.member(name).id
            elif again:
                given = side.member(name).id = ""
            return m.JoinGroupRequest(
                group,
                session_ms,
                600_000 if version else -1,
                given,
                instance,
                kind,
                [JoinGroupRequestProtocol(each, metadata) for each in names],
            )

        return name, make, version

    def _sync(self, group: str, name: str) -> tuple[str, Any, int]:
        member_id, instance, generation = self._identity(name)
        version = self._version(14, 3 if instance else 0)
        if version < 3:
            instance = None
        kind = self._odd("consumer", "connect")
        protocol = self._odd("range", "roundrobin")

        def make(side: Side) -> Message:
            return m.SyncGroupRequest(
                group,
                generation(side),
                member_id(side),
                instance,
                kind if version >= 5 else None,
                protocol if version >= 5 else None,
                [
                    SyncGroupRequestAssignment(each, b"assigned")
                    for each in side.member(name).members
                ],
            )

        return name, make, version

    def _beat(self, group: str, name: str) -> tuple[str, Any, int]:
        member_id, instance, generation = self._identity(name)
        version = self._version(12, 3 if instance else 0)
        if version < 3:
            instance = None
        group = self._odd(group, "", "nothing")
        return (
            name,
            lambda side: m.HeartbeatRequest(group, generation(side), member_id(side), instance),
            version,
        )

    def _leave(self, group: str, name: str) -> tuple[str, Any, int]:
        member_id, instance, _ = self._identity(name)
        version = self._version(13)
        group = self._odd(group, "", "nothing")
        alone = self._random.random() < 0.5

        def make(side: Side) -> Message:
            if version < 3:
                return m.LeaveGroupRequest(group, member_id(side))
            first = "" if alone and instance else member_id(side)
            return m.LeaveGroupRequest(group, members=[MemberIdentity(first, instance)])

        return name, make, version

    def _expel(self, group: str, name: str) -> tuple[str, Any, int]:
        """An administrator removes members, also those that wait."""
        version = self._version(13, 3)
        chosen = self._random.sample(_MEMBERS[group], self._random.choice((1, 2)))
        by_instance = self._random.random() < 0.5

        def row(side: Side, letter: str) -> MemberIdentity:
            member_id = side.member(f"{group}-{letter}").id
            if letter != "s":
                return MemberIdentity(member_id, None)
            return MemberIdentity("" if by_instance else member_id, f"i-{group}-s")

        def make(side: Side) -> Message:
            return m.LeaveGroupRequest(group, members=[row(side, each) for each in chosen])

        return name, make, version

    def _commit(self, group: str, name: str) -> tuple[str, Any, int]:
        member_id, instance, generation = self._identity(name)
        version = self._version(8, 1)
        if version < 7:
            instance = None
        simple = self._random.random() < 0.2
        # A real coordinator makes the group of a simple consumer even where it refuses all of this.
        metadata = self._odd("", "short", None, *([] if simple else ["much too long a text"]))
        topic = self._odd(self._random.choice(_TOPICS), "missing")
        number = self._odd(self._random.choice((0, 1)), 7)
        offset = self._random.randrange(100)
        group = self._odd(group, "", "nothing", "simple")

        def make(side: Side) -> Message:
            row = OffsetCommitRequestPartition(number, offset, committed_metadata=metadata)
            there = OffsetCommitRequestTopic(topic, partitions=[row])
            if version >= 10:
                there.name, there.topic_id = "", side.topic_ids.get(topic, _MISSING)
            if simple:
                return m.OffsetCommitRequest(group, topics=[there])
            asked = generation(side), member_id(side)
            return m.OffsetCommitRequest(group, *asked, instance, topics=[there])

        return name, make, version

    def _fetch(self, group: str, name: str) -> tuple[str, Any, int]:
        version = self._version(9, 1)
        topic = self._odd(self._random.choice(_TOPICS), "missing")
        everything = version >= 2 and self._random.random() < 0.4
        group = self._odd(group, "", "nothing", "simple")

        def make(side: Side) -> Message:
            if version < 8:
                topics = None if everything else [OffsetFetchRequestTopic(topic, [0, 1, 7])]
                return m.OffsetFetchRequest(group, topics)
            row = OffsetFetchRequestTopics(topic, partition_indexes=[0, 1, 7])
            if version >= 10:
                row.name, row.topic_id = "", side.topic_ids.get(topic, _MISSING)
            asked = OffsetFetchRequestGroup(group, topics=None if everything else [row])
            return m.OffsetFetchRequest(groups=[asked], topics=[])

        return name, make, version

    def _forget(self, group: str, name: str) -> tuple[str, Any, int]:
        topic = self._odd(self._random.choice(_TOPICS), "missing")
        rows = [OffsetDeleteRequestPartition(each) for each in (0, self._odd(1, 7))]
        request = m.OffsetDeleteRequest(
            self._odd(group, "", "nothing", "simple"), [OffsetDeleteRequestTopic(topic, rows)]
        )
        return name, lambda _: request, 0

    def _delete(self, group: str, name: str) -> tuple[str, Any, int]:
        names = self._random.choice(([group], ["simple"], ["nothing", group], [""]))
        return name, lambda _: m.DeleteGroupsRequest(names), self._version(42)

    def _describe(self, group: str, name: str) -> tuple[str, Any, int]:
        version = self._version(15)
        names = self._random.choice(([group], ["simple", group], ["nothing"], [""]))
        operations = version >= 3 and self._random.random() < 0.5
        return name, lambda _: m.DescribeGroupsRequest(names, operations), version

    def _list(self, group: str, name: str) -> tuple[str, Any, int]:
        version = self._version(16)
        states = self._random.choice(([], ["Stable"], ["stable", "Empty"], ["odd"]))
        types = self._random.choice(([], ["classic"], ["Classic"], ["consumer"]))
        request = m.ListGroupsRequest(states if version >= 4 else [], types if version >= 5 else [])
        return name, lambda _: request, version


def differences(seed: int, release: str, steps: int, left: str, right: str) -> list[str]:
    """What two clusters (host:port) answer otherwise in a story; the first one is named first."""
    sides = Side(left, GROUPS), Side(right, GROUPS)
    found = []
    try:
        for each in sides:
            each.prepare()
        for step, one, other in Story(seed, release, steps).tell(*sides):
            if one != other:
                found.append(f"{step}\n  {one}\n  {other}")
    except AssertionError as error:
        found.append(str(error))
    finally:
        for each in sides:
            each.close()
    return found


@contextlib.contextmanager
def both(release: str, configs: Mapping[str, str] = CONFIGS) -> Iterator[tuple[str, str]]:
    """A real broker and ours with the same configs."""
    with (
        tempfile.TemporaryDirectory() as folder,
        kraft(Path(folder) / "real", release, properties=configs) as real,
        beside(real) as ours,
    ):
        yield real.bootstrap, ours


@contextlib.contextmanager
def beside(real: Cluster) -> Iterator[str]:
    """A broker of ours with the configs of a real one."""
    minor = real.release.rpartition(".")[0]
    with SyncCluster(1, release=minor, configs=configs_of(real)) as ours:
        yield ours.bootstrap_servers


if __name__ == "__main__":
    release, seed, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with both(release) as (real, ours):
        found = differences(seed, release.rpartition(".")[0], steps, real, ours)
    print("\n".join(found) or "no difference")
    sys.exit(bool(found))
