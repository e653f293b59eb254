"""Policies (KIP-108): asked after Kafka's own rules, topic by topic; what they see and say."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.loggers import POLICIES
from kafka_admin_proto.messages import IncrementalAlterConfigsRequest
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.policies.loading import Policies
from kafka_admin_proto.policies.policies import PolicyError, ask
from kafka_admin_proto.server import (
    AlterConfigRequestMetadata,
    PolicyViolation,
    RequestMetadata,
    SyncCluster,
)
from kafka_admin_proto.server.releases import RELEASES
from kafka_admin_proto.wire.secrets import MASK
from tests.server.handlers.test_create_topics import create, topic
from tests.server.served import Served


class Policy:
    """Keeps what it is asked; refuses topics and configs by their names."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.configured: list[Mapping[str, str]] = []
        self.closed = 0

    def configure(self, configs: Mapping[str, str]) -> None:
        self.configured.append(configs)

    def validate(self, metadata: Any) -> None:
        self.asked.append(metadata)
        name = getattr(metadata, "topic", None) or metadata.resource_name
        if name == "refused":
            raise PolicyViolation("not this one")
        if name == "broken":
            raise KeyError(name)

    def close(self) -> None:
        self.closed += 1


def test_each_topic_for_itself() -> None:
    """p23, p28, p37–p39, p43: a topic that Kafka's own rules refuse is not shown to the policy."""
    served, policy = Served(), Policy()
    served.state.create_topic_policy = policy
    found = create(served, topic("a"), topic("refused"), topic("b", 0))
    assert found[:2] == [("a", 0, None), ("refused", 44, "not this one")]
    assert found[2][1] == 37
    assert [each.topic for each in policy.asked] == ["a", "refused"]


def test_what_a_policy_sees() -> None:
    served, policy = Served(), Policy()
    served.state.create_topic_policy = policy
    create(served, topic("a", -1, 2, retention_ms="5"), topic("b", assignment={0: [2, 1]}))
    first, second = policy.asked
    assert (first.partitions, first.replication_factor, first.assignment) == (1, 2, None)
    assert first.configs == {"retention.ms": "5"}
    assert (second.partitions, second.replication_factor) == (None, None)
    assert second.assignment == {0: (2, 1)}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("version", [0, 1, 2, 5, 7])
@pytest.mark.parametrize("validate_only", [False, True])
def test_the_message_is_in_answers_from_version_1_on(
    release: str, version: int, validate_only: bool
) -> None:
    """p27, p40: version 0 has the code alone."""
    served = Served(release)
    served.state.rules = "kip-4"
    served.state.create_topic_policy = Policy()
    fields = {"validate_only": validate_only} if version else {}
    found = create(served, topic("refused"), topic("a"), version=version, **fields)
    assert found[0] == ("refused", 44, "not this one" if version else "")
    assert found[1][:2] == ("a", 0)
    assert list(served.state.topic_names) == ([] if fields.get("validate_only") else ["a"])


def test_validated_only_and_then_created() -> None:
    """p29, p41: a validation leaves nothing behind."""
    served = Served()
    served.state.create_topic_policy = Policy()
    assert create(served, topic("a"), validate_only=True) == [("a", 0, None)]
    assert create(served, topic("a")) == [("a", 0, None)]


def test_a_policy_that_accepts_changes_no_answer() -> None:
    """p51: requests are answered as they are without one."""
    topics = [topic("a"), topic("b", 0), topic("c", retention_ms="5"), topic("a.b"), topic("a_b")]
    asked, plain = Served(), Served()
    asked.state.create_topic_policy = Policy()
    assert create(asked, *topics) == create(plain, *topics)
    assert list(asked.state.topic_names) == list(plain.state.topic_names)


