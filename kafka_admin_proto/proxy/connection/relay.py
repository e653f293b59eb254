"""One client's connection through the proxy, without sockets: bytes in, bytes of both sides out.

The client's requests and the broker's responses keep their headers, so that SASL of any mechanism,
correlation ids and client ids pass as they are. A frame that no filter names, and that has no
address, is passed on as it came.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Generator, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from kafka_admin_proto.arguments import Buffer
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import (
    EncodeError,
    LocalProtocolError,
    RemoteProtocolError,
    UnsupportedVersionError,
)
from kafka_admin_proto.messages import ApiVersionsRequest, ApiVersionsResponse
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.connection.words import api_words
from kafka_admin_proto.protocol.frames import cut_frame
from kafka_admin_proto.protocol.payload_values import Request, expects_response
from kafka_admin_proto.protocol.payload_writers import api_key_of, write_request, write_response
from kafka_admin_proto.protocol.payloads import read_request, read_response
from kafka_admin_proto.protocol.versions import shared_rows
from kafka_admin_proto.proxy.apis import rewrite
from kafka_admin_proto.proxy.call import Call
from kafka_admin_proto.proxy.connection.delivery import Delivery
from kafka_admin_proto.proxy.connection.frames import check_size, decoded_body, encoded, put_frame
from kafka_admin_proto.proxy.connection.pending import PendingCalls
from kafka_admin_proto.proxy.rules import Route, Rules
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.proxy.connection.client_login import ClientLogin
    from kafka_admin_proto.proxy.faults import ProxyFaults

_T = TypeVar("_T")
_FRONT = struct.Struct(">hhi").unpack_from
#: Read as a request, a token has a higher version than any api: it has text there, or a length.
_TOKENS_FROM = 32


class Relay:
    """Requests of one client to a broker, and the broker's responses to the client, in order.

    ``from_client`` and ``from_broker`` take bytes as they arrive. What is to be written then is in
    ``to_client`` and ``to_broker``, which the caller empties. Both raise RemoteProtocolError for
    what neither may send, and the error of a filter; the connection is to be closed then.

    A fault may hold all back: ``resume`` is to be called ``delivery.pause_s`` seconds later. With
    ``delivery.ended`` the connection is to be closed once ``to_client`` is sent.
    """

    def __init__(self, rules: Rules, client: str, node_id: int | None = None) -> None:
        self.delivery: Delivery = Delivery()
        self.to_client: list[bytes] = self.delivery.to_client
        self.to_broker: list[bytes] = []
        self._rules = rules
        self.client = client
        self._node_id = node_id
        self._requests = bytearray()
        self._responses = bytearray()
        self.pending: PendingCalls = PendingCalls(self.delivery, rules.limits)
        #: Whether the broker has taken a SaslHandshake of the client.
        self._logs_in = False
        #: SaslHandshake v0 has been answered: what follows are tokens without a header.
        self._bare_tokens = False
        #: Tokens without a header that the broker has not answered.
        self._unanswered_tokens = 0
        #: Whether a filter has asked the broker: later requests wait for what becomes of this one.
        self._asking = False
        #: The place of the filter that asks; None for the proxy's faults.
        self._asker: int | None = None
        #: The highest version of each api that both the broker and the proxy have, once known.
        self._versions: dict[int, int] = {}
        self._takes_requests = True
        self._login: ClientLogin | None = None
        if rules.sasl is not None:
            from kafka_admin_proto.proxy.connection.client_login import ClientLogin

            self._login = ClientLogin(rules.sasl)

    @property
    def is_full(self) -> bool:
        """Whether the client is to be read no more until the broker has answered."""
        return self._takes_requests and (
            self._asking or self.delivery.pause_s is not None or self.pending.are_full
        )

    def begin_turn(self) -> None:
        """Go on with requests that were left for this turn, as ``pending.rests`` says."""
        self.pending.begin_turn()
        self.from_client(b"")

    def from_client(self, data: Buffer) -> None:
        """Take bytes of the client; without any, go on with those that waited."""
        if not self._takes_requests:  # a fault has lost them, or is about to end the connection
            return
        requests = self._requests
        requests += data
        while requests and self._takes_requests and not self.is_full:
            limit = self._request_limit
            payload = cut_frame(requests, limit)
            if payload is None:
                check_size(requests, limit, "the client")
                return
            self._take_request(payload)

    @property
    def _request_limit(self) -> int:
        """The largest frame of the client, less before it has logged in."""
        limits = self._rules.limits
        if self._login is None or self._login.is_over:
            return limits.frame_bytes
        return min(limits.frame_bytes, limits.unauthenticated_frame_bytes)

    def from_broker(self, data: Buffer) -> None:
        """Take bytes of the broker, and go on with requests that had to wait for these answers."""
        if self.delivery.is_over:
            return
        responses = self._responses
        responses += data
        limit = self._rules.limits.frame_bytes
        while responses and self.delivery.passes:
            payload = cut_frame(responses, limit)
            if payload is None:
                check_size(responses, limit, "the broker")
                break
            self._take_response(payload)
        if self._requests:
            self.from_client(b"")

    def resume(self) -> None:
        """Go on when a pause is over."""
        self.delivery.resume()
        self.pending.give_answers()
        self.from_broker(b"")

    # The client's side.

    def _take_request(self, payload: bytes) -> None:
        if self._login is not None and self._login.takes_tokens:
            call = Call(api_keys.SASL_AUTHENTICATE, 0, 0, self.client, self._node_id)
            self._login.take_token(payload, partial(self.pending.answer, call))
            return
        if self._bare_tokens and not self._is_request(payload):
            self._unanswered_tokens += 1
            self.pending.count()
            put_frame(self.to_broker, payload)
            return
        self._bare_tokens = False
        if len(payload) < 8:
            raise RemoteProtocolError(
                f"the client sent a request of {counted(len(payload), 'bytes')}, which has no "
                "whole header"
            )
        api_key, api_version, correlation_id = _FRONT(payload)
        call = Call(
            api_key, api_version, correlation_id, self.client, self._node_id,
            logs_in=self._logs_in,
        )  # fmt: skip
        route = self._rules.route(api_key, api_version)
        if self._login is not None and self._log_in(self._login, call, route, payload):
            return
        if route is None:
            self._pass_unknown_version(call, payload)
        elif self._rules.faults is not None and self._rules.faults.active:
            self._go_on(call, self._with_faults(call, route, payload, self._rules.faults))
        elif route.request_filters or route.response_filters:
            self._go_on(call, self._filtered(call, route, self._decoded_request(call, payload)))
        else:
            if api_key == api_keys.PRODUCE:
                body = decoded_body(
                    read_request(payload, body=False), call, "the client", views=True
                )
                call.expects_response = expects_response(api_key, body)
            self._pass_request(call, payload)

    def _log_in(self, login: ClientLogin, call: Call, route: Route | None, payload: bytes) -> bool:
        """Answer a request of SASL. False for one that is passed on; SaslError before the login."""
        answer = None if route is None else partial(self._answer, call)
        is_login = login.takes(call.api_key, answer, knows_versions=bool(self._versions))
        if answer is None or not is_login:
            return False
        login.take(self._decoded_request(call, payload), answer)
        return True

    def _is_request(self, payload: bytes) -> bool:
        """Whether bytes behind a SaslHandshake v0 are a request, no token.

        The broker alone knows when the login is over, and takes for a request what comes then, also
        of apis and versions that are not known here, or denied: they must not pass by the filters.
        """
        return len(payload) >= 8 and 0 <= _FRONT(payload)[1] < _TOKENS_FROM

    def _pass_unknown_version(self, call: Call, payload: bytes) -> None:
        """Pass ApiVersions, which brokers without its version answer too (KIP-511); no other."""
        if call.api_key != api_keys.API_VERSIONS:
            raise RemoteProtocolError(
                f"the client asked for {api_words(call.api_key)} in version {call.api_version}, "
                "which is not among the versions that it was given"
            )
        call.api_version, call.unknown_version = 0, True
        self._pass_request(call, payload)

    def _decoded_request(self, call: Call, payload: bytes) -> Request:
        request = read_request(payload, body=False)
        body = decoded_body(request, call, "the client", views=False)
        assert request.header is not None
        call.client_id = request.header.client_id
        call.request = request.body = body
        call.expects_response = expects_response(call.api_key, body)
        return request

    def _with_faults(
        self, call: Call, route: Route, payload: bytes, faults: ProxyFaults
    ) -> Generator[Message, Message, None]:
        """Let the first fault that fits a request fire; what it leaves goes on as usual."""
        request = self._decoded_request(call, payload)
        assert request.body is not None
        self._asker = None
        changed = call.api_key == api_keys.FETCH  # its session may be left out
        answer = faults.without_session(call, request.body)
        if answer is None:
            call.fault = yield from self._with_versions(faults.find(call, request.body))
        if call.fault is not None:
            effect = call.fault.effect
            if effect.failure is not None:
                answer = faults.refused(call, request.body, call.fault)
            changed = changed or call.refused is not None
            self._takes_requests = effect.cut is None and effect.drop is None
            if effect.cut == "before" or effect.drop == "request":
                self.pending.answer(call, b"")
                return
        if answer is None:
            yield from self._filtered(call, route, request, changed=changed)
        elif call.expects_response:
            self._answer(call, answer)
        else:
            self._takes_requests = False
            self.pending.answer(call, b"")

    def _filtered(
        self, call: Call, route: Route, request: Request, *, changed: bool = False
    ) -> Generator[Message, Message, None]:
        """Pass a request through its filters, which may ask the broker, and then on."""
        changed = changed or bool(route.request_filters)
        for place, method in route.request_filters:
            answer = method(request.body, call)
            if isinstance(answer, Generator):
                self._asker = place
                answer = yield from self._with_versions(answer)
            if answer is not None:
                self._refuse(call, route, answer, place)
                return
        payload = request.data
        if changed:
            assert request.header is not None
            request.header.client_id = call.client_id  # a filter may have changed it
            with self._made_by(at for at, _ in route.request_filters):
                payload = request.encode()
        self._pass_request(call, payload)

    def _with_versions(
        self, asking: Generator[Message, Message, _T]
    ) -> Generator[Message, Message, _T]:
        """What a generator gives that asks the broker, whose versions are asked for first."""
        try:
            asked = next(asking)
            if not self._versions:
                yield ApiVersionsRequest()
            while True:
                asked = asking.send((yield asked))
        except StopIteration as done:
            found: _T = done.value
            return found

    def _go_on(
        self,
        call: Call,
        filtered: Generator[Message, Message, None],
        response: Message | None = None,
    ) -> None:
        """Run the filters of a request until one asks the broker, or none is left."""
        while True:
            try:
                asked = next(filtered) if response is None else filtered.send(response)
            except StopIteration:
                self._asking = False
                return
            api_key = api_key_of(asked, "Request")
            version = self._versions.get(api_key, 0)
            if self._versions and api_key not in self._versions:
                raise UnsupportedVersionError(
                    f"{self._rules.named([self._asker])} asks the broker for {api_words(api_key)}, "
                    "which it does not have, or in no version that the proxy allows"
                )
            if not expects_response(api_key, asked):
                raise LocalProtocolError(
                    f"{self._rules.named([self._asker])} asks the broker for a Produce with acks "
                    "0, which it does not answer; expected acks 1 or -1"
                )
            own = Call(
                api_key, version, call.correlation_id, call.client, call.node_id, call.client_id,
                asked,
            )  # fmt: skip
            response = self._rules.refused(asked, own)
            if response is None:
                break
        self._asking = True
        own.asker = filtered
        with self._made_by([self._asker]):
            payload = write_request(asked, version, call.correlation_id, call.client_id)
        self._pass_request(own, payload)

    @contextlib.contextmanager
    def _made_by(self, places: Iterable[int | None]) -> Iterator[None]:
        """Name the filters at these places where what they have made cannot be encoded."""
        try:
            yield
        except EncodeError as error:
            who = self._rules.named(places)
            raise LocalProtocolError(f"{who} made what cannot be sent: {error}") from None

    def _refuse(self, call: Call, route: Route, answer: Message, place: int) -> None:
        """Give the answer of the filter at that place, which those before it get to see."""
        if not call.expects_response:
            raise RemoteProtocolError(
                f"{self._rules.named([place])} refused a Produce with acks 0, which is answered by "
                "the end of the connection, as brokers do"
            )
        seen_by = [each for each in route.response_filters if each[0] < place]
        for _, method in reversed(seen_by):
            answer = method(answer, call) or answer
        with self._made_by([place, *(at for at, _ in seen_by)]):
            self._answer(call, answer)

    def _pass_request(self, call: Call, payload: bytes) -> None:
        put_frame(self.to_broker, payload)
        if call.expects_response:
            self.pending.add(call)
        elif call.fault is not None:
            self.pending.answer(call, b"")
        else:
            self.pending.count()

    def _answer(self, call: Call, body: Message) -> None:
        """Answer by the proxy itself, once all requests before this one have their answers."""
        answer = write_response(body, call.api_version, call.correlation_id)
        self.pending.answer(call, answer)

    # The broker's side.

    def _take_response(self, payload: bytes) -> None:
        call = self.pending.take(payload)
        if call is None:
            if not self._unanswered_tokens:
                raise self.pending.not_due(payload)
            self._unanswered_tokens -= 1
            put_frame(self.to_client, payload)
            return
        route = self._rules.route(call.api_key, call.api_version)
        assert route is not None
        if call.asker is not None:
            self._go_on(call, call.asker, self._asked(call, payload))
            return
        if route.response_filters or route.has_addresses or route.is_read or call.fault is not None:
            payload = self._read_response(call, route, payload)
        self.delivery.deliver(call, payload)
        self.pending.give_answers()

    def _read_response(self, call: Call, route: Route, payload: bytes) -> bytes:
        """The payload with the addresses of the proxy, as the filters have left it."""
        if call.unknown_version:
            payload = self._rules.refused_version(call, payload)
        fails = call.fault is not None
        views = not (route.response_filters or route.is_read or fails)  # records are not copied
        response = read_response(payload, call.api_key, call.api_version, body=False)
        body = decoded_body(response, call, "the broker", views=views)
        rewritten = route.has_addresses and rewrite(call.api_key, body, self._rules.to_local)
        if isinstance(body, ApiVersionsResponse):
            self._take_versions(body)
            rewritten = True
        elif call.api_key == api_keys.SASL_HANDSHAKE:
            is_taken = not getattr(body, "error_code", 0)
            self._logs_in |= is_taken  # one that is refused ends no session that there is
            self._bare_tokens = call.precedes_tokens and is_taken
        for _, method in reversed(route.response_filters):
            body = method(body, call) or body
        if call.fault is not None and call.fault.effect.changes_fields:
            assert self._rules.faults is not None
            body = self._rules.faults.changed(call, body)
        elif not route.response_filters:
            return encoded(response, body) if rewritten else payload
        response.body = body
        with self._made_by(at for at, _ in route.response_filters):
            return response.encode()

    def _asked(self, call: Call, payload: bytes) -> Message:
        """The response to what a filter has asked, as the broker gave it."""
        response = read_response(payload, call.api_key, call.api_version, body=False)
        body = decoded_body(response, call, "the broker", views=False)
        if isinstance(body, ApiVersionsResponse):
            self._take_versions(body)
        return body

    def _take_versions(self, body: ApiVersionsResponse) -> None:
        """Cut the versions of the broker to those that the proxy has too."""
        body.api_keys = shared_rows(body.api_keys, self._rules.apis)
        if not body.error_code:
            self._versions = {each.api_key: each.max_version for each in body.api_keys}
