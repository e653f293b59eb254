"""Plain frames: the compiled engine decodes them and gathers their rows, without values in between.

Plain is a packet with the next bytes of a connection that speaks Kafka, and in it a request or a
response that decodes to its end. The engine follows such connections in the objects of this package
(`Conversation` and those in it), which it reads and fills, so that any packet may go either way. It
takes the plain ones and leaves all others to these objects' methods, which say what is wrong.

The row is that of `frame_record`, with the same keys in the same order; tests compare the two. It
becomes a line (`plain_rows`), or cells of Arrow's columns (`tables/plain_flows.py`).
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import msgspec

from kafka_admin_proto.capture.connection.connection import Connection
from kafka_admin_proto.capture.connection.conversation import Conversation
from kafka_admin_proto.capture.connection.endpoints import Endpoints
from kafka_admin_proto.capture.connection.envelope import envelope_principal
from kafka_admin_proto.capture.connection.exchange import (
    STATEFUL_REQUESTS,
    STATEFUL_RESPONSES,
    Exchange,
    software_of,
)
from kafka_admin_proto.capture.connection.pairing import (
    EarlyResponses,
    Holes,
    PendingRequest,
    RequestTable,
)
from kafka_admin_proto.capture.connection.sasl import SaslExchange
from kafka_admin_proto.capture.connection.stream_decoder import StreamDecoder
from kafka_admin_proto.capture.connection.token_guard import BEFORE_LOGIN, TokenGuard
from kafka_admin_proto.capture.connection.topic_names import NAMING_API_KEYS, TopicNameIndex
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.tcp.framing import Framer
from kafka_admin_proto.capture.tcp.reassembly import StreamReassembler
from kafka_admin_proto.capture.tcp.segments import SYN
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.error_codes import error_name
from kafka_admin_proto.protocol.headers import (
    message_of,
    request_header_version,
    response_header_version,
)
from kafka_admin_proto.protocol.payload_values import body_codec
from kafka_admin_proto.protocol.payloads import api_name
from kafka_admin_proto.render.embedded import has_embedded, show_embedded
from kafka_admin_proto.schema.catalog import catalog

#: Bytes of a body whose meaning is kept.
_KEPT_BYTES = 512
#: The objects whose slots the engine reads and fills.
_STATE = (
    Connection, Conversation, EarlyResponses, Endpoints, Exchange, Framer, Holes, PendingRequest,
    RequestTable, SaslExchange, StreamDecoder, StreamReassembler, TokenGuard, TopicNameIndex,
)  # fmt: skip
#: Headers that the engine reads: two numbers, the correlation id, the client id, and tags.
_REQUEST_HEADERS, _RESPONSE_HEADERS = (1, 2), (0, 1)
#: Api keys of messages that Python takes: logins.
_PYTHONS_RESPONSES = frozenset({api_keys.SASL_AUTHENTICATE})
_PYTHONS_REQUESTS = _PYTHONS_RESPONSES | {api_keys.SASL_HANDSHAKE}


class PlainFrames:
    """What the engine asks for about frames, whatever it makes of them.

    ``options`` are those of the conversations.
    """

    def __init__(self, options: DecodeOptions, engine: Any) -> None:
        self._engine = engine
        self._options = options

    def _frames(self, rows: Any, names: TopicNameIndex, *, mask: bool) -> Any:
        """The engine's reader of frames, which adds their rows to ``rows``."""
        classes = {each.__name__: each for each in _STATE}
        naming = NAMING_API_KEYS | {api_keys.ENVELOPE}
        return self._engine.FrameReader(self, classes, rows, names, naming, mask)

    def _pattern(self, names: TopicNameIndex, out: list[DecodedFrame]) -> Any:
        """What the engine makes conversations by, whose frames go to ``out``."""
        opened = Conversation(bytes(12), self._options, names, out)
        opened.segment(0, 0, SYN, b"", 0, 0, 0, 0, "")
        return self._engine.Pattern(opened, tuple(_STATE), (self._options, names, out))

    # Methods for the engine -------------------------------------------------------------------

    def plan(self, is_response: bool, api_key: int, api_version: int) -> Any:
        """How the engine takes a message; None where it does not."""
        stateful = STATEFUL_RESPONSES if is_response else STATEFUL_REQUESTS
        reads = api_key in stateful or self._options.reads_body(api_key)
        generation, dialect = catalog().generation, self._options.dialect
        return _plan(self._engine, generation, dialect, is_response, api_key, api_version, reads)

    def with_embedded(self, codec: Codec[Any], text: bytes) -> bytes:
        """The JSON of a body, with the messages in its bytes."""
        shown = msgspec.json.decode(text)
        show_embedded(codec.name, shown)
        return msgspec.json.encode(shown)

    def software(self, codec: Codec[Any], body: bytes) -> str | None:
        """What a client says in an ApiVersions that it is."""
        return (_software if len(body) <= _KEPT_BYTES else _software.__wrapped__)(codec, body)

    def principal(self, data: bytes) -> str | None:
        return _principal(data)