def test_a_policy_that_fails_fails_the_request_and_the_server_lives() -> None:
    """p40: any other exception is the whole request's error."""
    served = Served()
    served.state.create_topic_policy = Policy()
    assert create(served, topic("a"), topic("broken")) == [("a", -1, None), ("broken", -1, None)]
    assert create(served, topic("a")) == [("a", 0, None)]


def test_configs_of_new_and_of_old_topics() -> None:
    """p47: AlterConfigPolicy is asked for configs alone."""
    served, policy = Served(), Policy()
    served.state.alter_config_policy = policy
    create(served, topic("a"), topic("refused"))
    assert policy.asked == []
    changed = [AlterableConfig("retention.ms", 0, "5")]
    rows = [AlterConfigsResource(2, each, changed) for each in ("a", "refused")]
    answer = served.ask(IncrementalAlterConfigsRequest(rows))
    assert [(each.error_code, each.error_message) for each in answer.responses] == [
        (0, None),
        (44, "not this one"),
    ]


def test_configured_and_closed_with_the_cluster() -> None:
    """p35, p45: once each."""
    policy = Policy()
    with SyncCluster(create_topic_policy=policy, configs={"a.b": "c"}):
        assert policy.configured[0]["a.b"] == "c"
        assert policy.closed == 0
    assert policy.closed == 1


class Calling(Policy):
    """Calls a function with what it is asked."""

    def __init__(self, function: Callable[[Any], object]) -> None:
        super().__init__()
        self._function = function

    def validate(self, metadata: Any) -> None:
        self._function(metadata)


class Answering(Policy):
    """Returns an answer, where a policy has none."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self._answer = answer

    def validate(self, metadata: Any) -> Any:
        return self._answer


def refuse(text: str) -> Policy:
    def refused(metadata: Any) -> None:
        raise PolicyViolation(text)

    return Calling(refused)


def alter(served: Served) -> tuple[int, str | None]:
    changed = [AlterableConfig("retention.ms", 0, "5")]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(2, "there", changed)])
    (found,) = served.ask(request).responses
    return found.error_code, found.error_message


#: What a policy may try to change.
CHANGES: dict[str, Callable[[Any], object]] = {
    "a config": lambda metadata: metadata.configs.__setitem__("retention.ms", "7"),
    "a config's end": lambda metadata: metadata.configs.pop("retention.ms"),
    "the replicas": lambda metadata: metadata.assignment[0].append(3),
    "a partition": lambda metadata: metadata.assignment.update({1: [1]}),
    "the name": lambda metadata: setattr(metadata, "topic", "b"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("rules", ["shipped", "kip-4"])
def test_a_policy_cannot_change_what_it_sees(
    change: str, rules: str, caplog: pytest.LogCaptureFixture
) -> None:
    """p23: the topic is what the request says."""
    served = Served()
    served.state.rules = rules
    served.state.create_topic_policy = Calling(CHANGES[change])
    assert create(served, topic("a", assignment={0: [1]}, retention_ms="5")) == [("a", -1, None)]
    assert list(served.state.topic_names) == []
    assert "Traceback" in caplog.records[0].getMessage()


async def unawaited(metadata: Any) -> None:
    raise PolicyViolation("never said")


@pytest.mark.parametrize("kind", ["coroutine", "False", "True"])
def test_an_answer_of_a_policy_accepts_nothing(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    coroutine = unawaited(None)
    answer = {"coroutine": coroutine, "False": False, "True": True}[kind]
    served = Served()
    create(served, topic("there"))
    served.state.create_topic_policy = served.state.alter_config_policy = Answering(answer)
    assert create(served, topic("a")) == [("a", -1, None)]
    assert alter(served) == (-1, None)
    coroutine.close()
    assert list(served.state.topic_names) == ["there"]
    assert "raises PolicyViolation to refuse" in caplog.text


def test_an_alter_config_policy_cannot_change_configs_either() -> None:
    served = Served()
    create(served, topic("there"))
    served.state.alter_config_policy = Calling(CHANGES["a config"])
    assert alter(served) == (-1, None)
    assert create(served, topic("a", retention_ms="5")) == [("a", -1, None)]


def test_configure_sees_configs_that_it_cannot_change() -> None:
    policy = Policy()
    with SyncCluster(create_topic_policy=policy), pytest.raises(TypeError):
        policy.configured[0]["a"] = "b"  # type: ignore[index]


@pytest.mark.parametrize("rules", ["shipped", "kip-4"])
def test_an_error_of_a_policy_is_logged(rules: str, caplog: pytest.LogCaptureFixture) -> None:
    served = Served()
    served.state.rules = rules
    served.state.create_topic_policy = served.state.alter_config_policy = Policy()
    create(served, topic("broken"))
    create(served, topic("broken", retention_ms="5"))
    assert [(each.name, each.levelno) for each in caplog.records] == [
        (POLICIES.name, logging.ERROR)
    ] * 2
    assert "The policy Policy failed for 'broken'" in caplog.text
    assert caplog.text.count("KeyError: 'broken'") == 2
    assert "Traceback" in caplog.text


@pytest.mark.parametrize("secret", ["s3cret", "back\\slash and 'quote'", "é\nline"])
def test_an_error_of_a_policy_shows_no_secret_config(
    secret: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whether it quotes the value or all configs; others are its own words."""
    name = "ssl.keystore.password"

    class Quoting(Policy):
        def validate(self, metadata: Any) -> None:
            try:
                raise LookupError(f"{dict(metadata.configs)}")
            finally:
                raise ValueError(f"{metadata.configs[name]} and {metadata.configs['shown']}")

    metadata = AlterConfigRequestMetadata(
        resource_type=4, resource_name="1", configs={name: secret, "shown": "visible", "jaas": None}
    )
    with pytest.raises(PolicyError):
        ask(Quoting(), metadata, "1")
    (line,) = caplog.records
    text = line.getMessage()
    assert line.exc_info is None
    assert secret not in text
    assert repr(secret)[1:-1] not in text
    assert text.count(MASK) == 2
    assert text.count("visible") == 2


