"""Captures of real brokers: every byte is in a frame, and Java's classes and tshark agree.

They are those that ``tools/traffic/captures.py`` keeps in git; the exhaustive profile makes new
ones with tcpdump. The group keeps them on one worker of xdist.
"""

from __future__ import annotations

import base64
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import pytest

from kafka_admin_proto.capture.captures import CaptureDecoder, read_captures
from kafka_admin_proto.capture.frames import PREFIX_BYTES, DecodedFrame
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.record import frame_record
from kafka_admin_proto.capture.request_log import read_request_log
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT
from kafka_admin_proto.render.embedded import has_embedded
from tests.capture.credentials import Leaks, new_frames, outputs
from tests.helpers.profile import EXHAUSTIVE
from tests.helpers.requirements import require_oracle, skip_or_fail
from tools.kafka_releases import LAST_WITH_ZOOKEEPER, NEWEST
from tools.oracles import tshark, tshark_times
from tools.oracles.comparison import as_java
from tools.oracles.oracle import Decoded, JavaOracle
from tools.traffic import captures
from tools.traffic.brokers import PASSWORDS, SECRET_CONFIG
from tools.traffic.capture_files import Capture

pytestmark = [pytest.mark.xdist_group("live captures"), pytest.mark.exhaustive]

OF_BROKERS = ("kraft", pytest.param("zk", marks=pytest.mark.explore), "sasl")
COMPRESSIONS = {0, 1, 2, 3, 4}


class Live:
    """A capture with its frames."""

    def __init__(self, name: str) -> None:
        self.capture: Capture = captures.capture(name) if EXHAUSTIVE else captures.kept(name)
        self.frames = list(read_captures([self.capture.path]))

    def of(self, api: str, direction: str = "request") -> list[DecodedFrame]:
        """Its frames of an api."""
        return [each for each in self.frames if (each.api, each.direction) == (api, direction)]


#: By name; what went wrong goes wrong for each test, but is tried once.
_made: dict[str, Live | Exception] = {}


def live(name: str) -> Live:
    """The capture, made if need be."""
    if EXHAUSTIVE and (reason := captures.why_unavailable()):
        skip_or_fail(reason)
    if name not in _made:
        try:
            _made[name] = Live(name)
        except Exception as error:
            _made[name] = error
    found = _made[name]
    if isinstance(found, Exception):
        raise found
    return found


@pytest.fixture(params=OF_BROKERS)
def recorded(request: pytest.FixtureRequest) -> Live:
    return live(request.param)


def test_no_problems(recorded: Live) -> None:
    assert [(each.connection, each.problem) for each in recorded.frames if each.problem] == []
    assert all(each.data for each in recorded.frames)
    assert sum(each.skipped for each in recorded.frames) == 0


def test_every_byte_is_in_a_frame(recorded: Live) -> None:
    """Frame follows frame from the first byte on, and tshark counts as many bytes on each side."""
    if reason := tshark.why_unavailable():
        skip_or_fail(reason)
    sizes = {}
    for direction, frames in tshark.by_direction(recorded.frames).items():
        end = 0
        for frame in frames:
            assert frame.stream_offset == end, (direction, frame)
            end += frame.size
        sizes[direction] = end
    capture = recorded.capture
    assert {d: n for d, n in sizes.items() if n} == tshark.payload_sizes(
        capture.path, capture.ports
    )


def test_bodies_encode_to_their_bytes(recorded: Live) -> None:
    count = 0
    for frame in recorded.frames:
        if frame.is_token:
            continue
        assert frame.codec is not None
        assert frame.body is not None
        assert frame.codec.encode(frame.body) == frame.data[frame.body_offset :], frame
        count += 1
    assert count > 100


