"""Connections with credentials, damaged in every way, and whether an output shows any of these."""

from __future__ import annotations

import base64
import binascii
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from typing import Any, NamedTuple

import msgspec

from kafka_admin_proto import (
    AlterUserScramCredentialsRequest,
    ApiVersionsRequest,
    ApiVersionsResponse,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    CreateTopicsRequest,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
    MetadataRequest,
    MetadataResponse,
    RenewDelegationTokenRequest,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_admin_proto.capture import DecodedFrame
from kafka_admin_proto.capture.captures import CaptureDecoder
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.record import frame_record
from kafka_admin_proto.cli.captures.explain import (
    _cells,
    _hex_lines,
    _title,
    explanation_of,
    page_frame,
)
from kafka_admin_proto.cli.captures.filters import Filter, FilteredFrames
from kafka_admin_proto.cli.captures.frame_table import row_of_frame
from kafka_admin_proto.cli.captures.summary import summarise
from kafka_admin_proto.cli.output import tsv_cell
from kafka_admin_proto.messages.alter_user_scram_credentials_request import ScramCredentialUpsertion
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.describe_delegation_token_response import DescribedDelegationToken
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic
from kafka_admin_proto.protocol import DEFAULT_FRAME_LIMIT, frame, write_request, write_response
from kafka_admin_proto.render.html import html_page
from tests.capture.packets import Packet, conversation, pcap

Turn = tuple[bool, bytes]
#: So many bytes of a credential, one after the other, are shown nowhere.
WINDOW = 8


class Login(NamedTuple):
    """A connection's packets, and what of it is secret."""

    name: str
    packets: list[Packet]
    secrets: list[bytes]


def asks(message: Any, version: int, correlation_id: int) -> Turn:
    return True, frame(write_request(message, version, correlation_id, "me"))


def answers(message: Any, version: int, correlation_id: int) -> Turn:
    return False, frame(write_response(message, version, correlation_id))


PASSWORD = b"Tr0ub4dor-and-3xyz"
PLAIN = b"\0al\0" + PASSWORD
SALT, PROOF, SIGNATURE = (random.Random(seed).randbytes(32) for seed in range(3))
HMAC, SALTED = (random.Random(seed).randbytes(64) for seed in (3, 4))
BEARER = base64.urlsafe_b64encode(random.Random(5).randbytes(150))
SERVER_FIRST = b"r=fyko+d2lbbFgONRv9qkxdawL,s=" + base64.b64encode(SALT) + b",i=4096"
CLIENT_FINAL = b"c=biws,r=fyko+d2lbbFgONRv9qkxdawL,p=" + base64.b64encode(PROOF)
SERVER_FINAL = b"v=" + base64.b64encode(SIGNATURE)
#: Mechanism → what goes to and fro, and which parts of it are secret.
EXCHANGES = {
    "PLAIN": ([PLAIN, b""], [PASSWORD]),
    "SCRAM-SHA-256": (
        [b"n,,n=al,r=fyko+d2lbbFgONRv9qkxdawL", SERVER_FIRST, CLIENT_FINAL, SERVER_FINAL],
        [part for each in (SALT, PROOF, SIGNATURE) for part in (each, base64.b64encode(each))],
    ),
    "OAUTHBEARER": ([b"n,,\x01auth=Bearer " + BEARER + b"\x01\x01", b""], [BEARER]),
}


def login(mechanism: str, version: int) -> Login:
    """A connection as clients open it, before and after the login."""
    tokens, secrets = EXCHANGES[mechanism]
    software = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    turns = [
        asks(software, 3, 1),
        answers(ApiVersionsResponse(), 3, 1),
        asks(SaslHandshakeRequest(mechanism=mechanism), version, 2),
        answers(SaslHandshakeResponse(mechanisms=[mechanism]), version, 2),
    ]
    for number, token in enumerate(tokens, 6):
        is_client = number % 2 == 0
        if version == 0:
            turns.append((is_client, frame(token)))
        elif is_client:
            turns.append(asks(SaslAuthenticateRequest(auth_bytes=token), 2, number))
        else:
            turns.append(answers(SaslAuthenticateResponse(auth_bytes=token), 2, number - 1))
    topic = MetadataResponseTopic(name="apples")
    turns += [
        asks(MetadataRequest(), 12, 20),
        answers(MetadataResponse(topics=[topic]), 12, 20),
        asks(CreateTopicsRequest(topics=[CreatableTopic(name="pears")]), 7, 21),
    ]
    return Login(f"{mechanism} v{version}", conversation(turns), list(secrets))


def administration() -> Login:
    """Credentials in requests and answers after a login."""
    upsertion = ScramCredentialUpsertion("ann", 1, 4096, SALT, SALTED)
    token = DescribedDelegationToken("User", "al", token_id="id", hmac=HMAC)
    one = login("PLAIN", 1)
    turns = [
        asks(AlterUserScramCredentialsRequest(upsertions=[upsertion]), 0, 30),
        asks(CreateDelegationTokenRequest(), 3, 31),
        answers(CreateDelegationTokenResponse(token_id="id", hmac=HMAC), 3, 31),
        asks(RenewDelegationTokenRequest(hmac=HMAC), 2, 32),
        asks(DescribeDelegationTokenRequest(), 3, 33),
        answers(DescribeDelegationTokenResponse(tokens=[token]), 3, 33),
    ]
    before = [(packet.source[1] == 40000, packet.data) for packet in one.packets if packet.data]
    packets = conversation([*before, *turns])
    return Login("administration", packets, [PASSWORD, SALT, SALTED, HMAC])


LOGINS = [login(mechanism, version) for mechanism in EXCHANGES for version in (0, 1)]
LOGINS.append(administration())


def without_packets(packets: Sequence[Packet]) -> Iterator[tuple[str, list[Packet]]]:
    """Each packet lost, each start and end, each two in the other order."""
    for at in range(len(packets)):
        yield f"without packet {at}", [*packets[:at], *packets[at + 1 :]]
        yield f"from packet {at} on", list(packets[at:])
        yield f"up to packet {at}", list(packets[: at + 1])
    for at in range(len(packets) - 1):
        first, second = packets[at : at + 2]
        swapped = [replace(second, ts=first.ts), replace(first, ts=second.ts)]
        yield f"packets {at} and {at + 1} swapped", [*packets[:at], *swapped, *packets[at + 2 :]]


def with_flips(
    packets: Sequence[Packet], some: int, seed: int
) -> Iterator[tuple[str, list[Packet]]]:
    """A bit of a packet's flags, sequence number or bytes turned: ``some`` of all bits."""
    bits = [
        (at, bit)
        for at, packet in enumerate(packets)
        for bit in range(_IN_HEADER + 8 * len(packet.data))
    ]
    for at, bit in random.Random(seed).sample(bits, min(some, len(bits))):
        changed = [*packets[:at], _flipped(packets[at], bit), *packets[at + 1 :]]
        yield f"bit {bit} of packet {at} flipped", changed


#: Bits of flags (FIN, SYN, RST, PSH, ACK) and of the sequence number.
_IN_HEADER = 5 + 32


def _flipped(packet: Packet, bit: int) -> Packet:
    if bit < 5:
        return replace(packet, flags=packet.flags ^ 1 << bit)
    if bit < _IN_HEADER:
        return replace(packet, sequence=packet.sequence ^ 1 << bit - 5)
    data = bytearray(packet.data)
    data[(bit - _IN_HEADER) // 8] ^= 1 << (bit - _IN_HEADER) % 8
    return replace(packet, data=bytes(data))


def read(packets: Sequence[Packet], *, bodies: Sequence[int] | None = None) -> list[DecodedFrame]:
    connections = CaptureDecoder(DecodeOptions(limit=DEFAULT_FRAME_LIMIT, bodies=bodies))
    frames = list(connections.read(BytesIO(pcap(packets)), "a.pcap"))
    return frames + list(connections.finish())


def outputs(frames: Sequence[DecodedFrame], *, mask: bool = True) -> Iterator[tuple[str, str]]:
    """What each output makes of the frames, by its name."""
    shown = list(FilteredFrames(frames, Filter(), None, mask=mask))
    for name, options in [
        ("jsonl", {}),
        ("jsonl --raw", {"raw": True}),
        ("jsonl --raw --no-body", {"raw": True, "body": False}),
        ("jsonl --records", {"records": True}),
    ]:
        found = [frame_record(each, mask=mask, **options) for _, each in shown]
        yield name, "\n".join(msgspec.json.encode(each).decode() for each in found)
        if name == "jsonl --raw":
            yield "tsv", "\n".join("\t".join(map(tsv_cell, each.values())) for each in found)
    flags = {"mask": mask, "raw": False, "body": True, "records": False}
    rows = [row_of_frame(number, each, flags).cells(flags, each) for number, each in shown]
    yield "table", "\n".join("  ".join(row) for row in rows)
    yield "problems", "\n".join(each.problem or "" for _, each in shown)
    yield "summary", str(summarise(shown))
    explained = [(number, each, explanation_of(each, mask=mask)) for number, each in shown]
    for number, each, explanation in explained:
        cells = [(*_cells(n), *_hex_lines(explanation, n, 16)) for n in explanation.nodes()]
        lines = "\n".join("\n".join(row) for row in cells)
        yield f"explain {number}", f"{_title(each)}\n{lines}"
    pages = [page_frame(number, each, mask=mask) for number, each in shown]
    page = "".join(html_page(pages))
    yield "html", page[page.index('<script type="application/json"') :] if pages else ""
    yield "repr", repr(frames)


def new_frames(frames: Sequence[DecodedFrame], seen: set[Any]) -> list[DecodedFrame]:
    """Those of which no output was looked at: most frames of a damaged capture are as before."""
    found = []
    for each in frames:
        key = (
            each.data, each.direction, each.header_offset, each.header_version, each.body_offset,
            each.api_key, each.api_version, each.correlation_id, each.client_id, each.principal,
            str(each.error), each.is_token, each.may_be_token, each.may_be_secret,
            each.client_software, each.body is None, each.codec, len(each.topic_names),
        )  # fmt: skip
        if key not in seen:
            seen.add(key)
            found.append(each)
    return found


class Leaks:
    """Finds windows of secrets in texts: as they are, in hex, in base64."""

    def __init__(self, secrets: Sequence[bytes]) -> None:
        self._windows = {
            secret[at : at + WINDOW] for secret in secrets for at in range(len(secret) - WINDOW + 1)
        }
        # A window has a whole piece of four bytes of these in it, and they are few.
        pieces = {s[at : at + 4] for s in secrets for at in range(0, len(s) - 3, 4)}
        self._pieces = re.compile(b"|".join(map(re.escape, sorted(pieces))))

    def __call__(self, text: str) -> list[bytes]:
        return [each for blob in _readings(text) for each in self._found(blob)]

    def _found(self, blob: bytes) -> set[bytes]:
        if self._pieces.search(blob) is None:
            return set()
        return {window for window in self._windows if window in blob}


def _readings(text: str) -> Iterator[bytes]:
    """The bytes that a reader may take a text for."""
    yield text.encode("utf-8", "surrogateescape")
    squeezed = re.sub(r"\s+", "", text)
    if squeezed != text:
        yield squeezed.encode("utf-8", "surrogateescape")
    for run in re.findall(r"[0-9A-Fa-f]{16,}", squeezed):
        yield bytes.fromhex(run[: len(run) // 2 * 2])
        yield bytes.fromhex(run[1:][: (len(run) - 1) // 2 * 2])
    for run in re.findall(r"[A-Za-z0-9+/_-]{11,}", text.replace("\\/", "/")):
        digits = run.replace("-", "+").replace("_", "/")
        for start in range(4):
            whole = digits[start:]
            yield binascii.a2b_base64(whole[: len(whole) // 4 * 4])