def test_an_error_of_configure_shows_no_secret_config() -> None:
    class Quoting(Policy):
        def configure(self, configs: Mapping[str, str]) -> None:
            raise ValueError(f"{dict(configs)}")

    configs = {"delegation.token.secret.key": "s3cret\nof  tokens", "num.partitions": "7"}
    with (
        pytest.raises(SettingsError) as failed,
        SyncCluster(create_topic_policy=Quoting(), configs=configs),
    ):
        pass
    assert "'num.partitions': '7'" in str(failed.value)
    assert f"'delegation.token.secret.key': '{MASK}'" in str(failed.value)


def test_an_error_of_close_shows_no_secret_config() -> None:
    class Quoting(Policy):
        def configure(self, configs: Mapping[str, str]) -> None:
            self.configs = configs

        def close(self) -> None:
            raise ValueError(f"{dict(self.configs)}")

    policies = Policies({}, Quoting(), None)
    policies.configure({"delegation.token.secret.key": "s3cret", "num.partitions": "7"})
    with pytest.raises(SettingsError) as failed:
        policies.close()
    assert "'num.partitions': '7'" in str(failed.value)
    assert f"'delegation.token.secret.key': '{MASK}'" in str(failed.value)


@pytest.mark.parametrize("character", ["x", "é", "€", "😀"])
@pytest.mark.parametrize("before", range(4))
def test_a_long_text_is_cut_between_characters(character: str, before: int) -> None:
    """p40: as long as Java's strings on the wire may be."""
    served = Served()
    create(served, topic("there"))
    policy = refuse("x" * before + character * 40_000)
    served.state.create_topic_policy = served.state.alter_config_policy = policy
    for code, text in [create(served, topic("a"))[0][1:], alter(served)]:
        assert code == 44
        assert 32_767 - 4 < len(text.encode()) <= 32_767
        assert set(text[before:]) == {character}


