"""Kafka in packets in packets: what mirrors of clouds and switches, and Macs, put into captures."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.capture.tcp.segments import read_segment, segment_in
from tests.capture.packets import KINDS, Packet, conversation, ethernet, ip4, ip6, pcap
from tests.capture.test_captures import USUAL, expected, plain, read
from tests.helpers.requirements import require_program

Wrap = Callable[[Packet], bytes]


def outer4(protocol: int, body: bytes, *, flags: int = 0x4000) -> bytes:
    """An IPv4 packet between two other hosts."""
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), 9, flags, 64, protocol, 0)
    return head + bytes([192, 168, 0, 1, 192, 168, 0, 2]) + body


def outer6(protocol: int, body: bytes) -> bytes:
    head = struct.pack(">IHBB", 6 << 28, len(body), protocol, 64)
    return head + bytes(15) + b"\1" + bytes(15) + b"\2" + body


def link(kind: int, body: bytes) -> bytes:
    return bytes(12) + struct.pack(">H", kind) + body


def udp(port: int, body: bytes) -> bytes:
    return struct.pack(">4H", 50000, port, 8 + len(body), 0) + body


def vxlan(inner: bytes, port: int = 4789) -> bytes:
    return udp(port, b"\x08\0\0\0" + b"\0\0\x2a\0" + inner)


def geneve(kind: int, inner: bytes, options: bytes = b"") -> bytes:
    return udp(
        6081, struct.pack(">BBH", len(options) // 4, 0, kind) + b"\0\0\x2a\0" + options + inner
    )


def gre(kind: int, inner: bytes, flags: int = 0) -> bytes:
    more = 4 * sum(bool(flags & each) for each in (0x8000, 0x2000, 0x1000))
    return struct.pack(">HH", flags, kind) + bytes(more) + inner


def mpls(inner: bytes, labels: int = 1) -> bytes:
    stack = [struct.pack(">I", (16 + n) << 12 | (n == labels - 1) << 8 | 64) for n in range(labels)]
    return b"".join(stack) + inner


def pppoe(packet: Packet) -> bytes:
    inner = ip4(packet)
    return struct.pack(">BBHHH", 0x11, 0, 1, len(inner) + 2, 0x21) + inner


def pktap(kind: int, inner: bytes) -> bytes:
    return struct.pack("<3I", 108, 1, kind) + bytes(96) + inner


#: Tunnel → LINKTYPE, what wraps a packet, and the protocols that tshark sees in it.
TUNNELS: dict[str, tuple[int, Wrap, str]] = {
    "VXLAN": (1, lambda p: link(0x0800, outer4(17, vxlan(ethernet(p)))), "vxlan"),
    "VXLAN over IPv6": (1, lambda p: link(0x86DD, outer6(17, vxlan(ethernet(p)))), "vxlan"),
    "VXLAN in a VLAN": (
        1, lambda p: link(0x8100, b"\0\5\x08\0" + outer4(17, vxlan(ethernet(p)))), "vxlan",
    ),
    "Linux' VXLAN": (1, lambda p: link(0x0800, outer4(17, vxlan(ethernet(p), 8472))), ""),
    "VXLAN's extension": (
        1,
        lambda p: link(0x0800, outer4(17, udp(4790, b"\x0c\0\0\3\0\0\x2a\0" + ethernet(p)))),
        "udp:eth",
    ),
    "IP in VXLAN's extension": (
        1,
        lambda p: link(0x0800, outer4(17, udp(4790, b"\x0c\0\0\2\0\0\x2a\0" + ip6(p)))),
        "udp:ipv6",
    ),
    "Geneve": (1, lambda p: link(0x0800, outer4(17, geneve(0x6558, ethernet(p)))), "geneve"),
    "Geneve with options": (
        1, lambda p: link(0x0800, outer4(17, geneve(0x0800, ip4(p), bytes(8)))), "geneve",
    ),
    "GRE": (1, lambda p: link(0x0800, outer4(47, gre(0x0800, ip4(p)))), "gre"),
    "GRE with a key": (1, lambda p: link(0x0800, outer4(47, gre(0x86DD, ip6(p), 0x2000))), "gre"),
    "Ethernet in GRE": (1, lambda p: link(0x0800, outer4(47, gre(0x6558, ethernet(p)))), "gre"),
    "MPLS in GRE": (1, lambda p: link(0x0800, outer4(47, gre(0x8847, mpls(ip4(p))))), "gre"),
    "ERSPAN": (
        1,
        lambda p: link(0x0800, outer4(47, gre(0x88BE, b"\x10" + bytes(7) + ethernet(p), 0x1000))),
        "erspan",
    ),
    "ERSPAN, third, with a platform's header": (
        1,
        lambda p: link(
            0x0800,
            outer4(47, gre(0x22EB, b"\x20" + bytes(10) + b"\1" + bytes(8) + ethernet(p), 0x1000)),
        ),
        "erspan",
    ),
    "IP in IP": (1, lambda p: link(0x0800, outer4(4, ip4(p))), "ip:ip"),
    "IPv6 in IP": (1, lambda p: link(0x0800, outer4(41, ip6(p))), "ip:ipv6"),
    "IP in IPv6": (1, lambda p: link(0x86DD, outer6(4, ip4(p))), "ipv6:ip"),
    "MPLS": (1, lambda p: link(0x8847, mpls(ip4(p))), "mpls"),
    "MPLS, three labels": (1, lambda p: link(0x8847, mpls(ip6(p), 3)), "mpls"),
    "Ethernet in MPLS": (1, lambda p: link(0x8847, mpls(bytes(4) + ethernet(p))), "mpls"),
    "PPPoE": (1, lambda p: link(0x8864, pppoe(p)), "pppoes"),
    "MPLS in UDP": (1, lambda p: link(0x0800, outer4(17, udp(6635, mpls(ip4(p))))), "udp:mpls"),
    "MPLS in a VLAN": (1, lambda p: link(0x8100, b"\0\5\x88\x47" + mpls(ip4(p))), "vlan"),
    "PPPoE in a VLAN": (1, lambda p: link(0x8100, b"\0\5\x88\x64" + pppoe(p)), "pppoes"),
    "GRE in VXLAN": (
        1,
        lambda p: link(0x0800, outer4(17, vxlan(link(0x0800, outer4(47, gre(0x0800, ip4(p))))))),
        "vxlan",
    ),
    "PKTAP": (258, lambda p: pktap(1, ethernet(p)), "pktap"),
    "PKTAP of a loopback": (258, lambda p: pktap(0, b"\2\0\0\0" + ip4(p)), "pktap"),
}  # fmt: skip


#: tshark looks into these only where it is told what they are.
NOT_INSIDE = {"Linux' VXLAN", "Ethernet in MPLS"}


@pytest.fixture(params=TUNNELS)
def tunnel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    number, wrap, _ = TUNNELS[request.param]
    monkeypatch.setitem(KINDS, request.param, (number, wrap))
    return str(request.param)


def test_frames_are_those_of_the_connection_inside(tunnel: str, tmp_path: Path) -> None:
    frames = read(tmp_path, pcap(conversation(USUAL), tunnel))
    assert plain(frames) == expected(USUAL)
    assert not [each.problem for each in frames if each.problem]
    assert {each.ts for each in frames} <= {each.ts for each in conversation(USUAL)}


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", sorted({number for number, _, _ in TUNNELS.values()}))
def test_tshark_sees_the_same_tunnels(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The packets that are made here are what their names say."""
    tshark = require_program("tshark")
    packets = conversation(USUAL)
    file = tmp_path / "tunnels.pcap"
    written, names = bytearray(), []
    for name, (kind, wrap, _) in TUNNELS.items():
        if kind == number:
            monkeypatch.setitem(KINDS, name, (kind, wrap))
            written += pcap(packets, name)[24 if written else 0 :]
            names.append(name)
    file.write_bytes(written)
    command = [tshark, "-r", str(file), "-T", "fields", "-e", "frame.protocols", "-e", "tcp.len"]
    rows = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(rows) == len(names) * len(packets)
    for at, name in enumerate(names):
        said = TUNNELS[name][2]
        of_name = rows[at * len(packets) : (at + 1) * len(packets)]
        assert all(said in row for row in of_name), (name, of_name[0])
        sizes = [row.rpartition("\t")[2] for row in of_name]
        if name not in NOT_INSIDE:
            assert sizes == [str(len(each.data)) for each in packets], name


