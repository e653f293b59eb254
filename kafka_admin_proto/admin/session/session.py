"""Sends each request to the right broker, again after errors that pass, within its timeout."""

from __future__ import annotations

import asyncio
import random
import warnings
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Self, TypeVar

from kafka_admin_proto.admin.caller import Broker, Caller, Reply, Target, call_deadline
from kafka_admin_proto.admin.errors import (
    AdminError,
    AuthenticationError,
    ConnectionFailedError,
    ConnectionLostError,
    NoSuchBrokerError,
    RequestTimedOutError,
    TlsError,
    UnresolvedError,
)
from kafka_admin_proto.admin.network.connection import BrokerConnection
from kafka_admin_proto.admin.network.pool import Key, Pool
from kafka_admin_proto.admin.network.tracing import Trace
from kafka_admin_proto.admin.retry import Backoff, Deadline, is_transient
from kafka_admin_proto.admin.session.calls import Call, highest_shared_version, listed
from kafka_admin_proto.admin.session.cluster_view import (
    ClusterView,
    cluster_call,
    read_view,
    says_not_controller,
    wrong_listener,
)
from kafka_admin_proto.admin.settings.config import ClientConfig
from kafka_admin_proto.arguments import checked
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages import DescribeClusterResponse, MetadataResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.addresses import Address
from kafka_admin_proto.protocol.error_codes import error_label
from kafka_admin_proto.protocol.payload_values import expects_response
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message

_R = TypeVar("_R", bound=Message)
_T = TypeVar("_T")

#: What the one of brokers and controllers answers that was taken for the other.
_WRONG_ENDPOINT = (codes.MISMATCHED_ENDPOINT_TYPE, codes.UNSUPPORTED_ENDPOINT_TYPE)
#: Seconds more than a request asks the broker to take, before the broker counts as silent.
_GRACE_S = 5.0
#: Connections that may end at their first request before a client without any answer gives up.
_ENDED_UNANSWERED = 2
#: Seconds that one broker has for an answer at least, where there are others to ask.
_LEAST_TURN_S = 0.1
#: Seconds that a timer of the event loop may be early.
_TIMER_S = 0.001


