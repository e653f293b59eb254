"""Parts of capture files: what the whole file gives, whatever it holds and has suffered."""

from __future__ import annotations

import gzip
import random
import struct
from collections.abc import Iterator
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import MetadataRequest
from kafka_admin_proto.capture.files.splits import (
    HEAD,
    MOST_PCAPNG_SPLITS,
    read_split,
    split_points,
    splittable,
)
from kafka_admin_proto.protocol import frame, write_request
from tests.capture.files.parts import (
    LARGEST,
    Bytes,
    Found,
    Trickle,
    into,
    parts,
    small_packets,
    whole,
)
from tests.helpers.profile import draws


@pytest.fixture(autouse=True)
def _small_packets() -> Iterator[None]:
    with small_packets():
        yield


# -- files -----------------------------------------------------------------------------------------


def payload(dice: random.Random, room: int) -> bytes:
    """What a packet may have in it: noise, zeros, small numbers, Kafka's frames, other captures."""
    kind = dice.randrange(6)
    if kind == 0:
        return dice.randbytes(dice.randrange(room + 1))
    if kind == 1:
        return bytes(dice.randrange(room + 1))
    if kind == 2:
        return bytes(dice.choices((0, 0, 0, 1, 2, 40), k=dice.randrange(room + 1)))
    if kind == 3:
        return frame(write_request(MetadataRequest(), 12, dice.randrange(9), "me"))[:room]
    packed = b""
    while len(packed) + 20 < room and dice.random() < 0.9:
        inner = dice.randbytes(dice.randrange(room - len(packed) - 16))
        if kind == 4:
            packed += pcap_packet("<", 5, 6, inner, len(inner))
        else:
            inner = bytes(-len(inner) % 4) + inner
            packed += block("<", 6, struct.pack("<5I", 0, 1, 2, len(inner), 9) + inner)[:room]
    if dice.random() < 0.3:  # the last of them goes on behind this packet
        packed = packed[: -dice.randrange(1, 30)]
    return packed[:room]


def pcap_packet(order: str, seconds: int, fraction: int, data: bytes, original: int) -> bytes:
    return struct.pack(f"{order}4I", seconds, fraction, len(data), original) + data


def pcap_file(dice: random.Random, count: int) -> bytes:
    order = dice.choice("<>")
    nanoseconds = dice.random() < 0.5
    resolution = 1_000_000_000 if nanoseconds else 1_000_000
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    snap = dice.choice((0, LARGEST, 0xFFFFFFFF))
    data = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, snap, 1)
    odd = dice.random() < 0.1  # a writer that does not care about sizes on the wire
    for number in range(count):
        content = payload(dice, LARGEST)
        original = 0 if odd else len(content) + dice.choice((0, 0, 0, 1, 1000))
        fraction = dice.randrange(resolution) if dice.random() < 0.99 else 0xFFFFFFFF
        data += pcap_packet(order, 1_700_000_000 + number, fraction, content, original)
    return data


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + size + body + size


def pcapng_file(dice: random.Random, count: int) -> bytes:
    data = b""
    order, interfaces = "<", 0
    for number in range(count):
        if not data or dice.random() < 0.05:
            order, interfaces = dice.choice("<>"), 0
            data += block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))
        if not interfaces or dice.random() < 0.1:
            interfaces += 1
            options = struct.pack(f"{order}HH", 9, 1) + bytes([dice.choice((6, 9, 0x8A)), 0, 0, 0])
            body = struct.pack(f"{order}HHI", dice.randrange(300), 0, dice.choice((0, 30)))
            data += block(order, 1, body + dice.choice((b"", options)))
        if dice.random() < 0.03:  # what no reader can use, but passes over
            bad = struct.pack(f"{order}5I", 99, 1, 2, 3, 3) + b"abc"
            data += block(order, *dice.choice(((1, b""), (6, b"short"), (6, bad))))
        content = payload(dice, LARGEST)
        if dice.random() < 0.1:
            data += block(order, 3, struct.pack(f"{order}I", len(content)) + content)
        elif dice.random() < 0.1:
            data += block(order, dice.choice((4, 5, 0xBAD, 0x80000001)), content)
        else:
            kind = dice.choice((2, 6, 6, 6))
            head = (dice.randrange(interfaces), 390_000 + number, 5, len(content), 2000)
            form = f"{order}5I" if kind == 6 else f"{order}Hxx4I"
            data += block(order, kind, struct.pack(form, *head) + content)
    return data