def test_responses_come_in_the_order_of_their_requests(recorded: Live) -> None:
    """On each connection, as brokers answer: only the last requests may be without a response."""
    asked: dict[str | None, list[tuple[Any, ...]]] = defaultdict(list)
    answered: dict[str | None, list[tuple[Any, ...]]] = defaultdict(list)
    for frame in recorded.frames:
        if frame.forwarded or frame.is_token or getattr(frame.body, "acks", 1) == 0:
            continue
        said = (frame.api_key, frame.api_version, frame.correlation_id)
        (asked if frame.direction == "request" else answered)[frame.connection].append(said)
        assert frame.direction == "request" or (frame.latency_us or 0) >= 0
    assert answered.keys() <= asked.keys()
    for connection, responses in answered.items():
        assert responses == asked[connection][: len(responses)]
    unanswered = sum(map(len, asked.values())) - sum(map(len, answered.values()))
    assert unanswered < 0.02 * sum(map(len, asked.values()))


@pytest.fixture(scope="module")
def oracles() -> Iterator[list[JavaOracle]]:
    """The newest release first, then the last that has the messages from before 4.0."""
    require_oracle()
    with JavaOracle() as new, JavaOracle(LAST_WITH_ZOOKEEPER) as old:
        yield [new, old]


def test_bodies_are_what_java_reads(recorded: Live, oracles: list[JavaOracle]) -> None:
    frames = [each for each in recorded.frames if each.codec is not None]
    compared = 0
    for oracle in oracles:
        known = {each.name: each for each in oracle.messages()}
        mine, frames = frames, []
        asked: list[DecodedFrame] = []
        for frame in mine:
            assert frame.codec is not None
            message = known.get(frame.codec.spec.name)
            version = frame.codec.version
            fits = message is not None and message.lowest <= version <= message.highest
            (asked if fits else frames).append(frame)
        requests = [
            (each.codec.spec.name, each.codec.version, each.data[each.body_offset :])
            for each in asked
            if each.codec is not None
        ]
        for frame, answer in zip(asked, oracle.decode_many(requests), strict=True):
            assert isinstance(answer, Decoded), (frame, answer)
            assert (answer.left, answer.reencoded) == (0, frame.data[frame.body_offset :])
            assert frame.codec is not None
            shown = frame.codec.to_json(frame.body)
            assert as_java(shown, answer.json, frame.codec.spec) == answer.json, frame
            compared += 1
    assert frames == []
    assert compared > 100


def test_tshark_agrees(recorded: Live) -> None:
    """On sizes and correlation ids of all frames; on the rest wherever it tells."""
    if reason := tshark.why_unavailable():
        skip_or_fail(reason)
    capture = recorded.capture
    told: Counter[str] = Counter()
    for his, frame in tshark.matched(capture.path, capture.ports):
        wanted: dict[str, object] = {
            "size": frame.size - PREFIX_BYTES,
            "correlation_id": frame.correlation_id,
            "api_key": frame.api_key,
            "api_version": frame.api_version,
            "client_id": frame.client_id if frame.direction == "request" else None,
        }
        # It forgets requests whose bodies it cannot read.
        forgotten = "Request missing" in his.remarks or not his.alone
        assert his.api_key is not None or forgotten, (his, frame)
        for name, value in wanted.items():
            said = getattr(his, name)
            if said is not None:
                assert said == value, (name, his, frame)
                told[f"{frame.direction} {name}"] += 1
    requests = sum(each.direction == "request" for each in recorded.frames if not each.forwarded)
    for name in ("api_key", "api_version", "correlation_id", "client_id"):
        assert told[f"request {name}"] > 0.9 * requests
    assert told["response correlation_id"] > 0.9 * requests


def test_times_and_pairs_of_tshark(recorded: Live, tmp_path: Path) -> None:
    """Behind a hole tshark may take bytes within a frame for a response: that has another time."""
    if reason := tshark.why_unavailable():
        skip_or_fail(reason)
    made = recorded.capture
    whole = tshark_times.compare(made.path, made.ports)
    lossy = tshark_times.compare(tshark_times.with_losses(made.path, tmp_path, 2), made.ports)
    assert whole[tshark_times.SAME_PAIR] > 20
    assert whole[tshark_times.OTHER_TIME] == 0
    for counts in (whole, lossy):
        assert counts[tshark_times.OTHER_PAIR] == counts[tshark_times.ONLY_THERE] == 0


