"""Answers to requests; answers that only read are kept as bytes until the cluster changes.

Clients of a test send the same requests over and over: Metadata, ApiVersions. An answer that
depends on the node, the request, the metadata log and the nodes that run is encoded once. It is
dropped when the view of the log that it was made from has new records, or a node ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_admin_proto.protocol.connection import RequestReceived
from kafka_admin_proto.protocol.payload_values import Request
from kafka_admin_proto.server.apis import Answer, Caller, ServedApi, row_of
from kafka_admin_proto.server.brokers.view import Quorum, View
from kafka_admin_proto.server.brokers.views import Views
from kafka_admin_proto.server.failures import ControllerUnavailable
from kafka_admin_proto.server.quorum.envelopes import Forwarded, opened
from kafka_admin_proto.server.quotas.request_time import request_throttle_ms
from kafka_admin_proto.server.respond import respond
from kafka_admin_proto.values import Message

#: The most bytes of kept answers for each view of the log.
_KEPT_BYTES = 16 << 20
_Key = tuple[int | str | bytes, ...]


#: What a view is when answers are made from it: its end offset, the controller, and who has ended.
_Stamp = tuple[int, int, tuple[int, ...]]


class _Kept:
    """Kept answers made from one view, with its ``stamp`` at that time."""

    def __init__(self) -> None:
        self.stamp: _Stamp = (-1, -1, ())
        self.bodies: dict[_Key, bytes] = {}
        self.bytes = 0

    def forget(self, stamp: _Stamp) -> None:
        """Drop all answers: the view has changed."""
        self.bodies.clear()
        self.stamp, self.bytes = stamp, 0


class Answers:
    """Answers requests for the nodes of a cluster, each from its view of the metadata log."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self.quorum: Quorum = views.state.quorum
        self._kept: dict[View, _Kept] = {}

    def answer(self, caller: Caller, request: Request) -> Answer | bytes:
        """A node's answer, with its records appended; as bytes if it is kept for later requests.

        Raises ControllerUnavailable if a controller has to answer and none is active.
        """
        view = self.view(caller, request)
        is_kept = self._row(request).kept
        if is_kept and (found := self.kept(view, caller, request)) is not None:
            return found
        answer = respond(view, request.api_key, request.body, caller)
        if answer.records and view.quorum.available:  # a Metadata request may create topics
            self.append(answer.records)
        if answer.records or not is_kept:
            return answer
        body = answer.response.encode(request.api_version)
        self._keep(view, caller, request, body)
        return body

    def opened(self, event: RequestReceived, caller: Caller) -> tuple[Forwarded, Caller]:
        """The request in an envelope, with its client; raises ApiFailure (`envelopes.opened`)."""
        return opened(self._views.state, event, caller)

    def request_throttle_ms(self, caller: Caller, request: Request, used_ns: int) -> int:
        """The milliseconds for which a client is to wait that used so much time."""
        view = self._views.of(caller.node_id)
        if not view.cluster.quotas:
            return 0
        return request_throttle_ms(view, caller, request.api_key, request.body, used_ns)

    def append(self, records: Sequence[Message]) -> None:
        """Write the records of an answer to the log."""
        self._views.state.append(records)

    def view(self, caller: Caller, request: Request) -> View:
        """The view that answers a request: that of the broker, or the controller's state.

        Raises ControllerUnavailable if no controller is active.
        """
        if self._row(request).of_broker:
            return self._views.of(caller.node_id)
        if not self._views.state.quorum.available:
            raise ControllerUnavailable
        return self._views.state

    def _row(self, request: Request) -> ServedApi:
        return row_of(request.api_key, request.dialect, self._views.state.rules)

    def kept(self, view: View, caller: Caller, request: Request) -> bytes | None:
        kept = self._kept.get(view)
        if kept is None:
            return None
        stamp = _stamp(view)
        if stamp != kept.stamp:
            kept.forget(stamp)
            return None
        return kept.bodies.get(_key(view, caller, request))

    def _keep(self, view: View, caller: Caller, request: Request, body: bytes) -> None:
        kept = self._kept.get(view)
        if kept is None:
            for gone in self._kept.keys() - self._views.current():
                del self._kept[gone]
            kept = self._kept[view] = _Kept()
        stamp = _stamp(view)
        if stamp != kept.stamp or kept.bytes + len(body) > _KEPT_BYTES:
            kept.forget(stamp)
        kept.bodies[_key(view, caller, request)] = body
        kept.bytes += len(body) + len(request.data)


def _stamp(view: View) -> _Stamp:
    return view.end_offset, view.controller, tuple(view.quorum.last_seen)


def _key(view: View, caller: Caller, request: Request) -> _Key:
    """The parts of a request that decide its answer; with an authorizer the principal too."""
    if view.is_authorized:
        who = caller.principal, caller.host
        return (
            caller.node_id, caller.listener, request.api_key, request.api_version,
            request.raw_body, *who,
        )  # fmt: skip
    return caller.node_id, caller.listener, request.api_key, request.api_version, request.raw_body
