"""Which bytes of a connection may be a SASL token, so that outputs show nothing of them.

After SaslHandshake v0 the client's password, or its proof, follows with only a size in front. Where
packets are missing, or a size is damaged, such a token is read as a request of some api. Therefore
one rule holds: of a connection that has sent a handshake of version 0, or may have sent one, a
frame is shown only if it decodes whole as a request of a known api and version, or as the response
to one. A dump has no connections to follow; its rule is `DumpTokenGuard`.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from kafka_admin_proto.codec import Codec
from kafka_admin_proto.errors import TrailingBytesError
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.payload_values import Request, Response

#: Requests that a client may send before it has logged in.
BEFORE_LOGIN = frozenset(
    {api_keys.SASL_HANDSHAKE, api_keys.SASL_AUTHENTICATE, api_keys.API_VERSIONS}
)
#: A version above this is not one: no api has as many, and two letters of a text read as more.
_MAX_VERSIONS = 100
#: The first bytes of a frame with a handshake or a token: size, api key, version.
_SASL_START = re.compile(rb"\0.{3}\0[\x11\x24]\0[\0-\x02]", re.DOTALL)


class Exposure(NamedTuple):
    """How much of a frame may be a credential; fields of the decoded frame."""

    may_be_token: bool = False
    may_be_secret: bool = False


_HARMLESS = Exposure()


class TokenGuard(msgspec.Struct):
    """What the requests of one connection have shown so far.

    ``raw_tokens``: a handshake of version 0 was captured, or may have been missed where bytes were
    not captured. ``unsettled``: a handshake of another version was captured, whose version may be
    damaged, or a frame did not decode, whose size may be; it ends with a request that needs a
    login. ``sasl``: a handshake of any version was captured, so that bytes which do not decode may
    hold credentials. ``proven``: a request has decoded; before that, frames may start anywhere.
    ``cut_off``: the capture's snap length cut off a packet, which is why bytes are missing.
    """

    raw_tokens: bool = False
    unsettled: bool = False
    sasl: bool = False
    proven: bool = False
    cut_off: bool = False

    def bytes_missing(self) -> None:
        """The start of the connection, or a later part of it, was not captured."""
        self.raw_tokens = True

    @property
    def must_decode(self) -> bool:
        """Whether a frame has to be decoded before any part of it can be shown."""
        return self.raw_tokens or self.unsettled or self.sasl or not self.proven

    def request(
        self, request: Request, codec: Codec[Any] | None, *, truncated: bool = False
    ) -> Exposure:
        """Judge the client's next request, and learn from it; ``codec`` None: it is not known."""
        exposure = _HARMLESS
        whole = codec is not None and request.error is None and not truncated
        self.proven = self.proven or whole
        if not whole:
            if _SASL_START.search(request.data, request.body_offset):
                # Its size may be wrong, so that it has swallowed a handshake of any version.
                self.raw_tokens = True
            exposure = self.undecoded()
            if not looks_like_a_request(request):
                exposure = exposure._replace(may_be_token=True)
        if request.api_key == api_keys.SASL_HANDSHAKE:
            self.sasl = self.unsettled = True
            self.raw_tokens = self.raw_tokens or request.api_version == 0
        elif not whole:
            # Nobody knows where a request of an unknown api or version ends.
            may_end = codec is None or _has_bytes_left(request)
            self.unsettled = self.unsettled or not may_end or request.header is None
        elif request.api_key not in BEFORE_LOGIN:
            self.unsettled = False
        return exposure

    def undecoded(self) -> Exposure:
        """Judge a frame that did not decode whole as a known request, or as the response to one."""
        if self.raw_tokens or self.unsettled:
            return Exposure(may_be_token=True)
        return Exposure(may_be_secret=self.sasl or not self.proven)


def _has_bytes_left(request: Request) -> bool:
    """Whether a request ends in bytes that are not its own, and not those of another frame.

    Brokers pass over them. A frame starts with a zero byte: its size is below 16 MiB.
    """
    error = request.error
    return isinstance(error, TrailingBytesError) and error.rest[0] != 0


class DumpTokenGuard:
    """What the frames of one dump have shown so far; it may have any part of any connection.

    Nobody knows what came before its first frame, and requests that decode say nothing of the
    frames behind them, which may be another connection's.
    """

    def __init__(self) -> None:
        #: A handshake of version 0 was in the dump.
        self._raw_tokens = False
        #: A handshake of any version was in the dump, or a token with a header in front.
        self._sasl = False

    def frame(self, payload: Request | Response, codec: Codec[Any] | None) -> Exposure:
        """Judge the next frame, and learn from it."""
        exposure = _HARMLESS
        if payload.error is not None:
            no_header = isinstance(payload, Request) and not looks_like_a_request(payload)
            exposure = Exposure(self._raw_tokens or no_header, self._sasl or codec is None)
        if payload.api_key in (api_keys.SASL_HANDSHAKE, api_keys.SASL_AUTHENTICATE):
            self._sasl = True
            without_header = payload.api_key == api_keys.SASL_HANDSHAKE and payload.api_version == 0
            self._raw_tokens = self._raw_tokens or without_header
        return exposure

    def cut_frame(self, payload: Request | Response, codec: Codec[Any] | None) -> Exposure:
        """Judge a frame that ends before its size says, with an error; and learn from it.

        Its size may be that of no frame, or a wrong one that has swallowed a login.
        """
        exposure = self.frame(payload, codec)
        is_known = codec is not None and not _SASL_START.search(payload.data, payload.body_offset)
        return exposure if is_known else exposure._replace(may_be_token=True)


def looks_like_a_request(request: Request) -> bool:
    """Whether bytes that do not decode may be a request all the same, going by the header.

    The header is all that is known of a request of an unknown api. A token does not look so: text
    makes version numbers and client ids that no client sends.
    """
    header = request.header
    if header is None or not 0 <= request.api_version < _MAX_VERSIONS:
        return False
    return header.client_id is None or is_plausible_client(header.client_id)


def is_plausible_client(client_id: str | None) -> bool:
    """Whether a client may have that name: printable ASCII; an empty one proves nothing."""
    return client_id is not None and re.fullmatch("[ -~]+", client_id) is not None