def test_what_the_clusters_were_made_to_say() -> None:
    kraft = live("kraft")
    assert kraft.capture.release == NEWEST  # else those that are kept are to be made anew
    apis = {each.api for each in kraft.frames}
    assert {"Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "Envelope", "ShareFetch"} <= apis
    assert len(apis) >= 65
    produced = kraft.of("Produce")
    assert {_compression(each) for each in produced} == COMPRESSIONS
    assert any(getattr(each.body, "acks", None) == 0 for each in produced)
    assert any(getattr(each.body, "transactional_id", None) == "ledger" for each in produced)
    assert max(each.size for each in kraft.of("Fetch", "response")) > 500_000
    told = [_body(each).topics for each in kraft.of("Metadata", "response")]
    assert max(sum(len(topic.partitions) for topic in topics) for topics in told) > 2000
    quorums = [_body(each).topics for each in kraft.of("DescribeQuorum", "response")]
    leaders = {topics[0].partitions[0].leader_id for topics in quorums if topics}
    assert len(leaders - {-1}) == 2


@pytest.mark.explore
def test_what_a_cluster_with_zookeeper_was_made_to_say() -> None:
    versions = {(each.api, each.api_version) for each in live("zk").frames}
    assert versions >= {("UpdateMetadata", 7), ("LeaderAndIsr", 5), ("StopReplica", 3)}


def _compression(frame: DecodedFrame) -> int:
    """The codec of the first batch of a Produce request: the last three bits of its attributes."""
    return int(_body(frame).topic_data[0].partition_data[0].records[22]) & 7


def _body(frame: DecodedFrame) -> Any:
    return frame.body


def test_envelopes_hold_requests_of_their_clients() -> None:
    forwarded = [each for each in live("sasl").frames if each.forwarded]
    seen = {(each.api, each.principal) for each in forwarded if each.direction == "request"}
    for principal in ("User:bob", "User:alice"):
        for api in ("CreateTopics", "IncrementalAlterConfigs", "CreateDelegationToken"):
            assert (api, principal) in seen


def test_principals_are_those_who_logged_in() -> None:
    """Who SASL refused is nobody; who it let in stays who they are, by headers or by tokens."""
    sasl = live("sasl")
    seen: dict[str, set[str | None]] = defaultdict(set)
    for frame in sasl.frames:
        if not frame.forwarded and frame.direction == "request":
            seen[frame.client_id or ""].add(frame.principal)
    assert seen["client-of-bob"] == {None, "User:bob"}
    assert seen["client-of-alice"] == {None, "User:alice"}
    assert seen["client-of-mallory"] == {None}
    assert seen["by-tokens"] == {None, "User:bob"}
    nobody = {
        frame.api
        for frame in sasl.frames
        if frame.server == sasl.capture.sasl and frame.principal is None and not frame.is_token
    }
    assert nobody == {"ApiVersions", "SaslHandshake", "SaslAuthenticate"}


def test_passwords_are_not_shown() -> None:
    sasl = live("sasl")
    text = json.dumps([frame_record(each, raw=True) for each in sasl.frames])
    raw = b"".join(each.data for each in sasl.frames)
    for secret in (PASSWORDS["bob"], "wrong-password"):
        assert secret.encode() in raw
        for shown in (secret, secret.encode().hex(), base64.b64encode(secret.encode()).decode()):
            assert shown not in text
    config = SECRET_CONFIG
    frames = [each for each in live("kraft").frames if config.encode() in each.data]
    # Between controllers it is in the records of the metadata log.
    assert {each.api for each in frames} == {"IncrementalAlterConfigs", "Envelope", "Fetch"}
    kraft = json.dumps([frame_record(each, raw=True) for each in frames])
    kraft += json.dumps([frame_record(each, records=True) for each in frames])
    for shown in (config, config.encode().hex()):
        assert shown not in kraft


def test_other_protocols_are_named() -> None:
    others = live("other_protocols")
    assert [each.problem for each in others.frames if each.direction != "data"] == []
    problems = sorted(str(each.problem) for each in others.frames)
    tls, http = problems
    assert "not Kafka: HTTP, " in http
    assert "encrypted: TLS 1.3 handshake, " in tls
    if reason := tshark.why_unavailable():
        skip_or_fail(reason)
    capture = others.capture
    sizes: Counter[tshark.Connection] = Counter()
    for (connection, _), size in tshark.payload_sizes(capture.path, capture.ports).items():
        sizes[connection] += size
    assert sizes == {tshark.connection_of(each): each.size for each in others.frames}


def test_the_request_log_says_what_the_capture_shows(recorded: Live) -> None:
    """Each line of the brokers' logs has its request and response in the capture, body and all."""
    shown = {
        (each.client, each.server, each.correlation_id, each.direction, each.api): each
        for each in recorded.frames
        if not each.forwarded
    }
    compared = 0
    with recorded.capture.request_log.open("rb") as stream:
        for logged in read_request_log(stream, "request.log"):
            assert logged.problem is None
            if logged.forwarded:  # what its Envelope held, under the broker's own connection
                continue
            where = (logged.client, logged.server)
            each = shown[*where, logged.correlation_id, logged.direction, logged.api]
            assert (logged.api_version, logged.client_id) == (each.api_version, each.client_id)
            assert each.principal in (None, logged.principal)
            # 4.4.0 logs no sizes there but empty records
            if (each.api, each.direction) != ("ShareFetch", "response"):
                assert each.codec is not None
                sizes: Literal["size", "base64"] = (
                    "base64" if logged.logged is None or logged.logged.body is None else "size"
                )
                if has_embedded(each.codec.name):
                    body = frame_record(each)["body"]
                else:
                    body = each.codec.to_json(each.body, mask=True, records=sizes)
                assert frame_record(logged)["body"] == body
                compared += 1
    assert compared > 30


def sasl_secrets(frames: list[DecodedFrame]) -> list[bytes]:
    """The passwords in a capture of logins, and what of SCRAM proves them."""
    tokens = [each.data for each in frames if each.is_token]
    tokens += [getattr(each.body, "auth_bytes", None) or b"" for each in frames]
    found = [PASSWORDS["bob"].encode(), b"wrong-passwor"]  # other texts have "password"
    for token in tokens:
        for part in token.split(b","):
            if part[:2] in (b"s=", b"p=", b"v="):
                found += [part[2:], base64.b64decode(part[2:])]
    return found


def test_no_packet_more_or_less_shows_a_password() -> None:
    """The property of ``test_credentials.py`` on real logins: PLAIN, SCRAM, raw tokens."""
    sasl = live("sasl")
    data = sasl.capture.path.read_bytes()
    records, at = [], 24
    while at < len(data):
        end = at + 16 + int.from_bytes(data[at + 8 : at + 12], "little")
        records.append(data[at:end])
        at = end
    leaks, seen = Leaks(sasl_secrets(sasl.frames)), set[Any]()
    assert any(leaks(text) for _, text in outputs(sasl.frames, mask=False))
    places: Sequence[int] = range(len(records))
    if not EXHAUSTIVE:
        places = sorted(random.Random(9).sample(places, 6))
    for place in places:
        for left in (
            [*records[:place], *records[place + 1 :]],
            records[place:],
            [*records[:place], *reversed(records[place : place + 2]), *records[place + 2 :]],
        ):
            connections = CaptureDecoder(DecodeOptions(limit=DEFAULT_FRAME_LIMIT))
            frames = [*connections.read(BytesIO(data[:24] + b"".join(left)), "a.pcap")]
            for name, text in outputs(new_frames([*frames, *connections.finish()], seen)):
                assert not leaks(text), f"{place}: {name}"