def hurt(data: bytes, dice: random.Random) -> bytes:
    """Bits flipped, stretches overwritten, lost or put in between; or the end cut off."""
    for _ in range(dice.choice((0, 1, 1, 3, 10))):
        at = dice.randrange(24, len(data))
        size = dice.choice((1, 4, 50, 400))
        match dice.randrange(5):
            case 0 | 1:
                flipped = bytes([data[at] ^ 1 << dice.randrange(8)])
                data = data[:at] + flipped + data[at + 1 :]
            case 2:
                data = data[:at] + bytes(size) + data[at + size :]
            case 3:
                data = data[:at] + data[at + size :]
            case 4:
                data = data[:at] + dice.randbytes(size) + data[at:]
        if len(data) < 40:
            break
    if dice.random() < 0.3:
        data = data[: dice.randrange(24, len(data) + 1)]
    return data


FILES = {"pcap": pcap_file, "pcapng": pcapng_file}
formats = pytest.mark.parametrize("format_", FILES)


# -- properties ------------------------------------------------------------------------------------


@formats
@given(seed=st.integers(0, 1 << 32), count=st.integers(1, 300), harm=st.booleans())
@settings(max_examples=draws(150))
def test_parts_give_what_the_whole_gives(format_: str, seed: int, count: int, harm: bool) -> None:
    dice = random.Random(seed)
    data = FILES[format_](dice, count)
    if harm:
        data = hurt(data, dice)
    inside = sorted(dice.sample(range(len(data)), min(len(data), dice.randrange(1, 20))))
    wanted = whole(BytesIO(data))
    assert parts(Bytes(data), [0, *inside, len(data)]) == wanted
    assert whole(Trickle(data, dice)) == wanted
    positions = [at for at, _ in wanted]
    assert positions == sorted(set(positions))


