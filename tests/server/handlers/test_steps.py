"""Large requests are answered in steps; the answers are those of one piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.messages import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.create_partitions_request import CreatePartitionsTopic
from kafka_admin_proto.messages.delete_topics_request import DeleteTopicState
from kafka_admin_proto.protocol import supported
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.replay import MetadataReplay
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.answers import Answers
from kafka_admin_proto.server.brokers.views import Views
from kafka_admin_proto.server.failures import ControllerUnavailable
from kafka_admin_proto.server.handlers import Answer, respond
from kafka_admin_proto.server.handlers.steps import encode_in_steps, finish
from kafka_admin_proto.server.network.turns import Steps
from kafka_admin_proto.testing import messages
from kafka_admin_proto.values import Message
from tests.helpers.profile import draws
from tests.server.handlers.test_answers import asked, seen
from tests.server.handlers.test_create_topics import topic
from tests.server.network.test_connection import answers, connect, ids
from tests.server.network.test_connection import asked as request_frame
from tests.server.served import Served

_MANY = 300
_RESPONSES = ("CreateTopicsResponse", "DeleteTopicsResponse", "CreatePartitionsResponse")
_ROWS = {"CreateTopicsResponse": "topics", "DeleteTopicsResponse": "responses"}


@settings(max_examples=draws(200))
@given(st.data())
def test_the_bytes_are_those_of_the_whole(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(_RESPONSES))
    version = data.draw(st.sampled_from(list(supported(name))))
    response: Any = data.draw(messages(name, version, unknown_tags=False))
    rows = _ROWS.get(name, "results")
    setattr(response, rows, getattr(response, rows) * data.draw(st.integers(1, 40)))
    assert finish(encode_in_steps(response, version)) == response.encode(version)


def large_requests() -> list[tuple[Message, int]]:
    configs: dict[str, Any] = {"retention.ms": "1000"}
    new = [topic(f"large-{number}", partitions=3, **configs) for number in range(_MANY)]
    more = [CreatePartitionsTopic(each.name, 5, None) for each in new]
    gone = [DeleteTopicState(name=each.name) for each in new]
    return [
        (CreateTopicsRequest(new, 1000), 7),
        (CreatePartitionsRequest(more, 1000), 3),
        (DeleteTopicsRequest(gone, timeout_ms=1000), 6),
    ]


def ended(steps: Steps[Answer], between: Callable[[int], None]) -> tuple[Answer, int]:
    """The answer and the number of the steps, each of which is counted when it is done."""
    count = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value, count
        count += 1
        between(count)


class Kept:
    """The records of a cluster."""

    def __init__(self, records: list[Message]) -> None:
        self.records = records

    def append(self, records: Sequence[Message], offset: int) -> None:
        self.records += records

    def applied(self, cluster: ClusterState) -> None:
        pass


def replayed(records: Sequence[Message]) -> ClusterState:
    """The state that the records make one after another."""
    replay = MetadataReplay()
    for offset, each in enumerate(records):
        assert not replay.apply(each, offset, 1)
    return replay.state


def test_steps_are_many_and_change_nothing_before_the_last() -> None:
    log = list[Message]()
    served = Served(log=Kept(log))
    made = Answers(Views(served.state))
    offsets = list[int]()

    def note(step: int) -> None:
        offsets.append(served.state.end_offset)

    for request, version in large_requests():
        question = seen(request, version)
        caller, before = asked(1, question), served.state.end_offset
        whole = respond(served.state, question.api_key, question.body, caller)
        offsets.clear()
        answer, count = ended(made.in_steps(caller, question), note)
        assert count > _MANY // 16
        assert {*offsets} == {before}
        assert served.state.end_offset == before + len(whole.records)
        assert served.state.cluster == replayed(log)
        assert answer.body == answer.response.encode(version)
        assert rows_of(answer.response) == rows_of(whole.response)


def rows_of(response: Any) -> list[tuple[str, int, str | None]]:
    rows = getattr(response, _ROWS.get(response.message_name, "results"))
    return [(each.name, each.error_code, each.error_message) for each in rows]


@pytest.mark.parametrize("most", [1, _MANY])
def test_an_answer_is_one_to_the_cluster_of_its_end(most: int) -> None:
    """What another client creates meanwhile exists already, however often it does so."""
    served = Served()
    made = Answers(Views(served.state))
    question = seen(*large_requests()[0])
    created = list[str]()

    def create(step: int) -> None:
        if step % 50 == 0 and len(created) < most:
            created.append(f"large-{len(created)}")
            served.ask(CreateTopicsRequest([topic(created[-1])], timeout_ms=1000))

    answer, count = ended(made.in_steps(asked(1, question), question), create)
    exists = {name for name, code, _ in rows_of(answer.response) if code == 36}
    assert exists == {*created}
    assert len(served.state.cluster.topics) == _MANY
    assert count < 10 * _MANY


def test_what_policies_hear_of_is_answered_in_one_piece() -> None:
    heard = list[str]()

    class Policy:
        def configure(self, configs: Any) -> None:
            pass

        def validate(self, metadata: Any) -> None:
            heard.append(metadata.topic)

        def close(self) -> None:
            pass

    served = Served()
    served.state.create_topic_policy = Policy()
    question = seen(*large_requests()[0])
    steps = Answers(Views(served.state)).in_steps(asked(1, question), question)
    answer, count = ended(steps, lambda _: None)
    assert count == 0
    assert heard == [name for name, _, _ in rows_of(answer.response)]


def test_nothing_is_written_when_the_controller_has_gone() -> None:
    served = Served()
    question = seen(*large_requests()[0])
    before = served.state.end_offset

    def end(step: int) -> None:
        served.state.quorum.available = False

    steps = Answers(Views(served.state)).in_steps(asked(1, question), question)
    with pytest.raises(ControllerUnavailable):
        ended(steps, end)
    assert served.state.end_offset == before


def test_others_are_answered_between_the_steps() -> None:
    """A small request of another client overtakes a large one; one's own stay in order."""
    order = list[int]()

    def note(node: int, event: Any, response: Message) -> None:
        order.append(event.request.header.correlation_id)

    with SyncCluster(trace=note) as cluster, connect(cluster) as client, connect(cluster) as other:
        small = MetadataRequest(topics=[])
        other.sendall(request_frame(small, 12, 9))
        answers(other, 1)
        order.clear()
        new = [topic(f"t-{number}", partitions=2) for number in range(4000)]
        large = CreateTopicsRequest(new, 1000, validate_only=True)
        client.sendall(request_frame(large, 7, 1) + request_frame(small, 12, 2))
        for _ in range(20):
            other.sendall(request_frame(small, 12, 9))
            answers(other, 1)
        assert ids(answers(client, 2)) == [1, 2]
    assert order.index(9) < order.index(1) < order.index(2)
