"""Dumps that programs print on their own: as they came, and drawn in the same layouts."""

from __future__ import annotations

import base64
import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.capture import READERS, Block, FrameDecoder, read_blocks
from kafka_admin_proto.capture.dumps.text import sample_of
from kafka_admin_proto.errors import DumpError
from tests.capture.dumps import formatters
from tests.capture.dumps.test_readers import FRAME, fault, only
from tests.helpers.profile import sample

FOLDER = Path(__file__).parent / "data"
ASKED = bytes.fromhex("00000013001200000000000900096475 6d702d64656d6f")


def decoded(name: str) -> list[tuple[str, str | None, int | None, int | None]]:
    """Direction, api, size and latency of each frame of a file."""
    decoder = FrameDecoder()
    blocks = read_blocks((FOLDER / name).read_bytes())
    frames = [frame for block in blocks for frame in decoder.decode(block)]
    assert [frame.problem for frame in frames] == [None] * len(frames)
    return [(each.direction, each.api, len(each.data), each.latency_us) for each in frames]


ASKS = ("request", "ApiVersions", 23, None)
CREATES = ("request", "CreateTopics", 54, None)


@pytest.mark.parametrize(
    ("name", "format", "frames"),
    [
        ("strace.txt", "strace", [ASKS, ("response", "ApiVersions", 350, 1272), CREATES]),
        ("strace-xx.txt", "strace", [ASKS, ("response", "ApiVersions", 350, None), CREATES]),
        ("netty.txt", "netty", [ASKS, CREATES, ("response", "ApiVersions", 14, None), CREATES]),
        ("java.txt", "decimal", [CREATES]),
        ("jsse-12.txt", "jsse", [CREATES, ("response", "CreateTopics", 22, 4000)]),
        ("jsse-13.txt", "jsse", [CREATES, ("response", "CreateTopics", 22, 49_000)]),
        ("ncat.txt", "wireshark", [CREATES, ("response", "CreateTopics", 22, None)]),
        ("gdb.txt", "gdb", [CREATES]),
        ("go.txt", "decimal", [CREATES] * 2),
        ("javascript.txt", "decimal", [CREATES] * 3),
        ("buffer.txt", "buffer", [ASKS]),
        ("format-hex.txt", "format-hex", [CREATES]),
        ("format-hex-7.txt", "format-hex", [CREATES]),
        (
            "kafka-python.log",
            "kafka-python",
            [
                ("request", "ApiVersions", 42, None), ("response", "ApiVersions", 591, 2000),
                ("request", "Metadata", 25, None), ("response", "Metadata", 63, 2000),
                ("request", "CreateTopics", 44, None), ("response", "CreateTopics", 1131, 20_000),
            ],
        ),
    ],
)  # fmt: skip
def test_what_a_program_printed(name: str, format: str, frames: list[Any]) -> None:
    sample = sample_of((FOLDER / name).read_bytes())
    assert next(each.name for each in READERS.values() if each.matches(sample)) == format
    assert decoded(name) == frames


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("strace-cut.txt", "line 6: strace printed 32 of 346 bytes of this call; run it with -s"),
        ("buffer-cut.txt", 'line 1: Node left 4 bytes of this buffer out; print it with'),
        ("javascript-cut.txt", "line 11: the last 20 numbers of this array were left out; print"),
    ],
)  # fmt: skip
def test_what_a_program_has_left_out(name: str, said: str) -> None:
    with pytest.raises(DumpError) as caught:
        read_blocks((FOLDER / name).read_bytes())
    assert str(caught.value).startswith(said)


def jsse(thread: str, said: str) -> str:
    return f"javax.net.ssl|DEBUG|{thread}|2026-01-31 12:00:00.123 UTC|A.java:1|{said}\n"


_PLAINTEXT = (
    "Plaintext before ENCRYPTION (\n"
    "  0000: 00 00 00 13 00 12 00 00   00 00 00 09 00 09 64 75  ..............du\n"
    "  0010: 6D 70 2D 64 65 6D 6F                               mp-demo\n)"
)


def test_threads_of_a_jvm_log_amid_one_another() -> None:
    text = (
        jsse("10|a", "WRITE: TLSv1.3 application_data, length = 23")
        + jsse("11|b", "READ: TLSv1.3 handshake, length = 55")
        + jsse("10|a", _PLAINTEXT)
    )
    (block,) = read_blocks(text.encode())
    assert (block.data, block.comment) == (ASKED, "10|a WRITE")


