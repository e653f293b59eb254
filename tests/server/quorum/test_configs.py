"""Configs of brokers in processes of their own, which these check before they forward them."""

from __future__ import annotations

import pytest

from kafka_admin_proto.messages import IncrementalAlterConfigsRequest
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.brokers.view import BROKER_RESOURCE
from tests.server.quorum.controller import CONTROLLER, Controller


@pytest.mark.parametrize("broker", [1, CONTROLLER])  # a broker may have the controller's id
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("1", 0),
        ("", 0),
        ("7", 0),  # it may register later
        ("-1", codes.INVALID_REQUEST),
        ("one", codes.INVALID_REQUEST),
    ],
)
def test_any_broker_has_configs(name: str, code: int, broker: int) -> None:
    controller = Controller()
    controller.start(broker)
    config = AlterableConfig("log.cleaner.threads", 0, "2")
    resource = AlterConfigsResource(BROKER_RESOURCE, name, [config])
    (row,) = controller.ask(IncrementalAlterConfigsRequest([resource])).responses
    assert row.error_code == code
    expected = {} if code else {"log.cleaner.threads": "2"}
    assert {**controller.state.configs(BROKER_RESOURCE, name)} == {
        **({"min.insync.replicas": "1"} if name == "" else {}), **expected,
    }  # fmt: skip
