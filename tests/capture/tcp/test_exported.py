"""What tshark decrypts of captured TLS and writes to a capture of its own, read with its times."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.capture import read_captures
from kafka_admin_proto.capture.files.opening import open_packets, read_packets
from kafka_admin_proto.capture.tcp.segments import read_segment, segment_in
from tests.capture.packets import KINDS, Packet, conversation, pcap
from tests.capture.test_captures import USUAL, expected, plain, read
from tests.helpers.kap import run_kap
from tests.helpers.requirements import require_program

ROOT = Path(__file__).parents[3]
KEYS = Path(__file__).parent / "data" / "tls12.keys"
#: Each capture of TLS, and what tells tshark its keys; the second has them in itself.
CAPTURES = {
    "TLS 1.2": [str(KEYS.with_suffix(".pcap")), "-o", f"tls.keylog_file:{KEYS}"],
    "TLS 1.3": [str(ROOT / "samples" / "tls.pcapng")],
}
ASKED = ["ApiVersions", "ApiVersions", "Metadata", "Metadata", "CreateTopics", *["Metadata"] * 3]


def exported(packet: Packet, *, dissector: bytes = b"data", port_type: int = 2) -> bytes:
    """The bytes of a packet as tshark exports them."""
    ends = (packet.source, packet.destination)
    addresses = [bytes(map(int, host.split("."))) for host, _ in ends]
    tags = [
        (12, dissector.ljust(8, b"\0")), (20, addresses[0]), (21, addresses[1]),
        (24, struct.pack(">I", port_type)),
        *((tag, struct.pack(">I", port)) for tag, (_, port) in zip((25, 26), ends, strict=True)),
        (30, b"\0\0\0\x2a"), (0, b""),
    ]  # fmt: skip
    return b"".join(struct.pack(">HH", tag, len(data)) + data for tag, data in tags) + packet.data


def tshark(*arguments: str) -> bytes:
    program = require_program("tshark")
    return subprocess.run([program, *arguments], capture_output=True, check=True).stdout


@pytest.mark.parametrize("name", CAPTURES)
def test_tshark_decrypts_and_frames_have_times(name: str, tmp_path: Path) -> None:
    file, capture = tmp_path / "plain.pcapng", CAPTURES[name]
    data = ["-d", "tls.port==9093,data"]
    tshark("-r", *capture, *data, "-U", "OSI layer 7", "-w", str(file))
    frames = list(read_captures([file]))
    assert [each.problem for each in frames] == [None] * 16
    assert [each.api for each in frames] == [each for each in ASKED for _ in range(2)]
    with Path(capture[0]).open("rb") as stream:
        packets = list(read_packets(open_packets(stream), lambda at, error: None))
    times = {ts for ts, link, data in packets if read_segment(link, data)[3]}  # type: ignore[index]
    assert len({each.ts for each in frames} & times) == len(frames)


def test_followed_streams_have_no_times() -> None:
    text = tshark("-r", *CAPTURES["TLS 1.3"], "-q", "-z", "follow,tls,hex,0")
    found = run_kap("decode - --output tsv", data=text)
    rows = [each.split("\t") for each in found.stdout.splitlines()]
    assert [row[9] for row in rows] == [each for each in ASKED for _ in range(2)]
    assert {row[3] for row in rows} == {""}


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(KINDS, "exported", (252, exported))
    return "exported"


def test_bytes_without_sequence_numbers_follow_one_another(kind: str, tmp_path: Path) -> None:
    packets = [each for each in conversation(USUAL, size=100) if each.data]
    frames = read(tmp_path, pcap(packets, kind))
    assert plain(frames) == expected(USUAL)
    assert not [each.problem for each in frames if each.problem]
    whole = read(tmp_path, pcap(conversation(USUAL, size=100)))
    assert sorted((f.data, f.ts or 0) for f in frames) == sorted((f.data, f.ts or 0) for f in whole)


@pytest.mark.parametrize("turned", [False, True])
def test_the_encrypted_capture_may_be_read_with_them(
    kind: str, tmp_path: Path, turned: bool
) -> None:
    """A folder may have both: they are of the same endpoints."""
    ends = {"client": ("127.0.0.1", 59312), "server": ("127.0.0.1", 9093)}
    file = tmp_path / "plain.pcap"
    file.write_bytes(pcap([each for each in conversation(USUAL, **ends) if each.data], kind))  # type: ignore[arg-type]
    files = [file, ROOT / "samples" / "tls.pcapng"]
    frames = list(read_captures(files[::-1] if turned else files))
    assert plain([each for each in frames if each.direction != "data"]) == expected(USUAL)
    (encrypted,) = [each for each in frames if each.direction == "data"]
    assert encrypted.connection == "127.0.0.1:59312-127.0.0.1:9093"
    assert {each.connection for each in frames} == {encrypted.connection}


def test_what_is_exported_otherwise_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """tshark's dissector of Kafka gets pieces of a frame again, once the frame is whole."""
    packet = next(each for each in conversation(USUAL) if each.data)
    for dissector, port_type, name in (
        (b"kafka", 2, "1 exported as kafka (tshark -d tls.port==PORT,data exports what is read)"),
        (b"data", 3, "1 exported bytes without TCP"),
    ):
        form = (252, lambda p, d=dissector, t=port_type: exported(p, dissector=d, port_type=t))
        monkeypatch.setitem(KINDS, "exported", form)
        (frame,) = read(tmp_path, pcap([packet], "exported"))
        assert frame.problem is not None
        assert frame.problem.endswith(f"no packet has TCP: {name}")


@given(st.data())
def test_damage_raises_nothing(data: st.DataObject) -> None:
    whole = bytearray(exported(conversation(USUAL)[3]))
    assert read_segment(252, bytes(whole)) is not None
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    segment_in(252, bytes(whole[: data.draw(st.integers(0, len(whole)))]))
