"""The faults of a cluster, checked for each request."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from kafka_admin_proto.counts import counted
from kafka_admin_proto.faults.fault import Condition, Effect, Fault
from kafka_admin_proto.faults.faults import Faults
from kafka_admin_proto.faults.words import FaultError
from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.payloads import api_name
from kafka_admin_proto.server.apis import OF_CONNECTIONS, Caller
from kafka_admin_proto.server.arguments.settings import checked_broker
from kafka_admin_proto.server.faults.effects import play
from kafka_admin_proto.server.faults.sessions import with_session

if TYPE_CHECKING:
    from kafka_admin_proto.protocol.connection import RequestReceived
    from kafka_admin_proto.protocol.payload_values import Request
    from kafka_admin_proto.protocol.versions import Api
    from kafka_admin_proto.server.answers import Answers
    from kafka_admin_proto.server.brokers.view import View
    from kafka_admin_proto.server.network.client import Client

_SHARE_SESSIONS = (api_keys.SHARE_FETCH, api_keys.SHARE_ACKNOWLEDGE)


class ClusterFaults(Faults):
    """The faults of one cluster, of ``brokers`` nodes, that serves ``apis``."""

    def __init__(self, apis: Sequence[Api], brokers: int) -> None:
        super().__init__(apis, partial(_check, apis, brokers))

    def happen(
        self, connection: Client, answers: Answers, event: RequestReceived, caller: Caller
    ) -> bool:
        """Let the first fault that fits a request fire; False if no fault fits."""
        for fault in self.active:
            view = answers.view(caller, event.request)
            if _fits(fault.condition, caller, event.request, view):
                fires = partial(self._fires, fault, event, caller)
                if fault.effect.garbage != "records" and not fires():
                    continue
                play(fault, connection, answers, event, caller, fires)
                return True
        return False

    def _fires(self, fault: Fault, event: RequestReceived, caller: Caller) -> bool:
        """Count a fault that fires now; False for one that has fired as often as it may."""
        if not self.fires(fault):
            return False
        SERVER.debug(
            "node %d: %s v%d has the fault %s, which has fired %s",
            caller.node_id, api_name(event.request.api_key, event.request.dialect),
            caller.version, fault.text, counted(fault.fired, "times"),
        )  # fmt: skip
        return True


def _check(apis: Sequence[Api], brokers: int, condition: Condition, effect: Effect) -> None:
    """Raise FaultError for a fault that no request to the cluster can meet."""
    if condition.node is not None:
        try:
            checked_broker(condition.node, brokers)
        except ValueError as error:
            raise FaultError(f"node: {error}") from None
    if condition.api_key in OF_CONNECTIONS:
        (name,) = (each.name for each in apis if each.api_key == condition.api_key)
        raise FaultError(f"a connection answers {name} by itself, where faults do not come in")
    if condition.target is not None and condition.api_key in _SHARE_SESSIONS:
        raise FaultError(
            f"a share session names a partition in its first request alone, so that "
            f"{api_name(condition.api_key)} has no faults of topics; leave topic and partition out"
        )


def _fits(condition: Condition, caller: Caller, request: Request, view: View) -> bool:
    if not condition.holds(request.api_key, request.api_version, caller.client_id, caller.node_id):
        return False
    if not condition.names_group(request.body):
        return False
    if condition.target is None:
        return True
    return request.body is not None and condition.target.is_asked_for(
        with_session(request.body, view, caller.node_id), view
    )
