"""BrokerRegistration: who may register, with which epoch, and what becomes of the one before."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from kafka_admin_proto.messages import UnregisterBrokerRequest, UpdateFeaturesRequest
from kafka_admin_proto.messages.broker_registration_request import Feature, Listener
from kafka_admin_proto.messages.update_features_request import FeatureUpdateKey
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.handlers.controllers import unregister_broker
from tests.server.quorum.controller import Controller, registration


def test_a_new_broker_is_fenced_and_its_epoch_is_its_offset() -> None:
    controller = Controller()
    end = controller.state.end_offset
    response = controller.register(1, rack="a")
    assert (response.error_code, response.broker_epoch) == (0, end)
    broker = controller.broker(1)
    assert (broker.epoch, broker.fenced, broker.rack) == (end, True, "a")
    assert broker.endpoints["PLAINTEXT"].port == 9001
    assert broker.features["metadata.version"] == (7, 33)


_TWICE = uuid4()


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"cluster_id": "another"}, codes.INCONSISTENT_CLUSTER_ID),
        ({"is_migrating_zk_broker": True}, codes.BROKER_ID_NOT_REGISTERED),
        ({"log_dirs": []}, codes.INVALID_REGISTRATION),
        ({"log_dirs": [UUID(int=99)]}, codes.INVALID_REGISTRATION),
        ({"log_dirs": [_TWICE, _TWICE]}, codes.INVALID_REGISTRATION),
        ({"log_dirs": [uuid4() for _ in range(1001)]}, codes.INVALID_REGISTRATION),
        ({"features": []}, codes.INVALID_REGISTRATION),
        ({"features": [Feature("metadata.version", 7, 20)]}, codes.UNSUPPORTED_VERSION),
        # It lacks transaction.version, which the cluster has at a level above 0.
        ({"features": [Feature("metadata.version", 7, 33)]}, codes.UNSUPPORTED_VERSION),
        ({"listeners": [Listener("A", "h", 0, 0)]}, codes.UNKNOWN_SERVER_ERROR),
        ({"listeners": [Listener("A", " ", 1, 0)]}, codes.UNKNOWN_SERVER_ERROR),
        ({"listeners": [Listener("A", "h", 1, 4)]}, codes.UNKNOWN_SERVER_ERROR),
    ],
)
def test_a_broker_that_is_refused(fields: dict[str, Any], code: int) -> None:
    controller = Controller()
    before = controller.state.end_offset
    assert controller.register(1, **fields).error_code == code
    assert controller.state.end_offset == before
    assert not controller.state.cluster.brokers


def test_a_directory_of_another_broker() -> None:
    """It is free once that one has lost it, has registered without it, or is gone."""
    controller = Controller()
    first, second, third = (uuid4() for _ in range(3))
    incarnation = uuid4()
    controller.register(1, log_dirs=[first, second, third], incarnation_id=incarnation)

    def refused(*directories: UUID) -> bool:
        code = controller.register(2, log_dirs=[uuid4(), *directories]).error_code
        assert code in (0, codes.INVALID_REGISTRATION)
        return code != 0

    assert refused(first)
    controller.beat(1, offline_log_dirs=[first])
    assert not refused(first)
    assert refused(second)
    controller.register(1, log_dirs=[third], incarnation_id=incarnation)
    assert controller.register(3, log_dirs=[first]).error_code == codes.INVALID_REGISTRATION
    assert not refused(first, second)
    assert refused(third)
    for number in (2, 1):
        assert controller.ask(UnregisterBrokerRequest(broker_id=number)).error_code == 0
    assert not refused(third)


def test_another_incarnation_waits_for_the_end_of_the_session() -> None:
    controller = Controller()
    controller.start(1)
    epoch = controller.broker(1).epoch
    controller.clock.pass_time(8.9)
    assert controller.register(1).error_code == codes.DUPLICATE_BROKER_REGISTRATION
    assert controller.broker(1).epoch == epoch
    controller.clock.pass_time(0.1)
    assert controller.broker(1).fenced
    end = controller.state.end_offset
    assert controller.register(1).broker_epoch == end
    # Heartbeats of the incarnation before are refused.
    assert controller.beat(1, broker_epoch=epoch).error_code == codes.STALE_BROKER_EPOCH


@pytest.mark.parametrize("release", ["4.4", "3.9"])
def test_one_that_ended_cleanly_waits_as_well(release: str) -> None:
    """As in Kafka since 4.0: the session outlasts a clean end."""
    controller = Controller(release)
    controller.start(1)
    assert controller.beat(1, want_shut_down=True).should_shut_down
    waits = release != "3.9"
    code = codes.DUPLICATE_BROKER_REGISTRATION if waits else 0
    assert controller.register(1).error_code == code
    controller.clock.pass_time(9)
    assert controller.register(1).error_code == 0


def test_the_same_incarnation_again_keeps_its_epoch() -> None:
    controller = Controller()
    first = registration(1)
    assert controller.ask(first).error_code == 0
    assert not controller.beat(1).is_fenced
    epoch = controller.broker(1).epoch
    first.rack = "b"
    assert controller.ask(first).broker_epoch == epoch
    assert not controller.broker(1).fenced
    assert controller.broker(1).rack == "b"
    # It has caught up once it has applied the newer record.
    assert not controller.beat(1, current_metadata_offset=epoch).is_caught_up
    assert controller.beat(1).is_caught_up


@pytest.mark.parametrize("clean", [True, False])
def test_the_epoch_is_the_offset_of_the_first_record(clean: bool) -> None:
    """A replica that may have lost records is eligible no more, which comes before."""
    controller = Controller()
    directory = uuid4()
    controller.start(1, log_dirs=[directory])
    topic = controller.create("a", [1], [1])
    before = controller.broker(1).epoch
    controller.clock.pass_time(9)
    assert controller.partition(topic).elr == [1]
    end = controller.state.end_offset
    again = {"log_dirs": [directory], "previous_broker_epoch": before if clean else -1}
    assert controller.register(1, **again).broker_epoch == end
    assert controller.partition(topic).elr == ([1] if clean else [])
    assert not controller.beat(1).is_fenced
    assert controller.partition(topic).leader == 1


def test_a_broker_that_comes_without_a_directory_does_not_lead_what_was_there() -> None:
    controller = Controller()
    controller.start(1)
    topic = controller.create("a", [1])
    epoch = controller.broker(1).epoch
    controller.clock.pass_time(9)
    controller.start(1, previous_broker_epoch=epoch)
    assert controller.partition(topic).leader == -1


def test_a_level_that_a_broker_lacks_is_not_given() -> None:
    controller = Controller()

    def change(level: int, kind: int) -> Any:
        update = FeatureUpdateKey("share.version", level, upgrade_type=kind)
        return controller.ask(UpdateFeaturesRequest(timeout_ms=1000, feature_updates=[update]))

    assert change(1, 2).error_code == 0
    older = [each for each in registration(1).features if each.name != "share.version"]
    older.append(Feature("share.version", 0, 1))
    assert controller.register(1, features=older).error_code == 0
    refused = change(2, 1)
    assert refused.error_code == codes.INVALID_UPDATE_VERSION
    assert refused.error_message.endswith("Broker 1 only supports versions 0-1")
    older.pop()
    assert change(0, 2).error_code == 0
    controller.clock.pass_time(9)
    assert controller.register(1, features=older).error_code == 0
    assert change(1, 1).error_message.endswith("Broker 1 does not support this feature.")


def test_unregister() -> None:
    controller = Controller()
    controller.start(1)
    controller.start(2)
    topic = controller.create("a", [1, 2])
    epoch = controller.broker(1).epoch
    assert controller.ask(UnregisterBrokerRequest(broker_id=1)).error_code == 0
    assert list(controller.state.cluster.brokers) == [2]
    assert (controller.partition(topic).leader, controller.partition(topic).isr) == (2, [2])
    refused = controller.ask(UnregisterBrokerRequest(broker_id=1))
    assert refused.error_code == codes.BROKER_ID_NOT_REGISTERED
    controller.clock.pass_time(60)  # its session is gone with it
    assert controller.register(1).broker_epoch > epoch


def test_a_broker_that_is_not_unregistered_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one of more than 10,000 partitions."""
    controller = Controller()
    controller.start(1)
    controller.create("a", [1])
    monkeypatch.setattr(unregister_broker, "MOST_RECORDS", 1)
    refused = controller.ask(UnregisterBrokerRequest(broker_id=1))
    assert refused.error_code == codes.POLICY_VIOLATION
    assert not controller.beat(1).is_fenced
