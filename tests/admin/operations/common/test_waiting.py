"""Waiting for brokers: those that end meanwhile, that are silent, or that refuse to say."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_admin_proto.admin.caller import Reply, Target
from kafka_admin_proto.admin.errors import BrokerError, ConnectionFailedError
from kafka_admin_proto.admin.operations.common.waiting import (
    Missing,
    in_metadata,
    wait_for_all_brokers,
)
from kafka_admin_proto.admin.operations.configs.overrides import in_configs
from kafka_admin_proto.admin.operations.topics.creation import NewTopic
from kafka_admin_proto.messages import MetadataRequest
from kafka_admin_proto.messages.metadata_response import MetadataResponse, MetadataResponseTopic
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call
from tests.admin.operations.topics.fake_cluster import Topic, Topics, code

_RATIO = "min.cleanable.dirty.ratio"


def known(name: str, topic: MetadataResponseTopic | None) -> Iterator[Missing]:
    if topic is None:
        yield Missing(name, f"{name} is unknown")


def wait(cluster: Topics, timeout: float = 0.2) -> dict[str, list[str]]:
    """Sentences for what is missing, by topic."""
    find = in_metadata(cluster, known)
    left = asyncio.run(wait_for_all_brokers(cluster, ["a"], find, timeout))
    return {item: [str(each) for each in lacks] for item, lacks in left.items()}


def failing(cluster: Topics, broker: int) -> None:
    """Let a broker fail each question from now on."""
    metadata = cluster.handlers[MetadataRequest]
    gone = ConnectionFailedError("refused")
    cluster.handlers[MetadataRequest] = lambda request, call: (
        gone if call.broker == broker else metadata(request, call)
    )


def test_a_broker_that_has_ended_is_not_waited_for() -> None:
    cluster = Topics([Topic("a", [[1]])])
    failing(cluster, 3)
    metadata = cluster.handlers[MetadataRequest]

    def ends(request: Message, call: Call) -> Message | Exception:
        cluster.known.pop(3, None)
        return metadata(request, call)

    cluster.handlers[MetadataRequest] = ends
    begin = time.monotonic()
    assert wait(cluster, timeout=30) == {}
    assert time.monotonic() - begin < 5


def test_a_silent_broker_that_the_cluster_drops_is_not_waited_for() -> None:
    """Its request is still under way when the other brokers no longer name it."""

    class SilentBroker(Topics):
        async def call(
            self,
            request: Message,
            response: type[Any],
            *,
            to: int | Target = Target.ANY,
            **how: Any,
        ) -> Reply[Any]:
            if to == 3:
                self.gone.add(3)
                await asyncio.sleep(60)
            return await super().call(request, response, to=to, **how)

    begin = time.monotonic()
    (made,) = asyncio.run(SilentBroker().create_topics([NewTopic("a", 1, 1)], timeout=30))
    assert made.complete is True
    assert time.monotonic() - begin < 3


def test_a_live_broker_that_does_not_answer_is_named() -> None:
    cluster = Topics([Topic("a", [[1]])])
    failing(cluster, 3)
    assert wait(cluster) == {"a": ["broker 3: it does not answer: refused"]}


def test_no_topics_and_no_time() -> None:
    cluster = Topics([Topic("a", [[1]])])
    assert asyncio.run(wait_for_all_brokers(cluster, [], in_metadata(cluster, known), 1)) == {}
    assert cluster.calls == []
    left = wait(cluster, timeout=0)
    assert left == {"a": [f"broker {each}: it was not asked in time" for each in (1, 2, 3)]}


def test_what_the_client_was_waiting_for_is_said() -> None:
    cluster = Topics([Topic("a", [[1]])])
    cluster.silent = "the answer of broker 1"
    [sentence] = wait(cluster, timeout=0.1)["a"]
    assert "waiting for the answer of broker 1" in sentence


def test_a_topic_that_the_client_may_not_describe_ends_the_waiting() -> None:
    cluster = Topics()
    refused = MetadataResponseTopic(name="a", error_code=code("TOPIC_AUTHORIZATION_FAILED"))
    cluster.handlers[MetadataRequest] = lambda *_: MetadataResponse(topics=[refused])
    begin = time.monotonic()
    with pytest.raises(BrokerError, match="topic 'a': TOPIC_AUTHORIZATION_FAILED"):
        wait(cluster, timeout=30)
    assert time.monotonic() - begin < 5


def test_configs_are_waited_for_on_every_broker() -> None:
    """No value is shown: it may be a secret."""
    cluster = Topics([Topic("a", [[1]], {"flush.ms": "1", "segment.ms": "2", _RATIO: "0.5"})])
    wanted: dict[str, dict[str, str | None]] = {
        "a": {"flush.ms": "1", "retention.ms": None, _RATIO: "0.50"}
    }

    def left(timeout: float) -> dict[str, list[Missing]]:
        find = in_configs(cluster, wanted)
        return asyncio.run(wait_for_all_brokers(cluster, list(wanted), find, timeout))

    assert left(1) == {}
    wanted = {"a": {"flush.ms": "9", "segment.ms": None}, "b": {"flush.ms": "1"}}
    found = left(0.05)
    assert found["a"][:2] == [
        Missing("a", "config flush.ms is not as asked", broker=1),
        Missing("a", "config segment.ms is not as asked", broker=1),
    ]
    assert str(found["b"][0]) == "broker 1: its configs are not known"
