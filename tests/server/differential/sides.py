"""Two clusters side by side: the same step for both, then the same metadata and configs."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    DescribeQuorumRequest,
    FetchRequest,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
    ShareAcknowledgeRequest,
)
from kafka_admin_proto.messages.create_topics_response import CreateTopicsResponse
from kafka_admin_proto.messages.describe_configs_request import DescribeConfigsResource
from kafka_admin_proto.messages.describe_quorum_request import PartitionData, TopicData
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.protocol.addresses import Address
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message
from tests.server.differential.access import ACCESS_QUESTIONS, reset_access
from tests.server.differential.comparison import Comparison, unlisted
from tests.server.differential.members import ENDS, Members, is_loading
from tests.server.differential.requests.drawing import Ids, Step
from tests.server.differential.requests.pools import RESOURCES
from tests.server.differential.requests.security import ADMIN, ALICE, BOB
from tests.server.differential.wire import Nodes

#: How long a real cluster may take until each of its brokers knows of a change. On a busy machine
#: the first look at a cluster that has just started alone takes ten seconds.
_SETTLE_S = 60.0
_PAUSE_S = 0.02
_CONFIGS_VERSION = 4
_METADATA_VERSION = 12
#: The first version of Fetch with sessions.
_FETCH_SESSIONS = 7
#: Apis that change nothing, so that they may be asked again until the answers are equal.
_QUESTIONS = frozenset({1, 2, 16, 23, 29, 32, 35, 46, 48, 50, 55, 60, 61, 74, 75, 77, 90})
#: Sources of configs that a step has set: a broker, all brokers, a subscription, a group.
_SET = {4: (2,), 16: (7,), 32: (8,)}
_SET_FOR_ALL = (3,)
_THREADS_REFUSED = re.compile(
    r"failed for ([a-z.]+)=\d+, value should .*(at least half|greater than double) the current "
    r"value (\d+)"
)


class Sides:
    """A real cluster and ours, whose ``state`` follows the real one's active controller.

    Without a state both are real, with one node each.
    ``existing`` are the topics that both have, ``steps`` how many were taken. ``users`` are the
    connections of those who log in, by name.
    """

    settle_s = _SETTLE_S

    def __init__(
        self,
        real: str,
        ours: str,
        state: State | None,
        users: Mapping[str, tuple[Nodes, Nodes]] | None = None,
        questions: Sequence[tuple[Message, int]] = (),
    ) -> None:
        self.clusters = (Nodes(real), Nodes(ours))
        self._users = users or {}
        #: What is asked of each node after each step, with the versions.
        self.questions = [*questions, *(ACCESS_QUESTIONS if users else ())]
        self.users: Sequence[str] = [ALICE, ALICE, BOB, BOB, ADMIN] if users else ()
        self._state = state
        self.nodes = len(self.clusters[0].addresses)
        self.versions: Mapping[int, tuple[int, int]] = self._versions()
        self.existing: Sequence[str] = []
        self.steps = 0
        #: Whether the step may have changed the clusters.
        self._changed = True
        self._placed: set[str] = set()
        self._current: list[Mapping[str, UUID]] = [{}, {}]
        self._former: list[dict[str, UUID]] = [{}, {}]
        #: The names of all topics that there were, with how many had each before, by id.
        self._ever: tuple[dict[UUID, str], dict[UUID, str]] = ({}, {})
        #: The next epochs of fetch sessions by id, for each cluster and node.
        self._sessions: dict[tuple[int, int], dict[int, int]] = {}
        #: What members of share groups have of each cluster.
        self.members = (Members(), Members())
        #: By node and request, the configs of both clusters that were found equal last.
        self._equal: dict[tuple[int, int], tuple[Any, Any]] = {}

    def _versions(self) -> dict[int, tuple[int, int]]:
        real, ours = (
            {row.api_key: (row.min_version, row.max_version)
             for row in cluster.ask(0, ApiVersionsRequest(), 0).api_keys}
            for cluster in self.clusters
        )  # fmt: skip
        differing = {
            key: (real.get(key), each) for key, each in ours.items() if real.get(key) != each
        }
        assert not differing, f"versions (real, ours) by api key: {differing}"
        return ours

    @property
    def asked(self) -> list[int]:
        """The indexes of the nodes that run."""
        return list(range(self.nodes))

    def take(self, step: Step) -> list[str]:
        """What differs in the answers to a step, or in what each node says of the clusters after
        one that may have changed them, and is not listed.
        """
        self.steps += 1
        self._follow_controller()
        self._changed = True
        lines = self._ask(step)
        time.sleep(step.rest_s)
        self._placed.update(step.placed)
        if self._changed:
            lines += [f"afterwards: {line}" for line in self._settled()]
        return lines

    def reset(self) -> None:
        """Delete all topics and set configs of both, so that what follows starts alike.

        Sessions of share groups' members end, too.
        """
        for cluster, members in zip(self.clusters, self.members, strict=True):
            for node, group, member in members.owners:
                cluster.ask(node, ShareAcknowledgeRequest(group, member, ENDS), 1)
            members.forget()
        for cluster in self.clusters:
            names = [each.name for each in cluster.ask(0, _all_topics(), 12).topics]
            cluster.ask(0, DeleteTopicsRequest(topic_names=names, timeout_ms=60_000), 5)
            for node in range(self.nodes):
                _reset_configs(cluster, node)
            if self._users:
                reset_access(cluster)
        lines = self._settled()
        assert not lines, f"the clusters differ before the first step: {lines}"

    def address(self, side: int, user: str = "") -> str:
        """The bootstrap addresses of a cluster; where a user logs in, or nobody does."""
        nodes = self._users[user][side] if user else self.clusters[side]
        return ",".join(str(Address(*each)) for each in nodes.addresses)

    def close(self) -> None:
        """End the connections."""
        for cluster in (*self.clusters, *itertools.chain(*self._users.values())):
            cluster.close()

    def _follow_controller(self) -> None:
        """Let ours have the same active controller: its configs count for topics."""
        if self._state is None:
            return
        request = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])
        end = time.monotonic() + self.settle_s
        while time.monotonic() < end:
            answer = self.clusters[0].ask(self.asked[0], request, 0)
            leader: int = (
                answer.topics[0].partitions[0].leader_id if answer and answer.topics else -1
            )
            if leader > 0:
                self._state.quorum.controller = leader
                return
            time.sleep(_PAUSE_S)
        raise AssertionError("the real cluster has no controller")

    def _ask(self, step: Step) -> list[str]:
        end = time.monotonic() + self.settle_s
        while True:
            answers = [self._answer(side, step) for side in (0, 1)]
            names = [{**self._ever[side], **_names(self._current[side]),
                      **_created(answers[side])} for side in (0, 1)]  # fmt: skip
            placed = self._placed | {*step.placed}
            comparison = Comparison((names[0], names[1]), placed, self.versions)
            lines = unlisted(comparison.differences(*answers))
            is_question = _is_question(answers)
            self._changed = bool(step.placed) or not is_question
            is_asked_once = step.session is not None or not is_question
            if not lines or is_asked_once or time.monotonic() > end:
                return lines
            time.sleep(_PAUSE_S)

    def _answer(self, side: int, step: Step) -> Any:
        cluster = self._users[step.user][side] if step.user else self.clusters[side]
        if step.make is None:
            return cluster.ask_raw(step.node, step.api_key, step.version)
        members = self.members[side]
        end = time.monotonic() + self.settle_s
        while True:
            request = step.make(Ids(self._current[side], self._former[side], members))
            step.asked = request
            if isinstance(request, FetchRequest):
                return self._fetched(side, step, msgspec.structs.replace(request))
            answer = cluster.ask(step.node, request, step.version, step.patience_s)
            members.learn(step.node, request, answer, _names(self._current[side]))
            if not is_loading(answer) or time.monotonic() > end:
                return answer
            time.sleep(_PAUSE_S)

    def _fetched(self, side: int, step: Step, request: FetchRequest) -> Any:
        sessions = self._sessions.setdefault((side, step.node), {})
        if step.session is not None and sessions and step.version >= _FETCH_SESSIONS:
            session = list(sessions)[-1 - step.session % len(sessions)]
            request.session_id = session
            request.session_epoch += sessions[session]
        answer = self.clusters[side].ask(step.node, request, step.version, step.patience_s)
        if answer is not None and answer.session_id and not answer.error_code:
            sessions.pop(answer.session_id, None)
            sessions[answer.session_id] = request.session_epoch + 1
        return answer

    def _settled(self) -> list[str]:
        """The differences of metadata and configs on all nodes, after the real cluster is done."""
        end = time.monotonic() + self.settle_s
        while True:
            lines = self._looked()
            if not lines or time.monotonic() > end:
                return lines
            time.sleep(_PAUSE_S)

    def _looked(self) -> list[str]:
        sides = [cluster.ask_all(dict.fromkeys(self.asked, _all_topics()), _METADATA_VERSION)
                 for cluster in self.clusters]  # fmt: skip
        topics = [[{each.name: each.topic_id for each in answer.topics} for answer in answers]
                  for answers in sides]  # fmt: skip
        lines = []
        for row, node in enumerate(self.asked):
            names = _names(topics[0][row]), _names(topics[1][row])
            comparison = Comparison(names, self._placed)
            found = comparison.differences(sides[0][row], sides[1][row])
            lines += [f"node {node + 1}: {line}" for line in found]
        if lines:
            return lines
        for side in (0, 1):
            for name, topic_id in self._current[side].items():
                if topics[side][0].get(name) != topic_id:
                    self._former[side][name] = topic_id
            for name, topic_id in sorted(topics[side][0].items()):
                if topic_id not in self._ever[side]:
                    self._ever[side][topic_id] = f"{name}, topic {len(self._ever[side])}"
            self._current[side] = topics[side][0]
        self.existing = sorted(topics[0][0])
        self._placed &= {*self.existing}
        return self._configs() + self._asked_besides()

    def _asked_besides(self) -> list[str]:
        """Where ACLs, quotas and users' credentials differ on any node, or the ends of logs."""
        lines = []
        for request, version in self.questions:
            if request.api_key not in self.versions:
                continue
            asked = dict.fromkeys(self.asked, request)
            sides = [cluster.ask_all(asked, version) for cluster in self.clusters]
            for node, real, ours in zip(self.asked, *sides, strict=True):
                found = Comparison(self._ever).differences(real, ours)
                lines += [f"node {node + 1}: {line}" for line in found]
        return lines

    def _configs(self) -> list[str]:
        """Where configs of topics, brokers, subscriptions and groups differ on any node."""
        shared = [(4, ""), *((16, each) for each in RESOURCES), *((2, x) for x in self.existing)]
        asked = [
            {node: _described([(4, str(node + 1))], synonyms=True) for node in self.asked},
            dict.fromkeys(self.asked, _described(shared, synonyms=True)),
            # 3.9 has no configs of groups and refuses a request that names one.
            dict.fromkeys(self.asked, _described([(32, each) for each in RESOURCES])),
        ]
        lines = []
        for number, requests in enumerate(asked):
            sides = [cluster.ask_all(requests, _CONFIGS_VERSION) for cluster in self.clusters]
            for node, real, ours in zip(requests, *sides, strict=True):
                known = self._equal.get((number, node), (None, None))
                if real is known[0] and ours is known[1]:
                    continue
                found = Comparison(({}, {})).differences(real, ours)
                if not found:
                    self._equal[number, node] = real, ours
                lines += [f"node {node + 1}: {line}" for line in found]
        return lines