class Session(Caller):
    """Connections to the brokers of one cluster, opened when they are first needed.

    Use it with ``async with``, or call ``close``. It belongs to the event loop that it is first
    used in.
    """

    def __init__(self, config: ClientConfig, *, trace: Trace | None = None) -> None:
        self.config = config
        self.default_timeout: float = config.timeout
        self.asks_controllers: bool = bool(config.bootstrap_controllers)
        self.backoff: Backoff = config.backoff
        self._pool = Pool(config, checked(trace, Trace | None, "trace"))
        self._view: ClusterView | None = None
        self._is_stale = True
        #: Brokers that were live at some time.
        self._known: set[int] = set()
        self._refreshing = asyncio.Lock()
        #: The call that reads the view now, or did so last.
        self._reading: Call[Any] | None = None
        self._was_answered = False
        self._ended_unanswered = 0
        #: The event loop that it was first used in.
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End all connections; the client cannot be used any more."""
        self._check_loop()
        await self._pool.close()

    def __del__(self) -> None:
        pool = getattr(self, "_pool", None)
        if pool is not None and pool.is_open:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=2)

    async def call(
        self,
        request: Message,
        response: type[_R],
        *,
        to: int | Target = Target.ANY,
        timeout: float | None = None,
        repeatable: bool = True,
        versions: VersionRange | None = None,
    ) -> Reply[_R]:
        if not expects_response(request.api_key or 0, request):
            raise AdminError("a Produce with acks 0 has no response; send it with acks 1 or -1")
        deadline = self._deadline(timeout)
        if to is Target.ANY and self.asks_controllers:
            to = Target.CONTROLLER  # the active one has the newest state, and takes changes
        call = Call(request, response, to, deadline, repeatable=repeatable, versions=versions)
        return await self._within_deadline(call, self._attempts(call))

    async def call_owner(
        self,
        request: Message,
        response: type[_R],
        *,
        to: int,
        timeout: float | None = None,
        versions: VersionRange | None = None,
    ) -> Reply[_R]:
        deadline = self._deadline(timeout)
        call = Call(request, response, to, deadline, versions=versions, single_attempt=True)
        return await self._within_deadline(call, self._attempts(call))

    async def brokers(
        self, *, refresh: bool = False, timeout: float | None = None
    ) -> Mapping[int, Broker]:
        call = self._cluster_call(self._deadline(timeout))
        if refresh:
            self._is_stale = True
        return (await self._within_deadline(call, self._current_view(call))).brokers

    async def versions(
        self, broker: int | Target = Target.ANY, *, timeout: float | None = None
    ) -> Mapping[int, VersionRange]:
        call = self._cluster_call(self._deadline(timeout))
        call.to = broker
        return (await self._within_deadline(call, self._connect(call))).apis

    async def call_all(
        self,
        request: Message,
        response: type[_R],
        *,
        brokers: Sequence[int] | None = None,
        timeout: float | None = None,
    ) -> Mapping[int, Reply[_R] | Exception]:
        deadline = self._deadline(timeout)
        if brokers is None:
            brokers = sorted(await self.brokers(timeout=deadline.left))
        ids = list(dict.fromkeys(brokers))

        async def one(broker: int) -> Reply[_R] | Exception:
            try:
                return await self.call(request, response, to=broker, timeout=deadline.left)
            except Exception as error:
                return error

        return dict(zip(ids, await asyncio.gather(*map(one, ids)), strict=True))

    def _deadline(self, timeout: float | None) -> Deadline:
        """The deadline of a call that begins now, in the client's own event loop."""
        self._check_loop()
        return call_deadline(self, timeout)

    def _check_loop(self) -> None:
        """Raise AdminError in another event loop than the one that the client was first used in."""
        loop = asyncio.get_running_loop()
        if self._loop not in (None, loop):
            raise AdminError(
                "the client belongs to the event loop that it was first used in: make one for each "
                "loop and asyncio.run, or take a SyncAdminClient, which any thread and loop may use"
            )
        self._loop = loop

    async def _within_deadline(self, call: Call[Any], work: Awaitable[_T]) -> _T:
        try:
            async with asyncio.timeout(call.deadline.left):
                return await work
        except RequestTimedOutError:
            raise
        except TimeoutError:
            raise call.timed_out(self._reading) from None

    # The attempts of a call.

    async def _attempts(self, call: Call[_R]) -> Reply[_R]:
        while True:
            call.attempts += 1
            pause = self.backoff.pause(call.attempts)
            try:
                connection = await self._connect(call)
                reply = await self._send(call, connection)
            except ConnectionLostError as error:
                self._is_stale = True
                call.maybe_repeated |= error.may_have_acted
                is_final = call.single_attempt or self._is_final(error)
                if is_final or (call.maybe_repeated and not call.repeatable):
                    raise
                call.last_error = str(error)
            except ConnectionFailedError as error:
                self._is_stale = True
                if call.single_attempt or self._is_final(error):
                    raise
                call.last_error = str(error)
            else:
                fault = self._transient_fault(call, reply)
                if not fault or call.single_attempt or pause >= call.deadline.left:
                    return reply
                call.last_error = f"{connection.name} answered {fault}"
            call.waiting = "the next attempt"
            await asyncio.sleep(pause)

    def _is_final(self, error: ConnectionFailedError) -> bool:
        """Whether another attempt would fail in the same way.

        A client that has never had a connection gives up at once: the address is likely wrong.
        """
        permanent = (AuthenticationError, TlsError, UnresolvedError, NoSuchBrokerError)
        if isinstance(error, permanent) or not self._pool.ever_connected:
            return True
        # Listeners with SASL end a connection without it at its first request.
        return not self._was_answered and self._ended_unanswered >= _ENDED_UNANSWERED

    def _transient_fault(self, call: Call[_R], reply: Reply[_R]) -> str:
        """The error of an answer after which the request is sent again; empty if there is none."""
        if call.to is Target.CONTROLLER and says_not_controller(reply.body):
            self._is_stale = True
            # A controller that resigns answers so for what it has written, which may last.
            call.maybe_repeated |= self.asks_controllers
            return f"NOT_CONTROLLER{call.controller_error}"
        code = getattr(reply.body, "error_code", 0)
        return error_label(code) if code and is_transient(code) else ""

    async def _send(self, call: Call[_R], connection: BrokerConnection) -> Reply[_R]:
        version = highest_shared_version(call, connection)
        await self._wait_out_throttle(call, connection)
        call.waiting = f"the answer of {connection.name}"
        limit = self.config.request_timeout
        if (asked_ms := getattr(call.request, "timeout_ms", 0)) > 0:
            limit = max(limit, asked_ms / 1000 + _GRACE_S)
        timeout = limit
        if call.fits_any and _LEAST_TURN_S <= (half := call.deadline.left / 2) < limit:
            others = {each for _, each in self._addresses()} - {*call.failed, connection.address}
            timeout = half if others else limit  # the last one has it all
        call.is_sent = True
        answered = connection.answered
        try:
            async with asyncio.timeout(timeout):
                event = await connection.request(call.request, version)
        except (ConnectionLostError, TimeoutError) as error:
            call.is_sent = False
            call.failed[connection.address] = None
            if isinstance(error, ConnectionLostError):
                self._ended_unanswered += 1
                raise
            silent = call.unanswered(connection, timeout)
            if timeout < limit:  # other calls may still wait for answers
                connection.is_silent |= connection.answered == answered
            else:
                connection.close(silent)
            raise silent from None
        except asyncio.CancelledError:
            # Other calls may still wait for answers, so it stays open; new calls avoid it, and
            # where nobody waits any more they get a new one (``is_abandoned``).
            if call.deadline.left < _TIMER_S and connection.answered == answered:
                connection.is_silent = True
            raise
        call.is_sent = False
        self._was_answered = True
        body = event.response.body
        if not isinstance(body, call.response):
            raise TypeError(f"{call.api} is answered with {type(body).__name__}")
        broker = -1 if connection.broker is None else connection.broker
        return Reply(body, broker, event.response.api_version, call.maybe_repeated)

    async def _wait_out_throttle(self, call: Call[Any], connection: BrokerConnection) -> None:
        """Wait as long as the broker has asked for, because a quota was exceeded."""
        while (wait := connection.throttled_until - asyncio.get_running_loop().time()) > 0:
            call.waiting = (
                f"{connection.name}, which wants no request for {wait:.1f} s as a quota is exceeded"
            )
            await asyncio.sleep(wait)

    # The connection to use.

    async def _connect(self, call: Call[Any]) -> BrokerConnection:
        if call.to is Target.ANY:
            return await self._connect_any(call)
        before = self._view
        view = await self._current_view(call)
        if call.to is Target.CONTROLLER:
            return await self._connect_controller(call, view)
        assert isinstance(call.to, int)
        if call.to not in view.brokers and view is before:
            self._is_stale = True
            view = await self._current_view(call)
        return await self._connect_broker(call, view, call.to)

    async def _connect_any(self, call: Call[Any]) -> BrokerConnection:
        now = asyncio.get_running_loop().time()
        usable = self._pool.usable

        def is_silent(connection: BrokerConnection) -> bool:
            failed = connection.address in call.failed
            return failed or connection.is_silent or connection.is_abandoned

        usable.sort(key=lambda each: (is_silent(each), each.throttled_until > now, each.in_flight))
        if usable and not is_silent(usable[0]):
            return usable[0]
        abandoned = {each.address for each in usable if each.is_abandoned}
        is_open = {each.address for each in usable} - abandoned
        candidates = [each for each in self._addresses() if each[1] not in is_open]
        last = {*call.failed, *abandoned}
        candidates.sort(key=lambda each: (each[1] in last, self._pool.failures(each[0])))
        if not candidates:
            return usable[0]
        call.waiting = f"a connection to {listed([each for _, each in candidates], 'or')}"
        try:
            return await self._pool.first(candidates)
        except ConnectionFailedError:
            if usable:
                return usable[0]
            raise

    def _addresses(self) -> list[tuple[Key, Address]]:
        """The known brokers in random order, then the bootstrap addresses."""
        known = [] if self._view is None else list(self._view.brokers.values())
        random.shuffle(known)
        own = ((each.id, Address(each.host, each.port)) for each in known)
        return [*own, *((each, each) for each in self.config.addresses)]

    async def _connect_controller(self, call: Call[Any], view: ClusterView) -> BrokerConnection:
        if view.controller is None:
            self._is_stale = True
            raise ConnectionFailedError("the cluster has no active controller now")
        try:
            return await self._connect_broker(call, view, view.controller)
        except (AuthenticationError, TlsError):
            raise
        except ConnectionFailedError as error:
            # Each broker of a KRaft cluster passes the request on; others answer NOT_CONTROLLER.
            if self.asks_controllers or not self._pool.usable:
                raise
            call.controller_error = f"; {error}"
            return await self._connect_any(call)

    async def _connect_broker(
        self, call: Call[Any], view: ClusterView, id_: int
    ) -> BrokerConnection:
        broker = view.brokers.get(id_)
        if broker is None:
            self._is_stale = True
            kind = ConnectionFailedError if id_ in self._known else NoSuchBrokerError
            raise kind(f"broker {id_} is not among the live brokers: {view.ids}")
        address = Address(broker.host, broker.port)
        own = "" if address in self.config.addresses else ", the address that it advertises"
        call.waiting = f"a connection to broker {id_} at {address}{own}"
        return await self._pool.get(id_, address)

    # The view of the cluster.

    def _cluster_call(self, deadline: Deadline) -> Call[MetadataResponse | DescribeClusterResponse]:
        return cluster_call(deadline, asks_controllers=self.asks_controllers)

    async def _current_view(self, call: Call[Any]) -> ClusterView:
        """The view of the cluster, read again when it is old or an answer contradicted it."""
        call.needs_view = True
        async with self._refreshing:
            view = self._view
            if view is None or self._is_stale or view.age > self.config.metadata_max_age:
                view = await self._read_view(call.deadline)
        call.needs_view = False
        return view

    async def _read_view(self, deadline: Deadline) -> ClusterView:
        call = self._reading = self._cluster_call(deadline)
        while True:
            try:
                reply = await self._attempts(call)
            except UnsupportedVersionError as error:
                raise wrong_listener(self.config, str(error)) from None
            code = getattr(reply.body, "error_code", 0)
            if code in _WRONG_ENDPOINT:
                raise wrong_listener(self.config, f"it answered {error_label(code)}")
            view = read_view(reply.body)
            if view.brokers:
                break
            await asyncio.sleep(self.backoff.pause(call.attempts))
        self._view, self._is_stale = view, False
        self._known |= view.brokers.keys()
        for broker in view.brokers.values():
            self._pool.share_with_broker(Address(broker.host, broker.port), broker.id)
        return view
