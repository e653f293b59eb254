"""Drawn stories of members of streams groups, told to two clusters at once.

Members make their own ids, and the coordinator's topics are awaited where it creates some, so that
answers differ by nothing but the order of hash tables.

``python -m tests.server.groups.streams_stories SEED STEPS`` tells one beside a real broker.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.messages.join_group_request import JoinGroupRequestProtocol
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
from kafka_admin_proto.messages.offset_delete_request import (
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafka_admin_proto.messages.offset_fetch_request import (
    OffsetFetchRequestTopics,
)
from kafka_admin_proto.messages.streams_group_heartbeat_request import (
    CopartitionGroup,
    Endpoint,
    KeyValue,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
)
from kafka_admin_proto.values import Message
from tests.server.groups.drawn_members import DrawnMembers
from tests.server.groups.stored_beside import stored_differences
from tests.server.groups.stories import CONFIGS, Side, both
from tools.kafka_releases import NEWEST

_PATIENCE_S = 20.0
#: Within this time a real broker has heard of a new topic or config.
HEARD_S = 0.3
_SOURCES = {"many": 5, "some": 3, "same": 3}
#: The status of internal topics that are missing.
_MISSING = 3
_MEMBERS = ("a", "b", "c", "a", "b", "c", "s", "t")
#: Threads of two processes, and one more for each static member.
_PROCESSES = {"a": "p1", "b": "p1", "c": "p2", "s": "p3", "t": "p4"}
_INSTANCES = {"s": "i", "t": "i"}


def _changelog(name: str) -> list[TopicInfo]:
    configs = [KeyValue("cleanup.policy", "compact"), KeyValue("segment.bytes", "1048576")]
    return [TopicInfo(name, 0, 1, configs)]


def _topology(group: str) -> Topology:
    """One with state, one of three parts, one whose topic is not there, and a small one."""
    if group == "s-missing":
        return Topology(0, [Subtopology("0", ["many", "nowhere"])])
    if group == "s-brief":
        return Topology(0, [Subtopology("0", ["some"])])
    if group == "s-one":
        return Topology(0, [Subtopology("0", ["many"], [], _changelog(f"{group}-store"))])
    first, second = f"{group}-first", f"{group}-second"
    copartitioned = [CopartitionGroup([0], [], [0])]
    return Topology(
        3,
        [
            Subtopology("0", ["some"], [], [], [first]),
            Subtopology("1", ["many"], [], _changelog(f"{group}-store"), [second]),
            Subtopology(
                "2", ["same"], [], [], [], [TopicInfo(first), TopicInfo(second, 2)], copartitioned
            ),
        ],
    )


GROUPS = ("s-one", "s-three", "s-missing", "s-brief")


class StreamsStory(DrawnMembers):
    """Steps drawn by a seed, of which each side makes requests with its own epochs."""

    topics, partitions = tuple(_SOURCES), 3
    fetched = OffsetFetchRequestTopics("many", partition_indexes=[0])
    fetch_versions = (8, 9, 9)

    def tell(self, left: Side, right: Side) -> list[str]:
        """What the two sides answer otherwise."""
        found = []
        for side in (left, right):
            _prepare(side)
        for number in range(self._steps):
            make, version = self._step()
            messages = [make(side) for side in (left, right)]
            seen = [
                self._asked(side, message, version)
                for side, message in zip((left, right), messages, strict=True)
            ]
            if isinstance(messages[0], m.IncrementalAlterConfigsRequest):
                time.sleep(HEARD_S)
            if seen[0] != seen[1]:
                found.append(
                    f"{number}: v{version} {messages[0]}\n  {seen[0]}\n  {messages[1]}\n  {seen[1]}"
                )
        return found

    def _asked(self, side: Side, message: Message, version: int) -> str:
        """The answer of a side as a text; its clients learn from it."""
        answer = side.ask(message, version)
        if isinstance(message, m.StreamsGroupHeartbeatRequest):
            self._learn(side, message, answer)
            statuses = [each.status_code for each in answer.status or ()]
            if not answer.error_code and _MISSING in statuses and message.topology is not None:
                await_topics(side, message.topology)
                time.sleep(HEARD_S)
        for group in answer.groups if isinstance(message, m.StreamsGroupDescribeRequest) else ():
            _forget_topics(group)
        return side.seen("admin", answer)

    def _learn(self, side: Side, request: m.StreamsGroupHeartbeatRequest, answer: Any) -> None:
        client = self._client(side, request.member_id)
        if answer.error_code or request.member_epoch < 0:
            client.epoch, client.tasks = 0, ([], [], [])
            return
        client.epoch, client.endpoint_epoch = (
            answer.member_epoch,
            answer.endpoint_information_epoch,
        )
        if answer.active_tasks is not None:
            client.tasks = tuple(
                [TaskIds(each.subtopology_id, each.partitions) for each in role]
                for role in (answer.active_tasks, answer.standby_tasks, answer.warmup_tasks)
            )

    def _step(self) -> tuple[Any, int]:
        group = self._random.choice(("s-one", "s-three", "s-three", *GROUPS))
        member = self._random.choice(_MEMBERS if group != "s-brief" else "as")
        kinds = ("beat",) * 18 + (
            "commit", "commit", "fetch", "forget", "describe", "describe", "list", "delete",
            "strange", "config", "other",
        )  # fmt: skip
        found: tuple[Any, int] = getattr(self, f"_{self._random.choice(kinds)}")(group, member)
        return found

    def _beat(self, group: str, member: str) -> tuple[Any, int]:
        random = self._random
        version = random.choice((0, 1, 1))
        name = f"~{group}-{member}"
        leaving = ("leave",) * 4 if group == "s-brief" else ()
        kind = random.choice((*("usual",) * 8, "silent", "leave", "away", "again", *leaving))
        own = _INSTANCES.get(member)
        instance = self._odd(own, "j", None)
        epoch_error = self._odd(0, 1, -1)
        topology = self._odd(_topology(group), Topology(1, _topology(group).subtopologies))
        process = self._odd(_PROCESSES[member], "p9")
        host = {"a": "h1", "c": "h2"}.get(member) if group != "s-missing" else None
        host = self._odd(host, "h3", None)
        endpoint = None if host is None else Endpoint(host, 9000)
        tags = self._odd(None, [KeyValue("zone", random.choice("xy"))])
        offsets = self._odd(
            None,
            [TaskOffset("0", random.randrange(3), random.randrange(9))],
            [TaskOffset("0", 1, 1), TaskOffset("0", 1, 2)],
        )
        rack = self._odd(None, "r1", "")
        tells = random.random() < 0.1
        ends = random.random() < 0.01
        invented = self._odd(None, [TaskIds("0", [7])], [TaskIds("7", [0])])

        def make(side: Side) -> Message:
            client = self._client(side, name)
            epoch = client.epoch + epoch_error
            request = m.StreamsGroupHeartbeatRequest(
                group, name, epoch, client.endpoint_epoch, instance, rack_id=rack,
                task_offsets=offsets, shutdown_application=ends,
            )  # fmt: skip
            if kind in ("leave", "away"):
                request.member_epoch = -2 if kind == "away" else -1
            elif client.epoch == 0 or kind == "again":
                request.member_epoch = 0
                request.rebalance_timeout_ms = 300_000
                request.topology = topology
                request.active_tasks = request.standby_tasks = request.warmup_tasks = []
                request.process_id, request.user_endpoint = process, endpoint
                request.client_tags = tags or []
            elif kind == "usual":
                active, standby, warmup = client.tasks
                request.active_tasks = invented or active
                request.standby_tasks, request.warmup_tasks = standby, warmup
                if tells:
                    request.user_endpoint, request.client_tags = endpoint, tags
            return request

        return make, version

    def _strange(self, group: str, member: str) -> tuple[Any, int]:
        random = self._random
        request = m.StreamsGroupHeartbeatRequest(
            random.choice(("", group, "nothing")),
            random.choice(("", "x")),
            random.choice((0, 0, 0, 5, -1, -2, -3)),
            rebalance_timeout_ms=random.choice((-1, 1000, 1000, 1000)),
            instance_id=random.choice((None, None, "")),
        )
        strange = [
            None,
            Topology(0, [Subtopology("0", ["__consumer_offsets"])]),
            Topology(0, [Subtopology("0", ["many"], ["x.*"])]),
            Topology(0, [Subtopology("0", ["many"], [], [TopicInfo("c", 3)])]),
            Topology(0, [Subtopology("0", ["many"]), Subtopology("0", ["some"])]),
            Topology(0, [Subtopology("0", ["a b"])]),
            Topology(0, [Subtopology("0", [])]),
            Topology(0, []),
            Topology(-1, [Subtopology("0", ["many"])]),
            Topology(0, [Subtopology("0", ["many"], [], [], ["r"], [TopicInfo("q")])]),
            Topology(0, [Subtopology("0", [], [], [], ["r"], [TopicInfo("r")])]),
            Topology(0, [Subtopology("0", ["many"], copartition_groups=[CopartitionGroup([4])])]),
        ]
        request.topology = random.choice(strange)
        if random.random() < 0.9:
            request.active_tasks = request.standby_tasks = request.warmup_tasks = []
        if random.random() < 0.1:
            request.standby_tasks = None
        if request.group_id == group and request.member_epoch == 0:
            request.group_id = "s-strange"
        return lambda _: request, random.choice((0, 1))

    def _forget(self, group: str, member: str) -> tuple[Any, int]:
        topic = self._random.choice(tuple(_SOURCES))
        row = OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(0)])
        return lambda _: m.OffsetDeleteRequest(group, [row]), 0

    def _describe(self, group: str, member: str) -> tuple[Any, int]:
        names = self._random.choice(([group], [group], ["nothing", group], [""]))
        flags = self._random.random() < 0.3, self._random.random() < 0.3
        version = self._random.choice((0, 1, 1))
        request = m.StreamsGroupDescribeRequest(names, flags[0], flags[1] and version > 0)
        return lambda _: request, version

    def _list(self, group: str, member: str) -> tuple[Any, int]:
        states = self._random.choice(([], ["stable", "Empty"], ["Not_Ready"], ["notready"]))
        types = self._random.choice(([], ["Streams"], ["streams", "classic"], ["consumer"]))
        request = m.ListGroupsRequest(states, types)
        return lambda _: request, 5

    def _config(self, group: str, member: str) -> tuple[Any, int]:
        count = self._random.choice("0012")
        tags = self._random.choice(("", "", "zone"))
        request = group_configs(group, count, tags)
        return lambda _: request, 1

    def _other(self, group: str, member: str) -> tuple[Any, int]:
        """Requests of other protocols, none of which waits."""
        request, version = self._random.choice(
            (
                (m.DescribeGroupsRequest([group]), 6),
                (m.ConsumerGroupDescribeRequest([group]), 1),
                (m.HeartbeatRequest(group, 1, f"~{group}-a"), 4),
                (m.ConsumerGroupHeartbeatRequest(group, "x", 1), 1),
                (m.ConsumerGroupHeartbeatRequest(
                    group, "x", 0, None, None, 1000, ["many"], None, None, []), 1),
                (m.ConsumerGroupHeartbeatRequest(group, "x", -1), 1),
                (m.ShareGroupHeartbeatRequest(group, "x", 1), 1),
                (m.JoinGroupRequest(group, 60_000, 60_000, "unknown", None, "consumer",
                                    [JoinGroupRequestProtocol("range", b"")]), 5),
                (m.StreamsGroupTopologyDescriptionUpdateRequest(group, "x", 0), 0),
            )
        )  # fmt: skip
        return lambda _: request, version


def _forget_topics(group: Any) -> None:
    """Real descriptions have what was known of a group's topics with the last record of it."""
    if group.group_state == "NotReady":
        for each in group.topology.subtopologies:
            for topic in (*each.state_changelog_topics, *each.repartition_source_topics):
                topic.partitions = 0


