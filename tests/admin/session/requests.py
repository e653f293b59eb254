"""Sessions for tests that need not wait, and two requests of theirs with their answers."""

from __future__ import annotations

from typing import Any

from kafka_admin_proto.admin import Reply, Target, client_config
from kafka_admin_proto.admin.retry import Backoff
from kafka_admin_proto.admin.session.session import Session
from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kafka_admin_proto.protocol.error_codes import error_code
from tests.admin.scripted_broker import ScriptedBroker

#: So that tests need not wait for it.
QUICK = Backoff(0.001, 0.01)
#: An address at which nobody listens.
NOBODY = "127.0.0.1:1"


def session(bootstrap: str, **settings: Any) -> Session:
    trace = settings.pop("trace", None)
    defaults = {"backoff": QUICK, "reconnect_backoff": QUICK, "timeout": 10.0}
    return Session(client_config(bootstrap, **{**defaults, **settings}), trace=trace)


async def list_groups(client: Session, **options: Any) -> Reply[ListGroupsResponse]:
    return await client.call(ListGroupsRequest(), ListGroupsResponse, **options)


async def create(client: Session, **options: Any) -> Reply[CreateTopicsResponse]:
    request = CreateTopicsRequest(topics=[CreateTopicsRequest.CreatableTopic(name="a")])
    return await client.call(request, CreateTopicsResponse, to=Target.CONTROLLER, **options)


def groups(*ids: str) -> ListGroupsResponse:
    return ListGroupsResponse(groups=[ListGroupsResponse.ListedGroup(each) for each in ids])


def answers_its_id(request: Any, broker: ScriptedBroker) -> ListGroupsResponse:
    return groups(str(broker.id))


def created(code: str = "NONE") -> CreateTopicsResponse:
    row = CreateTopicsResponse.CreatableTopicResult(name="a", error_code=error_code(code).code)
    return CreateTopicsResponse(topics=[row])