@pytest.mark.exhaustive
@formats
@pytest.mark.parametrize("harm", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_parts_that_meet_at_each_byte(format_: str, harm: bool, seed: int) -> None:
    dice = random.Random(seed)
    data = FILES[format_](dice, 20)
    if harm:
        data = hurt(data, dice)
    wanted = whole(BytesIO(data))
    for bound in range(len(data) + 1):
        assert parts(Bytes(data), [0, bound, len(data)]) == wanted
    assert parts(Bytes(data), list(range(len(data) + 1))) == wanted


# -- what must come out ----------------------------------------------------------------------------


def noisy_pcap(dice: random.Random, count: int, order: str = "<") -> tuple[bytes, list[int]]:
    """A file of packets of noise, and where they begin."""
    data = struct.pack(f"{order}IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, LARGEST, 1)
    positions = []
    for number in range(count):
        positions.append(len(data))
        content = dice.randbytes(dice.randrange(20, LARGEST))
        data += pcap_packet(order, number, 999_999, content, len(content))
    return data, positions


def positions_of(found: Found) -> list[int]:
    return [at for at, what in found if not isinstance(what, str)]


def faults_of(found: Found) -> list[str]:
    return [what for _, what in found if isinstance(what, str)]


@pytest.mark.parametrize("order", "<>")
def test_a_damaged_size_costs_two_packets_at_most(order: str) -> None:
    dice = random.Random(7)
    data, positions = noisy_pcap(dice, 100, order)
    for number, at in enumerate(positions[:90]):
        for value in (0xFFFFFFFF, LARGEST + 1, 1):
            bad = data[: at + 8] + struct.pack(f"{order}I", value) + data[at + 12 :]
            found = whole(BytesIO(bad))
            good = [each for each in positions if each != at]
            assert set(good) <= set(positions_of(found))
            if value != 1:
                (said,) = faults_of(found)
                passed = positions[number + 1] - at
                assert said == (
                    f"the capture is damaged at byte {at}: a packet of {value} bytes; "
                    f"{passed} bytes passed over until the next packet"
                )


def test_a_hole_of_zeros_is_passed_over() -> None:
    data, positions = noisy_pcap(random.Random(1), 100)
    start, end = positions[40], positions[60] + 16
    found = whole(BytesIO(data[:start] + bytes(end - start) + data[end:]))
    assert positions_of(found) == positions[:40] + positions[61:]
    assert faults_of(found) == [
        f"the capture is damaged at byte {start}: a packet of no bytes; "
        f"{positions[61] - start} bytes passed over until the next packet"
    ]


def test_damage_up_to_the_end() -> None:
    data, positions = noisy_pcap(random.Random(1), 100)
    bad = data[: positions[50]] + b"\xff" * 1000
    found = whole(BytesIO(bad))
    assert positions_of(found) == positions[:50]
    assert "no packet is found in the 1000 bytes from there on" in faults_of(found)[0]
    assert len(faults_of(found)) == 1


def test_a_bad_block_costs_itself() -> None:
    interface = block("<", 1, struct.pack("<HHI", 1, 0, 0))
    section = block("<", 0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    packets = [block("<", 6, struct.pack("<5I", 0, 1, n, 8, 8) + bytes(8)) for n in range(9)]
    size = len(packets[0])
    bad = {
        "a block of 4294967295 bytes": packets[4][:4] + b"\xff" * 4 + packets[4][8:],
        "another length at its end": packets[4][:-4] + b"\0" * 4,
        "interface 7, which no block describes": packets[4][:8] + b"\7" + packets[4][9:],
        "a packet of 9 bytes in a block with room for 8": packets[4].replace(b"\x08", b"\x09", 1),
    }
    for said, instead in bad.items():
        found = whole(
            BytesIO(section + interface + b"".join([*packets[:4], instead, *packets[5:]]))
        )
        assert len(positions_of(found)) == 8
        (fault,) = faults_of(found)
        assert said in fault
        assert f"; {size} bytes passed over until the next packet" in fault
    # Those of a damaged interface are one fault, and other interfaces keep their numbers.
    found = whole(BytesIO(section + block("<", 1, b"") + interface + b"".join(packets)))
    assert len(faults_of(found)) == 2
    other = block("<", 6, struct.pack("<5I", 1, 1, 2, 8, 8) + bytes(8))
    found = whole(BytesIO(section + block("<", 1, b"") + interface + other))
    assert len(positions_of(found)) == 1


def test_a_part_is_found_without_what_is_before_it() -> None:
    data, positions = noisy_pcap(random.Random(3), 5000)
    for bound in range(100_000, 200_000, 997):
        file = Bytes(data)
        first, _ = next(read_split(file, bound, len(data), into([])))
        assert first == min(at for at in positions if at >= bound)
        assert file.lowest_after_head >= bound - 5 * (LARGEST + 16)


def two_chains(period: int, inside: int) -> bytes:
    """In each packet, ``inside`` its bytes, a header whose packet ends at the one in the next."""
    header = struct.pack("<4I", 1, 2, period - 16, period - 16)
    content = b"\xff" * inside + header + b"\xff" * (period - 32 - inside)
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, LARGEST, 1) + (header + content) * 99


@pytest.mark.exhaustive
@pytest.mark.parametrize("period", [40, 60, LARGEST, LARGEST + 16])
@pytest.mark.parametrize("inside", [1, 8, -1])
def test_only_the_start_tells_two_chains_from_each_other(period: int, inside: int) -> None:
    data = two_chains(period, inside % (period - 32))
    wanted = whole(BytesIO(data))
    assert positions_of(wanted) == list(range(24, len(data), period))
    for bound in range(len(data) - 2 * period, len(data)):
        found = parts(Bytes(data), [bound, len(data)])
        assert found == [each for each in wanted if each[0] >= bound]


def test_two_chains_behind_a_hole() -> None:
    """In the hole a header at which no search stops, since its time is none, leads to the other."""
    data = two_chains(100, 30)
    end = 24 + 50 * 100
    weak = struct.pack("<4I", 1, 0xFFFFFFFF, 24 + 46, 24 + 46)
    hole = (b"\xff" * 500 + weak).ljust(540, b"\xff")
    data = data[: end - 540] + hole + data[end:]
    wanted = whole(BytesIO(data))
    assert next(at for at in positions_of(wanted) if at >= end - 40) == end
    for bound in range(end, end + 1000):
        found = parts(Bytes(data), [bound, len(data)])
        assert found == [each for each in wanted if each[0] >= bound]


def test_a_byte_too_many() -> None:
    data, positions = noisy_pcap(random.Random(1), 100)
    at = positions[50]
    data = data[:at] + b"\xff" + data[at:]
    wanted = whole(BytesIO(data))
    assert positions_of(wanted) == positions[:50] + [each + 1 for each in positions[50:]]
    for bound in range(at - 3, at + 4):
        assert parts(Bytes(data), [0, bound, len(data)]) == wanted


# -- the rest --------------------------------------------------------------------------------------


def test_points() -> None:
    pcap_head, pcapng_head = b"\xd4\xc3\xb2\xa1\2\0", b"\x0a\x0d\x0d\x0a\x1c\0"
    assert split_points(pcap_head, 100, 40) == [(0, 40), (40, 80), (80, 100)]
    assert split_points(pcap_head, 80, 40) == [(0, 40), (40, 80)]
    assert split_points(pcap_head, 5, 40) == [(0, 5)]
    assert split_points(b"", 0, 40) == [(0, 0)]
    assert split_points(b"\x1f\x8b\x08\0\0\0", 100, 40) == [(0, 100)]
    assert split_points(pcapng_head, 100, 50) == [(0, 50), (50, 100)]
    many = split_points(pcapng_head, 16_001, 10)
    assert len(many) == MOST_PCAPNG_SPLITS
    assert (many[0][0], many[-1][1]) == (0, 16_001)
    with pytest.raises(ValueError, match="at least one byte"):
        split_points(pcap_head, 100, 0)


@formats
def test_a_compressed_file_is_one_part(format_: str) -> None:
    data = FILES[format_](random.Random(5), 50)
    file = Bytes(gzip.compress(data))
    assert not splittable(file.read_at(0, HEAD))
    assert parts(file, [0, file.size]) == whole(BytesIO(data))
    assert not parts(file, [10, file.size])


@pytest.mark.parametrize("data", [b"", b"\xd4\xc3\xb2\xa1", b"not a capture at all"])
def test_no_capture(data: bytes) -> None:
    wanted = whole(BytesIO(data))
    assert [at for at, _ in wanted] == [0]
    for bound in range(len(data) + 1):
        assert parts(Bytes(data), [0, bound, len(data)] if bound else [0, len(data)]) == wanted


@formats
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_file_that_cannot_be_read_is_not_a_short_one(format_: str, compress: object) -> None:
    assert callable(compress)
    data = compress(FILES[format_](random.Random(5), 300))

    class Failing(Bytes):
        def read_at(self, offset: int, size: int) -> bytes:
            if self.read:
                raise OSError("the network is down")
            return super().read_at(offset, 50)

    for start in (0, len(data) // 2):
        if start == 0 or compress is bytes:
            with pytest.raises(OSError, match="the network is down"):
                list(read_split(Failing(data), start, len(data), into([])))