def group_configs(
    group: str, standbys: str = "0", tags: str = ""
) -> m.IncrementalAlterConfigsRequest:
    """The request that lets a group assign at once, with these standbys and tags."""
    values = {
        "streams.assignment.interval.ms": "0",
        "streams.initial.rebalance.delay.ms": "0",
        "streams.num.standby.replicas": standbys,
        "streams.rack.aware.assignment.tags": tags,
    }
    rows = [AlterableConfig(name, 0, value) for name, value in values.items()]
    return m.IncrementalAlterConfigsRequest([AlterConfigsResource(32, group, rows)])


def _prepare(side: Side) -> None:
    """Create what the applications read, and let their groups assign at once."""
    side.prepare()
    topics = [CreatableTopic(*each, 1) for each in _SOURCES.items()]
    side.ask(m.CreateTopicsRequest(topics, 20_000), 7)
    await_names(side, _SOURCES)
    for group in (*GROUPS, "s-strange"):
        side.ask(group_configs(group), 1)
    time.sleep(HEARD_S)


def await_topics(side: Side, topology: Topology) -> None:
    """Wait until the topics are there that the coordinator creates."""
    internal = [
        one.name
        for each in topology.subtopologies
        for one in (*each.state_changelog_topics, *each.repartition_source_topics)
    ]
    await_names(side, internal)


def await_names(side: Side, names: Any) -> None:
    asked = m.MetadataRequest(
        [MetadataRequestTopic(name=each) for each in names], allow_auto_topic_creation=False
    )
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        rows = side.ask(asked, 12).topics
        if not any(each.error_code for each in rows):
            break
        assert time.monotonic() < deadline, rows
        time.sleep(0.05)
    side.topic_ids |= {each.name: each.topic_id for each in rows}


def streams_differences(seed: int, steps: int, left: str, right: str) -> list[str]:
    """What two clusters (host:port) answer and store otherwise; the first one is named first."""
    sides = Side(left, GROUPS), Side(right, GROUPS)
    try:
        found = StreamsStory(seed, steps).tell(*sides)
        return found + stored_differences(*sides, GROUPS)
    finally:
        for each in sides:
            each.close()


if __name__ == "__main__":
    seed, steps = int(sys.argv[1]), int(sys.argv[2])
    with both(NEWEST, CONFIGS) as (real, ours):
        found = streams_differences(seed, steps, real, ours)
    print("\n".join(found) or "no difference")
    sys.exit(bool(found))