@pytest.mark.parametrize("text", ["", "no\nlines", "lone \ud800 surrogate", "x" * 32_767])
def test_other_texts_are_sent_as_far_as_they_can_be(text: str) -> None:
    served = Served()
    served.state.create_topic_policy = refuse(text)
    assert create(served, topic("a")) == [("a", 44, text.replace("\ud800", "?"))]


def test_kafkas_own_texts_are_cut_too() -> None:
    served = Served()
    ((_, code, text),) = create(served, topic("a", retention_ms="é" * 16_383))
    assert code == 40
    assert 32_767 - 2 < len(text.encode()) <= 32_767
    served.state.rules = "kip-4"
    found = create(served, *[topic(f"{number}" * 20_000) for number in (1, 2, 1, 2)])
    assert [(code, len(text)) for _, code, text in found] == [(42, 32_767)] * 4


class Unprintable(PolicyViolation):
    def __str__(self) -> str:
        raise KeyError("no text")


def test_a_violation_without_a_text_is_an_error_of_the_policy() -> None:
    def refused(metadata: Any) -> None:
        raise Unprintable

    served = Served()
    served.state.create_topic_policy = Calling(refused)
    assert create(served, topic("a")) == [("a", -1, None)]


# Metadata that a test of a policy makes.


def test_metadata_is_made_by_users() -> None:
    """p23: a policy can be tested without a cluster."""
    counted = RequestMetadata(topic="a", partitions=6, replication_factor=3)
    assert (counted.assignment, counted.configs) == (None, {})
    configs, replicas = {"retention.ms": "5"}, [1, 2]
    assigned = RequestMetadata(topic="a", assignment={0: replicas}, configs=configs)
    configs.clear()
    replicas.clear()
    assert (assigned.partitions, assigned.replication_factor) == (None, None)
    assert (assigned.assignment, assigned.configs) == ({0: (1, 2)}, {"retention.ms": "5"})
    altered = AlterConfigRequestMetadata(
        resource_type=2, resource_name="a", configs={"retention.ms": None}
    )
    assert altered.configs == {"retention.ms": None}


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ({}, TypeError, "topic"),
        ({"topic": 5, "partitions": 1, "replication_factor": 1}, TypeError, "topic is a str"),
        ({"topic": "a"}, ValueError, "partitions is missing"),
        ({"topic": "a", "partitions": 1}, ValueError, "replication_factor is missing"),
        ({"topic": "a", "partitions": "1", "replication_factor": 1}, TypeError, "an integer"),
        ({"topic": "a", "partitions": 0, "replication_factor": 1}, ValueError, "1 or more, not 0"),
        ({"topic": "a", "partitions": 1, "assignment": {0: [1]}}, ValueError, "has no partitions"),
        ({"topic": "a", "assignment": {}}, ValueError, "a partition or more"),
        ({"topic": "a", "assignment": {0: []}}, ValueError, "a broker or more"),
        ({"topic": "a", "assignment": [[1]]}, TypeError, "assignment is a mapping"),
        ({"topic": "a", "assignment": {0: "12"}}, TypeError, "has integers"),
        ({"topic": "a", "assignment": {0: [1]}, "configs": []}, TypeError, "configs is a mapping"),
        (
            {"topic": "a", "assignment": {0: [1]}, "configs": {"x": None}}, TypeError,
            r"configs\['x'\] is a str, not an object of type NoneType",
        ),
    ],
)  # fmt: skip
def test_metadata_that_no_request_has(
    fields: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        RequestMetadata(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"resource_type": "2", "resource_name": "a"},
        {"resource_type": 2, "resource_name": None},
        {"resource_type": 2, "resource_name": "a", "configs": {"x": 5}},
    ],
)
def test_metadata_of_configs_that_no_request_has(fields: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        AlterConfigRequestMetadata(**fields)