#: A process decodes many parts of a capture. A plan keeps the codec of its message.
@lru_cache(maxsize=1024)
def _plan(
    engine: Any, generation: int, dialect: str, is_response: bool, api_key: int, api_version: int,
    reads: bool,
) -> Any:  # fmt: skip
    if api_key in (_PYTHONS_RESPONSES if is_response else _PYTHONS_REQUESTS):
        return None
    kind = "response" if is_response else "request"
    found = message_of(api_key, api_version, kind, dialect)
    if found is None or api_version not in catalog().entry(*found).versions:
        return None
    message, own_dialect = found
    of_header = response_header_version if is_response else request_header_version
    header = of_header(api_key, api_version, dialect)
    headers = _RESPONSE_HEADERS if is_response else _REQUEST_HEADERS
    name = api_name(api_key, dialect)
    if header not in headers or name is None:
        return None
    if api_key == api_keys.ENVELOPE and own_dialect != "kafka":
        return None  # its fields may have other places
    plan = engine.CapturePlan(
        name,
        own_dialect,
        partial(_engine_and_codec, engine, generation, kind, api_key, api_version, dialect),
        flexible=header == headers[1],
        reads=reads,
        names=is_response and api_key in NAMING_API_KEYS,
        software=not is_response and api_key == api_keys.API_VERSIONS,
        falls_back=is_response and api_key == api_keys.API_VERSIONS,
        ends_login=api_key not in BEFORE_LOGIN,
        embeds=has_embedded(message),
        encloses=api_key == api_keys.ENVELOPE,
    )
    return None if reads and not plan.is_plain else plan


def _engine_and_codec(
    engine: Any, generation: int, kind: str, api_key: int, api_version: int, dialect: str
) -> tuple[Any, Codec[Any]]:
    """The engine for a message, None where it has no nodes for it, and its codec."""
    codec: Codec[Any] = body_codec(generation, kind, api_key, api_version, dialect)
    if codec.engine is not None:
        return codec.engine, codec
    node = codec.grammar.node()
    try:
        return None if node is None else engine.Engine(node), codec
    except ValueError:
        return None, codec


_principal = lru_cache(maxsize=256)(envelope_principal)


@lru_cache(maxsize=256)
def _software(codec: Codec[Any], body: bytes) -> str | None:
    return software_of(codec.decode(body))


@lru_cache(maxsize=256)
def error_texts(dialect: str, codes: tuple[int, ...]) -> tuple[str, ...]:
    """The names of error codes; an unknown code is its number."""
    return tuple(error_text(code, dialect=dialect) for code in codes)


def error_text(code: int, *, dialect: str) -> str:
    """The name of an error code; an unknown code is its number."""
    return error_name(code, dialect=dialect) or str(code)
