"""What passes through the proxy: any frames in any pieces, in order, with the proxy's addresses."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Generator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.errors import (
    LocalProtocolError,
    RemoteProtocolError,
    UnsupportedVersionError,
)
from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_admin_proto.messages.api_versions_response import ApiVersion
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.metadata_response import MetadataResponseBroker
from kafka_admin_proto.protocol import api_versions, frame, read_response, write_request
from kafka_admin_proto.protocol.connection import Limits
from kafka_admin_proto.protocol.payload_writers import write_response
from kafka_admin_proto.proxy.apis import has_addresses
from kafka_admin_proto.proxy.call import Call
from kafka_admin_proto.proxy.connection.relay import Relay
from kafka_admin_proto.proxy.filters import Filters
from kafka_admin_proto.proxy.rules import Rules
from kafka_admin_proto.testing import messages
from kafka_admin_proto.values import Message
from tests.helpers.profile import draws

#: Apis whose responses a proxy always reads, or whose requests may have none.
_READ = {"ApiVersions", "SaslHandshake", "Produce"}
_APIS = [each for each in api_versions() if each.name not in _READ]


def local(node_id: int, host: str, port: int) -> tuple[str, int]:
    return "proxy", 10_000 + node_id % 1000


def relay(*filters: object, limits: Limits | None = None) -> Relay:
    return Relay(
        Rules(Filters(filters), local, api_versions(), limits or Limits()), "127.0.0.1:1", 1
    )


def asked(body: Message, version: int, correlation_id: int = 7) -> bytes:
    return frame(write_request(body, version, correlation_id, "me"))


def answered(body: Message, version: int, correlation_id: int = 7) -> bytes:
    return frame(write_response(body, version, correlation_id))


def taken(out: list[bytes]) -> bytes:
    found = b"".join(out)
    out.clear()
    return found


def pieces(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    places = [0, *sorted(each % (len(data) + 1) for each in cuts), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(places)]


class _Sees:
    """A filter that changes nothing."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_request(self, request: Message, call: Call) -> None:
        self.seen.append(request.message_name)

    def on_response(self, response: Message, call: Call) -> None:
        self.seen.append(response.message_name)


@pytest.mark.exhaustive
@settings(max_examples=draws(600))
@given(st.data())
def test_frames_pass_as_they_came(data: st.DataObject) -> None:
    """With a filter that changes nothing, too; only addresses become the proxy's."""
    filters = data.draw(st.sampled_from([(), (_Sees(),)]))
    passed = relay(*filters)
    calls = []
    for number in range(data.draw(st.integers(1, 3))):
        api = data.draw(st.sampled_from(_APIS))
        version = data.draw(st.integers(api.versions.lowest, api.versions.highest))
        request = data.draw(messages(f"{api.name}Request", version))
        response = data.draw(messages(f"{api.name}Response", version))
        rest = data.draw(st.sampled_from([b"", b"", b"\0\0\0"]))  # which librdkafka sends
        sent_frame = frame(asked(request, version, number)[4:] + rest)
        calls.append((api, version, sent_frame, response))
    cuts = st.lists(st.integers(0, 1 << 16), max_size=4)
    sent = b"".join(each[2] for each in calls)
    for piece in pieces(sent, data.draw(cuts)):
        passed.from_client(piece)
    assert taken(passed.to_broker) == sent
    given_back = b"".join(
        answered(response, version, number)
        for number, (_, version, _, response) in enumerate(calls)
    )
    for piece in pieces(given_back, data.draw(cuts)):
        passed.from_broker(piece)
    out = taken(passed.to_client)
    if not any(has_addresses(api.api_key, version) for api, version, *_ in calls):
        assert out == given_back
    for api, version, _, response in calls:
        size = int.from_bytes(out[:4], "big")
        found = read_response(out[4 : 4 + size], api.api_key, version).body
        out = out[4 + size :]
        _move(response)
        assert found == response
    assert not out
    for each in filters:
        assert each.seen == [f"{api.name}Request" for api, *_ in calls] + [
            f"{api.name}Response" for api, *_ in calls
        ]
        each.seen.clear()