@pytest.mark.parametrize(("size", "data"), [("0", []), ("9" * 5000, [ASKED])], ids=["0", "9…"])
def test_sizes_of_a_jvms_records(size: str, data: list[bytes]) -> None:
    """TLS allows records without data, and nobody knows what a damaged log has."""
    text = jsse("10|a", f"WRITE: TLSv1.2 application_data, length = {size}")
    blocks = READERS["jsse"].read((text + jsse("10|a", _PLAINTEXT)).encode())
    assert [block.data for block in blocks] == data


@pytest.mark.parametrize(
    "line",
    [
        jsse("10|a", "READ: TLSv1 " + "a" * 200_000),
        jsse("1|a", "") * 10_000,
        "|READ: TLSv1 a" * 10_000,
        jsse("10|a", "READ: TLSv1 a, length = 1" + "a" * 1_000_000) + "x\n" * 100_000,
    ],
    ids=["a word", "a line's start", "records", "many lines"],
)
def test_long_lines_of_a_jvms_log_take_no_squares_of_time(line: str) -> None:
    start = time.process_time()
    assert READERS["jsse"].read(line.encode()) == []
    assert time.process_time() - start < 3


# Drawn


FRAMES = st.lists(
    st.binary(max_size=40).map(lambda data: len(data).to_bytes(4, "big") + data), min_size=1
)


@st.composite
def chunked(draw: st.DrawFn) -> list[list[bytes]]:
    """Frames of two streams, each cut into chunks anywhere."""
    streams = []
    for _ in range(2):
        data = (0).to_bytes(3, "big") + b"\1x" + b"".join(draw(FRAMES))
        cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
        streams.append([data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)])
    return [[each for each in stream if each] for stream in streams]


def strace(side: int, data: bytes) -> str:
    text = "".join(f"\\{byte:03o}" if byte != 0x41 else "A" for byte in data)
    call = ("write", "read")[side]
    return f'[pid 7] {call}(5, "{text}", {len(data) + side}) = {len(data)}\n'


def kafka_python(side: int, data: bytes) -> str:
    shown = repr(data) if side else repr(bytearray(data))
    return f"DEBUG:kafka.protocol.parser:node=1[h:1] {('Send', 'Recv')[side]}: {shown}\n"


def box(data: bytes) -> str:
    line = "+" + "-" * 49 + "+"
    rows = "".join(
        f"|{at:08x}| {row.hex(' '):<47} |{formatters.characters(row):<16}|\n"
        for at, row in formatters.rows(data, 16)
    )
    border = f"+--------{line}----------------+\n"
    head = " ".join(f" {number:x}" for number in range(16))
    return f"         {line}\n         | {head} |\n{border}{rows}{border}"


def netty(side: int, data: bytes) -> str:
    return f"INFO: [id: 0x7, L:a - R:b] {('WRITE', 'READ')[side]}: {len(data)}B\n{box(data)}"


@pytest.mark.parametrize("write", [strace, kafka_python, netty])
@given(streams=chunked())
def test_chunks_are_joined_to_frames(write: Any, streams: list[list[bytes]]) -> None:
    chunks = [(side, chunk) for side in (0, 1) for chunk in streams[side]]
    blocks = read_blocks("".join(write(*chunk) for chunk in chunks).encode())
    found: dict[str, bytes] = {}
    for block in blocks:
        found[block.comment] = found.get(block.comment, b"") + block.data
        at = 0
        while at < len(block.data):  # all blocks are of whole frames
            at += 4 + int.from_bytes(block.data[at : at + 4], "big")
        assert at == len(block.data)
    assert list(found.values()) == [b"".join(stream) for stream in streams]


WRITERS = {
    "decimal": lambda data: str(list(data)),
    "decimal, signed": lambda data: str([byte - 256 if byte > 127 else byte for byte in data]),
    "decimal, Go": lambda data: f"got [{' '.join(map(str, data))}] from 10.0.0.1",
    "decimal, rows": lambda data: (
        f"Uint8Array({len(data)}) [\n"
        + ",\n".join("  " + ", ".join(map(str, row)) for _, row in formatters.rows(data, 12))
        + "\n]\n"
    ),
    "decimal, JSON": lambda data: f'{{"type":"Buffer","data":{list(data)}}}'.replace(" ", ""),
    "buffer": lambda data: f"sent <Buffer {data.hex(' ')}> now",
    "netty": box,
}