def test_a_first_fragment_of_a_tunnel_is_a_fragment() -> None:
    packet = conversation(USUAL)[3]
    for protocol, body in ((17, vxlan(ethernet(packet))), (47, gre(0x0800, ip4(packet)))):
        found = read_segment(1, link(0x0800, outer4(protocol, body, flags=0x2000)))
        assert found is not None
        assert found[0] == b""


@given(st.sampled_from(sorted(TUNNELS)), st.data())
def test_damage_raises_nothing(name: str, data: st.DataObject) -> None:
    number, wrap, _ = TUNNELS[name]
    whole = bytearray(wrap(conversation(USUAL)[3]))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    segment_in(number, bytes(whole[: data.draw(st.integers(0, len(whole)))]))


def test_a_capture_without_tcp_says_what_it_has(tmp_path: Path) -> None:
    """Beside TCP other packets are usual, and no problem."""
    packets = conversation(USUAL)
    others = [
        link(0x0806, bytes(28)), link(0x0800, outer4(17, udp(53, b"name"))),
        link(0x0800, outer4(17, udp(53, b"name"))),
        link(0x8100, b"\0\5\x08\0" + outer4(50, b"x" * 40)),
        link(0x0800, outer4(89, b"")), link(0x86DD, outer6(58, bytes(8))), link(0x9999, b""),
    ]  # fmt: skip
    head, one = pcap(packets)[:24], pcap(packets)[24:]
    rest = b"".join(struct.pack("<4I", 1, 0, len(each), len(each)) + each for each in others)
    (frame,) = read(tmp_path, head + rest)
    assert frame.problem is not None
    assert frame.problem.endswith(
        "no packet has TCP: 2 UDP, 1 ARP, 1 ESP, 1 IP protocol 89, 1 ICMP for IPv6, 1 EtherType "
        "0x9999"
    )
    assert not [each.problem for each in read(tmp_path, head + rest + one) if each.problem]


def test_tunnels_have_an_end() -> None:
    packet = ip4(conversation(USUAL)[3])
    for _ in range(300):
        packet = outer4(4, packet)
    assert read_segment(101, packet) is None