def _move(response: Any) -> None:
    """Put the proxy's address where a response has a broker's, found by the names of fields."""
    brokers = [response] if response.message_name == "FindCoordinatorResponse" else []
    if response.message_name in _WITH_ADDRESSES:
        for name in ("brokers", "coordinators", "node_endpoints"):
            brokers += getattr(response, name, [])
    for each in brokers:
        if each.port > 0:
            node_id = getattr(each, "broker_id", getattr(each, "node_id", None))
            assert node_id is not None
            each.host, each.port = local(node_id, each.host, each.port)


_WITH_ADDRESSES = {
    f"{each}Response"
    for each in ("Metadata", "DescribeCluster", "FindCoordinator", "Fetch", "ShareFetch",
                 "ShareAcknowledge")
}  # fmt: skip


@given(st.binary(max_size=200), st.booleans(), st.data())
def test_random_bytes_are_refused_with_a_sentence(
    garbage: bytes, whole: bool, data: st.DataObject
) -> None:
    passed = relay(_Sees())
    sent = frame(garbage) if whole else garbage
    try:
        if data.draw(st.booleans()):
            passed.from_client(sent)
        else:
            passed.from_client(asked(MetadataRequest(), 12))
            passed.from_broker(sent)
    except RemoteProtocolError as error:
        assert "the client" in str(error) or "the broker" in str(error)


@pytest.mark.exhaustive
@settings(max_examples=draws(400))
@given(st.data())
def test_damaged_frames_are_refused_or_passed(data: st.DataObject) -> None:
    api = data.draw(st.sampled_from(_APIS))
    version = data.draw(st.integers(api.versions.lowest, api.versions.highest))
    request = asked(data.draw(messages(f"{api.name}Request", version)), version)
    response = answered(data.draw(messages(f"{api.name}Response", version)), version)
    passed = relay(_Sees())
    whole = data.draw(st.booleans())
    try:
        passed.from_client(request if whole else _damaged(request, data))
        passed.from_broker(_damaged(response, data) if whole else response)
    except RemoteProtocolError:
        pass