@pytest.mark.parametrize("name", WRITERS)
@given(data=st.binary(min_size=1, max_size=60))
def test_round_trip(name: str, data: bytes) -> None:
    data = len(data).to_bytes(4, "big") + data  # a frame: not all of its numbers have two digits
    text = WRITERS[name](data)
    assert only(text) == data
    blocks = read_blocks(f"{text}\n{text}\n".encode())
    assert b"".join(block.data for block in blocks) == data * 2


@pytest.mark.parametrize("damaged", ["00 0g>", "00 0>", "00 01", "00", "00 ... 4 more>", " 00>"])
def test_buffers_that_are_damaged(damaged: str) -> None:
    assert only("a <Buffer 00 13> and <Buffer > of a Promise<Buffer>") == b"\0\x13"
    assert "is not a whole buffer" in fault(f"<Buffer 00 13> <Buffer {damaged}\n")


def test_boxes_of_no_channel_are_blocks_as_they_are() -> None:
    """They may be bodies, whose first bytes are no size."""
    body = bytes.fromhex("000000010001610000 1388")
    assert only(box(body)) == body
    assert [block.data for block in read_blocks((box(body) * 2).encode())] == [body] * 2


@pytest.mark.parametrize("damage", [("00 00 00 32", "00 0g 00 32"), ("00 00 00 32", "00 000 32")])
@pytest.mark.parametrize("write", [box, lambda data: netty(0, data)])
def test_rows_of_boxes_that_are_damaged(damage: tuple[str, str], write: Any) -> None:
    assert "is not a row of Netty's box" in fault(write(FRAME).replace(*damage))


def test_bytes_that_count_up_are_no_head_of_a_table() -> None:
    data = bytes(range(16))
    for rows in (1, 2):
        text = f"{data.hex(' ').upper()}\n" * rows
        assert only(text) == data * rows


@pytest.mark.parametrize("text", ["[00, 00, 00, 32]", "{ 0x00, 0x13 }", "[10, 11, 12]", "[a, 0]"])
def test_numbers_that_may_be_hex_are(text: str) -> None:
    sample = text.encode()
    assert not READERS["decimal"].matches(sample)


@pytest.mark.parametrize(
    "text", ["[0, 256]", "[0, -129]", "[0, 01]", "[0, 1e3]", "[0 x 1]", "[0,\n[1]"]
)
def test_numbers_that_are_no_bytes(text: str) -> None:
    assert fault(text, "decimal")


@pytest.mark.parametrize("number", ["9" * 5000, "12:3", "1-2", "1.2.3", "1769860800.12:3"])
def test_numbers_of_a_trace_that_are_none(number: str) -> None:
    call = f'{number} write(5, "\\0\\0\\0\\1x", 5) = 5\n'
    (block,) = read_blocks(f"{strace(0, FRAME)}{call}".encode(), "strace")[1:]
    assert (block.data, block.ts) == (b"\0\0\0\1x", None)
    assert "no bytes" in fault(f'write(5, "\\0\\0\\0\\1x", 5) = {"9" * 5000}', "strace")
    assert fault(f"<Buffer 00 ... {'9' * 5000} more bytes>", "buffer")


def test_files_and_terminals_are_no_streams_of_frames() -> None:
    """And a number that was a file's may be a socket's later."""
    written = strace(0, FRAME)
    text = (
        'openat(AT_FDCWD, "a", O_RDONLY) = 5\nread(5, "\\177ELF\\0\\0"..., 832) = 832\n'
        'close(5) = 0\nwrite(1, "close(5)\\n", 9) = 9\nsocket(AF_INET, 1, 0) = 5\n'
        f'{written}[pid 7] read(5, <unfinished ...>\n[pid 8] write(2, "x", 1) = 1\n'
        '[pid 7] <... read resumed>"\\0\\0\\0\\1x", 5) = 5\nwrite(5, "\\0", 1) = -1 EPIPE\n'
    )
    assert [block.data for block in read_blocks(text.encode())] == [FRAME, b"\0\0\0\1x"]


