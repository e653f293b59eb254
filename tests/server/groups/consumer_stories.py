"""Drawn stories of members of KIP-848's protocol, told to two clusters at once.

One member of a group uses the classic protocol, so that the group is upgraded and downgraded.
Clients make their own ids, so that answers differ by nothing but topic ids; they sort behind those
that the coordinator gives to members of the classic protocol. A group of the uniform assignor
subscribes one topic, since with several their ids decide who gets what.

``python -m tests.server.groups.consumer_stories SEED STEPS`` tells one beside a real broker.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from kafka_admin_proto import messages as m
from kafka_admin_proto.codec import codec
from kafka_admin_proto.messages.consumer_group_heartbeat_request import TopicPartitions
from kafka_admin_proto.messages.consumer_protocol_assignment import TopicPartition
from kafka_admin_proto.messages.join_group_request import JoinGroupRequestProtocol
from kafka_admin_proto.messages.leave_group_request import MemberIdentity
from kafka_admin_proto.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_admin_proto.messages.offset_fetch_request import OffsetFetchRequestTopics
from kafka_admin_proto.messages.sync_group_request import SyncGroupRequestAssignment
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.consumer_protocol import read_assignment
from kafka_admin_proto.values import Message
from tests.server.groups.drawn_members import DrawnMembers
from tests.server.groups.stories import CONFIGS, Side, both
from tools.kafka_releases import NEWEST

#: Epochs follow each other at once, ranges are the default, and a group has room for four.
CONSUMER_CONFIGS = {
    **CONFIGS,
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.assignors": "range,uniform",
    "group.consumer.max.size": "4",
}
_PATIENCE_S = 20.0
#: Within this time a real broker has found the topics of a new regular expression.
_RESOLVED_S = 0.15
_GROUPS = {"u": (["orders"],), "r": (["orders"], ["orders", "bills"], ["bills"], [])}
_MEMBERS = ("a", "b", "c", "s", "t")
#: Members that are static, two of the same instance.
_INSTANCES = {"s": "i", "t": "i"}
_REGEXES = ("or.*", "bills|orders", "nothing.*", "b[il]+s", "(", "")


class ConsumerStory(DrawnMembers):
    """Steps drawn by a seed, of which each side makes requests with its own epochs."""

    topics, partitions = ("orders", "bills"), 2
    fetched = OffsetFetchRequestTopics("orders", partition_indexes=[0, 1])
    fetch_versions = (8, 9, 9, 10)

    def tell(self, left: Side, right: Side) -> list[str]:
        """What the two sides answer otherwise."""
        found = []
        for number in range(self._steps):
            make, version = self._step()
            seen = []
            for side in (left, right):
                message = make(side)
                try:
                    seen.append(self._asked(side, message, version))
                except AssertionError as error:
                    error.add_note(f"{'left' if side is left else 'right'}, {number}: {message}")
                    raise
            if isinstance(message, m.ConsumerGroupHeartbeatRequest):
                time.sleep(_RESOLVED_S if message.subscribed_topic_regex else 0)
            if seen[0] != seen[1]:
                found.append(f"{number}: v{version} {message}\n  {seen[0]}\n  {seen[1]}")
        return found

    def _asked(self, side: Side, message: Message, version: int) -> str:
        """The answer of a side as a text; its clients learn from it."""
        if isinstance(message, m.JoinGroupRequest):
            name = f"{message.group_id}-classic"
            one = side.member(name)
            one.send(message, version)
            answer = one.receive(_PATIENCE_S)
            assert answer is not None, "a JoinGroup waits for longer than the only member needs"
            text = side.seen(name, answer)
            if answer.error_code == codes.MEMBER_ID_REQUIRED:
                message.member_id = answer.member_id
                return text + self._asked(side, message, version)
            if answer.error_code in (codes.UNKNOWN_MEMBER_ID, codes.FENCED_INSTANCE_ID):
                one.id, one.generation = "", -1
            return text
        answer = side.ask(message, version)
        if isinstance(message, m.ConsumerGroupHeartbeatRequest):
            self._learn(side, message, answer)
        elif isinstance(message, m.LeaveGroupRequest) and "error_code=25" not in repr(answer):
            side.member(f"{message.group_id}-classic").id = ""
        elif isinstance(message, m.SyncGroupRequest) and answer.assignment:
            answer.assignment = read_assignment(answer.assignment)  # topics in any order
        return side.seen("admin", answer)

    def _learn(self, side: Side, request: m.ConsumerGroupHeartbeatRequest, answer: Any) -> None:
        client = self._client(side, request.member_id)
        if answer.error_code or request.member_epoch < 0:
            if request.member_epoch in (client.epoch, 0) or request.member_epoch < 0:
                client.epoch, client.owned = 0, {}
            return
        client.epoch = answer.member_epoch
        if answer.assignment is not None:
            rows = answer.assignment.topic_partitions
            client.owned = {each.topic_id: each.partitions for each in rows}

    def _step(self) -> tuple[Any, int]:
        group = self._random.choice(list(_GROUPS))
        member = self._random.choice(_MEMBERS)
        kinds = (
            ("beat",) * 8
            + ("old_join", "old_join", "old_sync", "old_sync", "old_beat") * 2
            + (
                "old_leave",
                "old_commit",
                "commit",
                "fetch",
                "describe",
                "classic",
                "list",
                "delete",
                "strange",
            )
        )
        kind = self._random.choice(kinds)
        if kind.startswith("old"):  # the coordinator gives ids of chance, which sort in front
            group = "r"
        found: tuple[Any, int] = getattr(self, f"_{kind}")(group, member)
        return found

    def _beat(self, group: str, member: str) -> tuple[Any, int]:
        random = self._random
        version = random.choice((0, 1, 1, 1))
        name = f"~{group}-{member}"
        kind = random.choice(
            ("usual",) * 6 + ("silent", "changed", "full", "leave", "leave", "away")
        )
        topics = self._odd(random.choice(_GROUPS[group]), None)
        regex = (
            random.choice(_REGEXES) if version and group == "r" and random.random() < 0.2 else None
        )
        own = _INSTANCES.get(member)  # at times another member's, whose place it takes
        instance = self._odd(random.choice((own, own, own, "i", "j")), "")
        epoch_error = self._odd(0, 1, -1, -9)
        rejoins = random.random() < 0.05
        assignors = ("range", "uniform") if group == "u" else ("range",)
        assignor = self._odd(random.choice(assignors), "sticky", None)
        timeout = self._odd(300_000, -1)
        rack = self._odd(None, "r1", "")

        def make(side: Side) -> Message:
            client = self._client(side, name)
            owned = [TopicPartitions(*each) for each in client.owned.items()]
            epoch = client.epoch + epoch_error
            if kind in ("leave", "away"):
                epoch = -2 if kind == "away" and instance else -1
                return m.ConsumerGroupHeartbeatRequest(group, name, epoch, instance)
            if client.epoch == 0 or rejoins:
                return m.ConsumerGroupHeartbeatRequest(
                    group, name, max(epoch_error, 0), instance, rack, timeout, topics,
                    regex, assignor, [],
                )  # fmt: skip
            if kind == "full":
                return m.ConsumerGroupHeartbeatRequest(
                    group, name, epoch, instance, rack, timeout, topics, regex, assignor, owned
                )
            changed = topics if kind == "changed" else None
            said = None if kind == "silent" else owned
            return m.ConsumerGroupHeartbeatRequest(
                group, name, epoch, instance, None, -1, changed,
                regex if kind == "changed" else None,
                assignor if kind == "changed" else None, said,
            )  # fmt: skip

        return make, version

    def _strange(self, group: str, member: str) -> tuple[Any, int]:
        epoch = self._random.choice((0, 0, 5, -1, -2, -3))
        fields: dict[str, Any] = {"member_epoch": epoch}
        fields["group_id"] = self._random.choice(("", group, "nothing"))
        fields["member_id"] = self._random.choice(("", "x"))
        if epoch == 0:
            for name, values in (
                ("rebalance_timeout_ms", (-1, 1000)), ("subscribed_topic_names", (None,)),
                ("topic_partitions", (None, [])),
            ):  # fmt: skip
                fields[name] = self._random.choice(values)
        request = m.ConsumerGroupHeartbeatRequest(**fields)
        return lambda _: request, self._random.choice((0, 1))

    def _old_join(self, group: str, member: str) -> tuple[Any, int]:
        """The one member of a group that uses the classic protocol, at times of an instance."""
        random = self._random
        version = random.choice((5, 9))
        instance, is_new = random.choice((None, "i")), random.random() < 0.3
        topics = random.choice([each for each in _GROUPS[group] if each])
        kind = self._odd("consumer", "connect")
        names = self._odd(["range", "sticky"], ["range"], [])
        metadata = b"\0\1" + codec("ConsumerProtocolSubscription", 1).encode(
            m.ConsumerProtocolSubscription(topics)
        )
        metadata = self._odd(metadata, b"", b"\0\1\0")
        name = f"{group}-classic"
        protocols = [JoinGroupRequestProtocol(each, metadata) for each in names]

        def make(side: Side) -> Message:
            one, client = side.member(name), self._client(side, name)
            if not one.id:  # ids of two that the coordinator gave would sort by chance
                client.instance = instance
            member_id = "" if client.instance and is_new else one.id
            return m.JoinGroupRequest(
                group, 600_000, 600_000, member_id, client.instance, kind, protocols
            )

        return make, version

    def _old_sync(self, group: str, member: str) -> tuple[Any, int]:
        error = self._odd(0, 1)
        given = self._random.random() < 0.9
        name = f"{group}-classic"

        def make(side: Side) -> Message:
            one = side.member(name)
            rows = [TopicPartition("orders", [0, 1])]
            data = b"\0\1" + codec("ConsumerProtocolAssignment", 1).encode(
                m.ConsumerProtocolAssignment(rows)
            )
            assignments = [SyncGroupRequestAssignment(one.id, data)] if given else []
            return m.SyncGroupRequest(
                group, one.generation + error, one.id, None, "consumer", "range", assignments
            )

        return make, 5

    def _old_beat(self, group: str, member: str) -> tuple[Any, int]:
        error = self._odd(0, 1, -1)
        name = self._odd(f"{group}-classic", f"~{group}-a")

        def make(side: Side) -> Message:
            one = side.member(f"{group}-classic")
            member_id = one.id if name.endswith("classic") else name
            return m.HeartbeatRequest(group, one.generation + error, member_id)

        return make, 4

    def _old_leave(self, group: str, member: str) -> tuple[Any, int]:
        version = self._random.choice((2, 5))
        name = f"{group}-classic"

        def make(side: Side) -> Message:
            member_id = side.member(name).id
            if version < 3:
                return m.LeaveGroupRequest(group, member_id)
            return m.LeaveGroupRequest(group, members=[MemberIdentity(member_id, None)])

        return make, version

    def _old_commit(self, group: str, member: str) -> tuple[Any, int]:
        error, offset = self._odd(0, 1, -1), self._random.randrange(100)
        version = self._random.choice((7, 9))
        number = self._random.choice((0, 1))

        def make(side: Side) -> Message:
            one = side.member(f"{group}-classic")
            row = OffsetCommitRequestPartition(number, offset, committed_metadata="")
            there = OffsetCommitRequestTopic("orders", partitions=[row])
            return m.OffsetCommitRequest(
                group, one.generation + error, one.id, None, topics=[there]
            )

        return make, version

    def _describe(self, group: str, member: str) -> tuple[Any, int]:
        names = self._random.choice(([group], ["nothing", group], [""]))
        operations = self._random.random() < 0.3
        request = m.ConsumerGroupDescribeRequest(names, operations)
        return lambda _: request, self._random.choice((0, 1))

    def _classic(self, group: str, member: str) -> tuple[Any, int]:
        return lambda _: m.DescribeGroupsRequest([group]), self._random.choice((5, 6))

    def _list(self, group: str, member: str) -> tuple[Any, int]:
        states = self._random.choice(([], ["stable", "Empty"], ["Assigning", "reconciling"]))
        types = self._random.choice(([], ["consumer"], ["Consumer", "classic"], ["classic"]))
        request = m.ListGroupsRequest(states, types)
        return lambda _: request, 5


def consumer_differences(seed: int, steps: int, left: str, right: str) -> list[str]:
    """What two clusters (host:port) answer otherwise in a story; the first one is named first."""
    sides = Side(left, _GROUPS), Side(right, _GROUPS)
    try:
        for each in sides:
            each.prepare()
        return ConsumerStory(seed, steps).tell(*sides)
    finally:
        for each in sides:
            each.close()


if __name__ == "__main__":
    seed, steps = int(sys.argv[1]), int(sys.argv[2])
    with both(NEWEST, CONSUMER_CONFIGS) as (real, ours):
        found = consumer_differences(seed, steps, real, ours)
    print("\n".join(found) or "no difference")
    sys.exit(bool(found))