def _damaged(data: bytes, drawn: st.DataObject) -> bytes:
    bit = drawn.draw(st.integers(32, 8 * len(data) - 1))
    flipped = bytearray(data)
    flipped[bit // 8] ^= 1 << bit % 8
    return bytes(flipped)


class _Refuses:
    """Deletions are answered by the proxy, creations get another name."""

    def on_request(
        self, request: DeleteTopicsRequest | CreateTopicsRequest, call: Call
    ) -> Message | None:
        if isinstance(request, DeleteTopicsRequest):
            return DeleteTopicsResponse()
        for each in request.topics:
            each.name = f"x-{each.name}"
        return None

    def on_response(self, response: CreateTopicsResponse, call: Call) -> CreateTopicsResponse:
        assert isinstance(call.request, CreateTopicsRequest)
        return CreateTopicsResponse(throttle_time_ms=len(call.request.topics))


@given(st.lists(st.sampled_from(["create", "delete", "other"]), max_size=12))
def test_answers_of_the_proxy_keep_their_place(kinds: list[str]) -> None:
    passed = relay(_Refuses())
    bodies: dict[str, tuple[Message, Message, int]] = {
        "create": (CreateTopicsRequest([CreatableTopic("a", 1, 1)]), CreateTopicsResponse(), 7),
        "delete": (DeleteTopicsRequest(topic_names=["a"]), DeleteTopicsResponse(), 5),
        "other": (MetadataRequest(), MetadataResponse(), 12),
    }
    for number, kind in enumerate(kinds):
        request, _, version = bodies[kind]
        passed.from_client(asked(request, version, number))
    sent = taken(passed.to_broker)
    assert sent.count(b"x-a") == kinds.count("create")
    assert b"a" not in sent.replace(b"x-a", b"")
    for number, kind in enumerate(kinds):
        if kind != "delete":
            _, response, version = bodies[kind]
            passed.from_broker(answered(response, version, number))
    out, found = taken(passed.to_client), []
    while out:
        size = int.from_bytes(out[:4], "big")
        found.append(int.from_bytes(out[4:8], "big"))
        out = out[4 + size :]
    assert found == list(range(len(kinds)))


def test_a_client_that_is_answered_by_the_proxy_lets_others_have_their_turn() -> None:
    passed = relay(_Refuses())
    request = DeleteTopicsRequest(topic_names=["a"])
    numbers = range(1050)
    passed.from_client(b"".join(asked(request, 5, each) for each in numbers))
    found: list[bytes] = []
    for answers in [*[100] * 10, 50]:
        found.append(taken(passed.to_client))
        assert len(found[-1]) == answers * len(answered(DeleteTopicsResponse(), 5))
        assert passed.pending.rests is passed.is_full is (answers == 100)
        passed.begin_turn()
    expected = b"".join(answered(DeleteTopicsResponse(), 5, each) for each in numbers)
    assert b"".join(found) == expected


@pytest.mark.parametrize("kind", ["Produce without acks", "tokens"])
def test_a_client_whose_broker_answers_nothing_lets_others_have_their_turn(kind: str) -> None:
    passed = relay()
    one = asked(ProduceRequest(acks=0), 9)
    if kind == "tokens":
        passed.from_client(asked(SaslHandshakeRequest("PLAIN"), 0))
        passed.from_broker(answered(SaslHandshakeResponse(mechanisms=["PLAIN"]), 0))
        one = frame(b"")
        passed.to_broker.clear()
    passed.from_client(one * 250)
    for requests, rests in ((100, True), (100, True), (50, False)):
        assert taken(passed.to_broker) == one * requests
        assert passed.pending.rests is passed.is_full is rests
        passed.begin_turn()


class _Asks:
    """Asks the broker for its metadata before a topic is created."""

    def on_request(
        self, request: CreateTopicsRequest, call: Call
    ) -> Generator[Message, Message, Message | None]:
        known = yield MetadataRequest(topics=None)
        assert isinstance(known, MetadataResponse)
        if known.brokers:
            return CreateTopicsResponse(throttle_time_ms=known.brokers[0].port)
        return None


@pytest.mark.parametrize("brokers", [0, 1])
def test_a_filter_asks_the_broker_first(brokers: int) -> None:
    """The versions, where the client did not ask for them; later requests wait meanwhile."""
    passed = relay(_Asks())
    create = asked(CreateTopicsRequest([CreatableTopic("a", 1, 1)]), 7)
    later = asked(MetadataRequest(), 9, 8)
    passed.from_client(create + later)
    assert taken(passed.to_broker) == frame(write_request(ApiVersionsRequest(), 0, 7, "me"))
    assert passed.is_full
    versions = ApiVersionsResponse(api_keys=[ApiVersion(3, 0, 99), ApiVersion(19, 2, 7)])
    passed.from_broker(answered(versions, 0))
    newest = max(each.versions.highest for each in _APIS if each.name == "Metadata")
    question = write_request(MetadataRequest(topics=None), newest, 7, "me")
    assert taken(passed.to_broker) == frame(question)
    rows = [MetadataResponseBroker(1, "kafka", 9092)] * brokers
    passed.from_broker(answered(MetadataResponse(brokers=rows), newest))
    passed.from_client(b"")
    assert taken(passed.to_broker) == (b"" if brokers else create) + later, "nothing waits"
    if brokers:  # its address is what the broker said: filters are on the broker's side
        assert taken(passed.to_client) == answered(CreateTopicsResponse(9092), 7)


class _Writes:
    """Writes to the broker before a topic is created, and hears nothing of it."""

    def on_request(
        self, request: CreateTopicsRequest, call: Call
    ) -> Generator[Message, Message, None]:
        yield ProduceRequest(acks=0)


def test_a_filter_asks_for_nothing_that_is_not_answered() -> None:
    """It would wait for ever, and the client with it."""
    passed = relay(_Writes())
    passed.from_client(asked(CreateTopicsRequest([CreatableTopic("a", 1, 1)]), 7))
    taken(passed.to_broker)
    versions = ApiVersionsResponse(api_keys=[ApiVersion(0, 3, 13), ApiVersion(19, 2, 7)])
    with pytest.raises(
        LocalProtocolError,
        match="the filter _Writes asks the broker for a Produce with acks 0, which it does not",
    ):
        passed.from_broker(answered(versions, 0))
    assert not passed.to_broker


def test_a_filter_asks_for_no_api_that_the_broker_lacks() -> None:
    """The broker would close the connection, and nobody would know why."""
    passed = relay(_Asks())
    passed.from_client(asked(CreateTopicsRequest([CreatableTopic("a", 1, 1)]), 7))
    taken(passed.to_broker)
    versions = ApiVersionsResponse(api_keys=[ApiVersion(19, 2, 7)])
    with pytest.raises(
        UnsupportedVersionError, match="the filter _Asks asks the broker for Metadata, which it"
    ):
        passed.from_broker(answered(versions, 0))
    assert not passed.to_broker


class _Wrong:
    """Makes values of the wrong type; ``where`` says of what, "request", say."""

    def __init__(self, where: str) -> None:
        self._where = where

    def on_request(
        self, request: MetadataRequest, call: Call
    ) -> Generator[Message, Message, Message | None]:
        if self._where == "question":
            yield MetadataRequest(topics="wrong")  # type: ignore[arg-type]
        if self._where == "client id":
            call.client_id = 7  # type: ignore[assignment]
        if self._where == "answer":
            return MetadataResponse(controller_id="wrong")  # type: ignore[arg-type]
        if self._where == "request":
            request.topics = "wrong"  # type: ignore[assignment]
        return None

    def on_response(self, response: MetadataResponse, call: Call) -> None:
        if self._where == "response":
            response.controller_id = "wrong"  # type: ignore[assignment]


@pytest.mark.parametrize("others", [(), (_Sees(),)], ids=["alone", "beside another one"])
@pytest.mark.parametrize("where", ["request", "client id", "question", "answer", "response"])
def test_what_a_filter_makes_and_cannot_be_sent_is_its_fault(
    where: str, others: Sequence[object]
) -> None:
    """It is named, so that one need not look through all."""
    passed = relay(*others, _Wrong(where))
    name = "one of the filters _Sees, _Wrong" if others else "the filter _Wrong"
    if where == "question":
        name = "the filter _Wrong"
    elif others and where == "answer":
        name = "one of the filters _Wrong, _Sees"

    def pass_all() -> None:
        passed.from_client(asked(MetadataRequest(), 9))
        if where == "question":
            versions = ApiVersionsResponse(api_keys=[ApiVersion(3, 0, 99)])
            passed.from_broker(answered(versions, 0))
        passed.from_broker(answered(MetadataResponse(), 9))

    with pytest.raises(LocalProtocolError, match=f"^{name} made what cannot be sent: .* expected"):
        pass_all()


def test_versions_are_cut_to_those_known_here() -> None:
    passed = relay()
    passed.from_client(asked(ApiVersionsRequest("a", "1"), 4))
    rows = [ApiVersion(3, 0, 99), ApiVersion(18, 0, 4), ApiVersion(9999, 0, 1)]
    passed.from_broker(answered(ApiVersionsResponse(api_keys=rows), 4))
    body = read_response(taken(passed.to_client)[4:], 18, 4).body
    assert isinstance(body, ApiVersionsResponse)
    newest = max(each.versions.highest for each in _APIS if each.name == "Metadata")
    assert body.api_keys == [ApiVersion(3, 0, newest), ApiVersion(18, 0, 4)]


@pytest.mark.parametrize(
    ("version", "answer", "versions"),
    [
        (0, ApiVersionsResponse(35, [ApiVersion(18, 0, 3)]), (0, 3)),
        (0, ApiVersionsResponse(35, [ApiVersion(18, 0, 99)]), (0, 5)),
        (5, ApiVersionsResponse(0, [ApiVersion(18, 0, 99)]), (0, 5)),
    ],
    ids=["an old broker", "a newer broker", "a broker that has it"],
)
def test_an_unknown_version_is_refused_as_the_broker_does(
    version: int, answer: ApiVersionsResponse, versions: tuple[int, int]
) -> None:
    """With the versions of ApiVersions that the broker and the proxy have."""
    passed = relay()
    unknown = bytearray(asked(ApiVersionsRequest(), 4))
    unknown[6:8] = b"\0\x63"
    passed.from_client(unknown)
    assert taken(passed.to_broker) == unknown
    passed.from_broker(answered(answer, version))
    body = read_response(taken(passed.to_client)[4:], 18, 99).body
    assert body == ApiVersionsResponse(35, [ApiVersion(18, *versions)])
    unknown[4:6] = b"\0\x03"
    with pytest.raises(RemoteProtocolError, match="Metadata in version 99, which is not among"):
        passed.from_client(unknown)


@pytest.mark.parametrize("version", [0, 1])
def test_tokens_of_a_bare_handshake_pass(version: int) -> None:
    passed = relay()
    passed.from_client(asked(SaslHandshakeRequest("SCRAM-SHA-256"), version))
    passed.from_broker(answered(SaslHandshakeResponse(0, ["SCRAM-SHA-256"]), version))
    passed.to_broker.clear()
    passed.to_client.clear()
    token = frame(b"n,,n=alice,r=abc")
    if version:
        with pytest.raises(RemoteProtocolError, match="which is not among the versions"):
            passed.from_client(token)
        return
    for _ in range(2):
        passed.from_client(token)
        assert taken(passed.to_broker) == token
        passed.from_broker(token)
        assert taken(passed.to_client) == token
    question = asked(MetadataRequest(), 9, 8)
    passed.from_client(question)
    assert taken(passed.to_broker) == question
    passed.from_broker(answered(MetadataResponse(), 9, 8))
    assert taken(passed.to_client) == answered(MetadataResponse(), 9, 8)


@pytest.mark.parametrize("filters", [(), (_Sees(),)], ids=["no filter", "a filter"])
def test_a_token_right_behind_a_bare_handshake_waits_for_its_answer(filters: Any) -> None:
    """Whether it is a token or a request is known by then; a client may send both at once."""
    passed = relay(*filters)
    handshake = asked(SaslHandshakeRequest("PLAIN"), 0)
    token = frame(b"\0alice\0secret")
    passed.from_client(handshake + token)
    assert taken(passed.to_broker) == handshake
    assert passed.is_full
    passed.from_broker(answered(SaslHandshakeResponse(0, ["PLAIN"]), 0))
    passed.from_client(b"")
    assert taken(passed.to_broker) == token
    assert not passed.is_full


@pytest.mark.parametrize("filters", [(), (_Sees(),)], ids=["no filter", "a filter"])
def test_a_request_right_behind_a_bare_token_gets_its_own_answer(filters: Any) -> None:
    """A client of PLAIN need not wait for the empty answer to its token, as brokers see it."""
    passed = relay(*filters)
    passed.from_client(asked(SaslHandshakeRequest("PLAIN"), 0))
    passed.from_broker(answered(SaslHandshakeResponse(0, ["PLAIN"]), 0))
    passed.to_client.clear()
    passed.from_client(frame(b"\0alice\0secret") + asked(MetadataRequest(), 9, 8))
    passed.from_broker(frame(b""))
    assert taken(passed.to_client) == frame(b"")
    passed.from_broker(answered(MetadataResponse(), 9, 8))
    assert taken(passed.to_client) == answered(MetadataResponse(), 9, 8)
    passed.from_client(asked(MetadataRequest(), 9, 9))
    with pytest.raises(RemoteProtocolError, match="is not the one to correlation id 9"):
        passed.from_broker(answered(MetadataResponse(), 9, 8))


def _behind_a_bare_handshake() -> Relay:
    passed = relay(_Sees())
    passed.from_client(asked(SaslHandshakeRequest("PLAIN"), 0))
    passed.from_broker(answered(SaslHandshakeResponse(0, ["PLAIN"]), 0))
    passed.to_broker.clear()
    passed.to_client.clear()
    return passed


_NAMES = st.text(st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"]), min_size=1)


@given(st.sampled_from(["PLAIN", "SCRAM", "OAUTHBEARER"]), _NAMES, _NAMES, st.just("") | _NAMES)
def test_tokens_are_no_requests(mechanism: str, name: str, secret: str, other: str) -> None:
    """Whoever logs in, and with what."""
    tokens = {
        "PLAIN": f"{other}\0{name}\0{secret}",
        "SCRAM": f"n,{other and 'a=' + other},n={name},r={secret}",
        "OAUTHBEARER": f"n,{other and 'a=' + other},\1auth=Bearer {secret}\1\1",
    }
    token = frame(tokens[mechanism].encode())
    passed = _behind_a_bare_handshake()
    passed.from_client(token)
    assert taken(passed.to_broker) == token


#: Of Kerberos: a ticket, a wrapped answer, and an empty one.
@pytest.mark.parametrize("token", ["6082026f06092a864886f712", "050404ff000c00000000000000", ""])
def test_tokens_of_kerberos_are_no_requests(token: str) -> None:
    passed = _behind_a_bare_handshake()
    passed.from_client(frame(bytes.fromhex(token)))
    assert taken(passed.to_broker) == frame(bytes.fromhex(token))


@pytest.mark.parametrize(("api_key", "version"), [(3, 31), (999, 0), (-1, 0)])
def test_no_request_passes_as_a_token(api_key: int, version: int) -> None:
    """By the filters, and into a broker that knows an api which is not known here, or denied."""
    passed = _behind_a_bare_handshake()
    passed.from_client(frame(b"\0alice\0secret"))
    passed.from_broker(frame(b""))
    passed.to_broker.clear()
    header = struct.pack(">hhih", api_key, version, 7, -1)
    with pytest.raises(RemoteProtocolError, match="which is not among the versions that it was"):
        passed.from_client(frame(header + bytes(20)))
    assert not passed.to_broker


@given(st.integers(3, 13), st.sampled_from([-1, 0, 1]), st.text("ab", max_size=300))
def test_a_produce_without_acks_has_no_answer(version: int, acks: int, name: str) -> None:
    passed = relay()
    passed.from_client(asked(ProduceRequest(name or None, acks, 5), version, 1))
    passed.from_client(asked(MetadataRequest(), 9, 2))
    if acks:
        with pytest.raises(RemoteProtocolError, match="correlation id 1, the oldest"):
            passed.from_broker(answered(MetadataResponse(), 9, 2))
    else:
        passed.from_broker(answered(MetadataResponse(), 9, 2))


def test_a_client_is_read_no_more_at_the_limits() -> None:
    passed = relay(_Refuses(), limits=Limits(in_flight=3, waiting_bytes=64))
    question = asked(MetadataRequest(), 9)
    passed.from_client(question * 5)
    assert (taken(passed.to_broker), passed.is_full) == (question * 3, True)
    passed.from_broker(answered(MetadataResponse(), 9))
    passed.from_client(b"")
    assert taken(passed.to_broker) == question
    passed = relay(_Refuses(), limits=Limits(waiting_bytes=10))
    refused = asked(DeleteTopicsRequest(topic_names=["a"]), 5)
    passed.from_client(question + refused * 3)
    assert passed.is_full
    passed.from_broker(answered(MetadataResponse(), 9))
    assert not passed.is_full
