"""kill -9 at random moments under load: what was acknowledged is there afterwards.

Snapshots are written and segments rolled all the while. ``KAFKA_ADMIN_PROTO_KILLS=50`` ends each
cluster 50 times.
"""

from __future__ import annotations

import copy
import random
import threading
from pathlib import Path

import pytest

from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.delete_topics_request import DeleteTopicState
from kafka_admin_proto.messages.describe_configs_request import DescribeConfigsResource
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.records.metadata.log import FOLDER_NAME, replay
from kafka_admin_proto.records.metadata.names import TOPIC_RESOURCE
from kafka_admin_proto.server.log.opening import node_folders
from kafka_admin_proto.values import Message
from tests.helpers.profile import EXHAUSTIVE, SEED
from tests.records.dumped import check_with_kafka
from tests.server.differential.wire import Nodes
from tests.server.kills.servers import KILLS, LONGEST_S, killed_server

_CLIENTS = 3
_CONFIG = "retention.ms"

#: Topic → its config, None where it was not set.
Topics = dict[str, str | None]


class Client(threading.Thread):
    """Creates, alters and deletes topics of its own until the server ends."""

    def __init__(self, bootstrap: str, name: str, topics: Topics, turn: int = 0) -> None:
        super().__init__()
        self.prefix = f"{name}-"
        self._servers = bootstrap
        self._turn = turn
        self._draw = random.Random(f"{SEED} {name} {turn}")
        self.acknowledged = topics
        self.pending = topics
        self.changes = 0
        self.first_change = threading.Event()

    def run(self) -> None:
        with Nodes(self._servers) as nodes:
            while True:
                request, version, self.pending = self._drawn()
                answer = nodes.ask(self.changes % len(nodes.addresses), request, version)
                if answer is None:
                    return
                (result,) = answer.topics if version == 7 else answer.responses
                assert result.error_code == 0
                self.acknowledged = self.pending
                self.changes += 1
                self.first_change.set()

    def _drawn(self) -> tuple[Message, int, Topics]:
        after = copy.copy(self.acknowledged)
        kind = self._draw.choice(("create", "create", "alter", "alter", "delete"))
        if kind == "create" or not after:
            name = f"{self.prefix}{self._turn}-{self.changes}"
            after[name] = None
            return CreateTopicsRequest([CreatableTopic(name, 3, 1)], timeout_ms=1000), 7, after
        name = self._draw.choice(list(after))
        if kind == "delete":
            del after[name]
            topics = [DeleteTopicState(name)]
            return DeleteTopicsRequest(topics=topics, timeout_ms=1000), 6, after
        after[name] = value = str(self._draw.randrange(1000))
        change = [AlterableConfig(_CONFIG, 0, value)]
        resources = [AlterConfigsResource(TOPIC_RESOURCE, name, change)]
        return IncrementalAlterConfigsRequest(resources), 1, after


def served(bootstrap: str) -> Topics:
    """The topics of the cluster, and their configs."""
    with Nodes(bootstrap) as nodes:
        names = [each.name for each in nodes.ask(0, MetadataRequest(topics=None), 12).topics]
        resources = [DescribeConfigsResource(TOPIC_RESOURCE, name, [_CONFIG]) for name in names]
        answer = nodes.ask(0, DescribeConfigsRequest(resources), 4)
    return {
        each.resource_name: None if each.configs[0].config_source == 5 else each.configs[0].value
        for each in answer.results
    }


def check(bootstrap: str, clients: list[Client]) -> list[Topics]:
    """What is there of each client: what was acknowledged, or what its last change came to."""
    found = served(bootstrap)
    topics = []
    for client in clients:
        mine = {name: value for name, value in found.items() if name.startswith(client.prefix)}
        assert mine in (client.acknowledged, client.pending)
        topics.append(mine)
    assert sum(map(len, topics)) == len(found)
    return topics


@pytest.mark.parametrize("brokers", [1, 3])
def test_what_was_acknowledged_is_there(brokers: int, tmp_path: Path) -> None:
    draw = random.Random(SEED)
    clients = [Client("", f"c{number}", {}) for number in range(_CLIENTS)]
    changes = 0
    for turn in range(KILLS + 1):
        with killed_server(brokers, tmp_path) as bootstrap:
            topics = check(bootstrap, clients)
            changes += sum(each.changes for each in clients)
            clients = [
                Client(bootstrap, f"c{number}", each, turn) for number, each in enumerate(topics)
            ]
            if turn < KILLS:
                for each in clients:
                    each.start()
                # A slow machine gets as many changes to lose as a fast one.
                assert clients[0].first_change.wait(60)
                threading.Event().wait(draw.uniform(0, LONGEST_S))
        for each in clients:
            if each.ident is not None:
                each.join()
    assert changes >= KILLS
    for folder in node_folders(tmp_path, brokers):
        replayed = replay(folder)
        assert not replayed.problems
        assert {each.name for each in replayed.state.topics.values()} == set().union(*topics)
    if EXHAUSTIVE:
        check_with_kafka(folder / FOLDER_NAME)
