"""No credential in any output, whatever packets a capture lacks and whatever bits are wrong."""

from __future__ import annotations

import base64
import os
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto import (
    CreateTopicsRequest,
    MetadataRequest,
    RenewDelegationTokenRequest,
    RequestHeader,
    ResponseHeader,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_admin_proto.capture import Block, DecodedFrame, FrameDecoder, read_blocks
from kafka_admin_proto.capture.dumps.pasted_packets import without_headers
from kafka_admin_proto.capture.record import frame_record
from kafka_admin_proto.protocol import DEFAULT_FRAME_LIMIT, frame
from tests.capture.credentials import (
    CLIENT_FINAL,
    EXCHANGES,
    LOGINS,
    PASSWORD,
    PLAIN,
    SERVER_FIRST,
    Leaks,
    Login,
    answers,
    asks,
    new_frames,
    outputs,
    read,
    with_flips,
    without_packets,
)
from tests.capture.packets import conversation, ethernet, pcap
from tests.helpers.kap import ended, run_kap
from tests.helpers.profile import EXHAUSTIVE

#: How many flipped bits of a connection are tried. All of them, some 4,000, take half an hour:
#: KAFKA_ADMIN_PROTO_FLIPS=1000000 tries them.
FLIPS = int(os.environ.get("KAFKA_ADMIN_PROTO_FLIPS", 200 if EXHAUSTIVE else 30))
every_login = pytest.mark.parametrize("each", LOGINS, ids=[each.name for each in LOGINS])
TOKENS = [PLAIN, SERVER_FIRST, CLIENT_FINAL, EXCHANGES["OAUTHBEARER"][0][0]]


def check(leaks: Leaks, frames: list[DecodedFrame], what: str, seen: set[Any]) -> None:
    for name, text in outputs(new_frames(frames, seen)):
        assert not leaks(text), f"{what}: {name} shows {leaks(text)}"


@every_login
def test_a_whole_capture_shows_its_secrets_when_asked_to(each: Login) -> None:
    """The search for them finds them: in hex, in base64 and, where they are text, as such."""
    leaks = Leaks(each.secrets)
    frames = read(each.packets)
    assert not [one.problem for one in frames if one.problem]
    found = {name.split()[0] for name, text in outputs(frames, mask=False) if leaks(text)}
    assert found >= {"jsonl", "tsv", "explain", "html"}
    check(leaks, frames, "whole", set())


@pytest.mark.exhaustive
@every_login
def test_packets_that_are_missing_or_swapped(each: Login) -> None:
    leaks, seen = Leaks(each.secrets), set[Any]()
    for what, packets in without_packets(each.packets):
        check(leaks, read(packets), what, seen)


@pytest.mark.exhaustive
@every_login
def test_bits_that_are_wrong(each: Login) -> None:
    leaks, seen = Leaks(each.secrets), set[Any]()
    for what, packets in with_flips(each.packets, FLIPS, seed=7):
        check(leaks, read(packets), what, seen)


@pytest.mark.parametrize("each", LOGINS[:3], ids=[each.name for each in LOGINS[:3]])
def test_headers_alone(each: Login) -> None:
    """Without bodies nobody looks whether a frame decodes, unless it has to be known."""
    leaks, seen = Leaks(each.secrets), set[Any]()
    damaged = (without_packets(each.packets), with_flips(each.packets, FLIPS, seed=8))
    for what, packets in chain(*damaged):
        for found in new_frames(read(packets, bodies=()), seen):
            for options in ({"raw": True}, {"raw": True, "body": False}):
                assert not leaks(str(frame_record(found, **options))), what


@pytest.mark.parametrize("token", TOKENS, ids=[repr(token[:7]) for token in TOKENS])
@pytest.mark.parametrize(
    ("written", "framed"),
    [("raw", False), ("raw", True), ("hex", True), ("base64", False), ("odd hex", False)],
)
def test_a_token_alone(tmp_path: Path, token: bytes, written: str, framed: bool) -> None:
    data = frame(token) if framed else token
    file = tmp_path / "token"
    forms = {"raw": data, "hex": data.hex().encode(), "base64": base64.b64encode(data)}
    forms["odd hex"] = forms["hex"][:-1]
    file.write_bytes(forms[written])
    leaks = Leaks([token])
    page = tmp_path / "page.html"
    for command in (
        "decode --raw --output jsonl",
        "decode --unit payload --raw --output tsv",
        "explain",
        f"explain --html {page}",
    ):
        assert not leaks(ended(run_kap(f"{command} {file}"), 1).output), command
    if page.exists():
        text = page.read_text()
        assert not leaks(text[text.index('<script type="application/json"') :])


def known(found: DecodedFrame) -> tuple[int | None, int | None, str | None]:
    record = frame_record(found)
    return record["api_key"], record["api_version"], record["client_id"]


UNKNOWN = frame(RequestHeader(12345, 3, 8, "proxy").encode(2) + PASSWORD)
ANSWER = frame(ResponseHeader(8).encode(1) + PASSWORD)


def test_an_unknown_api_is_shown_where_no_token_can_be() -> None:
    turns = [(True, UNKNOWN), (False, ANSWER)]
    frames = read(conversation([asks(MetadataRequest(), 12, 1), *turns]))[1:]
    assert [known(each) for each in frames] == [(12345, 3, "proxy")] * 2
    assert all(PASSWORD.hex() in str(frame_record(each)) for each in frames)
    # Before a request has decoded, nobody knows whether frames start where they seem to.
    frames = read(conversation([*turns, asks(MetadataRequest(), 12, 1)]))[:2]
    assert [known(each) for each in frames] == [(12345, 3, "proxy")] * 2
    assert not any(PASSWORD.hex() in str(frame_record(each)) for each in frames)


HANDSHAKE = [
    asks(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1),
    answers(SaslHandshakeResponse(mechanisms=["PLAIN"]), 0, 1),
    (True, frame(PLAIN)),
    (False, frame(b"")),
]


@pytest.mark.parametrize(
    ("turns", "whole"),
    [
        ([*HANDSHAKE, asks(CreateTopicsRequest(), 1, 2), (True, UNKNOWN)], True),
        ([asks(CreateTopicsRequest(), 1, 2), (True, UNKNOWN)], False),
    ],
    ids=["after a handshake of version 0", "the start was not captured"],
)
def test_an_unknown_api_is_hidden_where_it_may_be_a_token(
    turns: list[tuple[bool, bytes]], whole: bool
) -> None:
    found = read(conversation(turns, handshake=whole))[-1]
    assert (found.api_key, found.client_id) == (12345, "proxy")
    assert known(found) == (None, None, None)
    record = frame_record(found, raw=True)
    assert set(record["raw"]) == {"*"}
    assert "may be a SASL token" in record["problem"]
    assert (record["direction"], record["size"]) == ("request", len(UNKNOWN))
    everything = frame_record(found, mask=False)
    assert (everything["api_key"], everything["raw"]) == (12345, UNKNOWN.hex())


def test_after_another_handshake_the_header_of_an_unknown_api_is_shown() -> None:
    turns = [*LOGINS[1].packets]
    sent = [(packet.source[1] == 40000, packet.data) for packet in turns if packet.data]
    found = read(conversation([*sent, (True, UNKNOWN)]))[-1]
    assert known(found) == (12345, 3, "proxy")
    assert PASSWORD.hex() not in frame_record(found)["raw"]


def test_a_frame_that_has_swallowed_others() -> None:
    """A size that is wrong by one bit, in front of a frame of an api without credentials."""
    first, token = asks(MetadataRequest(), 12, 1)[1], frame(PLAIN)
    size = len(first) - 4 + len(token)
    swallowed = size.to_bytes(4, "big") + first[4:] + token
    for found in read(conversation([(True, swallowed)])):
        assert known(found) == (3, 12, "me")
        assert "left after the end" in str(found.problem)
        for mask in (True, False):
            assert (PLAIN.hex() in str(frame_record(found, mask=mask))) is not mask


@pytest.mark.parametrize("version", [0, 1])
def test_an_unknown_api_that_has_swallowed_a_login(version: int) -> None:
    """A wrong size in front of an unknown api, on a connection that looked plain until then."""
    handshake = asks(SaslHandshakeRequest(mechanism="PLAIN"), version, 9)[1]
    token = frame(PLAIN) if version == 0 else sasl_authenticate(0, 0)
    unknown = RequestHeader(12345, 3, 8, "proxy").encode(2) + b"data"
    whole = frame(unknown + handshake + token)
    cut = frame(unknown + handshake[:9]) + handshake[9:] + token
    for sent in (whole, cut):
        found = read(conversation([asks(MetadataRequest(), 12, 1), (True, sent)]))[1:]
        assert not [each for each in found if PASSWORD.hex() in str(frame_record(each, raw=True))]
        check(Leaks([PASSWORD]), found, "swallowed", set())
    assert any(PASSWORD.hex() in str(frame_record(each, mask=False)) for each in found)


def test_the_command_line_decodes_a_capture_that_lacks_its_start(tmp_path: Path) -> None:
    """What the functions give is what the command writes."""
    each = LOGINS[0]
    file = tmp_path / "a.pcap"
    leaks = Leaks([*each.secrets, CLIENT_FINAL])
    for packets in (each.packets[1:], each.packets[6:]):
        file.write_bytes(pcap(packets))
        for command in ("decode", "decode --raw --output tsv", "explain", "decode --summary"):
            result = run_kap(f"{command} {file}")
            assert result.exit_code in (0, 1)
            assert not leaks(result.output)


@pytest.mark.exhaustive
@every_login
def test_packets_pasted_as_hex(each: Login) -> None:
    """A dump of packets has no connections: frames in it are read one by one."""
    leaks, seen = Leaks(each.secrets), set[Any]()
    damaged = (without_packets(each.packets), with_flips(each.packets, FLIPS, seed=9))
    for what, packets in chain([("all of them", each.packets)], *damaged):
        if not any(packet.data for packet in packets):
            continue
        text = "\n\n".join(ethernet(packet).hex() for packet in packets)
        blocks = without_headers(read_blocks(text.encode()), DEFAULT_FRAME_LIMIT)
        decoder = FrameDecoder()
        check(leaks, [one for block in blocks for one in decoder.decode(block)], what, seen)


@pytest.mark.exhaustive
@every_login
def test_raw_streams_with_wrong_bits(each: Login) -> None:
    """The bytes of both sides in one dump, and those of the client alone."""
    leaks, seen = Leaks(each.secrets), set[Any]()
    for what, packets in with_flips(each.packets, FLIPS, seed=10):
        sent = [packet for packet in packets if packet.data]
        client = [packet for packet in sent if packet.source[1] == 40000]
        for side in (sent, client):
            for direction in ("auto", "request"):
                decoder = FrameDecoder(direction=direction)
                block = Block(b"".join(packet.data for packet in side))
                check(leaks, list(decoder.decode(block)), f"{what}, {direction}", seen)


def sasl_authenticate(at: int, bit: int) -> bytes:
    """A token in a request of which one bit is wrong."""
    found = bytearray(asks(SaslAuthenticateRequest(auth_bytes=PLAIN), 1, 3)[1])
    found[at] ^= bit
    return bytes(found)


#: Api keys that are not known, versions that are not, and lengths that are wrong.
DAMAGED = [sasl_authenticate(4, 1 << bit) for bit in range(8)] + [
    sasl_authenticate(at, 1 << bit) for at in (6, 7, 12, 13, 16, 17, 18, 19) for bit in (0, 2, 6)
]


@pytest.mark.exhaustive
@pytest.mark.parametrize("version", [None, 0, 1])
def test_a_damaged_token_in_a_dump(tmp_path: Path, version: int | None) -> None:
    """With a handshake in front or without: nothing of the body is shown, in no output."""
    leaks = Leaks([PASSWORD])
    before = b""
    if version is not None:
        before = asks(SaslHandshakeRequest(mechanism="PLAIN"), version, 2)[1]
    for data in DAMAGED:
        found = list(FrameDecoder().decode(Block(before + data)))
        check(leaks, found, f"{data!r}", set())
        packets = conversation([(True, before), (True, data)] if before else [(True, data)])
        text = "\n\n".join(ethernet(packet).hex() for packet in packets)
        blocks = without_headers(read_blocks(text.encode()), DEFAULT_FRAME_LIMIT)
        decoder = FrameDecoder()
        check(leaks, [one for block in blocks for one in decoder.decode(block)], "pasted", set())
    file, page = tmp_path / "dump", tmp_path / "page.html"
    file.write_bytes(before + DAMAGED[6])
    for command in (
        "decode --output jsonl",
        "decode --output tsv",
        "explain",
        f"explain --html {page}",
    ):
        for show in (False, True):
            options = " --show-secrets" if show else ""
            result = run_kap(f"{command}{options} {file}")
            # After a handshake of version 0 it is a token like any other, and no problem.
            assert result.exit_code == (version != 0), result.output
            text = page.read_text() if page.exists() else result.output
            text = text[text.index('<script type="application/json"') :] if page.exists() else text
            assert bool(leaks(text)) is show, command


def test_an_unknown_api_in_a_dump_shows_its_header_alone() -> None:
    (found,) = FrameDecoder().decode(Block(UNKNOWN))
    assert known(found) == (12345, 3, "proxy")
    assert PASSWORD.hex() not in frame_record(found, raw=True)["raw"]
    assert frame_record(found, mask=False)["raw"] == UNKNOWN.hex()
    handshake = asks(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1)[1]
    *_, found = FrameDecoder().decode(
        Block(handshake + asks(MetadataRequest(), 12, 2)[1] + UNKNOWN)
    )
    assert known(found) == (None, None, None)


def flipped(data: bytes, at: int, bit: int = 0) -> bytes:
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


HANDSHAKE_1 = asks(SaslHandshakeRequest(mechanism="PLAIN"), 1, 1)[1]
#: SaslAuthenticate (36), read as CreatePartitions (37).
OTHER_API = flipped(asks(SaslAuthenticateRequest(auth_bytes=PLAIN), 2, 2)[1], 5)
KEY = bytes(range(100, 163))
#: A count of 1 in the place of 0, where the header's unknown tags begin.
SWALLOWED = flipped(asks(RenewDelegationTokenRequest(hmac=b"\x20" + KEY), 2, 32)[1], 16)


@pytest.mark.parametrize(
    "data", [HANDSHAKE_1 + OTHER_API, SWALLOWED], ids=["another api", "tags of the header"]
)
def test_no_output_shows_what_does_not_decode(tmp_path: Path, data: bytes) -> None:
    """Whatever a flipped bit says that the bytes are."""
    file = tmp_path / "a.bin"
    file.write_bytes(data)
    leaks = Leaks([PASSWORD, PLAIN, KEY])
    for command in (
        "decode",
        "decode --output json",
        "decode --raw --output jsonl",
        "decode --raw --output tsv",
        "decode --no-body --raw --output jsonl",
        "explain",
        "explain --records",
        "explain --html -",
    ):
        result = run_kap(f"{command} --input-format raw {file}")
        assert result.exit_code in (0, 1), result.output
        text = result.output[max(0, result.output.find('<script type="application/json"')) :]
        assert not leaks(text), f"{command} shows {leaks(text)}"
    line = f"explain --show-secrets --input-format raw {file}"
    assert leaks(run_kap(line).output)


@pytest.mark.parametrize("unit", ["payload", "body --api AddOffsetsToTxn --version 0"])
def test_packets_are_no_payload(tmp_path: Path, unit: str) -> None:
    """The addresses of a packet would be read as a header, and a token behind them as a body."""
    each = LOGINS[0]
    file = tmp_path / "a.hex"
    file.write_text("\n\n".join(ethernet(one).hex() for one in each.packets if one.data))
    leaks = Leaks(each.secrets)
    for command in ("decode --raw --output jsonl", "explain"):
        result = ended(run_kap(f"{command} --unit {unit} {file}"), 1)
        assert "leave --unit out" in result.output
        assert not leaks(result.output)


def test_an_empty_client_id_proves_nothing() -> None:
    data = frame(RequestHeader(12345, 3, 8, "").encode(2) + PLAIN)
    (found,) = FrameDecoder().decode(Block(data))
    assert frame_record(found)["api_key"] is None
    assert PLAIN.hex() not in frame_record(found, raw=True)["raw"]