@pytest.mark.parametrize(
    "call",
    [
        "sendto(FD, DATA, 54, 0, {sa_family=AF_INET, sin_addr=inet_addr(ADDRESS)}, 16)",
        "recvfrom(FD,  DATA, 54, 0, {sa_family=AF_UNIX, sun_path=@ADDRESS}, [16])",
        "recvmsg(FD, {msg_name={sin_addr=inet_addr(ADDRESS)}, msg_iov=[{iov_base=DATA}]}, 0)",
        "sendmsg(FD, {msg_name=NULL, msg_iov=[{DATA, 54}], msg_iovlen=1}, 0)",
        'writev(FD, [{iov_base="", iov_len=0}, {iov_base=DATA, iov_len=54}], 2)',
    ],
)
def test_addresses_of_a_call_are_no_bytes_of_it(call: str) -> None:
    """With -yy a descriptor has both ends; strace says itself which processes it attached."""
    file = "5<TCP:[10.0.0.1:50000->10.0.0.2:9092]>"
    text = f"strace: Process 7 attached\n{call} = 54\n".replace("ADDRESS", '"10.0.0.2"')
    whole, cut = ("".join(f"\\{byte:03o}" for byte in each) for each in (FRAME, FRAME[:50]))
    (block,) = read_blocks(text.replace("FD", file).replace("DATA", f'"{whole}"').encode())
    assert (block.data, block.comment.split()[1]) == (FRAME, file)
    said = fault(text.replace("FD", "5").replace("DATA", f'"{cut}"...'))
    assert "strace printed 50 of 54 bytes" in said


@pytest.mark.parametrize("closed", ["close(5) = 0\n", ""])
def test_a_number_of_two_connections(closed: str) -> None:
    """What the first had left is no start of what the second begins with."""
    text = f"{strace(0, FRAME[:9])}{closed}socket(AF_INET, 1, 0) = 5\n{strace(0, FRAME)}"
    assert [block.data for block in read_blocks(text.encode())] == [FRAME[:9], FRAME]


@pytest.mark.parametrize("between", [" ", ", ", "; ", "\n", ""])
def test_base64_of_several_frames_in_a_line(between: str) -> None:
    one, other = base64.b64encode(ASKED).decode(), base64.b64encode(FRAME + b"\0").decode()
    text = between.join([one, other, one])
    assert one.endswith("=")
    found = [block.data for block in read_blocks(text.encode())]
    assert found == [ASKED, FRAME + b"\0", ASKED]


def test_words_are_no_base64() -> None:
    assert "that would be a guess" in fault("Applications without anything administrative\n")


#: Readers that search within lines, and what a long line of theirs may repeat.
_LINE_FORMATS = ("strace", "kafka-python", "netty", "decimal", "buffer", "format-hex", "base64")
_UNITS = (
    "[id: ", "<Buffer 00", "[0, ", "{", ") = 5 ", "open(", "close(1", "Send: b'", "x" * 20,
    "12 ", "[pid 1] ", 'write(5, "', ") " + " " * 20, "AAAA", "AAAA=", "-",
)  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize(("format", "unit"), sample([*product(_LINE_FORMATS, _UNITS)], 24))
def test_the_time_is_linear(format: str, unit: str) -> None:
    """A megabyte in one line; a quadratic search of it would take an hour."""
    text = (unit * (1_000_000 // len(unit))).encode()
    started = time.process_time()
    for data in (text, b"write(5, " + text):
        READERS[format].matches(sample_of(data))
        try:
            blocks = READERS[format].read(data)
        except DumpError:
            continue
        assert all(isinstance(block, Block) for block in blocks)
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("name", "text"), [("decimal", "[0, 19, -1]"), ("buffer", "<Buffer 00 13 ff>")]
)
def test_comments_name_what_programs_printed(name: str, text: str) -> None:
    blocks = read_blocks(f"# first\n{text}\n\n# second\n{text}\n".encode(), name)
    assert [(each.data, each.comment) for each in blocks] == [
        (b"\0\x13\xff", "first"), (b"\0\x13\xff", "second"),
    ]  # fmt: skip


def test_a_bracket_within_an_array() -> None:
    assert fault("[0,\n[1]\n]\n", "decimal").endswith("a bracket opens within an array of bytes")


@pytest.mark.parametrize(
    ("written", "ts"),
    [("1700000000.123456", 1_700_000_000_123_456), ("22:13:20.123456", 80_000_123_456)],
    ids=["-ttt", "-tt"],
)
def test_times_of_strace(written: str, ts: int) -> None:
    text = strace(0, FRAME).replace("write", f"{written} write")
    (block,) = read_blocks(text.encode(), "strace")
    assert (block.data, block.ts) == (FRAME, ts)