def _is_question(answers: list[Any]) -> bool:
    return all(each is not None and each.api_key in _QUESTIONS for each in answers)


def _all_topics() -> MetadataRequest:
    return MetadataRequest(topics=None)


def _described(
    resources: list[tuple[int, str]], *, synonyms: bool = False
) -> DescribeConfigsRequest:
    rows = [DescribeConfigsResource(kind, name, None) for kind, name in resources]
    return DescribeConfigsRequest(rows, synonyms)


def _names(ids: Mapping[str, UUID]) -> dict[UUID, str]:
    return {topic_id: name for name, topic_id in ids.items()}


def _created(answer: Any) -> dict[UUID, str]:
    """New topics' names by their ids, those that were only validated too."""
    if not isinstance(answer, CreateTopicsResponse):
        return {}
    return {each.topic_id: each.name for each in answer.topics if each.topic_id.int}


def _reset_configs(cluster: Nodes, node: int) -> None:
    """Take back what steps set for brokers, groups and subscriptions; a pool of threads goes back
    by half or double at a time.
    """
    for kind, name in ((4, ""), (4, str(node + 1)), *((k, n) for k in (16, 32) for n in RESOURCES)):
        (found,) = cluster.ask(node, _described([(kind, name)]), _CONFIGS_VERSION).results
        own = _SET_FOR_ALL if kind == 4 and not name else _SET[kind]
        changes = [
            AlterableConfig(each.name, 1, None)
            for each in found.configs
            if each.config_source in own
        ]
        for change in changes:
            if change.name == "min.insync.replicas" and not name:  # 4.3 does not take it back
                change.config_operation, change.value = 0, "1"
        end = time.monotonic() + _SETTLE_S
        while changes and time.monotonic() < end:
            row = AlterConfigsResource(kind, name, changes)
            (answer,) = cluster.ask(node, IncrementalAlterConfigsRequest([row]), 1).responses
            threads = _THREADS_REFUSED.search(answer.error_message or "")
            if threads is None:
                break
            config, way, count = threads[1], threads[2], int(threads[3])
            between = str(count // 2 if way == "at least half" else count * 2)
            row = AlterConfigsResource(kind, name, [AlterableConfig(config, 0, between)])
            cluster.ask(node, IncrementalAlterConfigsRequest([row]), 1)
            time.sleep(_PAUSE_S)
