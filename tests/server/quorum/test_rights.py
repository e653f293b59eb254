"""What brokers and others need an operation for, on a controller with an authorizer."""

from __future__ import annotations

from kafka_admin_proto import codec
from kafka_admin_proto.protocol import codes, supported
from kafka_admin_proto.render.field_scan import error_codes
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.server.apis import CONTROLLERS, Caller, handler_modules
from kafka_admin_proto.server.respond import respond
from tests.server.quorum.controller import CONTROLLER, Controller

_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


def test_every_api_of_controllers_alone_is_refused_without_its_right() -> None:
    controller = Controller(configs={"authorizer.class.name": _AUTHORIZER})
    before = controller.state.end_offset
    for key in handler_modules(CONTROLLERS):
        name = catalog().name_of(key, "request")
        assert name is not None
        version = supported(name).highest
        request = codec(name, version).value_class()
        caller = Caller(CONTROLLER, version, principal="User:mallory", listener="CONTROLLER")
        answer = respond(controller.state, key, request, caller)
        assert not answer.records
        found = error_codes(codec(type(answer.response), version), answer.response)
        assert found == [codes.CLUSTER_AUTHORIZATION_FAILED], name
    assert controller.state.end_offset == before
