"""Which bytes of a connection may be a SASL token: nothing of those is shown.

After SaslHandshake v0 the client's password, or what proves it, follows with only a size in front.
Where packets are missing, or a size is damaged, such a token is read as a request of some api. One
rule holds: of a connection that has handshaken with version 0, or may have, nothing is shown but
what decodes whole as a request of a known api and version, or as the response to one. A dump has
no connections that could be followed: ``DumpTokenGuard`` has what holds there.
"""

from __future__ import annotations

import re

from kafka_admin_proto.capture.connection.pairing import SASL_HANDSHAKE_KEY
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.protocol.headers import API_VERSIONS_KEY
from kafka_admin_proto.protocol.payloads import Request, Response

SASL_AUTHENTICATE_KEY = 36
#: What a client may ask before it has shown who it is.
_BEFORE_LOGIN = frozenset({SASL_HANDSHAKE_KEY, SASL_AUTHENTICATE_KEY, API_VERSIONS_KEY})
#: No api has come near so many versions; two letters of a text read as far more.
_MOST_VERSIONS = 100
#: How a frame with a handshake or a token begins: size, api key, version.
_SASL_START = re.compile(rb"\0.{3}\0[\x11\x24]\0[\0-\x02]", re.DOTALL)


class TokenGuard:
    """What is known of one connection, request by request."""

    def __init__(self) -> None:
        #: A handshake of version 0 was seen, or may have been: where bytes were not captured.
        self._raw_tokens = False
        #: Until a request decodes that needs a login: a handshake of another version was seen,
        #: whose version may be damaged, or a frame did not decode, whose size may be.
        self._unsettled = False
        #: Whether there was a handshake of any version: undecoded bytes may hold credentials.
        self._sasl = False
        #: Whether a request has decoded: until then, frames may start anywhere.
        self._proven = False

    def bytes_missing(self) -> None:
        """The start of the connection, or something later, was not captured."""
        self._raw_tokens = True

    @property
    def must_decode(self) -> bool:
        """Whether a frame has to be decoded before anything of it can be shown."""
        return self._raw_tokens or self._unsettled or self._sasl or not self._proven

    def request(self, request: Request, frame: DecodedFrame) -> None:
        """Mark the frame of the client's next request, and learn from it."""
        whole = frame.codec is not None and frame.error is None
        self._proven = self._proven or whole
        if not whole:
            if _SASL_START.search(frame.data, frame.body_offset):
                # Its size may be wrong, so that it has swallowed a handshake of any version.
                self._raw_tokens = True
            self.undecoded(frame)
            if not looks_like_a_request(request):
                frame.may_be_token = True
        if request.api_key == SASL_HANDSHAKE_KEY:
            self._sasl = self._unsettled = True
            self._raw_tokens = self._raw_tokens or request.api_version == 0
        elif not whole:
            # Of an unknown api or version nobody knows where it ends.
            self._unsettled = self._unsettled or frame.codec is not None or frame.header is None
        elif request.api_key not in _BEFORE_LOGIN:
            self._unsettled = False

    def undecoded(self, frame: DecodedFrame) -> None:
        """Mark a frame that did not decode whole as a known request, or as the response to one."""
        if self._raw_tokens or self._unsettled:
            frame.may_be_token = True
        elif self._sasl or not self._proven:
            frame.may_be_secret = True


class DumpTokenGuard:
    """What is known of one dump, frame by frame: it may have any part of any connection.

    Nobody knows what came before its first frame, and requests that decode say nothing of the
    frames behind them, which may be another connection's.
    """

    def __init__(self) -> None:
        #: A handshake of version 0 was seen.
        self._raw_tokens = False
        #: There was a handshake of any version, or a token with a header in front.
        self._sasl = False

    def frame(self, read: Request | Response, frame: DecodedFrame) -> None:
        """Mark the next frame if it did not decode whole, and learn from it."""
        if read.error is not None:
            no_header = isinstance(read, Request) and not looks_like_a_request(read)
            frame.may_be_token = self._raw_tokens or no_header
            frame.may_be_secret = self._sasl or frame.codec is None
        if read.api_key in (SASL_HANDSHAKE_KEY, SASL_AUTHENTICATE_KEY):
            self._sasl = True
            without_header = read.api_key == SASL_HANDSHAKE_KEY and read.api_version == 0
            self._raw_tokens = self._raw_tokens or without_header


def looks_like_a_request(request: Request) -> bool:
    """Whether bytes that do not decode may be a request all the same, going by the header.

    Of an unknown api it says all that is known. A token does not look so: text makes version
    numbers and client ids that no client sends.
    """
    header = request.header
    if header is None or not 0 <= request.api_version < _MOST_VERSIONS:
        return False
    return header.client_id is None or is_plausible_client(header.client_id)


def is_plausible_client(client_id: str | None) -> bool:
    """Whether a client may have that name: printable ASCII; an empty one proves nothing."""
    return client_id is not None and re.fullmatch("[ -~]+", client_id) is not None
