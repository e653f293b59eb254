"""Answers to requests; answers that only read are kept as bytes until the cluster changes.

Clients of a test send the same requests over and over: Metadata, ApiVersions. An answer that
depends on the node, the request and the metadata log alone is encoded once. It is dropped when the
view of the log that it was made from has new records.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from kafka_admin_proto.protocol.payload_values import Request
from kafka_admin_proto.server.brokers.view import Quorum, View
from kafka_admin_proto.server.brokers.views import Views
from kafka_admin_proto.server.failures import ApiFailure, ControllerUnavailable
from kafka_admin_proto.server.handlers import (
    OF_BROKERS,
    Answer,
    Caller,
    respond,
    respond_in_steps,
)
from kafka_admin_proto.values import Message

#: Metadata, ApiVersions, DescribeConfigs, ListPartitionReassignments, DescribeCluster,
#: ListConfigResources, DescribeTopicPartitions.
_QUESTIONS = frozenset({3, 18, 32, 46, 60, 74, 75})
#: How often an answer in steps starts again because the cluster has changed meanwhile.
_TRIES = 3
#: The most bytes of kept answers for each view of the log.
_KEPT_BYTES = 16 << 20

_Key = tuple[int | str | bytes, ...]


class _Kept:
    """Kept answers made from one view; ``stamp`` is the view's end offset at that time."""

    def __init__(self) -> None:
        self.stamp: tuple[int, int] = (-1, -1)
        self.bodies: dict[_Key, bytes] = {}
        self.bytes = 0

    def forget(self, stamp: tuple[int, int]) -> None:
        """Drop all answers: the view has changed."""
        self.bodies.clear()
        self.stamp, self.bytes = stamp, 0


class Answers:
    """Answers requests for the nodes of a cluster, each from its view of the metadata log."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self.quorum: Quorum = views.state.quorum
        self._kept: dict[View, _Kept] = {}

    def encoded(self, caller: Caller, request: Request) -> bytes | None:
        """The body of a kept answer; None if no answer is kept.

        Raises ControllerUnavailable if a controller has to answer and none is active.
        """
        view = self.view(caller, request)
        kept = self._kept.get(view)
        if kept is None:
            return None
        stamp = view.end_offset, view.controller
        if stamp != kept.stamp:
            kept.forget(stamp)
            return None
        return kept.bodies.get(_key(view, caller, request))

    def answer(self, caller: Caller, request: Request) -> Answer | bytes:
        """A node's answer, with its records appended; as bytes if it is kept for later requests."""
        view = self.view(caller, request)
        answer = respond(view, request.api_key, request.body, caller)
        if view.quorum.available:  # a Metadata request may create topics
            self.append(answer.records)
        if answer.records or request.api_key not in _QUESTIONS:
            return answer
        body = answer.response.encode(request.api_version)
        self._keep(view, caller, request, body)
        return body

    def in_steps(self, caller: Caller, request: Request) -> Generator[None, None, Answer]:
        """As ``answer`` for an api in ``IN_STEPS``, its records appended at the last step.

        Other requests may change the cluster between two steps. The answer is then made again,
        so that it fits the cluster at its end; after some tries it is made in one piece. So is the
        answer to a request that quotas or policies count, since these must see it once.
        """
        state = self._views.state
        policies = state.create_topic_policy or state.alter_config_policy
        if request.dialect != "kafka" or policies or state.cluster.quotas:
            answer = self.answer(caller, request)
            assert isinstance(answer, Answer)  # it changes something
            return answer
        for _ in range(_TRIES):
            view = self.view(caller, request)
            stamp = view.end_offset, view.controller
            try:
                answer = yield from respond_in_steps(view, request.api_key, request.body, caller)
            except ApiFailure:  # a broker has ended between two steps
                if stamp == (view.end_offset, view.controller):
                    raise
                continue
            if stamp == (view.end_offset, view.controller) and view.quorum.available:
                break
        else:
            answer = respond(self.view(caller, request), request.api_key, request.body, caller)
        state.append(answer.records, answer.staged)
        return answer

    def append(self, records: Sequence[Message]) -> None:
        """Write the records of an answer to the log."""
        self._views.state.append(records)

    def view(self, caller: Caller, request: Request) -> View:
        """The view that answers a request: that of the broker, or the controller's state.

        Raises ControllerUnavailable if no controller is active.
        """
        if request.api_key in OF_BROKERS:
            return self._views.of(caller.node_id)
        if not self._views.state.quorum.available:
            raise ControllerUnavailable
        return self._views.state

    def _keep(self, view: View, caller: Caller, request: Request, body: bytes) -> None:
        kept = self._kept.get(view)
        if kept is None:
            for gone in self._kept.keys() - self._views.current():
                del self._kept[gone]
            kept = self._kept[view] = _Kept()
        stamp = view.end_offset, view.controller
        if stamp != kept.stamp or kept.bytes + len(body) > _KEPT_BYTES:
            kept.forget(stamp)
        kept.bodies[_key(view, caller, request)] = body
        kept.bytes += len(body) + len(request.data)


def _key(view: View, caller: Caller, request: Request) -> _Key:
    """The parts of a request that decide its answer; with an authorizer the principal too."""
    if view.is_authorized:
        who = caller.principal, caller.host
        return (
            caller.node_id, caller.listener, request.api_key, request.api_version,
            request.raw_body, *who,
        )  # fmt: skip
    return caller.node_id, caller.listener, request.api_key, request.api_version, request.raw_body
