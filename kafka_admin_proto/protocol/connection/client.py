"""The client's end: asks for versions, authenticates, sends requests, pairs the answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from kafka_admin_proto.codec import version_number
from kafka_admin_proto.errors import (
    LocalProtocolError,
    RemoteProtocolError,
    UnsupportedVersionError,
)
from kafka_admin_proto.messages.api_versions_request import ApiVersionsRequest
from kafka_admin_proto.messages.api_versions_response import ApiVersionsResponse
from kafka_admin_proto.protocol.connection.base import BaseConnection
from kafka_admin_proto.protocol.connection.events import (
    ConnectionClosed,
    Ready,
    Reauthenticated,
    ResponseReceived,
    SentRequest,
    State,
)
from kafka_admin_proto.protocol.connection.limits import Limits
from kafka_admin_proto.protocol.error_codes import find_error
from kafka_admin_proto.protocol.frames import frame
from kafka_admin_proto.protocol.headers import API_VERSIONS_KEY
from kafka_admin_proto.protocol.payload_writers import write_request
from kafka_admin_proto.protocol.payloads import (
    UNSUPPORTED_VERSION,
    Response,
    api_name,
    expects_response,
    read_response,
)
from kafka_admin_proto.protocol.versions import Api, api_versions, negotiate_apis
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message

_HIGHEST_CORRELATION_ID = (1 << 31) - 1


class ClientConnection(
    BaseConnection[Ready | ResponseReceived | Reauthenticated | ConnectionClosed]
):
    """A client's end of a connection to a broker; ``Connection(CLIENT, ...)`` makes one."""

    def __init__(
        self,
        *,
        client_id: str | None = None,
        software_name: str = "kafka-admin-proto",
        software_version: str = "",
        apis: Iterable[Api] | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(limits)
        self.client_id = client_id
        self._ours = {each.api_key: each.versions for each in apis or api_versions()}
        self._theirs: Mapping[int, VersionRange] = {}
        self._software = (software_name, software_version or _own_version())
        self._correlation_id = 0
        self._pending: deque[SentRequest] = deque()
        self._fell_back = False

    def start(self) -> bytes:
        """The first bytes to write: the question which versions the broker has."""
        if self.state is not State.NEW:
            raise LocalProtocolError("start was called before; a connection starts once")
        self.state = State.NEGOTIATING
        return self._ask_versions(self._ours[API_VERSIONS_KEY].highest)

    def send(self, request: Message, version: int | None = None, context: Any = None) -> bytes:
        """The bytes to write for a request, at the highest version of both peers by default.

        ``context`` comes back with the answer. Raises LocalProtocolError when the connection is
        not ready or too many requests are unanswered, UnsupportedVersionError when the broker
        lacks the api or the version, EncodeError for a value that cannot be written.
        """
        self._check_ready()
        api_key = request.api_key
        if not request.message_name.endswith("Request") or api_key is None:
            raise LocalProtocolError(f"{request.message_name} is not a request")
        version = self._version_for(api_key, version)
        answered = expects_response(api_key, request)
        if answered and len(self._pending) >= self.limits.in_flight:
            raise LocalProtocolError(
                f"{len(self._pending)} requests are unanswered, which is the limit (in_flight); "
                "wait for a response before the next request"
            )
        return self._write(request, version, context, answered)

    def _check_ready(self) -> None:
        if self.state is State.READY:
            return
        raise LocalProtocolError(
            f"the connection is {self.state.value} and takes requests only when it is ready, "
            "which the event Ready tells"
        )

    def _version_for(self, api_key: int, version: int | None) -> int:
        name = api_name(api_key) or f"api key {api_key}"
        theirs = self._theirs.get(api_key)
        if theirs is None:
            raise UnsupportedVersionError(f"the broker does not have {name}")
        if version is not None:
            version = version_number(version)
            if version in theirs:
                return version
            raise UnsupportedVersionError(
                f"the broker has {name} in versions {theirs}, not in version {version}"
            )
        ours = self._ours.get(api_key, VersionRange.NONE)
        shared = ours & theirs
        if shared.empty:
            raise UnsupportedVersionError(
                f"no version of {name} in common: we have {ours}, the broker has {theirs}"
            )
        return shared.highest

    def _write(self, request: Message, version: int, context: Any, answered: bool) -> bytes:
        sent = SentRequest(request.api_key or 0, version, self._correlation_id, context)
        data = frame(write_request(request, version, sent.correlation_id, self.client_id))
        if sent.correlation_id == _HIGHEST_CORRELATION_ID:
            self._correlation_id = 0
        else:
            self._correlation_id += 1
        if answered:
            self._pending.append(sent)
        return data

    def _take(
        self, payload: bytes
    ) -> Ready | ResponseReceived | Reauthenticated | ConnectionClosed | None:
        if not self._pending:
            raise RemoteProtocolError("the broker sent a response, and no request is unanswered")
        request = self._pending.popleft()
        response = read_response(payload, request.api_key, request.version)
        if response.header is None:
            raise RemoteProtocolError(
                f"the response to {_described(request)} has no header that reads: "
                f"{response.problem}"
            )
        found = response.header.correlation_id
        if found != request.correlation_id:
            raise RemoteProtocolError(
                f"the response has correlation id {found}, and the oldest unanswered request, "
                f"{_described(request)}, has {request.correlation_id}"
            )
        if self.state is State.NEGOTIATING:
            return self._take_versions(response)
        return ResponseReceived(response, request)

    def _closed(self) -> ConnectionClosed:
        unanswered = list(self._pending)
        self._pending.clear()
        return ConnectionClosed(unanswered, self.state, self._reader.buffered)

    def _ask_versions(self, version: int) -> bytes:
        name, software_version = self._software
        body = ApiVersionsRequest(
            client_software_name=name, client_software_version=software_version
        )
        return self._write(body, version, None, True)

    def _take_versions(self, response: Response) -> Ready | None:
        body = response.body
        if not isinstance(body, ApiVersionsResponse) or response.error is not None:
            raise RemoteProtocolError(
                f"the broker's ApiVersions response does not read: {response.problem}"
            )
        if body.error_code == UNSUPPORTED_VERSION and not self._fell_back:
            self._fell_back = True
            try:
                again = negotiate_apis(body)[API_VERSIONS_KEY]
            except UnsupportedVersionError as error:
                raise RemoteProtocolError(f"ApiVersions: {error}") from None
            self._out.append(self._ask_versions(again))
            return None
        if body.error_code:
            raise RemoteProtocolError(
                f"the broker answered the ApiVersions request with {_error(body.error_code)}"
            )
        self._theirs = {
            row.api_key: VersionRange(row.min_version, row.max_version) for row in body.api_keys
        }
        self.state = State.READY
        return Ready(self._theirs, body)


def _described(request: SentRequest) -> str:
    return f"{api_name(request.api_key) or request.api_key} v{request.version}"


def _error(code: int) -> str:
    found = find_error(code)
    return f"error {code}" if found is None else f"{found.name} ({code}): {found.meaning}"


def _own_version() -> str:
    from kafka_admin_proto import __version__

    return __version__
